"""Layer-wise sampling: FastGCN and LADIES."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _place, _tendril
from ._params import fill, integer
from ._several import shared

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from ._graph import Graph


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer of one sample, and its edges from the previous layer: views of the arrays of LayerSamples."""

    vertices: Any
    """[layer_size] Vertices; -1 in slots that stayed empty. Empty slots have no edges."""
    probabilities: Any
    """[layer_size] float32: the probability of one draw; 0 in empty slots."""
    edge_index: Any
    """[2, edges] int64: `row` and `col`."""
    coefficients: Any
    """[edges] float32: ``Q[v, u] / (layer_size * probability)``, with rows normalised if requested."""
    edges: Any
    """[edges] int64: positions in the graph's edge arrays; None unless requested."""

    @property
    def row(self) -> Any:
        """[edges] Slots in the previous layer, or positions in the batch."""
        return self.edge_index[0]

    @property
    def col(self) -> Any:
        """[edges] Slots in the layer."""
        return self.edge_index[1]


@dataclass(frozen=True, eq=False)
class LayerSamples:
    """Sampled layers; `layer` returns one of them. In NumPy arrays or, from a GPU, in DeviceArrays.

    Layer 0 is the nearest to the batch. An edge leads from a vertex of the previous layer (of the batch, for layer 0)
    to a vertex of the layer. The edges of sample ``i`` and layer ``l`` are the elements ``edge_offsets[i * num_layers +
    l]`` to ``edge_offsets[i * num_layers + l + 1]``, ordered by row, then col, then position in the graph.
    """

    vertices: Any
    """[n, num_layers, layer_size]: -1 in slots that stayed empty."""
    probabilities: Any
    """The same shape, float32: the probability of one draw; 0 in empty slots."""
    edge_offsets: Any
    """[n * num_layers + 1] int64."""
    edge_index: Any
    """[2, edges] int64: slots in the previous layer, and in the layer."""
    coefficients: Any
    """[edges] float32: ``Q[v, u] / (layer_size * probability)``, with rows normalised if requested."""
    edges: Any
    """[edges] int64: positions in the graph's edge arrays; None unless requested."""

    @property
    def row(self) -> Any:
        """[edges] Slots in the previous layer, or positions in the batch."""
        return self.edge_index[0]

    @property
    def col(self) -> Any:
        """[edges] Slots in the layer."""
        return self.edge_index[1]

    @property
    def num_samples(self) -> int:
        """Number of samples."""
        return int(self.vertices.shape[0])

    @property
    def num_layers(self) -> int:
        """Number of layers per sample."""
        return int(self.vertices.shape[1])

    @property
    def layer_size(self) -> int:
        """Number of slots per layer."""
        return int(self.vertices.shape[2])

    @cached_property
    def _cuts(self) -> NDArray[np.int64]:
        return np.asarray(self.edge_offsets)

    def layer(self, layer: int, sample: int = 0) -> Layer:
        """Get one layer of one sample as views. Nothing is copied, except once the offsets from a GPU.

        Parameters
        ----------
        layer : int
            0 is the layer nearest to the batch.
        sample : int
            The sample's row in the result.

        Returns
        -------
        Layer

        Raises
        ------
        IndexError
            If there is no such layer or sample.
        """
        for what, value, count in (("layer", layer, self.num_layers), ("sample", sample, self.num_samples)):
            if not 0 <= value < count:
                raise IndexError(f"{what} {value} is out of range, there are {count}")
        block = sample * self.num_layers + layer
        a, b = (int(cut) for cut in self._cuts[block : block + 2])
        return Layer(
            self.vertices[sample, layer],
            self.probabilities[sample, layer],
            self.edge_index[:, a:b],
            self.coefficients[a:b],
            None if self.edges is None else self.edges[a:b],
        )


@shared("seeds", "first_sample", ndim=2)
def fastgcn_sample(
    graph: Graph,
    seeds: ArrayLike,
    num_layers: int = 2,
    layer_size: int = 400,
    *,
    normalization: str = "row",
    replace: bool = True,
    row_normalize: bool = False,
    return_edges: bool = False,
    seed: int = 0,
    first_sample: int = 0,
    dtype: DTypeLike = np.int64,
    device: Any = None,
    stream: Any = None,
    num_threads: int = 0,
) -> LayerSamples:
    """Sample layers by FastGCN: every layer is drawn from one distribution over all vertices.

    Q is the matrix of the graph convolution: an edge v -> u is the entry Q[v, u]. A draw is u with probability q(u) in
    proportion to the sum over v of Q[v, u]^2. With replacement, for any features X, the sum over the edges of row v of
    ``coefficient * X[u]`` is an unbiased estimate of row v of Q X, unless rows are normalised.

    Sample ``i`` depends only on the graph, the parameters, the seed, its batch and its logical number ``first_sample +
    i``. The call releases the GIL. The first call builds tables, 20 bytes per vertex, that stay with the graph.

    Parameters
    ----------
    graph : Graph
    seeds : array_like of int, shape [batch_size] or [n, batch_size]
        One batch, or one batch per row, of at most 16384 vertices; a vertex that appears twice has two rows. On a GPU
        also an array in its memory.
    num_layers : int
        In [1, 65535].
    layer_size : int
        Vertices drawn per layer, in [1, 16384].
    normalization : str
        The entry Q[v, u]: "row", 1 / deg(v), the mean; "symmetric", 1 / sqrt(deg(v) deg(u)); "weights", the edge's
        weight. deg is the out-degree.
    replace : bool
        Independent draws, which the estimator needs; False: distinct vertices.
    row_normalize : bool
        Divide the coefficients of each row by their sum.
    return_edges : bool
        Also return the positions of edges.
    seed : int
        In [0, 2^64).
    first_sample : int
        Logical number of the first sample. Use a different number for every batch of an epoch.
    dtype : dtype
        Type of vertex ids: int64, or int32, which returns the library's own memory without a conversion (graphs of at
        most 2^31 vertices).
    device, stream : optional
        As for `random_walk`. On a GPU the result stays in its memory; the call waits once, for the number of edges.
    num_threads : int
        Number of threads on the CPU; 0: every core the process may use.

    Returns
    -------
    LayerSamples

    Raises
    ------
    ArgumentError
        For a seed that is not a vertex, seeds of another shape, a parameter out of range, weights requested on a graph
        without weights.
    DeviceError
        If the GPU can't be used; the message gives the reason.
    OutOfMemoryError
        If the result doesn't fit.

    References
    ----------
    Chen, Ma and Xiao, FastGCN: fast learning with graph convolutional networks via importance sampling, ICLR 2018.

    Examples
    --------
    >>> samples = tendril.fastgcn_sample(tendril.generate.complete(30), [3, 7, 9], num_layers=2, layer_size=16)
    >>> samples.vertices.shape
    (1, 2, 16)
    >>> layer = samples.layer(0)
    >>> layer.edge_index.shape == (2, len(layer.coefficients))
    True
    """
    options = {
        "num_layers": num_layers,
        "layer_size": layer_size,
        "normalization": normalization,
        "replace": replace,
        "row_normalize": row_normalize,
        "return_edges": return_edges,
        "seed": seed,
    }
    params = fill(_tendril.FastgcnParams(), **options)
    return _sample("fastgcn_sample", graph, seeds, params, first_sample, dtype, device, stream, num_threads)


@shared("seeds", "first_sample", ndim=2)
def ladies_sample(
    graph: Graph,
    seeds: ArrayLike,
    num_layers: int = 5,
    layer_size: int = 64,
    *,
    normalization: str = "row",
    replace: bool = True,
    row_normalize: bool = True,
    return_edges: bool = False,
    seed: int = 0,
    first_sample: int = 0,
    dtype: DTypeLike = np.int64,
    device: Any = None,
    stream: Any = None,
    num_threads: int = 0,
) -> LayerSamples:
    """Sample layers by LADIES: every layer is drawn from the neighbours of the previous layer.

    With S the previous layer (the batch, for the first layer), a draw is u with probability p(u) in proportion to the
    sum over v in S of Q[v, u]^2; a vertex that is in S twice counts twice. A draw takes O(1) for "row", O(log degree)
    for the others: the combined neighbourhood is never built. All other properties are those of `fastgcn_sample`.

    Parameters
    ----------
    graph : Graph
    seeds : array_like of int, shape [batch_size] or [n, batch_size]
    num_layers : int
        In [1, 65535].
    layer_size : int
        Vertices drawn per layer, in [1, 16384].
    row_normalize : bool
        Divide the coefficients of each row by their sum, as the paper does. Without it, and with replacement, the sum
        over the edges of row v of ``coefficient * X[u]`` is an unbiased estimate of row v of Q X.
    normalization, replace, return_edges, seed, first_sample, dtype, device, stream, num_threads
        As for `fastgcn_sample`.

    Returns
    -------
    LayerSamples

    Raises
    ------
    ArgumentError, DeviceError, OutOfMemoryError
        As `fastgcn_sample`.

    References
    ----------
    Zou, Hu, Wang, Jiang, Sun and Gu, Layer-dependent importance sampling for training deep and large graph
    convolutional networks, NeurIPS 2019.

    Examples
    --------
    >>> samples = tendril.ladies_sample(tendril.generate.ring(30), [[3, 7], [9, 20]], num_layers=2, layer_size=4)
    >>> samples.vertices.shape
    (2, 2, 4)
    >>> samples.layer(0, sample=1).vertices.shape
    (4,)
    """
    options = {
        "num_layers": num_layers,
        "layer_size": layer_size,
        "normalization": normalization,
        "replace": replace,
        "row_normalize": row_normalize,
        "return_edges": return_edges,
        "seed": seed,
    }
    params = fill(_tendril.LadiesParams(), **options)
    return _sample("ladies_sample", graph, seeds, params, first_sample, dtype, device, stream, num_threads)


def _sample(
    name: str,
    graph: Graph,
    seeds: ArrayLike,
    params: Any,
    first_sample: int,
    dtype: DTypeLike,
    device: Any,
    stream: Any,
    num_threads: int,
) -> LayerSamples:
    first, as_int32 = integer(first_sample, "first_sample"), _arrays.is_int32(dtype)
    shape = _place.batches(seeds, "seeds")
    place = _place.of(graph, device, stream, num_threads)
    ids = place.ids(seeds, "seeds", len(shape))
    sample: Any = getattr(_tendril, f"{name}_gpu" if place.on_gpu else name)
    made = sample(place.core, ids, shape[-1], params, as_int32, first, place.how)
    return LayerSamples(*map(place.give, made))
