"""Loaders and samplers for PyTorch Geometric, with PyG's names and arguments and Tendril's engine, on CPUs and GPUs.

>>> from tendril.pyg import NeighborLoader  # instead of: from torch_geometric.loader import NeighborLoader

This is the only part of the package that uses Torch. Batches are reproducible: a batch depends only on the data, the
arguments, ``seed`` and the number of the batch.
"""

try:
    import torch as _torch
    import torch_geometric as _torch_geometric
except ImportError as error:
    raise ImportError(f"tendril.pyg needs torch and torch_geometric: {error}") from error

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from tendril._padding import Padding
from tendril._timeline import LoaderStats

from ._bidirectional import BidirectionalNeighborSampler
from ._clusters import ClusterData, ClusterLoader
from ._graph_saint import (
    GraphSAINTEdgeSampler,
    GraphSAINTNodeSampler,
    GraphSAINTRandomWalkSampler,
    GraphSAINTSampler,
)
from ._hgt_loader import HGTLoader
from ._hgt_sampler import HGTSampler
from ._imbalanced import ImbalancedSampler
from ._link_loader import LinkNeighborLoader
from ._node_loader import NeighborLoader
from ._sampler import NeighborSampler
from ._shadow import ShaDowKHopSampler
from ._sharded import sharded_data

if _TYPE_CHECKING:
    from ._lightning import LightningLinkData, LightningNodeData

__all__ = [
    "BidirectionalNeighborSampler",
    "ClusterData",
    "ClusterLoader",
    "GraphSAINTEdgeSampler",
    "GraphSAINTNodeSampler",
    "GraphSAINTRandomWalkSampler",
    "GraphSAINTSampler",
    "HGTLoader",
    "HGTSampler",
    "ImbalancedSampler",
    "LightningLinkData",
    "LightningNodeData",
    "LinkNeighborLoader",
    "LoaderStats",
    "NeighborLoader",
    "NeighborSampler",
    "Padding",
    "ShaDowKHopSampler",
    "sharded_data",
]


def __getattr__(name: str) -> _Any:
    """The classes for PyTorch Lightning, which takes long to import."""
    if name not in ("LightningLinkData", "LightningNodeData"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _lightning

    return getattr(_lightning, name)
