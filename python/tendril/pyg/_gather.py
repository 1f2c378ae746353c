"""Elements of attributes at some positions, in host memory or on a GPU."""

from __future__ import annotations

import atexit
import math
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.typing import SparseTensor, TensorFrame

from .. import _tendril
from .._ahead import stop_all
from .._features import FeatureTable, mapped_file
from .._host_way import Way
from . import _tables

HOST = torch.device("cpu")

# What the library gathers; Torch and NumPy gather the rest. Rows of fewer bytes, and gathers of fewer, gain nothing.
_LEAST_ROW_BYTES = 8
_LEAST_BYTES = 1 << 16
_MOST_ROWS_ON_GPU = 2**32 - 2
_MOST_ROW_BYTES_ON_GPU = 2**30 - 1

# Attributes of narrow rows, such as classes and masks, are copied to the GPU as a whole: its reads of host memory cost the
# same for 8 bytes as for 128.
_NARROW_BYTES = 16
_MOST_BYTES_COPIED = 1 << 26
_TYPES = frozenset(
    (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32)
    + (torch.float64, torch.bool)
)


@dataclass
class Target:
    """The GPU on which a loader's batches lie."""

    device: torch.device
    way: Callable[[int], Way] = field(default=lambda num_bytes: Way())
    """Who gathers so many bytes from page-locked memory."""

    @cached_property
    def stream(self) -> int:
        """The current stream, which is looked up once a batch."""
        return int(torch.cuda.current_stream(self.device.index).cuda_stream)


def all_on(device: torch.device, made: Any) -> Any:
    """A batch whose tensors are all on a GPU. Mostly they are there already, and to look is quicker than to move."""
    for store in made.stores:
        for value in store._mapping.values():
            if not (value.is_cuda if type(value) is Tensor else _has_no_tensor(value)):
                return made.to(device, non_blocking=True)
    return made


def _has_no_tensor(value: Any) -> bool:
    return isinstance(value, (int, float, str)) or (isinstance(value, list) and all(type(one) is int for one in value))


def move_metadata(outs: list[Any], device: torch.device) -> None:
    """Moves the metadata of a sampler's outputs, which are small, to a GPU: those of one type in one copy."""
    places: dict[torch.dtype, list[tuple[int, int, Tensor]]] = {}
    for i, out in enumerate(outs):
        for j, value in enumerate(out.metadata):
            if isinstance(value, Tensor) and value.device.type != device.type:
                places.setdefault(value.dtype, []).append((i, j, value))
    found = [list(out.metadata) for out in outs]
    for many in places.values():
        whole = torch.cat([value.reshape(-1) for _, _, value in many]).to(device, non_blocking=True)
        for (i, j, value), part in zip(many, whole.split([value.numel() for _, _, value in many]), strict=True):
            found[i][j] = part.view(value.shape)
    for out, values in zip(outs, found, strict=True):
        out.metadata = tuple(values)


def keep_for(stream: Any, value: Any, lasting: frozenset[int]) -> None:
    """Torch doesn't reuse memory of a batch's tensors on a GPU before `stream` has read it. lasting: the `id`s of tensors that it
    knows nothing of."""
    kind = type(value)
    if kind is Tensor:
        if id(value) not in lasting and value.is_cuda:
            value.record_stream(stream)
    elif kind is int or value is None:
        return
    elif isinstance(value, Tensor):  # of a subclass
        if value.is_cuda:
            value.record_stream(stream)
    elif isinstance(value, Mapping):
        for one in value.values():
            keep_for(stream, one, lasting)
    elif isinstance(value, (list, tuple)):
        if value and type(value[0]) is not int:  # sizes of hops
            for one in value:
                keep_for(stream, one, lasting)
    elif isinstance(value, SparseTensor):
        keep_for(stream, value.coo(), lasting)
    elif isinstance(value, TensorFrame):
        keep_for(stream, dict(value.feat_dict), lasting)
        keep_for(stream, value.y, lasting)


class HostCopy:
    """Positions that are being copied from a GPU to page-locked memory, in the order of the current stream."""

    def __init__(self, index: Tensor) -> None:
        self._copy = torch.empty(index.shape, dtype=index.dtype, pin_memory=True)
        self._copy.copy_(index, non_blocking=True)
        self._there = torch.cuda.current_stream(index.device).record_event()

    def get(self) -> Tensor:
        """Waits for the positions, but not for later work of the stream."""
        self._there.synchronize()
        return self._copy


class Index:
    """Positions, copied once to each place that holds attributes."""

    def __init__(self, index: Tensor, host: HostCopy | None = None) -> None:
        self._index = index
        self._host = host
        self._copies = {index.device: index}

    def on(self, device: torch.device) -> Tensor:
        if device not in self._copies:
            host = self._host if device == HOST else None
            self._copies[device] = self._index.to(device) if host is None else host.get()
        return self._copies[device]


def take(value: Any, index: Index, dim: int, target: Target | None) -> Any:
    """The elements of an attribute at some positions. If `target` is a GPU and the attribute is in host memory, rows are
    gathered there, and other elements into page-locked memory, from which they are copied asynchronously."""
    if isinstance(value, (list, tuple)):  # for example names
        return type(value)(value[i] for i in index.on(HOST).tolist())
    near = Target(value.device if isinstance(value, Tensor) else HOST) if target is None else target
    if is_for(near, value, dim):
        return RowsOnGpu({"": value}).gather(index, near, {})[""]
    if isinstance(value, np.ndarray):  # including memory-mapped arrays
        places = index.on(HOST)
        if target is None and dim == 0 and _is_array_of_rows(value) and _is_worth_it(value, places):
            return _rows_of(value, places)
        value = torch.from_numpy(np.take(value, places.numpy(), axis=dim))
        return _on(target, value if target is None else value.pin_memory())
    if isinstance(value, TensorFrame):
        found = value[index.on(value.device)]
        return found if target is None else found.to(target.device)
    places = index.on(value.device)
    if target is None and value.device == HOST and dim == 0 and _has_rows(value) and _is_worth_it(value, places):
        return _rows_of(value, places)
    if target is None or value.device != HOST or value.layout != torch.strided or value.requires_grad:
        found = torch.index_select(value, dim, places)
        return found if target is None else found.to(target.device)
    shape = list(value.shape)
    shape[dim] = places.numel()
    found = torch.empty(shape, dtype=value.dtype, pin_memory=True)
    torch.index_select(value, dim, places, out=found)
    return _on(target, found)


def _on(target: Target | None, found: Tensor) -> Tensor:
    return found if target is None else found.to(target.device, non_blocking=True)


def _has_rows(value: Any) -> bool:
    """Whether the library gathers what the value has along its first dimension."""
    if isinstance(value, np.ndarray):
        return _is_array_of_rows(value)
    return isinstance(value, Tensor) and _is_tensor_of_rows(value)


def is_for(target: Target, value: Any, dim: int) -> bool:
    """Whether the library gathers that on the target, if this is a GPU."""
    if target.device.type != "cuda" or dim != 0:
        return False
    near = isinstance(value, np.ndarray) or (isinstance(value, Tensor) and value.device in (target.device, HOST))
    return (near or _is_spread(value, target.device)) and is_for_gpu(value)


def _is_spread(value: Any, device: torch.device) -> bool:
    """Whether the value stands for a table over the memory of several GPUs, this one among them."""
    table = _tables.table_of(value)
    return table is not None and device.index in table._core.gpus


def is_for_gpu(value: Any) -> bool:
    """Whether a GPU gathers that."""
    if not _has_rows(value) or len(value) > _MOST_ROWS_ON_GPU:
        return False
    return bool(value.nbytes // len(value) <= _MOST_ROW_BYTES_ON_GPU)


def _is_tensor_of_rows(value: Tensor) -> bool:
    if value.layout != torch.strided or value.requires_grad:
        return False
    if type(value) not in (Tensor, torch.nn.Parameter) or value.dtype not in _TYPES or value.is_neg():
        return False
    if value.dim() == 0 or len(value) == 0:
        return False
    return bool(value.is_contiguous() or (value[0].is_contiguous() and value.stride(0) >= value[0].numel()))


def _is_array_of_rows(value: np.ndarray[Any, Any]) -> bool:
    kept = value.dtype.kind in "biuf" and value.dtype.itemsize <= 8 and value.dtype.isnative
    return bool(kept and value.flags.c_contiguous and value.ndim > 0 and len(value) > 0)


def _is_worth_it(value: Any, places: Tensor) -> bool:
    row_bytes = value.nbytes // len(value)
    return bool(row_bytes >= _LEAST_ROW_BYTES and places.numel() * row_bytes >= _LEAST_BYTES)


def _rows_of(value: Any, places: Tensor) -> Tensor:
    """Rows of an array in host memory. Torch's setting of threads counts: it is 1 in workers of a DataLoader."""
    ids, threads = places.numpy(), torch.get_num_threads()
    found = _empty((ids.size, *value.shape[1:]), torch_type(value.dtype))
    table = _tables.table_of(value)
    if table is not None:
        table.gather(ids, out=found, num_threads=threads)
        return found
    rows = _host_view(value)
    _tendril.feature_table(rows, "table", mapped_file(rows)).gather_into(ids, _host_view(found), threads)
    return found


# By the identity of an array and the number of a GPU: the array, its memory, and how a GPU gathers from it.
_readers: dict[tuple[int, int], tuple[Any, Any, _tendril.GpuFeatures]] = {}


def _reader_of(value: Any, device: int) -> _tendril.GpuFeatures:
    """The array as a GPU gathers from it, kept as long as the array is: it knows how fast earlier gathers were."""
    key = (id(value), device)
    is_tensor = isinstance(value, Tensor)
    memory = (value.data_ptr(), value.shape, value.stride(), version_of(value)) if is_tensor else None
    of, known, reader = _readers.get(key, (None, None, None))
    if of is not None and of() is value and known == memory and reader is not None:
        return reader
    table = table_over(value)
    made = (table.to(f"cuda:{device}") if _is_copied(value) else table)._on_gpu(device)
    _readers[key] = (weakref.ref(value, lambda gone: _forget(key, gone)), memory, made)
    return made


class RowsOnGpu:
    """Attributes whose rows the library gathers on a GPU, those of a batch in one call. They lie in the memory of that GPU or
    of the host.

    Parameters
    ----------
    values : dict of str to Tensor or array
    """

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = [
            (name, value, tuple(value.shape[1:]), torch_type(value.dtype), value.nbytes // len(value))
            for name, value in values.items()
        ]

    def gather(self, index: Index, target: Target, known: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Rows at a batch's positions, which are in range. known: rows that are there already."""
        places = index.on(target.device)
        ids = places if places.dtype == torch.int64 and places.is_contiguous() else places.to(torch.int64).contiguous()
        count, device = ids.numel(), places.device
        made, readers, outs, ways = dict(known), [], [], []
        for name, value, shape, dtype, row_bytes in self._values:
            if name not in known:
                found = made[name] = torch.empty((count, *shape), dtype=dtype, device=device)
                readers.append(_reader_of(value, device.index))
                outs.append(found.data_ptr())
                ways.append(target.way(count * row_bytes))
        if readers:
            shares, threads = [one.share for one in ways], ways[0].num_threads
            part = max(one.gpu_part for one in ways)  # of those whose share is the CPU
            meter = next((one.meter for one in ways if one.meter is not None), None)
            _tendril.gather_rows_at(readers, ids.data_ptr(), count, outs, target.stream, shares, threads, part, meter)
        return made


def table_over(value: Any) -> FeatureTable:
    """The table that an attribute stands for, or one over its memory."""
    table = _tables.table_of(value)
    return FeatureTable(memory_of(value)) if table is None else table


def memory_of(value: Any) -> Any:
    """The same memory, which this keeps alive, but not `value`."""
    return value.detach() if isinstance(value, Tensor) else value.view()


def version_of(value: Tensor) -> int | None:
    """Changes when a tensor is written to; None for tensors of Torch's inference mode, which keep no such count."""
    return None if value.is_inference() else int(value._version)


def comes_from_host(value: Any) -> bool:
    """Whether a GPU gathers that from host memory, batch by batch."""
    on_host = isinstance(value, np.ndarray) or (isinstance(value, Tensor) and value.device == HOST)
    return on_host and is_for_gpu(value) and not _is_copied(value)


def _is_copied(value: Any) -> bool:
    """Whether all rows of an array in host memory go to the GPU once: only where something tells when they are written to."""
    if not isinstance(value, Tensor) or value.device != HOST or version_of(value) is None:
        return False
    return bool(value.nbytes // len(value) < _NARROW_BYTES and value.nbytes <= _MOST_BYTES_COPIED)


def _forget(key: tuple[int, int], gone: Any) -> None:
    if key in _readers and _readers[key][0] is gone:
        del _readers[key]


@atexit.register
def _forget_all() -> None:
    """Lets go of the extension's objects while the interpreter is whole: an array may live until its very end."""
    stop_all()  # so that no loader's thread makes others
    _readers.clear()


def _host_view(value: Any) -> np.ndarray[Any, Any]:
    """The same memory as a NumPy array. Page-locked memory is another device to DLPack, and NumPy has no bfloat16."""
    if isinstance(value, np.ndarray):
        return value
    rows: np.ndarray[Any, Any] = (value.view(torch.int16) if value.dtype == torch.bfloat16 else value).numpy()
    return rows


def torch_type(dtype: Any) -> torch.dtype:
    return dtype if isinstance(dtype, torch.dtype) else torch.from_numpy(np.empty(0, dtype)).dtype


def _empty(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """NumPy's memory for a batch's rows, which has large pages. A batch that is new memory to the process, as large ones
    are in most, then takes a third of the time."""
    memory = np.empty(math.prod((*shape, dtype.itemsize)), np.uint8)
    return torch.from_numpy(memory).view(dtype).reshape(shape)
