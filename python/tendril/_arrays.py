"""Converts arrays of any origin to the NumPy arrays that the compiled library takes, without a copy if types fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import ArgumentError, OutOfMemoryError, shown
from ._params import string, strings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from . import _tendril

_DLPACK_CPU = 1
_DLPACK_CUDA_HOST = 3
_DLPACK_VERSION = (1, 0)  # the first that knows read-only memory
_LATEST = int(np.iinfo(np.int64).max)


def not_pinned(array: Any) -> Any:
    """Page-locked memory, which is another device to DLPack, as a NumPy array of the same memory; else what is given."""
    if isinstance(array, np.ndarray) or not hasattr(array, "__dlpack_device__") or not hasattr(array, "numpy"):
        return array
    try:
        device = array.__dlpack_device__()[0]
    except (TypeError, ValueError, RuntimeError, BufferError):  # what cannot be shared: whoever takes it says so
        return array
    try:
        return array.numpy() if device == _DLPACK_CUDA_HOST else array
    except TypeError:  # NumPy has no bfloat16
        return array


def exported(array: Any) -> Any:
    """What the extension takes of an array: NumPy's, or what another library exports. That is asked for here, since the binding
    would take an exception that comes meanwhile for a refusal, even that of Ctrl-C.

    Raises
    ------
    TypeError
        If it can't be exported.
    """
    array = not_pinned(array)
    if isinstance(array, np.ndarray) or not hasattr(array, "__dlpack__"):
        return array
    try:
        try:
            return array.__dlpack__(max_version=_DLPACK_VERSION)  # which tells whether it is read-only
        except TypeError:  # of an older library
            return array.__dlpack__()
    except (BufferError, RuntimeError, ValueError) as error:
        raise TypeError(str(error)) from error


def as_array(value: Any, what: str) -> NDArray[Any]:
    """A NumPy array, DLPack exporter in CPU memory, buffer or sequence as a NumPy array."""
    value = not_pinned(value)
    if not isinstance(value, np.ndarray) and hasattr(value, "__dlpack__"):
        try:
            kind = int(value.__dlpack_device__()[0])
            if kind == _DLPACK_CPU:
                return np.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise ArgumentError(f"{what} can't be read through DLPack: {error}") from error
        raise ArgumentError(f"{what} lies on another device (DLPack type {kind}), expected CPU memory")
    try:
        return np.asarray(value)
    except ValueError as error:  # ragged lists
        raise ArgumentError(f"{what} is no array: {error}") from error


def _vector(value: Any, what: str) -> NDArray[Any]:
    array = as_array(value, what)
    if array.ndim != 1:
        raise ArgumentError(f"{what} has shape {array.shape}, expected one dimension")
    return array


def _allocated(make: Callable[[], NDArray[Any]], what: str) -> NDArray[Any]:
    """An array that NumPy makes; for a size beyond memory, or beyond any integer, NumPy raises three kinds of errors."""
    try:
        return make()
    except (MemoryError, OverflowError, ValueError) as error:
        raise OutOfMemoryError(f"out of memory: {what}") from error


def _as_type(array: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
    def convert() -> NDArray[Any]:
        return np.require(array, dtype=dtype, requirements=["C_CONTIGUOUS", "ALIGNED"])

    return _allocated(convert, f"a copy of {array.size} elements as {np.dtype(dtype)}")


def empty(shape: tuple[int, ...], dtype: DTypeLike, what: str) -> NDArray[Any]:
    """Memory for an array; where it is large, in large pages, as NumPy allocates it."""
    return _allocated(lambda: np.empty(shape, dtype), what)


def repeated(values: NDArray[Any], repeats: int | NDArray[Any], what: str) -> NDArray[Any]:
    """Each value as often as ``repeats`` says, one behind the other."""
    times = "several times" if isinstance(repeats, np.ndarray) else f"{repeats} times"
    what = f"{what}: {values.size} elements, each {times}"
    # NumPy's own product wraps around, and np.repeat then writes past the end of what it has allocated.
    total = int(repeats.sum()) if isinstance(repeats, np.ndarray) else values.size * repeats
    if total * values.itemsize > _LATEST:
        raise OutOfMemoryError(f"out of memory: {what}")
    return _allocated(lambda: np.repeat(values, repeats), what)


def multiples(count: int, step: int, what: str) -> NDArray[np.int64]:
    """0, step, 2 * step, … count * step."""
    return _allocated(lambda: np.arange(count + 1) * step, f"{what}: {count} rows of {step} elements")


def ids(value: ArrayLike, what: str) -> NDArray[Any]:
    """Vertex ids as contiguous int32, uint32, int64 or uint64. Arrays of these types are not copied."""
    array = _vector(value, what)
    if array.size == 0:
        return np.empty(0, np.uint32)
    if array.dtype.kind not in "iu":
        raise ArgumentError(f"{what} has dtype {array.dtype}, expected integers")
    return _as_type(array, array.dtype.newbyteorder("=") if array.dtype.itemsize >= 4 else np.int32)


def offsets(value: ArrayLike, what: str) -> NDArray[np.int64]:
    """CSR offsets, as contiguous int64."""
    array = _vector(value, what)
    if array.dtype.kind not in "iu":
        raise ArgumentError(f"{what} has dtype {array.dtype}, expected integers")
    return _as_type(array, np.int64)


def weights(value: ArrayLike | None, what: str) -> NDArray[np.float32] | None:
    """Weights as contiguous float32. A value that overflows becomes infinite, which the library rejects."""
    if value is None:
        return None
    array = _vector(value, what)
    if array.dtype.kind not in "fiub":
        raise ArgumentError(f"{what} has dtype {array.dtype}, expected numbers")
    with np.errstate(over="ignore"):
        return _as_type(array, np.float32)


def labels(value: ArrayLike | None, what: str) -> NDArray[Any] | None:
    """Labels or types as contiguous uint8 or uint16: the narrower type that holds all values."""
    if value is None:
        return None
    array = _vector(value, what)
    if array.size == 0:
        return np.empty(0, np.uint8)
    if array.dtype.kind not in "iu":
        raise ArgumentError(f"{what} has dtype {array.dtype}, expected integers in [0, 65535]")
    if array.dtype in (np.uint8, np.uint16):
        return _as_type(array, array.dtype.newbyteorder("="))
    bad = np.flatnonzero((array < 0) | (array > 0xFFFF))
    if bad.size:
        raise ArgumentError(f"{what}[{bad[0]}] is {array[bad[0]]}, expected an integer in [0, 65535]")
    return _as_type(array, np.uint8 if array.max() <= 0xFF else np.uint16)


def is_int32(dtype: DTypeLike) -> bool:
    """Whether `dtype` requests int32 ids; the alternative is int64."""
    try:
        wanted = np.dtype(dtype)
    except TypeError:
        wanted = None
    if wanted not in (np.dtype(np.int32), np.dtype(np.int64)):
        raise ArgumentError(f"dtype is {shown(dtype)}, expected int64 or int32")
    return wanted == np.int32


def times(value: ArrayLike, what: str) -> NDArray[np.int64]:
    """Points in time, as contiguous int64."""
    array = _vector(value, what)
    if array.size == 0:  # an empty list becomes an array of floats
        return np.empty(0, np.int64)
    if array.dtype.kind == "u" and array.max() > _LATEST:
        place = int(array.argmax())
        raise ArgumentError(f"{what}[{place}] is {array[place]}, expected at most {_LATEST}")
    return offsets(array, what)


def with_attributes(
    core: _tendril.Graph,
    node_types: NDArray[Any] | None,
    edge_label_names: Sequence[str],
    node_type_names: Sequence[str],
    metadata: Mapping[str, str] | None,
) -> _tendril.Graph:
    """A graph with what the builders don't take."""
    names = strings(edge_label_names, "edge_label_names"), strings(node_type_names, "node_type_names")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise ArgumentError(f"metadata is {shown(metadata)}, expected a mapping of strings to strings")
    told = {string(key, "a key of metadata"): string(one, f"metadata[{key!r}]") for key, one in (metadata or {}).items()}
    if node_types is None and not any(names) and not told:
        return core
    return core.with_attributes(node_types, *names, told)
