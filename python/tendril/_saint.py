"""GraphSAINT: its node, edge and walk samplers, and the coefficients that correct their bias."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _place, _tendril
from ._params import fill, integer
from ._several import shared
from ._subgraphs import Subgraphs

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from ._graph import Graph


@dataclass(frozen=True, eq=False)
class SaintCoefficients:
    """Statistics of N sampled subgraphs that describe the sampler's bias, in NumPy arrays or, from a GPU, in
    DeviceArrays.

    C_v is the number of subgraphs with vertex v, C_e the number of subgraphs with edge e.
    """

    num_samples: int
    """N."""
    node_counts: Any
    """[num_vertices] int32: C_v."""
    edge_counts: Any
    """[num_edges] int32: C_e."""
    loss: Any
    """[num_vertices] float32: lambda_v = C_v / N. Divide the loss of v by it: PyG's ``node_norm`` is ``1 / (loss *
    num_vertices)``."""
    aggregator: Any
    """[num_edges] float32: alpha_e = C_e / C_v, where v is the vertex whose list holds e and which aggregates; 0 where
    C_v is 0. Divide the message along e by it: PyG's ``edge_norm`` is ``1 / aggregator``."""


@shared("num_samples", "first_sample")
def saint_node_sample(
    graph: Graph,
    num_samples: int = 1,
    budget: int = 2000,
    *,
    normalization: str = "row",
    seed: int = 0,
    first_sample: int = 0,
    sample_step: int = 1,
    dtype: DTypeLike = np.int64,
    device: Any = None,
    stream: Any = None,
    num_threads: int = 0,
) -> Subgraphs:
    """Sample GraphSAINT's subgraphs of vertices: ``budget`` draws with replacement induce each subgraph.

    A draw is u in proportion to the squared norm of column u of Q, the sum over v of Q[v, u]^2. Sample ``i`` depends
    only on the graph, the parameters, the seed and its logical number ``first_sample + i * sample_step``. The call releases
    the GIL.

    Parameters
    ----------
    graph : Graph
    num_samples : int
        Number of samples, >= 0.
    budget : int
        Draws per sample: at least 1.
    normalization : str
        The matrix Q, as for `fastgcn_sample`: "row" (the paper's), "symmetric" or "weights".
    seed : int
        In [0, 2^64).
    first_sample : int
        Logical number of the first sample.
    sample_step : int
        From the number of a sample to that of the next: where n processes make samples in turn, n.
    dtype : dtype
        Type of `nodes`: int64, or int32, which returns the library's own memory without a conversion.
    device, stream : optional
        As for `random_walk`. On a GPU the result stays in its memory.
    num_threads : int
        Number of threads on the CPU; 0: every core the process may use.

    Returns
    -------
    Subgraphs
        The vertices of a sample ascend.

    Raises
    ------
    ArgumentError
        For a parameter out of range, weights requested on a graph without weights.
    DeviceError
        If the GPU can't be used; the message gives the reason.
    OutOfMemoryError
        If the result doesn't fit.

    References
    ----------
    Zeng et al., GraphSAINT: graph sampling based inductive learning method, ICLR 2020.

    Examples
    --------
    >>> samples = tendril.saint_node_sample(tendril.generate.complete(9), num_samples=3, budget=4, seed=1)
    >>> len(samples), max(sample.nodes.size for sample in samples) <= 4
    (3, True)
    """
    params = _params("node", budget, 0, normalization, seed)
    return _sample(graph, params, num_samples, first_sample, sample_step, dtype, device, stream, num_threads)


@shared("num_samples", "first_sample")
def saint_edge_sample(
    graph: Graph,
    num_samples: int = 1,
    budget: int = 2000,
    *,
    seed: int = 0,
    first_sample: int = 0,
    sample_step: int = 1,
    dtype: DTypeLike = np.int64,
    device: Any = None,
    stream: Any = None,
    num_threads: int = 0,
) -> Subgraphs:
    """Sample GraphSAINT's subgraphs of edges: both ends of ``budget`` edges, drawn with replacement, induce each
    subgraph.

    A draw is the edge (u, v) in proportion to 1 / deg(u), in each direction in which it is stored. On a symmetric graph
    each undirected edge is therefore drawn in proportion to 1 / deg(u) + 1 / deg(v), as in the paper.

    Parameters
    ----------
    graph : Graph
    num_samples, seed, first_sample, sample_step, dtype, device, stream, num_threads
        As for `saint_node_sample`.
    budget : int
        Edges drawn per sample: at least 1.

    Returns
    -------
    Subgraphs
        The vertices of a sample ascend; its edges are all edges of the graph between these vertices.

    Raises
    ------
    ArgumentError, DeviceError, OutOfMemoryError
        As `saint_node_sample`.

    References
    ----------
    Zeng et al., GraphSAINT: graph sampling based inductive learning method, ICLR 2020.

    Examples
    --------
    >>> sample = tendril.saint_edge_sample(tendril.generate.ring(9), budget=1, seed=1).sample(0)
    >>> sample.nodes.size, sample.edges.size
    (2, 2)
    """
    params = _params("edge", budget, 0, "row", seed)
    return _sample(graph, params, num_samples, first_sample, sample_step, dtype, device, stream, num_threads)


@shared("num_samples", "first_sample")
def saint_walk_sample(
    graph: Graph,
    num_samples: int = 1,
    budget: int = 2000,
    length: int = 2,
    *,
    seed: int = 0,
    first_sample: int = 0,
    sample_step: int = 1,
    dtype: DTypeLike = np.int64,
    device: Any = None,
    stream: Any = None,
    num_threads: int = 0,
) -> Subgraphs:
    """Sample GraphSAINT's subgraphs of walks: walks from ``budget`` random roots induce each subgraph.

    Roots and steps are uniform; a walk ends at a dead end.

    Parameters
    ----------
    graph : Graph
    num_samples, seed, first_sample, sample_step, dtype, device, stream, num_threads
        As for `saint_node_sample`.
    budget : int
        Roots per sample: at least 1.
    length : int
        Steps per walk, in [0, 1000].

    Returns
    -------
    Subgraphs
        The vertices of a sample ascend.

    Raises
    ------
    ArgumentError, DeviceError, OutOfMemoryError
        As `saint_node_sample`.

    References
    ----------
    Zeng et al., GraphSAINT: graph sampling based inductive learning method, ICLR 2020.

    Examples
    --------
    >>> sample = tendril.saint_walk_sample(tendril.generate.ring(9), budget=3, length=4).sample(0)
    >>> 2 <= sample.nodes.size <= 15
    True
    """
    params = _params("walk", budget, length, "row", seed)
    return _sample(graph, params, num_samples, first_sample, sample_step, dtype, device, stream, num_threads)


def saint_coefficients(
    graph: Graph,
    num_samples: int = 50,
    *,
    sampler: str = "walk",
    budget: int = 2000,
    length: int = 2,
    normalization: str = "row",
    seed: int = 0,
    first_sample: int = 0,
    device: Any = None,
    stream: Any = None,
    num_threads: int = 0,
) -> SaintCoefficients:
    """Compute, from many samples, the coefficients that correct a GraphSAINT sampler's bias (section 3.2 of the paper).

    The samples are those that the sampler gives for the same parameters. Memory in addition to the result doesn't grow
    with their number. The call releases the GIL.

    Parameters
    ----------
    graph : Graph
    num_samples : int
        In [1, 2^31).
    sampler : str
        "node", "edge" or "walk".
    budget, length, normalization, seed, first_sample, device, stream, num_threads
        As for the samplers. Only "walk" uses ``length``, and only "node" uses ``normalization``.

    Returns
    -------
    SaintCoefficients

    Raises
    ------
    ArgumentError, DeviceError, OutOfMemoryError
        As the samplers.

    References
    ----------
    Zeng et al., GraphSAINT: graph sampling based inductive learning method, ICLR 2020.

    Examples
    --------
    >>> counted = tendril.saint_coefficients(tendril.generate.ring(9), 10, sampler="edge", budget=3)
    >>> counted.loss.shape, counted.aggregator.shape
    ((9,), (18,))
    """
    params = fill(_params("walk", budget, length, normalization, seed), sampler=sampler)
    count, first = integer(num_samples, "num_samples"), integer(first_sample, "first_sample")
    place = _place.of(graph, device, stream, num_threads)
    run: Any = _tendril.saint_coefficients_gpu if place.on_gpu else _tendril.saint_coefficients
    return SaintCoefficients(count, *map(place.give, run(place.core, params, count, first, place.how)))


def _params(sampler: str, budget: int, length: int, normalization: str, seed: int) -> _tendril.SaintParams:
    return fill(
        _tendril.SaintParams(), sampler=sampler, budget=budget, length=length, normalization=normalization, seed=seed
    )


def _sample(
    graph: Graph,
    params: _tendril.SaintParams,
    num_samples: int,
    first_sample: int,
    sample_step: int,
    dtype: DTypeLike,
    device: Any,
    stream: Any,
    num_threads: int,
) -> Subgraphs:
    count, first, step = (
        integer(value, name)
        for value, name in ((num_samples, "num_samples"), (first_sample, "first_sample"), (sample_step, "sample_step"))
    )
    as_int32 = _arrays.is_int32(dtype)
    place = _place.of(graph, device, stream, num_threads)
    sample: Any = _tendril.saint_sample_gpu if place.on_gpu else _tendril.saint_sample
    return Subgraphs(*map(place.give, sample(place.core, params, count, as_int32, first, step, place.how)))
