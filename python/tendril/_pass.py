"""PASS: candidates come out, the caller scores them, picks are drawn in proportion."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _gpu
from ._errors import ArgumentError, shown
from ._graph import Graph
from ._minibatch import Minibatch, MinibatchSampler
from ._params import counts
from ._segments import segment_multinomial

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, eq=False)
class PassBatch(Minibatch):
    """A mini-batch whose edges were picked by scores, with replacement. Its arrays are of the scores' library."""

    probability: Any
    """[edges] float32: the score of each edge / the sum of its vertex's scores."""
    candidate: Any
    """[edges] int64: the position of each edge among the candidates of its hop."""


def pass_sample(
    graph: Graph,
    seeds: Any,
    fanouts: Sequence[int],
    score: Callable[[Minibatch, int], Any],
    *,
    seed: int = 0,
    batch: int = 0,
    device: Any = None,
    stream: Any = None,
    num_threads: int = 0,
) -> PassBatch:
    """Make a mini-batch whose neighbours are picked in proportion to scores that the caller computes (PASS).

    A hop expands all vertices of the batch so far. All their edges are the candidates: a `Minibatch` of one hop, in the
    memory of the call's device. ``score`` gives a number for each of them, and every vertex picks ``fanout`` edges with
    replacement, with probability q = score / sum of its scores. A vertex whose scores are all 0 picks none.

    To learn the scores, add a term to the loss for the picks of each hop::

        (weight * log_q[candidate]).sum()

    ``weight`` is detached: the gradient of the loss by the vector that the pick's vertex has aggregated, times the
    vector that the pick has sent, divided by the fan-out. ``log_q`` is computed again from the scores of the hop's
    candidates, so that gradients flow. This is the paper's estimate: the gradient of an expectation over q is the expectation of
    the value times the gradient of log q.

    Parameters
    ----------
    graph : Graph
    seeds : array_like of int, shape [n]
        Vertices; one that is given twice counts once.
    fanouts : sequence of int
        Picks per vertex, >= 1, for each hop.
    score : callable
        ``score(candidates, hop)`` returns float32 scores >= 0, one for each of ``candidates.edge``, as an array of
        NumPy, Torch or CuPy. Candidate ``i`` leads from ``node[row[i]]`` to ``node[col[i]]``.
    seed, batch : int
        In [0, 2^64). Different batches draw anew.
    device, stream, num_threads : optional
        As for `random_walk`.

    Returns
    -------
    PassBatch
        As of ``MinibatchSampler(frontier="all")``; new vertices are in the order of the candidates.

    Raises
    ------
    ArgumentError
        For a seed that is not a vertex, a fan-out below 1, scores of another shape, negative or not finite.

    References
    ----------
    Yoon, Gervet, Shi, Niu, He and Yang, Performance-adaptive sampling strategy towards fast and accurate graph neural
    networks, KDD 2021.

    Examples
    --------
    >>> ring = tendril.generate.ring(9)
    >>> tendril.pass_sample(ring, [4], [2], lambda c, hop: c.node[c.col] > 4).node.tolist()
    [4, 5]
    """
    hops = counts(fanouts, "fanouts")
    if not hops or min(hops) < 1:
        raise ArgumentError(f"fanouts is {hops}, expected one or more integers >= 1")
    if not isinstance(graph, Graph):
        raise ArgumentError(f"graph is a {type(graph).__name__}, expected a Graph")
    if not callable(score):
        raise ArgumentError(f"score is {shown(score)}, expected a function of candidates and hop")
    sampler = MinibatchSampler(graph, [-1], device=device, stream=stream, num_threads=num_threads)
    node, sizes = seeds, list[int]()
    parts, ends = list[tuple[Any, ...]](), list[Any]()
    for hop, fanout in enumerate(hops):
        found = sampler.sample(node)
        expanded, num_candidates = found.num_expanded[0], len(found.row)
        scores = score(found, hop)
        shape = _gpu.shape_of(scores, "scores")
        if shape != (num_candidates,):
            expected = f"({num_candidates},): one a candidate"
            raise ArgumentError(f"scores of hop {hop} have shape {shape}, expected {expected}")
        lib = _library(scores)
        given = scores.detach() if hasattr(scores, "detach") else scores
        where = {"device": sampler.device, "stream": stream, "num_threads": num_threads}
        picks = segment_multinomial(
            found.indptr, given, found.node[:expanded], fanout, seed=seed, batch=batch, hop=hop, **where
        )
        arrays = (*picks, found.row, found.col, found.edge, found.node, found.indptr)
        position, probability, row, col, edge, node, indptr = (_as(lib, array) for array in arrays)
        taken = position >= 0
        at = position[taken]
        mark = node * 0  # 1: in the batch
        mark[:expanded] = 1
        mark[col[at]] = 1
        number = mark.cumsum(0) - 1
        node = node[mark > 0]
        if hop == 0:
            sizes.append(expanded)
            ends.append(indptr[:1])
        sizes.append(len(node) - expanded)
        ends.append(taken[:, 0] * fanout)
        parts.append((row[at], number[col[at]], edge[at], probability[taken], at))
    row, col, edge, probability, candidate = (lib.concatenate(part) for part in zip(*parts, strict=True))
    indptr, first_expanded = lib.concatenate(ends).cumsum(0), [0] * len(hops)
    num_expanded = [sum(sizes[: hop + 1]) for hop in range(len(hops))]
    num_edges = [len(part[0]) for part in parts]
    hop_sizes = (first_expanded, num_expanded, sizes, num_edges)
    return PassBatch(row, col, node, edge, None, None, indptr, *hop_sizes, "all", None, probability, candidate)


def _library(array: Any) -> Any:
    """The library of an array, with the functions of the array API: NumPy, Torch or CuPy."""
    lib = sys.modules.get(type(array).__module__.partition(".")[0])
    return lib if hasattr(lib, "from_dlpack") and hasattr(lib, "concatenate") else np


def _as(lib: Any, array: Any) -> Any:
    """An array of Tendril as one of a library. Only NumPy copies those of a GPU."""
    return np.asarray(array) if lib is np else lib.from_dlpack(array)
