"""Conversion from and to SciPy and NetworkX. Both are imported only by the calls that need them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays
from ._errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import networkx
    import scipy.sparse
    from numpy.typing import NDArray

    from . import _tendril


def csr_of_scipy(matrix: Any, weights: bool) -> dict[str, Any]:
    """Arguments of Graph.from_csr for a sparse matrix."""
    import scipy.sparse

    if not scipy.sparse.issparse(matrix):
        raise ArgumentError(f"from_scipy: a {type(matrix).__name__}, expected a SciPy sparse matrix or array")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ArgumentError(f"from_scipy: shape {matrix.shape}, expected a square matrix")
    csr = matrix.tocsr()
    if not csr.has_sorted_indices:
        csr = csr.sorted_indices()
    valued = weights and csr.dtype != np.bool_
    return {"indptr": csr.indptr, "indices": csr.indices, "weights": csr.data if valued else None}


def to_scipy(graph: _tendril.Graph) -> scipy.sparse.csr_array:
    """The adjacency matrix of a graph."""
    import scipy.sparse

    data = graph.weights if graph.weights is not None else np.ones(graph.num_edges, np.float32)
    size = graph.num_vertices
    return scipy.sparse.csr_array((data, graph.indices, graph.indptr), shape=(size, size))


def coo_of_networkx(graph: Any, weight: str | None, label: str | None, node_type: str | None) -> dict[str, Any]:
    """Arguments of Graph.from_coo for a NetworkX graph."""
    nodes = list(graph)
    integers = all(isinstance(node, (int, np.integer)) and not isinstance(node, bool) for node in nodes)
    keeps_numbers = integers and set(nodes) == set(range(len(nodes)))
    number = {node: node if keeps_numbers else i for i, node in enumerate(nodes)}
    edges = list(graph.edges(data=True))
    coo: dict[str, Any] = {
        "source": np.fromiter((number[u] for u, _, _ in edges), np.int64, len(edges)),
        "target": np.fromiter((number[v] for _, v, _ in edges), np.int64, len(edges)),
        "num_vertices": len(nodes),
        "symmetrize": not graph.is_directed(),
    }
    if weight is not None:
        coo["weights"] = np.fromiter((data.get(weight, 1) for _, _, data in edges), np.float32, len(edges))
    if label is not None:
        coo["labels"], coo["edge_label_names"] = _codes((data for _, _, data in edges), label, "an edge")
    if node_type is not None:
        by_number = sorted(nodes, key=number.__getitem__)
        coo["node_types"], coo["node_type_names"] = _codes((graph.nodes[n] for n in by_number), node_type, "a node")
    return coo


def _codes(attributes: Iterable[dict[str, Any]], name: str, of: str) -> tuple[NDArray[np.int64], list[str]]:
    """An attribute as integers; if it holds strings, also their names in sorted order."""
    try:
        values = [data[name] for data in attributes]
    except KeyError:
        raise ArgumentError(f"from_networkx: {of} without the attribute '{name}'") from None
    if all(isinstance(value, str) for value in values):
        names = sorted(set(values))
        code = {value: i for i, value in enumerate(names)}
        return np.array([code[value] for value in values], np.int64), names
    if all(isinstance(value, (int, np.integer)) for value in values):
        return np.array(values, np.int64), []
    raise ArgumentError(f"from_networkx: the attribute '{name}' mixes types, expected only integers or only strings")


def to_networkx(graph: _tendril.Graph) -> networkx.DiGraph[int]:
    """A graph as a NetworkX graph."""
    import networkx

    sources = _arrays.repeated(np.arange(graph.num_vertices), np.diff(graph.indptr), "sources of edges")
    targets = graph.indices
    parallel = bool(np.any((sources[1:] == sources[:-1]) & (targets[1:] == targets[:-1])))
    out: networkx.DiGraph[int] = networkx.MultiDiGraph() if parallel else networkx.DiGraph()
    out.add_nodes_from(range(graph.num_vertices))
    if graph.node_types is not None:
        types = _named(graph.node_types, graph.node_type_names)
        networkx.set_node_attributes(out, dict(enumerate(types)), "type")
    columns: dict[str, list[Any]] = {}
    if graph.weights is not None:
        columns["weight"] = graph.weights.tolist()
    if graph.edge_labels is not None:
        columns["label"] = _named(graph.edge_labels, graph.edge_label_names)
    attributes = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    ends = zip(sources.tolist(), targets.tolist(), strict=True)
    if attributes:
        out.add_edges_from((u, v, data) for (u, v), data in zip(ends, attributes, strict=True))
    else:
        out.add_edges_from(ends)
    return out


def summary(graph: _tendril.Graph) -> dict[str, Any]:
    """What `Graph.info` tells."""
    degrees = graph.degrees()
    return {
        "num_vertices": graph.num_vertices,
        "num_edges": graph.num_edges,
        "num_bytes": graph.num_bytes,
        "form": graph.form,
        "bits_per_edge": graph.bits_per_edge,
        "edge_array_bits": graph.edge_array_bits,
        "max_degree": int(degrees.max(initial=0)),
        "mean_degree": graph.num_edges / max(graph.num_vertices, 1),
        "num_dead_ends": int(np.count_nonzero(degrees == 0)),
        "symmetric": graph.symmetric,
        "has_weights": graph.has_weights,
        "has_edge_labels": graph.has_edge_labels,
        "has_node_types": graph.has_node_types,
        "edge_label_names": graph.edge_label_names,
        "node_type_names": graph.node_type_names,
        "metadata": graph.metadata,
    }


def _named(codes: NDArray[Any], names: list[str]) -> list[Any]:
    return [names[code] if code < len(names) else code for code in codes.tolist()]
