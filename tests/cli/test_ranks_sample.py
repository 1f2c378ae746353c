"""mpirun tendril sample: ranks write the file of one process, byte for byte, or none, and say in one line what went wrong."""

import json

import numpy as np
import pytest
from mpi_ranks import NEEDS_MPI, complaint, different_ranks, files, run
from tendril_command import TENDRIL
from tensors import read_safetensors

pytestmark = NEEDS_MPI

GRAPH = "skewed.safetensors"
BATCHES = ["--app", "minibatch", "--fanouts", "5,3", "--batch-size", 20]
JOBS = {
    "trees": ["--fanouts", "5,3"],
    "trees with edges": ["--fanouts", "5,3", "--edges", "--weighted", "--replace", "--first-root", 123456789012],
    "all neighbours": ["--fanouts", "3,-1", "--edges", "--num-seeds", 100],
    "few trees": ["--fanouts", "2", "--num-seeds", 2],
    "batches": BATCHES,
    "weighted batches": [*BATCHES, "--weighted", "--disjoint", "--first-batch", 7],
    "labor": [*BATCHES, "--choice", "labor", "--batch-dependency", 3],
    "induced": [*BATCHES, "--subgraph", "induced", "--num-seeds", 100],
    "all": [*BATCHES, "--frontier", "all", "--replace", "--seed", 4],
    "one batch": [*BATCHES, "--num-seeds", 3],
}


@pytest.mark.parametrize(
    "job, form",
    [(job, "safetensors") for job in JOBS]
    + [(job, "npz") for job in ("trees", "trees with edges", "all neighbours", "batches", "labor")],
)
def test_ranks_write_the_file_of_one_process(job, form, tendril, graphs):
    tendril("partition", graphs[GRAPH], "-o", "parts", "--parts", 3, "--quiet")
    tendril("partition", graphs[GRAPH], "-o", "compressed", "--parts", 3, "--compress", "auto", "--quiet")
    tendril("sample", graphs[GRAPH], "-o", f"whole.{form}", *JOBS[job], "--quiet")
    before = files(tendril)
    for graph in (graphs[GRAPH], "parts", "compressed"):
        run(tendril, 3, "sample", graph, "-o", f"ranks.{form}", *JOBS[job], "--threads", 1, "--quiet")
        assert tendril.bytes(f"ranks.{form}") == tendril.bytes(f"whole.{form}"), graph
        tendril.path(f"ranks.{form}").unlink()
    assert files(tendril) == before


@pytest.mark.parametrize("num_ranks", [1, 2, 7])
def test_any_number_of_ranks(num_ranks, tendril, graphs):
    tendril("partition", graphs[GRAPH], "-o", "parts", "--parts", num_ranks, "--quiet")
    for job in ("trees", "batches"):
        tendril("sample", graphs[GRAPH], "-o", "whole.npz", *JOBS[job], "--quiet")
        run(tendril, num_ranks, "sample", "parts", "-o", "ranks.npz", *JOBS[job], "--threads", 1, "--quiet")
        assert tendril.bytes("ranks.npz") == tendril.bytes("whole.npz")


def without(options, name):
    """Options without one of them and its value."""
    at = options.index(name) if name in options else len(options)
    return options[:at] + options[at + 2 :]


@pytest.mark.parametrize("graph", ["whole", "parts"])
@pytest.mark.parametrize("num_ranks", [2, 3])
@pytest.mark.parametrize("job", JOBS)
def test_a_file_a_rank(job, num_ranks, graph, tendril, graphs):
    """Each has what one process makes of the seeds of the rank."""
    options = [*JOBS[job], "--quiet"]
    tendril("partition", graphs[GRAPH], "-o", "parts", "--parts", num_ranks, "--quiet")
    tendril("sample", graphs[GRAPH], "-o", "whole.safetensors", *options)
    source = "parts" if graph == "parts" else graphs[GRAPH]
    run(tendril, num_ranks, "sample", source, "-o", "s.safetensors", *options, "--threads", 1, "--parts")
    whole, about = read_safetensors(tendril.path("whole.safetensors"))
    each = options[options.index("--batch-size") + 1] if "--batch-size" in options else 1
    samples = np.array_split(np.arange(-(-len(whole["seeds"]) // each)), num_ranks)
    option, name = ("--first-batch", "first_batch") if "--batch-size" in options else ("--first-root", "first_root")
    first_id = json.loads(about["params"])[name]
    for rank, mine in enumerate(samples):
        file = f"s.part-0000{rank}-of-0000{num_ranks}.safetensors"
        arrays, told = read_safetensors(tendril.path(file))
        assert told.pop("part") == f"{rank}/{num_ranks}"
        seeds = whole["seeds"][mine[0] * each : (mine[-1] + 1) * each] if len(mine) else whole["seeds"][:0]
        assert np.array_equal(arrays["seeds"], seeds)
        if len(seeds) == 0:
            continue
        tendril.path("seeds.txt").write_text("\n".join(map(str, seeds.tolist())))
        again = [*without(without(options, "--num-seeds"), option), "--seeds", "seeds.txt", option, first_id + mine[0]]
        tendril("sample", graphs[GRAPH], "-o", "one.safetensors", *again)
        expected, expected_about = read_safetensors(tendril.path("one.safetensors"))
        assert told == expected_about
        assert arrays.keys() == expected.keys()
        assert all(np.array_equal(arrays[key], expected[key]) for key in arrays)
    assert not tendril.path("s.safetensors").exists()


def test_parts_need_ranks(tendril, graphs):
    assert "--parts: one process, expected ranks" in tendril.try_run("sample", graphs[GRAPH], "-o", "s.npz", "--parts").stderr


def test_the_summary_tells_of_all_ranks(tendril, graphs):
    tendril("partition", graphs[GRAPH], "-o", "parts", "--parts", 2, "--quiet")
    for job in ("trees", "batches"):
        alone = json.loads(tendril("sample", graphs[GRAPH], "-o", "a.npz", *JOBS[job], "--json"))
        told = json.loads(run(tendril, 2, "sample", "parts", "-o", "b.npz", *JOBS[job], "--json"))
        for name in ("sampled_edges", "num_seeds", "graph", "params"):
            if name != "graph":
                assert told[name] == alone[name]
        assert (told["ranks"]["size"], told["ranks"]["sharded"]) == (2, True)
        assert told["ranks"]["sent_bytes"] > 0 and "ranks" not in alone
        text = run(tendril, 2, "sample", "parts", "-o", "b.npz", *JOBS[job])
        assert "ranks   2, each with a part of the graph; " in text
        assert "ranks   2, each with the whole graph; " in run(tendril, 2, "sample", graphs[GRAPH], "-o", "b.npz", *JOBS[job])


def test_what_ranks_refuse(tendril, graphs):
    tendril("partition", graphs[GRAPH], "-o", "parts", "--parts", 3, "--quiet")
    for arguments, expected in (
        (["parts"], ": parts: 3 parts, expected one a rank: mpirun started 2"),
        ([graphs[GRAPH], "--seeds", "-"], "--seeds -: started by mpirun as 2 ranks, expected a file that all can open"),
        ([graphs[GRAPH], "--deadline", "0"], "--deadline: 0, expected more than 0 seconds"),
        ([graphs[GRAPH], "--fanouts", "0"], "--fanouts"),
    ):
        assert expected in complaint(tendril, 2, "sample", *arguments, "-o", "s.npz")
    assert "nowhere/s.npz: cannot create" in complaint(tendril, 2, "sample", graphs[GRAPH], "-o", "nowhere/s.npz")
    assert "a graph in parts" in complaint(tendril, 3, "sample", "parts", "-o", "s.npz", "--memory", "1M")
    induced = ["--app", "minibatch", "--subgraph", "induced", "--device", "cuda"]
    said = complaint(tendril, 3, "sample", "parts", "-o", "s.npz", *induced)
    assert "no GPU" in said or "induced subgraphs on GPUs that each have a part" in said
    assert files(tendril) == ["data", "parts"]


def test_other_options_on_a_rank_are_named(tendril, graphs):
    sample = f'exec {TENDRIL} sample {graphs[GRAPH]} -o s.npz --quiet'
    other = '[ "$OMPI_COMM_WORLD_RANK" = 2 ] && '
    assert "rank 2 of 3: --seed is 1, expected" in different_ranks(tendril, f"S=0; {other} S=1; {sample} --seed $S")
    assert "rank 2 of 3: the content of --seeds is 1 vertex with the hash " in different_ranks(tendril, f"printf 1 >a; printf 2 >b; S=a; {other} S=b; {sample} --seeds $S")
    assert not tendril.path("s.npz").exists()


@pytest.mark.parametrize("rank", [0, 2])
def test_a_full_disk_on_a_rank_ends_all(rank, tendril, graphs):
    # Shared memory is files, too: the ranks talk by TCP.
    limit = f'[ "$OMPI_COMM_WORLD_RANK" = {rank} ] && ulimit -f 100; '
    jobs = ("", "--app minibatch --fanouts 5,5 --batch-size 20", "--app layer --layer-size 500", "--app labor --batch-size 20")
    for job in jobs:
        for name in ("s.safetensors", "s.npz"):
            said = different_ranks(tendril, f"{limit}exec {TENDRIL} sample {graphs[GRAPH]} -o {name} {job} --quiet", "tcp")
            assert f"rank {rank} of 3: {name}: " in said
            assert not [one for one in files(tendril) if one.startswith("s.")]


def test_ranks_keep_their_samples_until_they_write_them(tendril, graphs):
    """Nothing goes by way of another rank."""
    for job in ("trees", "all neighbours", "batches"):
        told = json.loads(run(tendril, 2, "sample", graphs[GRAPH], "-o", "s.npz", *JOBS[job], "--seed", 1, "--json"))
        assert told["ranks"]["sent_bytes"] < told["output_bytes"] / 20, job
