"""k-hop trees and mini-batches: invariants, checked slot by slot."""

from __future__ import annotations

import numpy as np
import pytest

import tendril


def out_edges(graph, v):
    return list(range(graph.indptr[v], graph.indptr[v + 1]))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("replace", [False, True])
def test_trees_hold_edges_of_the_graph(graph, replace, weighted):
    seeds = np.arange(60)
    sample = tendril.khop_sample(graph, seeds, [4, 3], replace=replace, weighted=weighted, return_edges=True, seed=1)
    assert [hop.shape for hop in sample.vertices] == [(60, 4), (60, 4, 3)]
    assert [hop.shape for hop in sample.edges] == [(60, 4), (60, 4, 3)]
    assert sample.offsets == [None, None]
    parents = seeds
    for vertices, edges in zip(sample.vertices, sample.edges, strict=True):
        fanout = vertices.shape[-1]
        rows = zip(parents.ravel(), vertices.reshape(-1, fanout), edges.reshape(-1, fanout), strict=True)
        for parent, found, through in rows:
            choices = out_edges(graph, parent) if parent >= 0 else []
            taken = [int(e) for e in through if e >= 0]
            assert set(taken) <= set(choices)
            assert [int(v) for v in found if v >= 0] == graph.indices[taken].tolist()
            if replace:
                assert len(taken) == (len(found) if choices else 0)
            else:
                assert len(taken) == len(set(taken)) == min(len(found), len(choices))
        parents = vertices


def test_all_neighbours(graph):
    seeds = [3, 55, 7]
    sample = tendril.khop_sample(graph, seeds, [-1, 2], return_edges=True)
    offsets = sample.offsets[0]
    for i, seed in enumerate(seeds):
        assert sample.edges[0][offsets[i] : offsets[i + 1]].tolist() == out_edges(graph, seed)
    assert sample.vertices[0].shape == (offsets[-1],)
    assert sample.offsets[1] is None
    assert sample.vertices[1].shape == (offsets[-1], 2)
    for parent, through in zip(sample.vertices[0], sample.edges[1], strict=True):
        assert set(through.tolist()) - {-1} <= set(out_edges(graph, parent))


def test_trees_depend_on_their_numbers_alone(graph):
    seeds = np.arange(200) % 60
    whole = tendril.khop_sample(graph, seeds, [5, 2], seed=3)
    one = tendril.khop_sample(graph, seeds, [5, 2], seed=3, num_threads=1)
    parts = [tendril.khop_sample(graph, seeds[a:b], [5, 2], seed=3, first_root=a) for a, b in ((0, 77), (77, 200))]
    small = tendril.khop_sample(graph, seeds, [5, 2], seed=3, dtype=np.int32)
    for hop in range(2):
        np.testing.assert_array_equal(whole.vertices[hop], one.vertices[hop])
        np.testing.assert_array_equal(whole.vertices[hop], np.concatenate([p.vertices[hop] for p in parts]))
        np.testing.assert_array_equal(whole.vertices[hop], small.vertices[hop])
        assert small.vertices[hop].dtype == np.int32
    assert whole.edges is None
    assert tendril.plan_khop(graph, [5, 2]).reasons


def test_minibatches_take_no_more_tables_than_the_limit():
    graph = tendril.generate.rmat(9, 16, weights=(1, 5))
    seeds, options = np.arange(100), {"weighted": True, "replace": True, "seed": 2}
    free = tendril.plan_minibatch(graph, weighted=True, replace=True)
    assert free.layout == "table" and free.table_bytes == 16 * graph.num_edges
    expected = tendril.neighbor_sample(graph, seeds, [4, 2], **options)
    for bytes_, by_sums in ((0, False), (4 * graph.num_edges, True)):
        graph.drop_tables()
        plan = tendril.plan_minibatch(graph, weighted=True, replace=True, table_bytes=bytes_)
        assert plan.weight_sums == by_sums and plan.table_bytes <= bytes_
        sampler = tendril.MinibatchSampler(graph, [4, 2], table_bytes=bytes_, **options)
        built = tendril.plan_minibatch(graph, weighted=True, replace=True, table_bytes=bytes_)
        assert built.table_bytes_built == plan.table_bytes
        for made in (sampler.sample(seeds), tendril.neighbor_sample(graph, seeds, [4, 2], table_bytes=bytes_, **options)):
            np.testing.assert_array_equal(made.edge, expected.edge)
            np.testing.assert_array_equal(made.node, expected.node)
    with pytest.raises(tendril.ArgumentError, match="table_bytes: -1, expected 0 or more"):
        tendril.plan_minibatch(graph, table_bytes=-1)
    with pytest.raises(tendril.ArgumentError, match="table_bytes is 'much', expected an integer"):
        tendril.MinibatchSampler(graph, [1], table_bytes="much")


def test_no_seeds(graph):
    assert [hop.shape for hop in tendril.khop_sample(graph, [], [3, 2]).vertices] == [(0, 3), (0, 3, 2)]
    assert tendril.neighbor_sample(graph, [], [3, 2]).num_sampled_nodes == [0, 0, 0]


@pytest.mark.parametrize("disjoint", [False, True])
@pytest.mark.parametrize("replace", [False, True])
def test_minibatches_hold_edges_of_the_graph(graph, replace, disjoint):
    seeds = [9, 4, 33]
    sample = tendril.neighbor_sample(graph, seeds, [3, 2], replace=replace, disjoint=disjoint, seed=2)
    assert sample.node[:3].tolist() == seeds
    assert len(sample.num_sampled_nodes) == 3
    assert len(sample.num_sampled_edges) == 2
    assert sum(sample.num_sampled_nodes) == len(sample.node)
    assert sum(sample.num_sampled_edges) == len(sample.row)
    for row, col, edge in zip(sample.row, sample.col, sample.edge, strict=True):
        assert graph.indptr[sample.node[row]] <= edge < graph.indptr[sample.node[row] + 1]
        assert graph.indices[edge] == sample.node[col]
    if disjoint:
        assert sample.batch[:3].tolist() == [0, 1, 2]
        assert (sample.batch[sample.row] == sample.batch[sample.col]).all()
        keys = list(zip(sample.batch.tolist(), sample.node.tolist(), strict=True))
    else:
        assert sample.batch is None
        keys = sample.node.tolist()
    assert len(set(keys)) == len(keys)
    fanout = np.bincount(sample.row, minlength=len(sample.node))
    degrees = graph.degrees()[sample.node]
    expanded = sample.num_sampled_nodes[0]
    limit = np.minimum(3, degrees) if not replace else np.where(degrees > 0, 3, 0)
    np.testing.assert_array_equal(fanout[:expanded], limit[:expanded])


def test_minibatches_depend_on_the_batch_number(graph):
    def edges(**keywords):
        return tendril.neighbor_sample(graph, [9, 4, 33], [3, 2], **keywords).edge.tolist()

    assert edges(seed=1) == edges(seed=1, num_threads=1)
    assert edges(seed=1) != edges(seed=1, batch=1)
    assert edges(seed=1) != edges(seed=2)


def test_induced_subgraphs_hold_all_edges(graph):
    sample = tendril.neighbor_sample(graph, [9, 4], [3, 2], subgraph_type="induced")
    inside = set(sample.node.tolist())
    expected = [e for v in inside for e in out_edges(graph, v) if int(graph.indices[e]) in inside]
    assert sorted(sample.edge.tolist()) == sorted(expected)


def test_edges_only_where_asked_for(graph):
    assert tendril.neighbor_sample(graph, [9], [2], return_edge_id=False).edge is None
    assert tendril.neighbor_sample(graph, [9], [2], dtype="int32").node.dtype == np.int32
