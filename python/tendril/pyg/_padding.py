"""Batches of one size for PyG: what is padded is the sampler's output, so a batch's attributes are gathered with its
padding."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.sampler import SamplerOutput
from torch_geometric.sampler.base import SubgraphType

from tendril._errors import ArgumentError
from tendril._padding import Masks, Padder, Padding, Sampled

from ._bidirectional import BidirectionalNeighborSampler
from ._outputs import labor_weights
from ._sampler import NeighborSampler

_IGNORED = -100  # the class that Torch's losses ignore unless told otherwise
_MASKS = ("node_mask", "edge_mask", "seed_mask")


class _Torch:
    def concatenate(self, parts: list[Any]) -> Any:
        return torch.cat(parts)

    def iota(self, count: int, like: Any) -> Any:
        return torch.arange(count, dtype=like.dtype, device=like.device)

    def repeat(self, array: Any, count: int) -> Any:
        return array[:1].expand(count) if len(array) else self.zeros(count, array)

    def zeros(self, count: int, like: Any) -> Any:
        return like.new_zeros(count)


def expect_paddable(loader: Any) -> None:
    """Refuses what can't be padded."""
    engine, data = loader._engine, loader.data
    if not loader._pads:
        raise ArgumentError(f"pad: a {type(loader).__name__} can't pad, expected a NeighborLoader")
    if not isinstance(engine, NeighborSampler) or isinstance(engine, BidirectionalNeighborSampler):
        raise ArgumentError(f"pad: neighbor_sampler is a {type(engine).__name__}, expected a NeighborSampler of tendril.pyg")
    if not isinstance(data, Data):
        raise ArgumentError(f"pad: data is a {type(data).__name__}, expected Data")
    if engine.is_temporal:
        raise ArgumentError("pad: time_attr is given, expected None: each seed then has a subgraph of its own")
    if engine.disjoint:
        raise ArgumentError("pad: disjoint is True, expected False")
    if engine.subgraph_type != SubgraphType.directional:
        raise ArgumentError(f"pad: subgraph_type is '{engine.subgraph_type.value}', expected 'directional'")
    if loader.transform_sampler_output is not None:
        raise ArgumentError("pad: transform_sampler_output is given, expected None: it might change the sizes")
    if loader._is_overridden():
        raise ArgumentError(f"pad: {type(loader).__name__} overrides collate_fn or filter_fn, which pad doesn't call")
    for name in ("adj_t", *_MASKS):
        if name in data:
            expected = "edge_index alone" if name == "adj_t" else "another name: padded batches have their own"
            raise ArgumentError(f"pad: data has '{name}', expected {expected}")


def expect_order_of_seed(loader: Any, why: str) -> None:
    """Refuses orders that can't be known ahead."""
    for given, name in (
        (loader._index_order, "sampler"),
        (loader._batch_order, "batch_sampler"),
        (loader.generator if loader._shuffle else None, "generator"),
    ):
        if given is not None:
            raise ArgumentError(f"{why}, but {name} decides the order: expected an order that follows from the seed")


def sizes_of(out: Any) -> tuple[list[int], list[int]]:
    """The vertices and edges of each hop of a sampler's output."""
    return list(out.num_sampled_nodes), list(out.num_sampled_edges)


class OutputPadder:
    """Pads outputs of a sampler."""

    def __init__(self, padding: Padding, data: Data) -> None:
        self._pad = Padder(padding, _Torch())
        self._of_nodes = [name for name in data.keys() if data.is_node_attr(name)]  # noqa: SIM118: Data isn't a dict

    def __call__(self, out: SamplerOutput, number: int) -> SamplerOutput:
        weights = labor_weights(out)
        given = Sampled(*sizes_of(out), out.node, out.row, out.col, out.edge, weights)
        made, masks = self._pad(given, number)
        out.node, out.row, out.col, out.edge = made.node, made.row, made.col, made.edge
        out.num_sampled_nodes, out.num_sampled_edges = made.nodes, made.edges
        if weights is not None:
            out.edge_labor_weight = made.weights
        ids, times = out.metadata
        missing = masks.num_seeds - ids.size(0)
        out.metadata = (torch.cat([ids, ids.new_full((missing,), -1)]) if missing else ids), times
        out.masks = masks, self._of_nodes
        return out


def add_masks(made: Data, out: SamplerOutput) -> None:
    """Adds what tells padding apart, if the batch is padded: masks, classes that losses ignore, and masks of the data that
    are False there."""
    found: tuple[Masks, list[str]] | None = getattr(out, "masks", None)
    if found is None:
        return
    masks, of_nodes = found
    made.node_mask, made.edge_mask, made.seed_mask = masks.nodes, masks.edges, masks.seeds
    for name in of_nodes:
        value = made[name]
        if not isinstance(value, Tensor):
            continue
        if name == "y" and value.dtype == torch.int64:
            made[name] = value.masked_fill(~_like(masks.nodes, value), _IGNORED)
        elif value.dtype == torch.bool and value.dim() == 1:
            made[name] = value & _like(masks.nodes, value)


def _like(mask: Tensor, value: Tensor) -> Tensor:
    """The mask, where the value is, with as many dimensions."""
    return mask.to(value.device).view(-1, *[1] * (value.dim() - 1))
