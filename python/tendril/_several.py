"""Calls that several GPUs share: each makes the samples of a range of ids, and the parts come together on the first."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from . import _arrays, _gpu, _place, _tendril
from ._device_array import DeviceArray
from ._errors import ArgumentError, shown
from ._params import integer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Call = TypeVar("Call", bound=Callable[..., Any])


def shared(
    by: str, first: str, *, each: str | None = None, ndim: int = 1, moves: bool = False
) -> Callable[[Call], Call]:
    """A sampling function whose samples several GPUs can share, for example ``device="cuda:0,1"``.

    Parameters
    ----------
    by : str
        The parameter that has an element, or a row, for each sample, or for each ``each`` of them; or their number.
    first : str
        The parameter with the logical number of the first sample.
    each : str, optional
        The parameter with the number of samples for each element of ``by``.
    ndim : int
        Dimensions that ``by`` has at least if it holds several samples; with fewer it is one sample, for one GPU.
    moves : bool
        Whether a call on one of the GPUs that a graph is spread over keeps all of them busy, unless walks are ragged.
    """

    def mark(function: Any) -> Any:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def call(*arguments: Any, **keywords: Any) -> Any:
            device = keywords.get("device")
            devices = None if device is None else _gpu.parse_several(device)
            if devices is None:
                return function(*arguments, **keywords)
            bound = signature.bind(*arguments, **keywords)
            bound.apply_defaults()
            if moves:
                _place.expect_graph(bound.arguments["graph"])
                if bound.arguments["graph"]._core.spread_over and bound.arguments["order"] == "rows":
                    devices = devices[:1]
            return deal(function, bound, [_gpu.name_of(number) for number in devices], by, first, each, ndim)

        return call

    return mark


def deal(
    function: Callable[..., Any],
    bound: inspect.BoundArguments,
    devices: Sequence[str],
    by: str,
    first: str,
    each: str | None = None,
    ndim: int = 1,
) -> Any:
    """What one call on the first device returns, made by calls on all of them at once."""
    given = bound.arguments
    if given.get("stream") is not None:
        raise ArgumentError("stream is given, expected none: each of several GPUs has its own")
    if given.get("order", "rows") == "samples" or (given.get("order") == "steps" and "starts" in given):
        expected = "'steps'" if given["order"] == "samples" else "'rows' or 'ragged'"
        raise ArgumentError(f"order is {shown(given['order'])}, expected {expected} on several GPUs")
    whole = _elements(given, by)
    size = whole if isinstance(whole, int) else len(whole) if whole.ndim >= ndim else 0
    factor = 1 if each is None else max(integer(given[each], each), 0)
    start = integer(given[first], first)

    def arguments_of(i: int) -> dict[str, Any]:
        begin, end = size * i // len(devices), size * (i + 1) // len(devices)
        part = end - begin if isinstance(whole, int) else whole[begin:end]
        return {by: part, first: start + begin * factor, "device": devices[i]}

    def run(changes: dict[str, Any]) -> Any:
        changed = inspect.BoundArguments(bound.signature, {**given, **changes})
        return function(*changed.args, **changed.kwargs)

    busy = [i for i in range(len(devices)) if size * i // len(devices) < size * (i + 1) // len(devices)]
    if len(busy) < 2 or factor == 0:
        return run({by: whole, "device": devices[0]})
    parts = side_by_side(
        [functools.partial(run, arguments_of(i)) for i in busy], lambda: run({by: whole, "device": devices[0]})
    )
    ragged = ("offsets", "vertices") if given.get("order") == "ragged" else ()
    return join(parts, devices[0], ragged)


def side_by_side(calls: Sequence[Callable[[], Any]], whole: Callable[[], Any]) -> list[Any]:
    """What the calls return, each from a thread of its own. If one is refused, ``whole`` makes all samples in one call,
    whose message counts them from the first."""
    if not calls:
        return [whole()]
    with ThreadPoolExecutor(len(calls)) as threads:
        parts = [threads.submit(call) for call in calls]
    for part in parts:
        if isinstance(part.exception(), ArgumentError):
            whole()
    return [part.result() for part in parts]


def on_host(value: Any, what: str) -> Any:
    """An array of ids in host memory, from any memory."""
    if _gpu.device_of(value) != _gpu.HOST:
        way = next((getattr(value, name) for name in ("cpu", "numpy", "get") if hasattr(value, name)), None)
        value = value if way is None else way()
    return _arrays.as_array(value, what)


def _elements(given: dict[str, Any], by: str) -> Any:
    """The elements that the samples are made for, in host memory; or their number."""
    value = given[by]
    if by == "num_samples":
        if value is None:
            raise ArgumentError("num_samples is None, expected a number of samples on several GPUs")
        return integer(value, by)
    if value is None:
        return np.arange(given["graph"].num_vertices, dtype=np.uint32)
    array = on_host(value, by)
    if array.ndim == 0:
        raise ArgumentError(f"{by} is {shown(value)}, expected an array")
    return array


def join(parts: list[Any], device: str, names: Sequence[str] = ()) -> Any:
    """The results of consecutive samples as one result, in the memory of ``device``.

    Parameters
    ----------
    parts : list
        What the same function returned for each range of samples.
    device : str
    names : sequence of str
        The names of the elements of a plain tuple, if some of them are offsets.
    """
    one: Any = parts[0]
    if dataclasses.is_dataclass(one):
        fields = [field.name for field in dataclasses.fields(one)]
        made = [_join_named(name, [getattr(part, name) for part in parts], device) for name in fields]
        kind: Any = type(one)
        return kind(*made)
    if isinstance(one, tuple) and hasattr(one, "_fields"):
        return type(one)(*(_join_named(name, [getattr(p, name) for p in parts], device) for name in one._fields))
    if isinstance(one, tuple):
        pairs = zip(names or [""] * len(one), zip(*parts, strict=True), strict=True)
        return tuple(_join_named(name, list(values), device) for name, values in pairs)
    raise TypeError(f"a {type(one).__name__} can't be joined")


def _join_named(name: str, parts: list[Any], device: str) -> Any:
    one = parts[0]
    if isinstance(one, dict):
        return {key: _join_named(name, [part[key] for part in parts], device) for key in one}
    if isinstance(one, list):
        return [_join_named(name, list(values), device) for values in zip(*parts, strict=True)]
    if isinstance(one, (np.ndarray, DeviceArray)):
        return _join_arrays(name, parts, device)
    if dataclasses.is_dataclass(one) or (isinstance(one, tuple) and hasattr(one, "_fields")):
        return join(parts, device)
    return one  # None, or a number that doesn't depend on the samples


def _join_arrays(name: str, parts: list[Any], device: str) -> Any:
    if len(parts) == 1 and getattr(parts[0], "device", "cpu") == device:
        return parts[0]
    are_offsets = name.endswith("offsets")
    axis = 1 if name == "edge_index" else 0
    if isinstance(parts[0], DeviceArray):
        cores, number = [part._core for part in parts], _gpu.parse(device)
        return DeviceArray(_tendril.join_offsets(cores, number) if are_offsets else _tendril.join(cores, axis, number))
    if not are_offsets:
        return np.concatenate(parts, axis=axis)
    bases = np.cumsum([0, *(part[-1] for part in parts[:-1])])
    tails = [part[1:] + base for part, base in zip(parts, bases, strict=True)]
    return np.concatenate([parts[0][:1], *tails])
