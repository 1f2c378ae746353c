"""Rows of features: in arrays of the caller's, or in mapped files."""

from __future__ import annotations

import math
import mmap
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _pickles, _tendril
from ._errors import ArgumentError, shown
from ._params import file_name, string, threads

if TYPE_CHECKING:
    import os

    from numpy.typing import ArrayLike, DTypeLike, NDArray

_BFLOAT16 = "bfloat16"  # NumPy has no such type
_DLPACK_CPU = (1, 0)
_DLPACK_CUDA_HOST = 3


class FeatureTable(_pickles.Unchanging):
    """Rows of features, all of one shape, in host memory or in a mapped file.

    ``FeatureTable(array)`` refers to the rows of an array, without a copy; `read_features` maps a file. NumPy, Torch
    and other libraries use the rows without a copy, too: ``np.asarray(table)``, ``torch.from_dlpack(table)``. The rows
    of a mapped file are read-only: do not write to what these calls return. Pickled, a table of a file is the file's
    name, any other its rows.

    Parameters
    ----------
    array : array
        [rows, …] of bool, integers, float16, bfloat16, float32 or float64: a NumPy array, np.memmap included, or
        anything with DLPack in CPU memory. Each row must be in one piece; there may be gaps between rows.

    Raises
    ------
    ArgumentError
        For an array of another type or layout, or without dimensions.
    """

    __slots__ = ("__weakref__", "_core", "_file", "_source")

    def __init__(self, array: Any) -> None:
        self._core = _core_of_array(array, "array")
        self._source: Any = array
        self._file: _pickles.MappedFile | None = None

    @classmethod
    def _of_core(cls, core: _tendril.FeatureTable, file: _pickles.MappedFile | None = None) -> FeatureTable:
        table = cls.__new__(cls)
        table._core, table._source, table._file = core, None, file
        return table

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows, then the shape of a row."""
        return tuple(self._core.shape)

    @property
    def dtype(self) -> str:
        """Name of the elements' type: "float32", "bfloat16"."""
        return self._core.dtype

    @property
    def nbytes(self) -> int:
        """Bytes of all rows."""
        return self._core.num_bytes

    def __len__(self) -> int:
        return self.shape[0]

    def gather(self, ids: ArrayLike, out: Any = None, *, num_threads: int = 0) -> Any:
        """The rows of some ids. As `tendril.gather` of this table."""
        return gather(self, ids, out=out, num_threads=num_threads)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if self.dtype == _BFLOAT16:
            raise TypeError("NumPy has no bfloat16: use torch.from_dlpack(table)")
        array = _numpy(self._core) if self._source is None else _arrays.as_array(self._source, "table")
        if dtype is not None and np.dtype(dtype) != array.dtype:
            if copy is False:
                raise ValueError(f"rows of {array.dtype} can't become {np.dtype(dtype)} without a copy")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack_device__(self) -> tuple[int, int]:
        return _DLPACK_CPU

    def __dlpack__(self, **keywords: Any) -> Any:
        """The memory as a DLPack capsule; the keywords are those of the Python array API standard."""
        exporter: Any = self._core.export() if self._source is None else self._source
        return exporter.__dlpack__(**keywords)

    def __reduce__(self) -> Any:
        mark = None if self._file is None else self._file.mark()
        if self._file is not None and mark is not None:
            return _of_file, (type(self), self._file.path, self._file.format, mark)
        # What lies in an array of the caller's may have gaps between rows; what was gathered has none.
        memory = self._core.bytes() if self._source is None else _dense_bytes(self._core)
        return _of_bytes, (type(self), memory, self.dtype, self.shape)

    def __repr__(self) -> str:
        place = "" if self._file is None else f", file={self._file.path!r}"
        return f"FeatureTable(shape={self.shape}, dtype='{self.dtype}'{place})"


def read_features(path: str | os.PathLike[str], name: str | None = None) -> FeatureTable:
    """Map a file of features. Rows are read when they are used, so the file may be larger than memory.

    Do not overwrite or shorten the file while the table is in use; to replace it by renaming another file is safe.

    Parameters
    ----------
    path : path
        A .npy, row-major and little-endian, or a .safetensors.
    name : str, optional
        The tensor of a .safetensors; needed if it has several.

    Returns
    -------
    FeatureTable
        [rows, …], read-only.

    Raises
    ------
    IoError
        If the file can't be opened or mapped.
    FormatError
        If the file is malformed, or holds no table of bool, integers, float16, bfloat16, float32 or float64.
    ArgumentError
        For a name that the file does not have, or none where it has several tensors; the message lists them.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "features.npy")
    >>> np.save(path, np.arange(12, dtype=np.float32).reshape(4, 3))
    >>> table = tendril.read_features(path)
    >>> table.shape, table.dtype
    ((4, 3), 'float32')
    >>> table.gather([3, 0])
    array([[ 9., 10., 11.],
           [ 0.,  1.,  2.]], dtype=float32)
    """
    where = file_name(path, "path")
    wanted = "" if name is None else string(name, "name")
    core = _tendril.read_features(where, wanted)
    return FeatureTable._of_core(core, _pickles.MappedFile.of(where, wanted))


def gather(table: Any, ids: ArrayLike, *, out: Any = None, num_threads: int = 0) -> Any:
    """Gather rows of features: row ``i`` of the result is row ``ids[i]`` of the table.

    The call releases the GIL. Threads share the rows; the result doesn't depend on their number. Of a mapped file,
    pages that are not in memory are read many at a time.

    Parameters
    ----------
    table : FeatureTable or array
        [rows, …]; an array as `FeatureTable` takes it.
    ids : array_like of int
        One dimension, each in [0, rows). Negative ids don't count from the end. int32 and int64 are not copied.
    out : array, optional
        [ids, …]: where the rows go. Contiguous, writable, of the table's dtype, with memory of its own: a NumPy array
        or anything with DLPack in CPU memory. Default: new memory.
    num_threads : int
        Number of threads; 0: every core the process may use.

    Returns
    -------
    numpy.ndarray, FeatureTable or `out`
        [ids, …]. A FeatureTable for bfloat16, which NumPy doesn't have: ``torch.from_dlpack`` takes it without a
        copy.

    Raises
    ------
    ArgumentError
        For the first id out of range, and for a table or an `out` of another type, shape or layout. The content of
        `out` is unspecified then.
    OutOfMemoryError
        If the result doesn't fit.

    Examples
    --------
    >>> import numpy as np
    >>> tendril.gather(np.array([[1, 2], [3, 4], [5, 6]]), [2, 0, 2])
    array([[5, 6],
           [1, 2],
           [5, 6]])
    """
    core = table._core if isinstance(table, FeatureTable) else _core_of_array(table, "table")
    rows = _row_ids(ids, core)
    if out is None:
        return _gathered(core, rows, threads(num_threads))
    _expect_array(out, "out")
    try:
        core.gather_into(rows, _not_pinned(out), threads(num_threads))
    except (TypeError, BufferError) as error:
        raise ArgumentError(f"out is {_kind(out)}, expected writable numbers in CPU memory") from error
    return out


def _gathered(core: _tendril.FeatureTable, ids: NDArray[Any], num_threads: int) -> Any:
    """Rows in new memory."""
    shape, what = (ids.size, *core.shape[1:]), f"{ids.size} rows of {core.row_bytes} bytes"
    if core.dtype != _BFLOAT16:
        out = _arrays.empty(shape, core.dtype, what)
        core.gather_into(ids, out, num_threads)
        return out
    memory = _arrays.empty((math.prod((ids.size, core.row_bytes)),), np.uint8, what)
    made = _tendril.feature_table_of_bytes(memory, core.dtype, shape)
    exporter: Any = made.export()
    core.gather_into(ids, exporter, num_threads)
    return FeatureTable._of_core(made)


def _core_of_array(array: Any, what: str) -> _tendril.FeatureTable:
    _expect_array(array, what)
    try:
        return _tendril.feature_table(_not_pinned(array), what, is_mapped(array))
    except (TypeError, BufferError) as error:
        raise ArgumentError(f"{what} is {_kind(array)}, expected numbers in CPU memory") from error


def _not_pinned(array: Any) -> Any:
    """Page-locked memory, which is another device to DLPack, as a NumPy array of the same memory."""
    if isinstance(array, np.ndarray) or not hasattr(array, "numpy"):
        return array
    try:
        device = array.__dlpack_device__()[0]
    except (TypeError, ValueError, RuntimeError, BufferError):  # what cannot be shared: whoever takes it says so
        return array
    return array.numpy() if device == _DLPACK_CUDA_HOST else array


def _expect_array(value: Any, what: str) -> None:
    if isinstance(value, np.ndarray):
        if not value.dtype.isnative:
            raise ArgumentError(f"{what} has dtype {value.dtype}, expected one in this machine's byte order")
    elif not hasattr(value, "__dlpack__"):
        raise ArgumentError(f"{what} is {shown(value)}, expected an array")
    if getattr(value, "requires_grad", False):
        raise ArgumentError(f"{what} requires gradients, which a gather does not record: pass its .detach()")


def _kind(array: Any) -> str:
    dtype, device = getattr(array, "dtype", None), getattr(array, "device", None)
    if isinstance(array, np.ndarray) and not array.flags.writeable:
        return f"a read-only array of {dtype}"
    return f"a {type(array).__name__} of {dtype}" + ("" if device is None else f" on {device}")


def is_mapped(array: Any) -> bool:
    """Whether a NumPy array is a view of a mapped file."""
    while isinstance(array, np.ndarray):
        if isinstance(array.base, mmap.mmap):
            return True
        array = array.base
    return False


def _row_ids(ids: ArrayLike, table: _tendril.FeatureTable) -> NDArray[Any]:
    """Ids as contiguous int32 or int64."""
    if isinstance(ids, np.ndarray) and ids.ndim == 1 and ids.dtype in (np.int64, np.int32):
        array = ids
    else:
        array = _arrays.ids(ids, "ids")
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        place = int(np.argmax(array >= table.shape[0]))
        raise ArgumentError(f"ids[{place}] is {array[place]}, expected 0 to {table.shape[0] - 1}")
    wanted = np.int32 if array.dtype == np.int32 else np.int64
    return np.require(array, wanted, ["C_CONTIGUOUS", "ALIGNED"])


def _numpy(core: _tendril.FeatureTable) -> NDArray[Any]:
    """A table without gaps as NumPy's, without a copy."""
    return np.ndarray(core.shape, core.dtype, core.bytes())


def _of_file(kind: type[FeatureTable], path: str, name: str, mark: str) -> FeatureTable:
    table = read_features(path, name or None)
    _pickles.expect_same_file(path, mark, "table")
    return table


def _dense_bytes(core: _tendril.FeatureTable) -> NDArray[np.uint8]:
    every = _gathered(core, np.arange(core.shape[0]), 0)
    return every._core.bytes() if isinstance(every, FeatureTable) else every.reshape(-1).view(np.uint8)


def _of_bytes(kind: type[FeatureTable], rows: NDArray[np.uint8], dtype: str, shape: tuple[int, ...]) -> FeatureTable:
    own = rows if rows.flags.owndata and rows.flags.writeable else rows.copy()
    return kind._of_core(_tendril.feature_table_of_bytes(own, dtype, shape))
