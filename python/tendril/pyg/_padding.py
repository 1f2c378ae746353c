"""Batches of one size for PyG: what is padded is the sampler's output, so a batch's attributes are gathered with its
padding."""

from __future__ import annotations

import math
from typing import Any, Protocol

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData
from torch_geometric.sampler import EdgeSamplerInput, NegativeSampling
from torch_geometric.sampler.base import SubgraphType

from tendril._errors import ArgumentError
from tendril._padder import Masks, Padder, Sampled, as_given, by_type
from tendril._padding import BatchSizes, Padding

from ._bidirectional import BidirectionalNeighborSampler
from ._hgt_sampler import HGTSampler
from ._outputs import labor_weights
from ._sampler import NeighborSampler

_IGNORED = -100  # the class that Torch's losses ignore unless told otherwise
_MASKS = ("node_mask", "edge_mask")


class _Torch:
    def concatenate(self, parts: list[Any]) -> Any:
        return torch.cat(parts)

    def take(self, array: Any, index: Any) -> Any:
        return array[index]

    def iota(self, count: int, like: Any) -> Any:
        return torch.arange(count, dtype=like.dtype, device=like.device)

    def cycle(self, last: int, width: int, iota: Any) -> Any:
        return last - iota % width

    def same(self, value: bool, iota: Any) -> Any:
        return torch.full_like(iota, value, dtype=torch.bool)

    def repeat(self, array: Any, count: int) -> Any:
        return array[:1].expand(count) if len(array) else self.zeros(count, array)

    def zeros(self, count: int, like: Any) -> Any:
        return like.new_zeros(count)


def expect_paddable(loader: Any) -> None:
    """Refuses what can't be padded."""
    engine, data = loader._engine, loader.data
    if not loader._ours or isinstance(engine, BidirectionalNeighborSampler):
        kind = type(engine).__name__
        raise ArgumentError(f"pad: neighbor_sampler is a {kind}, expected a NeighborSampler of tendril.pyg")
    if not isinstance(data, (Data, HeteroData)):
        raise ArgumentError(f"pad: data is a {type(data).__name__}, expected Data or HeteroData")
    if isinstance(engine, NeighborSampler):
        _expect_directional(engine)
    if loader.transform_sampler_output is not None:
        raise ArgumentError("pad: transform_sampler_output is given, expected None: it might change the sizes")
    if loader._is_overridden():
        raise ArgumentError(f"pad: {type(loader).__name__} overrides collate_fn or filter_fn, which pad doesn't call")
    for name in ("adj_t", *_MASKS, "label_mask" if _is_of_links(loader) else "seed_mask"):
        if any(name in store for store in data.stores):
            expected = "edge_index alone" if name == "adj_t" else "another name: padded batches have their own"
            raise ArgumentError(f"pad: data has '{name}', expected {expected}")


def _expect_directional(engine: NeighborSampler) -> None:
    if engine.is_temporal:
        raise ArgumentError("pad: time_attr is given, expected None: each seed then has a subgraph of its own")
    if engine.disjoint:
        raise ArgumentError("pad: disjoint is True, expected False")
    if engine.subgraph_type != SubgraphType.directional:
        raise ArgumentError(f"pad: subgraph_type is '{engine.subgraph_type.value}', expected 'directional'")


def _is_of_links(loader: Any) -> bool:
    return isinstance(loader.input_data, EdgeSamplerInput)


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
    """The types of vertices and edges, None if there is one of each, and the number of hops. A batch of HGSampling has
    one: its edges are in no hops."""
    if isinstance(engine, HGTSampler):
        return [*engine.node_types], [*engine.edge_types], 1
    hops = int(engine.num_neighbors.num_hops)
    return ([*engine.node_types], [*engine.edge_types], hops) if engine.is_hetero else ([None], [None], hops)


def sizes_of(out: Any, given: Any) -> BatchSizes:
    """The sizes of a sampler's output. given: the sampler's input, of any batch."""
    num_inputs = out.metadata[0].size(0)
    links = num_inputs if isinstance(given, EdgeSamplerInput) else None
    if out.num_sampled_nodes is not None:
        return BatchSizes(by_type(out.num_sampled_nodes), by_type(out.num_sampled_edges), links)
    seeds = {key: num_inputs if key == given.input_type else 0 for key in out.node}
    return BatchSizes(
        {key: [seeds[key], node.numel() - seeds[key]] for key, node in out.node.items()},
        {key: [edge.numel()] for key, edge in out.edge.items()},
    )


class _Inputs(Protocol):
    """Pads what an output tells of its inputs."""

    def padded(self, metadata: tuple[Any, ...]) -> tuple[Any, ...]:
        """The metadata of a padded output."""

    def add_mask(self, made: Any, masks: Masks, metadata: tuple[Any, ...]) -> None:
        """Adds which inputs of a batch are real."""


class _Vertices:
    def __init__(self, padding: Padding, kind: str | None) -> None:
        self._kind, self._count = kind, padding._nodes[kind][0]

    def padded(self, metadata: tuple[Any, ...]) -> tuple[Any, ...]:
        ids, times = metadata
        return _filled(ids, self._count, -1), times

    def add_mask(self, made: Any, masks: Masks, metadata: tuple[Any, ...]) -> None:
        store = made if self._kind is None else made[self._kind]
        store.seed_mask = masks.nodes[self._kind][: self._count]


class _Links:
    """The ends of links are seeds, which keep their positions in a padded batch. Padding repeats the first link: each of
    its ends is in the batch anyway. Negative links follow all others, so either part ends with its padding."""

    def __init__(self, padding: Padding, kind: Any, negatives: NegativeSampling | None) -> None:
        assert padding.num_links is not None
        self._kind, self._count, self._negatives = kind, padding.num_links, negatives

    def padded(self, metadata: tuple[Any, ...]) -> tuple[Any, ...]:
        """With the mask behind all else, so that it is brought to a GPU with the rest."""
        ids, found = metadata[0], metadata[0].size(0)
        if self._negatives is not None and self._negatives.is_triplet():
            ends = [_repeated(index, self._count) for index in metadata[1:4]]
            return _filled(ids, self._count, -1), *ends, metadata[4], _first(found, self._count)
        index, label, time = metadata[1:]
        sizes, counts = [found], [self._count]
        if self._negatives is not None:
            sizes.append(index.size(1) - found)
            counts.append(math.ceil(self._count * self._negatives.amount))
        parts = [_repeated(part.t(), count).t() for part, count in zip(index.split(sizes, 1), counts, strict=True)]
        if label is not None:
            ignored = _IGNORED if label.dtype == torch.int64 else 0
            labels = [_filled(part, count, ignored) for part, count in zip(label.split(sizes), counts, strict=True)]
            label = torch.cat(labels)
        mask = torch.cat([_first(size, count) for size, count in zip(sizes, counts, strict=True)])
        return _filled(ids, self._count, -1), torch.cat(parts, 1), label, time, mask

    def add_mask(self, made: Any, masks: Masks, metadata: tuple[Any, ...]) -> None:
        (made if self._kind is None else made[self._kind]).label_mask = metadata[-1]


def _first(found: int, count: int) -> Tensor:
    return torch.arange(count) < found


def _filled(values: Tensor, count: int, filling: int) -> Tensor:
    missing = count - values.size(0)
    return torch.cat([values, values.new_full((missing, *values.shape[1:]), filling)]) if missing else values


def _repeated(values: Tensor, count: int) -> Tensor:
    """As many rows: the first one again and again, zeros if there is none."""
    missing = count - values.size(0)
    if not missing or not values.size(0):
        return _filled(values, count, 0)
    return torch.cat([values, values[:1].expand(missing, *values.shape[1:])])


class OutputPadder:
    """Pads the outputs of a loader's sampler."""

    def __init__(self, padding: Padding, loader: Any) -> None:
        self._pad, self._given = Padder(padding, _Torch()), loader.input_data
        kind, data = self._given.input_type, loader.data
        of_links = _is_of_links(loader)
        self._inputs: _Inputs = _Links(padding, kind, loader.neg_sampling) if of_links else _Vertices(padding, kind)
        self._of_nodes = {
            key: [name for name in store.keys() if store.is_node_attr(name)]  # noqa: SIM118: a store isn't a dict
            for key, store in (((None, data._store),) if isinstance(data, Data) else data.node_items())
        }

    def __call__(self, out: Any, number: int) -> Any:
        weights = labor_weights(out)
        node, source, target, edge = map(by_type, (out.node, out.row, out.col, out.edge))
        of_edges = None if weights is None else by_type(weights)
        given = Sampled(sizes_of(out, self._given), node, source, target, edge, of_edges)
        made, masks = self._pad(given, number)
        out.node, out.row, out.col, out.edge = map(as_given, (made.node, made.source, made.target, made.edge))
        if out.num_sampled_nodes is not None:
            out.num_sampled_nodes, out.num_sampled_edges = as_given(dict(made.sizes.nodes)), as_given(dict(made.sizes.edges))
        if made.weights is not None:
            out.edge_labor_weight = as_given(made.weights)
        out.metadata = self._inputs.padded(out.metadata)
        out.masks = masks
        out.add_masks = self._add_masks
        return out

    def _add_masks(self, masks: Masks, made: Any, metadata: tuple[Any, ...]) -> None:
        for key, mask in masks.edges.items():
            (made if key is None else made[key]).edge_mask = mask
        for key, mask in masks.nodes.items():
            store = made if key is None else made[key]
            store.node_mask = mask
            for name in self._of_nodes.get(key, ()):
                store[name] = _without_padding(name, store[name], mask)
        self._inputs.add_mask(made, masks, metadata)


def add_masks(made: Any, out: Any) -> None:
    """Adds what tells padding apart, if the batch is padded: masks, classes that losses ignore, and masks of the data that
    are False there."""
    masks = getattr(out, "masks", None)
    if masks is not None:
        out.add_masks(masks, made, out.metadata)


def _without_padding(name: str, value: Any, mask: Tensor) -> Any:
    """An attribute of vertices that says of padding that it doesn't count, where a value can say so."""
    if isinstance(value, Tensor) and name == "y" and value.dtype == torch.int64:
        return value.masked_fill(~mask.to(value.device).view(-1, *[1] * (value.dim() - 1)), _IGNORED)
    if isinstance(value, Tensor) and value.dtype == torch.bool and value.dim() == 1:
        return value & mask.to(value.device)
    return value
