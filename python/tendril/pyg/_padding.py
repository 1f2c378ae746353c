"""Batches of one size for PyG: what is padded is the sampler's output, so a batch's attributes are gathered with its
padding."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData
from torch_geometric.sampler.base import SubgraphType

from tendril._errors import ArgumentError
from tendril._padder import Masks, Padder, Sampled, as_given, by_type
from tendril._padding import Padding, Sizes

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
        kind = type(engine).__name__
        raise ArgumentError(f"pad: neighbor_sampler is a {kind}, expected a NeighborSampler of tendril.pyg")
    if not isinstance(data, (Data, HeteroData)):
        raise ArgumentError(f"pad: data is a {type(data).__name__}, expected Data or HeteroData")
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
        if any(name in store for store in data.stores):
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


def layout(engine: Any) -> tuple[list[Any], list[Any], int]:
    """The types of vertices and edges, None if there is one of each, and the number of hops."""
    hops = int(engine.num_neighbors.num_hops)
    return ([*engine.node_types], [*engine.edge_types], hops) if engine.is_hetero else ([None], [None], hops)


def sizes_of(out: Any) -> tuple[Sizes, Sizes]:
    """The vertices and edges of each hop of a sampler's output, by type."""
    return by_type(out.num_sampled_nodes), by_type(out.num_sampled_edges)


class OutputPadder:
    """Pads outputs of a sampler whose seeds are of one type."""

    def __init__(self, padding: Padding, data: Any, input_type: str | None) -> None:
        self._pad = Padder(padding, _Torch())
        self._seeds, self._num_seeds = input_type, padding._nodes[input_type][0]
        self._of_nodes = {
            key: [name for name in store.keys() if store.is_node_attr(name)]  # noqa: SIM118: a store isn't a dict
            for key, store in (((None, data._store),) if isinstance(data, Data) else data.node_items())
        }

    def __call__(self, out: Any, number: int) -> Any:
        weights = labor_weights(out)
        node, source, target, edge = map(by_type, (out.node, out.row, out.col, out.edge))
        given = Sampled(*sizes_of(out), node, source, target, edge, None if weights is None else by_type(weights))
        made, masks = self._pad(given, number)
        out.node, out.row, out.col, out.edge = map(as_given, (made.node, made.source, made.target, made.edge))
        out.num_sampled_nodes, out.num_sampled_edges = as_given(dict(made.nodes)), as_given(dict(made.edges))
        if made.weights is not None:
            out.edge_labor_weight = as_given(made.weights)
        ids, times = out.metadata
        missing = self._num_seeds - ids.size(0)
        out.metadata = (torch.cat([ids, ids.new_full((missing,), -1)]) if missing else ids), times
        out.add_masks = partial(self._add_masks, masks)
        return out

    def _add_masks(self, masks: Masks, made: Any) -> None:
        for key, mask in masks.edges.items():
            (made if key is None else made[key]).edge_mask = mask
        for key, mask in masks.nodes.items():
            store = made if key is None else made[key]
            store.node_mask = mask
            if key == self._seeds:
                store.seed_mask = mask[: self._num_seeds]
            for name in self._of_nodes.get(key, ()):
                store[name] = _without_padding(name, store[name], mask)


def add_masks(made: Any, out: Any) -> None:
    """Adds what tells padding apart, if the batch is padded: masks, classes that losses ignore, and masks of the data that
    are False there."""
    add = getattr(out, "add_masks", None)
    if add is not None:
        add(made)


def _without_padding(name: str, value: Any, mask: Tensor) -> Any:
    """An attribute of vertices that says of padding that it doesn't count, where a value can say so."""
    if isinstance(value, Tensor) and name == "y" and value.dtype == torch.int64:
        return value.masked_fill(~mask.to(value.device).view(-1, *[1] * (value.dim() - 1)), _IGNORED)
    if isinstance(value, Tensor) and value.dtype == torch.bool and value.dim() == 1:
        return value & mask.to(value.device)
    return value
