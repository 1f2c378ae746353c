"""How often jobs read lists of neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _arrays, _place, _placement, _tendril
from ._params import integer, threads, unsigned

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from ._graph import Graph


def count_visits(
    graph: Graph,
    app: str = "walks",
    *,
    length: int = 80,
    fanouts: Sequence[int] = (15, 10, 5),
    replace: bool = False,
    weighted: bool = False,
    starts: ArrayLike | None = None,
    num_samples: int = 0,
    batch_size: int = 1024,
    seed: int = 0,
    num_threads: int = 0,
) -> NDArray[np.float32]:
    """Estimate how often a job reads each vertex's list of neighbours, by making a small part of the job on the CPU.

    A step of a walk reads one sector (32 bytes) of a list. A parent in a k-hop tree reads as many as it has picks, at
    most all of the list; a vertex of a mini-batch the same, once a batch. What was counted is drawn towards the mean of
    the vertices of about the same degree, so that what chance left out is not 0.

    Parameters
    ----------
    graph : Graph
        In host memory, or placed.
    app : str
        "walks", "khop" or "minibatch".
    length : int
        "walks": steps.
    fanouts : sequence of int
        "khop", "minibatch": neighbours per vertex, for each hop; -1: all.
    replace, weighted : bool
        As for the sampler of the job.
    starts : array_like of int, optional
        Vertices that the job starts from, as the training set. Default: all.
    num_samples : int
        Walks, roots or seeds to make; 0: as many as the graph needs.
    batch_size : int
        "minibatch": seeds of a batch.
    seed : int
        Of the choice among the starts.
    num_threads : int
        Number of threads; 0: every core the process may use. Never changes the result.

    Returns
    -------
    numpy.ndarray of float32, shape [V]
        Reads of each list in the part that was made.

    Raises
    ------
    ArgumentError
        For a parameter out of range, or a graph that lies on a GPU as a whole.

    Examples
    --------
    >>> reads = tendril.count_visits(tendril.generate.star(5), length=10, num_samples=100)
    >>> bool(reads[0] > 3 * reads[1])
    True
    """
    _place.expect_graph(graph)
    what = _placement.job(app, length, fanouts, replace, weighted)
    given = None if starts is None else _arrays.ids(starts, "starts")
    core = graph._core.to_host() if graph.placement else graph._on_host("count_visits")
    return _tendril.count_visits(
        core,
        what,
        given,
        integer(num_samples, "num_samples"),
        integer(batch_size, "batch_size"),
        unsigned(seed, "seed"),
        threads(num_threads),
    )
