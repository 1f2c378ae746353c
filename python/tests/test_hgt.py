"""HGSampling: batches follow the graph, and don't depend on threads or on how they are asked for."""

from __future__ import annotations

import numpy as np
import pytest

import tendril

WRITES, CITES = ("author", "writes", "paper"), ("paper", "cites", "paper")


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(5)
    edges = {
        WRITES: (rng.integers(0, 90, 400), rng.integers(0, 60, 400)),
        CITES: (rng.integers(0, 60, 300), rng.integers(0, 60, 300)),
    }
    return tendril.HeteroGraph({"paper": 60, "author": 90}, edges, reverse=True)


def same(one, other):
    return all(
        np.array_equal(getattr(one, field)[key], getattr(other, field)[key])
        for field in ("node", "row", "col", "edge")
        for key in getattr(one, field)
    )


def test_batches_are_induced_subgraphs_of_the_right_size(graph):
    sampler = tendril.HGTSampler(graph, {"paper": [3, 4], "author": [5, 0]}, seed=3)
    seeds = [7, 1, 7, 33]
    batch = sampler.sample({"paper": seeds}, batch=9)
    assert batch.node["paper"][:3].tolist() == [7, 1, 33]
    assert batch.num_sampled_nodes == {"paper": [3, 3, 4], "author": [0, 5, 0]}
    for name, nodes in batch.node.items():
        assert len(set(nodes.tolist())) == len(nodes), name
    for key, edges in graph.edges.items():
        source, target = (batch.node[name] for name in (key[0], key[2]))
        indptr, neighbors = edges.indptr, edges.indices
        expected = [
            (i, int(place))
            for i, v in enumerate(target)
            for place in range(indptr[v], indptr[v + 1])
            if neighbors[place] in source
        ]
        assert list(zip(batch.row[key].tolist(), batch.edge[key].tolist(), strict=True)) == expected
        assert np.array_equal(source[batch.col[key]], neighbors[batch.edge[key]])


def test_neither_threads_nor_bulk_calls_change_a_batch(graph):
    seeds = np.arange(60)
    alone = tendril.HGTSampler(graph, [4, 4], seed=1, num_threads=1)
    for threads in (1, 2, 3):
        many = tendril.HGTSampler(graph, [4, 4], seed=1, num_threads=threads)
        for options in ({}, {"batch_step": 7}):
            made = many.sample_batches(seeds, 8, node_type="paper", first_batch=100, **options)
            assert len(made) == 8
            for i, batch in enumerate(made):
                number = 100 + options.get("batch_step", 1) * i
                assert same(batch, alone.sample({"paper": seeds[8 * i : 8 * i + 8]}, batch=number))
    first, second = (alone.sample({"paper": [1, 2]}, batch=i) for i in (0, 1))
    assert not same(first, second)


def test_bad_input_gives_one_line(graph):
    def refuses(line, call):
        with pytest.raises(tendril.ArgumentError) as found:
            call()
        assert str(found.value) == line

    make = tendril.HGTSampler
    refuses("graph is a Graph, expected a HeteroGraph", lambda: make(tendril.generate.ring(5), [1]))
    refuses(
        "num_samples has the vertex type 'x', expected one of ['paper', 'author']", lambda: make(graph, {"x": [1]})
    )
    refuses(
        "num_samples has lists of {'paper': 1, 'author': 2} hops, expected one number of hops, of one type or more",
        lambda: make(graph, {"paper": [1], "author": [1, 2]}),
    )
    refuses(
        "num_samples has lists of {} hops, expected one number of hops, of one type or more", lambda: make(graph, {})
    )
    refuses("num_samples: 0 hops of vertex type 0, expected 1 to 65535", lambda: make(graph, []))
    refuses("num_samples: -2 at hop 1 of vertex type 0, expected 0 or more", lambda: make(graph, [-2]))
    refuses("num_samples[0] is 'a', expected an integer", lambda: make(graph, ["a"]))
    sampler = make(graph, [1])
    refuses(
        "seed 1 of type 0: vertex 60 is out of range, the graph has 60 vertices of that type",
        lambda: sampler.sample({"paper": [0, 60]}),
    )
    refuses("seeds has the vertex type 'x', expected one of ['paper', 'author']", lambda: sampler.sample({"x": [0]}))
    refuses(
        "node_type is 'x', expected one of ['paper', 'author']",
        lambda: sampler.sample_batches([0], 1, node_type="x"),
    )
    timed = tendril.HeteroGraph({"a": 2}, {("a", "to", "a"): ([0], [1])}, node_times={"a": [0, 1]})
    refuses("the graph has times, expected one without: HGSampling reads none", lambda: make(timed, [1]))
