"""bench/pyg_accuracy.py runs, its result file has the shape of the others, and differences have the right error."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from pyg_checks import torch, torch_geometric

ROOT = Path(__file__).parents[2]
BENCH = ROOT / "bench"
HAS_ENGINE = torch_geometric.typing.WITH_PYG_LIB or torch_geometric.typing.WITH_TORCH_SPARSE


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(BENCH), *sys.path])  # to which the module adds
    import pyg_accuracy

    return pyg_accuracy


@pytest.fixture
def refuse(bench, monkeypatch, capsys):
    """A function that gives arguments which end the program, and returns its status and what it printed."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["pyg_accuracy.py", *arguments])
        with pytest.raises(SystemExit) as ended:
            bench.parse()
        printed = capsys.readouterr()
        return ended.value.code, printed.out + printed.err

    return run


def write_relations(folder, num_nodes=90):
    """A graph of the form of am-kgbench: an edge of the relation r leads to a vertex of class r."""
    draws = np.random.RandomState(0)
    y = np.arange(num_nodes) % 3
    indices = np.sort(draws.randint(num_nodes, size=(num_nodes, 6)), axis=1).ravel()
    masks = {f"{name}_mask": draws.permutation(num_nodes) < 30 for name in ("train", "val", "test")}
    arrays = {"indptr": np.arange(num_nodes + 1) * 6, "indices": indices.astype(np.int32)}
    (folder / "am-kgbench").mkdir()
    np.savez(folder / "am-kgbench" / "graph.npz", edge_type=y[indices].astype(np.uint8), y=y, **arrays, **masks)


def write_flickr(folder, num_nodes=90):
    """A symmetric graph of the form of flickr, without features."""
    draws = np.random.RandomState(1)
    joined = np.triu(draws.rand(num_nodes, num_nodes) < 0.05, k=1)
    target, indices = np.nonzero(joined | joined.T)
    part = draws.permutation(num_nodes) % 3
    masks = {f"{name}_mask": part == i for i, name in enumerate(("train", "val", "test"))}
    indptr = np.searchsorted(target, np.arange(num_nodes + 1))
    file = folder / "flickr" / "graph.npz"
    file.parent.mkdir()
    np.savez(file, indptr=indptr, indices=indices.astype(np.int32), y=(np.arange(num_nodes) % 3).astype(np.int32), **masks)
    return file


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """The result file of a small run, and what it printed."""
    folder = tmp_path_factory.mktemp("graphs")
    write_relations(folder)
    write_flickr(folder)
    file = folder / "there" / "accuracy.json"
    command = [sys.executable, "-W", "ignore", str(BENCH / "pyg_accuracy.py"), "--small", "--device", "cpu"]
    command += ["--data", str(ROOT / "data"), "--data", str(folder), "--json", str(file)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TENDRIL_COMMIT": "abc1234"}
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)
    assert result.returncode == 0, result.stderr
    return json.loads(file.read_text()), result.stdout


def test_the_file_has_what_others_have(told):
    found, _ = told
    other = json.loads((BENCH / "results" / "cpu-pyg-accuracy.json").read_text())
    assert set(other) == set(found) and set(other["machine"]) <= set(found["machine"])
    assert found["commit"] == "abc1234" and found["machine"]["torch"] == torch.__version__
    for row in found["rows"]:
        difference = "difference" in row["job"]
        assert set(other["rows"][0]) - ({"deviation"} if difference else set()) <= set(row)
        assert row["min"] <= row["value"] <= row["max"] and row["unit"] == "of 1"
        assert row["repeats"] == len(row["raw_rounds"]) == 2
        assert difference or 0 <= row["min"] <= row["max"] <= 1


def test_each_model_has_a_row_of_each_loader(told):
    found, printed = told
    cases = [(graph, model) for graph in ("cora", "flickr") for model in ("GCN", "GraphSAGE", "GAT")]
    cases.append(("am-kgbench", "R-GCN"))
    rows = {}
    for row in found["rows"]:
        rows.setdefault((row["graph"], row["job"].split(",")[0]), []).append(row["params"].split(";")[0].split()[0])
    assert rows == {case: (["PyG", "tendril", "tendril"] if HAS_ENGINE else ["tendril"]) for case in cases}
    for name in ("coauthor-physics", "acm-heco"):
        assert f"{name}: skipped, it is in none of the folders of --data" in printed
    assert ("PyG's loader: skipped" in printed) == (not HAS_ENGINE)


def test_features_of_flickr_are_shares_of_given_labels(bench, tmp_path):
    path = write_flickr(tmp_path)
    file, data = np.load(path), bench.LabelShares.load(path)
    gives = np.flatnonzero(file["train_mask"])[::2]
    neighbours = np.split(file["indices"], file["indptr"][1:-1])
    near = np.zeros((len(neighbours), 3))
    for v, mine in enumerate(neighbours):
        if len(known := np.intersect1d(mine, gives)):
            near[v] = np.bincount(file["y"][known], minlength=3) / len(known)
    far = [near[mine].mean(axis=0) if len(mine) else np.zeros(3) for mine in neighbours]
    degrees = np.log1p([[len(mine)] for mine in neighbours])
    np.testing.assert_allclose(data.x, np.hstack([near, far, degrees]), rtol=1e-6)


def test_features_of_flickr_hold_no_label_that_is_predicted(bench, tmp_path):
    path = write_flickr(tmp_path)
    file = dict(np.load(path))
    data = bench.LabelShares.load(path)
    predicted = data.train_mask | data.val_mask | data.test_mask
    assert 0 < data.train_mask.sum() < file["train_mask"].sum()
    assert not (data.train_mask & ~torch.from_numpy(file["train_mask"])).any()

    def features(changed):
        np.savez(path, **file | {"y": np.where(changed, (file["y"] + 1) % 3, file["y"])})
        return bench.LabelShares.load(path).x

    assert torch.equal(features(predicted.numpy()), data.x)
    assert not torch.equal(features(~predicted.numpy()), data.x)


def test_each_run_has_an_order_and_draws_of_its_own(bench):
    case = bench.Plain(ROOT / "data" / "cora.npz", 1)
    for make in bench.loaders(case, SimpleNamespace(device=torch.device("cpu"), cache=0)).values():
        runs = []
        for number in (0, 1):
            torch.manual_seed(number)
            runs.append(list(make(number)))
        seeds = [torch.cat([batch.input_id for batch in run]) for run in runs]
        edges = [{tuple(ends) for batch in run for ends in batch.n_id[batch.edge_index].T.tolist()} for run in runs]
        assert torch.equal(seeds[0].sort().values, seeds[1].sort().values) and not torch.equal(*seeds)
        assert edges[0] != edges[1]


def test_a_difference_is_that_of_the_means(bench):
    report = bench.Accuracies(torch.device("cpu"))
    theirs, ours = [0.5, 0.7, 0.6], [0.6, 0.65, 0.73]
    printed = bench.add_difference(report, "cora", "GCN", {"PyG": theirs, "tendril": ours}, "2 epochs")
    (row,) = report._rows
    assert (row["graph"], row["job"]) == ("cora", "GCN, difference of test accuracies")
    assert row["params"] == "tendril - PyG; 2 epochs"
    assert row["value"] == pytest.approx(statistics.mean(ours) - statistics.mean(theirs))
    error = math.hypot(statistics.stdev(ours), statistics.stdev(theirs)) / math.sqrt(3)
    assert row["standard_error"] == pytest.approx(error)
    assert printed == f"difference +0.0600 ± {error:.4f} (standard error)"
    assert (row["min"], row["max"]) == pytest.approx((-0.05, 0.13))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--graph", "reddit"], "--graph: 'reddit', expected one of cora, coauthor-physics, acm-heco, am-kgbench, flickr"),
        (["--model", "GIN"], "--model: 'GIN', expected one of GCN, GraphSAGE, GAT, R-GCN"),
        (["--seeds", "1"], "--seeds: 1, expected 2 or more"),
        (["--device", "cpu", "--cache", "0.1"], "--cache: 0.1 with --device cpu, expected a ratio in (0, 1] and cuda"),
    ],
)
def test_wrong_settings_are_one_line(refuse, arguments, message):
    status, printed = refuse(*arguments)
    assert status == 2 and printed.splitlines()[-1].endswith(message)


def test_help_has_examples(refuse):
    status, printed = refuse("--help")
    assert status == 0 and "examples:" in printed
