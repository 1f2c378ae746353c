"""Converts PyG's data to the graphs that the engine samples from: edges are stored with their target vertices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, FeatureStore, GraphStore, HeteroData, remote_backend_utils

from tendril._errors import ArgumentError
from tendril._graph import Graph
from tendril._hetero_graph import EdgeType, HeteroGraph
from tendril._params import integer

from ._inputs import as_tensor, expect_below, expect_integers


@dataclass
class SampledGraph:
    """A graph to sample from, and the mapping back to its data."""

    graph: Graph | HeteroGraph
    num_nodes: int | dict[str, int]
    device: torch.device
    """The device that holds the edges of the data."""
    permutation: Tensor | None | dict[EdgeType, Tensor | None]
    """The data's edge for each edge of the graph."""
    node_time: Tensor | dict[str, Tensor] | None = None
    edge_time: Any = None
    """For a `Graph`: in its own order of edges."""
    node_types: list[str] = field(default_factory=list)
    edge_types: list[EdgeType] = field(default_factory=list)

    @property
    def is_hetero(self) -> bool:
        return isinstance(self.graph, HeteroGraph)

    @property
    def is_temporal(self) -> bool:
        return self.node_time is not None or self.edge_time is not None


def from_data(data: Any, time_attr: str | None, weight_attr: str | None, num_threads: int) -> SampledGraph:
    """The graph of a Data, a HeteroData, or a pair of a FeatureStore and a GraphStore."""
    if isinstance(data, Data):
        return _from_homogeneous(data, time_attr, weight_attr, num_threads)
    if isinstance(data, HeteroData):
        return _from_hetero(data, time_attr, weight_attr, num_threads)
    return _from_stores(data[0], data[1], time_attr, weight_attr, num_threads)


def vector(value: Any, what: str, size: int, of: str) -> Tensor:
    """An attribute with one number for each vertex or edge."""
    tensor = as_tensor(value, what)
    if tensor.dim() == 2 and tensor.size(1) == 1:
        tensor = tensor.view(-1)
    if tensor.dim() != 1 or tensor.numel() != size:
        raise ArgumentError(f"{what} has shape {tuple(tensor.shape)}, expected ({size},): one number for each {of}")
    return tensor.detach().cpu()


def _weights(value: Any, what: str, size: int) -> Tensor:
    weights = vector(value, what, size, "edge")
    return weights.float() if weights.dtype == torch.bfloat16 else weights  # NumPy has no bfloat16


def _times(value: Any, what: str, size: int, of: str) -> Tensor:
    return expect_integers(vector(value, what, size, of), what)


def _ends(store: Any, what: str) -> tuple[Tensor, Tensor, torch.device]:
    """The sources and targets of a store's edges."""
    if store.get("edge_index") is not None:
        edges = store.edge_index
        if not isinstance(edges, Tensor) or edges.dim() != 2 or edges.size(0) != 2:
            shape = tuple(edges.shape) if hasattr(edges, "shape") else type(edges).__name__
            raise ArgumentError(f"{what} has shape {shape}, expected (2, number of edges)")
        if edges.dtype not in (torch.int64, torch.int32):
            raise ArgumentError(f"{what} has dtype {edges.dtype}, expected int64 or int32")
        edges = as_tensor(edges, what)
        return edges[0].cpu(), edges[1].cpu(), edges.device
    for name, transposed in (("adj_t", True), ("adj", False)):
        if isinstance(store.get(name), Tensor):
            raise ArgumentError(f"{name} is a tensor, expected a SparseTensor, or edges as edge_index")
        if store.get(name) is not None and hasattr(store[name], "coo"):
            row, col, _ = store[name].coo()
            return (col.cpu(), row.cpu(), row.device) if transposed else (row.cpu(), col.cpu(), row.device)
    none = torch.empty(0, dtype=torch.int64)
    return none, none, none.device


def _count(store: Any) -> int:
    """The number of vertices of a store."""
    count = 0 if store.num_nodes is None else integer(store.num_nodes, "num_nodes")
    if count < 0:
        raise ArgumentError(f"num_nodes is {count}, expected 0 or more")
    return count


def _from_homogeneous(data: Data, time_attr: str | None, weight_attr: str | None, num_threads: int) -> SampledGraph:
    source, target, device = _ends(data._store, "edge_index")
    num_nodes = _count(data)
    for side, ends in enumerate((source, target)):
        expect_below(ends, num_nodes, f"edge_index[{side}]", "a vertex")
    weights = None
    if weight_attr is not None:
        if weight_attr not in data:
            raise ArgumentError(f"weight_attr is '{weight_attr}', but data has no such attribute")
        weights = _weights(data[weight_attr], weight_attr, source.numel())
    node_time = edge_time = None
    if time_attr is not None:
        if time_attr in data and data.is_node_attr(time_attr):
            node_time = _times(data[time_attr], time_attr, num_nodes, "vertex")
        elif time_attr in data and data.is_edge_attr(time_attr):
            edge_time = _times(data[time_attr], time_attr, source.numel(), "edge")
        elif isinstance(time_attr, str) and isinstance(data.get(time_attr), Tensor):
            shape, edges = tuple(data[time_attr].shape), source.numel()
            raise ArgumentError(
                f"{time_attr} has shape {shape}, expected ({num_nodes},) or ({edges},): one of each vertex, or edge"
            )
        else:
            raise ArgumentError(f"time_attr is '{time_attr}', but data has no such attribute of vertices or edges")
    graph = _reversed(source, target, num_nodes, weights, num_threads)
    permutation = _permutation(graph)
    if edge_time is not None and permutation is not None:
        edge_time = edge_time[permutation]
    return SampledGraph(graph, num_nodes, device, permutation, node_time, edge_time)


def _reversed(source: Tensor, target: Tensor, num_nodes: int, weights: Tensor | None, num_threads: int) -> Graph:
    return Graph.from_coo(
        source,
        target,
        weights=weights,
        num_vertices=num_nodes,
        reverse=True,
        keep_edge_ids=True,
        num_threads=num_threads,
    )


def _permutation(graph: Graph) -> Tensor | None:
    ids = graph.edge_ids
    return None if ids is None else torch.from_numpy(ids.copy())


def _from_hetero(data: HeteroData, time_attr: str | None, weight_attr: str | None, num_threads: int) -> SampledGraph:
    node_types, edge_types = list(data.node_types), list(data.edge_types)
    for key in edge_types:  # a type that occurs only in edge types has vertices, too
        node_types += [name for name in (key[0], key[2]) if name not in node_types]
    num_nodes = {name: _count(data[name]) for name in node_types}
    edges: dict[EdgeType, tuple[Tensor, Tensor]] = {}
    weights: dict[EdgeType, Tensor] = {}
    device = torch.device("cpu")
    for key in edge_types:
        store = data[key]
        what = f"edge_index of {key}"
        source, target, found = _ends(store, what)
        device = found if found.type != "cpu" else device
        expect_below(source, num_nodes[key[0]], f"{what}: [0]", f"a vertex of type '{key[0]}'")
        expect_below(target, num_nodes[key[2]], f"{what}: [1]", f"a vertex of type '{key[2]}'")
        edges[key] = source, target
        if weight_attr is not None and weight_attr in store:
            weights[key] = _weights(store[weight_attr], f"{weight_attr} of {key}", source.numel())
    if weight_attr is not None:
        if not weights:
            raise ArgumentError(f"weight_attr is '{weight_attr}', but no edge type has such an attribute")
        for key, (source, _) in edges.items():  # all edges are equally likely
            weights.setdefault(key, torch.ones(source.numel()))
    node_time, edge_time = _hetero_times(data, time_attr, num_nodes, edges)
    graph = HeteroGraph(
        num_nodes,
        edges,
        weights=weights or None,
        edge_times=edge_time,
        node_times=node_time,
        reverse=True,
        num_threads=num_threads,
    )
    permutation = {key: _permutation(one) for key, one in graph.edges.items()}
    return SampledGraph(graph, num_nodes, device, permutation, node_time, edge_time, node_types, edge_types)


def _hetero_times(
    data: HeteroData, time_attr: str | None, num_nodes: dict[str, int], edges: dict[EdgeType, tuple[Tensor, Tensor]]
) -> tuple[dict[str, Tensor] | None, dict[EdgeType, Tensor] | None]:
    if time_attr is None:
        return None, None
    of_nodes = {
        name: _times(data[name][time_attr], f"{time_attr} of '{name}'", count, "vertex")
        for name, count in num_nodes.items()
        if time_attr in data[name]
    }
    of_edges = {
        key: _times(data[key][time_attr], f"{time_attr} of {key}", ends[0].numel(), "edge")
        for key, ends in edges.items()
        if time_attr in data[key]
    }
    if of_nodes and of_edges:
        raise ArgumentError(f"time_attr is '{time_attr}', which both vertices and edges have, expected either")
    if not of_nodes and not of_edges:
        raise ArgumentError(f"time_attr is '{time_attr}', but data has no such attribute of vertices or edges")
    return of_nodes or None, of_edges or None


def _from_stores(
    features: FeatureStore, graphs: GraphStore, time_attr: str | None, weight_attr: str | None, num_threads: int
) -> SampledGraph:
    if weight_attr is not None:
        raise ArgumentError("weight_attr is given, but (FeatureStore, GraphStore) have no edge weights")
    attributes = graphs.get_all_edge_attrs()
    edge_types = list(dict.fromkeys(attr.edge_type for attr in attributes))
    if None in edge_types:
        if len(edge_types) > 1:
            raise ArgumentError("the GraphStore has edges with and without a type, expected either")
        if time_attr is not None:
            raise ArgumentError("time_attr is given, expected one only of several types of vertices in a FeatureStore")
        row, colptr, permutation = graphs.csc()
        target = torch.repeat_interleave(torch.arange(colptr.numel() - 1), colptr.diff())
        if attributes[0].size is None:
            raise ArgumentError("the GraphStore's edges have no size, expected (number of sources, number of targets)")
        num_nodes = max(attributes[0].size)
        graph = _reversed(row.cpu(), target, num_nodes, None, num_threads)
        return SampledGraph(graph, num_nodes, row.device, _composed(permutation, _permutation(graph)))
    tensors = features.get_all_tensor_attrs()
    node_types = list(dict.fromkeys(attr.group_name for attr in tensors if isinstance(attr.group_name, str)))
    for key in edge_types:
        node_types += [name for name in (key[0], key[2]) if name not in node_types]
    counts = {name: int(remote_backend_utils.size(features, graphs, name)) for name in node_types}
    rows, colptrs, permutations = graphs.csc()
    ends = {
        key: (rows[key], torch.repeat_interleave(torch.arange(colptrs[key].numel() - 1), colptrs[key].diff()))
        for key in edge_types
    }
    node_time = None
    if time_attr is not None:
        node_time = {}
        for attr in tensors:
            if attr.attr_name == time_attr and isinstance(attr.group_name, str):
                attr.index = None
                name = attr.group_name
                node_time[name] = _times(features.get_tensor(attr), f"{time_attr} of '{name}'", counts[name], "vertex")
        if not node_time:
            raise ArgumentError(f"time_attr is '{time_attr}', but the FeatureStore has no such attribute of vertices")
    hetero = HeteroGraph(counts, ends, node_times=node_time, reverse=True, num_threads=num_threads)
    composed = {key: _composed(permutations.get(key), _permutation(one)) for key, one in hetero.edges.items()}
    return SampledGraph(hetero, counts, torch.device("cpu"), composed, node_time, None, node_types, edge_types)


def _composed(outer: Tensor | None, inner: Tensor | None) -> Tensor | None:
    return inner if outer is None or inner is None else outer.cpu()[inner]
