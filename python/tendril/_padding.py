"""Batches of one size: every batch gets as many vertices and edges in each hop as the largest batch needs, so that a
training step can be one CUDA graph, and is compiled once.

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

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, NamedTuple, Protocol

import numpy as np

from ._epochs import Epochs
from ._errors import ArgumentError, shown
from ._minibatch import Minibatch
from ._params import counts, number, unsigned

_MOST = 2**31 - 1
_MOST_TARGETS = 1024  # so many vertices share the padding edges of a hop: enough to keep a GPU's atomics apart


@dataclass(frozen=True, init=False)
class Padding:
    """The largest batch: how many vertices and edges it has in each hop. Loaders take it as ``pad``.

    Parameters
    ----------
    num_nodes : sequence of int, [hops + 1]
        The most new vertices of each hop, the seeds first, without padding; 0 to 2^31 - 1.
    num_edges : sequence of int, [hops]
        The most sampled edges of each hop, without padding; 0 to 2^31 - 1.

    Raises
    ------
    ArgumentError
        A ValueError: for numbers out of range, or as many of them as no batch has.

    Examples
    --------
    >>> padding = tendril.Padding([64, 500], [640])
    >>> padding.num_sampled_nodes, padding.num_sampled_edges
    ([64, 502], [640])
    >>> padding.with_room(0.05)
    Padding(num_nodes=(64, 525), num_edges=(672,))
    """

    num_nodes: tuple[int, ...]
    num_edges: tuple[int, ...]

    def __init__(self, num_nodes: Sequence[int], num_edges: Sequence[int]) -> None:
        for name, given in (("num_nodes", num_nodes), ("num_edges", num_edges)):
            values = counts(given, name)
            for i, value in enumerate(values):
                if not 0 <= value <= _MOST:
                    raise ArgumentError(f"{name}[{i}] is {value}, expected 0 to {_MOST}")
            object.__setattr__(self, name, tuple(values))
        if len(self.num_nodes) != len(self.num_edges) + 1:
            found = f"num_nodes has {len(self.num_nodes)} elements, num_edges {len(self.num_edges)}"
            raise ArgumentError(f"{found}: expected num_nodes to have one more, the seeds")

    @property
    def num_sampled_nodes(self) -> list[int]:
        """[hops + 1] The vertices of each hop of a padded batch: with two more, at least, for padding edges to end at."""
        more = (2 if edges else 0 for edges in self.num_edges)
        return [self.num_nodes[0], *(nodes + two for nodes, two in zip(self.num_nodes[1:], more, strict=True))]

    @property
    def num_sampled_edges(self) -> list[int]:
        """[hops] The edges of each hop of a padded batch."""
        return list(self.num_edges)

    def with_room(self, share: float) -> Padding:
        """The same with room for larger batches than those that were counted. The number of seeds stays.

        Parameters
        ----------
        share : float
            Of the vertices and edges of each hop, >= 0: 0.05 allows 5 % more.

        Returns
        -------
        Padding
        """
        factor = number(share, "share")
        if not 0 <= factor < math.inf:
            raise ArgumentError(f"share is {shown(share)}, expected a number from 0")
        first, *others = self.num_nodes
        more = [[value + math.ceil(min(value * factor, _MOST)) for value in of] for of in (others, self.num_edges)]
        if any(value > _MOST for of in more for value in of):
            raise ArgumentError(f"share is {shown(share)}, which makes more than {_MOST} vertices or edges of a hop")
        return Padding([first, *more[0]], more[1])

    def _expect_holds(self, nodes: Sequence[int], edges: Sequence[int], batch: int) -> None:
        if len(edges) != len(self.num_edges):
            raise ArgumentError(f"batch {batch} has {len(edges)} hops, pad has {len(self.num_edges)}")
        for found, most, what in ((nodes, self.num_nodes, "vertices"), (edges, self.num_edges, "edges")):
            for i, (size, limit) in enumerate(zip(found, most, strict=True)):
                if size > limit:
                    hop = i + (what == "edges")
                    where = "seeds" if hop == 0 else f"{what} in hop {hop}"
                    raise ArgumentError(f"batch {batch} has {size} {where}, expected at most {limit}: pad is too small")


def largest(sizes: Iterable[tuple[Sequence[int], Sequence[int]]]) -> Padding | None:
    """The maxima of batches, of which the vertices and the edges of each hop are given; None without batches."""
    nodes: list[int] | None = None
    edges: list[int] = []
    for of_nodes, of_edges in sizes:
        if nodes is None:
            nodes, edges = [0] * len(of_nodes), [0] * len(of_edges)
        nodes = [max(a, int(b)) for a, b in zip(nodes, of_nodes, strict=True)]
        edges = [max(a, int(b)) for a, b in zip(edges, of_edges, strict=True)]
    return None if nodes is None else Padding(nodes, edges)


class Padded(Epochs):
    """The part of a loader that pads its batches."""

    _pad: str | Padding | None = None

    @property
    def pad(self) -> str | Padding | None:
        """How batches are padded. It may be changed; iterations that have begun keep what they began with."""
        return self._pad

    @pad.setter
    def pad(self, value: Any) -> None:
        if value is not None and not isinstance(value, Padding) and not (isinstance(value, str) and value == "epoch"):
            raise ArgumentError(f"pad is {shown(value)}, expected None, 'epoch' or a Padding")
        if value is not None:
            self._expect_paddable()
        if isinstance(value, str):
            self._expect_order_of_seed("pad is 'epoch'")
        if isinstance(value, Padding) and len(value.num_edges) != self._num_hops():
            raise ArgumentError(f"pad has {len(value.num_edges)} hops, expected {self._num_hops()}: num_neighbors has so many")
        self._pad = value

    def padding(self, epochs: Iterable[int] | None = None) -> Padding:
        """Find out how large the batches of some epochs are, by sampling them all, those of every rank. This takes as
        long as sampling takes; features are not gathered.

        Parameters
        ----------
        epochs : iterable of int, optional
            Numbers of epochs. Default: the one that the next iteration makes.

        Returns
        -------
        Padding
            The exact maxima: each is the size of a batch.

        Raises
        ------
        ArgumentError
            A ValueError: if the epochs have no batches, if the loader can't pad, or if its order follows from more than
            the seed.
        """
        self._expect_paddable()
        self._expect_order_of_seed("padding() samples epochs ahead")
        if epochs is not None and (isinstance(epochs, (str, bytes)) or not isinstance(epochs, Iterable)):
            raise ArgumentError(f"epochs is {shown(epochs)}, expected numbers of epochs")
        numbers = [self.epoch] if epochs is None else [unsigned(epoch, "epochs") for epoch in epochs]
        found = largest(size for epoch in numbers for size in self._sizes(epoch))
        if found is None:
            raise ArgumentError(f"epochs is {shown(epochs)}, which has no batches: expected one or more")
        return found

    def _padding_of(self, epoch: int) -> Padding | None:
        """The padding of the iteration that begins; None: batches stay as they are."""
        return largest(self._sizes(epoch)) if isinstance(self._pad, str) else self._pad

    def _expect_paddable(self) -> None:
        """Refuses what can't be padded."""
        raise NotImplementedError

    def _expect_order_of_seed(self, why: str) -> None:
        """Refuses orders that can't be known ahead: those that do not follow from the seed and the epoch alone."""

    def _num_hops(self) -> int:
        raise NotImplementedError

    def _sizes(self, epoch: int) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
        """The vertices and edges of each hop, of every batch of an epoch, whichever rank makes it."""
        raise NotImplementedError


class Library(Protocol):
    """What padding needs of an array library. Its arrays have slices, comparisons and indices as NumPy's."""

    def concatenate(self, parts: list[Any]) -> Any:
        """One array of several."""

    def iota(self, count: int, like: Any) -> Any:
        """The numbers from 0, of the type and in the place of another array."""

    def repeat(self, array: Any, count: int) -> Any:
        """The first element of an array, many times; zeros if the array is empty."""

    def zeros(self, count: int, like: Any) -> Any:
        """Zeros, of the type and in the place of another array."""


class Sampled(NamedTuple):
    """A batch: how many vertices and edges its hops have, and its arrays. `row` and `col` are positions in `node`."""

    nodes: list[int]
    edges: list[int]
    node: Any
    row: Any
    col: Any
    edge: Any
    weights: Any


class Masks(NamedTuple):
    """Which vertices and edges of a padded batch are real."""

    nodes: Any
    edges: Any
    num_seeds: int

    @property
    def seeds(self) -> Any:
        return self.nodes[: self.num_seeds]


class Padder:
    """Pads batches. The tables that all of them share are made with the first batch, in its place and on its stream.
    After that a batch takes a dozen calls, and none waits for a GPU: all sizes are known to the host."""

    def __init__(self, padding: Padding, library: Library) -> None:
        self.padding = padding
        self._library = library
        self._nodes, self._edges = padding.num_sampled_nodes, padding.num_sampled_edges
        self._begins = [0, *accumulate(self._nodes)]
        self._iota: Any = None
        self._rings: dict[tuple[int, int], Any] = {}

    def __call__(self, given: Sampled, batch: int) -> tuple[Sampled, Masks]:
        """The padded batch, and which of its parts are real."""
        self.padding._expect_holds(given.nodes, given.edges, batch)
        if self._iota is None:
            longest = max(self._begins[-1], sum(self._edges), *(many + 1 for many in self._edges), 1)
            self._iota = self._library.iota(longest, given.row)
            self._yes, self._no = self._iota >= 0, self._iota < 0
        nodes = [total - many for total, many in zip(self._nodes, given.nodes, strict=True)]  # of padding
        edges = [total - many for total, many in zip(self._edges, given.edges, strict=True)]
        new = [self._iota[at : at + many] for at, many in zip(self._begins, given.nodes, strict=False) if many]
        position = self._joined(new, given.row)  # in the padded batch, of each vertex

        def of_nodes(array: Any, filling: Any) -> Any:
            return self._filled(array, given.nodes, nodes, [filling] * len(nodes))

        def of_edges(array: Any, filling: Any) -> Any:
            return self._filled(array, given.edges, edges, [filling] * len(edges))

        ends = [self._ring(hop, nodes[hop]) if many else None for hop, many in enumerate(edges, 1)]
        to = [None if ring is None else ring[1:] for ring in ends]
        weights = given.weights
        if weights is not None:
            weights = of_edges(weights, self._library.zeros(max(edges, default=0), weights))
        made = Sampled(
            nodes=list(self._nodes),
            edges=list(self._edges),
            node=of_nodes(given.node, self._library.repeat(given.node, max(nodes))),
            row=self._filled(position[given.row], given.edges, edges, ends),
            col=self._filled(position[given.col], given.edges, edges, to),
            edge=of_edges(given.edge, self._library.repeat(given.edge, max(edges, default=0))),
            weights=weights,
        )
        return made, Masks(of_nodes(self._yes, self._no), of_edges(self._yes, self._no), self._nodes[0])

    def _filled(self, array: Any, sizes: list[int], free: list[int], fillings: list[Any]) -> Any:
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

    def _ring(self, hop: int, vertices: int) -> Any:
        """Ends of a hop's padding edges, each followed by the other end. They go round among the hop's last vertices: a
        power of two of them, so that few tables serve all batches."""
        width = min(1 << (vertices.bit_length() - 1), _MOST_TARGETS)
        if (hop, width) not in self._rings:
            last = self._begins[hop + 1] - 1
            self._rings[hop, width] = last - self._iota[: self._edges[hop - 1] + 1] % width
        return self._rings[hop, width]


class _NumPy:
    def concatenate(self, parts: list[Any]) -> Any:
        return np.concatenate(parts)

    def iota(self, count: int, like: Any) -> Any:
        return np.arange(count, dtype=like.dtype)

    def repeat(self, array: Any, count: int) -> Any:
        return np.broadcast_to(array[:1], count) if len(array) else self.zeros(count, array)

    def zeros(self, count: int, like: Any) -> Any:
        return np.zeros(count, like.dtype)


def sizes_of(batch: Minibatch) -> tuple[list[int], list[int]]:
    """The vertices and edges of each hop of a mini-batch of one type."""
    return [int(many) for many in batch.num_sampled_nodes], [int(many) for many in batch.num_sampled_edges]


class MinibatchPadder:
    """Pads mini-batches of one type that are in NumPy arrays."""

    def __init__(self, padding: Padding) -> None:
        self._pad = Padder(padding, _NumPy())

    def __call__(self, batch: Minibatch, number: int) -> tuple[Minibatch, Masks]:
        """The padded mini-batch, whose offsets (`indptr`, …) are None, and which of its parts are real."""
        given = Sampled(*sizes_of(batch), batch.node, batch.row, batch.col, batch.edge, batch.weights)
        made, masks = self._pad(given, number)
        padded = replace(
            batch,
            node=made.node,
            row=made.row,
            col=made.col,
            edge=made.edge,
            weights=made.weights,
            indptr=None,
            first_expanded=None,
            num_expanded=None,
            num_sampled_nodes=made.nodes,
            num_sampled_edges=made.edges,
        )
        return padded, masks

    def seeds(self, index: Any) -> Any:
        """As many positions of seeds as every batch has: the first one is repeated."""
        return np.concatenate([index, np.broadcast_to(index[:1], self._pad.padding.num_nodes[0] - len(index))])
