"""Minimal variance sampling."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _arrays, _place, _tendril
from ._params import fill, integer
from ._several import shared

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from ._graph import Graph


class MvsBatch(NamedTuple):
    """One batch: views of the arrays of MvsBatches."""

    vertices: Any
    """[batch_size] Vertices; -1 in slots that stayed empty."""
    probabilities: Any
    """[batch_size] float32: as `MvsBatches.probabilities`."""
    weights: Any
    """[batch_size] float32: as `MvsBatches.weights`."""
    offsets: Any
    """[batch_size + 1] int64, positions in the whole result: slot k has the neighbours ``neighbors[offsets[k] -
    offsets[0]]`` up to, but not including, ``neighbors[offsets[k + 1] - offsets[0]]``."""
    neighbors: Any
    """[edges] All out-neighbours of each slot's vertex, ascending."""
    edges: Any
    """[edges] int64: positions in the graph's edge arrays; None unless requested."""


@dataclass(frozen=True, eq=False)
class MvsBatches:
    """Batches with all their neighbours; `batch` returns one of them. In NumPy arrays or, from a GPU, in
    DeviceArrays."""

    vertices: Any
    """[n, batch_size]: row ``i`` is batch ``i``; -1 in slots that stayed empty."""
    probabilities: Any
    """The same shape, float32: the probability of one draw, importance / sum of all importances; 0 in empty slots."""
    weights: Any
    """The same shape, float32: ``1 / (batch_size * probability)``; 0 in empty slots. With replacement, the sum of
    ``weight * f(vertex)`` is an unbiased estimate of the sum of f over all vertices of positive importance."""
    edge_offsets: Any
    """[n * batch_size + 1] int64: the start of each slot's neighbours."""
    neighbors: Any
    """[edges] All out-neighbours of each slot's vertex, ascending."""
    edges: Any
    """[edges] int64: positions in the graph's edge arrays; None unless requested."""

    @cached_property
    def _cuts(self) -> NDArray[np.int64]:
        return np.asarray(self.edge_offsets)

    def batch(self, i: int) -> MvsBatch:
        """Get batch ``i`` as views. Nothing is copied, except once the offsets from a GPU.

        Returns
        -------
        MvsBatch

        Raises
        ------
        IndexError
            If there is no such batch.
        """
        num_batches, size = self.vertices.shape
        if not 0 <= i < num_batches:
            raise IndexError(f"batch {i} is out of range, there are {num_batches}")
        a, b = (int(self._cuts[j * size]) for j in (i, i + 1))
        return MvsBatch(
            self.vertices[i],
            self.probabilities[i],
            self.weights[i],
            self.edge_offsets[i * size : (i + 1) * size + 1],
            self.neighbors[a:b],
            None if self.edges is None else self.edges[a:b],
        )


@shared("num_samples", "first_sample")
def mvs_sample(
    graph: Graph,
    importances: ArrayLike | None = None,
    num_samples: int = 1,
    batch_size: int = 64,
    *,
    replace: bool = False,
    return_edges: bool = False,
    seed: int = 0,
    first_sample: int = 0,
    dtype: DTypeLike = np.int64,
    device: Any = None,
    stream: Any = None,
    num_threads: int = 0,
) -> MvsBatches:
    """Draw batches of vertices in proportion to an importance per vertex, together with all their neighbours.

    Batch ``i`` depends only on the graph, the importances, the parameters, the seed and its logical number
    ``first_sample + i``. A call takes O(num_vertices) if importances differ; a draw takes O(1). The call releases the
    GIL.

    Parameters
    ----------
    graph : Graph
    importances : array_like of float, shape [num_vertices], optional
        Finite and >= 0; in the paper the norm of each vertex's gradient. Default: all vertices are equally important.
        On a GPU also a float32 array in its memory.
    num_samples : int
        Number of batches, >= 0.
    batch_size : int
        In [1, 16384].
    replace : bool
        Independent draws; False: distinct vertices, by successive draws.
    return_edges : bool
        Also return the positions of edges.
    seed : int
        In [0, 2^64).
    first_sample : int
        Logical number of the first batch.
    dtype : dtype
        Type of vertices and neighbours: int64, or int32, which returns the library's own memory without a conversion.
    device, stream : optional
        As for `random_walk`. On a GPU the result stays in its memory.
    num_threads : int
        Number of threads on the CPU; 0: every core the process may use.

    Returns
    -------
    MvsBatches

    Raises
    ------
    ArgumentError
        For a parameter out of range, a number of importances other than num_vertices, an importance that is negative or
        not finite.
    DeviceError
        If the GPU can't be used; the message gives the reason.
    OutOfMemoryError
        If the result doesn't fit.

    References
    ----------
    Cong, Forsati, Kandemir and Mahdavi, Minimal variance sampling with provable guarantees for fast training of graph
    neural networks, KDD 2020.

    Examples
    --------
    >>> batches = tendril.mvs_sample(tendril.generate.ring(9), [0, 1, 2, 3, 0, 0, 0, 0, 0], 5, batch_size=3)
    >>> sorted(batches.batch(4).vertices.tolist())
    [1, 2, 3]
    """
    params = fill(
        _tendril.MvsParams(), batch_size=batch_size, replace=replace, return_edges=return_edges, seed=seed
    )
    count, first = integer(num_samples, "num_samples"), integer(first_sample, "first_sample")
    as_int32 = _arrays.is_int32(dtype)
    place = _place.of(graph, device, stream, num_threads)
    sample: Any = _tendril.mvs_sample_gpu if place.on_gpu else _tendril.mvs_sample
    made = sample(place.core, place.floats(importances, "importances"), count, params, as_int32, first, place.how)
    return MvsBatches(*map(place.give, made))
