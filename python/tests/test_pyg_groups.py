"""Batches of one call on a GPU as PyG's sampler outputs: which array becomes which field, and what becomes of edges. On the CPU,
without a GPU's memory."""

from __future__ import annotations

import copy
import ctypes
import pickle

import pytest
from pyg_checks import torch
from torch_geometric.sampler import HeteroSamplerOutput, SamplerOutput

from tendril.pyg import _groups
from tendril.pyg._edge_lists import EdgeLists, Numbering
from tendril.pyg._groups import untouched

VERTICES, EDGES = ["a", "b"], [("a", "to", "b"), ("b", "to", "a")]


@pytest.fixture(autouse=True)
def from_host(monkeypatch):
    """Pieces are tensors here, not arrays of the library's."""
    monkeypatch.setattr(_groups, "DeviceArray", lambda piece: piece)
    monkeypatch.setattr(_groups, "from_dlpack", lambda piece: piece)
    monkeypatch.setattr(_groups, "_stream_of", lambda device: 0)
    monkeypatch.setattr(torch.Tensor, "__dlpack__", lambda self, stream: self)


class Edges:
    """`EdgeGroup` on the host: of each batch and type row, col, edge, and weights if there are."""

    def __init__(self, *batches):
        self.batches, self.cuts, self.writes = batches, 0, 0
        self.weighted = any(len(one) == 4 for batch in batches for one in batch)

    def pieces(self):
        self.cuts += 1
        fields = [one for batch in self.batches for field in zip(*batch, strict=True) for one in field]
        whole = {dtype: [one for one in fields if one.dtype == dtype] for dtype in (torch.int64, torch.float32)}
        whole = {dtype: many for dtype, many in whole.items() if many}
        order = [id(one) for many in whole.values() for one in many]
        return (
            [torch.cat(many) for many in whole.values()],
            [[one.numel() for one in many] for many in whole.values()],
            [order.index(id(one)) for one in fields],
        )

    def sizes(self, batch):
        return [row.numel() for row, *_ in self.batches[batch]]

    def write(self, batch, numbers, out, stream):
        self.writes += 1
        for (row, col, edge, *_), address in zip(self.batches[batch], numbers, strict=True):
            if address:
                edge = torch.tensor([ctypes.c_int64.from_address(address + 8 * int(one)).value for one in edge])
            for one in (col, row, edge):
                for value in one.tolist():
                    ctypes.c_int64.from_address(out).value = value
                    out += 8


def of_type(first, size):
    return tuple(torch.arange(size) + first + 10 * i for i in range(3))


def outputs(vertices, counts, hops, edges, edge_types, disjoint, keeps_counts=True, num_hops=2):
    types = VERTICES if edge_types else [""]
    made = vertices, counts, hops, edges
    return list(_groups.outputs_of(made, torch.device("cpu"), types, edge_types, disjoint, keeps_counts, num_hops))


def two_batches():
    """The second has no edges."""
    vertices = [torch.arange(10)], [[2, 3, 1, 4]], [1, 3]
    none = torch.empty(0, dtype=torch.int64)
    edges = Edges(
        [(*of_type(100, 2), torch.tensor([0.25, 2]))],
        [(none, none.clone(), none.clone(), torch.empty(0))],
    )
    return edges, outputs(vertices, [[[2, 1, 0]], [[4, 0, 0]]], [[[2, 0]], [[0, 0]]], edges, None, False)


def types_of_edges():
    vertices = [torch.arange(4)], [[1] * 4], [0, 1, 2, 3]  # nodes, trees: 2 types
    edges = Edges([of_type(5, 1), of_type(2, 3)])
    return edges, vertices, [[[1, 0, 0], [0, 1, 0]]], [[[0, 0], [0, 1]]]


def test_arrays_are_parts_of_pieces():
    edges, (one, other) = two_batches()
    assert one.node.tolist() == [2, 3, 4] and other.node.tolist() == [6, 7, 8, 9]
    assert one.num_sampled_nodes == [2, 1, 0] and one.num_sampled_edges == [2, 0] and one.batch is None
    assert edges.cuts == 0, "nobody has asked for edges"
    assert one.col.tolist() == [100, 101] and one.row.tolist() == [110, 111], "PyG's row is the neighbour, ours the expanded vertex"
    assert one.edge.tolist() == [120, 121] and one.edge_labor_weight.tolist() == [0.25, 2]
    for empty, dtype in ((other.row, torch.int64), (other.edge, torch.int64), (other.edge_labor_weight, torch.float32)):
        assert empty.numel() == 0 and empty.dtype == dtype
    assert edges.cuts == 1, "those of all batches are cut together"
    one.node.zero_()
    assert other.node._version == 0, "a write is of one batch alone"
    assert {id(other.node), id(other.row)} <= other.lasting.ids() and id(one.node) not in other.lasting.ids()


def test_types():
    edges, *given = types_of_edges()
    (out,) = outputs(*given, edges, EDGES, True, num_hops=1)
    assert {key: one.item() for key, one in out.node.items()} == {"a": 0, "b": 1}
    assert {key: one.item() for key, one in out.batch.items()} == {"a": 2, "b": 3}
    found = {name: {key: one.tolist() for key, one in getattr(out, name).items()} for name in ("col", "row", "edge")}
    assert found == {
        "col": dict(zip(EDGES, ([5], [2, 3, 4]), strict=True)),
        "row": dict(zip(EDGES, ([15], [12, 13, 14]), strict=True)),
        "edge": dict(zip(EDGES, ([25], [22, 23, 24]), strict=True)),
    }
    assert out.num_sampled_nodes == {"a": [1, 0], "b": [0, 1]} and out.num_sampled_edges == dict.fromkeys(EDGES, [0])
    (out,) = outputs(*given, edges, EDGES, True, keeps_counts=False)
    assert out.num_sampled_edges is None
    assert not hasattr(out, "edge_labor_weight") and untouched(out), "there are no weights"


def test_no_batches():
    assert outputs(([], [], []), [], [], Edges(), None, False) == []


def test_a_copy_has_all_fields():
    _, (one, _) = two_batches()
    for made in (copy.copy(one), pickle.loads(pickle.dumps(one))):
        assert type(made) is SamplerOutput
        assert made.row.tolist() == [110, 111] and made.node.tolist() == [2, 3, 4]
    edges, *given = types_of_edges()
    (out,) = outputs(*given, edges, EDGES, True)
    assert type(copy.copy(out)) is HeteroSamplerOutput
    assert "row={" in repr(out)


def lists_of(out, numbers, types=(None,)):
    made = EdgeLists(out, Numbering(numbers))
    return {key: (made.ends(key).tolist(), made.numbers(key).tolist()) for key in types}


@pytest.mark.parametrize("numbers", [None, torch.arange(1000).flip(0)])
def test_edges_are_written_together(numbers):
    edges, (one, other) = two_batches()
    expected = [[110, 111], [100, 101]], [120, 121] if numbers is None else [879, 878]
    assert lists_of(one, numbers) == {None: expected}
    assert lists_of(other, numbers) == {None: ([[], []], [])}
    assert (edges.writes, edges.cuts) == (2, 0)
    assert untouched(one) is not None
    one.row  # noqa: B018
    assert untouched(one) is None
    assert lists_of(one, numbers) == {None: expected}, "from the tensors"
    assert (edges.writes, edges.cuts) == (2, 1)


def test_types_are_written_together():
    numbers = {EDGES[0]: None, EDGES[1]: torch.arange(100) * 2}
    edges, *given = types_of_edges()
    (out,) = outputs(*given, edges, EDGES, True)
    expected = {EDGES[0]: ([[15], [5]], [25]), EDGES[1]: ([[12, 13, 14], [2, 3, 4]], [44, 46, 48])}
    assert lists_of(out, numbers, EDGES) == expected
    made = EdgeLists(out, Numbering(numbers))
    other = ("a", "of no batch", "a")
    assert list(made.all_numbers([other])) == [*EDGES, other]
    assert made.ends(other).shape == (2, 0) and made.numbers(other).shape == (0,)
    assert (edges.writes, edges.cuts) == (2, 0)
    assert lists_of(copy.copy(out), numbers, EDGES) == expected


def test_numbers_of_another_form_are_looked_up_in_torch():
    for numbers in (torch.arange(1000, dtype=torch.int32), torch.arange(2000)[::2]):
        edges, (one, _) = two_batches()
        assert lists_of(one, numbers)[None][1] == numbers[one.edge].tolist()
        assert edges.writes == 0


def test_fields_that_a_function_gave_are_kept():
    edges, (one, _) = two_batches()
    given = torch.tensor([7, 8])
    one.row = given
    assert lists_of(one, None) == {None: ([[7, 8], [100, 101]], [120, 121])}
    assert one.row is given and edges.writes == 0


def test_late_edges_are_there_for_whoever_asks_at_once():
    edges, (one, other) = two_batches()
    with pytest.raises(AttributeError, match="no attribute 'rows'"):
        one.rows  # noqa: B018
    one.edge_labor_weight = None
    assert one.col.tolist() == [100, 101] and one.edge_labor_weight is None
    assert other.edge_labor_weight is not None
