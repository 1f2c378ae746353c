"""The catalogue of `tendril sample` on a GPU: the bytes of the CPU, in parts of any size, by any executor; and plans."""

import json

import numpy as np
import pytest
from test_gpu import gpu  # noqa: F401 (a fixture)
from test_sample_apps import JOBS, OF_SEEDS, PAIRS, QUIET

ENRON = "data/email-enron.npz"
MORE = {
    "ladies, rows as they are": ["ladies", "--no-normalize-rows", "--edges", "--num-seeds", 700],
    "ladies, weights": ["ladies", "--normalization", "weights", "--no-replace", "--num-seeds", 1000],
    "fastgcn, large layers": ["fastgcn", "--layers", 3, "--layer-size", 700, "--edges"],
    "mvs, many": ["mvs", "--batch-size", 100, "--num-samples", 3000, "--edges"],
    "mvs, importance": ["mvs", "--importance", "norms.npy", "--num-samples", 50],
    "minibatch, labor": ["minibatch", "--fanouts", "4,3", "--num-seeds", 200, "--choice", "labor", "--batch-dependency", 5],
    "labor, all": ["labor", "--fanouts=-1,3", "--num-seeds", 200, "--no-normalize-rows"],
    "cluster, random": ["cluster", "--partition", "random", "--clusters", 30, "--num-samples", 20, "--first-sample", 5],
    "shadow, deep": ["shadow", "--depth", 4, "--num-neighbors", 6, "--num-seeds", 900, "--replace"],
    "saint-walk, coefficients": ["saint-walk", "--budget", 50, "--coefficients", 20],
    "layer, unique": ["layer", "--unique", "--layer-size", 64, "--max-size", 200, "--roots", 4, "--max-steps", 6],
    "layer, parts": ["layer", "--layer-size", 500, "--max-size", 20000, "--first-sample", 2**33],
}


@pytest.fixture
def compare(gpu, tendril, graphs):  # noqa: F811
    """Runs a job in both places; the files have to be equal."""
    np.save(tendril.path("norms.npy"), np.random.default_rng(1).random(1024))

    def run(app, *options):
        job = ["sample", graphs["skewed.safetensors"], "--app", app, "--seed", 6, "--quiet", *options, "-o"]
        tendril(*job, "cpu.safetensors")
        tendril(*job, "gpu.safetensors", "--device", "cuda:0")
        assert tendril.bytes("gpu.safetensors") == tendril.bytes("cpu.safetensors")
        return tendril.bytes("gpu.safetensors")

    return run


@pytest.mark.parametrize("app", JOBS)
def test_files_are_those_of_the_cpu(app, compare):
    compare(app, *JOBS[app], *(["--num-seeds", 500] if app in OF_SEEDS else ["--num-samples", 17]))


@pytest.mark.parametrize("name", MORE)
def test_files_are_those_of_the_cpu_with_other_options(name, compare):
    compare(*MORE[name])


def test_clusters_by_metis(compare):
    from test_sample_apps import has_metis

    if not has_metis():
        pytest.skip("no libmetis5")
    compare("cluster", "--partition", "metis", "--clusters", 20)


@pytest.mark.parametrize("unique", [False, True])
def test_executors_change_nothing(unique, compare, tendril, graphs):
    options = ["--layer-size", 40, "--max-size", 120, *(["--unique"] if unique else [])]
    expected = compare("layer", *options)
    for executor in ("auto", "sample", "transit"):
        job = ["sample", graphs["skewed.safetensors"], "-o", "e.safetensors", "--app", "layer", "--seed", 6, "--quiet"]
        tendril(*job, *options, "--device", "cuda", "--executor", executor)
        assert tendril.bytes("e.safetensors") == expected


@pytest.mark.parametrize("source", [QUIET, PAIRS], ids=["quiet_hops", "pairs"])
def test_applications_of_ones_own(source, gpu, tendril, graphs, monkeypatch):  # noqa: F811
    monkeypatch.setenv("XDG_CACHE_HOME", str(tendril.folder / "cache"))
    tendril.path("own.cpp").write_text(source)
    job = ["sample", graphs["skewed.safetensors"], "--app-source", "own.cpp", "--num-seeds", 900, "--quiet", "-o"]
    files = []
    for executor in ("auto", "sample", "transit"):
        tendril(*job, "gpu.safetensors", "--device", "cuda", "--executor", executor)
        files.append(tendril.bytes("gpu.safetensors"))
    assert files[0] == files[1] == files[2]
    on_cpu = tendril.try_run(*job, "cpu.safetensors")
    if "compiler" in on_cpu.stderr:
        pytest.skip("equal by all executors; no compiler for the CPU's")
    assert on_cpu.stderr == "" and tendril.bytes("cpu.safetensors") == files[0]


def test_plans_say_what_runs(gpu, tendril):  # noqa: F811
    plan = ["plan", ENRON, "--app", "layer", "--device", "cuda", "--json"]
    for executor in ("sample", "transit"):
        steps = json.loads(tendril(*plan, "--executor", executor))["plan"]["steps"]
        assert [(step["executor"], step["reason"]) for step in steps] == [(executor, "asked for")] * 2
    steps = json.loads(tendril(*plan))["plan"]["steps"]
    assert all(step["sample_seconds"] > 0 and step["transit_seconds"] > 0 and step["reason"] for step in steps)
    assert json.loads(tendril("plan", ENRON, "--app", "ladies", "--device", "cuda", "--json"))["plan"]["reasons"]


def test_summaries_name_the_gpu(gpu, tendril):  # noqa: F811
    job = ["sample", ENRON, "-o", "s.npz", "--app", "shadow", "--num-seeds", 50, "--device", "cuda"]
    summary = json.loads(tendril(*job, "--json"))
    assert summary["device"] == "cuda" and summary["device_name"]
    assert f"\ndevice  {summary['device_name']}\n" in tendril(*job)


@pytest.mark.parametrize("app", ["ladies", "cluster", "layer"])
def test_without_a_gpu_one_line_and_no_file(app, tendril):
    done = tendril.try_run("sample", ENRON, "-o", "s.npz", "--app", app, "--device", "cuda:4000", "--quiet")
    assert done.returncode == 1 and done.stderr.startswith("tendril: error: ") and done.stderr.count("\n") == 1
    assert not tendril.path("s.npz").exists()


@pytest.mark.parametrize("memory", ["100K", "1G"])
def test_graphs_that_stream_change_nothing(memory, gpu, tendril, graphs):  # noqa: F811
    job = ["sample", graphs["skewed.safetensors"], "--app", "layer", "--layer-size", 40, "--max-size", 100, "--seed", 3]
    tendril(*job, "--quiet", "-o", "cpu.safetensors")
    tendril(*job, "--quiet", "-o", "gpu.safetensors", "--device", "cuda", "--gpu-memory", memory)
    assert tendril.bytes("gpu.safetensors") == tendril.bytes("cpu.safetensors")
