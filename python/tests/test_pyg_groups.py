"""Batches of one call on a GPU as PyG's sampler outputs: which array becomes which field. On the CPU, without a GPU's memory."""

from __future__ import annotations

import pytest
from pyg_checks import torch

from tendril.pyg import _groups

VERTICES, EDGES = ["a", "b"], [("a", "to", "b"), ("b", "to", "a")]


@pytest.fixture
def from_host(monkeypatch):
    """Pieces are tensors here, not arrays of the library's."""
    monkeypatch.setattr(_groups, "DeviceArray", lambda piece: piece)
    monkeypatch.setattr(_groups, "from_dlpack", lambda piece: piece)
    monkeypatch.setattr(_groups, "_stream_of", lambda device: 1)
    monkeypatch.setattr(torch.Tensor, "__dlpack__", lambda self, stream: self)


def outputs(made, edge_types, disjoint, keeps_counts=True, num_hops=2):
    types = VERTICES if edge_types else [""]
    return list(_groups.outputs_of(made, torch.device("cpu"), types, edge_types, disjoint, keeps_counts, num_hops))


def test_arrays_are_parts_of_pieces(from_host):
    pieces = [torch.arange(10), torch.arange(100, 107), torch.tensor([0.5, 0.25, 2])]
    cuts = [[2, 3, 1, 4], [1, 2, 4], [1, 2]]  # parts 0 to 3, 4 to 6, 7 and 8
    # node, row, col, edge, weights of two batches; the second has no edges
    places = [1, 4, 5, 6, 8, 3, -1, -1, -1, -2]
    one, other = outputs((pieces, cuts, places, [[[2, 1, 0]], [[4, 0, 0]]], [[[2, 0]], [[0, 0]]]), None, False)
    assert one.node.tolist() == [2, 3, 4] and other.node.tolist() == [6, 7, 8, 9]
    assert one.col.tolist() == [100] and one.row.tolist() == [101, 102], "PyG's row is the neighbour, ours the expanded vertex"
    assert one.edge.tolist() == [103, 104, 105, 106] and one.edge_labor_weight.tolist() == [0.25, 2]
    for empty, dtype in ((other.row, torch.int64), (other.edge, torch.int64), (other.edge_labor_weight, torch.float32)):
        assert empty.numel() == 0 and empty.dtype == dtype
    assert one.num_sampled_nodes == [2, 1, 0] and one.num_sampled_edges == [2, 0] and one.batch is None
    one.node.zero_()
    assert other.node._version == 0, "a write is of one batch alone"
    assert id(other.node) in other.lasting.ids() and id(one.node) not in other.lasting.ids()


def test_types(from_host):
    pieces, cuts = [torch.arange(10)], [[1] * 10]
    places = list(range(10))  # nodes, trees: 2 types; row, col, edge: 2 relations
    made = pieces, cuts, places, [[[1, 0, 0], [0, 1, 0]]], [[[0, 0], [0, 1]]]
    (out,) = outputs(made, EDGES, True, num_hops=1)
    numbers = {name: {key: one.item() for key, one in vars(out)[name].items()} for name in ("node", "batch", "row", "col", "edge")}
    assert numbers == {
        "node": {"a": 0, "b": 1},
        "batch": {"a": 2, "b": 3},
        "col": dict(zip(EDGES, (4, 5), strict=True)),
        "row": dict(zip(EDGES, (6, 7), strict=True)),
        "edge": dict(zip(EDGES, (8, 9), strict=True)),
    }
    assert out.num_sampled_nodes == {"a": [1, 0], "b": [0, 1]} and out.num_sampled_edges == dict.fromkeys(EDGES, [0])
    (out,) = outputs(made, EDGES, True, keeps_counts=False)
    assert out.num_sampled_edges is None


def test_no_batches(from_host):
    assert outputs(([], [], [], [], []), None, False) == []
