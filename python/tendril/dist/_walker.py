"""Random walks over a graph in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _arrays, _gpu, _tendril
from .._custom_walk import CustomWalk, dynamic_params
from .._device_array import DeviceArray
from .._params import integer, limit, string, threads
from .._several import on_host
from .._walks import any_walk
from ._graph import Graph, expect_graph
from ._nccl import find_nccl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from ._ranks import Ranks


class _Walks:
    """What walkers have in common: `_core` walks, in calls of all ranks."""

    _core: _tendril.ShardedWalker
    _ranks: Ranks
    _as_int32: bool
    _place: int = _gpu.HOST

    def _make(self, graph: Graph, job: tuple[Any, ...], device: Any, num_threads: int) -> None:
        self._ranks = graph.ranks
        self._place = _gpu.HOST if device is None else _gpu.parse(device)
        where = (threads(num_threads),) if self._place == _gpu.HOST else (self._place, 0)
        if self._place != _gpu.HOST:
            find_nccl()
        self._core = _tendril.ShardedWalker(graph.ranks._core, graph._core, *job, *where)

    @property
    def reasons(self) -> list[str]:
        """Why walks are made as they are, a sentence each; on GPUs the last one says how walkers travel."""
        return self._core.reasons

    def walk(self, starts: ArrayLike, *, first_walk: int = 0) -> tuple[Any, Any]:
        """Walk from some vertices. A call of all ranks, each with starts of its own, maybe none.

        Parameters
        ----------
        starts : array_like of int, shape [n]
            Vertices of the whole graph.
        first_walk : int
            Logical number of this rank's first walk.

        Returns
        -------
        walks : ndarray or DeviceArray, shape [n, length + 1]
            One walk per row, the start first; -1 after the end of a walk. In the memory of the walker's GPU, if it has one.
        lengths : ndarray or DeviceArray of int32, shape [n]
            Number of steps that each walk took.

        Raises
        ------
        ArgumentError
            For a start that is not a vertex.
        RankError
            If arguments of another rank are wrong, after which ranks may go on; if it has failed or fallen silent.
        """
        ids: Any
        on_cpu = self._place == _gpu.HOST
        with self._ranks._refusing():
            first = integer(first_walk, "first_walk")
            ids = _arrays.ids(starts, "starts") if on_cpu else _gpu.ids(starts, "starts", 1, self._place, 0, 0)
        if on_cpu:
            return self._core.run(ids, self._as_int32, first)
        pair = self._core.run_gpu(ids, self._as_int32, first, self._place, 0)
        return DeviceArray(pair[0]), DeviceArray(pair[1])

    def count(self, starts: ArrayLike, what: str = "visits", *, first_walk: int = 0) -> NDArray[np.int64]:
        """Count the walks of all ranks on the vertices of this rank's part; see `tendril.count_walks`. A call of all ranks, each
        with starts of its own, maybe none. Nothing but walkers travels.

        Parameters
        ----------
        starts : array_like of int, shape [n]
            Vertices of the whole graph.
        what : str
            "visits" or "ends", the same on all ranks.
        first_walk : int
            Logical number of this rank's first walk.

        Returns
        -------
        numpy.ndarray of int64, shape [len(graph.vertices)]
            In host memory; element ``i`` is of vertex ``graph.vertices[i]``.

        Raises
        ------
        ArgumentError
            For a start that is not a vertex, or another word.
        RankError
            If arguments of another rank are wrong, after which ranks may go on; if it has failed or fallen silent, or counts
            something else.
        """
        with self._ranks._refusing():
            first, ids = integer(first_walk, "first_walk"), _arrays.ids(on_host(starts, "starts"), "starts")
            word = string(what, "what")
        return self._core.count(ids, word, first)


class Walker(_Walks):
    """Walks at random over a graph in parts: the walks of `tendril.random_walk`, `node2vec_walk` and `metapath_walk` on the
    whole graph, bit for bit. A walker goes to the rank that has its vertex.

    The constructor, `walk` and `count` are calls of all ranks.

    Parameters
    ----------
    graph : tendril.dist.Graph
    length : int
        Steps per walk.
    weighted, restart_prob, stop_prob, seed, dead_end, rule
        As for `tendril.random_walk`.
    p, q : float, optional
        As for `tendril.node2vec_walk`; default: walks without memory.
    metapath, metapath_of
        As for `tendril.metapath_walk`.
    table_bytes : int, optional
        The most bytes of this rank's tables; it never changes a walk.
    dtype : dtype
        Type of vertex ids: int64 or int32.
    expected_walks : int, optional
        Walks of all ranks and calls, for the plan. Default: one per vertex.
    device : str, optional
        The GPU of this rank, "cuda" or "cuda:1": its part is copied there, walkers step there, and walks are arrays in its memory.
        All ranks have a GPU, or none. Walkers go from GPU to GPU by copies where all are in one machine and reach each other,
        else by NCCL (PyTorch brings it), else by way of host memory; `reasons` tells.
    num_threads : int
        0: every core the process may use.

    Raises
    ------
    ArgumentError
        As the walks.
    RankError
        If ranks have different graphs, parameters or versions.
    DeviceError
        If the GPU can't be used.
    """

    def __init__(
        self,
        graph: Graph,
        length: int = 80,
        *,
        weighted: bool = False,
        restart_prob: float = 0.0,
        stop_prob: float = 0.0,
        p: float | None = None,
        q: float | None = None,
        metapath: Sequence[int | str] | None = None,
        metapath_of: str = "edges",
        seed: int = 0,
        dead_end: str = "stop",
        rule: str = "auto",
        table_bytes: int | None = None,
        dtype: DTypeLike = np.int64,
        expected_walks: int | None = None,
        device: Any = None,
        num_threads: int = 0,
    ) -> None:
        expect_graph(graph)
        params = any_walk(
            graph,
            length,
            p,
            q,
            metapath,
            metapath_of,
            weighted=weighted,
            restart_prob=restart_prob,
            stop_prob=stop_prob,
            seed=seed,
            dead_end=dead_end,
            rule=rule,
            table_bytes=limit(table_bytes, "table_bytes"),
        )
        params.validate()
        self._as_int32 = graph._holds_int32(dtype)
        walks = graph.num_vertices if expected_walks is None else integer(expected_walks, "expected_walks")
        self._make(graph, (params, walks), device, num_threads)


class DynamicWalker(_Walks):
    """Walks over a graph in parts by a struct that computes the weight of an edge at every step: the walks of
    `tendril.dynamic_walk` on the whole graph, bit for bit.

    The struct may read the edges of the walker's own vertex alone, of ``s.graph`` its ``num_vertices`` and ``node_types``, and of
    the state everything but ``previous_edge`` and ``previous_weight()``; another one doesn't compile here. A walker goes to
    the rank that has its vertex.

    The constructor, `walk` and `count` are calls of all ranks.

    Parameters
    ----------
    graph : tendril.dist.Graph
    length : int
        Steps per walk.
    walk : tendril.CustomWalk
        The same on every rank.
    rule, stop_prob, restart_prob, seed, dead_end, dtype
        As for `tendril.dynamic_walk`.
    device : str, optional
        The GPU of this rank, as `Walker`'s.
    num_threads : int
        0: every core the process may use.

    Raises
    ------
    ArgumentError
        As `tendril.dynamic_walk`, and for a struct that reads more than it may, with the compiler's messages.
    RankError
        If ranks have different graphs, structs, parameters or versions.
    DeviceError
        If the GPU can't be used.
    """

    def __init__(
        self,
        graph: Graph,
        length: int,
        walk: CustomWalk,
        *,
        rule: str = "auto",
        stop_prob: float = 0.0,
        restart_prob: float = 0.0,
        seed: int = 0,
        dead_end: str = "stop",
        dtype: DTypeLike = np.int64,
        device: Any = None,
        num_threads: int = 0,
    ) -> None:
        expect_graph(graph)
        params = dynamic_params(walk, length, stop_prob, restart_prob, seed, dead_end, rule)
        self._as_int32 = graph._holds_int32(dtype)
        self._make(graph, (walk._core, params), device, num_threads)
