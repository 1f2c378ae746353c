"""Graphs and samplers as other processes get them: what `pickle` and `copy` make of them."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _gpu, _tendril
from ._errors import FormatError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PIECES = 64
_PIECE_BYTES = 4096


class Unchanging:
    """An object that never changes: its copies are the object itself."""

    __slots__ = ()

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


@dataclass(frozen=True)
class MappedFile:
    """The file that a graph or a table of features is mapped from, as it was when it was opened."""

    path: str
    format: str  # of a graph; the name of the tensor that holds features
    state: tuple[int, ...]

    @classmethod
    def of(cls, path: str, format: str) -> MappedFile:
        where = os.path.abspath(path)
        return cls(where, format, _state_of(where))

    def mark(self) -> str | None:
        """Tells the file's content from that of other files; None if another file has taken its place since."""
        try:
            return _digest_of(self.path) if _state_of(self.path) == self.state else None
        except OSError:
            return None


def of_graph(graph: Any) -> tuple[Any, ...]:
    """A mapped graph as the name of its file, any other as its arrays, a GPU's as those in host memory."""
    file = graph._file
    mark = None if file is None else file.mark()
    if mark is not None:
        return _graph_of_file, (type(graph), file.path, file.format, mark)
    core = graph._core if graph._core.device == _gpu.HOST else graph._core.to_host()
    return _graph_of_state, (type(graph), _tendril.graph_state(core))


def _graph_of_file(kind: Any, path: str, format: str, mark: str) -> Any:
    graph = kind.load(path, format=format)
    expect_same_file(path, mark, "graph")
    return graph


def expect_same_file(path: str, mark: str, what: str) -> None:
    """Checks that a file is the one that something was pickled from; ``mark`` is its `MappedFile.mark`."""
    if _digest_of(path) != mark:
        raise FormatError(f"{path}: another file than the one that the {what} was pickled from, expected the same")


def _graph_of_state(kind: Any, state: Any) -> Any:
    if not isinstance(state, dict):
        raise FormatError(f"a pickled graph: its state is a {type(state).__name__}, expected a dict")
    return kind(_tendril.graph_of_state(state))


def made_by(kind: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """An object, from the arguments of its constructor."""
    return kind(*arguments, **keywords)


def host_array(array: Any) -> NDArray[Any]:
    """An array of the library, whatever memory it is in, as NumPy's."""
    return array if isinstance(array, np.ndarray) else _from_gpu(array)


def edge_times(core: _tendril.HeteroGraph, number: int, edges: Any) -> NDArray[np.int64] | None:
    """Times of the edges of the type of a number, in the graph's order; None without times. ``edges``: its graph."""
    order: Any = core.order_arrays(number)
    if order is None:
        return None
    times, ordinal = (host_array(array) for array in order)
    degrees = edges.to("cpu").degrees()
    first = np.cumsum(degrees) - degrees
    out = np.empty(len(times), np.int64)
    out[_arrays.repeated(first, degrees, "edges") + ordinal.view(np.uint32)] = times
    return out


def _from_gpu(array: Any) -> NDArray[Any]:
    from ._device_array import DeviceArray

    return DeviceArray(array).numpy()


def _state_of(path: str) -> tuple[int, ...]:
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _digest_of(path: str) -> str:
    """Of a file's size and of pieces all over it, the header's first: reading all of it would take as long as a copy."""
    size = os.path.getsize(path)
    digest = hashlib.sha256(str(size).encode())
    with open(path, "rb") as file:
        for i in range(_PIECES):
            file.seek(max(size - _PIECE_BYTES, 0) * i // (_PIECES - 1))
            digest.update(file.read(_PIECE_BYTES))
    return digest.hexdigest()
