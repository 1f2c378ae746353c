"""Several GPUs of one machine: the bytes of the CPU, for every application; and what is said where there are fewer."""

import json

import pytest
import test_gpu
import test_gpu_minibatch
import test_gpu_sample_apps
import test_sample_apps
from test_gpu import ENRON, gpu  # noqa: F401 (a fixture)
from mpi_ranks import can_run_ranks, complaint, run

WALKS = {f"walk {name}": ["walk", "-o", name, *options] for name, options in test_gpu.JOBS.items()}
TREES = {f"khop {name}": ["sample", "-o", name, *options] for name, options in test_gpu.TREES.items()}
BATCHES = {
    f"minibatch {name}": ["sample", "-o", "m.npz", "--app", "minibatch", "--batch-size", 100, "--num-seeds", 950, *options]
    for name, options in test_gpu_minibatch.JOBS.items()
}
APPS = {
    f"{app}": ["sample", "-o", "s.safetensors", "--app", app, *options, *number]
    for app, options in test_sample_apps.JOBS.items()
    for number in [["--num-seeds", 500] if app in test_sample_apps.OF_SEEDS else ["--num-samples", 17]]
} | {
    name: ["sample", "-o", "s.safetensors", "--app", *options]
    for name, options in test_gpu_sample_apps.MORE.items()
    if "norms.npy" not in options
}


@pytest.fixture(scope="module")
def gpus(gpu, tmp_path_factory):  # noqa: F811
    """Skips where there are fewer than two GPUs."""
    from tendril_command import Tendril

    command = Tendril(tmp_path_factory.mktemp("gpus"))
    done = command.try_run("plan", ENRON, "--device", "cuda:1")
    if done.returncode != 0:
        pytest.skip("one GPU alone")


@pytest.mark.parametrize("job", {**WALKS, **TREES, **BATCHES, **APPS})
def test_two_gpus_write_the_bytes_of_the_cpu(job, gpus, tendril, graphs):
    verb, _, output, *options = {**WALKS, **TREES, **BATCHES, **APPS}[job]
    command = [verb, graphs["skewed.safetensors"], *options, "--seed", 6, "--quiet", "-o"]
    tendril(*command, output)
    small = ["--gpu-memory", "100K"] if verb == "walk" else []  # batches so small that both GPUs get many
    for devices in (["--device", "cuda:0,1", *small], ["--device", "cuda:1,0"], ["--device", "cuda:all"]):
        tendril(*command, "gpu-" + output, *devices)
        assert tendril.bytes("gpu-" + output) == tendril.bytes(output), devices


SPREAD = ["walk deepwalk.npy", "walk node2vec.npy", "walk sets.npy", "khop weighted.npz", "minibatch plain", "ladies", "layer, unique"]


@pytest.mark.parametrize("job", SPREAD)
def test_one_graph_over_two_gpus_gives_the_same_bytes(job, gpus, tendril, graphs):
    verb, _, output, *options = {**WALKS, **TREES, **BATCHES, **APPS}[job]
    command = [verb, graphs["skewed.safetensors"], *options, "--seed", 6, "--quiet", "-o"]
    tendril(*command, output)
    tendril(*command, "gpu-" + output, "--device", "cuda:0,1", "--spread")
    assert tendril.bytes("gpu-" + output) == tendril.bytes(output)


def test_two_gpus_share_a_graph_that_is_placed(gpus, tendril, graphs):
    job = ["walk", graphs["skewed.safetensors"], "--quiet", "-o"]
    tendril(*job, "cpu.npy")
    tendril(*job, "gpu.npy", "--device", "cuda:0,1", "--graph-memory", "100K")
    assert tendril.bytes("gpu.npy") == tendril.bytes("cpu.npy")


def test_the_summary_names_them(gpus, tendril):
    summary = json.loads(tendril("walk", ENRON, "-o", "w.npy", "--device", "cuda:0,1", "--json"))
    assert summary["device"] == "cuda:0,1" and summary["device_name"].startswith("2 x ")
    assert summary["steps"] == 366920 * 80
    assert f"\ndevice  {summary['device_name']}: " in tendril("walk", ENRON, "-o", "w.npy", "--device", "cuda:0,1")
    said = tendril("sample", ENRON, "-o", "t.npz", "--device", "cuda:0,1")
    assert f"\ndevice  {summary['device_name']}\n" in said


def test_a_gpu_that_is_not_there_is_one_line(gpu, tendril):  # noqa: F811
    for verb in (["walk", ENRON, "-o", "w.npy"], ["sample", ENRON, "-o", "t.npz"], ["sample", ENRON, "-o", "t.npz", "--app", "ladies"]):
        failed = tendril.try_run(*verb, "--device", "cuda:0,15")
        assert failed.returncode == 1 and failed.stderr.count("\n") == 1, failed.stderr
        assert "GPU 15" in failed.stderr


@pytest.mark.skipif(not can_run_ranks(), reason="needs mpirun and a build with MPI")
@pytest.mark.parametrize("output", ["deepwalk.npy", "ppr.txt", "short.safetensors", "visits.npy"])
def test_ranks_with_a_gpu_each_write_the_bytes_of_the_cpu(output, gpu, tendril, graphs):  # noqa: F811
    """Where there are fewer GPUs than ranks, ranks share them."""
    job = ["walk", graphs["skewed.safetensors"], *test_gpu.JOBS[output], "--seed", 6, "-o"]
    tendril(*job, output, "--quiet")
    run(tendril, 2, *job, "gpu-" + output, "--device", "cuda")
    assert tendril.bytes("gpu-" + output) == tendril.bytes(output)


@pytest.mark.skipif(not can_run_ranks(), reason="needs mpirun and a build with MPI")
@pytest.mark.parametrize("form", ["none", "auto"])
@pytest.mark.parametrize("output", ["deepwalk.npy", "ppr.txt", "its.npy", "reject.npy", "restart.safetensors", "node2vec.npy", "visits.npy", "ends.safetensors"])
def test_ranks_with_a_part_on_a_gpu_each_write_the_bytes_of_the_cpu(output, form, gpu, tendril, graphs):  # noqa: F811
    options = test_gpu.JOBS[output]
    job = [*options, "--seed", 6, "-o"]
    tendril("walk", graphs["skewed.safetensors"], *job, output, "--quiet")
    tendril("partition", graphs["skewed.safetensors"], "-o", "parts", "--parts", 2, "--compress", form, "--quiet")
    said = run(tendril, 2, "walk", "parts", *job, "gpu-" + output, "--device", "cuda")
    assert tendril.bytes("gpu-" + output) == tendril.bytes(output)
    assert ", one for each rank" in said


@pytest.mark.skipif(not can_run_ranks(), reason="needs mpirun and a build with MPI")
@pytest.mark.parametrize("form", ["none", "auto"])
@pytest.mark.parametrize("options", [[], ["--edges", "--weighted"], ["--replace", "--weighted", "--fanouts", "6,5,4"], ["--edges", "--fanouts=3,-1,2"]])
def test_ranks_with_a_part_on_a_gpu_each_grow_the_trees_of_the_cpu(options, form, gpu, tendril, graphs):  # noqa: F811
    job = [*options, "--num-seeds", 900, "--seed", 6, "-o"]
    tendril("sample", graphs["skewed.safetensors"], *job, "t.npz", "--quiet")
    tendril("partition", graphs["skewed.safetensors"], "-o", "parts", "--parts", 2, "--compress", form, "--quiet")
    run(tendril, 2, "sample", "parts", *job, "gpu-t.npz", "--device", "cuda")
    assert tendril.bytes("gpu-t.npz") == tendril.bytes("t.npz")


@pytest.mark.skipif(not can_run_ranks(), reason="needs mpirun and a build with MPI")
@pytest.mark.parametrize("form", ["none", "auto"])
@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--disjoint", "--weighted"],
        ["--subgraph", "bidirectional", "--replace"],
        ["--choice", "labor", "--batch-dependency", 3],
        ["--subgraph", "induced"],
    ],
)
def test_ranks_with_a_part_on_a_gpu_each_make_the_batches_of_the_cpu(options, form, gpu, tendril, graphs):  # noqa: F811
    job = ["--app", "minibatch", "--fanouts", "15,10,5", "--batch-size", "64", *options, "--num-seeds", 900, "--seed", 6, "-o"]
    tendril("sample", graphs["skewed.safetensors"], *job, "b.npz", "--quiet")
    tendril("partition", graphs["skewed.safetensors"], "-o", "parts", "--parts", 2, "--compress", form, "--quiet")
    run(tendril, 2, "sample", "parts", *job, "gpu-b.npz", "--device", "cuda")
    assert tendril.bytes("gpu-b.npz") == tendril.bytes("b.npz")


@pytest.mark.skipif(not can_run_ranks(), reason="needs mpirun and a build with MPI")
@pytest.mark.parametrize("way", ["peers", "nccl", "host"])
def test_records_of_processes_may_go_any_way(way, gpu, tendril, graphs, monkeypatch):  # noqa: F811
    """Where there are fewer GPUs than ranks, or no NCCL, they go by way of host memory."""
    monkeypatch.setenv("TENDRIL_GPU_MESSAGES", way)
    tendril("partition", graphs["skewed.safetensors"], "-o", "parts", "--parts", 2, "--quiet")
    for verb, output, options in [
        ("walk", "w.npy", ["--app", "node2vec", "--p", 2, "--q", 0.5]),
        ("sample", "t.npz", ["--fanouts", "10,5", "--num-seeds", 900]),
    ]:
        tendril(verb, graphs["skewed.safetensors"], *options, "--seed", 6, "-o", output, "--quiet")
        run(tendril, 2, verb, "parts", *options, "--seed", 6, "-o", "gpu-" + output, "--device", "cuda")
        assert tendril.bytes("gpu-" + output) == tendril.bytes(output)


@pytest.mark.skipif(not can_run_ranks(), reason="needs mpirun and a build with MPI")
def test_a_way_that_there_is_not_is_one_line(gpu, tendril, graphs, monkeypatch):  # noqa: F811
    monkeypatch.setenv("TENDRIL_GPU_MESSAGES", "pigeons")
    tendril("partition", graphs["skewed.safetensors"], "-o", "parts", "--parts", 2, "--quiet")
    said = complaint(tendril, 2, "walk", "parts", "-o", "w.npy", "--device", "cuda")
    assert said.endswith("TENDRIL_GPU_MESSAGES: 'pigeons', expected peers, nccl or host"), said


def test_a_plan_for_more_gpus(gpus, tendril):
    """Bytes are known by chance alone: a step crosses with the share of crossing edges, once walks have left their starts."""
    said = tendril(
        "bench", "dist", "--device", "cuda:0,1", "--graph", "rmat:12", "--repeats", 1, "--simulate", "1,2,1000",
        "--bandwidth", 100, "--json", "plan.json",
    )  # fmt: skip
    assert said.startswith("The plan assumes\n  given     100 GB/s that each GPU sends")
    rows = {row["job"]: row for row in json.loads(tendril.bytes("plan.json"))["rows"]}
    assert 0.95 < rows["bytes a step, model / measured, 2 GPUs"]["value"] < 1.05
    assert rows["weighted walks, sharded, 2 GPUs, few walkers, model / measured"]["value"] > 0
    one = rows["uniform walks, planned, 1 GPU"]
    assert one["value"] == pytest.approx(rows["uniform walks, sharded, 1 GPU"]["value"])
    assert 0 < rows["uniform walks, planned, 1000 GPUs"]["share"] <= rows["uniform walks, planned, 2 GPUs"]["share"] <= 1
    assert one["share"] == pytest.approx(1) and one["ceiling_name"] == "GPUs times the rate of one"


def test_a_plan_needs_two_gpus(gpu, tendril):  # noqa: F811
    failed = tendril.try_run("bench", "dist", "--device", "cuda:0", "--graph", "rmat:8", "--simulate", 4)
    assert failed.stderr == "tendril: error: --simulate: one GPU, expected two or more, which show what a move costs\n"
