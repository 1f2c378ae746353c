"""Random walks and their plans."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _gpu, _place, _tendril
from ._calls import accepts
from ._device_array import DeviceArray
from ._params import fill, integer, limit, threads
from ._errors import ArgumentError, shown
from ._several import shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike

    from ._graph import Graph

    # NumPy arrays or DeviceArrays, depending on the place of the call; a union type would force every caller to
    # distinguish them.
    Walks = tuple[Any, Any]

_RENAMED = {"by": "metapath_of"}


@dataclass(frozen=True)
class Plan:
    """The plan of a call: what would run, and why; ``str(plan)`` describes it in words.

    The rule is part of the definition of a sample. The layout and the tables are not: they only affect speed and
    memory.
    """

    rule: str
    """The rule that chooses a neighbour: "uniform", "scan", "reject", "alias" or "its"."""
    layout: str
    """The source of the rule's numbers: "none" (the graph), "online" (each step) or "table" (built in advance)."""
    grouped_by_label: bool
    """Whether an adjacency grouped by label or type is used."""
    table_bytes: int
    """Bytes of the required tables."""
    table_bytes_built: int
    """Bytes of those tables that earlier calls on this graph have built."""
    table_bytes_refused: int
    """Bytes of the largest table beyond the limit (`table_bytes`); 0 without one."""
    weight_sums: bool
    """Whether sums of weights, kept for every 64th edge, stand in for a table (layout "online"), or decide steps whose
    trials run out."""
    expected_trials: float
    """Mean number of proposals per step, estimated by walks from a fixed sample of edges; 1 without proposals."""
    reasons: tuple[str, ...]
    """One sentence per decision."""

    @classmethod
    def _from_core(cls, plan: _tendril.SamplingPlan) -> Plan:
        return cls(
            plan.rule,
            plan.layout,
            plan.grouped_by_label,
            plan.table_bytes,
            plan.table_bytes_built,
            plan.table_bytes_refused,
            plan.weight_sums,
            plan.expected_trials,
            tuple(plan.reasons),
        )

    def __str__(self) -> str:
        tables = f"{self.table_bytes:,} bytes of tables, {self.table_bytes_built:,} of them built"
        return "\n".join([f"rule {self.rule}, layout {self.layout}, {tables}", *(f"- {why}" for why in self.reasons)])


@shared("starts", "first_walk", each="walks_per_vertex", moves=True)
def random_walk(
    graph: Graph,
    starts: ArrayLike | None = None,
    length: int = 80,
    *,
    weighted: bool = False,
    restart_prob: float = 0.0,
    stop_prob: float = 0.0,
    walks_per_vertex: int = 1,
    seed: int = 0,
    dead_end: str = "stop",
    rule: str = "auto",
    table_bytes: int | None = None,
    dtype: DTypeLike = np.int64,
    first_walk: int = 0,
    device: Any = None,
    order: str = "rows",
    stream: Any = None,
    num_threads: int = 0,
) -> Walks:
    """Walk at random along out-edges.

    Walk ``i`` depends only on the graph, the parameters, the seed, its start and its logical number ``first_walk + i``:
    neither threads, nor a split into batches, nor the device change it. The call releases the GIL. Ctrl-C interrupts a
    call on the CPU.

    Parameters
    ----------
    graph : Graph
    starts : array_like of int, shape [n], optional
        Vertices to start from. Default: every vertex. On a GPU also int32 or int64 arrays in its memory, from any
        library that supports DLPack or the CUDA array interface.
    length : int
        Steps per walk, in [1, 2^31 - 1).
    weighted : bool
        Choose edges in proportion to their weights; False: uniformly.
    restart_prob : float
        Probability of a jump back to the start instead of a step.
    stop_prob : float
        Probability that a walk ends before each step (personalised PageRank).
    walks_per_vertex : int
        Walks from each start, one after another: walk ``j`` of start ``s`` is row ``s * walks_per_vertex + j``.
    seed : int
        In [0, 2^64).
    dead_end : str
        On a vertex that a walk can't leave, the walk ends ("stop") or stays there ("repeat").
    rule : str
        Rule that chooses edges: "auto" (the planner decides, see `plan_walk`), "uniform", "scan", "reject", "alias",
        "its".
    table_bytes : int, optional
        Most bytes of tables that speed the walks up; no limit changes a walk. Default: what fits into memory; on a
        compressed graph, what compression saved.
    dtype : dtype
        Type of vertex ids: int64, or int32, which returns the library's own memory without a conversion (graphs of at
        most 2^31 vertices).
    first_walk : int
        Logical number of the first walk. Use it to continue after an earlier call.
    device : str, optional
        "cpu", "cuda" or "cuda:1". Default: the memory that holds the graph (`Graph.to`). A graph in other memory is
        copied there once; the copy stays with the graph. Several GPUs, as in "cuda:0,1", ["cuda:0", "cuda:1"] or
        "cuda:all", make a part of the samples each, with a copy of the graph each; the result is the same, in the memory
        of the first.
    order : str
        Memory layout of walks. "rows": an array with one walk per row. "ragged": only the vertices of the walks, one
        walk after another, for walks that end early; ``dead_end`` must be "stop". On a GPU also "steps", one step of
        all walks after another, which is faster than "rows" and returns the same array with other strides.
    stream : optional
        On a GPU, the stream to work on: a ``cudaStream_t`` as an integer, or an object with ``__cuda_stream__``,
        ``cuda_stream`` (Torch) or ``ptr`` (CuPy). Default: Torch's current stream if Torch is in use, else CUDA's
        default stream. The call waits for its work on that stream, except for the conversion to int64.
    num_threads : int
        Number of threads on the CPU; 0: every core the process may use.

    Returns
    -------
    walks : ndarray or DeviceArray, shape [n * walks_per_vertex, length + 1]
        One walk per row, the start first; -1 after the end of a walk. From a GPU, the arrays stay in its memory.
    lengths : ndarray or DeviceArray of int32, shape [n * walks_per_vertex]
        Number of steps that each walk took.
    offsets, vertices
        With ``order="ragged"`` instead of these two: walk ``i`` is ``vertices[offsets[i]:offsets[i + 1]]``. `offsets`
        is int64, shape [n * walks_per_vertex + 1]; `vertices` has `dtype`, shape [offsets[-1]].

    Raises
    ------
    ArgumentError
        For a start that is not a vertex, a parameter out of range, weights requested on a graph without weights.
    DeviceError
        If the GPU can't be used; the message gives the reason.
    OutOfMemoryError
        If the result doesn't fit.

    References
    ----------
    Perozzi et al., DeepWalk: online learning of social representations, KDD 2014.

    Examples
    --------
    >>> walks, lengths = tendril.random_walk(tendril.generate.ring(6), [0, 3], length=4, seed=7)
    >>> walks.shape, lengths.tolist()
    ((2, 5), [4, 4])
    >>> offsets, vertices = tendril.random_walk(tendril.generate.ring(6), [0, 3], stop_prob=0.3, seed=1, order="ragged")
    >>> [vertices[a:b].tolist() for a, b in zip(offsets, offsets[1:])]
    [[0, 5], [3, 4, 5, 4, 3, 4, 5, 4]]
    """
    params = fill(
        _tendril.WalkParams(),
        length=length,
        weighted=weighted,
        restart_prob=restart_prob,
        stop_prob=stop_prob,
        seed=seed,
        dead_end=dead_end,
        rule=rule,
        table_bytes=limit(table_bytes, "table_bytes"),
    )
    return _run(graph, starts, params, walks_per_vertex, dtype, first_walk, device, order, stream, num_threads)


@shared("starts", "first_walk", each="walks_per_vertex", moves=True)
def node2vec_walk(
    graph: Graph,
    starts: ArrayLike | None = None,
    length: int = 80,
    p: float = 1.0,
    q: float = 1.0,
    *,
    weighted: bool = False,
    restart_prob: float = 0.0,
    stop_prob: float = 0.0,
    walks_per_vertex: int = 1,
    seed: int = 0,
    dead_end: str = "stop",
    rule: str = "auto",
    table_bytes: int | None = None,
    dtype: DTypeLike = np.int64,
    first_walk: int = 0,
    device: Any = None,
    order: str = "rows",
    stream: Any = None,
    num_threads: int = 0,
) -> Walks:
    """Walk with node2vec's second-order bias.

    From ``v``, reached from ``t``, an edge to ``x`` is chosen in proportion to its weight (or 1) times a factor: 1/p if
    ``x`` is ``t``, 1 if ``t`` has an edge to ``x``, else 1/q.

    Parameters
    ----------
    graph : Graph
    starts : array_like of int, shape [n], optional
    length : int
    p, q : float
        Return and in-out parameters, positive and finite.
    weighted, restart_prob, stop_prob, walks_per_vertex, seed, dead_end, rule, table_bytes, dtype, first_walk,
    device, order, stream, num_threads
        As for `random_walk`.

    Returns
    -------
    walks : ndarray or DeviceArray, shape [n * walks_per_vertex, length + 1]
    lengths : ndarray or DeviceArray of int32, shape [n * walks_per_vertex]
        Both as for `random_walk`, as are `offsets` and `vertices` with ``order="ragged"``.

    Raises
    ------
    ArgumentError
        If p or q is not positive and finite; also as `random_walk`.

    References
    ----------
    Grover and Leskovec, node2vec: scalable feature learning for networks, KDD 2016.

    Examples
    --------
    >>> walks, lengths = tendril.node2vec_walk(tendril.generate.complete(5), [0], length=10, p=4.0, q=0.5)
    >>> walks.shape
    (1, 11)
    """
    params = fill(
        _tendril.WalkParams(),
        length=length,
        p=p,
        q=q,
        second_order=True,
        weighted=weighted,
        restart_prob=restart_prob,
        stop_prob=stop_prob,
        seed=seed,
        dead_end=dead_end,
        rule=rule,
        table_bytes=limit(table_bytes, "table_bytes"),
    )
    return _run(graph, starts, params, walks_per_vertex, dtype, first_walk, device, order, stream, num_threads)


@shared("starts", "first_walk", each="walks_per_vertex", moves=True)
@accepts(renamed=_RENAMED)
def metapath_walk(
    graph: Graph,
    starts: ArrayLike | None,
    metapath: Sequence[int | str],
    length: int | None = None,
    *,
    metapath_of: str = "edges",
    weighted: bool = False,
    restart_prob: float = 0.0,
    stop_prob: float = 0.0,
    walks_per_vertex: int = 1,
    seed: int = 0,
    dead_end: str = "stop",
    rule: str = "auto",
    table_bytes: int | None = None,
    dtype: DTypeLike = np.int64,
    first_walk: int = 0,
    device: Any = None,
    order: str = "rows",
    stream: Any = None,
    num_threads: int = 0,
) -> Walks:
    """Walk along a schema of edge labels or vertex types, as in metapath2vec.

    Parameters
    ----------
    graph : Graph
        The graph must have `edge_labels`, or for ``metapath_of="vertices"`` `node_types`.
    starts : array_like of int, shape [n], optional
    metapath : sequence of int or str
        Labels or types by number, or by name if the graph has names. A walk that is longer repeats the metapath from
        its beginning.
    length : int, optional
        Number of steps. Default: one pass of the metapath: its length, or its length minus one for ``metapath_of="vertices"``.
    metapath_of : str
        "edges": step ``t`` follows an edge with label ``metapath[t]``. "vertices": position ``j``, including the start,
        holds a vertex of type ``metapath[j]``. The earlier names "edge" and "node" are accepted, too.
    weighted, restart_prob, stop_prob, walks_per_vertex, seed, dead_end, rule, table_bytes, dtype, first_walk,
    device, order, stream, num_threads
        As for `random_walk`. A walk is at a dead end if no edge matches.

    Returns
    -------
    walks : ndarray or DeviceArray, shape [n * walks_per_vertex, length + 1]
    lengths : ndarray or DeviceArray of int32, shape [n * walks_per_vertex]
        Both as for `random_walk`, as are `offsets` and `vertices` with ``order="ragged"``.

    Raises
    ------
    ArgumentError
        For a label or type that the graph doesn't have; also as `random_walk`.

    References
    ----------
    Dong et al., metapath2vec: scalable representation learning for heterogeneous networks, KDD 2017.

    Examples
    --------
    >>> graph = tendril.Graph.from_coo([0, 1, 2], [1, 2, 0], labels=[0, 1, 0], edge_label_names=["likes", "by"])
    >>> tendril.metapath_walk(graph, [0], ["likes", "by"])[0].tolist()
    [[0, 1, 2]]
    """
    _place.expect_graph(graph)
    codes = metapath_codes(graph, metapath, metapath_of)
    steps = length if length is not None else max(1, len(codes) - _of_vertices(metapath_of))
    params = fill(
        _tendril.WalkParams(),
        length=steps,
        metapath=codes,
        metapath_of=metapath_of,
        weighted=weighted,
        restart_prob=restart_prob,
        stop_prob=stop_prob,
        seed=seed,
        dead_end=dead_end,
        rule=rule,
        table_bytes=limit(table_bytes, "table_bytes"),
    )
    return _run(graph, starts, params, walks_per_vertex, dtype, first_walk, device, order, stream, num_threads)


@accepts(renamed=_RENAMED)
def plan_walk(
    graph: Graph,
    length: int = 80,
    *,
    num_walks: int | None = None,
    p: float = 1.0,
    q: float = 1.0,
    metapath: Sequence[int | str] = (),
    metapath_of: str = "edges",
    weighted: bool = False,
    restart_prob: float = 0.0,
    stop_prob: float = 0.0,
    rule: str = "auto",
    table_bytes: int | None = None,
    device: Any = None,
    num_threads: int = 0,
) -> Plan:
    """Report how a walk would run, and why, without running it.

    Parameters
    ----------
    graph : Graph
    length : int
    num_walks : int, optional
        Number of walks of the whole job. Default: one per vertex.
    p, q, metapath, metapath_of, weighted, restart_prob, stop_prob, rule, table_bytes, device, num_threads
        As for `random_walk`, `node2vec_walk` and `metapath_walk`.

    Returns
    -------
    Plan

    Raises
    ------
    ArgumentError
        As the walks.

    Examples
    --------
    >>> tendril.plan_walk(tendril.generate.ring(6)).rule
    'uniform'
    """
    _place.expect_graph(graph)
    params = fill(
        _tendril.WalkParams(),
        length=length,
        p=p,
        q=q,
        metapath=[] if isinstance(metapath, (tuple, list)) and not metapath else metapath_codes(graph, metapath, metapath_of),
        metapath_of=metapath_of,
        weighted=weighted,
        restart_prob=restart_prob,
        stop_prob=stop_prob,
        rule=rule,
        table_bytes=limit(table_bytes, "table_bytes"),
    )
    walks = graph.num_vertices if num_walks is None else integer(num_walks, "num_walks")
    place = _place.of_call(graph, device, "rows", None)
    core = graph._core_on(place)
    if place == _gpu.HOST:
        return Plan._from_core(_tendril.plan_walk(core, params, walks, threads(num_threads)))
    return Plan._from_core(_tendril.plan_walk_gpu(core, params, walks, _gpu.stream_handle(None, place)))


def _run(
    graph: Graph,
    starts: ArrayLike | None,
    params: _tendril.WalkParams,
    walks_per_vertex: int,
    dtype: DTypeLike,
    first_walk: int,
    device: Any,
    order: str,
    stream: Any,
    num_threads: int,
) -> Walks:
    repeats = integer(walks_per_vertex, "walks_per_vertex")
    if repeats < 0:
        raise ArgumentError(f"walks_per_vertex is {repeats}, expected 0 or more")
    place = _place.of_call(graph, device, order, stream)
    core = graph._core_on(place)
    if place != _gpu.HOST:
        handle = _gpu.stream_handle(stream, place)
        ids = None if starts is None else _gpu.ids(starts, "starts", 1, place, handle, threads(num_threads))
        common = (core, ids, repeats, params, _arrays.is_int32(dtype), integer(first_walk, "first_walk"))
        if order == "ragged":
            pair = _tendril.ragged_walk_gpu(*common, handle)
        else:
            pair = _tendril.random_walk_gpu(*common, order == "steps", handle)
        return DeviceArray(pair[0]), DeviceArray(pair[1])
    first = np.arange(graph.num_vertices, dtype=np.uint32) if starts is None else _arrays.ids(starts, "starts")
    walk = _tendril.ragged_walk if order == "ragged" else _tendril.random_walk
    return walk(
        core,
        first if repeats == 1 else _arrays.repeated(first, repeats, "starts"),
        params,
        _arrays.is_int32(dtype),
        integer(first_walk, "first_walk"),
        threads(num_threads),
    )


def any_walk(
    graph: Any,
    length: int,
    p: float | None,
    q: float | None,
    metapath: Sequence[int | str] | None,
    metapath_of: str,
    **others: Any,
) -> _tendril.WalkParams:
    """The parameters of a walk of any of the kinds above: without memory unless p or q is given, along a metapath if there is one."""
    is_empty = isinstance(metapath, (tuple, list)) and not metapath
    return fill(
        _tendril.WalkParams(),
        length=length,
        p=1.0 if p is None else p,
        q=1.0 if q is None else q,
        second_order=p is not None or q is not None,
        metapath=[] if metapath is None or is_empty else metapath_codes(graph, metapath, metapath_of),
        metapath_of=metapath_of,
        **others,
    )


def metapath_codes(graph: Any, metapath: Sequence[int | str], metapath_of: str) -> list[int]:
    """The entries of a metapath as numbers."""
    what, names = ("node type", graph.node_type_names) if _of_vertices(metapath_of) else ("edge label", graph.edge_label_names)
    if isinstance(metapath, (str, bytes)) or not isinstance(metapath, Iterable) or len(list(metapath)) == 0:
        raise ArgumentError(f"metapath is {shown(metapath)}, expected a sequence of {what}s, one at least")
    return [_code(entry, i, what, names) for i, entry in enumerate(metapath)]


def _of_vertices(metapath_of: str) -> bool:
    """Whether a metapath lists types of vertices, by any of the names that say so."""
    return fill(_tendril.WalkParams(), metapath_of=metapath_of).metapath_of == "vertices"


def _code(entry: Any, position: int, what: str, names: list[str]) -> int:
    if isinstance(entry, str):
        if entry in names:
            return names.index(entry)
        known = ", ".join(names) if names else "unnamed"
        raise ArgumentError(f"metapath[{position}] is '{entry}', but the {what}s of the graph are {known}")
    try:
        number = operator.index(entry)
    except TypeError:
        number = -1
    if not 0 <= number <= 0xFFFF:
        raise ArgumentError(f"metapath[{position}] is {shown(entry)}, expected a name or an integer in [0, 65535]")
    return number
