"""Mini-batches of several types of vertices by HGSampling."""

from __future__ import annotations

from typing import Any

from tendril import _gpu
from tendril._errors import ArgumentError

from . import _tables
from ._hgt_sampler import HGTSampler
from ._node_loader import NeighborLoader, chosen_seed


class HGTLoader(NeighborLoader):
    """Loads mini-batches with similar numbers of vertices of every type: `torch_geometric.loader.HGTLoader` with
    Tendril's engine.

    It takes PyG's arguments and yields the same fields. The sampler is HGSampling of the Heterogeneous Graph
    Transformer: see `tendril.HGTSampler`. Batches follow the published algorithm at every degree; PyG reads at most 50
    edges of a vertex. As for `NeighborLoader`, the number of a batch and ``seed`` determine all draws.

    Parameters
    ----------
    data : HeteroData or (FeatureStore, GraphStore)
    num_samples : list of int, or dict of vertex types to such
        The vertices that each hop adds: of each type, or one list for all types. Types that are missing in a dict get
        none.
    input_nodes : str or (str, tensor)
        The type of the seeds, and the seeds: vertices, a mask, or None for all of that type.
    is_sorted, filter_per_worker
        Accepted, without effect.
    transform, transform_sampler_output
        As for `NeighborLoader`.
    seed : int, optional
        In [0, 2^64). None: the constructor draws it once from Torch's generator.
    num_threads : int
        Number of threads; 0: every core the process may use.
    device
        None or "cpu": sampling runs on the CPU. Attributes stay on their devices.
    **loader
        ``bulk``, ``prefetch``, ``pad`` and the arguments of `torch.utils.data.DataLoader`, as for `NeighborLoader`. A
        `Padding` of these batches has one hop: the seeds, all other vertices and all edges of each type.

    Raises
    ------
    ArgumentError
        A ValueError: for data of one type, seeds that are not vertices, unknown types, another device.
    """

    def __init__(
        self,
        data: Any,
        num_samples: Any,
        input_nodes: Any,
        is_sorted: bool = False,
        transform: Any = None,
        transform_sampler_output: Any = None,
        filter_per_worker: bool | None = None,
        *,
        seed: int | None = 0,
        num_threads: int = 0,
        device: Any = None,
        **loader: Any,
    ) -> None:
        if device is not None and _gpu.parse(device) != _gpu.HOST:
            raise ArgumentError(f"device is {str(device)!r}, but HGSampling runs on the CPU: expected 'cpu'")
        data = _tables.with_arrays(data)
        super().__init__(
            data,
            [],
            input_nodes,
            is_sorted=is_sorted,
            transform=transform,
            transform_sampler_output=transform_sampler_output,
            filter_per_worker=filter_per_worker,
            neighbor_sampler=HGTSampler(data, num_samples, seed=chosen_seed(seed), num_threads=num_threads),
            **loader,
        )
