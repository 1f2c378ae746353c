"""Mini-batches of a graph in parts."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _arrays, _gpu, _tendril
from .._errors import ArgumentError
from .._minibatch import Minibatch, minibatch_of
from .._params import fanouts, fill, integer, limit, threads, unsigned
from ._graph import Graph, expect_graph
from ._nccl import find_nccl

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from numpy.typing import ArrayLike, DTypeLike


_ALL = 2**32 - 2  # seeds in one batch


@dataclass(frozen=True)
class SamplerReport:
    """What a sampler's batches took, in all calls so far."""

    num_batches: int
    """Made by this rank."""
    edges: int
    """In these batches."""
    asked: int
    """Vertices whose edges they needed, hop by hop."""
    asked_away: int
    """Those of them that other ranks have."""
    sent_bytes: int
    """Sent by this rank during its calls: questions, and answers to the others'."""


class MinibatchSampler:
    """Makes mini-batches of a graph in parts: those of `tendril.MinibatchSampler` on the whole graph, bit for bit.

    The constructor is a call of all ranks, with equal arguments. After that each rank makes batches whenever it likes, from
    any vertices; hop by hop it asks the ranks that have the vertices for their edges. On GPUs making batches is a call of all
    ranks, too; a rank that needs none calls `sample_batches` without seeds. Several threads may call a sampler; it serves one call
    after another. Calls release the GIL.

    Parameters
    ----------
    graph : tendril.dist.Graph
    num_neighbors : sequence of int
        Neighbours per vertex, for each hop: >= 0, or -1 for all.
    replace, weighted, subgraph_type, disjoint, frontier, choice, normalize, layer_dependency, batch_dependency, seed
        As for `tendril.MinibatchSampler`. Parts have no times.
    table_bytes : int, optional
        The most bytes of this rank's tables; it never changes a batch.
    dtype : dtype
        Type of `Minibatch.node`: int64 or int32.
    device : str, optional
        The GPU of this rank, "cuda" or "cuda:1": its part is copied there, and batches are arrays in its memory. All ranks have a
        GPU, or none. Vertices go to the GPU that has their edges, and picks come back, as walkers of `Walker` do.
    num_threads : int
        Threads for this rank's batches, and for its answers; 0: every core the process may use.

    Raises
    ------
    ArgumentError
        As `tendril.MinibatchSampler`.
    RankError
        If ranks have different graphs, parameters or versions.
    DeviceError
        If the GPU can't be used.
    """

    def __init__(
        self,
        graph: Graph,
        num_neighbors: Any,
        *,
        replace: bool = False,
        weighted: bool = False,
        subgraph_type: str = "directional",
        disjoint: bool = False,
        frontier: str = "new",
        choice: str = "independent",
        normalize: bool = True,
        layer_dependency: bool = False,
        batch_dependency: int = 1,
        seed: int = 0,
        table_bytes: int | None = None,
        dtype: DTypeLike = np.int64,
        device: Any = None,
        num_threads: int = 0,
    ) -> None:
        expect_graph(graph)
        params = fill(
            _tendril.MinibatchParams(),
            **fanouts(num_neighbors, None),
            replace=replace,
            weighted=weighted,
            subgraph_type=subgraph_type,
            disjoint=disjoint,
            frontier=frontier,
            choice=choice,
            normalize=normalize,
            layer_dependency=layer_dependency,
            batch_dependency=batch_dependency,
            seed=seed,
            table_bytes=limit(table_bytes, "table_bytes"),
        )
        params.validate()
        self._graph, self._frontier = graph, frontier
        as_int32 = graph._holds_int32(dtype)
        self._place = _gpu.HOST if device is None else _gpu.parse(device)
        where = (threads(num_threads),) if self._place == _gpu.HOST else (self._place, 0)
        if self._place != _gpu.HOST:
            find_nccl()
        self._core = _tendril.ShardedMinibatchSampler(graph.ranks._core, graph._core, params, as_int32, *where)

    @property
    def graph(self) -> Graph:
        """The graph that batches are made of."""
        return self._graph

    @property
    def device(self) -> str:
        """Where batches are made: "cpu" or "cuda:1"."""
        return _gpu.name_of(self._place)

    def sample(self, seeds: ArrayLike, *, batch: int = 0) -> Minibatch:
        """Make one batch.

        Parameters
        ----------
        seeds : array_like of int, shape [n]
            Vertices of the whole graph; one or more.
        batch : int
            Number of the batch, in [0, 2^64).

        Returns
        -------
        Minibatch

        Raises
        ------
        ArgumentError
            For a seed that is not a vertex.
        RankError
            If another rank has failed or fallen silent.
        """
        with self._checks():
            number = unsigned(batch, "batch")
        made = self._make(seeds, _ALL, number, 1)
        if not made:
            raise ArgumentError("seeds has no elements, expected one or more")
        return made[0]

    def sample_batches(
        self, seeds: ArrayLike, batch_size: int, *, first_batch: int = 0, batch_step: int = 1
    ) -> list[Minibatch]:
        """Make batches ``first_batch``, ``first_batch + batch_step``, … of ``batch_size`` consecutive seeds each. Many
        batches a call are faster: while questions of some are on their way, others are made.

        Parameters
        ----------
        seeds : array_like of int, shape [n]
            The last batch may have fewer.
        batch_size : int
            >= 1.
        first_batch, batch_step : int
            As for `tendril.MinibatchSampler.sample_batches`.

        Returns
        -------
        list of Minibatch

        Raises
        ------
        ArgumentError, RankError
            As `sample`.
        """
        with self._checks():
            first, step = unsigned(first_batch, "first_batch"), unsigned(batch_step, "batch_step")
            size = integer(batch_size, "batch_size")
        return self._make(seeds, size, first, step)

    def _checks(self) -> AbstractContextManager[None]:
        """For checks of arguments: on GPUs other ranks take part in the call."""
        return nullcontext() if self._place == _gpu.HOST else self._graph.ranks._refusing()

    def _make(self, seeds: Any, size: int, first: int, step: int) -> list[Minibatch]:
        made: Any
        if self._place == _gpu.HOST:
            made = self._core.sample_batches(_arrays.ids(seeds, "seeds"), size, first, step)
        else:
            with self._checks():
                ids = _gpu.ids(seeds, "seeds", 1, self._place, 0, 0)
            made = self._core.sample_batches_gpu(ids, size, first, step, self._place, 0)
        return [minibatch_of(one, self._frontier) for one in made]

    def report(self) -> SamplerReport:
        """What the batches took so far."""
        return SamplerReport(*self._core.report())
