"""Batches around links: their ends as seeds, negative links, and the positions of both in the batch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from tendril._errors import ArgumentError

if TYPE_CHECKING:
    from torch_geometric.sampler import EdgeSamplerInput, NegativeSampling

    from ._sampler import NeighborSampler


def edge_sample(
    sampler: NeighborSampler, index: EdgeSamplerInput, neg_sampling: NegativeSampling | None, batch: int
) -> Any:
    """Sample a batch by PyG's rule: the seeds are all sources, positive and then negative, followed by all targets in
    the same order. In batches that aren't disjoint each vertex is a seed once, in ascending order."""
    source, target, time, label = index.row, index.col, index.time, index.label
    source_type, target_type = (None, None) if index.input_type is None else (index.input_type[0], index.input_type[-1])
    num_pos = source.numel()
    if target.numel() != num_pos:
        raise ArgumentError(f"links have {num_pos} sources and {target.numel()} targets, expected as many")
    binary = neg_sampling is not None and neg_sampling.is_binary()
    source_time = target_time = time
    if time is not None and not sampler.disjoint:
        raise ArgumentError("links have times, but the data has none: expected time_attr, too")
    if neg_sampling is not None:
        count = math.ceil(num_pos * neg_sampling.amount)
        repeats = 1 + math.ceil(neg_sampling.amount)
        if binary:
            drawn = sampler.negatives.draw(neg_sampling, "source", source_type, count, time, batch)
            source = torch.cat([source, drawn])
            label = torch.ones(num_pos) if label is None else label
            label = torch.cat([label, label.new_zeros((count, *label.shape[1:]))])
        drawn = sampler.negatives.draw(neg_sampling, "target", target_type, count, time, batch)
        target = torch.cat([target, drawn])
        if time is not None:
            target_time = time.repeat(repeats)[: num_pos + count]
            source_time = target_time if binary else time
    seeds: dict[str | None, Tensor]
    if source_type != target_type:
        seeds = {source_type: source, target_type: target}
    else:
        seeds = {source_type: torch.cat([source, target])}
    places: dict[str | None, Tensor] = {}
    for name, seed in seeds.items():
        if sampler.disjoint:
            places[name] = torch.arange(seed.numel())
        else:
            seeds[name], places[name] = seed.unique(return_inverse=True)
    times: dict[str | None, Tensor] | None = None
    if time is not None:
        assert source_time is not None and target_time is not None
        if source_type != target_type:
            times = {source_type: source_time, target_type: target_time}
        else:
            times = {source_type: torch.cat([source_time, target_time])}
    out = sampler._sample(seeds, sampler._seed_times(seeds, times), batch)
    if sampler.disjoint:
        _name_trees(sampler, out, seeds, source.numel(), num_pos)
    if source_type != target_type:
        of_source, of_target = places[source_type], places[target_type]
    else:
        of_source, of_target = places[source_type].split([source.numel(), target.numel()])
    if neg_sampling is None or binary:
        out.metadata = (index.input_id, torch.stack([of_source, of_target]), label, source_time)
    else:
        # The negatives of a link lie num_pos apart if disjoint, as the numbers of their subgraphs show; else side by
        # side.
        negative = of_target[num_pos:]
        negative = negative.view(-1, num_pos).t() if sampler.disjoint else negative.view(num_pos, -1)
        out.metadata = (index.input_id, of_source, of_target[:num_pos], negative.squeeze(-1), source_time)
    return out


def _name_trees(
    sampler: NeighborSampler, out: Any, seeds: dict[str | None, Tensor], num_sources: int, num_pos: int
) -> None:
    """Make `batch` name links instead of ends: seed i of the sources, or of the targets, belongs to link i mod
    num_pos."""
    in_order = [name for name in (sampler.node_types or [None]) if name in seeds]  # type: ignore[list-item]
    first = seeds[in_order[0]].numel() if len(in_order) == 2 else num_sources

    def link(tree: Tensor) -> Tensor:
        return torch.where(tree < first, tree, tree - first) % max(num_pos, 1)

    if isinstance(out.batch, dict):
        out.batch = {name: link(tree) for name, tree in out.batch.items()}
    else:
        out.batch = link(out.batch)
