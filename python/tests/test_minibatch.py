"""Samplers of mini-batches and graphs of several types: what a batch holds, blocks, bulk, times, errors."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import tendril

WRITES, CITES = ("author", "writes", "paper"), ("paper", "cites", "paper")


@pytest.fixture(scope="module")
def library():
    """Papers and authors, with the edges as arrays."""
    rng = np.random.default_rng(5)
    edges = {
        WRITES: (rng.integers(0, 30, 200), rng.integers(0, 20, 200)),
        CITES: (rng.integers(0, 20, 90), rng.integers(0, 20, 90)),
    }
    return {"author": 30, "paper": 20}, edges


def fields(batch):
    return {name: getattr(batch, name) for name in batch.__dataclass_fields__ if name != "_ends"}


def same(one, other):
    for name, value in fields(one).items():
        np.testing.assert_equal(getattr(other, name), value)


@pytest.mark.parametrize("frontier", ["new", "all"])
@pytest.mark.parametrize("disjoint", [False, True])
def test_a_batch_is_what_neighbor_sample_gives(graph, frontier, disjoint):
    options = {"disjoint": disjoint, "frontier": frontier, "seed": 9, "weighted": True}
    batch = tendril.MinibatchSampler(graph, [3, 2], **options).sample([9, 4, 33], batch=6)
    sample = tendril.neighbor_sample(graph, [9, 4, 33], [3, 2], batch=6, **options)
    for name in sample._fields:
        np.testing.assert_equal(getattr(batch, name), getattr(sample, name))
    assert batch.indptr[-1] == len(batch.row) and sum(batch.num_expanded) + 1 == len(batch.indptr)
    expanded = np.concatenate(
        [np.arange(a, a + n) for a, n in zip(batch.first_expanded, batch.num_expanded, strict=True)]
    )
    np.testing.assert_array_equal(batch.row, np.repeat(expanded, np.diff(batch.indptr)))


def test_frontier_all_expands_all_that_are_there(graph):
    batch = tendril.MinibatchSampler(graph, [2, 3, -1], frontier="all").sample([1, 2, 3])
    assert batch.first_expanded == [0, 0, 0]
    assert batch.num_expanded == np.cumsum(batch.num_sampled_nodes)[:-1].tolist()


@pytest.mark.parametrize("disjoint", [False, True])
def test_blocks_are_the_hops_outermost_first(graph, disjoint):
    batch = tendril.MinibatchSampler(graph, [3, 2, 2], frontier="all", disjoint=disjoint).sample([9, 4, 33])
    blocks = batch.blocks()
    assert len(blocks) == 3 and blocks[-1].dst_nodes.tolist() == [9, 4, 33]
    np.testing.assert_array_equal(blocks[0].src_nodes, batch.node)
    total = 0
    for outer, inner in zip(blocks, blocks[1:], strict=False):
        np.testing.assert_array_equal(outer.dst_nodes, inner.src_nodes)
    for block in reversed(blocks):
        count = len(block.dst_nodes)
        np.testing.assert_array_equal(block.src_nodes[:count], block.dst_nodes)
        np.testing.assert_array_equal(block.row, np.repeat(np.arange(count), np.diff(block.indptr)))
        assert block.first_edge == total == block.indptr[0]
        assert len(block.indptr) == count + 1 and block.col.max(initial=-1) < len(block.src_nodes)
        np.testing.assert_array_equal(graph.indices[block.edge], block.src_nodes[block.col])
        source = np.searchsorted(graph.indptr, block.edge, side="right") - 1
        np.testing.assert_array_equal(source, block.dst_nodes[block.row])
        total += len(block.row)
    assert total == len(batch.row) and np.shares_memory(blocks[0].row, batch.row)


def test_blocks_of_several_types(library):
    graph = tendril.HeteroGraph(*library, reverse=True)
    batch = tendril.MinibatchSampler(graph, [2, 2], frontier="all").sample({"paper": [3, 8]})
    outer, inner = batch.blocks()
    assert inner.dst_nodes["paper"].tolist() == [3, 8] and inner.dst_nodes["author"].size == 0
    for block in (outer, inner):
        for key, sources in ((WRITES, "author"), (CITES, "paper")):
            np.testing.assert_array_equal(
                graph.edges[key].indices[block.edge[key]], block.src_nodes[sources][block.col[key]]
            )
            assert len(block.indptr[key]) == len(block.dst_nodes[key[2]]) + 1
    np.testing.assert_equal(outer.dst_nodes, inner.src_nodes)
    np.testing.assert_equal(outer.src_nodes, batch.node)


@pytest.mark.parametrize("reverse", [False, True])
def test_edges_of_every_type_exist(library, reverse):
    counts, edges = library
    graph = tendril.HeteroGraph(counts, edges, reverse=reverse)
    assert graph.num_nodes == counts and graph.device == "cpu" and not graph.has_times
    sampler = tendril.MinibatchSampler(graph, {WRITES: [4, 3], CITES: [2, -1]}, seed=3)
    batch = sampler.sample({"paper": [5, 1], "author": [7]})
    assert batch.node["paper"][:2].tolist() == [5, 1] and batch.node["author"][0] == 7
    for key, (source, target) in edges.items():
        ids = graph.edges[key].edge_ids[batch.edge[key]]
        expanded, neighbors = (target, source) if reverse else (source, target)
        row_type, col_type = (key[2], key[0]) if reverse else (key[0], key[2])
        assert len(ids) > 0 and sum(batch.num_sampled_edges[key]) == len(ids)
        np.testing.assert_array_equal(batch.node[row_type][batch.row[key]], expanded[ids])
        np.testing.assert_array_equal(batch.node[col_type][batch.col[key]], neighbors[ids])


def test_bulk_is_one_by_one(graph, library):
    for disjoint in (False, True):
        sampler = tendril.MinibatchSampler(graph, [3, 2], disjoint=disjoint, seed=1)
        seeds = np.arange(50) % 37
        for i, batch in enumerate(sampler.sample_batches(seeds, 8, first_batch=5)):
            same(batch, sampler.sample(seeds[8 * i : 8 * i + 8], batch=5 + i))
    hetero = tendril.MinibatchSampler(tendril.HeteroGraph(*library, reverse=True), [3, 2])
    made = hetero.sample_batches(np.arange(20), 6, node_type="paper", first_batch=2)
    assert len(made) == 4
    for i, batch in enumerate(made):
        same(batch, hetero.sample({"paper": np.arange(20)[6 * i : 6 * i + 6]}, batch=2 + i))
    assert hetero.sample_batches([], 6, node_type="paper") == []


@pytest.mark.parametrize("numbers", [(5, 3), (2**64 - 9, 4), (7, 0)], ids=str)
def test_numbers_of_bulk_calls_may_have_a_step(graph, library, numbers):
    first, step = numbers
    seeds = np.arange(60) % 37
    made = tendril.MinibatchSampler(tendril.HeteroGraph(*library, reverse=True), [3, 2])
    ways = ({}, {"disjoint": True}, {"choice": "labor"}, {"choice": "labor", "batch_dependency": 5})
    samplers = [(tendril.MinibatchSampler(graph, [3, 2], **way), None) for way in ways] + [(made, "paper")]
    for sampler, kind in samplers:
        many = sampler.sample_batches(seeds % 20, 8, node_type=kind, first_batch=first, batch_step=step)
        assert len(many) == 8
        for i, batch in enumerate(many):
            part = (seeds % 20)[8 * i : 8 * i + 8]
            number = (first + i * step) % 2**64
            same(batch, sampler.sample(part if kind is None else {kind: part}, batch=number))


def test_numbers_and_seeds_decide_and_threads_do_not(graph):
    first = tendril.MinibatchSampler(graph, [3, 2], seed=4, num_threads=1).sample(np.arange(30), batch=2**63)
    same(tendril.MinibatchSampler(graph, [3, 2], seed=4, num_threads=2).sample(np.arange(30), batch=2**63), first)
    for other in (tendril.MinibatchSampler(graph, [3, 2], seed=5).sample(np.arange(30), batch=2**63),
                  tendril.MinibatchSampler(graph, [3, 2], seed=4).sample(np.arange(30), batch=2**63 + 1)):
        assert other.edge.tolist() != first.edge.tolist()


def test_several_threads_may_share_a_sampler(graph):
    sampler = tendril.MinibatchSampler(graph, [5, 5], seed=1)
    expected = [sampler.sample(np.arange(40), batch=i) for i in range(40)]
    made = [None] * 40

    def run(part):
        for i in range(part, 40, 4):
            made[i] = sampler.sample(np.arange(40), batch=i)

    threads = [threading.Thread(target=run, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other in zip(made, expected, strict=True):
        same(one, other)


@pytest.mark.parametrize("strategy", ["uniform", "last"])
def test_times_of_edges_and_of_vertices(graph, strategy):
    rng = np.random.default_rng(2)
    made, born = rng.integers(0, 50, graph.num_edges), rng.integers(0, 50, graph.num_vertices)
    limit = rng.integers(10, 50, 40)
    for options, known in (({"edge_times": made}, made), ({"node_times": born}, born[graph.indices])):
        sampler = tendril.MinibatchSampler(graph, [4, 3], disjoint=True, temporal_strategy=strategy, **options)
        batch = sampler.sample(np.arange(40), times=limit)
        late = known[batch.edge] > limit[batch.batch[batch.row]]
        assert len(batch.edge) > 40 and not late.any()
        free = sampler.sample(np.arange(40), times=np.full(40, 99))
        assert len(free.edge) > len(batch.edge)


def test_times_of_several_types(library):
    counts, edges = library
    rng = np.random.default_rng(3)
    when = {WRITES: rng.integers(0, 9, 200)}
    graph = tendril.HeteroGraph(counts, edges, edge_times=when, reverse=True)
    assert graph.has_times
    batch = tendril.MinibatchSampler(graph, [5, 5], disjoint=True).sample(
        {"paper": np.arange(20)}, times={"paper": np.full(20, 4)}
    )
    ids = graph.edges[WRITES].edge_ids[batch.edge[WRITES]]
    assert len(ids) > 0 and (when[WRITES][ids] <= 4).all() and len(batch.edge[CITES]) > 0
    graph = tendril.HeteroGraph(counts, edges, node_times={"author": np.arange(30)}, reverse=True)
    batch = tendril.MinibatchSampler(graph, [5], disjoint=True).sample({"paper": [2]}, times={"paper": [14]})
    assert (batch.node["author"] <= 14).all() and len(batch.node["author"]) > 0


def test_graphs_of_several_types_take_graphs_and_weights(library):
    counts, edges = library
    built = {
        key: tendril.Graph.from_coo(*ends, num_vertices=30, reverse=True, keep_edge_ids=True)
        for key, ends in edges.items()
    }
    one = tendril.MinibatchSampler(tendril.HeteroGraph(counts, edges, reverse=True), [3, 2])
    other = tendril.MinibatchSampler(tendril.HeteroGraph(counts, built, reverse=True), [3, 2])
    same(one.sample({"paper": [1, 2]}), other.sample({"paper": [1, 2]}))
    weights = {WRITES: np.arange(200) % 2, CITES: np.ones(90)}
    graph = tendril.HeteroGraph(counts, edges, weights=weights, reverse=True)
    batch = tendril.MinibatchSampler(graph, [5], weighted=True).sample({"paper": np.arange(20)})
    assert (graph.edges[WRITES].edge_ids[batch.edge[WRITES]] % 2 == 1).all()


def test_no_seeds_take_no_times_of_any_type():
    made = sampler(node_times=np.arange(9), disjoint=True)
    assert made.sample([], times=[]).node.size == 0 and made.sample_batches([], 3, times=[]) == []


def sampler(**options):
    return tendril.MinibatchSampler(tendril.generate.ring(9), [2], **options)


def hetero(**options):
    return tendril.HeteroGraph({"a": 3, "b": 2}, {("a", "to", "b"): ([0, 1], [1, 0])}, **options)


MISTAKES = [
    (lambda: sampler(frontier="old"), "neighbor_sample: frontier is 'old', expected 'new' or 'all'"),
    (lambda: sampler(temporal_strategy="x"), "neighbor_sample: temporal_strategy is 'x', expected 'uniform' or 'last'"),
    (lambda: sampler(executor="hops"), "executor is 'hops', expected 'auto' on the CPU"),
    (lambda: sampler(weighted=True), "weight"),
    (lambda: sampler(edge_times=np.zeros(18)), "edge_times has dtype float64, expected integers"),
    (lambda: sampler(edge_times=[1, 2], disjoint=True), "2"),
    (lambda: sampler(edge_times=np.zeros(18, int)), "disjoint"),
    (lambda: sampler(edge_times=[1], node_times=[1]), "edge_times and node_times are given, expected one of them"),
    (lambda: sampler(stream=3), "stream is given, but the call runs on the CPU"),
    (lambda: sampler().sample([9]), "9"),
    (lambda: sampler().sample([0], batch=-1), "batch is -1, expected 0 or more"),
    (lambda: sampler().sample([1.5]), "seeds has dtype float64, expected integers"),
    (lambda: sampler().sample_batches([1], 0), "0"),
    (lambda: sampler().sample_batches([1], 2, first_batch="x"), "first_batch is 'x', expected an integer"),
    (lambda: sampler().sample_batches([1], 2, batch_step=-1), "batch_step is -1, expected 0 or more"),
    (lambda: sampler().sample([1]).blocks(), "blocks: the batch was made with frontier 'new', expected 'all'"),
    (
        lambda: sampler(frontier="all", subgraph_type="induced").sample([1]).blocks(),
        "blocks: the batch is induced, expected subgraph_type 'directional'",
    ),
    (
        lambda: tendril.MinibatchSampler(tendril.generate.ring(9), {("a", "b", "c"): [1]}),
        "num_neighbors is a mapping, expected a sequence of integers: the graph has one edge type",
    ),
    (
        lambda: tendril.MinibatchSampler(hetero(), {("a", "to", "c"): [1]}),
        "num_neighbors has the edge type ('a', 'to', 'c'), expected one of [('a', 'to', 'b')]",
    ),
    (lambda: tendril.MinibatchSampler(hetero(), [1]).sample([0]), "seeds are list, expected a mapping of vertex types"),
    (
        lambda: tendril.MinibatchSampler(hetero(), [1]).sample({"c": [0]}),
        "seeds has the vertex type 'c', expected one of ['a', 'b']",
    ),
    (lambda: tendril.MinibatchSampler(hetero(), [1]).sample({"b": [2]}), "2"),
    (
        lambda: tendril.MinibatchSampler(hetero(), [1]).sample_batches([0], 1, node_type="c"),
        "node_type is 'c', expected one of ['a', 'b']",
    ),
    (
        lambda: tendril.HeteroGraph({"a": 3}, {("a", "to", "b"): ([0], [0])}),
        "edge type ('a', 'to', 'b'): no vertex type 'b', expected one of ['a']",
    ),
    (
        lambda: tendril.HeteroGraph({"a": 3, "b": 2}, {("a", "to", "b"): ([0, 1], [1, 2])}),
        "edges[('a', 'to', 'b')]: target 1 is 2, expected a vertex of type 'b' in [0, 2)",
    ),
    (
        lambda: tendril.HeteroGraph({"a": 3}, {("a", "a"): ([0], [0])}),
        "an edge type is ('a', 'a'), expected (source type, relation, target type)",
    ),
    (
        lambda: hetero(weights={("a", "to", "c"): [1]}),
        "weights has the key ('a', 'to', 'c'), expected one of [('a', 'to', 'b')]",
    ),
    (
        lambda: hetero(edge_times={("a", "to", "b"): [1, 2]}, node_times={"b": [1, 2]}),
        "edge type ('a', 'to', 'b') has edge_times, and node_times['b']: expected either",
    ),
    (lambda: hetero(edge_times={("a", "to", "b"): [1]}), "edge_times[('a', 'to', 'b')] has 1 times, expected 2"),
    (lambda: hetero(node_times={"a": [1]}), "node_times['a'] has 1 times, expected 3"),
    (lambda: hetero(weights=[1, 2]), "weights is a list, expected a mapping"),
    (lambda: hetero(weights={("a", "to", "b"): [1]}), "edges[('a', 'to', 'b')]: 1 weights"),
    (lambda: tendril.HeteroGraph([3, 2], {}), "num_nodes is a list, expected a mapping"),
    (lambda: tendril.HeteroGraph({"a": 3}, None), "edges is a NoneType, expected a mapping"),
    (lambda: tendril.HeteroGraph({"a": -3}, {}), "num_nodes['a'] is -3, expected 0 or more"),
    (
        lambda: tendril.HeteroGraph({"a": 3, "b": 2}, {("a", "to", "b"): ([0, 1], [1])}),
        "edges[('a', 'to', 'b')]: 1 targets, expected as many as sources, 2",
    ),
    (
        lambda: tendril.HeteroGraph({"a": 9, "b": 2}, {("a", "to", "b"): tendril.generate.ring(9)}),
        "edges[('a', 'to', 'b')]: the neighbour of edge 1 is 8, expected a vertex of type 'b' in [0, 2)",
    ),
    (lambda: tendril.MinibatchSampler(None, [2]), "graph is a NoneType, expected a Graph"),
    (lambda: tendril.MinibatchSampler(hetero(), {}), "num_neighbors is an empty mapping, expected fan-outs"),
    (lambda: sampler(node_times=[1, 2], disjoint=True), "node_times has shape (2,), expected (9,): one time of each"),
    (
        lambda: sampler(node_times=np.full(9, 2**64 - 1, np.uint64), disjoint=True),
        "node_times[0] is 18446744073709551615, expected at most 9223372036854775807",
    ),
    (lambda: sampler().sample([0], batch=2**64), "batch is 18446744073709551616, expected less than 2^64"),
    (
        lambda: sampler().sample_batches([0], 1, node_type="a"),
        "node_type is 'a', expected None: the graph has one type of vertices",
    ),
    (lambda: sampler(num_threads=10**8), "num_threads is 100000000, expected at most 65535"),
    (lambda: sampler().sample([2**40]), "seeds[0] is 1099511627776, expected a vertex id in"),
    (lambda: sampler().sample([[1, 2]]), "seeds has shape (1, 2), expected one dimension"),
]


@pytest.mark.parametrize(("call", "message"), MISTAKES)
def test_mistakes_get_one_line(call, message):
    with pytest.raises(tendril.ArgumentError) as caught:
        call()
    assert message in str(caught.value) and "\n" not in str(caught.value)
