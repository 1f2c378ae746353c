"""tendril walk --count: what the rows of the same command say, by one process and by ranks; or one line."""

import json

import numpy as np
import pytest
from mpi_ranks import NEEDS_MPI, complaint, files, run
from tensors import read_safetensors

GRAPH = "skewed.safetensors"
JOBS = {
    "deepwalk": ["--walks", 2, "--length", 9],
    "ppr": ["--app", "ppr", "--walks", 3, "--length", 20, "--seed", 5],
    "node2vec": ["--app", "node2vec", "--p", 2, "--q", 0.5, "--walks", 1, "--length", 9],
    "few": ["--num-starts", 3, "--length", 9, "--first-walk", 123456789012],
    "repeating": ["--walks", 1, "--length", 9, "--dead-end", "repeat"],
}


def counted(tendril, graph, job):
    """Visits and ends by the rows that the same command writes."""
    options = ["stop" if option == "repeat" else option for option in JOBS[job]]  # the vertices that walks come to are the same
    tendril("walk", graph, "-o", "rows.npy", *options, "--quiet")
    rows = np.load(tendril.path("rows.npy"))
    lengths = (rows >= 0).sum(1) - 1
    return {
        "visits": np.bincount(rows[rows >= 0], minlength=1024),
        "ends": np.bincount(rows[np.arange(len(rows)), lengths], minlength=1024),
    }


@pytest.mark.parametrize("job", JOBS)
def test_counts_are_those_of_rows(job, tendril, graphs):
    for what, expected in counted(tendril, graphs[GRAPH], job).items():
        for threads in (1, 3):
            tendril("walk", graphs[GRAPH], "-o", "c.npy", *JOBS[job], "--count", what, "--threads", threads, "--quiet")
            made = np.load(tendril.path("c.npy"))
            assert made.dtype == np.int64
            np.testing.assert_array_equal(made, expected, err_msg=what)


@NEEDS_MPI
@pytest.mark.parametrize("job, form", [(job, "npy") for job in JOBS] + [("ppr", "safetensors")])
def test_ranks_write_the_file_of_one_process(job, form, tendril, graphs):
    tendril("partition", graphs[GRAPH], "-o", "parts", "--parts", 3, "--quiet")
    for what in ("visits", "ends"):
        options = [*JOBS[job], "--count", what, "--quiet"]
        tendril("walk", graphs[GRAPH], "-o", f"whole.{form}", *options)
        before = files(tendril)
        for graph in (graphs[GRAPH], "parts"):
            run(tendril, 3, "walk", graph, "-o", f"ranks.{form}", *options, "--threads", 1)
            assert tendril.bytes(f"ranks.{form}") == tendril.bytes(f"whole.{form}"), (what, graph)
            tendril.path(f"ranks.{form}").unlink()
        assert files(tendril) == before


def test_the_file_and_the_summary_say_what_was_counted(tendril, graphs):
    job = [*JOBS["ppr"], "--count", "ends", "--part", "1/3", "--json"]
    summary = json.loads(tendril("walk", graphs[GRAPH], "-o", "c.safetensors", *job))
    assert summary["count"] == "ends"
    tensors, metadata = read_safetensors(tendril.path("c.safetensors"))
    assert metadata["format"] == "tendril-walk-counts"
    assert metadata["num_walks"] == str(summary["num_walks"])
    assert metadata["part"] == "1/3"
    assert tensors["ends"].sum() == summary["num_walks"]
    out = tendril("walk", graphs[GRAPH], "-o", "v.npy", *JOBS["ppr"], "--count", "visits")
    assert "visits of each vertex, int64 [1024]" in out
    assert np.load(tendril.path("v.npy")).sum() == summary_steps(out) + 3 * 1024


def summary_steps(out):
    line = next(line for line in out.splitlines() if line.startswith("steps"))
    return int(line.split()[1].replace(",", ""))


def test_parts_add_up(tendril, graphs):
    tendril("walk", graphs[GRAPH], "-o", "whole.npy", *JOBS["deepwalk"], "--count", "visits", "--quiet")
    total = 0
    for k in range(3):
        part = ["--count", "visits", "--part", f"{k}/3", "--quiet"]
        tendril("walk", graphs[GRAPH], "-o", "part.npy", *JOBS["deepwalk"], *part)
        total = total + np.load(tendril.path("part.npy"))
    np.testing.assert_array_equal(total, np.load(tendril.path("whole.npy")))


@pytest.mark.parametrize(
    "options, words",
    [
        (["-o", "c.txt", "--count", "ends"], "--count: c.txt, expected a .npy or .safetensors file"),
        (["-o", "-", "--count", "ends"], "--count: -, expected a .npy or .safetensors file"),
        (["-o", "c.npy", "--count", "steps"], "--count: 'steps', expected visits or ends"),
        (["-o", "c.npy", "--count", "ends", "--dtype", "int32"], "--dtype: --count is given, whose numbers are int64"),
        (["-o", "c.npy", "--count", "ends", "--app", "multidim"], "--count: --app is multidim, expected another application"),
        (["-o", "c.safetensors", "--count", "ends", "--order", "ragged"], "--order ragged: --count is given, expected rows"),
    ],
)
def test_what_does_not_fit_is_one_line(options, words, tendril, graphs):
    before = files(tendril)
    done = tendril.try_run("walk", graphs[GRAPH], *options)
    assert done.returncode != 0
    assert done.stderr.startswith("tendril: error: " + words)
    assert done.stderr.count("\n") == 1
    assert files(tendril) == before


@NEEDS_MPI
def test_a_file_a_rank_is_refused(tendril, graphs):
    line = complaint(tendril, 2, "walk", graphs[GRAPH], "-o", "c.npy", "--count", "ends", "--parts")
    assert line.endswith("--parts: --count is given, expected one file of all ranks")
