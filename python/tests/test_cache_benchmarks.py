"""bench/feature_cache.py and bench/training_cache.py run, and their result files have the shape of the others."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pyg_checks import torch

import tendril

ROOT = Path(__file__).parents[2]


def result_of(script, *arguments):
    command = [sys.executable, "-W", "ignore", str(ROOT / "bench" / script), *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TENDRIL_COMMIT": "abc1234"}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)


def run(script, *arguments):
    result = result_of(script, *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


def fail(script, *arguments):
    result = result_of(script, *arguments)
    assert result.returncode != 0, result.stdout
    return result.stderr


def expect_shape(told):
    other = json.loads((ROOT / "bench" / "results" / "cpu-pyg-accuracy.json").read_text())
    assert set(other) == set(told) and set(other["machine"]) <= set(told["machine"])
    assert told["commit"] == "abc1234"
    for row in told["rows"]:
        assert row["min"] <= row["value"] <= row["max"] and row["repeats"] == len(row["raw_rounds"])


def test_hit_rates_are_told_by_policy(tmp_path):
    run("feature_cache.py", "--small", "--graph", "communities", "--json", str(tmp_path / "hits.json"))
    told = json.loads((tmp_path / "hits.json").read_text())
    expect_shape(told)
    found = {(row["job"], row["params"]): row["value"] for row in told["rows"] if row["unit"] == "ratio"}
    names = {job for job, _ in found}
    assert {"hits, degree", "hits, exact", "hits, lru", "hits, lookahead, window 16"} <= names
    for job, params in found:
        assert 0 <= found[job, params] <= 1
        if job in ("hits, degree", "hits, pagerank", "hits, presample"):  # exact counts are the best fixed content
            assert found[job, params] <= found["hits, exact", params]


def test_epochs_are_measured_beside_training(tmp_path):
    file = tmp_path / "cache.json"
    run("training_cache.py", "--small", "--device", "cpu", "--cache", "0", "--steps", "5", "--json", str(file))
    told = json.loads(file.read_text())
    expect_shape(told)
    jobs = [row["job"] for row in told["rows"]]
    assert jobs.count("epoch / training alone") == 2  # features in both places, which are one on the CPU


CASES = {
    "GCN": ["--graph", "reddit", "--model", "gcn"],
    "GAT of 4 heads": ["--graph", "reddit", "--model", "gat"],
    "R-GCN": ["--graph", "mag"],
}


@pytest.mark.parametrize("name", CASES)
def test_models_and_shapes(name, tmp_path):
    file = tmp_path / "cache.json"
    run("training_cache.py", "--small", "--device", "cpu", "--steps", "2", "--json", str(file), *CASES[name])
    told = json.loads(file.read_text())
    expect_shape(told)
    epochs = [row for row in told["rows"] if row["job"] == "epoch"]
    assert len(epochs) == 2 and all(row["params"].startswith(f"{name}, hidden 16, float32, ") for row in epochs)
    assert all(row["graph"] == f"{CASES[name][1]}, small" for row in told["rows"])


STEPS = {
    "bf16, {rows} rows of 100 bfloat16s a batch": ["--bf16", "--bf16-features"],
    "float32, on arrays that stay, {rows} rows of 100 floats a batch": ["--replay"],
}


@pytest.mark.parametrize("told", STEPS)
def test_kinds_of_rows_and_steps(told, tmp_path):
    file = tmp_path / "cache.json"
    run("training_cache.py", "--small", "--device", "cpu", "--steps", "3", "--json", str(file), *STEPS[told])
    epochs = [row["params"] for row in json.loads(file.read_text())["rows"] if row["job"] == "epoch"]
    pattern = r"trimmed SAGE, hidden 16, " + told.format(rows=r"[\d,]+") + ", features in host memory, no cache"
    assert any(re.fullmatch(pattern, one) for one in epochs), epochs


def test_a_graphs_file_is_trained_on_by_a_pipeline(tmp_path):
    graph = tendril.generate.powerlaw(2000, 2.3, 6, 100, symmetrize=True, drop_duplicates=True)
    graph.save(tmp_path / "graph.safetensors")
    stdout = run("training_cache.py", "--small", "--device", "cpu", "--graph", str(tmp_path / "graph.safetensors"), "--width", "7")
    assert "rows of 7 floats a batch, features in host memory, no cache" in stdout


def test_a_pipeline_trains_on_a_graph_that_is_made():
    stdout = run("training_cache.py", "--small", "--device", "cpu", "--pipeline", "--graph", "reddit")
    assert "reddit, small" in stdout
    assert re.search(r"float32, by Pipeline, [\d,]+ rows of 602 floats a batch, features in host memory, no cache", stdout)


def test_features_come_from_a_mapped_file(tmp_path):
    rows, given = tmp_path / "rows.npy", ["--small", "--device", "cpu", "--graph", "reddit", "--steps", "2"]
    for _ in range(2):  # the second time the file is there
        stdout = run("training_cache.py", *given, "--width", "30", "--features", str(rows))
        assert "rows of 30 floats a batch, features in a mapped file, no cache" in stdout
        assert "features on the GPU" not in stdout
    assert [one.name for one in tmp_path.iterdir()] == ["rows.npy"]
    found = np.load(rows, mmap_mode="r")
    assert found.dtype == np.float32 and found.shape == (2000, 30) and abs(float(found.mean())) < 5 / 60000**0.5
    assert "holds float32 (2000, 30), expected float32 (2000, 602)" in fail("training_cache.py", *given, "--features", str(rows))


def test_mistakes_are_one_line(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    training_cache = importlib.import_module("training_cache")
    for arguments, text in (
        (["--batch-size", "-1"], "--batch-size: -1, expected 1 or more"),
        (["--graph", "mag", "--model", "gcn"], "--model: gcn for --graph mag, expected rgcn for mag"),
        (["--device", "cpu", "--cache", "0,0.1"], "--cache: 0.1 on the CPU, expected 0: caches are on GPUs"),
        (["--graph", "mag", "--features", "x.npy"], "--features: --graph is mag, expected one of products, reddit"),
        (["--graph", "mag", "--replay"], "--replay: rgcn on mag, expected trimmed on one of products, reddit"),
        (["--replay", "--peer", "2"], "--peer: with --replay, which needs batches of one size"),
        (["--graph", "x.safetensors", "--bf16-features"], "--bf16-features: --graph is x.safetensors, expected one of products"),
        (["--graph", "mag", "--pipeline"], "--pipeline: for --graph products, reddit, without --features,"),
        (["--pipeline", "--peer", "2"], "--pipeline: for --graph products, reddit, without --features,"),
        (["--graph", "x.safetensors", "--peer", "2"], "--peer: --graph is x.safetensors, expected one of products, reddit, mag"),
    ):
        monkeypatch.setattr(sys, "argv", ["training_cache.py", *arguments])
        with pytest.raises(SystemExit, match="2"):
            training_cache.parse()
        assert text in capsys.readouterr().err.splitlines()[-1]


def test_the_graphs_made_here_have_the_shapes_they_are_named_after(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    graphs = importlib.import_module("training_graphs")
    data, seeds = graphs.make_mag(small=True)
    assert {kind: data[kind].num_nodes for kind in data.node_types} == {
        kind: count // 100 for kind, count in graphs.MAG_TYPES.items()
    }
    assert len(data.edge_types) == 2 * len(graphs.MAG_EDGES) and data.validate(raise_on_error=True)
    for (a, name, b), count in graphs.MAG_EDGES.items():
        there, back = data[a, name, b].edge_index, data[b, f"rev_{name}", a].edge_index
        assert there.size(1) == count // 100 and torch.equal(there, back.flip(0))
        degrees = torch.bincount(there[1], minlength=data[b].num_nodes)
        assert degrees.max() > 10 * degrees.float().mean()  # few are chosen often
    assert seeds.unique().numel() == seeds.numel() == 6295
    name, graph = graphs.make_graph("reddit", small=True)
    made, seeds = graphs.make_data(graph, graphs.shape("reddit", small=True))
    assert name == "reddit, small" and made.x.shape == (2000, 602) and int(made.y.max()) == 40 and len(seeds) == 1317
