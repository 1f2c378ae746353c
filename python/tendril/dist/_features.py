"""Rows of features that ranks share."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _arrays, _gpu, _tendril
from .._device_array import DeviceArray
from .._errors import ArgumentError
from .._features import FeatureTable as OneTable
from .._features import gather_to, new_rows, read_features, rows_for_gpu, rows_in_range
from .._params import number, threads
from ._graph import Graph, expect_graph
from ._nccl import find_nccl

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class FeaturesReport:
    """What gathers took, in all calls so far."""

    rows: int
    """Asked for by this rank."""
    rows_away: int
    """Those of them that other ranks have."""
    rows_kept: int
    """Those of these that this rank had copies of."""
    sent_bytes: int
    """Sent by this rank during its calls: questions, and answers to the others'."""


class FeatureTable:
    """Rows of features, one for each vertex of a graph in parts; each rank has those of its own vertices.

    The constructors are calls of all ranks; after that each rank gathers whenever it likes, and asks the others for the rows
    that it lacks. Several threads may call; calls release the GIL. On GPUs gathers are calls of all ranks, too.

    Parameters
    ----------
    graph : tendril.dist.Graph
    rows : path, FeatureTable or array
        A row for each vertex of the whole graph, in host memory or, better, in a file that every rank sees: of a mapped file only
        this rank's rows are ever read. If the graph was renumbered ("metis"), rows are given by the old numbers.
    device : str, optional
        The GPU of this rank, "cuda" or "cuda:1": its rows are copied there, and rows that it gathers are arrays in its memory. All ranks
        have a GPU, or none. Where these reach each other's memory, each reads rows where they lie; else rows go from GPU to GPU
        as walkers of `Walker` do.
    hot : float
        Share of all rows, 0 to 1, that every rank keeps a copy of: those of the vertices that most edges lead to
        (`Graph.hot_vertices`). They are copied once, and never asked for; on a GPU to its memory.
    num_threads : int
        Threads for answers; 0: every core the process may use.

    Raises
    ------
    ArgumentError
        If the number of rows is not that of the vertices; as `tendril.FeatureTable`.
    IoError, FormatError
        As `tendril.read_features`.
    RankError
        If ranks have rows of different types or shapes.
    DeviceError
        If the GPU can't be used.
    OutOfMemoryError
        If it has no room for the rows.
    """

    def __init__(
        self, graph: Graph, rows: Any, *, device: Any = None, hot: float = 0.0, num_threads: int = 0
    ) -> None:
        expect_graph(graph)
        table = read_features(rows) if isinstance(rows, (str, os.PathLike)) else rows
        if not isinstance(table, OneTable):
            table = OneTable(table)
        here = _tendril.rows_of_part(table._core, graph._core, threads(num_threads))
        self._take(graph, here, device, hot, num_threads)

    @classmethod
    def of_part(
        cls, graph: Graph, rows: Any, *, device: Any = None, hot: float = 0.0, num_threads: int = 0
    ) -> FeatureTable:
        """The same where each rank gives the rows of its own vertices alone.

        Parameters
        ----------
        graph : tendril.dist.Graph
        rows : FeatureTable or array
            [graph.vertices, …]
        device, hot, num_threads
            As for the constructor.

        Returns
        -------
        FeatureTable
        """
        expect_graph(graph)
        made = cls.__new__(cls)
        table = rows if isinstance(rows, OneTable) else OneTable(rows)
        made._take(graph, table._core, device, hot, num_threads)
        return made

    def _take(
        self, graph: Graph, here: _tendril.FeatureTable, device: Any, hot: float, num_threads: int
    ) -> None:
        share = number(hot, "hot")
        if not 0 <= share <= 1:
            raise ArgumentError(f"hot: {hot}, expected a share, 0 to 1")
        self._graph = graph
        self._place = _gpu.HOST if device is None else _gpu.parse(device)
        where = (threads(num_threads),) if self._place == _gpu.HOST else (self._place, 0)
        if self._place != _gpu.HOST:
            find_nccl()
            here = here.to_lend(self._place)
        self._core = _tendril.ShardedFeatures(graph.ranks._core, here, graph.bounds, *where)
        if share > 0:
            self.keep(graph.hot_vertices(round(share * graph.num_vertices)), num_threads=num_threads)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of all ranks' rows, then the shape of a row."""
        return tuple(self._core.shape)

    @property
    def dtype(self) -> str:
        """Name of the elements' type: "float32", "bfloat16"."""
        return self._core.dtype

    @property
    def device(self) -> str:
        """Where rows are gathered: "cpu" or "cuda:1"."""
        return _gpu.name_of(self._place)

    def __len__(self) -> int:
        return self.shape[0]

    def gather(self, ids: ArrayLike, *, out: Any = None, num_threads: int = 0) -> Any:
        """Gather rows: row ``i`` of the result is row ``ids[i]``.

        Parameters
        ----------
        ids : array_like of int, shape [n]
            Vertices of the whole graph.
        out : array, optional
            [n, …] Contiguous, in host memory, of the table's dtype: a NumPy array, or anything writable with DLPack. On GPUs
            none.
        num_threads : int
            0: every core the process may use.

        Returns
        -------
        ndarray, FeatureTable or DeviceArray
            `out`, or a new array; a table, if its type is bfloat16, which NumPy lacks. On a GPU a DeviceArray in its memory.

        Raises
        ------
        ArgumentError
            Naming the first id that is out of range; for an `out` of another type, shape or layout.
        RankError
            If another rank has failed or fallen silent.
        """
        if self._place != _gpu.HOST:
            with self._graph.ranks._refusing():
                if out is not None:
                    raise ArgumentError("out: rows on a GPU, expected none")
                rows_here = rows_for_gpu(ids, self._core, self._place, 0)
            return DeviceArray(self._core.gather_gpu(rows_here, self._place, 0))
        wanted = np.ascontiguousarray(_arrays.ids(ids, "ids"), np.int64)
        if out is not None:
            gather_to(self._core, wanted, out, num_threads)
            return out
        place, rows = new_rows((len(wanted), *self.shape[1:]), self.dtype)
        self._core.gather_into(wanted, place, threads(num_threads))
        return rows

    def keep(self, ids: ArrayLike, *, num_threads: int = 0) -> None:
        """Copy rows that other ranks have, so that later gathers find them here. Copies of before go. On GPUs a call of all ranks,
        whose copies lie in the memory of the GPU.

        Parameters
        ----------
        ids : array_like of int, shape [n]
            Vertices of the whole graph; those of this rank's own are there already.
        num_threads : int
            0: every core the process may use.

        Raises
        ------
        ArgumentError
            Naming the first id that is out of range.
        OutOfMemoryError
            If there is no room for the copies.
        RankError
            If another rank has failed or fallen silent.
        """
        if self._place != _gpu.HOST:
            with self._graph.ranks._refusing():
                rows = np.ascontiguousarray(rows_in_range(ids, self._core), np.int64)
            self._core.keep_gpu(rows, self._place, 0)
            return
        wanted = np.ascontiguousarray(_arrays.ids(ids, "ids"), np.int64)
        self._core.keep(wanted, threads(num_threads))

    def report(self) -> FeaturesReport:
        """What gathers took so far."""
        return FeaturesReport(*self._core.report())

    def __repr__(self) -> str:
        return f"FeatureTable(shape={self.shape}, dtype='{self.dtype}', {self._graph.ranks.size} ranks)"
