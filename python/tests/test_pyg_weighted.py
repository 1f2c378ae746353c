"""Weighted batches: an edge of weight 0 is never there, others in proportion."""

from __future__ import annotations

import pytest
from pyg_checks import CITES, WRITES, WRITTEN, check_edges, check_nodes, heterogeneous, homogeneous, torch
from torch_geometric.data import Data

from tendril.pyg import NeighborLoader


@pytest.mark.parametrize("replace", [False, True])
def test_edges_of_weight_zero_are_never_sampled(replace):
    data = homogeneous()
    data.weight = (torch.arange(700) % 3).float()
    for batch in NeighborLoader(data, [10, 5], batch_size=25, weight_attr="weight", replace=replace):
        check_nodes(data, batch)
        check_edges(data, batch, batch, batch)
        assert batch.num_edges > 0 and bool((batch.weight > 0).all())
        degree = torch.bincount(data.edge_index[1], data.weight > 0, minlength=100)[batch.n_id[:25]].int()
        first = torch.bincount(batch.edge_index[1, : batch.num_sampled_edges[0]], minlength=25)
        assert torch.equal(first, (degree > 0).int() * 10 if replace else degree.clamp(max=10))


def test_edges_are_drawn_in_proportion():
    """20,000 draws of one of 4 edges; within five deviations of a binomial, outside which other weights are."""
    weight = torch.tensor([1.0, 2.0, 3.0, 4.0])
    star = Data(num_nodes=5, edge_index=torch.stack([torch.arange(1, 5), torch.zeros(4, dtype=torch.int64)]), w=weight)
    for replace in (False, True):
        loader = NeighborLoader(
            star, [1], [0] * 20000, batch_size=20000, weight_attr="w", disjoint=True, replace=replace
        )
        share = torch.bincount(next(iter(loader)).e_id, minlength=4) / 20000
        close = (share - weight / 10).abs() < 5 * (weight / 10 * (1 - weight / 10) / 20000).sqrt()
        assert bool(close.all())
        assert not bool(((share - 0.25).abs() < 5 * (0.25 * 0.75 / 20000) ** 0.5).all())


def test_edge_types_without_weights_are_uniform():
    data = heterogeneous()
    data[CITES].weight = torch.zeros(300)
    data[CITES].weight[:20] = 1
    batch = next(iter(NeighborLoader(data, [3, 3], input_nodes="paper", batch_size=60, weight_attr="weight")))
    assert bool((batch[CITES].e_id < 20).all()) and batch[CITES].num_edges > 0
    degree = torch.bincount(data[WRITES].edge_index[1], minlength=60)
    first = batch[WRITES].edge_index[1][: batch[WRITES].num_sampled_edges[0]]
    assert torch.equal(torch.bincount(first, minlength=60), degree.clamp(max=3))
    for key in (CITES, WRITES, WRITTEN):
        check_edges(data[key], batch[key], batch[key[0]], batch[key[2]])
