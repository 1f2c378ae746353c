"""Renumbered graphs: the same edges under other numbers, with everything that edges and vertices carry."""

import numpy as np
import pytest
from test_building import adjacency

import tendril

ORDERS = ("degree", "bfs", "rcm", "llp")


def edges_by_original(graph):
    """All that the graph tells, sorted, by original ids."""
    ids = graph.original_ids if graph.original_ids is not None else np.arange(graph.num_vertices)
    source = np.repeat(ids, graph.degrees())
    columns = [source, ids[graph.indices], graph.weights, graph.edge_labels]
    columns += [] if graph.edge_ids is None else [graph.edge_ids]
    edges = sorted(zip(*(c.tolist() for c in columns), strict=True))
    return edges, dict(zip(ids.tolist(), graph.node_types.tolist(), strict=True))


@pytest.mark.parametrize("order", ORDERS)
def test_the_graph_stays_the_same(order, graph):
    other = graph.renumber(order)
    other.validate()
    assert edges_by_original(other) == edges_by_original(graph)
    assert sorted(other.original_ids.tolist()) == list(range(graph.num_vertices))
    assert (other.symmetric, other.metadata) == (graph.symmetric, graph.metadata)
    assert other.edge_label_names == graph.edge_label_names and other.node_type_names == graph.node_type_names


@pytest.mark.parametrize("order", ORDERS)
def test_threads_and_form_change_nothing(order, graph):
    one = graph.renumber(order, num_threads=1)
    for other in (graph.renumber(order, num_threads=3), graph.compress().renumber(order)):
        assert other.form == "csr"
        for name in ("indptr", "indices", "weights", "edge_labels", "node_types", "original_ids"):
            assert np.array_equal(getattr(other, name), getattr(one, name)), name


def test_by_degree():
    graph = tendril.Graph.from_coo([0, 1, 3, 3], [3, 3, 2, 4], symmetrize=True)
    by_degree = graph.renumber("degree")
    assert by_degree.original_ids.tolist() == [3, 0, 1, 2, 4]
    assert by_degree.degrees().tolist() == [4, 1, 1, 1, 1]


def test_by_a_permutation(graph):
    order = np.random.default_rng(3).permutation(graph.num_vertices)
    other = graph.renumber(order)
    assert np.array_equal(other.original_ids, order)
    assert np.array_equal(other.degrees(), graph.degrees()[order])
    back = other.renumber(np.argsort(order))
    assert adjacency(back) == adjacency(graph)
    assert back.original_ids.tolist() == list(range(graph.num_vertices))
    for same in (order.tolist(), order.astype(np.uint32), order.astype(np.int32)):
        assert np.array_equal(graph.renumber(same).indices, other.indices)


def test_original_ids_of_compact_graphs():
    graph = tendril.Graph.from_coo([10, 30, 70], [30, 70, 90], symmetrize=True, compact=True)
    assert graph.renumber([3, 1, 0, 2]).original_ids.tolist() == [90, 30, 10, 70]
    assert graph.renumber([3, 1, 0, 2]).renumber([2, 3, 1, 0]).original_ids.tolist() == [10, 70, 30, 90]


def test_the_seed_is_that_of_llp():
    graph = tendril.generate.rmat(10, 8, symmetrize=True)
    assert not np.array_equal(graph.renumber("llp", seed=1).indices, graph.renumber("llp", seed=2).indices)
    assert np.array_equal(graph.renumber("rcm", seed=1).indices, graph.renumber("rcm", seed=2).indices)


def test_files_keep_the_numbers(tmp_path, graph):
    other = graph.renumber("rcm")
    for name in ("g.safetensors", "g.npz"):
        other.save(tmp_path / name)
        opened = tendril.Graph.load(tmp_path / name)
        opened.validate()
        assert np.array_equal(opened.original_ids, other.original_ids)
        assert edges_by_original(opened) == edges_by_original(graph)


def test_empty_graphs():
    for order in (*ORDERS, []):
        assert tendril.Graph.from_coo([], []).renumber(order).num_vertices == 0
    edgeless = tendril.Graph.from_coo([], [], num_vertices=3)
    assert edgeless.renumber("llp").original_ids.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "order, options, message",
    [
        ("best", {}, "order is 'best', expected 'degree', 'bfs', 'rcm' or 'llp'"),
        ("", {}, "order is '', expected 'degree', 'bfs', 'rcm' or 'llp'"),
        ([0, 1], {}, "order: 2 vertices, expected each of the graph's 3 once"),
        ([0, 1, 1], {}, "order: vertex 1 at positions 1 and 2, expected each vertex once"),
        ([0, 1, 3], {}, "order 2: vertex 3 is out of range, the graph has 3 vertices"),
        ([0, -1, 2], {}, "order[1] is -1, expected a vertex id in [0, 4294967294]"),
        ([[0, 1, 2]], {}, "order has shape (1, 3), expected one dimension"),
        ("llp", {"seed": -1}, "seed is -1, expected 0 or more"),
        ("llp", {"num_threads": "many"}, "num_threads is 'many', expected an integer"),
    ],
)
def test_hostile_orders(order, options, message):
    graph = tendril.Graph.from_coo([0, 1], [1, 2])
    with pytest.raises(tendril.ArgumentError) as refused:
        graph.renumber(order, **options)
    assert str(refused.value) == message
