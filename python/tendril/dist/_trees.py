"""k-hop trees of a graph in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _arrays, _gpu, _tendril
from .._device_array import DeviceArray
from .._params import counts, fill, flag, integer, limit, threads
from .._sampling import KHop, shaped_hops
from ._graph import Graph, expect_graph
from ._nccl import find_nccl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike


class KHopSampler:
    """Grows k-hop trees of a graph in parts: those of `tendril.khop_sample` on the whole graph, bit for bit.

    The constructor is a call of all ranks, with equal arguments; after that each rank samples whenever it likes. On GPUs
    sampling is a call of all ranks, too.

    Parameters
    ----------
    graph : tendril.dist.Graph
    fanouts : sequence of int
        Neighbours per vertex, for each hop: >= 1, or -1 for all.
    replace, weighted, seed, rule
        As for `tendril.khop_sample`.
    table_bytes : int, optional
        The most bytes of this rank's tables; it never changes a tree.
    dtype : dtype
        Type of vertex ids: int64 or int32.
    device : str, optional
        The GPU of this rank, "cuda" or "cuda:1": its part is copied there, and trees are arrays in its memory. All ranks have a GPU, or
        none. Slots go to the GPU that has their vertex, and picks come back, as walkers of `Walker` do. Where a fan-out is -1,
        each hop of a call has fewer than 2^31 slots a rank.
    num_threads : int
        Threads for this rank's trees, and for its answers; 0: every core the process may use.

    Raises
    ------
    ArgumentError
        As `tendril.khop_sample`, and for trees that GPUs don't take.
    RankError
        If ranks have different graphs, parameters or versions.
    DeviceError
        If the GPU can't be used.
    """

    def __init__(
        self,
        graph: Graph,
        fanouts: Sequence[int],
        *,
        replace: bool = False,
        weighted: bool = False,
        seed: int = 0,
        rule: str = "auto",
        table_bytes: int | None = None,
        dtype: DTypeLike = np.int64,
        device: Any = None,
        num_threads: int = 0,
    ) -> None:
        expect_graph(graph)
        self._params = fill(
            _tendril.KHopParams(),
            fanouts=counts(fanouts, "fanouts"),
            replace=replace,
            weighted=weighted,
            seed=seed,
            rule=rule,
            table_bytes=limit(table_bytes, "table_bytes"),
        )
        self._params.validate()
        as_int32 = graph._holds_int32(dtype)
        self._ranks = graph.ranks
        self._place = _gpu.HOST if device is None else _gpu.parse(device)
        where = (threads(num_threads),) if self._place == _gpu.HOST else (self._place, 0)
        if self._place != _gpu.HOST:
            find_nccl()
        self._core = _tendril.ShardedKhopSampler(graph.ranks._core, graph._core, self._params, as_int32, *where)

    def sample(self, seeds: ArrayLike, *, first_root: int = 0, return_edges: bool = False) -> KHop:
        """Grow a tree from each seed.

        Parameters
        ----------
        seeds : array_like of int, shape [n]
            Vertices of the whole graph.
        first_root : int
            Logical number of the first seed.
        return_edges : bool
            Also return the positions of the edges; on GPUs all ranks ask for them, or none.

        Returns
        -------
        KHop

        Raises
        ------
        ArgumentError
            For a seed that is not a vertex, and for a call whose hops have too many slots on GPUs.
        RankError
            If another rank has failed or fallen silent.
        """
        if self._place != _gpu.HOST:
            with self._ranks._refusing():
                wants_edges = flag(return_edges, "return_edges")
                first = integer(first_root, "first_root")
                ids = _gpu.ids(seeds, "seeds", 1, self._place, 0, 0)
            trees = self._core.sample_gpu(ids, first, wants_edges, self._place, 0)
            picked = [DeviceArray(hop[0]) for hop in trees]
            numbers = [DeviceArray(hop[1]) for hop in trees if hop[1] is not None]
            starts = [None if hop[2] is None else DeviceArray(hop[2]) for hop in trees]
            return KHop(tuple(self._params.fanouts), picked, numbers if wants_edges else None, starts)
        wants_edges = flag(return_edges, "return_edges")
        roots = _arrays.ids(seeds, "seeds")
        made = self._core.sample(roots, integer(first_root, "first_root"), wants_edges)
        hops = list(shaped_hops(len(roots), self._params.fanouts, made))
        vertices, edges, offsets = ([hop[i] for hop in hops] for i in range(3))
        return KHop(tuple(self._params.fanouts), vertices, edges if wants_edges else None, offsets)
