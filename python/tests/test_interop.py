"""SciPy and NetworkX, there and back."""

from __future__ import annotations

import numpy as np
import pytest

import tendril


def test_scipy_there_and_back(graph):
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.random_array((40, 40), density=0.1, format="csr", dtype=np.float32, rng=np.random.default_rng(3))
    taken = tendril.Graph.from_scipy(matrix)
    assert np.shares_memory(taken.indices, matrix.indices)
    assert np.shares_memory(taken.weights, matrix.data)
    assert (taken.to_scipy() != matrix).nnz == 0
    assert graph.to_scipy().nnz == graph.num_edges


def test_scipy_formats_and_types():
    sparse = pytest.importorskip("scipy.sparse")
    dense = np.array([[0, 2, 0], [0, 0, 3], [4, 0, 0]])
    for matrix in (sparse.coo_array(dense), sparse.csc_matrix(dense), sparse.lil_matrix(dense)):
        taken = tendril.Graph.from_scipy(matrix)
        np.testing.assert_array_equal(taken.to_scipy().toarray(), dense)
    assert not tendril.Graph.from_scipy(sparse.csr_array(dense > 0)).has_weights
    assert not tendril.Graph.from_scipy(sparse.csr_array(dense), weights=False).has_weights


def test_scipy_with_unsorted_indices():
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.csr_array((np.float32([1, 2, 3]), [2, 0, 1], [0, 2, 3, 3]), shape=(3, 3))
    taken = tendril.Graph.from_scipy(matrix)
    assert taken.indices.tolist() == [0, 2, 1]
    assert taken.weights.tolist() == [2, 1, 3]
    assert matrix.indices.tolist() == [2, 0, 1]


def test_scipy_refuses_what_is_no_graph():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(tendril.ArgumentError, match=r"^from_scipy: shape \(2, 3\), expected a square matrix$"):
        tendril.Graph.from_scipy(sparse.csr_array((2, 3)))
    with pytest.raises(tendril.ArgumentError, match=r"^from_scipy: a list, expected a SciPy sparse matrix or array$"):
        tendril.Graph.from_scipy([[0]])


def test_networkx_undirected(karate):
    networkx = pytest.importorskip("networkx")
    original = networkx.karate_club_graph()
    assert karate.num_vertices == 34
    assert karate.num_edges == 2 * original.number_of_edges()
    assert karate.symmetric
    assert {(u, v) for u, v in karate.to_networkx().edges} == set(original.to_directed().edges)


def test_networkx_attributes():
    networkx = pytest.importorskip("networkx")
    original = networkx.DiGraph()
    original.add_node("b", kind="paper")
    original.add_node("a", kind="author")
    original.add_edge("a", "b", w=2.0, of="writes")
    original.add_edge("b", "a", of="by")
    graph = tendril.Graph.from_networkx(original, weight="w", label="of", node_type="kind")
    assert graph.node_type_names == ["author", "paper"]
    assert graph.node_types.tolist() == [1, 0]  # in the order of the nodes: b, a
    assert graph.edge_label_names == ["by", "writes"]
    back = graph.to_networkx()
    assert dict(back.nodes(data="type")) == {0: "paper", 1: "author"}
    assert list(back.edges(data=True)) == [
        (0, 1, {"weight": 1.0, "label": "by"}),
        (1, 0, {"weight": 2.0, "label": "writes"}),
    ]


def test_networkx_numbers_are_kept():
    networkx = pytest.importorskip("networkx")
    original = networkx.DiGraph([(2, 0), (0, 1)])  # its nodes come as 2, 0, 1
    assert sorted(tendril.Graph.from_networkx(original).to_networkx().edges) == [(0, 1), (2, 0)]


def test_networkx_parallel_edges():
    networkx = pytest.importorskip("networkx")
    original = networkx.MultiDiGraph([(0, 1), (0, 1), (1, 0)])
    graph = tendril.Graph.from_networkx(original)
    assert graph.num_edges == 3
    back = graph.to_networkx()
    assert back.is_multigraph()
    assert back.number_of_edges(0, 1) == 2


def test_networkx_without_an_attribute():
    networkx = pytest.importorskip("networkx")
    with pytest.raises(tendril.ArgumentError, match=r"^from_networkx: an edge without the attribute 'of'$"):
        tendril.Graph.from_networkx(networkx.path_graph(3), label="of")
    with pytest.raises(tendril.ArgumentError, match=r"^from_networkx: a node without the attribute 'kind'$"):
        tendril.Graph.from_networkx(networkx.path_graph(3), node_type="kind")


def test_page_locked_arrays_are_host_arrays(page_locked):
    sources, targets = np.array([0, 1, 2, 2]), np.array([1, 2, 0, 1], np.int32)
    graph = tendril.Graph.from_coo(page_locked(sources), page_locked(targets))
    expected = tendril.Graph.from_coo(sources, targets)
    np.testing.assert_array_equal(graph.indptr, expected.indptr)
    np.testing.assert_array_equal(graph.indices, expected.indices)
    walks = tendril.random_walk(graph, page_locked(sources), 5)[0]
    np.testing.assert_array_equal(walks, tendril.random_walk(expected, sources, 5)[0])
