"""Mini-batches around links."""

from __future__ import annotations

from typing import Any

import torch_geometric.loader
from torch import Tensor
from torch_geometric.sampler import EdgeSamplerInput, HeteroSamplerOutput

from tendril._errors import ArgumentError

from . import _inputs, _padding, _tables
from ._loader import Loader, expect_sampler
from ._negatives import configured
from ._node_loader import chosen_seed
from ._sampler import NeighborSampler


class LinkNeighborLoader(Loader, torch_geometric.loader.LinkNeighborLoader):  # type: ignore[misc]
    """Loads mini-batches around links: `torch_geometric.loader.LinkNeighborLoader` with Tendril's engine, on CPU and
    GPU.

    It takes PyG's arguments and yields the same fields as PyG: those of `NeighborLoader`, and `edge_label_index`,
    `edge_label` and `edge_label_time`; with triplets `src_index`, `dst_pos_index`, `dst_neg_index` and `seed_time`. A
    negative link may be an edge of the graph, as in PyG.

    Batch i of epoch e, from 0, has the number ``e * n + i``, where n is the number of batches an epoch. This number and
    ``seed`` determine all draws, including negatives. The loader doesn't use Torch's generators.

    Parameters
    ----------
    data : Data, HeteroData or (FeatureStore, GraphStore)
        Attributes of vertices and edges may be a `tendril.FeatureTable` [vertices or edges, …].
    num_neighbors : list of int, or dict of edge types to such
        Neighbours per vertex, for each hop: >= 0, or -1 for all.
    edge_label_index : tensor, edge type or (edge type, tensor), optional
        Links, [2, n]; None for all edges.
    edge_label : tensor, optional
        Label of each link. With binary negatives, labels that begin at 0 are raised by one: 0 then means negative.
    edge_label_time : tensor of int, optional
        Time of each link: the link sees nothing later. Requires ``time_attr``.
    replace, subgraph_type, disjoint, temporal_strategy, time_attr, weight_attr, directed, choice, normalize,
    layer_dependency, batch_dependency
        As for `NeighborSampler`.
    neg_sampling : NegativeSampling, str or dict, optional
        Negative links for each positive link: "binary" or "triplet".
    neg_sampling_ratio : int or float, optional
        Short form for binary negatives.
    transform, transform_sampler_output, is_sorted, filter_per_worker, neighbor_sampler, custom_cls, input_id
        As for `NeighborLoader`.
    seed, device, bulk, prefetch, rank, world_size, uneven, executor, num_threads, table_bytes, sampler, **loader
        As for `NeighborLoader`. Batches of links are always made one by one.
    pad : str or Padding, optional
        As for `NeighborLoader`; a `Padding` has `num_links`, too. Instead of `seed_mask` batches get `label_mask`, bool,
        [links + negative links] or of triplets [links]: True for real ones. Padding links repeat the first link, and have the
        label -100 if labels are int64, else 0; `input_id` is -1 there.

    Raises
    ------
    ArgumentError
        A ValueError: for links whose ends are not vertices, unknown types, labels with triplets, missing attributes,
        arguments that contradict each other.
    DeviceError
        If the GPU can't be used; the message gives the reason.
    """

    _of_links = True

    def __init__(
        self,
        data: Any,
        num_neighbors: Any,
        edge_label_index: Any = None,
        edge_label: Tensor | None = None,
        edge_label_time: Tensor | None = None,
        replace: bool = False,
        subgraph_type: Any = "directional",
        disjoint: bool = False,
        temporal_strategy: str = "uniform",
        neg_sampling: Any = None,
        neg_sampling_ratio: int | float | None = None,
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
        if (edge_label_time is None) != (time_attr is None) and neighbor_sampler is None:
            given, missing = ("edge_label_time", "time_attr") if time_attr is None else ("time_attr", "edge_label_time")
            raise ArgumentError(f"{given} is given, but '{missing}' is not set: expected both, or none")
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
        expect_sampler(neighbor_sampler, "sample_from_edges")
        self.neg_sampling = configured(neg_sampling, neg_sampling_ratio)
        kind, links = _inputs.links_of(data, edge_label_index, neighbor_sampler.num_nodes)
        count = links.size(1)
        edge_label = _inputs.one_each(edge_label, "edge_label", count, "link")
        if self.neg_sampling is not None and edge_label is not None:
            if self.neg_sampling.is_triplet():
                raise ArgumentError("edge_label is given, but triplets have no labels: expected None")
            if edge_label.numel() and edge_label.min() == 0:
                edge_label = edge_label + 1  # 0 means "negative"
        self.link_sampler = neighbor_sampler
        self.edge_label_index = edge_label_index
        self.input_data = EdgeSamplerInput(
            input_id=_inputs.one_each(input_id, "input_id", count, "link"),
            row=links[0],
            col=links[1],
            label=edge_label,
            time=_inputs.times(edge_label_time, "edge_label_time", count, "link"),
            input_type=kind,
        )
        super().__init__(
            data,
            neighbor_sampler,
            count,
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

    def _sample(self, index: Tensor, number: int | None) -> Any:
        given = self.input_data[index]
        if self._ours:
            return self.link_sampler.sample_from_edges(given, self.neg_sampling, batch=number)
        return self.link_sampler.sample_from_edges(given, neg_sampling=self.neg_sampling)

    def _finish(self, made: Any, out: Any) -> None:
        kind = self.input_data.input_type
        hetero = isinstance(out, HeteroSamplerOutput)
        store = made[kind] if hetero else made
        store.input_id = out.metadata[0]
        _padding.add_masks(made, out)
        if self.neg_sampling is None or self.neg_sampling.is_binary():
            store.edge_label_index, store.edge_label, store.edge_label_time = out.metadata[1:4]
            return
        source, target = (made[kind[0]], made[kind[-1]]) if hetero else (made, made)
        source.src_index, target.dst_pos_index, target.dst_neg_index = out.metadata[1:4]
        source.seed_time = target.seed_time = out.metadata[4]
        # Attributes of these names that the data had say nothing of the batch.
        if not hetero or kind in made.edge_types:
            for name in ("edge_label_index", "edge_label_time"):
                if name in store:
                    del store[name]
