"""tendril.pyg.HGTLoader: what PyG's loader promises, and batches that its arguments and their numbers decide."""

from __future__ import annotations

import pytest
from pyg_checks import CITES, WRITES, WRITTEN, heterogeneous, torch
from torch_geometric.data import HeteroData
from torch_geometric.sampler import NodeSamplerInput

import tendril
from tendril.pyg import HGTLoader, HGTSampler


def equal(one, other):
    return all(
        torch.equal(one[kind].get(key), other[kind].get(key))
        for kind in (*one.node_types, *one.edge_types)
        for key in one[kind].keys()
        if isinstance(one[kind].get(key), torch.Tensor)
    )


def test_batches_hold_all_edges_between_their_vertices():
    data = heterogeneous()
    loader = HGTLoader(data, {"paper": [4, 3], "author": [6, 5]}, ("paper", torch.arange(0, 60, 2)), batch_size=8)
    assert str(loader) == "HGTLoader()" and len(loader) == 4
    for i, batch in enumerate(loader):
        assert isinstance(batch, HeteroData) and batch.node_types == data.node_types
        size = min(8, 30 - 8 * i)
        assert batch["paper"].batch_size == size
        assert batch["paper"].input_id.tolist() == list(range(8 * i, 8 * i + size))
        assert batch["paper"].n_id[:size].tolist() == list(range(16 * i, 16 * i + 2 * size, 2))
        assert batch["paper"].num_nodes == size + 7 and batch["author"].num_nodes == 11
        for name in data.node_types:
            assert torch.equal(batch[name].x, data[name].x[batch[name].n_id])
            assert torch.equal(batch[name].y, data[name].y[batch[name].n_id])
        for key in (CITES, WRITES, WRITTEN):
            n_id = batch[key[0]].n_id, batch[key[2]].n_id
            inside = torch.isin(data[key].edge_index[0], n_id[0]) & torch.isin(data[key].edge_index[1], n_id[1])
            assert batch[key].e_id.sort().values.tolist() == inside.nonzero().view(-1).tolist()
            ends = torch.stack([n_id[side][batch[key].edge_index[side]] for side in (0, 1)])
            assert torch.equal(ends, data[key].edge_index[:, batch[key].e_id])
            assert torch.equal(batch[key].edge_attr, batch[key].e_id)
        assert set(batch["paper"].keys()) == {"x", "y", "n_id", "input_id", "batch_size"}  # as in PyG


def test_numbers_of_batches_decide_them():
    data = heterogeneous()
    arguments = {"num_samples": [3, 3], "input_nodes": "paper", "batch_size": 9, "shuffle": True, "seed": 5}
    one = HGTLoader(data, **arguments)
    epochs = [list(one), list(one)]
    assert not equal(epochs[0][0], epochs[1][0])
    for others in ({"bulk": 1, "prefetch": 0}, {"num_threads": 1, "bulk": 3}, {"num_workers": 2}):
        other = HGTLoader(data, **arguments, **others)
        for epoch in epochs:
            assert all(equal(a, b) for a, b in zip(epoch, other, strict=True))
    resumed = HGTLoader(data, **arguments)
    resumed.set_epoch(1)
    assert all(equal(a, b) for a, b in zip(epochs[1], resumed, strict=True))
    assert not equal(epochs[0][0], next(iter(HGTLoader(data, **{**arguments, "seed": 6}))))


def test_seeds_that_are_repeated_stay_repeated():
    data = heterogeneous()
    loader = HGTLoader(data, [2], "paper", batch_size=4, sampler=[5, 5, 7, 5])
    batch = next(iter(loader))
    assert batch["paper"].n_id[:4].tolist() == [5, 5, 7, 5]
    for key in (CITES, WRITES):
        ends = torch.stack([batch[name].n_id[batch[key].edge_index[side]] for side, name in ((0, key[0]), (1, key[2]))])
        assert torch.equal(ends, data[key].edge_index[:, batch[key].e_id])


def test_types_that_are_not_reached_are_there_and_empty():
    data = HeteroData()
    data["paper"].x, data["author"].x = torch.randn(10, 4), torch.randn(10, 4)
    data["paper", "paper"].edge_index = torch.randint(10, (2, 15))
    data["author", "author"].edge_index = torch.randint(10, (2, 15))
    data["author", "author"].edge_attr = torch.randn(15, 8)
    for batch in HGTLoader(data, [2], "paper", batch_size=2):
        assert batch["author"].x.shape == (0, 4) and batch["author", "author"].edge_attr.shape == (0, 8)


def test_the_sampler_serves_loaders_of_pyg():
    from torch_geometric.loader import NodeLoader

    data = heterogeneous()
    theirs = NodeLoader(data, HGTSampler(data, [3, 3]), "paper", batch_size=20)
    for a, b in zip(theirs, HGTLoader(data, [3, 3], "paper", batch_size=20), strict=True):
        assert equal(a, b)
    with pytest.raises(NotImplementedError, match="no batches around links"):
        HGTSampler(data, [1]).sample_from_edges(None)
    sampler = HGTSampler(data, [3])
    index = NodeSamplerInput(input_id=None, node=torch.arange(3), input_type="paper")
    assert not torch.equal(sampler.sample_from_nodes(index).node["author"], sampler.sample_from_nodes(index).node["author"])


def test_bad_input_gives_one_line():
    data = heterogeneous()
    with pytest.raises(tendril.ArgumentError, match="^data is a Data of one type of vertices, expected HeteroData$"):
        HGTLoader(data.to_homogeneous(), [1], None)
    with pytest.raises(tendril.ArgumentError, match="^device is 'cuda', but HGSampling runs on the CPU: expected 'cpu'$"):
        HGTLoader(data, [1], "paper", device="cuda")
    with pytest.raises(tendril.ArgumentError, match="^input_nodes has the vertex type 'x'"):
        HGTLoader(data, [1], "x")
