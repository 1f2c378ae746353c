"""Arrays that stay in GPU memory."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from . import _tendril

_DLPACK_CPU = 1
_DLPACK_CUDA = 2
_DLPACK_TYPES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 6: "bool"}
_BFLOAT16 = "bfloat16"


class DeviceArray:
    """An array in the memory of a GPU. Other libraries can use it without a copy.

    ``torch.from_dlpack(array)``, ``cupy.from_dlpack(array)`` and ``cupy.asarray(array)`` share its memory.
    ``array.numpy()`` copies it to the host; NumPy functions copy it, too. ``array[2:5]``, ``array[0]`` and ``array[:,
    a:b]`` share its memory. It has no arithmetic: use those libraries for computation.

    If a consumer names its stream (DLPack does), that stream waits for the elements and the host does not. After the
    array and all objects that share its memory are deleted, the memory is used again only after the whole GPU was idle
    once. Work on any stream that still reads the memory is therefore safe.
    """

    __slots__ = ("__weakref__", "_core")

    def __init__(self, core: _tendril.GpuArray) -> None:
        self._core = core

    def __reduce__(self) -> Any:
        """Another process gets a NumPy array."""
        return np.asarray, (self.numpy(),)

    def __copy__(self) -> DeviceArray:
        return DeviceArray(self._core)

    @property
    def shape(self) -> tuple[int, ...]:
        """Size of each dimension."""
        return tuple(self._core.shape)

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes between consecutive elements along each dimension, as in NumPy."""
        return tuple(stride * self._itemsize for stride in self._core.strides)

    @property
    def dtype(self) -> np.dtype[Any]:
        """int64, int32 or float32; of gathered features what they are. NumPy has no bfloat16: a TypeError says so."""
        if self._type == _BFLOAT16:
            raise TypeError("NumPy has no bfloat16: use torch.from_dlpack(array)")
        return np.dtype(self._type)

    @property
    def _type(self) -> str:
        name, bits = _DLPACK_TYPES[self._core.type_code], self._core.bits
        return name if name == "bool" else f"{name}{bits}"

    @property
    def _itemsize(self) -> int:
        return self._core.bits // 8

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Total bytes of all elements."""
        return self.size * self._itemsize

    @property
    def device(self) -> str:
        """The GPU that holds the array: "cuda:0"."""
        return f"cuda:{self._core.device}"

    def numpy(self) -> NDArray[Any]:
        """A copy in host memory, with the same memory order. Waits for the elements."""
        if self.size == 0:
            return np.empty(self.shape, self.dtype)
        strides = self._core.strides
        span = 1 + sum((extent - 1) * stride for extent, stride in zip(self.shape, strides, strict=True))
        if self.ndim > 1 and span > 2 * self.size and len(self) <= 64:  # a small part of long rows: copy row by row
            return np.stack([self[i].numpy() for i in range(len(self))])
        out = np.empty(span, self.dtype)
        self._core.copy_out(out)
        view = np.lib.stride_tricks.as_strided(out, self.shape, self.strides)
        return view if span == self.size else view.copy()

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError(f"an array on {self.device} can't become a NumPy array without a copy")
        return self.numpy().astype(dtype or self.dtype, copy=False)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (_DLPACK_CUDA, self._core.device)

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """The memory as a DLPack capsule; ``stream`` waits for the elements.

        Parameters
        ----------
        stream : int, optional
            None, 0 or 1: the default stream, which every thread's own default stream also waits for; 2: this thread's
            default stream; -1: no stream waits; else a ``cudaStream_t``.
        max_version, dl_device, copy
            As in the Python array API standard. ``dl_device=(1, 0)`` copies to the host.
        """
        if dl_device == (_DLPACK_CPU, 0):
            if copy is False:
                raise BufferError(f"an array on {self.device} can't reach the host without a copy")
            return self.numpy().__dlpack__()
        if copy is True or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError(f"an array on {self.device} is shared in place, or copied to the host")
        if stream is not None and stream < -1:
            raise BufferError(f"stream is {stream}, expected -1, 1, 2 or a cudaStream_t")
        if stream != -1:
            self._core.wait(0 if stream in (None, 1) else stream)
        exporter: Any = self._core.export()
        return exporter.__dlpack__(max_version=max_version)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        # The host waits here, so that no stream needs to wait: this protocol names the producer's stream, which may no
        # longer exist when the consumer reads.
        self._core.synchronize()
        in_order, size = True, self._itemsize
        for extent, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            in_order = in_order and (extent <= 1 or stride == size)
            size *= extent
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self._core.pointer, False),
            "strides": None if in_order else self.strides,
            "stream": None,
            "version": 3,
        }

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> DeviceArray:
        """A part of the array that shares its memory. Indices are integers and slices without a step; the result keeps
        at least one dimension."""
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) > self.ndim:
            raise IndexError(f"{len(keys)} indices, expected at most {self.ndim}")
        offset, shape, strides = 0, [], []
        for i, (extent, stride) in enumerate(zip(self.shape, self._core.strides, strict=True)):
            one = keys[i] if i < len(keys) else slice(None)
            if isinstance(one, slice):
                first, last, step = one.indices(extent)
                if step != 1:
                    raise IndexError(f"a slice with step {step}, expected 1")
                shape.append(max(last - first, 0))
                strides.append(stride)
            else:
                first = operator.index(one)
                if not -extent <= first < extent:
                    raise IndexError(f"index {first} is out of range for {extent} elements")
                first %= extent
            offset += first * stride
        if not shape:
            raise IndexError("an index of each dimension, expected a part: numpy() copies elements")
        return DeviceArray(self._core.part(offset, shape, strides))

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self._type}, device='{self.device}')"
