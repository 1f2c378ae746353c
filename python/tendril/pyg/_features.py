"""The attributes of the data, restricted to a batch."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, FeatureStore, HeteroData
from torch_geometric.loader.utils import filter_custom_hetero_store
from torch_geometric.sampler import HeteroSamplerOutput, SamplerOutput
from torch_geometric.typing import SparseTensor

from ._gather import HOST, HostCopy, Index, Target, is_for_gpu, take
from ._outputs import labor_weights


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
    on_host = isinstance(value, np.ndarray) or (isinstance(value, Tensor) and value.device == HOST)
    if not on_host or key in ("edge_index", "num_nodes") or not is_attr(key):
        return False
    return store._parent().__cat_dim__(key, value, store) != 0 or not is_for_gpu(value)


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


# What a cache has of a batch: the rows of an attribute of a vertex type, or None where it does not take that.
Cached = Callable[[Any, str, Any, Tensor], "Tensor | None"]


def _filter_nodes(
    store: Any,
    out: Any,
    node: Tensor,
    target: Target | None,
    on_host: HostCopy | None,
    cached: Cached | None,
    kind: Any = None,
) -> None:
    index = Index(node, on_host)
    for key, value in store.items():
        if key == "num_nodes":
            out.num_nodes = node.numel()
        elif cached is not None and (found := cached(kind, key, value, node)) is not None:
            out[key] = found
        elif store.is_node_attr(key):
            out[key] = take(value, index, store._parent().__cat_dim__(key, value, store), target)


def _filter_edges(
    store: Any,
    out: Any,
    row: Tensor,
    col: Tensor,
    edge: Tensor | None,
    target: Target | None,
    on_host: HostCopy | None,
) -> None:
    """`edge`: positions in the data's original order."""
    index = None if edge is None else Index(edge, on_host)
    for key, value in store.items():
        if key == "edge_index":
            place = value.device if target is None else target.device
            out.edge_index = torch.stack([row, col]).to(place)
        elif key == "adj_t" and isinstance(value, Tensor):
            out.adj_t = _sparse_matrix(value, row, col, index, out.size()[::-1], target)
        elif key == "adj_t":
            place = value.device() if target is None else target.device
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
    target: Target | None,
    on_host: dict[Any, HostCopy],
    custom_cls: Any = None,
    of_edges: frozenset[str] = frozenset(),
    cached: Cached | None = None,
) -> Any:
    """A Data or HeteroData with the sampled graph and the attributes of its vertices and edges: the attributes of the
    data, and those that PyG's loaders add.

    on_host: the `host_copies` of the batch, or None. of_edges: names in a FeatureStore without types that are of edges.
    cached: the cache of the loader.
    """
    edges = to_user_order(out, permutation)
    if isinstance(out, SamplerOutput):
        if isinstance(data, Data):
            made = copy.copy(data)
            _filter_nodes(data._store, made._store, out.node, target, on_host.get(("nodes", None)), cached)
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
            _filter_nodes(data[name], made[name], out.node[name], target, on_host.get(("nodes", name)), cached, name)
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
