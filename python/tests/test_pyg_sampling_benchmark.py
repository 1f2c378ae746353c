"""bench/pyg_sampling.py runs, its result file has the shape of the others, and it compares what is comparable."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pyg_checks import torch, torch_geometric

import tendril

ROOT = Path(__file__).parents[2]
BENCH = ROOT / "bench"
OURS = ["tendril, 1 thread", "tendril, 1 thread, in groups", "tendril, 2 threads", "tendril, 2 threads, in groups"]
HAS_ENGINE = torch_geometric.typing.WITH_PYG_LIB or torch_geometric.typing.WITH_TORCH_SPARSE


def run(*arguments, **variables):
    command = [sys.executable, "-W", "ignore", str(BENCH / "pyg_sampling.py"), *arguments]
    environment = {**os.environ, **variables}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """The result file of a small run, and what it printed."""
    file = tmp_path_factory.mktemp("results") / "there" / "sampling.json"
    result = run("--small", "--threads", "2", "--json", str(file), TENDRIL_COMMIT="abc1234")
    assert result.returncode == 0, result.stderr
    return json.loads(file.read_text()), result.stdout


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    import pyg_sampling

    return pyg_sampling


def test_the_file_has_what_others_have(told):
    told, _ = told
    other = json.loads((BENCH / "results" / "cpu-pyg-accuracy.json").read_text())
    assert set(other) == set(told)
    assert told["machine"]["torch"] == torch.__version__ and told["commit"] == "abc1234"
    common = set.intersection(*(set(row) for row in other["rows"])) - {"deviation"}
    for row in told["rows"]:
        assert common <= set(row)
        assert row["value"] > 0 and row["min"] <= row["value"] <= row["max"]
        assert row["repeats"] == len(row["raw_rounds"])


def test_every_job_is_there_and_once(told):
    told, _ = told
    jobs = [row["job"] for row in told["rows"]]
    assert len(jobs) == len(set(jobs))
    assert set(OURS) | {"edges a batch, tendril"} <= set(jobs)
    units = {row["job"]: row["unit"] for row in told["rows"]}
    assert all(units[job] == "M edges/s" for job in OURS) and units["edges a batch, tendril"] == "edges"


@pytest.mark.skipif(HAS_ENGINE, reason="PyG has an engine here")
def test_without_an_engine_it_measures_the_rest_and_says_so(told):
    told, printed = told
    assert [line for line in printed.splitlines() if "skipped" in line] == [
        "PyG's engine: skipped, PyG has neither pyg-lib nor torch-sparse here"
    ]
    assert not [row for row in told["rows"] if row["unit"] == "ratio"]


@pytest.mark.skipif(not HAS_ENGINE, reason="PyG has neither pyg-lib nor torch-sparse here")
def test_with_an_engine_both_make_about_as_many_edges(told):
    told, printed = told
    ours, theirs = (row for row in told["rows"] if row["unit"] == "edges")
    assert ours["value"] == pytest.approx(theirs["value"], rel=0.05)
    assert len([row for row in told["rows"] if row["unit"] == "ratio"]) == len(OURS)
    assert "standard error" in printed


# --- The same with an engine of a few lines, wherever the test runs ---------------------------------------------------


def serial(graph, wrong=0):
    """A function from seeds and fan-outs to a number of edges; `wrong`: so many too many."""
    indptr, indices, rng = graph.indptr.astype(int), graph.indices.astype(int), np.random.default_rng(5)

    def sample(seeds, fanouts):
        edges, seen, frontier = wrong, set(seeds.tolist()), seeds.tolist()
        for fanout in fanouts:
            fresh = []
            for v in frontier:
                row = indices[indptr[v] : indptr[v + 1]]
                picks = rng.choice(row, min(fanout, len(row)), replace=False).tolist()
                edges += len(picks)
                fresh += [u for u in dict.fromkeys(picks) if u not in seen]
                seen.update(picks)
            frontier = fresh
        return edges

    return sample


def serial_replacing(graph):
    """The same with replacement, one hop deep."""
    rng = np.random.default_rng(6)
    degrees = graph.degrees()

    def sample(seeds, fanouts):
        assert len(fanouts) == 1
        return sum(len(rng.integers(degrees[v], size=fanouts[0])) for v in seeds if degrees[v])

    return sample


def serial_timed(graph, times):
    """The same in disjoint batches of vertices that are not later than their seed, one hop deep."""
    indptr, indices = graph.indptr.astype(int), graph.indices.astype(int)

    def sample(seeds, fanouts):
        rows = (times[indices[indptr[v] : indptr[v + 1]]] <= times[v] for v in seeds)
        return sum(min(fanouts[0], int(row.sum())) for row in rows)

    return sample


def measured(bench, name, wrong=0):
    graph = tendril.generate.rmat(9, symmetrize=True, drop_duplicates=True)
    args = argparse.Namespace(batches=3, threads=2, rounds=3, warmup=1, clock="wall")
    report = bench.Report("a graph", torch.device("cpu"))
    bench.measure(args, report, graph, (name, serial(graph, wrong)), 16, [4, 3])
    return {row["job"]: row for row in report._rows}


def test_ratios_are_of_the_same_rounds(bench, capsys):
    rows = measured(bench, "serial")
    theirs = rows["serial, 1 thread"]
    for job in OURS:
        ratio = rows[f"{job} / serial, 1 thread"]
        expected = [a / b for a, b in zip(rows[job]["raw_rounds"], theirs["raw_rounds"], strict=True)]
        assert ratio["raw_rounds"] == pytest.approx(expected) and len(expected) == 3
        assert "ceiling" not in ratio
    assert rows["edges a batch, serial"]["value"] == pytest.approx(rows["edges a batch, tendril"]["value"], rel=0.1)
    assert capsys.readouterr().out.startswith("fan-outs 4,3, batch 16, 3 batches a round: edges a batch: tendril ")


def test_the_goal_is_about_pyg_lib_at_equal_threads(bench):
    rows = measured(bench, "pyg-lib 0.5.0")
    with_goal = [job for job, row in rows.items() if "ceiling" in row]
    assert with_goal == [f"{job} / pyg-lib 0.5.0, 1 thread" for job in OURS[:2]]
    assert {rows[job]["ceiling"] for job in with_goal} == {2.0}


@pytest.mark.parametrize("way", ["replace", "time"])
def test_every_way_is_compared_with_the_same_work(bench, way):
    graph = tendril.generate.rmat(9, symmetrize=True, drop_duplicates=True)
    times = np.random.default_rng(1).integers(40, size=graph.num_vertices) if way == "time" else None  # many are equal
    engine = serial_timed(graph, times) if way == "time" else serial_replacing(graph)
    args = argparse.Namespace(batches=3, threads=1, rounds=3, warmup=1, clock="cpu")
    report = bench.Report("a graph", torch.device("cpu"))
    bench.measure(args, report, graph, ("serial", engine), 16, [4], way, times)
    rows = {row["job"]: row for row in report._rows}
    assert rows["edges a batch, serial"]["raw_rounds"] == rows["edges a batch, tendril"]["raw_rounds"]
    assert rows["tendril, 1 thread"]["params"] == f"fan-outs 4, batch 16, 3 batches a round, {way}, CPU time"


def test_torch_has_its_threads_back_after_a_job_with_more(bench):
    before = torch.get_num_threads()
    assert bench.with_torch_threads(lambda *_: torch.get_num_threads(), before + 1)([], 0) == before + 1
    assert torch.get_num_threads() == before


def test_an_engine_that_makes_other_edges_is_refused(bench):
    with pytest.raises(SystemExit, match=r"^first hop: tendril makes \d+ edges, serial \d+, expected as many$"):
        measured(bench, "serial", wrong=1)


@pytest.mark.parametrize("apart", [0, 12])
def test_the_line_on_edges_tells_how_far_they_are_apart(bench, apart):
    theirs = [[100, 104], [96, 100]]
    ours = [[102 + apart, 102 + apart], [98 + apart, 98 + apart]]
    line = bench.told_edges(ours, theirs, "serial")  # differences 2, -2, 2, -2: deviation 2.309, of their mean 1.155
    assert line == (
        f"edges a batch: tendril {100 + apart}, serial 100; +{apart}.000 %, standard error 1.155 %"
    )


def test_every_round_has_other_seeds_with_a_neighbour(bench):
    graph = tendril.generate.star(40)
    degrees = graph.degrees()
    seeds = bench.Seeds(graph, 1, 1)
    given = [seeds.of_round(i)[0].tolist() for i in range(np.count_nonzero(degrees))]
    assert sorted(sum(given, [])) == np.flatnonzero(degrees).tolist()
    with pytest.raises(SystemExit, match=r"^batch 1000: the graph has \d+ vertices with a neighbour$"):
        bench.Seeds(graph, 1000, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--setting", "1024"], "--setting: '1024', expected one like 1024:15,10,5"),
        (["--rounds", "0"], "--rounds: 0, expected 1 or more"),
    ],
)
def test_a_wrong_argument_is_one_line(arguments, message):
    result = run(*arguments)
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1].endswith(message)


def test_help_has_examples():
    assert "examples:" in run("--help").stdout


# --- Loaders ----------------------------------------------------------------------------------------------------------


def test_loaders_of_the_same_seed_make_the_same_epochs(tmp_path):
    file = tmp_path / "loaders.json"
    command = [sys.executable, "-W", "ignore", str(BENCH / "pyg_loaders.py"), "--small", "--json", str(file)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode == 0, result.stderr
    rows = {row["job"]: row for row in json.loads(file.read_text())["rows"]}
    ahead, none = (rows[f"edges an epoch, tendril.pyg, prefetch {one}"]["raw_rounds"] for one in (2, 0))
    assert ahead == none and len(none) == 2 and min(none) > 0
    assert ("PyG's loader: skipped" in result.stdout) == (not HAS_ENGINE)
