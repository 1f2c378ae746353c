"""Samples along edges and against them, and samples without hops."""

from __future__ import annotations

import numpy as np
import pytest
from pyg_checks import CITES, WRITES, check_homogeneous, heterogeneous, homogeneous, same, torch
from torch_geometric.data import Data, HeteroData
from torch_geometric.sampler import EdgeSamplerInput, NodeSamplerInput

from tendril.pyg import BidirectionalNeighborSampler, LinkNeighborLoader, NeighborLoader, NeighborSampler


def seeds(many, kind=None):
    return NodeSamplerInput(None, torch.as_tensor(many), None, kind)


@pytest.fixture(scope="module")
def data():
    return homogeneous()


def turned(data):
    """The same graph with its edges turned round."""
    if isinstance(data, Data):
        return Data(edge_index=data.edge_index.flip(0), num_nodes=data.num_nodes, w=data.get("w"))
    out = HeteroData()
    for name in data.node_types:
        out[name].num_nodes = data[name].num_nodes
    for key in data.edge_types:
        out[key[::-1]].edge_index = data[key].edge_index.flip(0)
    return out


@pytest.mark.parametrize("options", [{}, {"weight_attr": "w"}, {"disjoint": True}, {"subgraph_type": "induced"},
                                     {"replace": True}, {"choice": "labor"}])  # fmt: skip
def test_backward_samples_are_those_of_the_turned_graph(data, options):
    data = data.clone()
    data.w = torch.rand(data.num_edges, generator=torch.Generator().manual_seed(1))
    backward = NeighborSampler(data, [3, 2], sample_direction="backward", seed=6, **options)
    forward = NeighborSampler(turned(data), [3, 2], seed=6, **options)
    for _ in range(2):
        one, other = (sampler.sample_from_nodes(seeds([5, 90, 5, 7])) for sampler in (backward, forward))
        assert torch.equal(one.node, other.node) and one.num_sampled_nodes == other.num_sampled_nodes
        assert torch.equal(one.row, other.col) and torch.equal(one.col, other.row)
        edge = backward.edge_permutation[one.edge]
        assert torch.equal(edge, forward.edge_permutation[other.edge]) and edge.numel() > 6
        assert torch.equal(data.edge_index[:, edge], torch.stack([one.node[one.row], one.node[one.col]]))


def test_backward_samples_of_several_types():
    data = heterogeneous()
    fanouts = {key: [2, 3] if key == CITES else [1, 2] for key in data.edge_types}
    backward = NeighborSampler(data, fanouts, sample_direction="backward")
    forward = NeighborSampler(turned(data), {key[::-1]: many for key, many in fanouts.items()})
    assert backward.edge_types == data.edge_types
    one, other = (sampler.sample_from_nodes(seeds([3, 4, 4], "author")) for sampler in (backward, forward))
    assert one.node["author"][:3].tolist() == [3, 4, 4] and set(one.row) == set(data.edge_types)
    for key in data.edge_types:
        back = key[::-1]
        assert torch.equal(one.row[key], other.col[back]) and torch.equal(one.edge[key], other.edge[back])
        assert one.num_sampled_edges[key] == other.num_sampled_edges[back]
        ends = [one.node[key[0]][one.row[key]], one.node[key[2]][one.col[key]]]
        edge = backward.edge_permutation[key][one.edge[key]]
        assert torch.equal(data[key].edge_index[:, edge], torch.stack(ends))
    assert one.row[WRITES].numel() > 0
    batch = next(iter(NeighborLoader(data, [2], "author", neighbor_sampler=backward, batch_size=10)))
    assert torch.equal(batch[WRITES].edge_attr, data[WRITES].edge_attr[batch[WRITES].e_id])


def test_directions_that_are_refused(data):
    data = data.clone()
    data.time = torch.arange(data.num_nodes)
    for made, what in (
        (lambda: NeighborSampler(data, [2], sample_direction="up"), "^sample_direction is 'up', expected"),
        (lambda: NeighborSampler(data, [2], time_attr="time", sample_direction="backward"), "^time_attr is given"),
        (lambda: BidirectionalNeighborSampler(data, [2], time_attr="time"), "^time_attr is given"),
        (lambda: BidirectionalNeighborSampler(data, [2], "induced"), "^subgraph_type is 'induced', expected"),
        (lambda: BidirectionalNeighborSampler(heterogeneous(), [2]), "^the data has several types, expected one"),
        (lambda: BidirectionalNeighborSampler(data, {("v", "to", "v"): [2]}), "^num_neighbors is a dict, expected"),
    ):
        with pytest.raises(ValueError, match=what) as error:
            made()
        assert isinstance(error.value, NotImplementedError) or "'up'" in what


def neighbours_in_both_directions(data, start, hops):
    """What all neighbours in both directions are, hop by hop, and the edges that are met."""
    reached, hop, edges = set(start), set(start), set()
    for _ in range(hops):
        met = [e for e, (s, t) in enumerate(data.edge_index.t().tolist()) if s in hop or t in hop]
        edges |= set(met)
        hop = {v for e in met for v in data.edge_index[:, e].tolist()} - reached
        reached |= hop
    return reached, edges


@pytest.mark.parametrize("disjoint", [False, True])
def test_all_neighbours_in_both_directions(disjoint):
    data = homogeneous(60, 90, seed=5)
    sampler = BidirectionalNeighborSampler(data, [-1, -1, -1], disjoint=disjoint)
    out = sampler.sample_from_nodes(seeds([7, 30]))
    assert out.node[:2].tolist() == [7, 30] and sampler.edge_permutation is None
    assert torch.equal(data.edge_index[:, out.edge], torch.stack([out.node[out.row], out.node[out.col]]))
    assert sum(out.num_sampled_nodes) == out.node.numel() and len(out.num_sampled_nodes) == 12
    assert sum(out.num_sampled_edges) == out.edge.numel() and len(out.num_sampled_edges) == 6
    if not disjoint:
        nodes, edges = neighbours_in_both_directions(data, [7, 30], 3)
        assert sorted(out.node.tolist()) == sorted(nodes) and sorted(out.edge.tolist()) == sorted(edges)
        return
    assert torch.equal(out.batch[out.row], out.batch[out.col]) and out.batch[:2].tolist() == [0, 1]
    for tree, start in enumerate([7, 30]):
        nodes, edges = neighbours_in_both_directions(data, [start], 3)
        assert sorted(out.node[out.batch == tree].tolist()) == sorted(nodes)
        assert sorted(out.edge[out.batch[out.row] == tree].tolist()) == sorted(edges)


def test_fanouts_hold_in_each_direction(data):
    sampler = BidirectionalNeighborSampler(data, [3, 2], seed=2)
    loader = NeighborLoader(data, [], neighbor_sampler=sampler, batch_size=30, bulk=2)
    single = NeighborLoader(data, [], neighbor_sampler=BidirectionalNeighborSampler(data, [3, 2], seed=2),
                            batch_size=30, prefetch=0, bulk=1)  # fmt: skip
    incoming = torch.bincount(data.edge_index[1], minlength=100)
    outgoing = torch.bincount(data.edge_index[0], minlength=100)
    for one, other in zip(loader, single, strict=True):
        same(one, other)
        assert torch.equal(one.edge_attr, data.edge_attr[one.e_id])
        expected = [sum(int(of[v].clamp(max=3)) for v in one.n_id[: one.batch_size]) for of in (incoming, outgoing)]
        both = sum(one.num_sampled_edges[:2])
        assert one.num_sampled_edges[0] == expected[0] and both <= sum(expected) and both >= max(expected)


def test_draws_of_both_directions_are_uniform_and_differ():
    """A vertex with 8 incoming and 8 outgoing edges: each pair of picks is as likely as any other."""
    ends = torch.tensor([[*range(1, 9), *[0] * 8], [*[0] * 8, *range(9, 17)]])
    sampler = BidirectionalNeighborSampler(Data(edge_index=ends, num_nodes=17), [1], seed=3)
    trials, found = 6400, np.zeros((8, 8))
    for number in range(trials):
        there, back = sampler.sample_from_nodes(seeds([0]), number).edge.tolist()
        found[there, back - 8] += 1
    chi2 = ((found - trials / 64) ** 2).sum() / (trials / 64)
    assert abs(chi2 - 63) < 5 * (2 * 63) ** 0.5


def test_links_in_both_directions(data):
    sampler = BidirectionalNeighborSampler(data, [2], disjoint=True)
    out = sampler.sample_from_edges(EdgeSamplerInput(None, torch.tensor([5, 1]), torch.tensor([1, 7])))
    assert out.node[:4].tolist() == [5, 1, 1, 7] and out.batch[:4].tolist() == [0, 1, 0, 1]


def test_without_hops_a_batch_is_its_seeds(data):
    for loader in (NeighborLoader(data, [], batch_size=30), NeighborLoader(data, [], batch_size=30, disjoint=True)):
        for batch in loader:
            check_homogeneous(data, batch, [])
            assert batch.num_nodes == batch.batch_size and batch.num_edges == 0
            assert batch.num_sampled_nodes == [batch.batch_size] and batch.num_sampled_edges == []
    typed = heterogeneous()
    for fanouts in ([], {key: [] for key in typed.edge_types}):
        batch = next(iter(NeighborLoader(typed, fanouts, "author", batch_size=7)))
        assert batch["author"].num_nodes == 7 and batch["paper"].num_nodes == 0 and batch[CITES].num_edges == 0
        assert batch["author"].num_sampled_nodes == [7] and batch[CITES].num_sampled_edges == []
    links = LinkNeighborLoader(Data(num_nodes=9), [], torch.tensor([[1, 2], [8, 2]]), batch_size=2)
    batch = next(iter(links))
    assert batch.n_id.tolist() == [1, 2, 8] and batch.edge_label_index.tolist() == [[0, 1], [2, 1]]
    out = BidirectionalNeighborSampler(data, []).sample_from_nodes(seeds([4, 2]))
    assert out.node.tolist() == [4, 2] and out.num_sampled_nodes == [2] and out.num_sampled_edges == []
