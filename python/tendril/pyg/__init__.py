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

from ._link_loader import LinkNeighborLoader
from ._node_loader import NeighborLoader
from ._sampler import NeighborSampler

__all__ = ["LinkNeighborLoader", "NeighborLoader", "NeighborSampler"]
