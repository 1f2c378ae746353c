"""ClusterGCN: clusters of vertices, and batches of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _gpu, _pickles, _place, _tendril
from ._errors import ArgumentError, shown
from ._params import fill, integer
from ._several import shared
from ._subgraphs import Subgraphs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from ._graph import Graph


class Clusters(_pickles.Unchanging):
    """Vertices grouped by cluster. `group_clusters` makes it; it serves any number of batches."""

    __slots__ = ("__weakref__", "_core")

    def __init__(self, core: _tendril.VertexClusters) -> None:
        if not isinstance(core, _tendril.VertexClusters):
            raise ArgumentError(f"Clusters({shown(core)}): expected the result of group_clusters")
        self._core = core

    def __reduce__(self) -> Any:
        core = self._core
        on_gpu = core.device != _gpu.HOST
        vertices, offsets = map(_pickles.host_array, core.arrays_gpu(0) if on_gpu else core.arrays(0))
        cluster_of = np.empty(len(vertices), np.uint32)
        numbers = np.arange(self.num_clusters, dtype=np.uint32)
        cluster_of[vertices] = _arrays.repeated(numbers, np.diff(offsets), "clusters")
        return _of_vertices, (cluster_of, self.num_clusters)

    @property
    def num_clusters(self) -> int:
        """Number of clusters, including empty ones."""
        return self._core.num_clusters

    @property
    def num_vertices(self) -> int:
        """Number of vertices of all clusters."""
        return self._core.num_vertices

    @property
    def device(self) -> str:
        """The memory that holds the clusters: "cpu" or "cuda:0"."""
        return _gpu.name_of(self._core.device)

    def samples_per_epoch(self, clusters_per_sample: int = 20) -> int:
        """Number of samples of an epoch, which has every cluster once: num_clusters / clusters_per_sample, rounded
        up."""
        size = integer(clusters_per_sample, "clusters_per_sample")
        if size < 1:
            raise ArgumentError(f"clusters_per_sample: {size}, expected 1 or more")
        return -(-self.num_clusters // size)

    def __len__(self) -> int:
        return self.num_clusters

    def __repr__(self) -> str:
        return f"Clusters(num_clusters={self.num_clusters}, num_vertices={self.num_vertices}, device='{self.device}')"


def cluster_vertices(
    graph: Graph,
    num_clusters: int,
    *,
    method: str = "contiguous",
    seed: int = 0,
    dtype: DTypeLike = np.int64,
    device: Any = None,
    stream: Any = None,
    num_threads: int = 0,
) -> Any:
    """Partition the vertices of a graph into clusters.

    Parameters
    ----------
    graph : Graph
    num_clusters : int
        In [1, num_vertices].
    method : str
        "contiguous": consecutive ids; "random": a random order, cut the same way; "metis": METIS' k-way partition of
        the graph, ignoring directions, loops and parallel edges. The first call with "metis" loads METIS
        (libmetis.so.5, in Debian's package libmetis5). METIS runs on the host with a fixed seed of its own, and its
        result depends on its version.
    seed : int
        Seed of "random", in [0, 2^64).
    dtype : dtype
        Type of the ids: int64, or int32, which returns the library's own memory without a conversion.
    device, stream : optional
        As for `random_walk`. On a GPU the result stays in its memory.
    num_threads : int
        Number of threads on the CPU; 0: every core the process may use.

    Returns
    -------
    ndarray or DeviceArray, shape [num_vertices]
        The cluster of each vertex, in [0, num_clusters).

    Raises
    ------
    ArgumentError
        For a parameter out of range.
    IoError
        If METIS is requested and can't be loaded.
    DeviceError
        If the GPU can't be used; the message gives the reason.

    Examples
    --------
    >>> tendril.cluster_vertices(tendril.generate.ring(7), 3).tolist()
    [0, 0, 0, 1, 1, 2, 2]
    """
    params = fill(_tendril.ClusteringParams(), num_clusters=num_clusters, method=method, seed=seed)
    as_int32 = _arrays.is_int32(dtype)
    place = _place.of(graph, device, stream, num_threads)
    cut: Any = _tendril.cluster_vertices_gpu if place.on_gpu else _tendril.cluster_vertices
    return place.give(cut(place.core, params, as_int32, place.how))


def group_clusters(
    graph: Graph,
    cluster_of: ArrayLike,
    num_clusters: int | None = None,
    *,
    device: Any = None,
    stream: Any = None,
    num_threads: int = 0,
) -> Clusters:
    """Group the vertices of a graph by cluster. The result serves any number of batches.

    Parameters
    ----------
    graph : Graph
    cluster_of : array_like of int, shape [num_vertices]
        The cluster of each vertex, from `cluster_vertices` or any other source. On a GPU also an array in its memory.
    num_clusters : int, optional
        Number of clusters, larger than every cluster number; clusters may be empty. Default: the largest cluster number
        plus one; for an array in GPU memory the host then waits for this value.
    device, stream, num_threads : optional
        As for `cluster_vertices`.

    Returns
    -------
    Clusters

    Raises
    ------
    ArgumentError
        For another number of vertices; for the first cluster that is out of range.
    DeviceError
        If the GPU can't be used; the message gives the reason.

    Examples
    --------
    >>> tendril.group_clusters(tendril.generate.ring(5), [0, 1, 1, 0, 1])
    Clusters(num_clusters=2, num_vertices=5, device='cpu')
    """
    return _grouped(graph, cluster_of, num_clusters, "cluster_of", device, stream, num_threads)


@shared("num_samples", "first_sample")
def cluster_sample(
    graph: Graph,
    clusters: Clusters | ArrayLike,
    clusters_per_sample: int = 20,
    num_samples: int | None = None,
    *,
    seed: int = 0,
    first_sample: int = 0,
    dtype: DTypeLike = np.int64,
    device: Any = None,
    stream: Any = None,
    num_threads: int = 0,
) -> Subgraphs:
    """Sample ClusterGCN's batches: the subgraphs that a few clusters induce, including the edges between the clusters.

    An epoch is a random order of all clusters, cut into samples of ``clusters_per_sample`` (the last may have fewer).
    With B samples per epoch, logical sample ``i`` is sample ``i mod B`` of epoch ``i // B``, in any call. It depends
    only on the graph, the clusters, the parameters, the seed and ``i``. The call releases the GIL.

    Parameters
    ----------
    graph : Graph
    clusters : Clusters, or array_like of int, shape [num_vertices]
        The result of `group_clusters`; or the cluster of each vertex, which this call then groups.
    clusters_per_sample : int
        At least 1.
    num_samples : int, optional
        Number of samples, >= 0. Default: one epoch.
    seed : int
        In [0, 2^64).
    first_sample : int
        Logical number of the first sample.
    dtype : dtype
        Type of `nodes`: int64, or int32, which returns the library's own memory without a conversion.
    device, stream : optional
        As for `random_walk`. On a GPU the clusters must be in its memory, and the result stays there.
    num_threads : int
        Number of threads on the CPU; 0: every core the process may use.

    Returns
    -------
    Subgraphs
        The vertices of a sample are in the order in which their clusters were drawn.

    Raises
    ------
    ArgumentError
        For a parameter out of range, clusters of another number of vertices, or clusters in other memory.
    DeviceError
        If the GPU can't be used; the message gives the reason.
    OutOfMemoryError
        If the result doesn't fit.

    References
    ----------
    Chiang et al., Cluster-GCN: an efficient algorithm for training deep and large graph convolutional networks, KDD
    2019.

    Examples
    --------
    >>> ring = tendril.generate.ring(12)
    >>> clusters = tendril.group_clusters(ring, tendril.cluster_vertices(ring, 4))
    >>> [sample.nodes.size for sample in tendril.cluster_sample(ring, clusters, clusters_per_sample=2)]
    [6, 6]
    """
    params = fill(_tendril.ClusterParams(), clusters_per_sample=clusters_per_sample, seed=seed)
    first, as_int32 = integer(first_sample, "first_sample"), _arrays.is_int32(dtype)
    place = _place.of(graph, device, stream, num_threads)
    groups = _groups(graph, clusters, place, device, stream, num_threads)
    epoch = groups.samples_per_epoch(clusters_per_sample)
    count = epoch if num_samples is None else integer(num_samples, "num_samples")
    sample: Any = _tendril.cluster_sample_gpu if place.on_gpu else _tendril.cluster_sample
    return Subgraphs(*map(place.give, sample(place.core, groups._core, params, count, as_int32, first, place.how)))


def cluster_subgraphs(
    graph: Graph,
    clusters: Clusters | ArrayLike,
    lists: ArrayLike,
    offsets: ArrayLike | None = None,
    *,
    dtype: DTypeLike = np.int64,
    device: Any = None,
    stream: Any = None,
    num_threads: int = 0,
) -> Subgraphs:
    """Make the subgraphs of clusters that the caller chooses, including the edges between the clusters.

    Parameters
    ----------
    graph : Graph
    clusters : Clusters, or array_like of int, shape [num_vertices]
        As for `cluster_sample`.
    lists : array_like of int, shape [k], or [n, k]
        The clusters of one sample, or one sample per row; with ``offsets``, lists of any lengths, one after another.
    offsets : array_like of int, shape [n + 1], optional
        Start of each list: ascending from 0 to ``len(lists)``. In GPU memory int64.
    dtype, device, stream, num_threads
        As for `cluster_sample`.

    Returns
    -------
    Subgraphs
        The vertices of a sample are in the order of its list.

    Raises
    ------
    ArgumentError
        For offsets that don't partition ``lists``, a cluster out of range or twice in a sample; also as
        `cluster_sample`.
    DeviceError, OutOfMemoryError
        As `cluster_sample`.

    Examples
    --------
    >>> ring = tendril.generate.ring(6)
    >>> tendril.cluster_subgraphs(ring, [0, 0, 1, 1, 2, 2], [[2, 0]]).nodes.tolist()
    [4, 5, 0, 1]
    """
    as_int32 = _arrays.is_int32(dtype)
    place = _place.of(graph, device, stream, num_threads)
    groups = _groups(graph, clusters, place, device, stream, num_threads)
    ids, cuts = _place.cut(lists, offsets, "lists", place)
    make: Any = _tendril.cluster_subgraphs_gpu if place.on_gpu else _tendril.cluster_subgraphs
    return Subgraphs(*map(place.give, make(place.core, groups._core, ids, cuts, as_int32, place.how)))


def _grouped(
    graph: Graph, cluster_of: Any, num_clusters: Any, what: str, device: Any, stream: Any, num_threads: int
) -> Clusters:
    """What `group_clusters` makes of the parameter ``what``."""
    place = _place.of(graph, device, stream, num_threads)
    shape = _gpu.shape_of(cluster_of, what)
    if shape != (graph.num_vertices,):
        raise ArgumentError(f"{what} has shape {shape}, expected ({graph.num_vertices},): one a vertex")
    ids = place.ids(cluster_of, what)
    count = _count(cluster_of) if num_clusters is None else integer(num_clusters, "num_clusters")
    if place.on_gpu:
        return Clusters(_tendril.group_clusters_gpu(place.core, ids, count, place.how))
    return Clusters(_tendril.group_clusters(ids, count, place.how))


def _of_vertices(cluster_of: Any, num_clusters: Any) -> Clusters:
    """Clusters in host memory from the cluster of each vertex, as they are pickled."""
    ids = _arrays.ids(cluster_of, "a pickled Clusters: cluster_of")
    return Clusters(_tendril.group_clusters(ids, integer(num_clusters, "a pickled Clusters: num_clusters"), 0))


def _groups(
    graph: Graph, clusters: Clusters | ArrayLike, place: _place.Place, device: Any, stream: Any, num_threads: int
) -> Clusters:
    if not isinstance(clusters, Clusters):
        return _grouped(graph, clusters, None, "clusters", device, stream, num_threads)
    if clusters._core.device != place.device:
        raise ArgumentError(f"clusters: on {clusters.device}, expected them on {_gpu.name_of(place.device)}")
    return clusters


def _count(cluster_of: Any) -> int:
    """The largest cluster number plus one; arrays of other libraries compute it in their own memory."""
    knows = hasattr(cluster_of, "max")
    array = cluster_of if knows else np.asarray(cluster_of)
    return max(int(array.max()) + 1, 0) if len(array) else 0
