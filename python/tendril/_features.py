"""Rows of features: in arrays of the caller's, or in mapped files."""

from __future__ import annotations

import math
import mmap
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _gpu, _pickles, _tendril
from ._device_array import DeviceArray
from ._errors import ArgumentError, shown
from ._host_way import Way
from ._params import file_name, flag, string, threads

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, DTypeLike, NDArray

_BFLOAT16 = "bfloat16"  # NumPy has no such type
_DLPACK_CPU = (1, 0)
_DLPACK_CUDA = 2


class FeatureTable(_pickles.Unchanging):
    """Rows of features, all of one shape, in host memory, in a mapped file or in the memory of a GPU.

    ``FeatureTable(array)`` refers to the rows of an array, without a copy; `read_features` maps a file; `to` and
    `pin_memory` say where a GPU finds the rows. NumPy, Torch and other libraries use the rows without a copy, too:
    ``np.asarray(table)``, ``torch.from_dlpack(table)``; NumPy copies those of a GPU. The rows of a mapped file are
    read-only: do not write to what these calls return. Pickled, a table of a file is the file's name, any other its
    rows, in host memory.

    Parameters
    ----------
    array : array
        [rows, …] of bool, integers, float16, bfloat16, float32 or float64: a NumPy array, np.memmap included, or
        anything with DLPack in the memory of the CPU, page-locked or not, or of a GPU. Each row must be in one piece;
        there may be gaps between rows.

    Raises
    ------
    ArgumentError
        For an array of another type or layout, or without dimensions.
    """

    __slots__ = ("__weakref__", "_core", "_file", "_readers", "_source")

    def __init__(self, array: Any) -> None:
        self._core = _core_of_array(array, "array")
        self._source: Any = array
        self._file: _pickles.MappedFile | None = None
        self._readers: dict[int, _tendril.GpuFeatures] = {}

    @classmethod
    def _of_core(
        cls, core: _tendril.FeatureTable, file: _pickles.MappedFile | None = None, source: Any = None
    ) -> FeatureTable:
        table = cls.__new__(cls)
        table._core, table._source, table._file, table._readers = core, source, file, {}
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

    @property
    def device(self) -> str:
        """Where the rows lie: "cpu", for mapped files, too, or "cuda:0"; of those over several GPUs the first of these."""
        return _gpu.name_of(self._core.device)

    def __len__(self) -> int:
        return self.shape[0]

    def to(self, device: Any, *, stream: Any = None, hot: ArrayLike | None = None) -> FeatureTable:
        """Copy the rows to another memory.

        Parameters
        ----------
        device : str
            "cpu", "cuda" or "cuda:1". Several GPUs, as in "cuda:0,1" or "cuda:all": each row lies on one of them, for
            tables that one of them can't hold. Each of them gathers: the one where the ids or `out` lie, else the first.
        stream : cudaStream_t or stream object, optional
            As for `random_walk`; not with several GPUs.
        hot : array_like of int, optional
            Rows that each of several GPUs is to have, since they are needed most often. Copies take the rows' bytes, and 4
            bytes for each row of the table, on each GPU. A single GPU has all rows in any case.

        Returns
        -------
        FeatureTable
            This one, where the rows are there already; of a table over several GPUs, for each of these.

        Raises
        ------
        ArgumentError
            For `hot` without a GPU, and for its first id that is no row.
        OutOfMemoryError
            If they don't fit.
        DeviceError
            If the GPU can't be used.
        """
        several = _gpu.parse_several(device)
        where = _gpu.parse(device) if several is None else several[0]
        if hot is not None and where == _gpu.HOST:
            raise ArgumentError("hot is given, expected GPUs, not 'cpu'")
        rows = rows_in_range([] if hot is None else hot, self._core, "hot")
        if several is not None:
            if stream is not None:
                raise ArgumentError("stream is given, expected none: the rows go to several GPUs")
            if several == self._core.gpus and hot is None:
                return self
            return FeatureTable._of_core(self._core.spread(several, np.ascontiguousarray(rows, np.int64)))
        if where == _gpu.HOST:
            _gpu.expect_no_stream(stream)
        if where == self._core.device or where in self._core.gpus:
            return self
        core = self._core.to_host() if self._core.device != _gpu.HOST else self._core
        if where != _gpu.HOST:
            core = core.to_gpu(where, _gpu.stream_handle(stream, where))
        return FeatureTable._of_core(core)

    def pin_memory(self, *, num_threads: int = 0) -> FeatureTable:
        """Page-lock the rows in host memory, so that GPUs read them over the bus.

        The result refers to the same rows, without a copy, and unlocks them when it is gone; 40 GB take 2 to 5 s. The
        rows of a mapped file are copied to memory first. Tables over the same memory share the lock.

        Parameters
        ----------
        num_threads : int
            Threads that copy; 0: every core the process may use.

        Returns
        -------
        FeatureTable
            This one, where the rows lie on a GPU or are page-locked already.

        Raises
        ------
        OutOfMemoryError
            If the system locks no more pages, or has no memory for the copy.
        DeviceError
            If there is no GPU.
        """
        _gpu.expect_usable()
        core = self._core.pin_memory(threads(num_threads))
        _gpu.note_use()
        in_place = core.pointer == self._core.pointer
        return FeatureTable._of_core(core, source=self._source if in_place else None)

    def gather(
        self, ids: ArrayLike, out: Any = None, *, num_threads: int = 0, stream: Any = None, check: bool = True
    ) -> Any:
        """The rows of some ids. As `tendril.gather` of this table."""
        return gather(self, ids, out=out, num_threads=num_threads, stream=stream, check=check)

    def _on_gpu(self, device: int) -> _tendril.GpuFeatures:
        """The table as a GPU gathers from it, which knows how fast earlier gathers were."""
        if device not in self._readers:
            self._readers[device] = self._core.on_gpu(device, "auto")
        return self._readers[device]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if self.dtype == _BFLOAT16:
            raise TypeError("NumPy has no bfloat16: use torch.from_dlpack(table)")
        if self._core.device != _gpu.HOST:
            if copy is False:
                raise ValueError(f"rows on {self.device} can't become a NumPy array without a copy")
            array, copy = _numpy(self._core.to_host()), None
        else:
            array = _numpy(self._core) if self._source is None else _arrays.as_array(self._source, "table")
        if dtype is not None and np.dtype(dtype) != array.dtype:
            if copy is False:
                raise ValueError(f"rows of {array.dtype} can't become {np.dtype(dtype)} without a copy")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack_device__(self) -> tuple[int, int]:
        return _DLPACK_CPU if self._core.device == _gpu.HOST else (_DLPACK_CUDA, self._core.device)

    def __dlpack__(self, **keywords: Any) -> Any:
        """The memory as a DLPack capsule; the keywords are those of the Python array API standard."""
        exporter: Any = self._core.export() if self._source is None else self._source
        return exporter.__dlpack__(**keywords)

    def __reduce__(self) -> Any:
        mark = None if self._file is None else self._file.mark()
        if self._file is not None and mark is not None:
            return _of_file, (type(self), self._file.path, self._file.format, mark)
        # What lies in an array of the caller's may have gaps between rows; what was gathered has none.
        core = self._core if self._core.device == _gpu.HOST else self._core.to_host()
        has_gaps = self._source is not None and core is self._core
        memory = _dense_bytes(core) if has_gaps else core.bytes()
        return _of_bytes, (type(self), memory, self.dtype, self.shape)

    def __repr__(self) -> str:
        place = "" if self._file is None else f", file={self._file.path!r}"
        gpus = "".join(f",{number}" for number in self._core.gpus[1:])
        place += "" if self._core.device == _gpu.HOST else f", device='{self.device}{gpus}'"
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


def gather(
    table: Any,
    ids: ArrayLike,
    *,
    out: Any = None,
    num_threads: int = 0,
    stream: Any = None,
    check: bool = True,
) -> Any:
    """Gather rows of features: row ``i`` of the result is row ``ids[i]`` of the table.

    If the table, `ids` or `out` lies on a GPU, the result is made there. A table in the GPU's memory is read at nearly the
    rate of a copy. Of one in page-locked host memory (`FeatureTable.pin_memory`), each gather is made by the GPU over the
    bus, by the CPU, or by both, whichever was fastest in earlier gathers of the same FeatureTable; of other host memory and
    of mapped files, by the CPU, while its rows are copied over.

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
        or anything with DLPack in the memory of the CPU or of the GPU. Default: new memory.
    num_threads : int
        Number of threads of a gather to host memory; 0: every core the process may use.
    stream : cudaStream_t or stream object, optional
        Of a GPU: where the work is enqueued, as for `random_walk`.
    check : bool
        Of a GPU: False if all ids are known to be in range. Then a gather from the GPU's own memory does not wait for
        the GPU, and an id out of range gives zeros.

    Returns
    -------
    numpy.ndarray, FeatureTable, DeviceArray or `out`
        [ids, …]. In host memory a FeatureTable for bfloat16, which NumPy doesn't have: ``torch.from_dlpack`` takes it
        without a copy. On a GPU a DeviceArray.

    Raises
    ------
    ArgumentError
        For the first id out of range, for a table or an `out` of another type, shape, layout or GPU, and on a GPU for a
        table of 2^32 - 1 rows and more. The content of `out` is unspecified then.
    OutOfMemoryError
        If the result doesn't fit.
    DeviceError
        If the GPU can't be used.

    Examples
    --------
    >>> import numpy as np
    >>> tendril.gather(np.array([[1, 2], [3, 4], [5, 6]]), [2, 0, 2])
    array([[5, 6],
           [1, 2],
           [5, 6]])
    """
    held = table_of(table)
    core, is_checked = held._core, flag(check, "check")
    device = gathering_device([held], [ids, out])
    if device != _gpu.HOST:
        threads(num_threads)
        handle = _gpu.stream_handle(stream, device)
        return gather_on_gpu(held, ids, device, handle, out=out, check=is_checked)
    _gpu.expect_no_stream(stream)
    rows = row_ids(ids, core)
    if out is None:
        return _gathered(core, rows, threads(num_threads))
    gather_to(core, rows, out, num_threads)
    return out


def table_of(table: Any) -> FeatureTable:
    """The table, or one over an array."""
    return table if isinstance(table, FeatureTable) else FeatureTable._of_core(_core_of_array(table, "table"))


def gathering_device(tables: Iterable[FeatureTable], arrays: Iterable[Any]) -> int:
    """Where a gather is made: on a GPU if anything of it lies on one; of tables over several GPUs on that of the arrays."""
    given = [device for device in map(_gpu.device_of, arrays) if device != _gpu.HOST]
    gpus = [table._core.gpus for table in tables if table._core.gpus]
    candidates = [*given[:1], *(gpus[0] if gpus else [])]
    fitting = (device for device in candidates if all(device in each for each in gpus))
    return next(fitting, candidates[-1] if candidates else _gpu.HOST)


def gather_on_gpu(
    table: FeatureTable,
    ids: Any,
    device: int,
    stream: int,
    *,
    out: Any = None,
    check: bool = True,
    way: Way = Way(),  # noqa: B008: it is immutable
) -> Any:
    """Rows in new memory of a GPU, or in `out`, from wherever they and their ids lie. way: of those of page-locked memory
    if the ids are not checked."""
    reader = table._on_gpu(device)
    rows = rows_for_gpu(ids, table._core, device, stream)
    if out is None:
        return DeviceArray(reader.gather_new(rows, stream, check, *way))
    _expect_array(out, "out")
    if _gpu.device_of(out) != device:
        raise ArgumentError(f"out is {_kind(out)}, expected memory of {_gpu.name_of(device)}")
    try:
        reader.gather_to(rows, _gpu.capsule(out, "out", stream), stream, check)
    except TypeError as error:
        raise ArgumentError(f"out is {_kind(out)}, expected writable numbers") from error
    return out


def rows_for_gpu(ids: Any, table: Any, device: int, stream: int) -> _tendril.GpuIds:
    """Ids for a gather by a GPU, of a table or of one that ranks share; those in host memory are checked."""
    if _gpu.device_of(ids) != _gpu.HOST:
        return _gpu.ids(ids, "ids", 1, device, stream, 0)
    rows = rows_in_range(ids, table)
    return _tendril.GpuIds.from_host(rows, "ids", rows.size, 1, 0)


def rows_in_range(ids: ArrayLike, table: Any, what: str = "ids") -> NDArray[Any]:
    """Ids in host memory as contiguous int32 or int64, checked."""
    rows = row_ids(ids, table, what)
    wrong = np.flatnonzero((rows < 0) | (rows >= table.shape[0]))
    if wrong.size:
        expected = f"0 to {table.shape[0] - 1}" if table.shape[0] else "none: the table has no rows"
        raise ArgumentError(f"{what}[{wrong[0]}] is {rows[wrong[0]]}, expected {expected}")
    return rows


def gather_to(core: Any, ids: NDArray[Any], out: Any, num_threads: int) -> None:
    """Rows of a table, or of one that ranks share, into an array of the caller's."""
    _expect_array(out, "out")
    try:
        core.gather_into(ids, _arrays.exported(out), threads(num_threads))
    except (TypeError, BufferError) as error:
        raise ArgumentError(f"out is {_kind(out)}, expected writable numbers in CPU memory") from error


def _gathered(core: _tendril.FeatureTable, ids: NDArray[Any], num_threads: int) -> Any:
    """Rows in new memory."""
    place, rows = new_rows((ids.size, *core.shape[1:]), core.dtype)
    core.gather_into(ids, place, num_threads)
    return rows


def new_rows(shape: tuple[int, ...], dtype: str) -> tuple[Any, Any]:
    """New memory for rows: what the library writes to, and what users get."""
    bytes_of_all = math.prod(shape) * (2 if dtype == _BFLOAT16 else np.dtype(dtype).itemsize)
    what = f"{shape[0]} rows of {bytes_of_all // max(shape[0], 1)} bytes"
    if dtype != _BFLOAT16:
        out = _arrays.empty(shape, dtype, what)
        return out, out
    made = _tendril.feature_table_of_bytes(_arrays.empty((bytes_of_all,), np.uint8, what), dtype, shape)
    return made.export(), FeatureTable._of_core(made)


def _core_of_array(array: Any, what: str) -> _tendril.FeatureTable:
    _expect_array(array, what)
    device = _gpu.device_of(array)
    try:
        if device != _gpu.HOST:
            return _tendril.feature_table_on_gpu(_gpu.capsule(array, what, _gpu.stream_handle(None, device)), what)
        return _tendril.feature_table(_arrays.exported(array), what, mapped_file(array))
    except (TypeError, BufferError) as error:
        raise ArgumentError(f"{what} is {_kind(array)}, expected numbers in CPU memory") from error


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


def mapped_file(array: Any) -> str | None:
    """The name of the file that a NumPy array is a view of, as far as it is known; None if there is none."""
    name = None
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap) and array.filename is not None:
            name = os.fspath(array.filename)
        if isinstance(array.base, mmap.mmap):
            return name or "a mapped file"
        array = array.base
    return None


def row_ids(ids: ArrayLike, table: Any, what: str = "ids") -> NDArray[Any]:
    """Ids as contiguous int32 or int64."""
    if isinstance(ids, np.ndarray) and ids.ndim == 1 and ids.dtype in (np.int64, np.int32):
        array = ids
    else:
        array = _arrays.ids(ids, what)
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        place = int(np.argmax(array >= table.shape[0]))
        raise ArgumentError(f"{what}[{place}] is {array[place]}, expected 0 to {table.shape[0] - 1}")
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
