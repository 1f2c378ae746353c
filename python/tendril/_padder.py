"""Gives batches the sizes that a Padding says, in NumPy's arrays, on a GPU, or in another library's.

Batches keep their layout: vertices and edges hop by hop, the seeds first. Each hop ends with its padding. A padding edge
of hop h leads from a padding vertex of hop h to another one of the same hop. Models that leave out the outer hops layer
by layer (PyG's `trim_to_layer`) keep the vertices of a hop wherever they keep its edges, so no padding edge loses an end,
and no real vertex ever receives a message of a padding vertex. Hops with edges have at least two padding vertices: with
one alone the edges would be loops, which some layers remove, and the number of edges would differ from batch to batch.
Many edges that lead to the same vertex are slow on a GPU, so the edges take turns among the padding vertices.

A padding vertex repeats the id of the batch's first vertex, and a padding edge that of the first edge, so each id is in
range, and padding has no features that the batch doesn't have already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, NamedTuple, Protocol

import numpy as np

from . import _gpu, _tendril
from ._device_array import DeviceArray
from ._features import FeatureTable, gather_on_gpu
from ._host_way import Way
from ._minibatch import Minibatch
from ._padding import BatchSizes, Padding, Sizes

_MOST_TARGETS = 1024  # so many vertices share the padding edges of a hop: enough to keep a GPU's atomics apart


class Library(Protocol):
    """What padding needs of an array library. Its arrays have slices as NumPy's."""

    def concatenate(self, parts: list[Any]) -> Any:
        """One array of several."""

    def take(self, array: Any, index: Any) -> Any:
        """The elements of an array at some positions, which are in range."""

    def iota(self, count: int, like: Any) -> Any:
        """The numbers from 0, of the type and in the place of another array."""

    def cycle(self, last: int, width: int, iota: Any) -> Any:
        """The numbers from `last` down, `width` of them, over and over: as many as `iota` has, and in its place."""

    def same(self, value: bool, iota: Any) -> Any:
        """One truth value, as often as `iota` has numbers, and in its place."""

    def repeat(self, array: Any, count: int) -> Any:
        """The first element of an array, many times; zeros if the array is empty."""

    def zeros(self, count: int, like: Any) -> Any:
        """Zeros, of the type and in the place of another array."""


class Sampled(NamedTuple):
    """A batch, by type (None, if there is one type): its sizes and its arrays. `source` and `target` are the ends of
    edges, as positions in `node`: an edge type names their types in this order."""

    sizes: BatchSizes
    node: dict[Any, Any]
    source: dict[Any, Any]
    target: dict[Any, Any]
    edge: dict[Any, Any]
    weights: dict[Any, Any] | None


class Masks(NamedTuple):
    """Which vertices and edges of a padded batch are real, by type."""

    nodes: dict[Any, Any]
    edges: dict[Any, Any]


class Padder:
    """Pads batches. The tables that all of them share are made with the first batch, in its place and on its stream.
    After that a batch takes a dozen calls, and none waits for a GPU: all sizes are known to the host."""

    def __init__(self, padding: Padding, library: Library) -> None:
        self.padding = padding
        self._library = library
        self._nodes, self._edges = padding._padded_nodes(), padding._edges
        self._begins = {key: [0, *accumulate(many)] for key, many in self._nodes.items()}
        self._iota: Any = None
        self._rings: dict[tuple[Any, int, int], Any] = {}

    def __call__(self, given: Sampled, batch: int) -> tuple[Sampled, Masks]:
        """The padded batch, and which of its parts are real."""
        found = given.sizes
        self.padding._expect_holds(found, batch)
        if self._iota is None:
            self._make_tables(next(iter(given.node.values())), next(iter(given.source.values()), None))
        nodes = {key: _free(many, found.nodes[key]) for key, many in self._nodes.items()}
        edges = {key: _free(many, found.edges[key]) for key, many in self._edges.items()}
        position = {key: self._positions(key, many) for key, many in found.nodes.items()}
        source: dict[Any, Any] = {}
        target: dict[Any, Any] = {}
        for key, (a, b) in self.padding._ends().items():
            sizes, places = found.edges[key], edges[key]
            froms = [self._ring(a, hop, nodes[a][hop]) if many else None for hop, many in enumerate(places, 1)]
            tos = [self._ring(b, hop, nodes[b][hop])[1:] if many else None for hop, many in enumerate(places, 1)]
            source[key] = self._filled(self._library.take(position[a], given.source[key]), sizes, places, froms)
            target[key] = self._filled(self._library.take(position[b], given.target[key]), sizes, places, tos)

        def repeated(arrays: dict[Any, Any], sizes: Sizes, free: dict[Any, list[int]]) -> dict[Any, Any]:
            first = {key: self._library.repeat(array, max(free[key], default=0)) for key, array in arrays.items()}
            return {
                key: self._filled(array, sizes[key], free[key], [first[key]] * len(free[key])) for key, array in arrays.items()
            }

        def mask(sizes: Sizes, free: dict[Any, list[int]]) -> dict[Any, Any]:
            return {key: self._filled(self._yes, sizes[key], many, [self._no] * len(many)) for key, many in free.items()}

        weights = given.weights
        if weights is not None:
            weights = {
                key: self._filled(
                    array, found.edges[key], edges[key], [self._library.zeros(many, array) for many in edges[key]]
                )
                for key, array in weights.items()
            }
        made = Sampled(
            BatchSizes(
                {key: list(many) for key, many in self._nodes.items()},
                {key: list(many) for key, many in self._edges.items()},
                self.padding.num_links,
            ),
            node=repeated(given.node, found.nodes, nodes),
            source=source,
            target=target,
            edge=repeated(given.edge, found.edges, edges),
            weights=weights,
        )
        return made, Masks(mask(found.nodes, nodes), mask(found.edges, edges))

    def _make_tables(self, node: Any, end: Any) -> None:
        most = [max(many, default=0) + 1 for many in self._edges.values()]
        totals = [sum(many) for of in (self._nodes, self._edges) for many in of.values()]
        self._iota = self._library.iota(max(*most, *totals, 1), node if end is None else end)
        self._yes, self._no = (self._library.same(value, self._iota) for value in (True, False))

    def _positions(self, key: Any, sizes: Sequence[int]) -> Any:
        """The position in the padded batch of each vertex."""
        parts = [self._iota[at : at + many] for at, many in zip(self._begins[key], sizes, strict=False) if many]
        return self._joined(parts, self._iota)

    def _filled(self, array: Any, sizes: Sequence[int], free: list[int], fillings: list[Any]) -> Any:
        """The hops of an array, each followed by as many elements of its filling as it has free places."""
        parts, begin = [], 0
        for size, places, filling in zip(sizes, free, fillings, strict=True):
            if size:
                parts.append(array[begin : begin + size])
                begin += size
            if places:
                parts.append(filling[:places])
        return self._joined(parts, array)

    def _joined(self, parts: list[Any], like: Any) -> Any:
        return self._library.concatenate(parts) if parts else like[:0]

    def _ring(self, key: Any, hop: int, vertices: int) -> Any:
        """Padding vertices of a hop, over and over: its last ones, a power of two of them, so that few tables serve all
        batches. An edge leads from one to the next."""
        width = min(1 << (vertices.bit_length() - 1), _MOST_TARGETS)
        if (key, hop, width) not in self._rings:
            last = self._begins[key][hop + 1] - 1
            most = max(many[hop - 1] for many in self._edges.values())
            self._rings[key, hop, width] = self._library.cycle(last, width, self._iota[: most + 1])
        return self._rings[key, hop, width]


def _free(total: Sequence[int], found: Sequence[int]) -> list[int]:
    return [a - b for a, b in zip(total, found, strict=True)]


class _NumPy:
    def concatenate(self, parts: list[Any]) -> Any:
        return np.concatenate(parts)

    def take(self, array: Any, index: Any) -> Any:
        return array[index]

    def iota(self, count: int, like: Any) -> Any:
        return np.arange(count, dtype=like.dtype)

    def cycle(self, last: int, width: int, iota: Any) -> Any:
        return last - iota % width

    def same(self, value: bool, iota: Any) -> Any:
        return np.full(len(iota), value)

    def repeat(self, array: Any, count: int) -> Any:
        return np.broadcast_to(array[:1], count) if len(array) else self.zeros(count, array)

    def zeros(self, count: int, like: Any) -> Any:
        return np.zeros(count, like.dtype)


class _OnGpu:
    """DeviceArrays, in the order of a stream: only tables, which later batches use again, come from the host."""

    def __init__(self, device: int, stream: int) -> None:
        self._device, self._stream = device, stream
        self._zeros: dict[np.dtype[Any], DeviceArray] = {}

    def concatenate(self, parts: list[Any]) -> Any:
        return DeviceArray(_tendril.concatenate_gpu([part._core for part in parts], self._stream))

    def take(self, array: Any, index: Any) -> Any:
        if not len(index):
            return array[:0]
        table = _tendril.feature_table_on_gpu(_gpu.capsule(array, "array", self._stream), "array")
        positions = _gpu.ids(index, "index", 1, self._device, self._stream, 0)
        return DeviceArray(table.on_gpu(self._device, "auto").gather_new(positions, self._stream, False, *Way()))

    def iota(self, count: int, like: Any) -> Any:
        return self._there(np.arange(count, dtype=like.dtype))

    def cycle(self, last: int, width: int, iota: Any) -> Any:
        return self._there(last - np.arange(len(iota), dtype=iota.dtype) % width)

    def same(self, value: bool, iota: Any) -> Any:
        return self._there(np.full(len(iota), value))

    def repeat(self, array: Any, count: int) -> Any:
        if not len(array):
            return self.zeros(count, array)
        return self.take(array, self._zeros_of(count, np.dtype(np.int64)))

    def zeros(self, count: int, like: Any) -> Any:
        return self._zeros_of(count, like.dtype)

    def _zeros_of(self, count: int, dtype: np.dtype[Any]) -> Any:
        """A part of one array, which grows."""
        if dtype not in self._zeros or len(self._zeros[dtype]) < count:
            self._zeros[dtype] = self._there(np.zeros(max(2 * count, 1), dtype))
        return self._zeros[dtype][:count]

    def _there(self, values: np.ndarray[Any, Any]) -> Any:
        """A copy of an array on the GPU."""
        return gather_on_gpu(FeatureTable(values), np.arange(len(values)), self._device, self._stream, check=False)


def sizes_of(batch: Minibatch, has_hops: bool) -> BatchSizes:
    """The sizes of a mini-batch. has_hops: not of one of HGSampling, whose edges are in no hops. It counts as one hop."""

    def sizes(given: Any) -> Sizes:
        return {key: [int(one) for one in many] for key, many in by_type(given).items()}

    if not has_hops:
        nodes = {key: [many[0], sum(many[1:])] for key, many in sizes(batch.num_sampled_nodes).items()}
        return BatchSizes(nodes, {key: [len(edge)] for key, edge in by_type(batch.edge).items()})
    return BatchSizes(sizes(batch.num_sampled_nodes), sizes(batch.num_sampled_edges))


def by_type(given: Any) -> dict[Any, Any]:
    """The field of a batch as a dict, whatever number of types there is."""
    return given if isinstance(given, dict) else {None: given}


def as_given(made: dict[Any, Any]) -> Any:
    """The opposite of `by_type`."""
    return made[None] if None in made else made


class MinibatchPadder:
    """Pads mini-batches.

    device, stream: of the GPU where they are, and where the sampler works; `_gpu.HOST`: they are in NumPy arrays."""

    def __init__(
        self, padding: Padding, node_type: str | None, has_hops: bool, device: int = _gpu.HOST, stream: int = 0
    ) -> None:
        library = _NumPy() if device == _gpu.HOST else _OnGpu(device, stream)
        self._pad, self._has_hops = Padder(padding, library), has_hops
        self._num_seeds, self._node_type = padding._nodes[node_type][0], node_type

    def __call__(self, batch: Minibatch, number: int) -> tuple[Minibatch, Masks]:
        """The padded mini-batch, whose offsets (`indptr`, …) are None, and which of its parts are real."""
        node, source, target, edge = map(by_type, (batch.node, batch.col, batch.row, batch.edge))
        weights = None if batch.weights is None else by_type(batch.weights)
        given = Sampled(sizes_of(batch, self._has_hops), node, source, target, edge, weights)
        made, masks = self._pad(given, number)
        padded = replace(
            batch,
            node=as_given(made.node),
            row=as_given(made.target),
            col=as_given(made.source),
            edge=as_given(made.edge),
            weights=None if made.weights is None else as_given(made.weights),
            indptr=None,
            first_expanded=None,
            num_expanded=None,
            num_sampled_nodes=as_given(dict(made.sizes.nodes)),
            num_sampled_edges=as_given(dict(made.sizes.edges)),
        )
        return padded, masks

    def seeds(self, index: Any, filling: int | None = None) -> Any:
        """As many positions of seeds as every batch has, in host memory. filling: of the others; None: the first one."""
        others = index[:1] if filling is None else np.array([filling], index.dtype)
        return np.concatenate([index, np.broadcast_to(others, self._num_seeds - len(index))])

    def seed_mask(self, masks: Masks) -> Any:
        return masks.nodes[self._node_type][: self._num_seeds]
