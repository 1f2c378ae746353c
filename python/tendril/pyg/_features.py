"""The attributes of the data, restricted to a batch."""

from __future__ import annotations

import copy
import math
import weakref
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, FeatureStore, HeteroData
from torch_geometric.loader.utils import filter_custom_hetero_store
from torch_geometric.sampler import HeteroSamplerOutput, SamplerOutput
from torch_geometric.typing import SparseTensor, TensorFrame

from .. import _tendril
from .._features import FeatureTable, is_mapped
from ._outputs import labor_weights

_HOST = torch.device("cpu")

# What the library gathers; Torch and NumPy gather the rest. Rows of fewer bytes, and gathers of fewer, gain nothing.
_LEAST_ROW_BYTES = 8
_LEAST_BYTES = 1 << 16
_MOST_ROWS_ON_GPU = 2**32 - 2
_MOST_ROW_BYTES_ON_GPU = 2**30 - 1
_TYPES = frozenset(
    (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32)
    + (torch.float64, torch.bool)
)


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


class _Index:
    """Positions, copied once to each place that holds attributes."""

    def __init__(self, index: Tensor, host: HostCopy | None = None) -> None:
        self._index = index
        self._host = host
        self._copies = {index.device: index}

    def on(self, device: torch.device) -> Tensor:
        if device not in self._copies:
            host = self._host if device == _HOST else None
            self._copies[device] = self._index.to(device) if host is None else host.get()
        return self._copies[device]


def held_on_host(data: Any) -> tuple[list[Any], list[Any]]:
    """The types of vertices and of edges that have attributes in host memory of which batches on a GPU are gathered there;
    None for data without types."""
    if isinstance(data, Data):
        of_nodes, of_edges = [(None, data._store)], [(None, data._store)]
    elif isinstance(data, HeteroData):
        of_nodes = [(name, data[name]) for name in data.node_types]
        of_edges = [(key, data[key]) for key in data.edge_types]
    else:
        return [], []
    nodes = [name for name, store in of_nodes if any(_on_host(store, key, store.is_node_attr) for key in store.keys())]
    edges = [name for name, store in of_edges if any(_on_host(store, key, store.is_edge_attr) for key in store.keys())]
    return nodes, edges


def _on_host(store: Any, key: str, is_attr: Any) -> bool:
    value = store[key]
    on_host = isinstance(value, np.ndarray) or (isinstance(value, Tensor) and value.device == _HOST)
    if not on_host or key in ("edge_index", "num_nodes") or not is_attr(key):
        return False
    return store._parent().__cat_dim__(key, value, store) != 0 or not _is_for_gpu(value)


def host_copies(out: Any, permutation: Any, held: tuple[list[Any], list[Any]]) -> dict[Any, HostCopy]:
    """Start copying the parts of a GPU batch that the host needs to gather the attributes in `held_on_host`. The copies
    start long before they are needed, so that they don't wait for copies of features."""
    copies = {}
    for many, names, what in ((out.node, held[0], "nodes"), (out.edge, held[1], "edges")):
        for name in names:
            places = many.get(name) if isinstance(many, dict) else many
            if places is None or not places.is_cuda:
                continue
            if what == "edges":
                places = _permuted(places, permutation.get(name) if isinstance(permutation, dict) else permutation)
            copies[what, name] = HostCopy(places)
    return copies


def take(value: Any, index: _Index, dim: int, target: torch.device | None) -> Any:
    """The elements of an attribute at some positions. If `target` is a GPU and the attribute is in host memory, rows are
    gathered there, and other elements into page-locked memory, from which they are copied asynchronously."""
    if isinstance(value, (list, tuple)):  # for example names
        return type(value)(value[i] for i in index.on(_HOST).tolist())
    if dim == 0 and _is_for_gpu(value):
        device = target if target is not None else value.device if isinstance(value, Tensor) else _HOST
        if device.type == "cuda" and (isinstance(value, np.ndarray) or value.device in (device, _HOST)):
            return _rows_on_gpu(value, index.on(device))
    if isinstance(value, np.ndarray):  # including memory-mapped arrays
        places = index.on(_HOST)
        if target is None and dim == 0 and _is_array_of_rows(value) and _is_worth_it(value, places):
            return _rows_of(value, places)
        value = torch.from_numpy(np.take(value, places.numpy(), axis=dim))
        return _on(target, value if target is None else value.pin_memory())
    if isinstance(value, TensorFrame):
        found = value[index.on(value.device)]
        return found if target is None else found.to(target)
    places = index.on(value.device)
    if target is None and value.device == _HOST and dim == 0 and _has_rows(value) and _is_worth_it(value, places):
        return _rows_of(value, places)
    if target is None or value.device != _HOST or value.layout != torch.strided or value.requires_grad:
        found = torch.index_select(value, dim, places)
        return found if target is None else found.to(target)
    shape = list(value.shape)
    shape[dim] = places.numel()
    found = torch.empty(shape, dtype=value.dtype, pin_memory=True)
    torch.index_select(value, dim, places, out=found)
    return _on(target, found)


def _on(target: torch.device | None, found: Tensor) -> Tensor:
    return found if target is None else found.to(target, non_blocking=True)


def _has_rows(value: Any) -> bool:
    """Whether the library gathers what the value has along its first dimension."""
    if isinstance(value, np.ndarray):
        return _is_array_of_rows(value)
    return isinstance(value, Tensor) and _is_tensor_of_rows(value)


def _is_for_gpu(value: Any) -> bool:
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
    rows = _host_view(value)
    ids, threads = places.numpy(), torch.get_num_threads()
    found = _empty((ids.size, *rows.shape[1:]), _torch_type(value.dtype))
    _tendril.feature_table(rows, "table", is_mapped(rows)).gather_into(ids, _host_view(found), threads)
    return found


# By the identity of an array and the number of a GPU: the array, its memory, and how a GPU gathers from it.
_readers: dict[tuple[int, int], tuple[Any, Any, _tendril.GpuFeatures]] = {}


def _reader_of(value: Any, device: int) -> _tendril.GpuFeatures:
    """The array as a GPU gathers from it, kept as long as the array is: it knows how fast earlier gathers were."""
    key = (id(value), device)
    memory = (value.data_ptr(), value.shape, value.stride()) if isinstance(value, Tensor) else None
    of, known, reader = _readers.get(key, (None, None, None))
    if of is not None and of() is value and known == memory and reader is not None:
        return reader
    table = value.detach() if isinstance(value, Tensor) else value.view()  # keeps the memory alive, but not `value`
    made = FeatureTable(table)._on_gpu(device)
    _readers[key] = (weakref.ref(value, lambda gone: _forget(key, gone)), memory, made)
    return made


def _forget(key: tuple[int, int], gone: Any) -> None:
    if key in _readers and _readers[key][0] is gone:
        del _readers[key]


def _rows_on_gpu(value: Any, places: Tensor) -> Tensor:
    """Rows of an array in the memory of a GPU or of the host, on the GPU that has the positions. These are those of a
    batch, so they are in range."""
    device = places.device
    found = torch.empty((places.numel(), *value.shape[1:]), dtype=_torch_type(value.dtype), device=device)
    ids = places.to(torch.int64).contiguous()
    stream = torch.cuda.current_stream(device).cuda_stream
    reader = _reader_of(value, device.index)
    reader.gather_at(ids.data_ptr(), ids.numel(), found.data_ptr(), stream, False)
    return found


def _host_view(value: Any) -> np.ndarray[Any, Any]:
    """The same memory as a NumPy array. Page-locked memory is another device to DLPack, and NumPy has no bfloat16."""
    if isinstance(value, np.ndarray):
        return value
    rows: np.ndarray[Any, Any] = (value.view(torch.int16) if value.dtype == torch.bfloat16 else value).numpy()
    return rows


def _torch_type(dtype: Any) -> torch.dtype:
    return dtype if isinstance(dtype, torch.dtype) else torch.from_numpy(np.empty(0, dtype)).dtype


def _empty(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """NumPy's memory for a batch's rows, which has large pages. A batch that is new memory to the process, as large ones
    are in most, then takes a third of the time."""
    memory = np.empty(math.prod((*shape, dtype.itemsize)), np.uint8)
    return torch.from_numpy(memory).view(dtype).reshape(shape)


def _filter_nodes(
    store: Any, out: Any, node: Tensor, target: torch.device | None, on_host: HostCopy | None
) -> None:
    index = _Index(node, on_host)
    for key, value in store.items():
        if key == "num_nodes":
            out.num_nodes = node.numel()
        elif store.is_node_attr(key):
            out[key] = take(value, index, store._parent().__cat_dim__(key, value, store), target)


def _filter_edges(
    store: Any,
    out: Any,
    row: Tensor,
    col: Tensor,
    edge: Tensor | None,
    target: torch.device | None,
    on_host: HostCopy | None,
) -> None:
    """`edge`: positions in the data's original order."""
    index = None if edge is None else _Index(edge, on_host)
    for key, value in store.items():
        if key == "edge_index":
            place = value.device if target is None else target
            out.edge_index = torch.stack([row, col]).to(place)
        elif key == "adj_t" and isinstance(value, Tensor):
            out.adj_t = _sparse_matrix(value, row, col, index, out.size()[::-1], target)
        elif key == "adj_t":
            place = value.device() if target is None else target
            attribute = value.storage.value()
            if attribute is not None:
                attribute = None if index is None else take(attribute, index, 0, target)
            out.adj_t = SparseTensor(
                row=col.to(place),
                col=row.to(place),
                value=attribute,
                sparse_sizes=out.size()[::-1],
                is_sorted=False,
                trust_data=True,
            )
        elif store.is_edge_attr(key):
            dim = store._parent().__cat_dim__(key, value, store)
            out[key] = None if index is None else take(value, index, dim, target)


def _sparse_matrix(
    matrix: Tensor, row: Tensor, col: Tensor, index: _Index | None, size: tuple[int, int], target: torch.device | None
) -> Tensor:
    """The transposed adjacency matrix of a batch, in the layout of the data's. Without edge ids it holds ones."""
    place = matrix.device if target is None else target
    values = matrix.values()
    values = torch.ones(row.numel(), dtype=values.dtype) if index is None else take(values, index, 0, target)
    # Parallel edges stay apart, as in the data.
    by_row = matrix.layout != torch.sparse_csc
    outer, inner = (col.to(place), row.to(place)) if by_row else (row.to(place), col.to(place))
    order = torch.argsort(outer * max(size) + inner, stable=True)
    outer, inner, values = outer[order], inner[order], values.to(place)[order]
    if matrix.layout == torch.sparse_coo:
        ends = torch.stack([outer, inner])
        return torch.sparse_coo_tensor(ends, values, size, is_coalesced=True, check_invariants=False)
    counts = torch.bincount(outer, minlength=size[0 if by_row else 1])
    pointers = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    return torch.sparse_compressed_tensor(
        pointers, inner, values, size, layout=matrix.layout, check_invariants=False
    )


def to_user_order(out: SamplerOutput | HeteroSamplerOutput, permutation: Any) -> Any:
    """The data's original numbers of the sampled edges; `permutation` is the sampler's."""
    if isinstance(out, HeteroSamplerOutput):
        known = permutation or {}
        return {key: _permuted(edge, known.get(key)) for key, edge in (out.edge or {}).items()}
    return _permuted(out.edge, permutation)


def _permuted(edge: Tensor | None, permutation: Tensor | None) -> Tensor | None:
    if edge is None or permutation is None:
        return None if edge is None else edge.to(torch.int64)
    return permutation.to(edge.device)[edge.to(torch.int64)]


def _gathered(features: FeatureStore, wanted: list[tuple[Any, Tensor | None]]) -> list[tuple[Any, Any]]:
    """Attributes of a FeatureStore at some positions, in one request; those without positions are left out."""
    attributes = []
    for attr, index in wanted:
        if index is not None:
            attributes.append(copy.copy(attr))
            attributes[-1].index = index.cpu()
    return list(zip(attributes, features.multi_get_tensor(attributes), strict=True)) if attributes else []


def _of_store(
    features: FeatureStore, out: SamplerOutput, edges: Tensor | None, of_edges: frozenset[str], custom_cls: Any
) -> Any:
    """PyG's `filter_custom_store`, which takes attributes of edges for those of vertices."""
    made = Data() if custom_cls is None else custom_cls()
    made.edge_index = torch.stack([out.row, out.col]).cpu()
    wanted = [
        (attr, edges if attr.attr_name in of_edges else out.node) for attr in features.get_all_tensor_attrs()
    ]
    if wanted:
        made.num_nodes = out.node.numel()
    for attr, value in _gathered(features, wanted):
        made[attr.attr_name] = value
    return made


def filtered(
    data: Any,
    out: Any,
    permutation: Any,
    target: torch.device | None,
    on_host: dict[Any, HostCopy],
    custom_cls: Any = None,
    of_edges: frozenset[str] = frozenset(),
) -> Any:
    """A Data or HeteroData with the sampled graph and the attributes of its vertices and edges: the attributes of the
    data, and those that PyG's loaders add.

    on_host: the `host_copies` of the batch, or None. of_edges: names in a FeatureStore without types that are of edges.
    """
    edges = to_user_order(out, permutation)
    if isinstance(out, SamplerOutput):
        if isinstance(data, Data):
            made = copy.copy(data)
            _filter_nodes(data._store, made._store, out.node, target, on_host.get(("nodes", None)))
            _filter_edges(
                data._store, made._store, out.row, out.col, edges, target, on_host.get(("edges", None))
            )
        else:
            made = _of_store(data[0], out, edges, of_edges, custom_cls)
        if "n_id" not in made:
            made.n_id = out.node
        if edges is not None and "e_id" not in made:
            made.e_id = edges
        made.batch = out.batch
        made.num_sampled_nodes = out.num_sampled_nodes
        made.num_sampled_edges = out.num_sampled_edges
        if labor_weights(out) is not None:
            made.edge_labor_weight = labor_weights(out)
        if out.orig_row is not None and out.orig_col is not None:
            made._orig_edge_index = torch.stack([out.orig_row, out.orig_col])
        return made
    if isinstance(data, HeteroData):
        made = copy.copy(data)
        none = torch.empty(0, dtype=torch.int64)
        for name in made.node_types:
            out.node.setdefault(name, none)
            _filter_nodes(data[name], made[name], out.node[name], target, on_host.get(("nodes", name)))
        for key in made.edge_types:
            row, col = out.row.setdefault(key, none), out.col.setdefault(key, none)
            edge = edges.setdefault(key, none)
            _filter_edges(data[key], made[key], row, col, edge, target, on_host.get(("edges", key)))
    else:
        node, row, col = ({key: one.cpu() for key, one in many.items()} for many in (out.node, out.row, out.col))
        made = filter_custom_hetero_store(*data, node, row, col, edges, custom_cls)
        wanted = [(attr, edges[attr.group_name]) for attr in data[0].get_all_tensor_attrs() if attr.group_name in edges]
        for attr, value in _gathered(data[0], wanted):
            made[attr.group_name][attr.attr_name] = value
    for name, node in out.node.items():
        if "n_id" not in made[name]:
            made[name].n_id = node
    for key, edge in edges.items():
        if edge is not None and "e_id" not in made[key]:
            made[key].e_id = edge
    made.set_value_dict("batch", out.batch)
    made.set_value_dict("num_sampled_nodes", out.num_sampled_nodes)
    made.set_value_dict("num_sampled_edges", out.num_sampled_edges)
    for key, weights in (labor_weights(out) or {}).items():
        made[key].edge_labor_weight = weights
    for key, row in (out.orig_row or {}).items():
        made[key]._orig_edge_index = torch.stack([row, out.orig_col[key]])
    return made
