"""Mini-batches and their samplers."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _arrays, _gpu, _pickles, _place, _tendril
from ._device_array import DeviceArray
from ._errors import ArgumentError, shown
from ._graph import Graph
from ._hetero_graph import EdgeType, HeteroGraph
from ._params import fanouts, fill, integer, limit, string, threads, unsigned
from ._several import join, on_host, side_by_side
from ._walks import Plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike


@dataclass(frozen=True, eq=False)
class Block:
    """One hop of a mini-batch as a block of DGL: edges from its source vertices to its destination vertices. The
    destinations are the first of the sources. For a graph of several types, every field is a dict."""

    src_nodes: Any
    """[num_src] Graph ids."""
    dst_nodes: Any
    """[num_dst] Graph ids: the first elements of `src_nodes`."""
    row: Any
    """[edges] The destination of each edge, as a position in `dst_nodes`; ascending."""
    col: Any
    """[edges] The source (the neighbour), as a position in `src_nodes`."""
    edge: Any
    """[edges] Positions in the graph's edge arrays."""
    indptr: Any
    """[num_dst + 1] CSC: destination i has the edges ``indptr[i] - first_edge`` to ``indptr[i + 1] - first_edge``."""
    first_edge: Any
    """int: the position of the block's first edge in the mini-batch."""
    weights: Any
    """[edges] float32, as `Minibatch.weights`; None unless the choice is "labor"."""


@dataclass(frozen=True, eq=False)
class Minibatch:
    """A mini-batch: a small graph on renumbered vertices, seeds first, in NumPy arrays or, from a GPU, in DeviceArrays.
    For a graph of several types, every field is a dict: by vertex type, or by edge type."""

    row: Any
    """[edges] The expanded vertex, as a position in `node` (of its type)."""
    col: Any
    """[edges] The neighbour, as a position in `node` (of its type)."""
    node: Any
    """[nodes] Graph id of each vertex: seeds first, then by first appearance."""
    edge: Any
    """[edges] The position of each edge in the graph's edge arrays."""
    weights: Any
    """[edges] float32, of the choice "labor": ``1 / min(1, fanout / degree)``, so that the sum of ``weight * x[col]``
    over the edges of a row is an unbiased estimate of the sum over all neighbours; normalised: 1 / edges of the row,
    for the mean over all neighbours. Else, and if edges other than the sampled ones are there, None."""
    batch: Any
    """[nodes] Disjoint: the seed (as a position) that each vertex belongs to; else None."""
    indptr: Any
    """CSR of the same edges (CSC, for message flow): the i-th expanded vertex, counted over all hops, has the edges
    ``indptr[i]`` to ``indptr[i + 1]``. None if bidirectional."""
    first_expanded: Any
    """[hops] The first vertex that each hop expands, as a position in `node`; [1] if induced."""
    num_expanded: Any
    """[hops] Number of consecutive vertices that each hop expands; [1] if induced."""
    num_sampled_nodes: Any
    """[hops + 1] Number of new vertices per hop, the seeds first."""
    num_sampled_edges: Any
    """[hops] Number of sampled edges per hop."""
    _frontier: str
    _ends: dict[EdgeType, tuple[str, str]] | None

    def blocks(self) -> list[Block]:
        """The hops as DGL's blocks, the outermost first: the order in which a model applies its layers.

        The blocks are views of this batch's arrays. ``dgl.create_block(("csc", (b.indptr - b.first_edge, b.col, [])),
        num_src, num_dst)`` makes a DGL block of block b.

        Returns
        -------
        list of Block

        Raises
        ------
        ArgumentError
            If the batch wasn't made with ``frontier="all"``, whose hops expand all vertices so far, as DGL's hops do;
            or if it holds edges other than the sampled ones.
        """
        one = self._ends is None
        if self._frontier != "all":
            raise ArgumentError(f"blocks: the batch was made with frontier '{self._frontier}', expected 'all'")
        if any(indptr is None for indptr in ([self.indptr] if one else self.indptr.values())):
            raise ArgumentError("blocks: the batch has reverse edges, expected subgraph_type 'directional'")
        if one:
            sizes = list(accumulate(self.num_sampled_nodes))
            edges = self._hops([getattr(self, name) for name in _EDGE_FIELDS])
            hops = [
                Block(self.node[: sizes[h + 1]], self.node[: sizes[h]], *part) for h, part in enumerate(edges)
            ]
            return hops[::-1]
        of_type = {name: list(accumulate(many)) for name, many in self.num_sampled_nodes.items()}
        parts = {
            key: self._hops([None if (of := getattr(self, name)) is None else of[key] for name in _EDGE_FIELDS])
            for key in self.row
        }
        blocks = []
        for h in reversed(range(max((len(many) for many in of_type.values()), default=1) - 1)):
            nodes = [{name: self.node[name][: of_type[name][i]] for name in of_type} for i in (h + 1, h)]
            fields: list[Any] = [{key: part[h][i] for key, part in parts.items()} for i in range(6)]
            if self.weights is None:
                fields[5] = None
            blocks.append(Block(*nodes, *fields))
        return blocks

    @staticmethod
    def _hops(fields: list[Any]) -> list[Any]:
        row, col, edge, indptr, expanded, sampled, weights = fields
        if len(expanded) != len(sampled) or sum(sampled) != len(row):
            raise ArgumentError("blocks: the batch is induced, expected subgraph_type 'directional'")
        cuts, rows = list(accumulate(sampled, initial=0)), list(accumulate(expanded, initial=0))
        return [
            (row[a:b], col[a:b], edge[a:b], indptr[first : last + 1], a, None if weights is None else weights[a:b])
            for a, b, first, last in zip(cuts, cuts[1:], rows, rows[1:], strict=False)
        ]


_EDGE_FIELDS = ("row", "col", "edge", "indptr", "num_expanded", "num_sampled_edges", "weights")


class MinibatchSampler:
    """Makes mini-batches of one graph with one set of parameters, and keeps their scratch memory.

    A vertex samples from its stored edges, as in pyg-lib; for message flow towards the seeds build the graph with
    ``reverse=True``. The draws of a vertex depend only on the graph, the parameters, the seed, the number of the batch,
    the vertex (and the seed's position, if disjoint), the edge type and the hop. Neither threads, nor other batches of
    the same call, nor the device change a batch.

    Several threads may call a sampler; it serves one call after another. Calls release the GIL.

    Parameters
    ----------
    graph : Graph or HeteroGraph
    num_neighbors : sequence of int, or mapping of edge types to such
        Neighbours per vertex, for each hop: >= 0, or -1 for all. For a `HeteroGraph`: one list for all edge types, or
        one list per edge type; edge types that are missing in a mapping aren't followed.
    replace : bool
        Draw with replacement.
    weighted : bool
        Draw in proportion to weights; without replacement, draw one neighbour after another. Not with times.
    subgraph_type : str
        Edges of a batch: the sampled edges ("directional"), the sampled edges followed by their reverses
        ("bidirectional", for one edge type), or all edges between its vertices ("induced").
    disjoint : bool
        One subgraph per seed; seeds share no vertices.
    frontier : str
        The vertices that a hop expands: "new", the vertices that the previous hop reached first, as in PyG; "all", all
        vertices of the batch so far, with new draws, as in DGL.
    temporal_strategy : str
        The choice among the edges that are not too late: "uniform", or the "last" edges.
    choice : str
        How a vertex chooses its neighbours: "independent", as many as the fan-out, by draws of its own; or "labor",
        LABOR-0: every neighbour u has one random number r_u in [0, 1) per batch, hop and vertex type (and per seed, if
        disjoint), and edge v -> u is taken if r_u < fanout / degree(v), so v gets min(degree, fanout) neighbours in
        expectation. Vertices of a batch then tend to choose the same neighbours, and a batch reaches fewer vertices.
        Not with ``replace``, ``weighted`` or the last edges.
    normalize : bool
        LABOR: the weights of a vertex's edges add up to 1 (Hajek's estimator).
    layer_dependency : bool
        LABOR: all hops of a batch share the random numbers.
    batch_dependency : int
        LABOR: a vertex keeps its random number for so many consecutive batches, >= 1, so that they reach much the same
        vertices; different vertices change theirs at different batches. 1: batches are independent.
    edge_times, node_times : array_like of int, optional
        For a `Graph`: times of its edges, [num_edges], or of its vertices, [num_vertices]; with vertex times, an edge
        has the time of the neighbour it leads to. Batches must be disjoint.
    seed : int
        In [0, 2^64).
    table_bytes : int, optional
        The most bytes of tables, >= 0: for weighted draws with replacement. It changes speed and memory, never a batch.
        Default: on a compressed graph what compression saved, else what memory allows.
    executor : str
        On a GPU: "auto", "hops", "graph" or "fused" (small batches), or "persistent" (frontier "all"). The executor never
        changes a batch.
    dtype : dtype
        Type of `Minibatch.node`: int64, or int32, which returns the library's own memory without a conversion.
    device, stream : optional
        As for `random_walk`; the sampler makes all batches on that stream. Several GPUs share the batches of
        `sample_batches`; `sample` uses the first.
    num_threads : int
        Number of threads on the CPU; 0: every core the process may use.

    Raises
    ------
    ArgumentError
        For fan-outs below -1, of different lengths or for an unknown edge type; weights requested on a graph without
        weights; times without ``disjoint``; LABOR with what it excludes.
    DeviceError
        If the GPU can't be used; the message gives the reason.

    References
    ----------
    Balin and Catalyurek, Layer-neighbor sampling: defusing neighborhood explosion in GNNs, NeurIPS 2023.

    Examples
    --------
    >>> sampler = tendril.MinibatchSampler(tendril.generate.ring(10), [2, 2], frontier="all")
    >>> batch = sampler.sample([0, 5])
    >>> [len(block.dst_nodes) for block in batch.blocks()]
    [6, 2]
    >>> labor = tendril.MinibatchSampler(tendril.generate.complete(20), [5], choice="labor").sample([0, 1, 2])
    >>> len(labor.node) <= 3 + labor.num_sampled_nodes[1]
    True
    """

    def __init__(
        self,
        graph: Graph | HeteroGraph,
        num_neighbors: Any,
        *,
        replace: bool = False,
        weighted: bool = False,
        subgraph_type: str = "directional",
        disjoint: bool = False,
        frontier: str = "new",
        temporal_strategy: str = "uniform",
        choice: str = "independent",
        normalize: bool = True,
        layer_dependency: bool = False,
        batch_dependency: int = 1,
        edge_times: ArrayLike | None = None,
        node_times: ArrayLike | None = None,
        seed: int = 0,
        table_bytes: int | None = None,
        executor: str = "auto",
        dtype: DTypeLike = np.int64,
        device: Any = None,
        stream: Any = None,
        num_threads: int = 0,
    ) -> None:
        self._ends: dict[EdgeType, tuple[str, str]] | None = None
        if isinstance(graph, HeteroGraph):
            self._ends = {key: (key[0], key[2]) for key in graph.edges}
        self._types = list(graph.num_nodes) if isinstance(graph, HeteroGraph) else [""]
        self._frontier = frontier
        options = {
            "replace": replace,
            "weighted": weighted,
            "subgraph_type": subgraph_type,
            "disjoint": disjoint,
            "frontier": frontier,
            "temporal_strategy": temporal_strategy,
            "choice": choice,
            "normalize": normalize,
            "layer_dependency": layer_dependency,
            "batch_dependency": batch_dependency,
            "seed": seed,
            "table_bytes": limit(table_bytes, "table_bytes"),
        }
        params = fill(_tendril.MinibatchParams(), **fanouts(num_neighbors, self._ends), **options)
        several = None if device is None else _gpu.parse_several(device)
        if several is not None:
            if stream is not None:
                raise ArgumentError("stream is given, expected none: each of several GPUs has its own")
            device = _gpu.name_of(several[0])
        as_int32 = _arrays.is_int32(dtype)
        core: _tendril.HeteroGraph
        if isinstance(graph, HeteroGraph):
            if edge_times is not None or node_times is not None:
                raise ArgumentError("edge_times and node_times are a HeteroGraph's own: give them to its constructor")
            self._device = graph._core.device if device is None else _gpu.parse(device)
            if self._device == _gpu.HOST:
                _gpu.expect_no_stream(stream)
            self._num_threads = threads(num_threads)
            self._stream = 0 if self._device == _gpu.HOST else _gpu.stream_handle(stream, self._device)
            core = graph._core_on(self._device)
        else:
            place = _place.of(graph, device, stream, num_threads)
            self._device, self._num_threads, self._stream = place.device, place.num_threads, place.how
            core = _tendril.HeteroGraph.of_one(place.core, _order(place, edge_times, node_times))
        if self._device == _gpu.HOST:
            if string(executor, "executor") != "auto":
                raise ArgumentError(f"executor is {shown(executor)}, expected 'auto' on the CPU")
            self._core = _tendril.MinibatchSampler(core, params, as_int32, self._num_threads)
        else:
            self._core = _tendril.MinibatchSampler(core, params, as_int32, executor, self._stream)
        self._input = core
        workers = self._num_threads if self._device == _gpu.HOST else 0
        self._made_of = graph, num_neighbors, {**options, "dtype": np.dtype(dtype).name, "num_threads": workers}
        how: dict[str, Any] = {**options, "edge_times": edge_times, "node_times": node_times, "executor": executor}
        self._others = [
            MinibatchSampler(graph, num_neighbors, **how, dtype=dtype, device=_gpu.name_of(number))
            for number in (several or [])[1:]
        ]

    def __reduce__(self) -> Any:
        """Another process gets a sampler on the CPU, whose batches are the same."""
        graph, num_neighbors, options = self._made_of
        if self._ends is None:
            options = {**options, "edge_times": _pickles.edge_times(self._input, 0, graph)}
        return _pickles.made_by, (MinibatchSampler, (graph, num_neighbors), {**options, "device": "cpu"})

    @property
    def device(self) -> str:
        """The device that makes the batches, or that gets them from several: "cpu" or "cuda:0"."""
        return _gpu.name_of(self._device)

    def sample(self, seeds: Any, *, batch: int = 0, times: Any = None) -> Minibatch:
        """Make one batch.

        Parameters
        ----------
        seeds : array_like of int, shape [n]; or mapping of vertex types to such
            Vertices. A seed that is given twice is one vertex, or two subgraphs of a disjoint batch. On a GPU also an
            array in its memory.
        batch : int
            Number of the batch, in [0, 2^64). Different numbers give different draws.
        times : array_like of int, shape [n]; or mapping, optional
            Time of each seed: the seed sees no later edge. Default: all edges.

        Returns
        -------
        Minibatch

        Raises
        ------
        ArgumentError
            For a seed that is not a vertex, an unknown type, times of another length.
        OutOfMemoryError
            If the result doesn't fit.
        """
        ids = [self._ids(value, name) for name, value in self._by_type(seeds, "seeds").items()]
        when = [] if times is None else [
            self._times(value, name) for name, value in self._by_type(times, "times").items()
        ]
        number = unsigned(batch, "batch")
        if self._device == _gpu.HOST:
            return self._given(self._core.sample(ids, when, number))
        return self._given(self._core.sample_gpu(ids, when, number))

    def sample_batches(
        self,
        seeds: ArrayLike,
        batch_size: int,
        *,
        node_type: str | None = None,
        first_batch: int = 0,
        batch_step: int = 1,
        times: ArrayLike | None = None,
    ) -> list[Minibatch]:
        """Make batches ``first_batch``, ``first_batch + batch_step``, … of ``batch_size`` consecutive seeds each. The
        result equals that of one call per batch, and is faster.

        Parameters
        ----------
        seeds : array_like of int, shape [n]
            The last batch may have fewer.
        batch_size : int
            >= 1.
        node_type : str, optional
            Type of the seeds, in a graph of several types.
        first_batch : int
            Number of the first batch.
        batch_step : int
            From the number of a batch to the next one's, >= 0: the number of ranks, if ranks make an epoch's batches in
            turn. Numbers wrap at 2^64.
        times : array_like of int, shape [n], optional
            As for `sample`.

        Returns
        -------
        list of Minibatch

        Raises
        ------
        ArgumentError, OutOfMemoryError
            As `sample`.
        """
        given = self._group(seeds, batch_size, node_type, first_batch, batch_step, times)
        return self._shared(*given) if self._others else self._batches(*given)

    def _group(self, seeds: Any, size: Any, node_type: Any, first: Any, step: Any, times: Any) -> _Group:
        if self._ends is None and node_type is not None:
            raise ArgumentError(f"node_type is {shown(node_type)}, expected None: the graph has one type of vertices")
        name = self._types[0] if self._ends is None else node_type
        if name not in self._types:
            raise ArgumentError(f"node_type is {shown(node_type)}, expected one of {self._types}")
        numbers = unsigned(first, "first_batch"), unsigned(step, "batch_step")
        return _Group(name, seeds, integer(size, "batch_size"), *numbers, times)

    def _batches(self, name: str, seeds: Any, size: int, first: int, step: int, times: Any) -> list[Minibatch]:
        """The batches of `sample_batches`, made by one device."""
        many: Any = self._core.sample_batches if self._device == _gpu.HOST else self._core.sample_batches_gpu
        return [self._given(made) for made in many(*self._of_core(_Group(name, seeds, size, first, step, times)))]

    def _of_core(self, group: _Group) -> tuple[Any, ...]:
        """The arguments of the library."""
        ids = self._ids(group.seeds, group.node_type)
        when = [] if group.times is None else [self._times(group.times, group.node_type)]
        return self._types.index(group.node_type), ids, group.size, group.first, group.step, when

    @property
    def _is_on_one_gpu(self) -> bool:
        return self._device != _gpu.HOST and not self._others

    def _sample_group(
        self, seeds: Any, batch_size: int, *, node_type: Any = None, first_batch: int = 0, batch_step: int = 1, times: Any = None
    ) -> Any:
        """What the library makes of a call of `sample_batches` on one GPU, with the arrays in few pieces of memory."""
        given = self._group(seeds, batch_size, node_type, first_batch, batch_step, times)
        return self._core.sample_group_gpu(*self._of_core(given))

    def _shared(self, name: str, seeds: Any, size: int, first: int, step: int, times: Any) -> list[Minibatch]:
        """The same, made by several GPUs, in the memory of the first."""
        samplers = [self, *self._others]
        ids, when = on_host(seeds, "seeds"), None if times is None else on_host(times, "times")
        num_batches = -(-len(ids) // max(size, 1))
        cuts = [num_batches * i // len(samplers) for i in range(len(samplers) + 1)]

        def make(i: int) -> list[Minibatch]:
            part = slice(cuts[i] * size, cuts[i + 1] * size)
            start = (first + cuts[i] * step) % 2**64
            return samplers[i]._batches(name, ids[part], size, start, step, None if when is None else when[part])

        busy = [functools.partial(make, i) for i in range(len(samplers)) if cuts[i] < cuts[i + 1]]
        made = side_by_side(busy, lambda: self._batches(name, ids, size, first, step, when))
        return [join([batch], self.device) for part in made for batch in part]

    def _by_type(self, given: Any, what: str) -> dict[str, Any]:
        """The given value for each vertex type, or nothing."""
        return {"": given} if self._ends is None else by_type(given, what, self._types)

    def _ids(self, value: Any, name: str) -> Any:
        what = f"seeds[{name!r}]" if name else "seeds"
        if self._device == _gpu.HOST:
            return _arrays.ids(value, what)
        return _gpu.ids(value, what, 1, self._device, self._stream, self._num_threads)

    def _times(self, value: Any, name: str) -> Any:
        what = f"times[{name!r}]" if name else "times"
        if self._device == _gpu.HOST:
            return _arrays.times(value, what)
        return _gpu.values(value, what, np.int64, self._device, self._stream)

    def _given(self, made: Any) -> Minibatch:
        if self._ends is not None:
            return hetero_minibatch(made, self._types, self._ends, self._frontier)
        return minibatch_of(made, self._frontier)


class _Group(NamedTuple):
    """A call for several batches."""

    node_type: str
    seeds: Any
    size: int
    first: int
    step: int
    times: Any


def minibatch_of(made: Any, frontier: str) -> Minibatch:
    """The Minibatch of what the library returns for a graph of one type."""
    vertices, edges = made
    node, batch, sampled = map(_array, vertices[0])
    row, col, edge, weights, indptr, first, expanded, hops = map(_array, edges[0])
    return Minibatch(row, col, node, edge, weights, batch, indptr, first, expanded, sampled, hops, frontier, None)


def by_type(given: Any, what: str, types: list[str]) -> dict[str, Any]:
    """The given value for each vertex type, or nothing."""
    if not isinstance(given, Mapping):
        raise ArgumentError(f"{what} are {type(given).__name__}, expected a mapping of vertex types to arrays")
    for name in given:
        if name not in types:
            raise ArgumentError(f"{what} has the vertex type {name!r}, expected one of {types}")
    return {name: given.get(name, _NONE) for name in types}


def hetero_minibatch(made: Any, types: list[str], ends: dict[EdgeType, tuple[str, str]], frontier: str) -> Minibatch:
    """The Minibatch of what the library returns for a graph of several types."""
    vertices, edges = made
    nodes, batches, sampled = ([_array(one) for one in many] for many in zip(*vertices, strict=True))
    fields = [[_array(one) for one in many] for many in zip(*edges, strict=True)] or [[]] * 8
    row, col, edge, weights, indptr, first, expanded, hops = [dict(zip(ends, field, strict=True)) for field in fields]
    labor = None if all(one is None for one in weights.values()) else weights
    node, trees, many = [dict(zip(types, field, strict=True)) for field in (nodes, batches, sampled)]
    batch = None if all(one is None for one in batches) else trees
    return Minibatch(row, col, node, edge, labor, batch, indptr, first, expanded, many, hops, frontier, ends)


def plan_minibatch(
    graph: Graph | HeteroGraph,
    *,
    replace: bool = False,
    weighted: bool = False,
    choice: str = "independent",
    table_bytes: int | None = None,
    device: Any = None,
    num_threads: int = 0,
) -> Plan:
    """Report which tables a `MinibatchSampler` would take, and why, without making it.

    Parameters
    ----------
    graph : Graph or HeteroGraph
    replace, weighted, choice, table_bytes, num_threads
        As for `MinibatchSampler`; its other parameters, fan-outs too, take no tables.
    device : str, optional
        As for `MinibatchSampler`.

    Returns
    -------
    Plan
        The rule is that of weighted draws, else "uniform"; the tables are those of all edge types together.

    Raises
    ------
    ArgumentError
        As `MinibatchSampler`.

    Examples
    --------
    >>> graph = tendril.generate.rmat(10, 16, weights=(1, 5)).compress("auto")
    >>> plan = tendril.plan_minibatch(graph, weighted=True, replace=True)
    >>> plan.rule, plan.weight_sums
    ('alias', True)
    """
    params = fill(
        _tendril.MinibatchParams(),
        replace=replace,
        weighted=weighted,
        choice=choice,
        table_bytes=limit(table_bytes, "table_bytes"),
    )
    if isinstance(graph, HeteroGraph):
        core = graph._core_on(graph._core.device if device is None else _gpu.parse(device))
    else:
        place = _place.of_call(graph, device, "rows", None)
        core = _tendril.HeteroGraph.of_one(graph._core_on(place), None)
    return Plan._from_core(_tendril.plan_minibatch(core, params, threads(num_threads)))


_NONE = np.empty(0, np.int64)


def _array(given: Any) -> Any:
    """Converts an array of the library to the form that users get."""
    return DeviceArray(given) if isinstance(given, _tendril.GpuArray) else given


def _order(place: _place.Place, edge_times: Any, node_times: Any) -> _tendril.TemporalOrder | None:
    if edge_times is None and node_times is None:
        return None
    if edge_times is not None and node_times is not None:
        raise ArgumentError("edge_times and node_times are given, expected one of them")
    of_vertices = edge_times is None
    value, what = (node_times, "node_times") if of_vertices else (edge_times, "edge_times")
    shape, of_each = _gpu.shape_of(value, what), "vertex" if of_vertices else "edge"
    count = place.core.num_vertices if of_vertices else place.core.num_edges
    if shape != (count,):
        raise ArgumentError(f"{what} has shape {shape}, expected ({count},): one time of each {of_each}")
    if place.on_gpu:
        there = _gpu.values(value, what, np.int64, place.device, place.how)
        return _tendril.TemporalOrder.of_gpu(place.core, there, of_vertices, place.how)
    return _tendril.TemporalOrder.of(place.core, _arrays.times(value, what), of_vertices, place.num_threads)
