"""LABOR-0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _place, _tendril
from ._params import counts, fill

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike

    from ._graph import Graph


@dataclass(frozen=True, eq=False)
class LaborHop:
    """The edges that one hop took, ordered by row, then by position in the graph."""

    edge_index: Any
    """[2, edges] int64: the vertex that asked, and its neighbour, as positions in `LaborBatch.node`."""
    edge: Any
    """[edges] int64: positions in the graph's edge arrays."""
    weights: Any
    """[edges] float32: ``1 / min(1, fanout / degree)``, so that the sum of ``weight * x[col]`` is an unbiased estimate
    of the sum over all neighbours. Normalised: 1 / edges of the row, for the mean over all neighbours."""

    @property
    def row(self) -> Any:
        """[edges] The vertex that asked, for each edge."""
        return self.edge_index[0]

    @property
    def col(self) -> Any:
        """[edges] The neighbour, for each edge."""
        return self.edge_index[1]


@dataclass(frozen=True, eq=False)
class LaborBatch:
    """A mini-batch: renumbered vertices, and the edges of each hop, in NumPy arrays or DeviceArrays."""

    hops: list[LaborHop]
    node: Any
    """[nodes] Graph id of each vertex: seeds first, each once, then by first appearance."""
    num_sampled_nodes: list[int]
    """[hops + 1] Number of vertices first reached by each hop; the seeds first."""


def labor_sample(
    graph: Graph,
    seeds: ArrayLike,
    fanouts: Sequence[int] = (10, 10, 10),
    *,
    normalize: bool = True,
    seed: int = 0,
    batch: int = 0,
    dtype: DTypeLike = np.int64,
    device: Any = None,
    stream: Any = None,
    num_threads: int = 0,
) -> LaborBatch:
    """Sample a mini-batch by LABOR-0: neighbours, hop by hop, with one random number per neighbour.

    Every vertex u has one random number r_u in [0, 1) per hop and batch; all vertices that ask for u share it. Edge v
    -> u is taken if r_u < fanout / deg(v), so v gets min(deg(v), fanout) neighbours in expectation. Vertices of a batch
    tend to choose the same neighbours, so a batch reaches fewer vertices than with independent choices. A hop asks for
    neighbours of all vertices reached so far, including the seeds, as the layers of a GNN do.

    The edges taken depend only on the graph, the parameters, the seed, the number of the batch and the vertices
    reached. Edges are followed in their stored direction. The call releases the GIL.

    Parameters
    ----------
    graph : Graph
    seeds : array_like of int, shape [n]
        Repeated vertices count once. On a GPU also an array in its memory.
    fanouts : sequence of int
        Expected neighbours per vertex, for each hop: >= 1, or -1 for all.
    normalize : bool
        The weights of a vertex's edges add up to 1 (Hajek's estimator).
    seed : int
        In [0, 2^64).
    batch : int
        Number of the batch, in [0, 2^64). Different numbers give different draws.
    dtype : dtype
        Type of `node`: int64, or int32, which returns the library's own memory without a conversion.
    device, stream : optional
        As for `random_walk`. On a GPU the result stays in its memory; the call waits once per hop, for sizes.
    num_threads : int
        Number of threads on the CPU; 0: every core the process may use.

    Returns
    -------
    LaborBatch

    Raises
    ------
    ArgumentError
        For a seed that is not a vertex, a fan-out of 0 or below -1, no fan-out.
    DeviceError
        If the GPU can't be used; the message gives the reason.
    OutOfMemoryError
        If the result doesn't fit.

    References
    ----------
    Balin and Catalyurek, Layer-neighbor sampling: defusing neighborhood explosion in GNNs, NeurIPS 2023.

    Examples
    --------
    >>> batch = tendril.labor_sample(tendril.generate.ring(10), [0, 5], [-1])
    >>> batch.node.tolist()
    [0, 5, 1, 9, 4, 6]
    >>> batch.hops[0].edge_index.tolist()
    [[0, 0, 1, 1], [2, 3, 4, 5]]
    """
    params = fill(
        _tendril.LaborParams(), fanouts=counts(fanouts, "fanouts"), normalize=normalize, seed=seed, batch=batch
    )
    as_int32 = _arrays.is_int32(dtype)
    place = _place.of(graph, device, stream, num_threads)
    sample: Any = _tendril.labor_sample_gpu if place.on_gpu else _tendril.labor_sample
    hops, node, num_nodes = sample(place.core, place.ids(seeds, "seeds"), params, as_int32, place.how)
    return LaborBatch([LaborHop(*map(place.give, hop)) for hop in hops], place.give(node), num_nodes)
