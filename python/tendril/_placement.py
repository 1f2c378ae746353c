"""Graphs that lie partly on a GPU, partly in host memory: which lists lie where, and by what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _arrays, _gpu, _tendril
from ._errors import ArgumentError, shown
from ._params import counts, fanouts, fill, integer, string, unsigned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

_UNITS = {"K": 10, "M": 20, "G": 30, "T": 40}


def num_bytes(value: Any, what: str) -> int:
    """A size in memory: a number of bytes, or text as "500M" or "1.5G"; None stands for 0."""
    if value is None:
        return 0
    if not isinstance(value, str):
        return integer(value, what)
    shift = _UNITS.get(value[-1:].upper(), 0)
    digits = value[:-1] if shift else value
    try:
        number = float(digits) * (1 << shift)
        if not 1 <= number < 1 << 63:
            raise ValueError
    except ValueError:
        raise ArgumentError(f"{what} is {shown(value)}, expected bytes as in 500000, '64M' or '1.5G'") from None
    return int(number)


def job(app: str, length: int, fanouts: Sequence[int], replace: bool, weighted: bool) -> Any:
    """The parameters of what is sampled from a placed graph."""
    if string(app, "app") == "walks":
        return fill(_tendril.WalkParams(), length=length, weighted=weighted)
    if app == "khop":
        return fill(_tendril.KHopParams(), fanouts=counts(fanouts, "fanouts"), replace=replace, weighted=weighted)
    if app == "minibatch":
        hops = counts(fanouts, "fanouts")
        return fill(_tendril.MinibatchParams(), num_neighbors=hops, replace=replace, weighted=weighted)
    raise ArgumentError(f"app is {shown(app)}, expected 'walks', 'khop' or 'minibatch'")


def batches(num_neighbors: Any, ends: Any, replace: bool, weighted: bool) -> Any:
    """The parameters of mini-batches of a graph of several types."""
    return fill(_tendril.MinibatchParams(), **fanouts(num_neighbors, ends), replace=replace, weighted=weighted)


def gpu(device: Any) -> int:
    """The number of a GPU."""
    place = _gpu.parse(device)
    if place == _gpu.HOST:
        raise ArgumentError("device is 'cpu', expected a GPU as in 'cuda'")
    return place


def place_types(
    core: _tendril.HeteroGraph,
    gpu_bytes: int | str | None,
    policy: str,
    share: str,
    what: Any,
    start_type: int,
    starts: ArrayLike | None,
    num_samples: int,
    batch_size: int,
    seed: int,
    device: Any,
) -> _tendril.HeteroGraph:
    """The core of a placed graph of several types, as `HeteroGraph.place` says."""
    number = gpu(device)
    return _tendril.place_types(
        core,
        num_bytes(gpu_bytes, "gpu_bytes"),
        policy,
        share,
        what,
        start_type,
        None if starts is None else _arrays.ids(starts, "starts"),
        integer(num_samples, "num_samples"),
        integer(batch_size, "batch_size"),
        unsigned(seed, "seed"),
        number,
    )


def place(
    core: _tendril.Graph,
    gpu_bytes: int | str | None,
    policy: str | ArrayLike,
    share: str,
    what: Any,
    starts: ArrayLike | None,
    num_samples: int,
    batch_size: int,
    seed: int,
    device: Any,
) -> _tendril.Graph:
    """The core of a placed graph, as `Graph.place` says."""
    place = gpu(device)
    return _tendril.place_graph(
        core,
        num_bytes(gpu_bytes, "gpu_bytes"),
        policy if isinstance(policy, str) else "scores",
        share,
        what,
        None if isinstance(policy, str) else _arrays.weights(policy, "policy"),
        None if starts is None else _arrays.ids(starts, "starts"),
        integer(num_samples, "num_samples"),
        integer(batch_size, "batch_size"),
        unsigned(seed, "seed"),
        place,
    )
