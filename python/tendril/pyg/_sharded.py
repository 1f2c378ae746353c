"""Graphs and features that several processes share, as data for loaders."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import EdgeAttr, FeatureStore, GraphStore, TensorAttr
from torch_geometric.data.feature_store import _FieldStatus

from tendril import _gpu, dist
from tendril._errors import ArgumentError
from tendril._minibatch import Minibatch

from ._inputs import Unsupported


class _AttrOfVertices(TensorAttr):  # type: ignore[misc]
    """An attribute of vertices that have no types."""

    def __init__(self, attr_name: Any = _FieldStatus.UNSET, index: Any = _FieldStatus.UNSET) -> None:
        super().__init__(None, attr_name, index)


class ShardedFeatureStore(FeatureStore):  # type: ignore[misc]
    """Attributes of vertices by name, whose rows ranks share."""

    def __init__(self, tables: dict[str, dist.FeatureTable]) -> None:
        super().__init__(tensor_attr_cls=_AttrOfVertices)
        self.__dict__["tables"] = dict(tables)

    @property
    def takes_gpu_ids(self) -> bool:
        """Whether positions may be in the memory of a GPU."""
        return any(table.device != "cpu" for table in self.tables.values())

    def _get_tensor(self, attr: TensorAttr) -> Tensor | None:
        table = self.tables.get(attr.attr_name)
        if table is None:
            return None
        ids: Any = np.arange(len(table)) if attr.index is None else torch.as_tensor(attr.index)
        if isinstance(ids, Tensor) and (table.device == "cpu" or not ids.is_cuda):
            ids = ids.cpu().numpy()
        with torch.cuda.device(ids.device) if isinstance(ids, Tensor) else nullcontext():  # or Torch doesn't lend them
            rows = table.gather(ids)
        return torch.from_numpy(rows) if isinstance(rows, np.ndarray) else torch.from_dlpack(rows)

    def _get_tensor_size(self, attr: TensorAttr) -> tuple[int, ...]:
        return tuple(self.tables[attr.attr_name].shape)

    def _put_tensor(self, tensor: Any, attr: TensorAttr) -> bool:
        raise Unsupported(f"'{attr.attr_name}' can't be set: ranks share the rows, expected a new sharded_data")

    def _remove_tensor(self, attr: TensorAttr) -> bool:
        raise Unsupported(f"'{attr.attr_name}' can't be removed: ranks share the rows, expected a new sharded_data")

    def get_all_tensor_attrs(self) -> list[TensorAttr]:
        return [_AttrOfVertices(name) for name in self.tables]


class ShardedGraphStore(GraphStore):  # type: ignore[misc]
    """A graph in parts."""

    def __init__(self, graph: dist.Graph, device: torch.device) -> None:
        super().__init__()
        self.__dict__["graph"] = graph
        self.__dict__["device"] = device  # where batches are made

    def _get_edge_index(self, edge_attr: EdgeAttr) -> None:
        raise Unsupported("the edges lie with several ranks, expected a sampler of tendril.pyg")

    def _put_edge_index(self, edge_index: Any, edge_attr: EdgeAttr) -> bool:
        raise Unsupported("edges can't be set: they lie with several ranks")

    def _remove_edge_index(self, edge_attr: EdgeAttr) -> bool:
        raise Unsupported("edges can't be removed: they lie with several ranks")

    def get_all_edge_attrs(self) -> list[EdgeAttr]:
        size = (self.graph.num_vertices, self.graph.num_vertices)
        return [EdgeAttr(edge_type=None, layout="coo", size=size)]


class ShardedEngine(dist.MinibatchSampler):
    """What makes the batches, with the arguments of `tendril.MinibatchSampler`."""

    def sample(self, seeds: Any, *, batch: int = 0, times: None = None) -> Minibatch:
        return super().sample(seeds, batch=batch)

    def sample_batches(
        self,
        seeds: Any,
        batch_size: int,
        *,
        node_type: None = None,
        first_batch: int = 0,
        batch_step: int = 1,
        times: None = None,
    ) -> list[Minibatch]:
        return super().sample_batches(seeds, batch_size, first_batch=first_batch, batch_step=batch_step)


def sharded_data(
    graph: dist.Graph, *, device: Any = None, **tables: dist.FeatureTable
) -> tuple[ShardedFeatureStore, ShardedGraphStore]:
    """Data for `NeighborLoader`, `LinkNeighborLoader` and `NeighborSampler` whose graph and features several processes share.

    Parameters
    ----------
    graph : tendril.dist.Graph
        Vertices sample from the edges of their part: for message flow towards the seeds, cut a graph that was built with
        ``reverse=True``. Weights of its edges are used with any ``weight_attr``.
    device : str or torch.device, optional
        The GPU of this rank, on which `NeighborLoader` and `LinkNeighborLoader` make batches. None: the CPU makes them, and ``device`` of the loader moves
        them to a GPU. All ranks give one, or none.
    **tables : tendril.dist.FeatureTable
        Attributes of vertices by name: ``x=…, y=…``. Those on GPUs are on the GPU of this rank.

    Returns
    -------
    (FeatureStore, GraphStore)
        What GPUs make is a call of all ranks, so loaders over it keep step: each rank has a loader with the same arguments but for
        its own ``rank`` among those of the graph, all make epochs at the same time, and leave them behind the same batch.

    Raises
    ------
    ArgumentError
        For anything else, and for a table of another graph's size.
    """
    if not isinstance(graph, dist.Graph):
        raise ArgumentError(f"graph is a {type(graph).__name__}, expected a tendril.dist.Graph")
    for name, table in tables.items():
        if not isinstance(table, dist.FeatureTable):
            raise ArgumentError(f"{name} is a {type(table).__name__}, expected a tendril.dist.FeatureTable")
        if len(table) != graph.num_vertices:
            raise ArgumentError(f"{name} has {len(table)} rows, expected one of each vertex: {graph.num_vertices}")
    place = _gpu.HOST if device is None else _gpu.parse(device)
    return ShardedFeatureStore(tables), ShardedGraphStore(graph, torch.device(_gpu.name_of(place)))
