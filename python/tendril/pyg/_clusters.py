"""ClusterGCN: PyG's partitioned data, with METIS as Tendril loads it, and batches of clusters."""

from __future__ import annotations

import copy
from typing import Any

import torch
import torch_geometric.loader
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.loader.cluster import Partition
from torch_geometric.utils import select

from tendril._clusters import cluster_vertices
from tendril._errors import ArgumentError
from tendril._graph import Graph
from tendril._params import integer
from tendril._subgraphs import induced_subgraphs

from . import _tables
from ._numbered import NumberedLoader


class ClusterData(torch_geometric.loader.ClusterData):  # type: ignore[misc]
    """Data cut into clusters by METIS: `torch_geometric.loader.ClusterData`, without pyg-lib or torch-sparse.

    Arguments, items and the files of ``save_dir`` are PyG's. METIS is `libmetis.so.5`, as for
    `tendril.cluster_vertices`: it gets the graph without directions, loops and parallel edges.

    Parameters
    ----------
    data : Data
    num_parts : int
        Number of clusters, in [1, number of vertices].
    recursive : bool
        Only False: METIS' k-way partition.
    save_dir, filename, log, keep_inter_cluster_edges, sparse_format
        As in PyG.

    Raises
    ------
    ArgumentError
        A ValueError: for a number of clusters out of range, ``recursive=True``, data without `edge_index`.
    IoError
        If METIS can't be loaded.
    """

    def __init__(
        self,
        data: Data,
        num_parts: int,
        recursive: bool = False,
        save_dir: str | None = None,
        filename: str | None = None,
        log: bool = True,
        keep_inter_cluster_edges: bool = False,
        sparse_format: str = "csr",
    ) -> None:
        if not isinstance(data, Data) or data.get("edge_index") is None:
            raise ArgumentError(f"data is a {type(data).__name__} without edge_index, expected Data with edges")
        _tables.expect_none(data, type(self).__name__)
        if recursive:
            raise ArgumentError("recursive is True, expected False: METIS' k-way partition")
        if sparse_format not in ("csr", "csc"):
            raise ArgumentError(f"sparse_format is {sparse_format!r}, expected 'csr' or 'csc'")
        parts = integer(num_parts, "num_parts")
        with torch.serialization.safe_globals([Partition]):  # of the files in save_dir
            super().__init__(data, parts, recursive, save_dir, filename, log, keep_inter_cluster_edges, sparse_format)

    def _metis(self, edge_index: Tensor, num_nodes: int) -> Tensor:
        source, target = edge_index.cpu()
        graph = Graph.from_coo(source, target, num_vertices=num_nodes)
        return torch.from_numpy(cluster_vertices(graph, self.num_parts, method="metis")).to(edge_index.device)


class ClusterLoader(NumberedLoader):
    """Loads batches of clusters with the edges between them: `torch_geometric.loader.ClusterLoader` with Tendril's
    engine.

    Batches have the fields and the order of PyG's. With ``shuffle=True``, ``seed`` and the number of the epoch
    determine the order of the clusters.

    Parameters
    ----------
    cluster_data : ClusterData
        From this package or from PyG.
    seed : int, optional
        In [0, 2^64). None: the constructor draws it once from Torch's generator.
    num_threads : int
        Number of threads; 0: every core the process may use.
    **loader
        ``batch_size`` (clusters per batch), ``shuffle`` and the other arguments of `torch.utils.data.DataLoader`.
        Arguments of worker processes are accepted, without effect.
    """

    def __init__(self, cluster_data: Any, *, seed: int | None = 0, num_threads: int = 0, **loader: Any) -> None:
        if not isinstance(cluster_data, torch_geometric.loader.ClusterData):
            raise ArgumentError(f"cluster_data is a {type(cluster_data).__name__}, expected ClusterData")
        _tables.expect_none(cluster_data.data, type(self).__name__)
        self.cluster_data = cluster_data
        self.num_threads = integer(num_threads, "num_threads", 32)
        partition = cluster_data.partition
        self._graph = Graph.from_csr(partition.indptr.cpu(), partition.index.cpu(), num_threads=num_threads)
        super().__init__(range(len(cluster_data)), seed, **loader)

    def _make(self, items: list[int], number: int) -> Data:
        data, partition = self.cluster_data.data, self.cluster_data.partition
        cuts = partition.partptr.tolist()
        node = torch.cat([torch.arange(cuts[i], cuts[i + 1]) for i in items])
        made = induced_subgraphs(self._graph, node, num_threads=self.num_threads).sample(0)
        ends = torch.from_numpy(made.edge_index.copy())
        edge = torch.from_numpy(made.edges.copy())
        out = copy.copy(data)
        for name, value in data.items():
            if name == "num_nodes":
                out.num_nodes = node.numel()
            elif data.is_node_attr(name):
                out[name] = select(value, node, dim=data.__cat_dim__(name, value))
            elif data.is_edge_attr(name):
                out[name] = select(value, edge, dim=data.__cat_dim__(name, value))
        out.edge_index = (ends if partition.sparse_format == "csr" else ends.flip(0)).to(partition.index.device)
        return out
