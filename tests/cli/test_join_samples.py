"""mpirun tendril sample --parts and join: the joined files are the file of one process, byte for byte."""

import json

import numpy as np
import pytest
import test_ranks_sample
import test_ranks_sample_apps
from mpi_ranks import NEEDS_MPI, run
from tensors import read_safetensors, write_safetensors
from test_join_errors import refused
from test_ranks_sample_apps import GRAPH, PAIRS, inputs  # noqa: F401 (a fixture)

JOBS = {**test_ranks_sample.JOBS, **test_ranks_sample_apps.JOBS, "text": ["--app-source", "pairs.cpp", "--num-seeds", 70]}
del JOBS["labor"]  # both have one
JOBS |= {"minibatch by labor": test_ranks_sample.JOBS["labor"], "labor": test_ranks_sample_apps.JOBS["labor"]}


def part_names(num_parts, form):
    return [f"s.part-0000{i}-of-0000{num_parts}.{form}" for i in range(num_parts)]


@NEEDS_MPI
@pytest.mark.parametrize("job", JOBS)
def test_joined_parts_are_the_whole(job, tendril, graphs):
    tendril.path("pairs.cpp").write_text(PAIRS)
    for form, num_ranks in (("safetensors", 2), ("safetensors", 7), ("npz", 3)):
        arguments = ["sample", graphs[GRAPH], *JOBS[job], "--quiet", "-o"]
        tendril(*arguments, f"whole.{form}")
        run(tendril, num_ranks, *arguments, f"s.{form}", "--threads", 1, "--parts")
        told = json.loads(tendril("join", *part_names(num_ranks, form), "-o", f"joined.{form}", "--json"))
        assert tendril.bytes(f"joined.{form}") == tendril.bytes(f"whole.{form}"), (form, num_ranks)
        assert (told["num_parts"], told["output_bytes"]) == (num_ranks, len(tendril.bytes(f"whole.{form}")))
        if form == "npz":
            with np.load(tendril.path("whole.npz")) as arrays:
                assert told["num_arrays"] == len(arrays.files)


@NEEDS_MPI
def test_a_graph_without_edges(tendril, graphs):
    """Arrays without an element keep their order."""
    tendril.path("one.txt").write_text("# a vertex\n5 5\n")
    tendril("convert", "one.txt", "one.npz", "--no-self-loops", "--quiet")
    for job in (["--fanouts=-1,-1", "--edges"], ["--app", "minibatch"], ["--app", "ladies"], ["--app", "labor"]):
        tendril("sample", "one.npz", "-o", "whole.safetensors", *job, "--quiet")
        run(tendril, 2, "sample", "one.npz", "-o", "s.safetensors", *job, "--parts", "--quiet")
        tendril("join", *part_names(2, "safetensors"), "-o", "joined.safetensors", "--quiet")
        assert tendril.bytes("joined.safetensors") == tendril.bytes("whole.safetensors")


def make_parts(tendril, graph, form="safetensors", *options):
    """Two parts without mpirun, of shadow: their ids follow each other."""
    np.save(tendril.path("a.npy"), np.arange(30))
    np.save(tendril.path("b.npy"), np.arange(30, 50))
    names = [f"a.{form}", f"b.{form}"]
    for name, first in zip(names, (4, 34)):
        seeds = ["--seeds", f"{name[0]}.npy", "--first-sample", first]
        tendril("sample", graph, "-o", name, "--app", "shadow", *seeds, *options, "--quiet")
    return names


@pytest.mark.parametrize("form", ["npz", "safetensors"])
def test_parts_of_one_process_each(form, tendril, graphs):
    names = make_parts(tendril, graphs[GRAPH], form)
    np.save(tendril.path("all.npy"), np.arange(50))
    job = ["--app", "shadow", "--seeds", "all.npy", "--first-sample", 4, "--quiet"]
    tendril("sample", graphs[GRAPH], "-o", f"whole.{form}", *job)
    tendril("join", *names, "-o", f"joined.{form}", "--quiet")
    assert tendril.bytes(f"joined.{form}") == tendril.bytes(f"whole.{form}")


def test_wrong_parts_are_one_line(tendril, graphs):
    a, b = make_parts(tendril, graphs[GRAPH])
    refused(tendril, [a, a], "out.safetensors", f"{a}: its first sample has id 4, expected 34")
    refused(tendril, [a, b], "out.npz", f"{a}: expected .npz, the format of the output")
    tendril("sample", graphs[GRAPH], "-o", "k.safetensors", "--num-seeds", 5, "--quiet")
    refused(tendril, [a, "k.safetensors"], "out.safetensors", f"k.safetensors: app is 'khop', expected 'shadow' as in {a}")
    tendril("walk", graphs[GRAPH], "-o", "w.safetensors", "--num-starts", 3, "--quiet")
    said = "w.safetensors: its metadata don't say format tendril-samples, expected a file of samples"
    refused(tendril, [a, "w.safetensors"], "out.safetensors", said)
    arrays, about = read_safetensors(tendril.path(b))
    for change, said in (
        ({"seed": "3"}, f"seed is '3', expected '0' as in {a}"),
        ({"part": "1/2"}, "part 1/2, expected no part of a run"),
        ({"num_samples": "-3"}, "num_samples is -3, expected a number from 0 on"),
        ({"params": "[]"}, "params is no object, expected one"),
    ):
        write_safetensors(tendril.path("c.safetensors"), arrays, {**about, **change})
        refused(tendril, [a, "c.safetensors"], "out.safetensors", f"c.safetensors: {said}")
    of_edges = {name: array.copy() for name, array in arrays.items()}
    of_edges["edge_offsets"][3] = 1 << 40
    write_safetensors(tendril.path("c.safetensors"), of_edges, about)
    before = int(arrays["edge_offsets"][4])
    said = f"c.safetensors: edge_offsets[4] is {before}, expected {1 << 40} or more"
    refused(tendril, [a, "c.safetensors"], "out.safetensors", said)


def test_batches_are_full_but_for_the_last(tendril, graphs):
    for app, first in (("minibatch", "--first-batch"), ("ladies", "--first-sample")):
        for name, seeds, batch in (("a", 30, 0), ("b", 10, 2), ("c", 30, 0)):
            np.save(tendril.path("seeds.npy"), np.arange(seeds))
            job = ["--app", app, "--batch-size", 20, "--seeds", "seeds.npy", first, batch, "--quiet"]
            tendril("sample", graphs[GRAPH], "-o", f"{name}.safetensors", *job)
        said = "a.safetensors: 30 seeds in 2 batches of 20, expected full batches, since other parts follow"
        refused(tendril, ["a.safetensors", "b.safetensors"], "out.safetensors", said)


def test_memory_does_not_grow_with_the_parts(tendril, graphs):
    """Of a .npz, whose check sum is read at once, an array of a part is in memory: 8 MB of 123."""
    few = make_parts(tendril, graphs[GRAPH])
    program = json.loads(tendril("join", *few, "-o", "few.safetensors", "--json"))["peak_memory_bytes"]
    for form in ("npz", "safetensors"):
        for name, first in (("a", 0), ("b", 1024)):
            job = ["--app", "layer", "--layer-size", 2000, "--max-size", 30000, "--first-sample", first, "--quiet"]
            tendril("sample", graphs[GRAPH], "-o", f"{name}.{form}", *job)
        told = json.loads(tendril("join", f"a.{form}", f"b.{form}", "-o", f"out.{form}", "--threads", 1, "--json"))
        assert told["output_bytes"] > 240e6
        assert told["peak_memory_bytes"] < program + (32 << 20), form


def test_arrays_of_no_sample_must_be_the_same(tendril, graphs):
    for name, seed in (("a.npz", 1), ("b.npz", 2)):
        tendril("sample", graphs[GRAPH], "-o", name, "--app", "cluster", "--partition", "random", "--seed", seed, "--quiet")
    refused(tendril, ["a.npz", "b.npz"], "out.npz", "b.npz: cluster_of differs, expected what a.npz has")


def test_a_truncated_file(tendril, graphs):
    for form in ("npz", "safetensors"):
        a, b = make_parts(tendril, graphs[GRAPH], form)
        content = tendril.bytes(b)
        for size in (0, 9, 100, len(content) // 2, len(content) - 1):
            tendril.path(b).write_bytes(content[:size])
            done = tendril.try_run("join", a, b, "-o", f"out.{form}")
            assert done.returncode == 1 and done.stderr.startswith(f"tendril: error: {b}: "), done
            assert done.stderr.count("\n") == 1 and not tendril.path(f"out.{form}").exists()
