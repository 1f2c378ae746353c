"""convert --order: the same graph under other numbers, whatever the threads and the form, in files that say so."""

import json

import numpy as np
import pytest
from test_corrupt_files import leftovers

ENRON = "data/email-enron.npz"
ORDERS = ["degree", "bfs", "rcm", "llp"]


def edges_of(path):
    """All edges with weights and labels by original ids, sorted, and the type of each original id."""
    with np.load(path) as graph:
        ids = graph["original_ids"] if "original_ids" in graph else np.arange(len(graph["indptr"]) - 1)
        source = np.repeat(ids, np.diff(graph["indptr"]))
        columns = [source, ids[graph["indices"]], graph["data"], graph["edge_type"]]
        types = dict(zip(ids.tolist(), graph["node_type"].tolist(), strict=True))
        return sorted(zip(*(c.tolist() for c in columns), strict=True)), types


@pytest.mark.parametrize("order", ORDERS)
def test_the_graph_stays_the_same(order, tendril, graphs):
    tendril("convert", graphs["skewed.safetensors"], "before.npz", "--quiet")
    tendril("convert", graphs["skewed.safetensors"], "after.npz", "--order", order, "--quiet")
    assert edges_of(tendril.path("after.npz")) == edges_of(tendril.path("before.npz"))
    told = tendril("info", "after.npz", "--validate")
    assert "original ids      kept: vertices were numbered anew" in told


@pytest.mark.parametrize("order", ORDERS)
def test_threads_and_form_change_nothing(order, tendril, graphs):
    source = graphs["skewed.safetensors"]
    tendril("convert", source, "small.safetensors", "--compress", "auto", "--quiet")
    for name, graph, threads in (("a", source, 1), ("b", source, 3), ("c", "small.safetensors", 2)):
        tendril("convert", graph, f"{name}.safetensors", "--order", order, "--threads", threads, "--quiet")
    assert tendril.bytes("a.safetensors") == tendril.bytes("b.safetensors") == tendril.bytes("c.safetensors")


def test_it_is_the_last_building_step(tendril):
    tendril.path("g.csv").write_text("source,target\n50,70\n70,90\n70,70\n")
    steps = ["--symmetrize", "--drop-self-loops", "--compact", "--edge-ids"]
    done = json.loads(tendril("convert", "g.csv", "o.npz", *steps, "--order", "degree", "--json"))
    assert (done["order"], done["form"]) == ("degree", "csr")
    with np.load(tendril.path("o.npz")) as graph:
        assert graph["original_ids"].tolist() == [70, 50, 90]
        assert graph["indices"].tolist() == [1, 2, 0, 0]
        assert graph["edge_ids"].tolist() == [0, 1, 0, 1]
    done = json.loads(tendril("convert", "o.npz", "p.safetensors", "--order", "rcm", "--compress", "packed", "--json"))
    assert (done["order"], done["form"]) == ("rcm", "packed")
    assert json.loads(tendril("convert", "o.npz", "p.safetensors", "--json"))["order"] is None


def test_fewer_bits(tendril):
    bits = {}
    for order in (None, "llp"):
        options = ["--order", order] if order else []
        done = json.loads(tendril("convert", ENRON, "p.safetensors", "--compress", "auto", "--json", *options))
        bits[order] = done["bits_per_edge"]
    assert bits["llp"] < bits[None]


def test_the_seed_is_that_of_llp(tendril, graphs):
    for name, seed in (("a", 0), ("b", 1), ("c", 1)):
        out = f"{name}.safetensors"
        tendril("convert", graphs["skewed.safetensors"], out, "--order", "llp", "--seed", seed, "--quiet")
    tendril("convert", graphs["skewed.safetensors"], "d.safetensors", "--order", "llp", "--quiet")
    assert tendril.bytes("a.safetensors") == tendril.bytes("d.safetensors") != tendril.bytes("b.safetensors")
    assert tendril.bytes("b.safetensors") == tendril.bytes("c.safetensors")


@pytest.mark.parametrize("order", ORDERS)
def test_a_graph_without_edges(order, tendril, graphs):
    tendril("convert", graphs["empty.txt"], "o.npz", "--order", order, "--quiet")
    tendril("convert", graphs["empty.txt"], "p.npz", "--num-vertices", 3, "--order", order, "--quiet")
    with np.load(tendril.path("p.npz")) as graph:
        assert sorted(graph["original_ids"].tolist()) == [0, 1, 2]


@pytest.mark.parametrize(
    "options, message",
    [
        (["--order", "best"], "--order: 'best', expected degree, bfs, rcm or llp (try 'tendril convert --help')"),
        (["--order", "degree", "--seed", 1], "--seed: 1, expected --order llp with it"),
        (["--seed", 7], "--seed: 7, expected --order llp with it"),
    ],
)
def test_hostile_options(options, message, tendril, graphs):
    done = tendril.try_run("convert", graphs["line.txt"], "o.npz", *options)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"tendril: error: {message}\n")
    assert leftovers(tendril) == []
