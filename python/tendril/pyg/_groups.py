"""Batches that one call made on a GPU, as PyG's sampler outputs: Torch is called for each piece of their memory, not for each
of their arrays."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils.dlpack import from_dlpack
from torch_geometric.sampler import HeteroSamplerOutput, SamplerOutput

from tendril._device_array import DeviceArray

from ._outputs import Lasting

_EMPTY = torch.int32, torch.float32, torch.int64  # of places -3, -2, -1

_Tensors = tuple[Tensor, ...]


class _Batch(NamedTuple):
    """One batch: a tensor, or a list of counts, of each type of vertices or of edges; nothing where there are no such arrays."""

    node: _Tensors
    batch: _Tensors
    row: _Tensors
    col: _Tensors
    edge: _Tensors
    weights: _Tensors
    num_nodes: list[list[int]]
    num_edges: list[list[int]] | None


def outputs_of(
    made: Any, device: torch.device, node_types: list[str], edge_types: list[Any] | None, disjoint: bool, keeps_counts: bool,
    num_hops: int,
) -> Iterator[SamplerOutput | HeteroSamplerOutput]:  # fmt: skip
    """The batches in PyG's terms, as `output_of` makes them.

    made: `sample_group_gpu`'s. edge_types: None for a graph without types. keeps_counts, num_hops: as for `output_of`.
    """
    pieces, cuts, places, of_nodes, of_edges = made
    tensors = _tensors(pieces, cuts, places, device)
    num_types, num_relations = len(node_types), 1 if edge_types is None else len(edge_types)
    width = len(tensors) // max(1, len(of_nodes))
    for i, (nodes, edges) in enumerate(zip(of_nodes, of_edges, strict=True)):
        mine = tensors[i * width : (i + 1) * width]
        rest = iter(mine)
        node, batch = _next(rest, num_types), _next(rest, num_types if disjoint else 0)
        row, col, edge, weights = (_next(rest, num_relations) for _ in range(4))
        num_nodes = [one[: num_hops + 1] for one in nodes]
        num_edges = [one[:num_hops] for one in edges] if keeps_counts else None
        one = _Batch(node, batch, row, col, edge, weights, num_nodes, num_edges)
        out = _of_one_type(one) if edge_types is None else _of_types(one, node_types, edge_types)
        out.lasting = Lasting(mine)
        yield out


def _tensors(pieces: list[Any], cuts: list[list[int]], places: list[int], device: torch.device) -> _Tensors:
    """All arrays, batch by batch."""
    stream = _stream_of(device)
    parts: list[Tensor] = []
    for piece, sizes in zip(pieces, cuts, strict=True):
        whole = from_dlpack(DeviceArray(piece).__dlpack__(stream=stream))
        parts += torch.unsafe_split_with_sizes(whole, sizes)  # tensors of their own, which may be written to
    parts += [torch.empty(0, dtype=dtype, device=device) for dtype in _EMPTY]
    return tuple([parts[place] for place in places])


def _stream_of(device: torch.device) -> int:
    return int(torch.cuda.current_stream(device).cuda_stream) or 1  # DLPack's number of the default stream


def _next(tensors: Iterator[Tensor], count: int) -> _Tensors:
    """As many of them; none at their end."""
    return tuple(itertools.islice(tensors, count))


def _of_one_type(one: _Batch) -> SamplerOutput:
    out = SamplerOutput(
        node=one.node[0],
        row=one.col[0],
        col=one.row[0],
        edge=one.edge[0],
        batch=one.batch[0] if one.batch else None,
        num_sampled_nodes=one.num_nodes[0],
        num_sampled_edges=None if one.num_edges is None else one.num_edges[0],
    )
    if one.weights:
        out.edge_labor_weight = one.weights[0]
    return out


def _of_types(one: _Batch, node_types: list[str], edge_types: list[Any]) -> HeteroSamplerOutput:
    def of_nodes(values: Any) -> dict[Any, Any]:
        return dict(zip(node_types, values, strict=True))

    def of_edges(values: Any) -> dict[Any, Any]:
        return dict(zip(edge_types, values, strict=True))

    out = HeteroSamplerOutput(
        node=of_nodes(one.node),
        row=of_edges(one.col),
        col=of_edges(one.row),
        edge=of_edges(one.edge),
        batch=of_nodes(one.batch) if one.batch else None,
        num_sampled_nodes=of_nodes(one.num_nodes),
        num_sampled_edges=None if one.num_edges is None else of_edges(one.num_edges),
    )
    if one.weights:
        out.edge_labor_weight = of_edges(one.weights)
    return out
