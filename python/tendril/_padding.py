"""The sizes of padded batches, and the part of a loader that knows them: a batch follows from its number, so the largest
batch of an epoch is known before the epoch is made. `_padder.py` pads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from ._epochs import Epochs
from ._errors import ArgumentError, shown
from ._params import counts, integer, number, unsigned

Sizes: TypeAlias = Mapping[Any, Sequence[int]]
"""By type, the size of each hop; a graph of one type has the type None."""


class BatchSizes(NamedTuple):
    """How large a batch is: the vertices and the edges of each hop, and of a batch around links the links."""

    nodes: Sizes
    edges: Sizes
    links: int | None = None


_MOST = 2**31 - 1
_ROOM = 2  # vertices for padding edges to lead to; `_padder.py` tells why there are two


class Padding:
    """The largest batch: how many vertices and edges it has in each hop. Loaders take it as ``pad``. It can't be changed.

    Parameters
    ----------
    num_nodes : sequence of int, [hops + 1]; or mapping of vertex types to such
        The most new vertices of each hop, the seeds first, without padding; 0 to 2^31 - 1.
    num_edges : sequence of int, [hops]; or mapping of edge types to such
        The most sampled edges of each hop, without padding; 0 to 2^31 - 1.
    num_links : int, optional
        Of batches around links: the most links, without negative ones. The seeds are then the ends of all links.

    Raises
    ------
    ArgumentError
        A ValueError: for numbers out of range, or as many of them as no batch has; types that don't fit.

    Examples
    --------
    >>> padding = tendril.Padding([64, 500], [640])
    >>> padding.num_sampled_nodes, padding.num_sampled_edges
    ([64, 502], [640])
    >>> padding.with_room(0.05)
    Padding(num_nodes=(64, 525), num_edges=(672,))
    """

    __slots__ = ("_edges", "_links", "_nodes")
    __module__ = "tendril"
    _nodes: dict[Any, tuple[int, ...]]
    _edges: dict[Any, tuple[int, ...]]
    _links: int | None

    def __init__(self, num_nodes: Any, num_edges: Any, num_links: int | None = None) -> None:
        if isinstance(num_nodes, Mapping) != isinstance(num_edges, Mapping):
            raise ArgumentError("num_nodes or num_edges is a mapping of types, and the other isn't: expected both, or none")
        object.__setattr__(self, "_nodes", _by_type(num_nodes, "num_nodes"))
        object.__setattr__(self, "_edges", _by_type(num_edges, "num_edges"))
        object.__setattr__(self, "_links", None if num_links is None else integer(num_links, "num_links"))
        if self._links is not None and not 0 <= self._links <= _MOST:
            raise ArgumentError(f"num_links is {self._links}, expected 0 to {_MOST}")
        if not self._nodes or not all(self._nodes.values()):
            raise ArgumentError(f"num_nodes is {shown(num_nodes)}, expected the seeds, and the vertices of each hop")
        for key in self._edges:
            ends = key if isinstance(key, tuple) and len(key) == 3 else (key, None, key)
            if ends[0] not in self._nodes or ends[2] not in self._nodes:
                raise ArgumentError(f"num_edges has the edge type {shown(key)}, expected types of num_nodes at its ends")
        hops = self._num_hops()
        for sizes, many, what in ((self._nodes, hops + 1, "num_nodes"), (self._edges, hops, "num_edges")):
            for key, value in sizes.items():
                if len(value) != many:
                    found = f"{_name(what, key)} has {len(value)} elements"
                    raise ArgumentError(f"{found}, expected {many}: num_nodes has {hops + 1}, the seeds and {hops} hops")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Padding can't be changed: {name}")

    @property
    def num_nodes(self) -> Any:
        """[hops + 1] The most new vertices of each hop, without padding; of several types, a dict."""
        return dict(self._nodes) if None not in self._nodes else self._nodes[None]

    @property
    def num_edges(self) -> Any:
        """[hops] The most edges of each hop, without padding; of several types, a dict."""
        return dict(self._edges) if None not in self._nodes else self._edges[None]

    @property
    def num_links(self) -> int | None:
        """The most links, without negative ones; None of batches around vertices."""
        return self._links

    @property
    def num_sampled_nodes(self) -> Any:
        """[hops + 1] The vertices of each hop of a padded batch: where padding edges may end, at least two more."""
        found = self._padded_nodes()
        return found if None not in found else found[None]

    @property
    def num_sampled_edges(self) -> Any:
        """[hops] The edges of each hop of a padded batch."""
        found = {key: list(many) for key, many in self._edges.items()}
        return found if None not in self._nodes else found[None]

    def with_room(self, share: float) -> Padding:
        """The same with room for larger batches than those that were counted. The number of seeds stays, or that of links:
        how many ends the links have differs.

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

        def more(values: Sequence[int]) -> list[int]:
            made = [value + math.ceil(min(value * factor, _MOST)) for value in values]
            if any(value > _MOST for value in made):
                raise ArgumentError(f"share is {shown(share)}, which makes more than {_MOST} vertices or edges of a hop")
            return made

        kept = 1 if self._links is None else 0
        nodes = {key: [*of[:kept], *more(of[kept:])] for key, of in self._nodes.items()}
        edges = {key: more(of) for key, of in self._edges.items()}
        return _padding(nodes, edges, self._links)

    def _num_hops(self) -> int:
        return max((len(value) for value in self._nodes.values()), default=1) - 1

    def _ends(self) -> dict[Any, tuple[Any, Any]]:
        """The types of each edge type's source and target."""
        return {key: (None, None) if key is None else (key[0], key[2]) for key in self._edges}

    def _padded_nodes(self) -> dict[Any, list[int]]:
        made = {key: list(many) for key, many in self._nodes.items()}
        for hop in range(1, self._num_hops() + 1):
            touched = {end for key, ends in self._ends().items() if self._edges[key][hop - 1] for end in ends}
            for key in touched:
                made[key][hop] += _ROOM
        return made

    def _expect_holds(self, sizes_of_batch: BatchSizes, batch: int) -> None:
        """Checks that a batch of these sizes fits."""
        nodes, edges, links = sizes_of_batch
        if links is not None and self._links is not None and links > self._links:
            raise ArgumentError(f"batch {batch} has {links} links, expected at most {self._links}: pad is too small")
        for found, limits, what in ((nodes, self._nodes, "vertices"), (edges, self._edges, "edges")):
            for key, sizes in found.items():
                of = "" if key is None else f" of {key!r}"
                limit = limits.get(key, ())
                if len(limit) != len(sizes):
                    hops = len(limit) - (what == "vertices")
                    raise ArgumentError(f"batch {batch} has {len(sizes) - (what == 'vertices')} hops{of}, pad has {hops}")
                for i, (size, most) in enumerate(zip(sizes, limit, strict=True)):
                    if size > most:
                        hop = i + (what == "edges")
                        where = f"seeds{of}" if hop == 0 else f"{what}{of} in hop {hop}"
                        raise ArgumentError(f"batch {batch} has {size} {where}, expected at most {most}: pad is too small")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Padding) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash((frozenset(self._nodes.items()), frozenset(self._edges.items()), self._links))

    def __repr__(self) -> str:
        links = "" if self._links is None else f", num_links={self._links}"
        return f"Padding(num_nodes={self.num_nodes}, num_edges={self.num_edges}{links})"

    def __reduce__(self) -> Any:
        return Padding, (self.num_nodes, self.num_edges, self._links)

    def _parts(self) -> tuple[Any, ...]:
        return self._nodes, self._edges, self._links


def _name(what: str, key: Any) -> str:
    return what if key is None else f"{what}[{key!r}]"


def _by_type(given: Any, what: str) -> dict[Any, tuple[int, ...]]:
    sizes = {}
    for key, values in given.items() if isinstance(given, Mapping) else [(None, given)]:
        name = _name(what, key)
        sizes[key] = tuple(counts(values, name))
        for i, value in enumerate(sizes[key]):
            if not 0 <= value <= _MOST:
                raise ArgumentError(f"{name}[{i}] is {value}, expected 0 to {_MOST}")
    return sizes


def _padding(nodes: Sizes, edges: Sizes, links: int | None) -> Padding:
    return Padding(nodes[None], edges[None], links) if None in nodes else Padding(nodes, edges, links)


def largest(batches: Iterable[BatchSizes]) -> Padding | None:
    """The maxima of batches; None without batches."""
    nodes: dict[Any, list[int]] | None = None
    edges: dict[Any, list[int]] = {}
    links: int | None = None
    for one in batches:
        if nodes is None:
            nodes, edges = ({key: [0] * len(many) for key, many in of.items()} for of in (one.nodes, one.edges))
        for known, of in ((nodes, one.nodes), (edges, one.edges)):
            for key, many in of.items():
                known[key] = [max(a, int(b)) for a, b in zip(known[key], many, strict=True)]
        links = links if one.links is None else max(links or 0, one.links)
    return None if nodes is None else _padding(nodes, edges, links)


class Padded(Epochs):
    """The part of a loader that pads its batches."""

    _pad: str | Padding | None = None
    _of_links = False  # whether batches are around links

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
        if isinstance(value, Padding):
            self._expect_fits(value)
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

    def _expect_fits(self, padding: Padding) -> None:
        """Refuses a padding of other types or of another number of hops."""
        nodes, edges, hops = self._layout()
        for found, expected in ((padding._nodes, nodes), (padding._edges, edges)):
            if {*found} != {*expected}:
                types = [[*of] if None not in of else "one type" for of in (found, expected)]
                raise ArgumentError(f"pad has {types[0]}, expected {types[1]}, as the data has")
        if padding._num_hops() != hops:
            raise ArgumentError(f"pad has {padding._num_hops()} hops, expected {hops}: batches have so many")
        if self._of_links and padding.num_links is None:
            raise ArgumentError("pad has no num_links, expected the links of the largest batch")
        if not self._of_links and padding.num_links is not None:
            raise ArgumentError(f"pad has num_links {padding.num_links}, expected None: batches are around vertices")

    def _expect_paddable(self) -> None:
        """Refuses what can't be padded."""
        raise NotImplementedError

    def _expect_order_of_seed(self, why: str) -> None:
        """Refuses orders that can't be known ahead: those that do not follow from the seed and the epoch alone."""

    def _layout(self) -> tuple[Iterable[Any], Iterable[Any], int]:
        """The types of vertices and of edges, None for a graph of one type, and the number of hops."""
        raise NotImplementedError

    def _sizes(self, epoch: int) -> Iterator[BatchSizes]:
        """The sizes of every batch of an epoch, whichever rank makes it."""
        raise NotImplementedError
