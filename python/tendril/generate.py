"""Synthetic graphs. Each graph depends only on its parameters and its seed, for any number of threads.

All functions take these keyword arguments.

weights : (float, float), optional
    Give edges weights that are uniform in [first, second), 0 <= first < second.
weight_sigma : float, optional
    Give edges weights that are lognormal(0, sigma) instead.
num_labels, num_node_types : int
    Give edges (vertices) labels (types) that are uniform below this number; at most 65,536.
seed : int
    In [0, 2^64).
num_threads : int
    Number of threads; 0: every core the process may use.

`rmat`, `er`, `powerlaw` and `web` also take the keyword arguments of `tendril.Graph.from_coo` for its building steps: reverse,
symmetrize, drop_self_loops, drop_duplicates, compact.

All raise `tendril.ArgumentError` for a parameter out of range.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from . import _gpu, _tendril
from ._calls import accepts
from ._errors import ArgumentError, shown
from ._graph import Graph
from ._params import build_options, fill, integer, number, threads

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._params import BuildKeywords

__all__ = ["complete", "er", "grid", "powerlaw", "ring", "rmat", "star", "web"]


class ExtraKeywords(TypedDict, total=False):
    """Attributes that every generator can add to its graph."""

    weights: tuple[float, float] | None
    weight_sigma: float | None
    num_labels: int
    num_node_types: int


class _Keywords(ExtraKeywords, total=False):
    reverse: bool
    symmetrize: bool
    drop_self_loops: bool
    drop_duplicates: bool
    compact: bool
    keep_edge_ids: bool


@accepts(also=_Keywords.__annotations__)
def rmat(
    scale: int,
    edge_factor: float = 16.0,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    scramble: bool = True,
    seed: int = 0,
    num_threads: int = 0,
    **options: Unpack[_Keywords],
) -> Graph:
    """R-MAT: a recursive, skewed graph with the parameters of Graph500.

    Parameters
    ----------
    scale : int
        The graph has 2^scale vertices.
    edge_factor : float
        The graph has edge_factor * 2^scale edges before the building steps.
    a, b, c : float
        Probabilities of the first three quadrants; the fourth has the rest.
    scramble : bool
        Renumber the vertices by a bijection, so that ids reveal nothing about degrees.

    Returns
    -------
    Graph

    References
    ----------
    Chakrabarti, Zhan and Faloutsos, R-MAT: a recursive model for graph mining, SDM 2004.

    Examples
    --------
    >>> tendril.generate.rmat(8, symmetrize=True, drop_duplicates=True, weights=(1, 5)).num_vertices
    256
    """
    params = fill(
        _tendril.RmatParams(), scale=scale, edge_factor=edge_factor, a=a, b=b, c=c, scramble=scramble, seed=seed
    )
    build, extra = _split(options)
    return Graph(_tendril.generate_rmat(params, build, extra, threads(num_threads)))


@accepts(also=_Keywords.__annotations__)
def er(
    num_vertices: int, num_edges: int, *, seed: int = 0, num_threads: int = 0, **options: Unpack[_Keywords]
) -> Graph:
    """Erdős–Rényi G(n, m): ``num_edges`` edges with uniformly random ends, before the building steps.

    Returns
    -------
    Graph
    """
    params = fill(_tendril.ErParams(), num_vertices=num_vertices, num_edges=num_edges, seed=seed)
    build, extra = _split(options)
    return Graph(_tendril.generate_er(params, build, extra, threads(num_threads)))


@accepts(also=_Keywords.__annotations__)
def powerlaw(
    num_vertices: int,
    exponent: float = 2.1,
    min_degree: int = 1,
    max_degree: int = 256,
    *,
    seed: int = 0,
    num_threads: int = 0,
    **options: Unpack[_Keywords],
) -> Graph:
    """A heavy-tailed graph: out-degrees follow a discrete power law between ``min_degree`` and ``max_degree``.

    Vertex 0 has the largest degree; targets are chosen in proportion to the same law.

    Returns
    -------
    Graph
    """
    params = fill(
        _tendril.PowerlawParams(),
        num_vertices=num_vertices,
        exponent=exponent,
        min_degree=min_degree,
        max_degree=max_degree,
        seed=seed,
    )
    build, extra = _split(options)
    return Graph(_tendril.generate_powerlaw(params, build, extra, threads(num_threads)))


@accepts(also=_Keywords.__annotations__)
def web(
    num_vertices: int,
    edge_factor: float = 16.0,
    *,
    form: str = "csr",
    device: Any = "cpu",
    seed: int = 0,
    num_threads: int = 0,
    **options: Unpack[_Keywords],
) -> Graph:
    """A graph like a crawl of the web, with ids in the order of URLs.

    Hosts are ranges of ids, pages of a directory have almost equal lists of mostly consecutive ids, degrees have heavy
    tails, and some pages are popular everywhere. The neighbours of each vertex are sorted, without duplicates, and a pure
    function of the arguments and the vertex. Self loops occur.

    Parameters
    ----------
    num_vertices : int
        1 to 2^32 - 1.
    edge_factor : float
        Mean degree of a large graph, 0 to 256. The mean of 2^17 vertices differs from it by a third or more.
    form : str
        How the neighbours are stored: "csr", or a form of `Graph.compress`. Without the keywords of building steps, weights
        and labels, a compressed graph is made without its CSR, in little more than its own memory.
    device : str
        "cpu", or a GPU ("cuda", "cuda:1"; or a ``torch.device``), in whose memory the graph is made and stays; there it
        takes none of those keywords. Never changes the graph.

    Returns
    -------
    Graph

    Examples
    --------
    >>> graph = tendril.generate.web(100_000, 10)
    >>> bool((graph.indices[1:] == graph.indices[:-1] + 1).mean() > 0.5)
    True
    >>> tendril.generate.web(100_000, 10, form="runs").bits_per_edge < 12
    True
    """
    params = fill(_tendril.WebParams(), num_vertices=num_vertices, edge_factor=edge_factor, seed=seed, form=form)
    build, extra = _split(options)
    if (gpu := _gpu.parse(device)) != _gpu.HOST:
        return Graph(_tendril.generate_web_on_gpu(params, build, extra, gpu))
    return Graph(_tendril.generate_web(params, build, extra, threads(num_threads)))


@accepts(also=ExtraKeywords.__annotations__)
def star(num_vertices: int, *, seed: int = 0, num_threads: int = 0, **extra: Unpack[ExtraKeywords]) -> Graph:
    """Edges between vertex 0 and each other vertex, in both directions."""
    return _regular("star", num_vertices, seed, num_threads, extra)


@accepts(also=ExtraKeywords.__annotations__)
def ring(num_vertices: int, *, seed: int = 0, num_threads: int = 0, **extra: Unpack[ExtraKeywords]) -> Graph:
    """Edges from ``v`` to ``v + 1`` and back, cyclic."""
    return _regular("ring", num_vertices, seed, num_threads, extra)


@accepts(also=ExtraKeywords.__annotations__)
def grid(num_vertices: int, *, seed: int = 0, num_threads: int = 0, **extra: Unpack[ExtraKeywords]) -> Graph:
    """The most square grid of exactly ``num_vertices`` vertices, 4 neighbours each, in both directions."""
    return _regular("grid", num_vertices, seed, num_threads, extra)


@accepts(also=ExtraKeywords.__annotations__)
def complete(num_vertices: int, *, seed: int = 0, num_threads: int = 0, **extra: Unpack[ExtraKeywords]) -> Graph:
    """Every ordered pair of distinct vertices."""
    return _regular("complete", num_vertices, seed, num_threads, extra)


def _regular(kind: str, num_vertices: int, seed: int, num_threads: int, extra: ExtraKeywords) -> Graph:
    seed_checked = fill(_tendril.ErParams(), seed=seed).seed
    vertices = integer(num_vertices, "num_vertices")
    return Graph(_tendril.generate_regular(kind, vertices, seed_checked, _edge_attributes(**extra), threads(num_threads)))


def _split(options: _Keywords) -> tuple[_tendril.BuildOptions, _tendril.EdgeAttributes]:
    build: BuildKeywords = {}
    extra: ExtraKeywords = {}
    for name, value in options.items():
        part = extra if name in ExtraKeywords.__annotations__ else build
        part[name] = value  # type: ignore[literal-required]
    return build_options(**build), _edge_attributes(**extra)


def _edge_attributes(
    *,
    weights: tuple[float, float] | None = None,
    weight_sigma: float | None = None,
    num_labels: int = 0,
    num_node_types: int = 0,
) -> _tendril.EdgeAttributes:
    extra = fill(_tendril.EdgeAttributes(), num_labels=num_labels, num_node_types=num_node_types)
    if weights is not None:
        try:
            low, high = weights
        except (TypeError, ValueError):
            raise ArgumentError(f"weights is {shown(weights)}, expected two numbers (min, max)") from None
        fill(extra, has_weights=True, weight_min=number(low, "weights[0]"), weight_max=number(high, "weights[1]"))
    if weight_sigma is not None:
        fill(extra, has_weights=True, weight_sigma=weight_sigma)
    return extra
