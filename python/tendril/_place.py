"""The place of a call (CPU or GPU), and conversion of arrays to and from that place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _gpu, _tendril
from ._device_array import DeviceArray
from ._errors import ArgumentError, shown
from ._params import string, threads

if TYPE_CHECKING:
    from ._graph import Graph


@dataclass(frozen=True)
class Place:
    """The CPU or a GPU, and the data that a call there needs."""

    core: _tendril.Graph
    device: int
    how: int
    """The stream's handle; on the CPU the number of threads."""
    num_threads: int

    @property
    def on_gpu(self) -> bool:
        return self.device != _gpu.HOST

    def ids(self, value: Any, what: str, ndim: int = 1) -> Any:
        """Vertex ids of one or two dimensions in the form that the library's call takes."""
        if self.on_gpu:
            return _gpu.ids(value, what, ndim, self.device, self.how, self.num_threads)
        return _arrays.ids(value if ndim == 1 else _arrays.as_array(value, what).reshape(-1), what)

    def offsets(self, value: Any, what: str) -> Any:
        """Offsets, as int64."""
        if self.on_gpu:
            return _gpu.values(value, what, np.int64, self.device, self.how)
        return _arrays.offsets(value, what)

    def floats(self, value: Any, what: str) -> Any:
        """Numbers as float32; None is passed through."""
        if self.on_gpu and value is not None:
            return _gpu.values(value, what, np.float32, self.device, self.how)
        return _arrays.weights(value, what)

    def give(self, array: Any) -> Any:
        """A result in the form that users get; None is passed through."""
        return DeviceArray(array) if self.on_gpu and array is not None else array


def expect_graph(graph: Any) -> None:
    if not hasattr(graph, "_core_on"):
        raise ArgumentError(f"graph is a {type(graph).__name__}, expected a Graph")


def of_call(graph: Graph, device: Any, order: str, stream: Any) -> int:
    """The number of the place of a call: ``device``, or the graph's memory by default."""
    expect_graph(graph)
    place = graph._core.device if device is None else _gpu.parse(device)
    if string(order, "order") not in ("rows", "steps", "ragged"):
        raise ArgumentError(f"order is {shown(order)}, expected 'rows', 'steps' or 'ragged'")
    if place == _gpu.HOST and order == "steps":
        raise ArgumentError("order is 'steps', expected 'rows' or 'ragged' on the CPU")
    if place == _gpu.HOST:
        _gpu.expect_no_stream(stream)
    return place


def of(graph: Graph, device: Any, stream: Any, num_threads: Any) -> Place:
    """The place of a call: ``device``, or the graph's memory by default."""
    place = of_call(graph, device, "rows", stream)
    count = threads(num_threads)
    core = graph._core_on(place)
    return Place(core, place, count if place == _gpu.HOST else _gpu.stream_handle(stream, place), count)


def batches(value: Any, what: str) -> tuple[int, ...]:
    """The shape of batches: one batch, [k], or several, [n, k]."""
    shape = _gpu.shape_of(value, what)
    if len(shape) not in (1, 2):
        raise ArgumentError(f"{what} has shape {shape}, expected one dimension, or two: samples, vertices of each")
    return shape


def cut(value: Any, offsets: Any, what: str, place: Place) -> tuple[Any, Any]:
    """Sets of ids and the start of each set: rows of equal length, or one row that ``offsets`` partitions."""
    if offsets is not None:
        return place.ids(value, what), place.offsets(offsets, "offsets")
    shape = batches(value, what)
    rows, length = shape if len(shape) == 2 else (1, shape[0])
    return place.ids(value, what, len(shape)), place.offsets(_arrays.multiples(rows, length, what), "offsets")
