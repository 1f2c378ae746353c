"""Multi-dimensional walks from the command line: sets of roots, rows, splits, and options that they don't have."""

import json

import numpy as np
import pytest
from test_outputs import read_safetensors

ENRON = "data/email-enron.npz"
JOB = ["walk", ENRON, "--app", "multidim", "--quiet"]

REFUSED = [
    (["--weighted"], "--weighted: --app is multidim, expected another application"),
    (["--rule", "scan"], "--rule: --app is multidim, expected another application"),
    (["--dead-end", "repeat"], "--dead-end: --app is multidim, expected another application"),
    (["--stop-prob", "0.1"], "--stop-prob: --app is multidim, expected another application"),
    (["--restart-prob", "0.1"], "--restart-prob: --app is multidim, expected another application"),
    (["--metapath", "0,1"], "--metapath: --app is multidim, expected metapath"),
    (["--roots", "0"], "--roots: 0, expected 1 to 65535 roots a sample"),
    (["--roots", "65536"], "--roots: 65536, expected 1 to 65535 roots a sample"),
    (["--root-choice", "best"], "--root-choice: 'best', expected degree or uniform (try 'tendril walk --help')"),
    (["--length", "0"], "--length: 0, expected 1 to 2147483646 steps"),
    (["--num-starts", "0"], "--num-starts: 0, expected 1 or more"),
    (["--first-walk", "-1"], "--first-walk: -1, expected 0 or more"),
    (["--starts", "three.txt", "--roots", "2"], "--starts: 3 vertices, expected a multiple of --roots, 2"),
]


@pytest.mark.parametrize("options, message", REFUSED, ids=lambda o: o[0] if isinstance(o, list) else "")
def test_what_makes_no_sense_is_refused_in_one_line(options, message, tendril):
    tendril.path("three.txt").write_text("0\n1\n2\n")
    done = tendril.try_run(*JOB, "-o", "out.npy", *options)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"tendril: error: {message}\n")
    assert not tendril.path("out.npy").exists()


@pytest.mark.parametrize("options", [["--roots", 5], ["--root-choice", "uniform"]], ids=lambda o: o[0])
def test_sets_of_roots_belong_to_multidim(options, tendril):
    done = tendril.try_run("walk", ENRON, "-o", "out.npy", *options)
    assert (done.returncode, done.stderr) == (2, f"tendril: error: {options[0]}: --app is deepwalk, expected multidim\n")


def test_plan_has_nothing_to_say(tendril):
    done = tendril.try_run("plan", ENRON, "--app", "multidim")
    message = "tendril: error: plan: --app multidim has no choice to make, expected another application\n"
    assert (done.returncode, done.stderr) == (2, message)


def test_rows_are_roots_and_vertices_reached(tendril):
    job = [*JOB, "--roots", 4, "--length", 9, "--num-starts", 30, "--seed", 3]
    tendril(*job, "-o", "w.npy")
    walks = np.load(tendril.path("w.npy"))
    assert walks.shape == (30, 13) and walks.dtype == np.int32 and (walks >= 0).all()
    # Root j of sample i is element i * 4 + j of the vertices that any walk of this seed starts from.
    tendril("walk", ENRON, "-o", "plain.npy", "--num-starts", 120, "--length", 1, "--seed", 3, "--quiet")
    assert np.array_equal(walks[:, :4].ravel(), np.load(tendril.path("plain.npy"))[:, 0])
    # Each vertex is a neighbour of one that was in the set.
    graph = np.load(tendril.path(ENRON))
    indptr, indices = graph["indptr"], graph["indices"]
    for row in walks:
        for t in range(4, 13):
            seen = [set(indices[indptr[v] : indptr[v + 1]].tolist()) for v in row[:t]]
            assert any(int(row[t]) in neighbours for neighbours in seen)
    tendril(*job, "-o", "w.safetensors")
    arrays, metadata = read_safetensors(tendril.path("w.safetensors"))
    assert np.array_equal(arrays["walks"], walks) and arrays["lengths"].tolist() == [9] * 30
    assert metadata["app"] == "multidim" and metadata["num_roots"] == "4" and metadata["seed"] == "3"
    assert json.loads(metadata["params"]) == {"length": 9, "num_roots": 4, "root_choice": "degree"}
    text = tendril(*job, "-o", "-")
    assert [[int(v) for v in line.split()] for line in text.splitlines()] == walks.tolist()
    tendril(*job, "-o", "other.npy", "--root-choice", "uniform")
    assert not np.array_equal(np.load(tendril.path("other.npy")), walks)


def test_by_default_there_is_about_one_root_a_vertex(tendril):
    summary = json.loads(tendril("walk", ENRON, "--app", "multidim", "-o", "w.npy", "--json"))
    assert summary["num_walks"] == 367 and summary["steps"] == 36700 and "plan" not in summary
    assert summary["params"] == {"length": 100, "num_roots": 100, "root_choice": "degree"}


def test_sets_from_a_file_and_splits_of_a_job(tendril):
    job = [*JOB, "--roots", 3, "--length", 12]
    rng = np.random.default_rng(1)
    roots = rng.integers(0, 36692, (40, 3))
    np.save(tendril.path("all.npy"), roots.ravel())
    np.save(tendril.path("rest.npy"), roots[15:].ravel())
    tendril(*job, "-o", "whole.npy", "--starts", "all.npy", "--walks", 2, "--threads", 1)
    tendril(*job, "-o", "part.npy", "--starts", "rest.npy", "--walks", 2, "--first-walk", 30, "--threads", 3)
    whole = np.load(tendril.path("whole.npy"))
    assert np.array_equal(whole[:, :3], np.repeat(roots, 2, axis=0))
    assert np.array_equal(whole[30:], np.load(tendril.path("part.npy")))


def test_batches_beyond_one_are_the_same_walks(tendril):
    """A job of two batches, whose last rows equal those of a short job."""
    tendril(*JOB, "--roots", 1, "--length", 499, "-o", "long.npy", "--num-starts", 40_000)  # 80 MB of vertices
    walks = np.load(tendril.path("long.npy"), mmap_mode="r")
    assert walks.shape == (40_000, 500)
    tendril.path("last.txt").write_text("".join(f"{v}\n" for v in walks[39_990:, 0]))
    tendril(*JOB, "--roots", 1, "--length", 499, "-o", "end.npy", "--starts", "last.txt", "--first-walk", 39_990)
    assert np.array_equal(np.load(tendril.path("end.npy")), walks[39_990:])


def test_dead_ends_shorten_rows(tendril):
    tendril.path("path.txt").write_text("0 1\n1 2\n2 3\n")
    tendril.path("roots.txt").write_text("3\n0\n")
    job = ["walk", "path.txt", "--app", "multidim", "--roots", 2, "--starts", "roots.txt", "--length", 5, "--quiet"]
    assert tendril(*job, "-o", "-") == "3 0 1 2 3\n"
    tendril(*job, "-o", "w.npy")
    assert np.load(tendril.path("w.npy")).tolist() == [[3, 0, 1, 2, 3, -1, -1]]
