"""The attributes of the data, restricted to a batch."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, FeatureStore, HeteroData
from torch_geometric.loader.utils import filter_custom_hetero_store
from torch_geometric.sampler import HeteroSamplerOutput, SamplerOutput
from torch_geometric.typing import SparseTensor

from ._edge_lists import EdgeLists, Numbering
from ._gather import HOST, HostCopy, Index, RowsOnGpu, Target, comes_from_host, is_for, is_for_gpu, take
from ._outputs import labor_weights
from ._sharded import ShardedFeatureStore


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


def come_from_host(data: Any) -> bool:
    """Whether a GPU gathers some of the data's attributes from host memory."""
    stores = data.stores if isinstance(data, (Data, HeteroData)) else ()
    return any(comes_from_host(value) for store in stores for value in store.values())


def are_all_on_gpu(data: Any, device: torch.device | None) -> bool:
    """Whether all that batches on a GPU need of the data lies there, so that to gather it takes moments of the host's time."""
    if device is None or not isinstance(data, (Data, HeteroData)):
        return False
    target = Target(device)

    def is_near(store: Any, key: str, value: Any) -> bool:
        if key in ("edge_index", "num_nodes") or not (store.is_node_attr(key) or store.is_edge_attr(key)):
            return True  # the sampler's, or of no vertex and no edge
        dim = store._parent().__cat_dim__(key, value, store)
        return is_for(target, value, dim) and not comes_from_host(value)

    return all(is_near(store, key, value) for store in data.stores for key, value in store.items())


def _on_host(store: Any, key: str, is_attr: Any) -> bool:
    value = store[key]
    on_host = isinstance(value, np.ndarray) or (isinstance(value, Tensor) and value.device == HOST)
    if not on_host or key in ("edge_index", "num_nodes") or not is_attr(key):
        return False
    return store._parent().__cat_dim__(key, value, store) != 0 or not is_for_gpu(value)


def host_copies(out: Any, numbering: Numbering, held: tuple[list[Any], list[Any]]) -> dict[Any, HostCopy]:
    """Start copying the parts of a GPU batch that the host needs to gather the attributes in `held_on_host`. The copies
    start long before they are needed, so that they don't wait for copies of features."""
    copies = {}
    for name in held[0]:
        places = _of_type(out.node, name)
        if places is not None and places.is_cuda:
            copies["nodes", name] = HostCopy(places)
    for name in held[1]:
        places = numbering.of(name, _of_type(out.edge, name))
        if places is not None and places.is_cuda:
            copies["edges", name] = HostCopy(places)
    return copies


def _of_type(many: Any, name: Any) -> Any:
    return many.get(name) if isinstance(many, dict) else many


# What a cache has of a batch: the rows of attributes of a vertex type by name.
Cached = Callable[[Any, Tensor], dict[str, Tensor]]


def _nothing(kind: Any, node: Tensor) -> dict[str, Tensor]:
    return {}


class _OfStore:
    """What becomes of the attributes of one store in a batch: decided once, since a batch must not take long."""

    def __init__(self, store: Any, has_nodes: bool, has_edges: bool, device: torch.device | None) -> None:
        self._given = dict(store._mapping)
        self._store = store
        cat_dim = store._parent().__cat_dim__
        self._counts = has_nodes and "num_nodes" in self._given
        self._structure = [key for key in ("edge_index", "adj_t") if has_edges and key in self._given]
        plain = {key: value for key, value in self._given.items() if key not in ("num_nodes", *self._structure)}
        nodes = [key for key in plain if has_nodes and store.is_node_attr(key)]
        edges = [key for key in plain if has_edges and store.is_edge_attr(key)]
        target = None if device is None else Target(device)

        def split(keys: list[str]) -> tuple[RowsOnGpu | None, list[tuple[str, Any, int]]]:
            dims = {key: cat_dim(key, plain[key], store) for key in keys}
            near = [key for key in keys if target is not None and is_for(target, plain[key], dims[key])]
            rows = RowsOnGpu({key: plain[key] for key in near}) if near else None
            return rows, [(key, plain[key], dims[key]) for key in keys if key not in near]

        self._nodes, self._edges, self._of_edges = split(nodes), split(edges), edges

    def holds(self) -> bool:
        """Whether the store has the attributes that were found in it."""
        now = self._store._mapping
        return len(now) == len(self._given) and all(now.get(key) is value for key, value in self._given.items())

    def fill_nodes(
        self, made: Any, kind: Any, node: Tensor, target: Target | None, on_host: HostCopy | None, cached: Cached
    ) -> None:
        """Gives the store of a batch, a copy of this one, the attributes of the batch's vertices."""
        into = made._mapping
        if self._counts:
            into["num_nodes"] = node.numel()
        rows, others = self._nodes
        index = Index(node, on_host)
        if rows is not None and target is not None:
            into.update(rows.gather(index, target, cached(kind, node)))
        for key, value, dim in others:
            into[key] = take(value, index, dim, target)

    def fill_edges(
        self, made: Any, edges: EdgeLists, key: Any, target: Target | None, on_host: HostCopy | None
    ) -> None:
        """The same for edges, but for `edge_index`."""
        if not self._of_edges and "adj_t" not in self._structure:
            return
        into = made._mapping
        edge = edges.numbers(key)
        index = None if edge is None else Index(edge, on_host)
        if "adj_t" in self._structure:
            value = self._given["adj_t"]
            of = _sparse_matrix if isinstance(value, Tensor) else _sparse_tensor
            row, col = edges.ends(key)
            into["adj_t"] = of(value, row, col, index, made.size()[::-1], target)
        if index is None:  # which edges they are is not known
            for name in self._of_edges:
                del into[name]
            return
        rows, others = self._edges
        if rows is not None and target is not None:
            into.update(rows.gather(index, target, {}))
        for name, value, dim in others:
            into[name] = take(value, index, dim, target)

    def add_edge_index(self, made: Any, edges: EdgeLists, key: Any, device: torch.device | None) -> None:
        """device: a GPU on which batches are to lie."""
        if "edge_index" in self._structure:
            place = self._given["edge_index"].device if device is None else device
            made._mapping["edge_index"] = edges.ends(key).to(place)


def _sparse_matrix(
    matrix: Tensor, row: Tensor, col: Tensor, index: Index | None, size: tuple[int, int], target: Target | None
) -> Tensor:
    """The transposed adjacency matrix of a batch, in the layout of the data's. Without edge ids it holds ones."""
    place = matrix.device if target is None else target.device
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


def _sparse_tensor(
    matrix: Any, row: Tensor, col: Tensor, index: Index | None, size: tuple[int, int], target: Target | None
) -> Any:
    """The same of torch-sparse."""
    place = matrix.device() if target is None else target.device
    value = matrix.storage.value()
    if value is not None:
        value = None if index is None else take(value, index, 0, target)
    return SparseTensor(
        row=col.to(place), col=row.to(place), value=value, sparse_sizes=size, is_sorted=False, trust_data=True
    )


def _takes_gpu_ids(features: FeatureStore) -> bool:
    return isinstance(features, ShardedFeatureStore) and features.takes_gpu_ids


def _gathered(features: FeatureStore, wanted: list[tuple[Any, Tensor | None]]) -> list[tuple[Any, Any]]:
    """Attributes of a FeatureStore at some positions, in one request; those without positions are left out."""
    attributes = []
    for attr, index in wanted:
        if index is not None:
            attributes.append(copy.copy(attr))
            attributes[-1].index = index if _takes_gpu_ids(features) else index.cpu()
    return list(zip(attributes, features.multi_get_tensor(attributes), strict=True)) if attributes else []


def _of_store(
    features: FeatureStore, node: Tensor, edges: EdgeLists, of_edges: frozenset[str], custom_cls: Any
) -> Any:
    """PyG's `filter_custom_store`, which takes attributes of edges for those of vertices."""
    made = Data() if custom_cls is None else custom_cls()
    made.edge_index = edges.ends(None)
    if not _takes_gpu_ids(features):
        made.edge_index = made.edge_index.cpu()
    wanted = [
        (attr, edges.numbers(None) if attr.attr_name in of_edges else node) for attr in features.get_all_tensor_attrs()
    ]
    if wanted:
        made.num_nodes = node.numel()
    for attr, value in _gathered(features, wanted):
        made[attr.attr_name] = value
    return made


class GatheredBatch(NamedTuple):
    """A batch that has attributes, but not all that `BatchMaker.complete` adds."""

    made: Any
    out: Any
    edges: EdgeLists
    stores: dict[Any, _OfStore]

    def values(self) -> Iterator[Any]:
        """All that the batch is made of, tensors among it."""
        for store in self.made.stores:
            yield from store._mapping.values()
        yield from vars(self.out).values()
        yield from self.edges.made()


class BatchMaker:
    """Makes batches of a sampler's outputs: Data or HeteroData with the sampled graph and the attributes of its vertices and
    edges, those of the data and those that PyG's loaders add.

    Parameters
    ----------
    data : Data, HeteroData or (FeatureStore, GraphStore)
    numbering : Numbering
        Of the sampler.
    device : torch.device, optional
        The GPU on which batches are to lie; None: attributes stay where they are.
    custom_cls, of_edges
        For a FeatureStore without types: the class of batches, and the names of attributes that are of edges.
    """

    def __init__(
        self,
        data: Any,
        numbering: Numbering,
        device: torch.device | None,
        custom_cls: Any = None,
        of_edges: frozenset[str] = frozenset(),
    ) -> None:
        self.data, self._numbering, self._device = data, numbering, device
        self._custom_cls, self._of_edges = custom_cls, of_edges
        self._stores: dict[Any, _OfStore] = {}
        self._find()

    def _find(self) -> None:
        data, device = self.data, self._device
        if isinstance(data, Data):
            self._stores = {None: _OfStore(data._store, True, True, device)}
        elif isinstance(data, HeteroData):
            nodes = {name: _OfStore(data[name], True, False, device) for name in data.node_types}
            self._stores = {**nodes, **{key: _OfStore(data[key], False, True, device) for key in data.edge_types}}

    def gather(
        self, out: Any, target: Target | None, on_host: Mapping[Any, HostCopy], cached: Cached = _nothing
    ) -> GatheredBatch:
        """The attributes of one batch. on_host: the `host_copies` of it, or none. cached: the cache of the loader."""
        if not all(store.holds() for store in self._stores.values()):
            self._find()
        edges = EdgeLists(out, self._numbering)
        of_type = self._gather_one_type if isinstance(out, SamplerOutput) else self._gather_types
        return GatheredBatch(of_type(out, edges, target, on_host, cached), out, edges, self._stores)

    def _gather_one_type(
        self, out: SamplerOutput, edges: EdgeLists, target: Target | None, on_host: Mapping[Any, HostCopy], cached: Cached
    ) -> Any:
        if not isinstance(self.data, Data):
            return _of_store(self.data[0], out.node, edges, self._of_edges, self._custom_cls)
        made, of = copy.copy(self.data), self._stores[None]
        of.fill_nodes(made._store, None, out.node, target, on_host.get(("nodes", None)), cached)
        of.fill_edges(made._store, edges, None, target, on_host.get(("edges", None)))
        return made

    def complete(self, batch: GatheredBatch) -> Any:
        """The batch with its edges, and with the fields that PyG's loaders add."""
        of_type = self._complete_one_type if isinstance(batch.out, SamplerOutput) else self._complete_types
        return of_type(*batch)

    def _complete_one_type(self, made: Any, out: SamplerOutput, edges: EdgeLists, stores: dict[Any, _OfStore]) -> Any:
        for of in stores.values():
            of.add_edge_index(made._store, edges, None, self._device)
        _add(made._store, out.node, "n_id")
        _add(made._store, edges.numbers(None), "e_id")
        of_batch = {
            "batch": out.batch,
            "num_sampled_nodes": out.num_sampled_nodes,
            "num_sampled_edges": out.num_sampled_edges,
        }
        if labor_weights(out) is not None:
            of_batch["edge_labor_weight"] = labor_weights(out)
        put(made._store, of_batch)
        if out.orig_row is not None and out.orig_col is not None:
            made._orig_edge_index = torch.stack([out.orig_row, out.orig_col])
        return made

    def _gather_types(
        self, out: HeteroSamplerOutput, edges: EdgeLists, target: Target | None, on_host: Mapping[Any, HostCopy], cached: Cached
    ) -> Any:
        if not isinstance(self.data, HeteroData):
            return self._gather_types_of_store(out, edges.all_numbers([]))
        made = copy.copy(self.data)
        none = torch.empty(0, dtype=torch.int64)
        for name in made.node_types:
            node, of = out.node.setdefault(name, none), self._stores[name]
            of.fill_nodes(made._node_store_dict[name], name, node, target, on_host.get(("nodes", name)), cached)
        for key in made.edge_types:
            self._stores[key].fill_edges(made._edge_store_dict[key], edges, key, target, on_host.get(("edges", key)))
        return made

    def _gather_types_of_store(self, out: HeteroSamplerOutput, edges: dict[Any, Any]) -> Any:
        data = self.data
        node, row, col = ({key: one.cpu() for key, one in many.items()} for many in (out.node, out.row, out.col))
        made = filter_custom_hetero_store(*data, node, row, col, edges, self._custom_cls)
        of_edges = [attr for attr in data[0].get_all_tensor_attrs() if attr.group_name in edges]
        for attr, value in _gathered(data[0], [(attr, edges[attr.group_name]) for attr in of_edges]):
            made[attr.group_name][attr.attr_name] = value
        return made

    def _complete_types(
        self, made: Any, out: HeteroSamplerOutput, edges: EdgeLists, stores: dict[Any, _OfStore]
    ) -> Any:
        for key, store in made._edge_store_dict.items():
            if key in stores:
                stores[key].add_edge_index(store, edges, key, self._device)
        for name, node in out.node.items():
            _add(_store_of(made, name), node, "n_id")
        for key, edge in edges.all_numbers([key for key in stores if isinstance(key, tuple)]).items():
            _add(_store_of(made, key), edge, "e_id")
        for name, by_type in (
            ("batch", out.batch),
            ("num_sampled_nodes", out.num_sampled_nodes),
            ("num_sampled_edges", out.num_sampled_edges),
            ("edge_labor_weight", labor_weights(out)),
        ):
            for key, value in (by_type or {}).items():
                put(_store_of(made, key), {name: value})
        for key, row in (out.orig_row or {}).items():
            put(_store_of(made, key), {"_orig_edge_index": torch.stack([row, out.orig_col[key]])})
        return made


def _store_of(made: HeteroData, key: Any) -> Any:
    """made[key], which takes long where there are many types."""
    known = made._node_store_dict if isinstance(key, str) else made._edge_store_dict
    return known[key] if key in known else made[key]


def put(store: Any, values: dict[str, Any]) -> None:
    """Sets attributes of a batch's store, or removes them (None), without what PyG does for stores that are in use already."""
    for name, value in values.items():
        if value is None:
            store._mapping.pop(name, None)
        else:
            store._mapping[name] = value


def _add(store: Any, value: Any, name: str) -> None:
    if value is not None and name not in store._mapping:
        store._mapping[name] = value
