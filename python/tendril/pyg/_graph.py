"""Converts PyG's data to the graphs that the engine samples from: edges are stored with their target vertices."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, FeatureStore, GraphStore, HeteroData, remote_backend_utils

from tendril import _arrays, _tendril, dist
from tendril._errors import ArgumentError
from tendril._graph import Graph
from tendril._hetero_graph import EdgeType, HeteroGraph
from tendril._params import integer, threads

from . import _tables
from ._inputs import Unsupported, as_tensor, expect_below, expect_integers, turned_type
from ._sharded import ShardedGraphStore


@dataclass
class SampledGraph:
    """A graph to sample from, and the mapping back to its data."""

    graph: Graph | HeteroGraph | dist.Graph
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
    """Of the data."""
    attributes_of_edges: frozenset[str] = frozenset()
    """The names in a FeatureStore without types that are those of edges."""
    backward: bool = False
    """Whether the graph's edges are turned round, so that vertices sample from their outgoing edges."""

    def stored_type(self, key: EdgeType) -> EdgeType:
        """The graph's edge type that holds the edges of a type of the data."""
        return turned_type(key) if self.backward else key

    @property
    def num_edges(self) -> int:
        """Number of edges, of a `Graph`."""
        assert isinstance(self.graph, Graph)
        return int(self.graph.num_edges)

    @property
    def is_hetero(self) -> bool:
        return isinstance(self.graph, HeteroGraph)

    @property
    def is_temporal(self) -> bool:
        return self.node_time is not None or self.edge_time is not None


@dataclass(frozen=True)
class _Build:
    """How a graph is built."""

    backward: bool
    num_threads: int

    def graph(self, source: Tensor, target: Tensor, num_nodes: int, weights: Tensor | None) -> Graph:
        """Edges that are stored with the vertex that samples from them."""
        made = self.in_order(source, target, num_nodes, weights)
        return self.by_sorting(source, target, num_nodes, weights) if made is None else made

    def in_order(self, source: Tensor, target: Tensor, num_nodes: int, weights: Tensor | None) -> Graph | None:
        """The same graph without ids of its edges, which are positions, from edges that are in its order already; None
        if they aren't, if an end isn't in [0, num_nodes), or if a weight is wrong."""
        vertices, neighbors = (source, target) if self.backward else (target, source)
        return self._in_order(vertices, neighbors, num_nodes, weights)

    def _in_order(self, vertices: Tensor, neighbors: Tensor, num_nodes: int, weights: Tensor | None) -> Graph | None:
        if vertices.numel() == 0:
            return None
        try:
            core = _tendril.Graph.from_ordered(
                _arrays.ids(vertices, "vertices"),
                _arrays.ids(neighbors, "neighbors"),
                _arrays.weights(weights, "weights"),
                num_nodes,
                threads(self.num_threads),
            )
        except ArgumentError:  # sorting reports it with the right names
            return None
        return None if core is None else Graph(core)

    def by_sorting(self, source: Tensor, target: Tensor, num_nodes: int, weights: Tensor | None) -> Graph:
        """Edges in any order."""
        return Graph.from_coo(
            source,
            target,
            weights=weights,
            num_vertices=num_nodes,
            reverse=not self.backward,
            keep_edge_ids=True,
            num_threads=self.num_threads,
        )

    def hetero(self, num_nodes: dict[str, int], edges: Any, weights: Any, edge_times: Any, node_times: Any) -> Any:
        """The same for several types, and the data's edge for each edge of a type."""
        if self.backward:
            edges = {turned_type(key): (target, source) for key, (source, target) in edges.items()}
            weights, edge_times = (
                None if of is None else {turned_type(key): one for key, one in of.items()}
                for of in (weights, edge_times)
            )
        stored: dict[EdgeType, Any] = {}
        for key, (source, target) in edges.items():
            of_edge = None if weights is None else weights[key]
            made = self._in_order(target, source, max(num_nodes[key[0]], num_nodes[key[2]]), of_edge)
            stored[key] = (source, target) if made is None else made
        if weights is not None:  # a graph has its own
            weights = {key: one for key, one in weights.items() if not isinstance(stored[key], Graph)} or None
        graph = HeteroGraph(
            num_nodes,
            stored,
            weights=weights,
            edge_times=edge_times,
            node_times=node_times,
            reverse=True,
            num_threads=self.num_threads,
        )
        key_of = turned_type if self.backward else (lambda key: key)
        return graph, {key_of(key): _permutation(one) for key, one in graph.edges.items()}


def from_data(
    data: Any,
    time_attr: str | None,
    weight_attr: str | None,
    num_threads: int,
    *,
    backward: bool = False,
    in_parts: bool = False,
) -> SampledGraph:
    """The graph of a Data, a HeteroData, or a pair of a FeatureStore and a GraphStore.

    backward: vertices sample from their outgoing edges. in_parts: the sampler takes a graph in parts, too.
    """
    build = _Build(backward, num_threads)
    data = _tables.with_arrays(data)
    if isinstance(data, Data):
        return _from_homogeneous(data, time_attr, weight_attr, build)
    if isinstance(data, HeteroData):
        return _from_hetero(data, time_attr, weight_attr, build)
    if isinstance(data[1], ShardedGraphStore):
        if not in_parts:
            raise Unsupported(
                "data is a graph in parts, expected a whole one: NeighborSampler, NeighborLoader and LinkNeighborLoader "
                "take parts"
            )
        return _of_parts(data[1], time_attr, weight_attr, backward)
    return _from_stores(data[0], data[1], time_attr, weight_attr, build)


def _of_parts(store: ShardedGraphStore, time_attr: str | None, weight_attr: str | None, backward: bool) -> SampledGraph:
    """A graph whose parts lie with several ranks."""
    if time_attr is not None:
        raise Unsupported("time_attr is given, expected None: a graph in parts has no times")
    if backward:
        raise Unsupported("sample_direction is 'backward', expected 'forward': a graph in parts is sampled as it was cut")
    graph = store.graph
    if weight_attr is not None and not graph.has_weights:
        raise ArgumentError(f"weight_attr is '{weight_attr}', but the graph's edges have no weights")
    return SampledGraph(graph, graph.num_vertices, store.device, None)


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
            row, col = sparse_ends(store[name], name)
            device = store[name].device
            return (col.cpu(), row.cpu(), device) if transposed else (row.cpu(), col.cpu(), device)
        if store.get(name) is not None and hasattr(store[name], "coo"):
            row, col, _ = store[name].coo()
            return (col.cpu(), row.cpu(), row.device) if transposed else (row.cpu(), col.cpu(), row.device)
    none = torch.empty(0, dtype=torch.int64)
    return none, none, none.device


def sparse_ends(matrix: Tensor, what: str) -> tuple[Tensor, Tensor]:
    """The rows and columns of a sparse tensor's elements, in the order of its values."""
    if matrix.dim() != 2 or matrix.layout not in (torch.sparse_csr, torch.sparse_csc, torch.sparse_coo):
        raise ArgumentError(
            f"{what} is a tensor of the layout {matrix.layout}, expected a sparse matrix, or edge_index"
        )
    if matrix.layout == torch.sparse_coo:
        if not matrix.is_coalesced():
            raise ArgumentError(f"{what} is not coalesced, expected one element for each edge, in order")
        row, col = matrix.indices()
        return row, col
    by_row = matrix.layout == torch.sparse_csr
    pointers = matrix.crow_indices() if by_row else matrix.ccol_indices()
    inner = matrix.col_indices() if by_row else matrix.row_indices()
    numbers = torch.arange(pointers.numel() - 1, dtype=inner.dtype, device=pointers.device)
    outer = torch.repeat_interleave(numbers, pointers.diff())
    return (outer, inner) if by_row else (inner, outer)


def _count(store: Any) -> int:
    """The number of vertices of a store."""
    count = 0 if store.num_nodes is None else integer(store.num_nodes, "num_nodes")
    if count < 0:
        raise ArgumentError(f"num_nodes is {count}, expected 0 or more")
    return count


def _from_homogeneous(data: Data, time_attr: str | None, weight_attr: str | None, build: _Build) -> SampledGraph:
    source, target, device = _ends(data._store, "edge_index")
    num_nodes = _count(data)
    graph = build.in_order(source, target, num_nodes, None) if weight_attr is None else None
    for side, ends in enumerate((source, target) if graph is None else ()):
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
    if graph is None:
        make = build.by_sorting if weights is None else build.graph
        graph = make(source, target, num_nodes, weights)
    permutation = _permutation(graph)
    if edge_time is not None and permutation is not None:
        edge_time = edge_time[permutation]
    return SampledGraph(graph, num_nodes, device, permutation, node_time, edge_time, backward=build.backward)


def _permutation(graph: Graph) -> Tensor | None:
    ids = graph.edge_ids
    return None if ids is None else torch.from_numpy(ids.copy())


def _from_hetero(data: HeteroData, time_attr: str | None, weight_attr: str | None, build: _Build) -> SampledGraph:
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
    graph, permutation = build.hetero(num_nodes, edges, weights or None, edge_time, node_time)
    times = (node_time, edge_time)
    return SampledGraph(
        graph, num_nodes, device, permutation, *times, node_types, edge_types, backward=build.backward
    )


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
    features: FeatureStore, graphs: GraphStore, time_attr: str | None, weight_attr: str | None, build: _Build
) -> SampledGraph:
    attributes = graphs.get_all_edge_attrs()
    edge_types = list(dict.fromkeys(attr.edge_type for attr in attributes))
    if None in edge_types:
        if len(edge_types) > 1:
            raise ArgumentError("the GraphStore has edges with and without a type, expected either")
        if attributes[0].size is None:
            raise ArgumentError("the GraphStore's edges have no size, expected (number of sources, number of targets)")
        return _from_untyped_stores(features, graphs, max(attributes[0].size), time_attr, weight_attr, build)
    tensors = features.get_all_tensor_attrs()
    node_types = list(dict.fromkeys(attr.group_name for attr in tensors if isinstance(attr.group_name, str)))
    for key in edge_types:
        node_types += [name for name in (key[0], key[2]) if name not in node_types]
    counts = {name: int(remote_backend_utils.size(features, graphs, name)) for name in node_types}
    rows, cols, _ = graphs.coo()  # in the store's order: sorting, stably, is the builder's task
    ends = {key: (rows[key].cpu(), cols[key].cpu()) for key in edge_types}

    weights = None
    if weight_attr is not None:
        weights = {
            attr.group_name: _weights(
                _whole(features, attr), f"{weight_attr} of {attr.group_name}", ends[attr.group_name][0].numel()
            )
            for attr in tensors
            if attr.attr_name == weight_attr and attr.group_name in ends
        }
        if not weights:
            raise Unsupported(f"weight_attr is '{weight_attr}', but the FeatureStore has no such attribute of edges")
        for key, (source, _) in ends.items():  # all edges are equally likely
            weights.setdefault(key, torch.ones(source.numel()))
    node_time: dict[str, Tensor] = {}
    edge_time: dict[EdgeType, Tensor] = {}
    for attr in tensors if time_attr is not None else ():
        name = attr.group_name
        if attr.attr_name != time_attr:
            continue
        if name in ends:
            edge_time[name] = _times(_whole(features, attr), f"{time_attr} of {name}", ends[name][0].numel(), "edge")
        elif isinstance(name, str):
            node_time[name] = _times(_whole(features, attr), f"{time_attr} of '{name}'", counts[name], "vertex")
    if node_time and edge_time:
        raise ArgumentError(f"time_attr is '{time_attr}', which both vertices and edges have, expected either")
    if time_attr is not None and not node_time and not edge_time:
        raise ArgumentError(f"time_attr is '{time_attr}', but the FeatureStore has no such attribute")
    graph, permutation = build.hetero(counts, ends, weights, edge_time or None, node_time or None)
    cpu = torch.device("cpu")
    times = (node_time or None, edge_time or None)
    return SampledGraph(graph, counts, cpu, permutation, *times, node_types, edge_types, backward=build.backward)


def _from_untyped_stores(
    features: FeatureStore,
    graphs: GraphStore,
    num_nodes: int,
    time_attr: str | None,
    weight_attr: str | None,
    build: _Build,
) -> SampledGraph:
    source, target, _ = graphs.coo()
    device, num_edges = source.device, source.numel()

    def known(name: str) -> Any:
        found = [attr for attr in features.get_all_tensor_attrs() if attr.attr_name == name]
        if len(found) > 1:
            raise ArgumentError(f"the FeatureStore has '{name}' in {len(found)} groups, expected one")
        return _whole(features, found[0]) if found else None

    weights = None
    if weight_attr is not None:
        value = known(weight_attr)
        if value is None:
            raise Unsupported(f"weight_attr is '{weight_attr}', but the FeatureStore has no such attribute")
        weights = _weights(value, weight_attr, num_edges)
    node_time = edge_time = None
    if time_attr is not None:
        value = known(time_attr)
        if value is None:
            raise ArgumentError(f"time_attr is '{time_attr}', but the FeatureStore has no such attribute")
        # The store doesn't tell. Where both are possible PyG's rule decides, the name.
        if value.shape[0] == num_nodes and (num_nodes != num_edges or time_attr == "time"):
            node_time = _times(value, time_attr, num_nodes, "vertex")
        elif value.shape[0] == num_edges:
            edge_time = _times(value, time_attr, num_edges, "edge")
        else:
            raise ArgumentError(
                f"{time_attr} has shape {tuple(value.shape)}, expected ({num_nodes},) or ({num_edges},): "
                "one of each vertex, or edge"
            )
    graph = build.graph(source.cpu(), target.cpu(), num_nodes, weights)
    permutation = _permutation(graph)
    if edge_time is not None and permutation is not None:
        edge_time = edge_time[permutation]
    used = ((weight_attr, weights), (time_attr, edge_time))
    of_edges = frozenset(name for name, values in used if name is not None and values is not None)
    times = (node_time, edge_time)
    return SampledGraph(
        graph, num_nodes, device, permutation, *times, attributes_of_edges=of_edges, backward=build.backward
    )


def _whole(features: FeatureStore, attr: Any) -> Any:
    """All elements of an attribute of the store."""
    attr = copy.copy(attr)
    attr.index = None
    return features.get_tensor(attr)
