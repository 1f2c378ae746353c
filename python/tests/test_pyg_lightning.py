"""LightningNodeData and LightningLinkData make this package's loaders. Where PyTorch Lightning isn't installed, a
stand-in for its only class that they need takes its place."""

from __future__ import annotations

import importlib.util
import sys
import types

import pytest
from pyg_checks import CITES, heterogeneous, homogeneous, torch

from tendril.pyg import LinkNeighborLoader, NeighborLoader, NeighborSampler


@pytest.fixture(scope="module")
def modules():
    with pytest.MonkeyPatch.context() as patch:
        if importlib.util.find_spec("pytorch_lightning") is None and importlib.util.find_spec("lightning") is None:
            stand_in = types.ModuleType("pytorch_lightning")
            stand_in.LightningDataModule = type("LightningDataModule", (), {})
            patch.setitem(sys.modules, "pytorch_lightning", stand_in)
        import tendril.pyg

        yield tendril.pyg.LightningNodeData, tendril.pyg.LightningLinkData


def test_data_modules_make_our_loaders(modules):
    node_data, link_data = modules
    data = homogeneous()
    data.train_mask, data.val_mask = torch.arange(100) < 50, torch.arange(100) >= 80
    module = node_data(data, num_neighbors=[4, 3], batch_size=10, seed=5, eval_loader_kwargs={"num_neighbors": [-1]})
    assert module.loader == "neighbor" and isinstance(module.graph_sampler, NeighborSampler)
    train, evaluation = module.train_dataloader(), module.val_dataloader()
    assert isinstance(train, NeighborLoader) and isinstance(evaluation, NeighborLoader)
    expected = NeighborLoader(data, [4, 3], data.train_mask, batch_size=10, shuffle=True, seed=5)
    assert len(train) == len(expected) == 5
    assert all(torch.equal(a.n_id, b.n_id) and torch.equal(a.e_id, b.e_id) for a, b in zip(train, expected, strict=True))
    expected = NeighborLoader(data, [-1], data.val_mask, batch_size=10, seed=5)
    assert all(torch.equal(a.n_id, b.n_id) for a, b in zip(evaluation, expected, strict=True))

    links = link_data(heterogeneous(), input_train_edges=CITES, num_neighbors=[3], batch_size=50)
    loader = links.train_dataloader()
    assert isinstance(loader, LinkNeighborLoader) and len(loader) == 6
    assert all(batch[CITES].edge_label_index.size(1) == 50 for batch in loader)


def test_arguments_of_the_evaluation_reach_its_sampler(modules):
    data = homogeneous()
    module = modules[0](data, torch.arange(10), num_neighbors=[4], eval_loader_kwargs={"replace": True})
    assert module.eval_graph_sampler.replace and not module.graph_sampler.replace
    assert module.eval_graph_sampler.num_neighbors.values == [4]


def test_a_sampler_of_ones_own_and_full_batches(modules):
    data = homogeneous()
    sampler = NeighborSampler(data, [2])
    module = modules[0](data, torch.arange(10), node_sampler=sampler, batch_size=5)
    assert module.graph_sampler is sampler and isinstance(module.train_dataloader(), NeighborLoader)
    assert next(iter(modules[0](data, torch.arange(10), loader="full").train_dataloader())) is data
    with pytest.raises(ValueError, match="Undefined 'loader' option"):
        modules[0](data, torch.arange(10), loader="other")
