"""Mini-batches around vertices."""

from __future__ import annotations

from typing import Any

import torch
import torch_geometric.loader
from torch import Tensor
from torch_geometric.sampler import HeteroSamplerOutput, NodeSamplerInput

from tendril._errors import ArgumentError

from . import _inputs, _padding, _tables
from ._features import put
from ._loader import Loader, expect_sampler
from ._sampler import NeighborSampler


class NeighborLoader(Loader, torch_geometric.loader.NeighborLoader):  # type: ignore[misc]
    """Loads mini-batches around vertices: `torch_geometric.loader.NeighborLoader` with Tendril's engine, on CPU and
    GPU.

    It takes PyG's arguments and yields the same fields as PyG: Data or HeteroData with the attributes of the sampled
    vertices and edges, and `n_id`, `e_id`, `input_id`, `batch_size`, `num_sampled_nodes`, `num_sampled_edges`, `batch`
    (disjoint) and `seed_time`. ``edge_index[0]`` holds neighbours, ``edge_index[1]`` the vertices that sampled them.
    docs/pyg.md has a table of the differences from PyG.

    Batch i of epoch e, from 0, has the number ``e * n + i``, where n is the number of batches an epoch. This number and
    ``seed`` determine all draws: threads, ``bulk``, ``prefetch``, the device and the number of ranks never change a
    batch. The loader doesn't use Torch's generators, except for a default ``seed``.

    Parameters
    ----------
    data : Data, HeteroData or (FeatureStore, GraphStore)
        Attributes of vertices and edges may be a `tendril.FeatureTable` [vertices or edges, …].
    num_neighbors : list of int, or dict of edge types to such
        Neighbours per vertex, for each hop: >= 0, or -1 for all.
    input_nodes : tensor, list, str or (str, tensor), optional
        Seeds: vertices, a mask of vertices, or None for all vertices; with several types, a type and its seeds.
    input_time : tensor of int, optional
        Time of each seed: the seed sees nothing later. Default: the seeds' own ``time_attr``.
    replace, subgraph_type, disjoint, temporal_strategy, time_attr, weight_attr, directed, choice, normalize,
    layer_dependency, batch_dependency
        As for `NeighborSampler`.
    transform : callable, optional
        Takes a batch and returns the value that the loader yields. Called in the thread that iterates.
    transform_sampler_output : callable, optional
        The same for the sampler's output, before attributes are added.
    is_sorted
        As for `NeighborSampler`.
    filter_per_worker : bool, optional
        Whether `collate_fn` makes a whole batch, for loaders that consist of others. It doesn't change an iteration.
    neighbor_sampler : BaseSampler, optional
        The sampler to use, from this package or from PyG.
    custom_cls, input_id
        As in PyG.
    batch_size : int
        Seeds per batch.
    shuffle : bool
        Take the seeds in a different order in every epoch. ``seed`` and the number of the epoch determine the order; a
        given ``generator`` takes their place.
    drop_last : bool
        Omit the last batch if it is smaller.
    sampler, batch_sampler, generator, pin_memory
        As in `torch.utils.data.DataLoader`. Its other arguments (``num_workers``, …) are accepted: threads of this
        process make the batches. With ``num_workers`` above 0, ``worker_init_fn`` is called as worker 0 before each
        epoch (with ``persistent_workers`` once), and the random generators and Torch's number of threads are put back.
    seed : int, optional
        In [0, 2^64). None: the constructor draws it once from Torch's generator. A given ``neighbor_sampler`` of this package has a
        seed of its own, which decides the order as well: this one then changes nothing.
    device : str or torch.device, optional
        Device for sampling and for the batches. Default: the device that holds the edges of the data; features then
        stay on their device, unless the edges are on a GPU.
    bulk : int, optional
        Batches that are sampled together. Default: enough to fill a GPU; 8 on a CPU; 1 with a fan-out of -1.
    prefetch : int
        Batches that are made in advance; 0: each batch is made on request.
    rank : int or "auto", world_size : int
        Of a distributed training: this process makes batches rank, rank + world_size, … of each epoch. All ranks
        together make the batches of one process, for the same ``seed`` and ``batch_size``. "auto" takes both from
        `torch.distributed`, if the program has set that up, or from torchrun or mpirun.
    uneven : str
        Where the batches of an epoch are no multiple of ``world_size``: "keep" gives some ranks one batch more, "drop"
        omits the last batches, "repeat" takes the epoch's first batches again.
    cache : FeatureCache, optional
        Keeps rows of attributes in host memory on the GPU that makes the batches; ``loader.cache`` tells how it does.
        It never changes a batch.
    pad : str or Padding, optional
        Give every batch of an iteration the same sizes, so that a training step can be one CUDA graph. "epoch": those of
        the epoch's largest batch, which are found by sampling the epoch ahead, all ranks' batches of it, when it begins.
        A `Padding`, of `padding` for example: those, in every epoch; a batch that is larger raises an ArgumentError. For
        directional batches of Data and HeteroData. Batches get `node_mask`, `edge_mask` and `seed_mask`; padding has the class -100
        in an int64 `y`. docs/pyg.md tells what padding looks like.
    executor, num_threads, table_bytes
        As for `NeighborSampler`.

    Raises
    ------
    ArgumentError
        A ValueError: for seeds that are not vertices, unknown types, missing attributes, arguments that contradict each
        other.
    DeviceError
        If the GPU can't be used; the message gives the reason.
    """

    def __init__(
        self,
        data: Any,
        num_neighbors: Any,
        input_nodes: Any = None,
        input_time: Tensor | None = None,
        replace: bool = False,
        subgraph_type: Any = "directional",
        disjoint: bool = False,
        temporal_strategy: str = "uniform",
        time_attr: str | None = None,
        weight_attr: str | None = None,
        transform: Any = None,
        transform_sampler_output: Any = None,
        is_sorted: bool = False,
        filter_per_worker: bool | None = None,
        neighbor_sampler: Any = None,
        directed: bool = True,
        custom_cls: Any = None,
        input_id: Tensor | None = None,
        *,
        choice: str = "independent",
        normalize: bool = True,
        layer_dependency: bool = False,
        batch_dependency: int = 1,
        seed: int | None = 0,
        device: Any = None,
        bulk: int | None = None,
        prefetch: int = 2,
        executor: str = "auto",
        num_threads: int = 0,
        table_bytes: int | None = None,
        sampler: Any = None,
        **loader: Any,
    ) -> None:
        data = _tables.with_arrays(data)
        if input_time is not None and time_attr is None and neighbor_sampler is None:
            raise ArgumentError("input_time is given, but 'time_attr' is not set: expected both, or none")
        if neighbor_sampler is None:
            neighbor_sampler = NeighborSampler(
                data,
                num_neighbors,
                subgraph_type=subgraph_type,
                replace=replace,
                disjoint=disjoint,
                temporal_strategy=temporal_strategy,
                time_attr=time_attr,
                weight_attr=weight_attr,
                is_sorted=is_sorted,
                directed=directed,
                choice=choice,
                normalize=normalize,
                layer_dependency=layer_dependency,
                batch_dependency=batch_dependency,
                seed=chosen_seed(seed),
                device=device,
                executor=executor,
                num_threads=num_threads,
                table_bytes=table_bytes,
            )
        expect_sampler(neighbor_sampler, "sample_from_nodes")
        kind, nodes, ids = _inputs.nodes_of(data, input_nodes, input_id)
        time = _inputs.times(input_time, "input_time", nodes.numel(), "seed")
        self.node_sampler = neighbor_sampler
        self.input_nodes = input_nodes
        self.input_time = input_time
        self.input_data = NodeSamplerInput(input_id=ids, node=nodes, time=time, input_type=kind)
        super().__init__(
            data,
            neighbor_sampler,
            nodes.numel(),
            transform,
            transform_sampler_output,
            custom_cls,
            input_id,
            filter_per_worker,
            seed,
            device,
            bulk,
            prefetch,
            index_sampler=sampler,
            **loader,
        )
        if isinstance(neighbor_sampler, NeighborSampler):  # reports here that seeds have no times
            neighbor_sampler._seed_times({kind: nodes[:0]}, None if time is None else {kind: time[:0]})

    def _sample(self, index: Tensor, number: int | None) -> Any:
        given = self.input_data[index]
        if self._ours:
            return self.node_sampler.sample_from_nodes(given, batch=number)
        return self.node_sampler.sample_from_nodes(given)

    def _sample_many(self, parts: list[Tensor], number: int, step: int) -> list[Any]:
        sizes = {part.numel() for part in parts[:-1]}
        even = len(sizes) == 1 and 0 < parts[-1].numel() <= next(iter(sizes))
        if not self._ours or not even:
            return super()._sample_many(parts, number, step)
        given, size = self.input_data[torch.cat(parts)], parts[0].numel()
        made: list[Any] = self.node_sampler.sample_batches(given, size, number, step)
        return made

    def _finish(self, made: Any, out: Any) -> None:
        store = made[self.input_data.input_type] if isinstance(out, HeteroSamplerOutput) else made._store
        ids, times = out.metadata[:2]
        put(store, {"input_id": ids, "seed_time": times, "batch_size": ids.size(0)})
        _padding.add_masks(made, out)


def chosen_seed(seed: int | None) -> int:
    """The given seed, or one that Torch's generator draws."""
    return int(torch.randint(2**63 - 1, ())) if seed is None else seed
