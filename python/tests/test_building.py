"""Graphs are what the edges say: compared with plain Python on small inputs."""

from __future__ import annotations

import numpy as np
import pytest

import tendril


def adjacency(graph):
    """[(source, target), …] in the graph's order."""
    return [
        (v, int(graph.indices[e]))
        for v in range(graph.num_vertices)
        for e in range(graph.indptr[v], graph.indptr[v + 1])
    ]


def test_edges_come_out_sorted(edges):
    source, target = edges
    graph = tendril.Graph.from_coo(source, target, num_vertices=60)
    assert graph.num_vertices == 60
    assert graph.num_edges == 500
    assert adjacency(graph) == sorted(zip(source.tolist(), target.tolist(), strict=True))
    graph.validate()


def test_attributes_follow_their_edges(edges):
    source, target = edges
    weights = np.arange(500) + 0.5
    labels = np.arange(500) % 7
    graph = tendril.Graph.from_coo(source, target, weights=weights, labels=labels, keep_edge_ids=True)
    back = graph.edge_ids
    assert sorted(back.tolist()) == list(range(500))
    assert [(int(source[k]), int(target[k])) for k in back] == adjacency(graph)
    np.testing.assert_array_equal(graph.weights, weights[back].astype(np.float32))
    np.testing.assert_array_equal(graph.edge_labels, labels[back])


@pytest.mark.parametrize("num_threads", [0, 1, 3])
def test_steps_run_in_their_order(edges, num_threads):
    source, target = edges
    graph = tendril.Graph.from_coo(
        source, target, reverse=True, symmetrize=True, drop_self_loops=True, drop_duplicates=True,
        num_threads=num_threads,
    )  # fmt: skip
    pairs = set(zip(target.tolist(), source.tolist(), strict=True))
    pairs |= {(v, u) for u, v in pairs}
    assert adjacency(graph) == sorted((u, v) for u, v in pairs if u != v)
    assert graph.symmetric


def test_compact_keeps_the_ids_and_moves_the_types():
    graph = tendril.Graph.from_coo([10, 30], [30, 70], node_types=np.arange(100) % 9, compact=True)
    assert graph.original_ids.tolist() == [10, 30, 70]
    assert adjacency(graph) == [(0, 1), (1, 2)]
    assert graph.node_types.tolist() == [10 % 9, 30 % 9, 70 % 9]


def test_number_of_vertices():
    assert tendril.Graph.from_coo([0], [4]).num_vertices == 5
    assert tendril.Graph.from_coo([0], [4], num_vertices=9).num_vertices == 9
    assert tendril.Graph.from_coo([0], [4], node_types=[0] * 7).num_vertices == 7


def test_empty_graphs():
    nothing = tendril.Graph.from_coo([], [])
    assert (nothing.num_vertices, nothing.num_edges, nothing.indptr.tolist()) == (0, 0, [0])
    edgeless = tendril.Graph.from_coo([], [], num_vertices=3)
    assert (edgeless.num_vertices, edgeless.num_edges, edgeless.indptr.tolist()) == (3, 0, [0] * 4)
    assert edgeless.indices.tolist() == []
    assert edgeless.info()["num_dead_ends"] == 3


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", ">i8"])
def test_ids_of_every_integer_type(dtype):
    graph = tendril.Graph.from_coo(np.array([3, 0, 1], dtype), np.array([0, 1, 2], dtype))
    assert adjacency(graph) == [(0, 1), (1, 2), (3, 0)]


def test_strided_and_reversed_arrays():
    pairs = np.array([[0, 5], [1, 6], [2, 7]])
    graph = tendril.Graph.from_coo(pairs[::-1, 0], pairs[::-1, 1])
    assert adjacency(graph) == [(0, 5), (1, 6), (2, 7)]


def test_edge_index(edges):
    graph = tendril.Graph.from_edge_index(np.stack(edges), num_vertices=60)
    assert adjacency(graph) == sorted(zip(*(e.tolist() for e in edges), strict=True))


def test_rebuild_is_the_transpose(graph):
    back = graph.rebuild(reverse=True)
    assert adjacency(back) == sorted((v, u) for u, v in adjacency(graph))
    again = back.rebuild(reverse=True)
    np.testing.assert_array_equal(again.indptr, graph.indptr)
    np.testing.assert_array_equal(again.indices, graph.indices)


def test_what_a_graph_tells_of_itself(graph):
    assert repr(graph) == "Graph(num_vertices=60, num_edges=500, weights, edge_labels, node_types)"
    info = graph.info()
    assert info["max_degree"] == max(graph.degrees().tolist())
    assert info["mean_degree"] == pytest.approx(500 / 60)
    assert info["num_dead_ends"] == sum(1 for d in graph.degrees() if d == 0)
    assert graph.edge_label_names == ["cites", "likes", "knows"]
    assert graph.node_type_names == ["author", "paper"]
    assert graph.has_weights
    assert graph.has_edge_labels
    assert graph.has_node_types
    assert not graph.symmetric
    assert tendril.Graph.from_coo([0], [1], metadata={"name": "two"}).metadata == {"name": "two"}


def test_wide_labels_take_two_bytes():
    assert tendril.Graph.from_coo([0, 0], [1, 2], labels=[0, 255]).edge_labels.dtype == np.uint8
    assert tendril.Graph.from_coo([0, 0], [1, 2], labels=[0, 256]).edge_labels.dtype == np.uint16


@pytest.mark.parametrize(
    ("make", "edges"),
    [
        (lambda: tendril.generate.star(4), [(0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 0)]),
        (lambda: tendril.generate.ring(4), [(0, 1), (0, 3), (1, 0), (1, 2), (2, 1), (2, 3), (3, 0), (3, 2)]),
        (lambda: tendril.generate.grid(4), [(0, 1), (0, 2), (1, 0), (1, 3), (2, 0), (2, 3), (3, 1), (3, 2)]),
        (lambda: tendril.generate.complete(3), [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]),
    ],
)
def test_regular_graphs(make, edges):
    assert adjacency(make()) == edges


def test_generators_depend_on_the_seed_alone():
    def make(seed, num_threads):
        return [
            tendril.generate.rmat(8, 4, seed=seed, num_threads=num_threads, weights=(1, 5), num_labels=3),
            tendril.generate.er(200, 900, seed=seed, num_threads=num_threads, symmetrize=True),
            tendril.generate.powerlaw(300, 2.0, 1, 64, seed=seed, num_threads=num_threads, num_node_types=4),
            tendril.generate.web(20_000, 8, seed=seed, num_threads=num_threads, weights=(1, 5), num_labels=3),
        ]

    for one, three, other in zip(make(1, 1), make(1, 3), make(2, 1), strict=True):
        for name in ("indptr", "indices", "weights", "edge_labels", "node_types"):
            np.testing.assert_array_equal(getattr(one, name), getattr(three, name))
        assert one.indices.tolist() != other.indices.tolist()
        one.validate()


def test_web_rows_are_sorted_sets():
    graph = tendril.generate.web(20_000, 10, seed=3)
    for v in range(0, 20_000, 7):
        row = graph.indices[graph.indptr[v] : graph.indptr[v + 1]]
        assert (np.diff(row) > 0).all()
    assert tendril.generate.web(20_000, 10, seed=3, symmetrize=True).num_edges > graph.num_edges
    with pytest.raises(tendril.ArgumentError, match="^num_vertices is 0, expected 1 to 4294967295"):
        tendril.generate.web(0)


def test_edge_attributes_are_within_bounds():
    graph = tendril.generate.er(100, 5000, weights=(2, 3), num_labels=5, num_node_types=3)
    assert graph.weights.min() >= 2
    assert graph.weights.max() < 3
    assert set(graph.edge_labels.tolist()) == set(range(5))
    assert set(graph.node_types.tolist()) == set(range(3))
    assert tendril.generate.er(100, 5000, weight_sigma=2.0).weights.max() > 10


def test_arrays_that_were_not_validated_are_checked_at_the_first_use():
    for indptr, indices, message in (
        ([0, 1, 2], [9, 9], "vertex 0: neighbour 9 at edge 0, expected an id below 2"),
        ([0, 5, 2], [0, 0], "vertex 1: its edges end at 2 but begin at 5, expected an indptr that never decreases"),
    ):
        graph = tendril.Graph.from_csr(indptr, indices, validate=False)
        with pytest.raises(tendril.FormatError) as refused:
            tendril.random_walk(graph, [0], 3)
        assert str(refused.value) == message
