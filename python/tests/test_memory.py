"""Arrays cross the border without copies, and live exactly as long as somebody holds them."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import tendril


class Owner(np.ndarray):
    """An array whose death can be watched."""


def watched(array):
    return array.view(Owner)


def csr(indices_type=np.int32):
    indptr = np.array([0, 2, 3, 4], np.int64)
    indices = np.array([1, 2, 0, 1], indices_type)
    weights = np.array([1, 2, 3, 4], np.float32)
    return indptr, indices, weights


@pytest.mark.parametrize("indices_type", [np.int32, np.uint32])
def test_csr_is_taken_in_place(indices_type):
    indptr, indices, weights = csr(indices_type)
    labels = np.array([0, 1, 0, 1], np.uint8)
    types = np.array([7, 8, 9], np.uint16)
    graph = tendril.Graph.from_csr(indptr, indices, weights=weights, labels=labels, node_types=types)
    assert np.shares_memory(graph.indptr, indptr)
    assert np.shares_memory(graph.indices, indices)
    assert np.shares_memory(graph.weights, weights)
    assert np.shares_memory(graph.edge_labels, labels)
    assert np.shares_memory(graph.node_types, types)
    assert graph.indices.tolist() == [1, 2, 0, 1]
    assert graph.edge_labels.dtype == np.uint8
    assert graph.node_types.dtype == np.uint16


def test_csr_of_other_types_is_converted():
    indptr, indices, weights = csr(np.int64)
    graph = tendril.Graph.from_csr(indptr.astype(np.int32), indices, weights=weights.astype(np.float64))
    assert graph.indptr.tolist() == indptr.tolist()
    assert graph.indices.tolist() == indices.tolist()
    assert graph.weights.tolist() == weights.tolist()
    assert not np.shares_memory(graph.indices, indices)


def test_properties_are_views_and_read_only(graph):
    for name in ("indptr", "indices", "weights", "edge_labels", "node_types", "edge_ids"):
        array = getattr(graph, name)
        assert np.shares_memory(array, getattr(graph, name)), name
        assert not array.flags.writeable, name
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_a_graph_keeps_the_callers_arrays_alive():
    indptr, indices, weights = map(watched, csr())
    gone = [weakref.ref(a) for a in (indptr, indices, weights)]
    graph = tendril.Graph.from_csr(indptr, indices, weights=weights)
    del indptr, indices, weights
    gc.collect()
    walks, _ = tendril.random_walk(graph, [0], length=3, weighted=True)
    assert walks.shape == (1, 4)
    del graph
    gc.collect()
    assert [ref() for ref in gone] == [None] * 3


def test_a_view_outlives_its_graph():
    graph = tendril.generate.ring(1000)
    expected = graph.indices.tolist()
    indices = graph.indices
    del graph
    gc.collect()
    tendril.generate.ring(1000)  # would reuse the memory
    assert indices.tolist() == expected


def test_results_own_their_memory(graph):
    walks, lengths = tendril.random_walk(graph, length=5, dtype=np.int32)
    assert walks.flags.writeable
    assert walks.flags.c_contiguous
    assert walks.dtype == np.int32
    assert lengths.dtype == np.int32
    part = walks[3:5]
    expected = part.tolist()
    del walks
    gc.collect()
    tendril.random_walk(graph, length=5, dtype=np.int32, seed=9)
    assert part.tolist() == expected


class Exporter:
    """Not an array, but something that exports one through DLPack."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.device


def test_dlpack_in_without_a_copy():
    indptr, indices, weights = csr()
    graph = tendril.Graph.from_csr(Exporter(indptr), Exporter(indices), weights=Exporter(weights))
    assert np.shares_memory(graph.indices, indices)
    assert np.shares_memory(graph.weights, weights)


def test_dlpack_from_another_device_is_refused():
    with pytest.raises(tendril.ArgumentError) as info:
        tendril.Graph.from_coo(Exporter(np.array([0]), (2, 0)), [1])
    assert str(info.value) == "source lies on another device (DLPack type 2), expected CPU memory"


def test_dlpack_out_without_a_copy(graph):
    walks, _ = tendril.random_walk(graph, length=4)
    assert np.shares_memory(np.from_dlpack(walks), walks)


def test_buffers_and_lists_in():
    import array

    graph = tendril.Graph.from_coo(array.array("i", [0, 1]), memoryview(array.array("q", [1, 2])))
    assert graph.indices.tolist() == [1, 2]
    assert tendril.Graph.from_coo((0, 1), range(1, 3)).indices.tolist() == [1, 2]


def test_torch_tensors_in_and_out_without_a_copy(graph):
    torch = pytest.importorskip("torch")
    indptr, indices, _ = csr()
    shared = tendril.Graph.from_csr(torch.from_numpy(indptr), torch.from_numpy(indices))
    assert np.shares_memory(shared.indices, indices)
    walks, _ = tendril.random_walk(graph, torch.arange(10), length=4)
    tensor = torch.from_dlpack(walks)
    assert tensor.data_ptr() == walks.ctypes.data
    assert tensor.dtype == torch.int64
