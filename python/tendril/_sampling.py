"""Neighbourhoods as trees, and mini-batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _arrays, _place, _tendril
from ._minibatch import MinibatchSampler
from ._params import counts, fill, flag, integer, limit, threads
from ._several import shared
from ._walks import Plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, DTypeLike

    from ._graph import Graph
    from ._hetero_graph import HeteroGraph


@dataclass(frozen=True)
class KHop:
    """Neighbourhoods as trees: every sampled slot is kept; vertices are not deduplicated.

    In NumPy arrays or, from a GPU, in DeviceArrays.
    """

    fanouts: tuple[int, ...]
    """Neighbours per vertex, for each hop; -1: all."""
    vertices: list[Any]
    """The sampled vertices of each hop: [n, f1], [n, f1, f2], …. A hop that takes all neighbours is flat, [slots], and
    the next hop is [slots, f]. -1 in slots that couldn't be filled."""
    edges: list[Any] | None
    """The positions of the sampled edges in the graph's edge arrays, in the shapes of `vertices`; -1 in empty slots.
    None unless requested."""
    offsets: list[Any]
    """For each hop None or, if the hop is flat, [slots of the previous hop + 1]: the children of slot s are the slots
    ``offsets[s]`` to ``offsets[s + 1]``."""


@shared("seeds", "first_root")
def khop_sample(
    graph: Graph,
    seeds: ArrayLike,
    fanouts: Sequence[int],
    *,
    replace: bool = False,
    weighted: bool = False,
    seed: int = 0,
    rule: str = "auto",
    table_bytes: int | None = None,
    first_root: int = 0,
    return_edges: bool = False,
    dtype: DTypeLike = np.int64,
    device: Any = None,
    stream: Any = None,
    num_threads: int = 0,
) -> KHop:
    """Sample the neighbours of each seed, their neighbours, and so on, as one tree per seed.

    Edges are followed in their stored direction. Tree ``i`` depends only on the graph, the parameters, the seed, its
    root and its logical number ``first_root + i``: neither threads, nor a split into batches, nor the device change it.
    The call releases the GIL. Ctrl-C interrupts a call on the CPU.

    Parameters
    ----------
    graph : Graph
    seeds : array_like of int, shape [n]
        Roots. On a GPU also an array in its memory.
    fanouts : sequence of int
        Neighbours per vertex, for each hop: >= 1, or -1 for all.
    replace : bool
        Draw with replacement. Without replacement, a vertex with at most fan-out neighbours gives all of them.
    weighted : bool
        Draw in proportion to weights; without replacement, draw one neighbour after another.
    seed : int
        In [0, 2^64).
    rule : str
        Rule that chooses neighbours: "auto" or "uniform"; with weights "auto" or "scan"; with weights and replacement
        "auto", "alias" or "its".
    table_bytes : int, optional
        Most bytes of tables, as for `random_walk`.
    first_root : int
        Logical number of the first tree.
    return_edges : bool
        Also return the sampled edges.
    dtype : dtype
        Type of vertex ids: int64, or int32, which returns the library's own memory without a conversion.
    device, stream : optional
        As for `random_walk`.
    num_threads : int
        Number of threads on the CPU; 0: every core the process may use.

    Returns
    -------
    KHop

    Raises
    ------
    ArgumentError
        For a seed that is not a vertex, a fan-out of 0 or below -1, no fan-out, weights requested on a graph without
        weights.
    DeviceError
        If the GPU can't be used; the message gives the reason.
    OutOfMemoryError
        If the result doesn't fit.

    References
    ----------
    Hamilton et al., Inductive representation learning on large graphs, NIPS 2017.

    Examples
    --------
    >>> sample = tendril.khop_sample(tendril.generate.complete(30), [3, 7], [25, 10])
    >>> [hop.shape for hop in sample.vertices]
    [(2, 25), (2, 25, 10)]
    """
    params = fill(
        _tendril.KHopParams(),
        fanouts=counts(fanouts, "fanouts"),
        replace=replace,
        weighted=weighted,
        seed=seed,
        rule=rule,
        table_bytes=limit(table_bytes, "table_bytes"),
    )
    place = _place.of(graph, device, stream, num_threads)
    roots = place.ids(seeds, "seeds")
    first, as_int32 = integer(first_root, "first_root"), _arrays.is_int32(dtype)
    wants_edges = flag(return_edges, "return_edges")
    sample: Any = _tendril.khop_sample_gpu if place.on_gpu else _tendril.khop_sample
    hops = sample(place.core, roots, params, as_int32, first, wants_edges, place.how)
    if not place.on_gpu:
        hops = list(shaped_hops(len(roots), params.fanouts, hops))
    vertices, edges, offsets = ([place.give(hop[i]) for hop in hops] for i in range(3))
    return KHop(tuple(params.fanouts), vertices, edges if wants_edges else None, offsets)


def shaped_hops(num_roots: int, fanouts: Sequence[int], hops: Any) -> Iterator[tuple[Any, Any, Any]]:
    """The flat arrays of the hops as [roots, fan-out, …]; after a hop that takes all neighbours, as [slots, fan-out,
    …]."""
    shape: tuple[int, ...] = (num_roots,)
    for fanout, (vertices, edges, offsets) in zip(fanouts, hops, strict=True):
        shape = (len(vertices),) if offsets is not None else (*shape, fanout)
        yield vertices.reshape(shape), None if edges is None else edges.reshape(shape), offsets


def plan_khop(
    graph: Graph,
    fanouts: Sequence[int],
    *,
    num_roots: int | None = None,
    replace: bool = False,
    weighted: bool = False,
    rule: str = "auto",
    table_bytes: int | None = None,
    device: Any = None,
    num_threads: int = 0,
) -> Plan:
    """Report how `khop_sample` would run, and why, without running it.

    Parameters
    ----------
    graph : Graph
    fanouts, replace, weighted, rule, table_bytes, num_threads
        As for `khop_sample`.
    num_roots : int, optional
        Number of trees of the whole job. Default: one per vertex.
    device : str, optional
        As for `khop_sample`.

    Returns
    -------
    Plan

    Raises
    ------
    ArgumentError
        As `khop_sample`.
    """
    params = fill(
        _tendril.KHopParams(),
        fanouts=counts(fanouts, "fanouts"),
        replace=replace,
        weighted=weighted,
        rule=rule,
        table_bytes=limit(table_bytes, "table_bytes"),
    )
    _place.expect_graph(graph)
    roots = graph.num_vertices if num_roots is None else integer(num_roots, "num_roots")
    core = graph._core_on(_place.of_call(graph, device, "rows", None))
    return Plan._from_core(_tendril.plan_khop(core, params, roots, threads(num_threads)))


class NeighborSample(NamedTuple):
    """A mini-batch: a small graph on renumbered vertices, seeds first.

    In NumPy arrays or, from a GPU, in DeviceArrays. For a HeteroGraph, every field is a dict, by vertex or by edge
    type.
    """

    row: Any
    """[edges] The expanded vertex, as a position in `node`."""
    col: Any
    """[edges] The sampled neighbour, as a position in `node`."""
    node: Any
    """[nodes] Graph id of each vertex: seeds first, then by first appearance."""
    edge: Any
    """[edges] The position of each edge in the graph's edge arrays; None unless requested."""
    batch: Any
    """[nodes] Disjoint samples: the seed (as a position) that each vertex belongs to; else None."""
    num_sampled_nodes: Any
    """Number of new vertices per hop, the seeds first."""
    num_sampled_edges: Any
    """Number of edges per hop."""


def neighbor_sample(
    graph: Graph | HeteroGraph,
    seeds: Any,
    num_neighbors: Any,
    *,
    replace: bool = False,
    weighted: bool = False,
    subgraph_type: str = "directional",
    disjoint: bool = False,
    frontier: str = "new",
    times: Any = None,
    edge_times: ArrayLike | None = None,
    node_times: ArrayLike | None = None,
    temporal_strategy: str = "uniform",
    return_edge_id: bool = True,
    seed: int = 0,
    batch: int = 0,
    table_bytes: int | None = None,
    executor: str = "auto",
    dtype: DTypeLike = np.int64,
    device: Any = None,
    stream: Any = None,
    num_threads: int = 0,
) -> NeighborSample:
    """Sample a mini-batch for a GNN: neighbours, hop by hop, with each vertex once.

    As in pyg-lib, each vertex samples from its stored edges. For PyG's message flow, from sampled vertex to seed, build
    the graph with ``reverse=True``: edges then run from ``col`` to ``row``.

    The draws of a vertex depend only on the graph, the parameters, the seed, the number of the batch, the vertex and
    the hop. CPU and GPU give the same batch. The call releases the GIL. Ctrl-C interrupts a call on the CPU. To make
    many batches use a `MinibatchSampler`, which keeps their scratch memory.

    Parameters
    ----------
    graph : Graph or HeteroGraph
    seeds : array_like of int, shape [n]; or mapping of vertex types to such
        On a GPU also arrays in its memory.
    num_neighbors : sequence of int, or mapping of edge types to such
        Neighbours per vertex, for each hop: >= 0, or -1 for all.
    replace : bool
        Draw with replacement.
    weighted : bool
        Draw in proportion to weights.
    subgraph_type : str
        Edges of the result: the sampled edges ("directional"), the sampled edges and their reverses ("bidirectional"),
        or all edges between its vertices ("induced").
    disjoint : bool
        One subgraph per seed; seeds share no vertices.
    frontier : str
        The vertices that a hop expands: "new", those that the previous hop reached first (PyG), or "all" so far (DGL).
    times : array_like of int, shape [n]; or mapping, optional
        Time of each seed: the seed sees no later edge. Default: all edges.
    edge_times, node_times : array_like of int, optional
        For a `Graph`: times of its edges, [num_edges], or of its vertices, [num_vertices]; with vertex times, an edge
        has the time of the neighbour it leads to. The sample must be disjoint.
    temporal_strategy : str
        The choice among the edges that are not too late: "uniform", or the "last" edges.
    return_edge_id : bool
        Return `edge`.
    seed : int
        In [0, 2^64).
    batch : int
        Number of the batch, in [0, 2^64). Different numbers give different draws.
    table_bytes : int, optional
        As for `MinibatchSampler`.
    executor : str
        On a GPU: "auto", "hops", "graph", "fused" or "persistent". The executor never changes a sample.
    dtype : dtype
        Type of `node`: int64, or int32, which returns the library's own memory without a conversion.
    device, stream : optional
        As for `random_walk`.
    num_threads : int
        Number of threads on the CPU; 0: every core the process may use.

    Returns
    -------
    NeighborSample

    Raises
    ------
    ArgumentError
        For a seed that is not a vertex, a number of neighbours below -1, weights requested on a graph without weights.
    DeviceError
        If the GPU can't be used; the message gives the reason.
    OutOfMemoryError
        If the result doesn't fit.

    Examples
    --------
    >>> sample = tendril.neighbor_sample(tendril.generate.ring(10), [0, 5], [2, 2])
    >>> sample.num_sampled_nodes
    [2, 4, 4]
    """
    wants_edges = flag(return_edge_id, "return_edge_id")
    sampler = MinibatchSampler(
        graph,
        num_neighbors,
        replace=replace,
        weighted=weighted,
        subgraph_type=subgraph_type,
        disjoint=disjoint,
        frontier=frontier,
        temporal_strategy=temporal_strategy,
        edge_times=edge_times,
        node_times=node_times,
        seed=seed,
        table_bytes=table_bytes,
        executor=executor,
        dtype=dtype,
        device=device,
        stream=stream,
        num_threads=num_threads,
    )
    made = sampler.sample(seeds, batch=batch, times=times)
    edge = made.edge if wants_edges else None
    return NeighborSample(
        made.row, made.col, made.node, edge, made.batch, made.num_sampled_nodes, made.num_sampled_edges
    )
