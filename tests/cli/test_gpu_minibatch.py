"""Mini-batches of `tendril sample` on a GPU: the bytes of the CPU, by any executor, in any split by --first-batch."""

import pytest
from test_gpu import gpu  # noqa: F401 (a fixture)

JOBS = {
    "plain": ["--fanouts", "15,10,5"],
    "weighted": ["--fanouts", "6,4", "--weighted"],
    "weighted, replace": ["--fanouts", "6,4", "--weighted", "--replace"],
    "disjoint": ["--fanouts", "4,3,2", "--disjoint"],
    "all neighbours": ["--fanouts=-1,3"],
    "bidirectional": ["--fanouts", "5,5", "--subgraph", "bidirectional"],
    "induced": ["--fanouts", "5,5", "--subgraph", "induced"],
    "all are expanded": ["--fanouts", "10,10,10", "--frontier", "all"],
}


@pytest.fixture
def make(gpu, tendril, graphs):  # noqa: F811
    """Runs a job; gives the file's bytes."""

    def run(*options):
        graph = graphs["skewed.safetensors"]
        tendril("sample", graph, "-o", "m.npz", "--app", "minibatch", "--batch-size", 100, "--quiet", *options)
        return tendril.bytes("m.npz")

    return run


@pytest.mark.parametrize("job", JOBS)
def test_files_are_those_of_the_cpu(job, make):
    options = [*JOBS[job], "--num-seeds", 950, "--first-batch", 2**40]
    expected = make(*options)
    assert make(*options, "--device", "cuda") == expected
    assert make(*options, "--device", "cuda", "--executor", "hops") == expected


@pytest.mark.parametrize("executor", ["graph", "fused", "persistent"])
def test_executors_change_nothing(make, executor):
    options = ["--fanouts", "10,10,10", "--frontier", "all", "--num-seeds", 950]
    assert make(*options, "--device", "cuda", "--executor", executor) == make(*options)


def test_the_fused_executor_makes_small_fan_outs(gpu, tendril, graphs):  # noqa: F811
    told = tendril.try_run(
        *["sample", graphs["skewed.safetensors"], "-o", "m.npz", "--app", "minibatch", "--fanouts", "3,65"],
        *["--replace", "--device", "cuda", "--executor", "fused"],
    )
    assert told.returncode == 2
    assert told.stderr.strip() == "tendril: error: --executor: fused, but a fan-out is 65; expected at most 64"


def test_the_persistent_executor_expands_all_vertices(gpu, tendril, graphs):  # noqa: F811
    told = tendril.try_run(
        *["sample", graphs["skewed.safetensors"], "-o", "m.npz", "--app", "minibatch", "--fanouts", "3"],
        *["--device", "cuda", "--executor", "persistent"],
    )
    assert told.returncode == 2
    problem = "--executor: persistent, but the frontier is the fresh vertices; expected frontier all"
    assert told.stderr.strip() == f"tendril: error: {problem}"
