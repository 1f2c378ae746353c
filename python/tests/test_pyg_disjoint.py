"""Disjoint batches: one subgraph a seed, whose neighbours are drawn for it alone."""

from __future__ import annotations

import pytest
from pyg_checks import CITES, WRITES, WRITTEN, check_edges, check_homogeneous, check_nodes, heterogeneous, homogeneous, torch

from tendril.pyg import NeighborLoader


@pytest.mark.parametrize("replace", [False, True])
def test_every_seed_has_a_subgraph_of_its_own(replace):
    data = homogeneous()
    for batch in NeighborLoader(data, [4, 3], batch_size=20, disjoint=True, replace=replace):
        check_homogeneous(data, batch, [4, 3], replace)
        assert torch.equal(batch.batch[:20], torch.arange(20)) and batch.batch.max() == 19
        assert torch.equal(batch.batch[batch.edge_index[0]], batch.batch[batch.edge_index[1]])


def test_a_seed_given_twice_has_two_subgraphs():
    data = homogeneous()
    batch = next(iter(NeighborLoader(data, [2, 2], input_nodes=[8, 8, 9], batch_size=3, disjoint=True)))
    check_homogeneous(data, batch, [2, 2])
    assert batch.n_id[:3].tolist() == [8, 8, 9]
    one, other = (batch.n_id[batch.batch == tree].tolist() for tree in (0, 1))
    assert one[0] == other[0] == 8 and one != other  # drawn anew


def test_several_types_share_the_numbers_of_seeds():
    data = heterogeneous()
    batch = next(iter(NeighborLoader(data, [3, 2], input_nodes=("author", [4, 2, 4]), batch_size=3, disjoint=True)))
    assert batch["author"].n_id[:3].tolist() == [4, 2, 4] and batch["author"].batch[:3].tolist() == [0, 1, 2]
    assert set(batch["paper"].batch.tolist()) <= {0, 1, 2}
    for name in ("author", "paper"):
        check_nodes(data[name], batch[name])
    for key in (CITES, WRITES, WRITTEN):
        check_edges(data[key], batch[key], batch[key[0]], batch[key[2]])
