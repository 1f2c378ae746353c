"""Induced and bidirectional batches."""

from __future__ import annotations

import pytest
from pyg_checks import CITES, WRITES, WRITTEN, check_edges, check_nodes, heterogeneous, homogeneous, torch
from torch_geometric.sampler.base import SubgraphType
from torch_geometric.utils import is_undirected

from tendril.pyg import NeighborLoader


@pytest.fixture(scope="module")
def data():
    return homogeneous()


def test_induced_batches_have_every_edge_between_their_vertices(data):
    for batch in NeighborLoader(data, [4, 3], batch_size=25, subgraph_type=SubgraphType.induced):
        check_nodes(data, batch)
        check_edges(data, batch, batch, batch)
        inside = torch.isin(data.edge_index, batch.n_id).all(dim=0)
        assert torch.equal(batch.e_id.sort().values, inside.nonzero().view(-1))
        assert sum(batch.num_sampled_nodes) == batch.num_nodes and batch.get("num_sampled_edges") is None


def test_induced_batches_of_subgraphs_stay_inside_them(data):
    batch = next(iter(NeighborLoader(data, [3, 2], batch_size=6, subgraph_type="induced", disjoint=True)))
    check_edges(data, batch, batch, batch)
    for tree in range(6):
        nodes = batch.n_id[batch.batch == tree]
        inside = torch.isin(data.edge_index, nodes).all(dim=0).nonzero().view(-1)
        assert torch.equal(batch.e_id[batch.batch[batch.edge_index[1]] == tree].sort().values, inside)


def test_directed_says_induced(data):
    with pytest.warns(DeprecationWarning, match="subgraph_type='induced'"):
        old = next(iter(NeighborLoader(data, [4, 3], batch_size=25, directed=False)))
    new = next(iter(NeighborLoader(data, [4, 3], batch_size=25, subgraph_type="induced")))
    assert torch.equal(old.e_id, new.e_id)


@pytest.mark.parametrize("disjoint", [False, True])
def test_bidirectional_batches_have_each_sampled_edge_both_ways_once(data, disjoint):
    one = next(iter(NeighborLoader(data, [4, 3], batch_size=15, disjoint=disjoint)))
    both = next(iter(NeighborLoader(data, [4, 3], batch_size=15, disjoint=disjoint, subgraph_type="bidirectional")))
    check_nodes(data, both)
    assert torch.equal(one.n_id, both.n_id) and is_undirected(both.edge_index)
    pairs = {(a, b) for a, b in one.edge_index.t().tolist()}
    found = [tuple(pair) for pair in both.edge_index.t().tolist()]
    assert len(set(found)) == len(found) and set(found) == pairs | {(b, a) for a, b in pairs}
    assert found == sorted(found, key=lambda pair: pair[::-1])
    assert both.get("num_sampled_edges") is None and both.get("num_sampled_nodes") is None
    ends = data.edge_index[:, both.e_id].sort(dim=0).values
    assert torch.equal(ends, both.n_id[both.edge_index].sort(dim=0).values)
    assert torch.equal(both.edge_attr, data.edge_attr[both.e_id])


def test_several_types_are_bidirectional_as_pyg_has_them():
    data = heterogeneous()
    arguments = {"num_neighbors": [3, 3], "input_nodes": "paper", "batch_size": 10}
    one = next(iter(NeighborLoader(data, **arguments)))
    both = next(iter(NeighborLoader(data, subgraph_type="bidirectional", **arguments)))
    pairs = {(a, b) for a, b in one[WRITES].edge_index.t().tolist()}
    pairs |= {(a, b) for b, a in one[WRITTEN].edge_index.t().tolist()}
    assert {tuple(pair) for pair in both[WRITES].edge_index.t().tolist()} == pairs
    assert torch.equal(both[WRITES].edge_index, both[WRITTEN].edge_index.flip(0))
    cites = {tuple(pair) for pair in both[CITES].edge_index.t().tolist()}
    assert cites == {(b, a) for a, b in cites}
    induced = next(iter(NeighborLoader(data, subgraph_type="induced", **arguments)))
    for key in (CITES, WRITES, WRITTEN):
        inside = torch.isin(data[key].edge_index[0], induced[key[0]].n_id)
        inside &= torch.isin(data[key].edge_index[1], induced[key[2]].n_id)
        assert torch.equal(induced[key].e_id.sort().values, inside.nonzero().view(-1))
