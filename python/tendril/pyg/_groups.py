"""Batches that one call made on a GPU, as PyG's sampler outputs: Torch is called for each piece of their memory, not for each
of their arrays, and for edges only when somebody asks for them."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils.dlpack import from_dlpack
from torch_geometric.sampler import HeteroSamplerOutput, SamplerOutput

from tendril._device_array import DeviceArray

from ._outputs import Lasting

_EMPTY = torch.int32, torch.float32, torch.int64  # of places -3, -2, -1
_OF_EDGES = "col", "row", "edge", "edge_labor_weight"  # in the engine's order: what it calls row is PyG's col

_Tensors = tuple[Tensor, ...]


class GroupEdges:
    """The edges of the batches of one call.

    Parameters
    ----------
    core : _tendril.EdgeGroup
    edge_types : list or None
        None for a graph without types.
    num_batches : int
    device : torch.device
    """

    def __init__(self, core: Any, edge_types: list[Any] | None, num_batches: int, device: torch.device) -> None:
        self._core, self._edge_types, self._num_batches, self.device = core, edge_types, num_batches, device
        self.types = [None] if edge_types is None else edge_types
        self.names = _OF_EDGES if core.weighted else _OF_EDGES[:3]
        self._lock = threading.Lock()
        self._tensors: _Tensors | None = None

    def fields(self, batch: int) -> tuple[dict[str, Any], _Tensors]:
        """What an output holds of a batch's edges, and the tensors of that."""
        with self._lock:
            if self._tensors is None:
                pieces, cuts, places = self._core.pieces()
                self._tensors = _tensors(pieces, cuts, places, self.device)
        width = len(self._tensors) // self._num_batches
        mine = self._tensors[batch * width : (batch + 1) * width]
        rest, found = iter(mine), {}
        for name in self.names:
            many = _next(rest, len(self.types))
            found[name] = many[0] if self._edge_types is None else dict(zip(self.types, many, strict=True))
        return found, mine

    def lists(self, batch: int, numbers: list[int]) -> list[tuple[Tensor, Tensor]]:
        """Of each type, in new memory: `edge_index`, and what the data calls the edges. numbers: the addresses of the data's
        numbers by the sampler's, one for each type; 0: they are the same."""
        sizes = self._core.sizes(batch)
        whole = torch.empty(3 * sum(sizes), dtype=torch.int64, device=self.device)
        self._core.write(batch, numbers, whole.data_ptr(), _stream_of(self.device))
        parts = torch.unsafe_split_with_sizes(whole, [one for size in sizes for one in (2 * size, size)])
        return [(parts[2 * i].view(2, size), parts[2 * i + 1]) for i, size in enumerate(sizes)]


class _OfGroup:
    """An output of a group: it has the fields of its edges from when somebody asks for one."""

    _of_pyg: Any  # the class that it stands for

    def __init__(self, of: tuple[GroupEdges, int], fields: dict[str, Any]) -> None:
        vars(self).update(fields, of_group=of)

    def __getattr__(self, name: str) -> Any:  # of what is not there
        fields = vars(self)
        of: tuple[GroupEdges, int] | None = fields.get("of_group")
        if of is not None and name in of[0].names:
            self._fill()
            return fields[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _fill(self) -> None:
        fields = vars(self)
        if fields["of_group"] is not None:
            group, batch = fields["of_group"]
            found, tensors = group.fields(batch)
            fields.update({**found, **fields, "of_group": None})  # some may have been given
            fields["lasting"].add(tensors)

    def __reduce__(self) -> Any:
        """A copy, or what another process gets, has all fields."""
        self._fill()
        return _plain, (self._of_pyg, vars(self))


def _plain(of: Any, fields: dict[str, Any]) -> Any:
    made = of.__new__(of)
    vars(made).update(fields)
    return made


class _Output(_OfGroup, SamplerOutput):  # type: ignore[misc]
    _of_pyg = SamplerOutput


class _HeteroOutput(_OfGroup, HeteroSamplerOutput):  # type: ignore[misc]
    _of_pyg = HeteroSamplerOutput


def untouched(out: Any) -> tuple[GroupEdges, int] | None:
    """The group of an output, and its number there, if nobody has asked for its edges, nor given it others."""
    of: tuple[GroupEdges, int] | None = vars(out).get("of_group")
    return None if of is None or any(name in vars(out) for name in _OF_EDGES) else of


def outputs_of(
    made: Any, device: torch.device, node_types: list[str], edge_types: list[Any] | None, disjoint: bool, keeps_counts: bool,
    num_hops: int,
) -> Iterator[SamplerOutput | HeteroSamplerOutput]:  # fmt: skip
    """The batches in PyG's terms, as `output_of` makes them.

    made: `sample_group_gpu`'s. edge_types: None for a graph without types. keeps_counts, num_hops: as for `output_of`.
    """
    (pieces, cuts, places), of_nodes, of_edges, edges = made
    tensors, group = _tensors(pieces, cuts, places, device), GroupEdges(edges, edge_types, len(of_nodes), device)
    num_types, width = len(node_types), len(node_types) * (2 if disjoint else 1)
    whole = all(len(one) == num_hops + 1 for nodes in of_nodes[:1] for one in nodes)  # unless the batch is its seeds alone

    def by_type(values: Any, types: list[Any] | None) -> Any:
        return values[0] if edge_types is None else dict(zip(types or [], values, strict=True))

    for i, (nodes, counts) in enumerate(zip(of_nodes, of_edges, strict=True)):
        mine = tensors[i * width : (i + 1) * width]
        fields = {
            "node": by_type(mine[:num_types], node_types),
            "num_sampled_nodes": by_type(nodes if whole else [one[: num_hops + 1] for one in nodes], node_types),
            "lasting": Lasting(mine),
        }
        if disjoint:
            fields["batch"] = by_type(mine[num_types:], node_types)
        if keeps_counts:
            fields["num_sampled_edges"] = by_type(counts if whole else [one[:num_hops] for one in counts], edge_types)
        yield (_Output if edge_types is None else _HeteroOutput)((group, i), fields)


def _tensors(pieces: list[Any], cuts: list[list[int]], places: list[int], device: torch.device) -> _Tensors:
    """All arrays, batch by batch."""
    stream = _stream_of(device) or 1  # DLPack's number of the default stream
    parts: list[Tensor] = []
    for piece, sizes in zip(pieces, cuts, strict=True):
        whole = from_dlpack(DeviceArray(piece).__dlpack__(stream=stream))
        parts += torch.unsafe_split_with_sizes(whole, sizes)  # tensors of their own, which may be written to
    parts += [torch.empty(0, dtype=dtype, device=device) for dtype in _EMPTY]
    return tuple([parts[place] for place in places])


def _stream_of(device: torch.device) -> int:
    return int(torch.cuda.current_stream(device).cuda_stream)


def _next(tensors: Iterator[Tensor], count: int) -> _Tensors:
    """As many of them."""
    return tuple(itertools.islice(tensors, count))
