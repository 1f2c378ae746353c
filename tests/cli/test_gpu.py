"""The command line on a GPU: the bytes of the CPU, in batches of any size; and what it says where there is none."""

import json
import re

import numpy as np
import pytest

ENRON = "data/email-enron.npz"


@pytest.fixture(scope="module")
def gpu(tmp_path_factory):
    """Skips where there is no GPU to run on."""
    from tendril_command import Tendril

    command = Tendril(tmp_path_factory.mktemp("gpu"))
    done = command.try_run("plan", ENRON, "--device", "cuda")
    if done.returncode != 0:
        assert "no GPU" in done.stderr, done.stderr
        pytest.skip(done.stderr.strip().removeprefix("tendril: error: "))


JOBS = {
    "deepwalk.npy": ["--length", 40],
    "int64.npy": ["--dtype", "int64", "--walks", 3],
    "weighted.safetensors": ["--weighted", "--rule", "alias"],
    "scan.npy": ["--weighted", "--rule", "scan", "--length", 12],
    "its.npy": ["--weighted", "--rule", "its", "--length", 12],
    "reject.npy": ["--weighted", "--rule", "reject", "--length", 12],
    "node2vec.npy": ["--app", "node2vec", "--p", 0.5, "--q", 2, "--weighted", "--length", 30],
    "ppr.txt": ["--app", "ppr", "--stop-prob", 0.1, "--walks", 30],
    "short.safetensors": ["--app", "ppr", "--stop-prob", 0.2, "--walks", 30, "--order", "ragged"],
    "restart.safetensors": ["--app", "restart", "--restart-prob", 0.3, "--first-walk", 2**33],
    "labels.npy": ["--app", "metapath", "--metapath", "0,2,1", "--length", 12, "--weighted"],
    "types.npy": ["--app", "metapath", "--metapath", "0,1", "--metapath-of", "vertices", "--length", 9],
    "repeat.npy": ["--dead-end", "repeat", "--num-starts", 5000],
    "visits.npy": ["--length", 20, "--count", "visits"],
    "ends.safetensors": ["--app", "ppr", "--count", "ends", "--walks", 30],
    "sets.npy": ["--app", "multidim", "--roots", 7, "--num-starts", 900],
    "uniform.safetensors": ["--app", "multidim", "--roots", 3, "--root-choice", "uniform", "--walks", 4],
}


@pytest.mark.parametrize("output", JOBS)
def test_files_are_those_of_the_cpu(output, gpu, tendril, graphs):
    job = ["walk", graphs["skewed.safetensors"], *JOBS[output], "--seed", 6, "--quiet", "-o"]
    tendril(*job, output)
    for memory in (["--gpu-memory", "100K"], ["--gpu-memory", "2M"], []):
        tendril(*job, "gpu-" + output, "--device", "cuda:0", *memory)
        assert tendril.bytes("gpu-" + output) == tendril.bytes(output), memory


@pytest.mark.parametrize("output", JOBS)
def test_a_placed_graph_gives_the_same_files(output, gpu, tendril, graphs):
    """The least budget that the directory allows, and one that holds a part."""
    job = ["walk", graphs["skewed.safetensors"], *JOBS[output], "--seed", 6, "-o"]
    tendril(*job, output, "--quiet")
    refused = tendril.try_run(*job, "none" + output, "--device", "cuda", "--graph-memory", 1)
    assert refused.returncode == 1 and refused.stderr.count("\n") == 1
    least = int(re.search(r"expected at least (\d+)", refused.stderr)[1])
    for memory in (least, least + 30_000):
        summary = json.loads(tendril(*job, "part-" + output, "--device", "cuda", "--graph-memory", memory, "--json"))
        assert tendril.bytes("part-" + output) == tendril.bytes(output), memory
        placed = summary["placement"]
        assert placed["directory_bytes"] == least
        assert placed["gpu_bytes"] + placed["gpu_edge_bytes"] <= memory - least
        assert 0 <= placed["visits_on_gpu"] <= 1
        assert 0 <= summary["region_walks"] <= summary["num_walks"]


def test_many_walks_pass_lists_by_regions(gpu, tendril):
    """Large batches: the same file, whoever made it, and what passed is told."""
    tendril("generate", "rmat", "r.safetensors", "--scale", 15, "--quiet")
    job = ["walk", "r.safetensors", "--walks", 40, "--length", 20, "-o"]
    tendril(*job, "cpu.npy", "--quiet")
    for extra in ([], ["--gpu-memory", "100M"]):
        summary = json.loads(tendril(*job, "gpu.npy", "--device", "cuda", "--graph-memory", "1M", *extra, "--json"))
        assert tendril.bytes("gpu.npy") == tendril.bytes("cpu.npy"), extra
        assert 0 <= summary["region_walks"] <= summary["num_walks"]
        assert (summary["region_bytes"] > 0) == (summary["region_walks"] > 0)


def test_a_placed_graph_gives_the_same_samples(gpu, tendril, graphs):
    for app, options in {"khop": [], "minibatch": ["--batch-size", 500], "ladies": ["--num-seeds", 100]}.items():
        job = ["sample", graphs["skewed.safetensors"], "--app", app, *options, "-o"]
        tendril(*job, "cpu.safetensors", "--quiet")
        said = tendril(*job, "gpu.safetensors", "--device", "cuda", "--graph-memory", "20K")
        assert tendril.bytes("gpu.safetensors") == tendril.bytes("cpu.safetensors"), app
        assert re.search(r"^placed  .* of lists on the GPU, .* in host memory; .* % of reads on the GPU$", said, re.M)
    assert "\nplaced  " in tendril("plan", graphs["skewed.safetensors"], "--device", "cuda", "--graph-memory", "20K")


def test_starts_of_a_file(gpu, tendril):
    starts = np.random.default_rng(2).integers(0, 36692, 7001)
    np.save(tendril.path("starts.npy"), starts)
    job = ["walk", ENRON, "--starts", "starts.npy", "--walks", 3, "--length", 20, "--quiet", "-o"]
    tendril(*job, "cpu.npy")
    tendril(*job, "gpu.npy", "--device", "cuda", "--gpu-memory", "300K")
    walks = np.load(tendril.path("gpu.npy"))
    assert np.array_equal(walks[:, 0], np.repeat(starts, 3))
    assert tendril.bytes("gpu.npy") == tendril.bytes("cpu.npy")


TREES = {
    "trees.npz": [],
    "edges.safetensors": ["--fanouts", "25,10,3", "--edges", "--num-seeds", 1000],
    "replace.npz": ["--replace", "--first-root", 2**33, "--dtype", "int64"],
    "weighted.npz": ["--weighted", "--fanouts", "10,5", "--num-seeds", 900],
    "alias.npz": ["--weighted", "--replace", "--edges"],
    "all.npz": ["--fanouts=5,-1", "--edges", "--num-seeds", 300],
}


@pytest.mark.parametrize("output", TREES)
def test_trees_are_those_of_the_cpu(output, gpu, tendril, graphs):
    job = ["sample", graphs["skewed.safetensors"], *TREES[output], "--seed", 6, "--quiet", "-o"]
    tendril(*job, output)
    tendril(*job, "gpu-" + output, "--device", "cuda:0")
    assert tendril.bytes("gpu-" + output) == tendril.bytes(output)


def test_the_summary_of_trees_names_the_gpu(gpu, tendril):
    summary = json.loads(tendril("sample", ENRON, "-o", "t.npz", "--device", "cuda", "--json"))
    assert summary["device"] == "cuda" and summary["device_name"]
    assert f"\ndevice  {summary['device_name']}\n" in tendril("sample", ENRON, "-o", "t.npz", "--device", "cuda")
    plan = json.loads(tendril("plan", ENRON, "--app", "khop", "--device", "cuda", "--json"))
    assert plan["device"] == "cuda" and plan["plan"]["rule"] == "uniform"


def test_the_summary_names_the_gpu_and_times_each_part(gpu, tendril):
    summary = json.loads(tendril("walk", ENRON, "-o", "w.npy", "--device", "cuda", "--json"))
    assert summary["device"] == "cuda" and summary["device_name"]
    assert summary["num_walks"] == 366920 and summary["steps"] == 366920 * 80
    for part in ("sample", "copy", "write"):
        assert 0 < summary[part + "_seconds"] < summary["seconds"]
    assert f"\ndevice  {summary['device_name']}: " in tendril("walk", ENRON, "-o", "w.npy", "--device", "cuda")


def test_plans(gpu, tendril, graphs):
    job = ["plan", graphs["skewed.safetensors"], "--weighted", "--walks", 1000, "--json"]
    here, there = json.loads(tendril(*job)), json.loads(tendril(*job, "--device", "cuda"))
    assert here["plan"]["rule"] == there["plan"]["rule"]
    assert (here["device"], there["device"]) == ("cpu", "cuda")


def test_generated_graphs(gpu, tendril):
    for kind in ("rmat", "er", "powerlaw"):
        for device in ("cpu", "cuda:0"):
            tendril("generate", kind, f"{device}.npz", "--symmetrize", "--drop-duplicates", "--device", device, "--quiet")
        assert tendril.bytes("cpu.npz") == tendril.bytes("cuda:0.npz"), kind


def test_too_little_memory_for_one_walk(gpu, tendril):
    done = tendril.try_run("walk", ENRON, "-o", "out.npy", "--device", "cuda", "--gpu-memory", 1000)
    message = "--gpu-memory: 1000, expected at least 1328: 4 batches of one walk each"
    assert (done.returncode, done.stderr) == (2, f"tendril: error: {message}\n")
    assert not tendril.path("out.npy").exists()


def test_no_such_gpu(tendril):
    for verb, output in (("walk", "out.npy"), ("plan", "out.npy"), ("sample", "out.npz")):
        done = tendril.try_run(verb, ENRON, "-o", output, "--device", "cuda:9999")
        assert done.returncode == 1 and done.stdout == ""
        assert done.stderr.startswith(("tendril: error: no GPU: ", "tendril: error: GPU 9999: "))
        assert done.stderr.count("\n") == 1
        assert [path.name for path in tendril.folder.iterdir()] == ["data"]
