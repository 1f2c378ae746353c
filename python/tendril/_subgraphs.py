"""Samples that are subgraphs: induced subgraphs, and ShaDow's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _place, _tendril
from ._params import fill, integer
from ._several import shared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from ._graph import Graph


@dataclass(frozen=True, eq=False)
class Subgraph:
    """One sample: views of the arrays of Subgraphs."""

    nodes: Any
    """[nodes] Graph id of each vertex."""
    edge_index: Any
    """[2, edges] int64: both ends of each edge, as positions in `nodes`, ordered by row, then by position in the
    graph."""
    edges: Any
    """[edges] int64: positions in the graph's edge arrays."""

    @property
    def row(self) -> Any:
        """[edges] The vertex whose list holds the edge."""
        return self.edge_index[0]

    @property
    def col(self) -> Any:
        """[edges] The neighbour."""
        return self.edge_index[1]


@dataclass(frozen=True, eq=False)
class Subgraphs:
    """Samples that are subgraphs, stored one after another; `sample` and iteration return single samples.

    In NumPy arrays or, from a GPU, in DeviceArrays. Sample ``i`` has the vertices ``node_offsets[i]`` to
    ``node_offsets[i + 1]`` and the edges ``edge_offsets[i]`` to ``edge_offsets[i + 1]``, in CSR order.
    """

    nodes: Any
    """[nodes] Graph ids."""
    node_offsets: Any
    """[n + 1] int64."""
    edge_index: Any
    """[2, edges] int64: both ends of each edge, as positions within the sample, from 0."""
    edges: Any
    """[edges] int64: positions in the graph's edge arrays."""
    edge_offsets: Any
    """[n + 1] int64."""

    @property
    def row(self) -> Any:
        """[edges] The vertex whose list holds the edge."""
        return self.edge_index[0]

    @property
    def col(self) -> Any:
        """[edges] The neighbour."""
        return self.edge_index[1]

    @property
    def num_samples(self) -> int:
        """Number of samples."""
        return int(self.node_offsets.shape[0]) - 1

    @cached_property
    def _cuts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return np.asarray(self.node_offsets), np.asarray(self.edge_offsets)

    def sample(self, i: int) -> Subgraph:
        """Get sample ``i`` as views. Nothing is copied, except once the offsets from a GPU.

        Returns
        -------
        Subgraph

        Raises
        ------
        IndexError
            If there is no such sample.
        """
        if not 0 <= i < self.num_samples:
            raise IndexError(f"sample {i} is out of range, there are {self.num_samples}")
        (a, b), (c, d) = ((int(cuts[i]), int(cuts[i + 1])) for cuts in self._cuts)
        return Subgraph(self.nodes[a:b], self.edge_index[:, c:d], self.edges[c:d])

    def __len__(self) -> int:
        return self.num_samples

    def __iter__(self) -> Iterator[Subgraph]:
        return (self.sample(i) for i in range(self.num_samples))


def induced_subgraphs(
    graph: Graph,
    nodes: ArrayLike,
    offsets: ArrayLike | None = None,
    *,
    dtype: DTypeLike = np.int64,
    device: Any = None,
    stream: Any = None,
    num_threads: int = 0,
) -> Subgraphs:
    """Make the subgraphs that sets of vertices induce: every edge of the graph whose two ends are in the same set.

    Self loops and parallel edges are kept. The call releases the GIL.

    Parameters
    ----------
    graph : Graph
    nodes : array_like of int, shape [k], or [n, k]
        One set, or one set per row; with ``offsets``, sets of any sizes, one after another. The vertices of a set are
        distinct. On a GPU also an array in its memory.
    offsets : array_like of int, shape [n + 1], optional
        Start of each set: ascending from 0 to ``len(nodes)``. In GPU memory int64.
    dtype : dtype
        Type of `nodes`: int64, or int32, which returns the library's own memory without a conversion.
    device, stream : optional
        As for `random_walk`. On a GPU the result stays in its memory; the call waits for the number of edges.
    num_threads : int
        Number of threads on the CPU; 0: every core the process may use.

    Returns
    -------
    Subgraphs
        ``nodes`` are in the given order.

    Raises
    ------
    ArgumentError
        For offsets that don't partition ``nodes``, a vertex that isn't in the graph, a set with a repeated vertex.
    DeviceError
        If the GPU can't be used; the message gives the reason.
    OutOfMemoryError
        If the result doesn't fit.

    Examples
    --------
    >>> one, other = tendril.induced_subgraphs(tendril.generate.complete(9), [2, 5, 7, 0, 8], offsets=[0, 3, 5])
    >>> one.edge_index.tolist()
    [[0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1]]
    >>> other.nodes.tolist()
    [0, 8]
    """
    as_int32 = _arrays.is_int32(dtype)
    place = _place.of(graph, device, stream, num_threads)
    sets, cuts = _place.cut(nodes, offsets, "nodes", place)
    induce: Any = _tendril.induced_subgraphs_gpu if place.on_gpu else _tendril.induced_subgraphs
    return Subgraphs(*map(place.give, induce(place.core, sets, cuts, as_int32, place.how)))


@shared("seeds", "first_sample")
def shadow_sample(
    graph: Graph,
    seeds: ArrayLike,
    depth: int = 2,
    num_neighbors: int = 10,
    *,
    replace: bool = False,
    seed: int = 0,
    first_sample: int = 0,
    dtype: DTypeLike = np.int64,
    device: Any = None,
    stream: Any = None,
    num_threads: int = 0,
) -> Subgraphs:
    """Sample ShaDow's subgraph around each seed: the vertices of ``depth`` hops of uniform draws, and all edges
    between.

    Hop h draws from the out-edges of the vertices that hop h - 1 reached first. A vertex is in a sample once: the seed
    first, then by first appearance. Sample ``i`` depends only on the graph, the parameters, the seed, its root and its
    logical number ``first_sample + i``. The call releases the GIL.

    Parameters
    ----------
    graph : Graph
    seeds : array_like of int, shape [n]
        One sample per seed; a vertex may be the seed of many samples. On a GPU also an array in its memory.
    depth : int
        Hops, in [1, 64].
    num_neighbors : int
        Draws per vertex, in [1, 1024].
    replace : bool
        Draw with replacement. Without replacement, a vertex of at most ``num_neighbors`` edges gives all of them.
    seed : int
        In [0, 2^64).
    first_sample : int
        Logical number of the first sample.
    dtype, device, stream, num_threads
        As for `induced_subgraphs`.

    Returns
    -------
    Subgraphs
        The seed is vertex 0 of its sample.

    Raises
    ------
    ArgumentError
        For a seed that is not a vertex, a parameter out of range.
    DeviceError
        If the GPU can't be used; the message gives the reason.
    OutOfMemoryError
        If the result doesn't fit.

    References
    ----------
    Zeng et al., Decoupling the depth and scope of graph neural networks, NeurIPS 2021.

    Examples
    --------
    >>> samples = tendril.shadow_sample(tendril.generate.ring(10), [4, 9], depth=2)
    >>> [sample.nodes.tolist() for sample in samples]
    [[4, 3, 5, 2, 6], [9, 0, 8, 1, 7]]
    """
    params = fill(_tendril.ShadowParams(), depth=depth, num_neighbors=num_neighbors, replace=replace, seed=seed)
    first, as_int32 = integer(first_sample, "first_sample"), _arrays.is_int32(dtype)
    place = _place.of(graph, device, stream, num_threads)
    sample: Any = _tendril.shadow_sample_gpu if place.on_gpu else _tendril.shadow_sample
    made = sample(place.core, place.ids(seeds, "seeds"), params, as_int32, first, place.how)
    return Subgraphs(*map(place.give, made))
