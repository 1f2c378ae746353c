"""Batches that one call made on a GPU, as PyG's sampler outputs: Torch is called for each piece of their memory, not for each
of their arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils.dlpack import from_dlpack
from torch_geometric.sampler import HeteroSamplerOutput, SamplerOutput

from tendril._device_array import DeviceArray

from ._outputs import Lasting

_EMPTY = torch.int32, torch.float32, torch.int64  # of places -3, -2, -1


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
    of_vertices = num_types * (2 if disjoint else 1)
    width = len(tensors) // max(1, len(of_nodes))
    for i, (nodes, edges) in enumerate(zip(of_nodes, of_edges, strict=True)):
        mine = tensors[i * width : (i + 1) * width]
        node, batch, fields = mine[:num_types], mine[num_types:of_vertices], mine[of_vertices:]
        many = [fields[first : first + num_relations] for first in range(0, len(fields), max(1, num_relations))] or [()] * 3
        num_nodes = [one[: num_hops + 1] for one in nodes]
        num_edges = [one[:num_hops] for one in edges] if keeps_counts else None
        made_one = _one_type if edge_types is None else _types
        yield made_one(mine, node_types, edge_types or [], node, batch, many, num_nodes, num_edges)


def _tensors(pieces: list[Any], cuts: list[list[int]], places: list[int], device: torch.device) -> tuple[Tensor, ...]:
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


def _one_type(
    tensors: Any, node_types: Any, edge_types: Any, node: Any, batch: Any, fields: Any, num_nodes: Any, num_edges: Any
) -> SamplerOutput:
    (row,), (col,), (edge,), *weights = fields
    out = SamplerOutput(
        node=node[0],
        row=col,
        col=row,
        edge=edge,
        batch=batch[0] if batch else None,
        num_sampled_nodes=num_nodes[0],
        num_sampled_edges=None if num_edges is None else num_edges[0],
    )
    if weights:
        out.edge_labor_weight = weights[0][0]
    out.lasting = Lasting(tensors)
    return out


def _types(
    tensors: Any, node_types: Any, edge_types: Any, node: Any, batch: Any, fields: Any, num_nodes: Any, num_edges: Any
) -> HeteroSamplerOutput:
    def of_edges(values: Any) -> dict[Any, Any]:
        return dict(zip(edge_types, values, strict=True))

    row, col, edge, *weights = fields
    out = HeteroSamplerOutput(
        node=dict(zip(node_types, node, strict=True)),
        row=of_edges(col),
        col=of_edges(row),
        edge=of_edges(edge),
        batch=dict(zip(node_types, batch, strict=True)) if batch else None,
        num_sampled_nodes=dict(zip(node_types, num_nodes, strict=True)),
        num_sampled_edges=None if num_edges is None else of_edges(num_edges),
    )
    if weights:
        out.edge_labor_weight = of_edges(weights[0])
    out.lasting = Lasting(tensors)
    return out
