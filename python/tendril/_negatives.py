"""Ends of negative links, for link prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _pickles, _tendril
from ._errors import ArgumentError, shown
from ._params import integer, number, string, threads, unsigned

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike


class NegativeSampler(_pickles.Unchanging):
    """Draws vertices of one type as ends of negative links, independently, as PyG does.

    Binary negatives of n links are ``num_negatives(n, amount)`` sources and as many targets, triplets as many targets
    alone. It isn't asked whether a link exists. Negative ``i`` stands against link ``i mod n``, and is a function of the
    arguments, the batch's number and ``i`` alone.

    Parameters
    ----------
    num_nodes : int
        Vertices of the type.
    end : str
        "source" or "target": under one seed they share no random number.
    weights : array_like of float, shape [num_nodes], optional
        Draw in proportion to these. Default: uniformly.
    node_times : array_like of int, shape [num_nodes], optional
        A negative is drawn among the vertices that are not later than its link, in the same proportions. If all
        vertices of positive weight are later, the negative is the earliest vertex of all, whatever its weight (of
        several, the lowest number), as in PyG.
    seed : int
        In [0, 2^64).
    num_threads : int
        Number of threads; 0: every core the process may use.

    Raises
    ------
    ArgumentError
        For arrays of another length, a weight that is negative or not finite, weights that are all 0.

    Examples
    --------
    >>> tendril.NegativeSampler(10, "target", weights=[0] * 9 + [1]).draw(3).tolist()
    [9, 9, 9]
    >>> in_time = tendril.NegativeSampler(3, node_times=[7, 5, 9])
    >>> in_time.draw(4, until=[6, 4]).tolist()
    [1, 1, 1, 1]
    """

    def __init__(
        self,
        num_nodes: int,
        end: str = "target",
        *,
        weights: ArrayLike | None = None,
        node_times: ArrayLike | None = None,
        seed: int = 0,
        num_threads: int = 0,
    ) -> None:
        if string(end, "end") not in ("source", "target"):
            raise ArgumentError(f"end is {shown(end)}, expected 'source' or 'target'")
        count = integer(num_nodes, "num_nodes")
        if count < 0:
            raise ArgumentError(f"num_nodes is {count}, expected 0 or more")
        likely = _arrays.weights(weights, "weights")
        times = None if node_times is None else _arrays.times(node_times, "node_times")
        for given, what in ((likely, "weights"), (times, "node_times")):
            if given is not None and len(given) != count:
                raise ArgumentError(f"{what} has {len(given)} elements, expected {count}: one of each vertex")
        number, workers = unsigned(seed, "seed"), threads(num_threads)
        self._core = _tendril.NegativeSampler(count, end == "target", number, likely, times, workers)
        # Copies: the caller may change the arrays afterwards.
        kept = {name: given.copy() for name, given in (("weights", likely), ("node_times", times)) if given is not None}
        self._made_of = (count, end), {**kept, "seed": number, "num_threads": workers}

    def __reduce__(self) -> Any:
        return _pickles.made_by, (NegativeSampler, *self._made_of)

    def draw(self, count: int, *, batch: int = 0, until: ArrayLike | None = None, dtype: DTypeLike = np.int64) -> Any:
        """Draw vertices.

        Parameters
        ----------
        count : int
        batch : int
            Number of the batch, in [0, 2^64). Different numbers give different draws.
        until : array_like of int, shape [n], optional
            Times of the links: negative ``i`` is drawn among the vertices that are not later than
            ``until[i mod n]``. Default: no constraint.
        dtype : dtype
            Type of the ids: int64, or int32, which returns the library's own memory without a conversion.

        Returns
        -------
        ndarray of int, shape [count]

        Raises
        ------
        ArgumentError
            If times of links are given and vertices have no times; if `until` is empty; if vertices are to be drawn and
            there are none.
        """
        limits = None if until is None else _arrays.times(until, "until")
        how_many = integer(count, "count")
        if limits is not None and len(limits) == 0 and how_many > 0:
            raise ArgumentError(f"until has 0 elements, expected the time of at least one link for {how_many} negatives")
        return self._core.draw(how_many, unsigned(batch, "batch"), limits, _arrays.is_int32(dtype))


def num_negatives(num_links: int, amount: float) -> int:
    """The number of negatives for ``num_links`` links: ``amount * num_links``, rounded up."""
    return _tendril.num_negatives(integer(num_links, "num_links"), number(amount, "amount"))
