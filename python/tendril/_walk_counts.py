"""Walks that are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _gpu, _place, _tendril
from ._errors import ArgumentError
from ._params import integer, limit, threads
from ._several import on_host
from ._walks import any_walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from ._graph import Graph


def count_walks(
    graph: Graph,
    starts: ArrayLike | None = None,
    length: int = 80,
    what: str = "visits",
    *,
    p: float | None = None,
    q: float | None = None,
    metapath: Sequence[int | str] = (),
    metapath_of: str = "edges",
    weighted: bool = False,
    restart_prob: float = 0.0,
    stop_prob: float = 0.0,
    walks_per_vertex: int = 1,
    seed: int = 0,
    rule: str = "auto",
    table_bytes: int | None = None,
    first_walk: int = 0,
    device: Any = None,
    num_threads: int = 0,
) -> NDArray[np.int64]:
    """Count how often walks come to each vertex, or end there, without keeping the walks.

    They are the walks of `random_walk`, `node2vec_walk` (with `p` or `q`) or `metapath_walk` (with a `metapath`) with the same
    parameters, made and counted batch by batch, so that there may be more of them than memory holds.

    Parameters
    ----------
    graph : Graph
    starts : array_like of int, shape [n], optional
        Vertices to start from. Default: every vertex.
    length : int
        Steps per walk.
    what : str
        "visits": how often walks come to each vertex; a start counts, and what a walk comes to twice counts twice. "ends": how
        many walks end there, because they are as long as they can be, stop, or find no edge.
    p, q, metapath, metapath_of, weighted, restart_prob, stop_prob, walks_per_vertex, seed, rule, table_bytes, first_walk
        As for `node2vec_walk`, `metapath_walk` and `random_walk`.
    device : str, optional
        "cpu", "cuda", "cuda:1", or several GPUs, each of which makes a part of the walks. Default: where the graph lies.
    num_threads : int
        Number of threads on the CPU; 0: every core the process may use. Never changes the result.

    Returns
    -------
    numpy.ndarray of int64, shape [V]
        In host memory, wherever the walks were made.

    Raises
    ------
    ArgumentError
        As the walks, and for another word than "visits" and "ends".
    DeviceError
        If the GPU can't be used.

    References
    ----------
    Ends of walks that stop: PageRank by Monte Carlo, Avrachenkov et al., SIAM J. Numer. Anal. 45(2), 2007.

    Examples
    --------
    >>> star = tendril.generate.star(5)  # every second vertex of a walk is the centre
    >>> tendril.count_walks(star, [1, 2], length=3).tolist()[0]
    4
    >>> pagerank = tendril.count_walks(star, length=100, what="ends", stop_prob=0.15, walks_per_vertex=1000, seed=1)
    >>> pagerank.sum()
    np.int64(5000)
    >>> bool(abs(pagerank[0] / 5000 - 0.476) < 0.021)  # three standard deviations of 5,000 draws
    True
    """
    _place.expect_graph(graph)
    params = any_walk(
        graph,
        length,
        p,
        q,
        metapath,
        metapath_of,
        weighted=weighted,
        restart_prob=restart_prob,
        stop_prob=stop_prob,
        seed=seed,
        rule=rule,
        table_bytes=limit(table_bytes, "table_bytes"),
    )
    repeats = integer(walks_per_vertex, "walks_per_vertex")
    if repeats < 0:
        raise ArgumentError(f"walks_per_vertex is {repeats}, expected 0 or more")
    several = None if device is None else _gpu.parse_several(device)
    places = several or [_place.of_call(graph, device, "rows", None)]
    first = np.arange(graph.num_vertices, dtype=np.uint32) if starts is None else _arrays.ids(on_host(starts, "starts"), "starts")
    return _tendril.count_walks(
        [graph._core_on(place) for place in places],
        first,
        repeats,
        params,
        what,
        integer(first_walk, "first_walk"),
        threads(num_threads),
    )
