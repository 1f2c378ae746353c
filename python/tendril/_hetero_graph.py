"""Graphs of several types of vertices and edges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from . import _arrays, _gpu, _pickles, _placement, _tendril
from ._errors import ArgumentError, FormatError
from ._graph import Graph
from ._params import flag, integer, threads

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

EdgeType: TypeAlias = tuple[str, str, str]
"""Source type, relation, target type."""


class HeteroGraph(_pickles.Unchanging):
    """A graph of several types of vertices and edges, for mini-batches. Vertices are numbered from 0 within their type.

    Parameters
    ----------
    num_nodes : mapping of str to int
        Number of vertices of each type. The order of the types, and of ``edges``, is part of the definition of a
        mini-batch.
    edges : mapping of (str, str, str) to Graph or to a pair of arrays
        For each edge type (source type, relation, target type): a `Graph` whose vertices are the vertices of both
        types, or a pair of arrays with the sources and targets of the edges. A vertex is expanded along its stored
        edges, as everywhere in tendril; see ``reverse``.
    weights : mapping of (str, str, str) to array_like of float, optional
        Weights of edges that are given as arrays.
    edge_times : mapping of (str, str, str) to array_like of int, optional
        Time of each edge, in the order of the given edges: a seed with a time sees no later edges.
    node_times : mapping of str to array_like of int, optional
        Time of each vertex: an edge then has the time of the neighbour it leads to.
    reverse : bool
        Expand vertices against the direction of edges, as PyG does: messages flow from source to target, so a target
        samples from its sources. Arrays are reversed automatically. A `Graph` must already be reversed
        (``reverse=True`` when it is built): it holds the edges of the targets.
    num_threads : int
        Number of threads; 0: every core the process may use.

    Raises
    ------
    ArgumentError
        For an edge type between unknown types, an end that is not a vertex of its type, arrays of different lengths.

    Examples
    --------
    >>> graph = tendril.HeteroGraph(
    ...     {"author": 3, "paper": 2}, {("author", "writes", "paper"): ([0, 1, 2], [0, 0, 1])}, reverse=True
    ... )
    >>> graph.edges["author", "writes", "paper"].num_edges
    3
    """

    __slots__ = ("__weakref__", "_copies", "_core", "_edges", "_num_nodes", "_reverse")

    def __init__(
        self,
        num_nodes: Mapping[str, int],
        edges: Mapping[EdgeType, Any],
        *,
        weights: Mapping[EdgeType, ArrayLike] | None = None,
        edge_times: Mapping[EdgeType, ArrayLike] | None = None,
        node_times: Mapping[str, ArrayLike] | None = None,
        reverse: bool = False,
        num_threads: int = 0,
    ) -> None:
        for known, what in ((num_nodes, "num_nodes"), (edges, "edges")):
            _expect_mapping(known, what)
        self._num_nodes = {name: integer(count, f"num_nodes[{name!r}]") for name, count in num_nodes.items()}
        for name, count in self._num_nodes.items():
            if count < 0:
                raise ArgumentError(f"num_nodes[{name!r}] is {count}, expected 0 or more")
        self._reverse = flag(reverse, "reverse")
        self._edges: dict[EdgeType, Graph] = {}
        self._copies: dict[int, _tendril.HeteroGraph] = {}
        for given, what, known in (
            (weights, "weights", edges),
            (edge_times, "edge_times", edges),
            (node_times, "node_times", num_nodes),
        ):
            if given is not None:
                _expect_mapping(given, what)
            for key in given or {}:
                if key not in known:
                    raise ArgumentError(f"{what} has the key {key!r}, expected one of {list(known)}")
        born = {
            name: _arrays.times(value, f"node_times[{name!r}]") for name, value in (node_times or {}).items()
        }
        for name, times in born.items():
            if len(times) != self._num_nodes[name]:
                expected = self._num_nodes[name]
                raise ArgumentError(f"node_times[{name!r}] has {len(times)} times, expected {expected}")
        workers = threads(num_threads)
        types = []
        for key, value in edges.items():
            graph = self._graph_of(key, value, (weights or {}).get(key), workers)
            self._edges[key] = graph
            order = self._order_of(key, graph, value, (edge_times or {}).get(key), born, workers)
            core = graph._on_host(f"edges[{key!r}]")
            types.append((self._number(key[2 if self._reverse else 0]), self._number(key[0 if self._reverse else 2]), core, order))
        self._core = _tendril.HeteroGraph.of_types(list(self._num_nodes.values()), types)

    def __reduce__(self) -> Any:
        core = self._core_on(_gpu.HOST)
        times = {
            key: born
            for i, (key, edges) in enumerate(self._edges.items())
            if (born := _pickles.edge_times(core, i, edges)) is not None
        }
        return _pickles.made_by, (
            HeteroGraph, (self._num_nodes, self._edges), {"edge_times": times, "reverse": self._reverse}
        )

    def _number(self, name: str) -> int:
        return list(self._num_nodes).index(name)

    def _graph_of(self, key: EdgeType, value: Any, weights: Any, num_threads: int) -> Graph:
        if not (isinstance(key, tuple) and len(key) == 3):
            raise ArgumentError(f"edges: an edge type is {key!r}, expected (source type, relation, target type)")
        for name in (key[0], key[2]):
            if name not in self._num_nodes:
                raise ArgumentError(f"edge type {key!r}: no vertex type {name!r}, expected one of {[*self._num_nodes]}")
        if isinstance(value, Graph):
            if weights is not None:
                raise ArgumentError(f"weights[{key!r}] are given, but its edges are a Graph, which has weights itself")
            value._on_host(f"edges[{key!r}]")
            neighbors = key[0 if self._reverse else 2]
            what = f"edges[{key!r}]: the neighbour of edge"
            _expect_below(value.to_csr().indices, self._num_nodes[neighbors], what, neighbors)
            return value
        try:
            source, target = value
        except (TypeError, ValueError):
            raise ArgumentError(f"edges[{key!r}] is {type(value).__name__}, expected a Graph or two arrays") from None
        for ends, name, what in ((source, key[0], "source"), (target, key[2], "target")):
            _expect_below(ends, self._num_nodes[name], f"edges[{key!r}]: {what}", name)
        try:
            return Graph.from_coo(
                source,
                target,
                weights=weights,
                num_vertices=max(self._num_nodes[key[0]], self._num_nodes[key[2]]),
                reverse=self._reverse,
                keep_edge_ids=True,
                num_threads=num_threads,
            )
        except (ArgumentError, FormatError) as error:  # add the name of the edge type
            raise type(error)(f"edges[{key!r}]: {error}") from None

    def _order_of(
        self, key: EdgeType, graph: Graph, value: Any, edge_times: Any, node_times: Any, num_threads: int
    ) -> _tendril.TemporalOrder | None:
        neighbors = key[0] if self._reverse else key[2]
        if edge_times is not None:
            if neighbors in node_times:
                raise ArgumentError(f"edge type {key!r} has edge_times, and node_times[{neighbors!r}]: expected either")
            times = _arrays.times(edge_times, f"edge_times[{key!r}]")
            if not isinstance(value, Graph):
                if len(times) != graph.num_edges:
                    raise ArgumentError(f"edge_times[{key!r}] has {len(times)} times, expected {graph.num_edges}")
                ids = graph.edge_ids
                times = times if ids is None else times[ids]
            return _tendril.TemporalOrder.of(graph._core, times, False, num_threads)
        if neighbors not in node_times:
            return None
        return _tendril.TemporalOrder.of(graph._core, node_times[neighbors], True, num_threads)

    def to(self, device: Any) -> HeteroGraph:
        """Get the same graph in the memory of a GPU, or in host memory. The copy stays with this graph. A graph that has
        no room in the GPU's free memory is placed in three quarters of it, as `place` does.

        Parameters
        ----------
        device : str
            "cuda" (the first GPU), "cuda:1", "cpu"; or a ``torch.device``.

        Returns
        -------
        HeteroGraph
            This graph, if it already is in that memory.
        """
        place = _gpu.parse(device)
        if place == self._core.device:
            return self
        return self._like(self._core_on(place))

    def place(
        self,
        gpu_bytes: int | str | None = None,
        policy: str = "visits",
        *,
        share: str = "auto",
        num_neighbors: Any = (15, 10, 5),
        replace: bool = False,
        weighted: bool = False,
        starts: Mapping[str, ArrayLike] | None = None,
        num_samples: int = 0,
        batch_size: int = 1024,
        seed: int = 0,
        device: Any = "cuda",
    ) -> HeteroGraph:
        """Get the same graph on a GPU as far as it has room there; other lists of neighbours lie in host memory, where
        kernels read them over the bus. All mini-batches stay the same.

        Parameters
        ----------
        gpu_bytes : int or str, optional
            GPU memory for all edge types together: bytes, or text as in "8G". Default: nine tenths of the free memory.
        policy : str
            "visits": the lists that mini-batches read most per byte lie on the GPU, whatever their edge type.
            "degree": the longest.
        share : str
            As in `Graph.place`.
        num_neighbors, replace, weighted
            The mini-batches that are counted, as in `MinibatchSampler`. Any others can be made, too.
        starts : mapping of one str to array_like of int, optional
            The vertex type of the seeds, and the seeds that batches are drawn from. Default: every type in turn.
        num_samples, batch_size, seed : int
            The seeds that are counted (0: as many as the graph needs), those of a batch, and the seed of their choice.
        device : str

        Returns
        -------
        HeteroGraph
            With `device` and `placement`.

        Raises
        ------
        ArgumentError
            For a parameter out of range, or a graph that lies on a GPU as a whole.
        OutOfMemoryError
            If ``gpu_bytes`` doesn't hold the directories of all edge types, or memory runs out.
        DeviceError
            If that GPU can't be used, or has no concurrent access to managed memory.
        """
        if starts is not None:
            _expect_mapping(starts, "starts")
            if len(starts) != 1 or next(iter(starts)) not in self._num_nodes:
                raise ArgumentError(f"starts has the keys {[*starts]}, expected one of {[*self._num_nodes]}")
        name, seeds = next(iter(starts.items())) if starts else (None, None)
        job = _placement.batches(num_neighbors, self.edges, replace, weighted)
        other = self._like(
            _placement.place_types(
                self._core,
                gpu_bytes,
                policy,
                share,
                job,
                -1 if name is None else self._number(name),
                seeds,
                num_samples,
                batch_size,
                seed,
                device,
            )
        )
        other._copies = {_gpu.HOST: self._core_on(_gpu.HOST)}
        return other

    @property
    def placement(self) -> dict[EdgeType, dict[str, Any]] | None:
        """What lies where of each edge type, as `Graph.placement`; None for a graph that isn't placed."""
        each = self._core.placement
        return None if each is None else dict(zip(self._edges, each, strict=True))

    def _like(self, core: _tendril.HeteroGraph) -> HeteroGraph:
        """The same graph in another place."""
        other = object.__new__(HeteroGraph)
        other._num_nodes, other._reverse, other._edges = self._num_nodes, self._reverse, self._edges
        other._copies, other._core = self._copies, core
        return other

    def _core_on(self, place: int) -> _tendril.HeteroGraph:
        if place == self._core.device:
            return self._core
        core = self._copies.get(place)
        if core is None:
            here = self._core.device
            if here != _gpu.HOST:
                raise ArgumentError(f"the graph is on {self.device}, expected the one in host memory that it came from")
            self._copies[here] = self._core
            core = self._copies.setdefault(place, self._core.fit_on_gpu(_gpu.graph_room(), place))
        return core

    @property
    def device(self) -> str:
        """The memory that holds the graph: "cpu" or "cuda:0"."""
        return _gpu.name_of(self._core.device)

    @property
    def num_nodes(self) -> dict[str, int]:
        """Number of vertices of each type; a copy."""
        return dict(self._num_nodes)

    @property
    def edges(self) -> dict[EdgeType, Graph]:
        """The edges of each type, in host memory, in the numbering of mini-batches; a copy of the mapping. For edges
        given as arrays, `Graph.edge_ids` holds their positions in these arrays."""
        return dict(self._edges)

    @property
    def reverse(self) -> bool:
        """Whether targets are expanded and sources are their neighbours."""
        return self._reverse

    @property
    def has_times(self) -> bool:
        """Whether any edge type has times."""
        return self._core.has_times

    def __repr__(self) -> str:
        edges = {key: graph.num_edges for key, graph in self._edges.items()}
        return f"HeteroGraph(num_nodes={self._num_nodes}, num_edges={edges}, device='{self.device}')"


def _expect_mapping(given: Any, what: str) -> None:
    if not isinstance(given, Mapping):
        raise ArgumentError(f"{what} is a {type(given).__name__}, expected a mapping")


def _expect_below(ends: Any, count: int, what: str, name: str) -> None:
    array = _arrays.as_array(ends, what)
    if array.size and array.dtype.kind in "iu":
        bad = int(array.max()) if int(array.max()) >= count else int(array.min())
        if not 0 <= bad < count:
            place = int(np.flatnonzero(array == bad)[0])
            raise ArgumentError(f"{what} {place} is {bad}, expected a vertex of type {name!r} in [0, {count})")
