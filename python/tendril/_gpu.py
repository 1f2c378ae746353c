"""GPUs, streams, and conversion of the caller's arrays for calls on a GPU."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _arrays, _tendril
from ._errors import ArgumentError, DeviceError, shown

HOST = -1
"""The device number of host memory, in place of a GPU's number."""

_DLPACK_CUDA = 2


@dataclass(frozen=True)
class GpuInfo:
    """Properties of a GPU."""

    name: str
    """The manufacturer's name."""
    device: str
    """Tendril's name: "cuda:0"."""
    compute_capability: tuple[int, int]
    """Compute capability: major and minor."""
    num_multiprocessors: int
    """Number of multiprocessors."""
    l2_bytes: int
    """Size of the second-level cache."""
    total_bytes: int
    """Size of the GPU's memory."""
    free_bytes: int
    """Memory available at the time of the call, including memory that tendril keeps for later calls."""


_user: int | None = None  # the process that has used a GPU: its forks can't


def expect_usable() -> None:
    """Checks that this process was not forked from one that has used a GPU: CUDA would fail there, or hang."""
    if _user not in (None, os.getpid()):
        raise DeviceError(
            "this process was forked after a GPU was used, and CUDA doesn't survive that: expected processes that start "
            "with 'spawn' or 'forkserver'"
        )


def note_use() -> None:
    global _user
    _user = os.getpid()


def num_gpus() -> int:
    """Number of usable GPUs: 0 without a driver, and in a build without CUDA."""
    return _tendril.num_gpus()


def gpu_info(device: Any = "cuda") -> GpuInfo:
    """Get the properties of a GPU.

    Parameters
    ----------
    device : str
        "cuda" (the first) or "cuda:1".

    Returns
    -------
    GpuInfo

    Raises
    ------
    DeviceError
        If the GPU can't be used; the message gives the reason: built without CUDA, no driver, a driver too old, no such
        GPU.
    """
    number = parse(device)
    if number == HOST:
        raise ArgumentError(f"device is {shown(device)}, expected 'cuda' or 'cuda:0'")
    info = _tendril.describe_gpu(number)
    free = _tendril.free_gpu_bytes(number)
    note_use()
    return GpuInfo(
        info.name,
        name_of(number),
        info.compute_capability,
        info.num_multiprocessors,
        info.l2_bytes,
        info.total_bytes,
        free,
    )


def graph_room() -> int:
    """GPU memory that a graph may take in calls that bring it there, in bytes; 0: the free memory. Tests replace it."""
    return 0


def name_of(device: int) -> str:
    return "cpu" if device == HOST else f"cuda:{device}"


def parse(device: Any) -> int:
    """The number of "cpu", "cuda", "cuda:1", or of an object that prints as one of these, such as torch.device."""
    if isinstance(device, (list, tuple)) and len(device) == 1:
        device = device[0]
    match = re.fullmatch(r"cpu|cuda(?::(\d{1,4}|all))?", str(device))
    if match is None or (match[1] == "all" and num_gpus() > 1):
        raise ArgumentError(f"device is {shown(device)}, expected 'cpu', 'cuda' or 'cuda:0'")
    if match[0] == "cpu":
        return HOST
    expect_usable()
    return int(match[1] or 0) if match[1] != "all" else 0


def parse_several(device: Any) -> list[int] | None:
    """The numbers of several GPUs: of a list or tuple of names, "cuda:0,1", or "cuda:all" on a machine with several; None
    for one device."""
    if isinstance(device, (list, tuple)) and len(device) == 1:
        return None
    if isinstance(device, (list, tuple)):
        numbers = [parse(one) for one in device]
        if not numbers or HOST in numbers:
            raise ArgumentError(f"device is {shown(device)}, expected names of GPUs")
    elif str(device) == "cuda:all":
        expect_usable()
        numbers = list(range(num_gpus()))
    elif re.fullmatch(r"cuda:\d{1,4}(,\d{1,4})+", str(device)):
        expect_usable()
        numbers = [int(number) for number in str(device).removeprefix("cuda:").split(",")]
    else:
        return None
    if len(set(numbers)) < len(numbers):
        raise ArgumentError(f"device is {shown(device)}, expected different GPUs")
    return numbers if len(numbers) > 1 else None


def expect_no_stream(stream: Any) -> None:
    """Checks that a call on the CPU got no stream."""
    if stream is not None:
        raise ArgumentError("stream is given, but the call runs on the CPU")


def stream_handle(stream: Any, device: int) -> int:
    """The cudaStream_t of a caller's stream, 0 for the default stream. None: Torch's current stream, if Torch is in
    use."""
    expect_usable()
    note_use()
    if stream is None:
        cuda: Any = getattr(sys.modules.get("torch"), "cuda", None)
        in_use = cuda is not None and hasattr(cuda, "is_initialized") and cuda.is_initialized()
        stream = cuda.current_stream(device) if in_use else 0
    if hasattr(stream, "__cuda_stream__"):
        version = stream.__cuda_stream__
        handle = (version() if callable(version) else version)[1]
    else:
        handle = next((getattr(stream, name) for name in ("cuda_stream", "ptr") if hasattr(stream, name)), stream)
    if isinstance(handle, bool) or not isinstance(handle, (int, np.integer)) or handle < 0:
        raise ArgumentError(
            f"stream is {shown(stream)}, expected a cudaStream_t as an integer, or an object with __cuda_stream__, "
            "cuda_stream or ptr"
        )
    return 0 if handle == 1 else int(handle)  # 1 is another name for the default stream


def ids(value: Any, what: str, ndim: int, device: int, stream: int, num_threads: int) -> _tendril.GpuIds:
    """Vertex ids for a call on a GPU. Arrays in its memory are used in place, in the order of ``stream``."""
    if not isinstance(value, np.ndarray) and hasattr(value, "__dlpack_device__"):
        if int(value.__dlpack_device__()[0]) == _DLPACK_CUDA:
            return _from_dlpack(value, what, ndim, device, stream)
    elif hasattr(value, "__cuda_array_interface__"):
        return _from_interface(value, what, ndim, device, stream)
    array = _arrays.as_array(value, what)
    _expect_dimensions(array.shape, what, ndim)
    rows, columns = array.shape[0], array.shape[1] if ndim == 2 else 1
    return _tendril.GpuIds.from_host(_arrays.ids(array.reshape(-1), what), what, rows, columns, num_threads)


def device_of(value: Any) -> int:
    """The GPU in whose memory an array lies, or HOST: for anything else, too."""
    if isinstance(value, np.ndarray):
        return HOST
    if hasattr(value, "__dlpack_device__"):
        try:
            kind, device = value.__dlpack_device__()
        except (TypeError, ValueError, RuntimeError, BufferError):  # what cannot be shared: whoever takes it says so
            return HOST
        return int(device) if int(kind) == _DLPACK_CUDA else HOST
    if hasattr(value, "__cuda_array_interface__"):
        pointer = int(value.__cuda_array_interface__["data"][0])
        return _tendril.gpu_of(pointer) if pointer else 0
    return HOST


def _from_dlpack(value: Any, what: str, ndim: int, device: int, stream: int) -> _tendril.GpuIds:
    return _tendril.GpuIds.from_dlpack(_capsule(value, what, ndim, device, stream), what)


def _capsule(value: Any, what: str, ndim: int, device: int, stream: int) -> Any:
    _expect_device(int(value.__dlpack_device__()[1]), what, device)
    _expect_dimensions(value.shape, what, ndim)
    return capsule(value, what, stream)


def capsule(value: Any, what: str, stream: int) -> Any:
    """What DLPack tells of an array in GPU memory. ``stream`` waits for its elements."""
    try:
        return value.__dlpack__(stream=stream or 1)
    except (BufferError, RuntimeError, TypeError) as error:
        raise ArgumentError(f"{what} can't be read through DLPack: {error}") from error


def _from_interface(value: Any, what: str, ndim: int, device: int, stream: int) -> _tendril.GpuIds:
    pointer, shape, dtype, strides = _told(value, what, ndim, device, stream)
    if dtype.kind not in "iu" or not dtype.isnative:
        raise ArgumentError(f"{what} has dtype {dtype}, expected int32 or int64")
    in_elements = [stride // dtype.itemsize for stride in strides]
    return _tendril.GpuIds.from_pointer(
        pointer, what, dtype.kind == "i", 8 * dtype.itemsize, list(shape), in_elements, value
    )


def _told(
    value: Any, what: str, ndim: int, device: int, stream: int
) -> tuple[int, tuple[int, ...], np.dtype[Any], tuple[int, ...]]:
    """Pointer, shape, type and strides of a __cuda_array_interface__; the call's own stream waits for the array's
    stream."""
    told = value.__cuda_array_interface__
    shape = tuple(told["shape"])
    pointer = int(told["data"][0])
    if pointer:
        _expect_device(_tendril.gpu_of(pointer), what, device)
    _expect_dimensions(shape, what, ndim)
    if told.get("mask") is not None:
        raise ArgumentError(f"{what} has a mask, expected an array without")
    dtype = np.dtype(told["typestr"])
    strides = tuple(told.get("strides") or _strides_of(shape, dtype.itemsize))
    if any(stride % dtype.itemsize for stride in strides):
        raise ArgumentError(f"{what} has strides {strides}, expected multiples of its elements' {dtype.itemsize} bytes")
    if told.get("stream") is not None:
        _tendril.order_streams(device, stream_handle(told["stream"], device), stream)
    return pointer, shape, dtype, strides


def values(value: Any, what: str, dtype: Any, device: int, stream: int) -> _tendril.GpuValues:
    """Numbers, float32 or int64, for a call on a GPU. Arrays of that type in its memory are used in place."""
    is_float = np.dtype(dtype) == np.float32
    if not isinstance(value, np.ndarray) and hasattr(value, "__dlpack_device__"):
        if int(value.__dlpack_device__()[0]) == _DLPACK_CUDA:
            return _tendril.GpuValues.from_dlpack(_capsule(value, what, 1, device, stream), what, is_float)
    elif hasattr(value, "__cuda_array_interface__"):
        pointer, shape, found, strides = _told(value, what, 1, device, stream)
        if found != dtype or (shape[0] > 1 and strides[0] != found.itemsize):
            name = np.dtype(dtype).name
            raise ArgumentError(f"{what} is no contiguous array of {name}, as is expected in GPU memory")
        return _tendril.GpuValues.from_pointer(pointer, shape[0], value)
    array: Any = _arrays.weights(value, what) if is_float else _arrays.times(value, what)
    return _tendril.GpuValues.from_host(array)


def shape_of(value: Any, what: str) -> tuple[int, ...]:
    """The shape of an array in any memory, or of a sequence."""
    if not hasattr(value, "shape") and hasattr(value, "__cuda_array_interface__"):
        return tuple(value.__cuda_array_interface__["shape"])
    return tuple(value.shape) if hasattr(value, "shape") else _arrays.as_array(value, what).shape


def _strides_of(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    return (itemsize,) if len(shape) == 1 else (shape[1] * itemsize, itemsize)


def _expect_device(found: int, what: str, device: int) -> None:
    if found != device:
        raise ArgumentError(f"{what} lies on {name_of(found)}, expected {name_of(device)} or host memory")


def _expect_dimensions(shape: Any, what: str, ndim: int) -> None:
    if len(shape) != ndim:
        expected = "one dimension" if ndim == 1 else "two dimensions: samples, roots of each"
        raise ArgumentError(f"{what} has shape {tuple(shape)}, expected {expected}")
