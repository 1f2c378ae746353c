"""ImbalancedSampler: classes are equally likely, items of a class too, and the seed decides the draws."""

from __future__ import annotations

import math

import pytest
from pyg_checks import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

import tendril
from tendril.pyg import ImbalancedSampler, NeighborLoader

CLASSES = torch.tensor([0] * 2 + [1] * 5 + [3] * 40)  # class 2 has no item


def test_classes_and_the_items_of_a_class_are_equally_likely():
    draws = 300_000
    found = torch.tensor(list(ImbalancedSampler(CLASSES, num_samples=draws)))
    for item, kind in enumerate(CLASSES.tolist()):
        chance = 1 / 3 / {0: 2, 1: 5, 3: 40}[kind]
        deviation = math.sqrt(draws * chance * (1 - chance))
        assert 5 * deviation < 0.12 * draws * chance  # a bias of 12 % would be noticed
        assert abs(int((found == item).sum()) - draws * chance) < 5 * deviation, item


def test_seed_and_epoch_decide_the_draws():
    one = ImbalancedSampler(CLASSES, seed=3)
    epochs = [list(one), list(one)]
    assert len(one) == len(epochs[0]) == 47 and epochs[0] != epochs[1]
    torch.manual_seed(9)
    again = ImbalancedSampler(CLASSES, seed=3)
    assert list(again) == epochs[0]
    again.set_epoch(1)
    assert list(again) == epochs[1] != list(ImbalancedSampler(CLASSES, seed=4))
    assert isinstance(one, torch.utils.data.WeightedRandomSampler)


def test_all_forms_of_data_give_the_same_draws():
    expected = list(ImbalancedSampler(CLASSES))
    graph = Data(edge_index=torch.empty(2, 0, dtype=torch.long), y=CLASSES, num_nodes=47)
    assert list(ImbalancedSampler(graph)) == expected
    assert list(ImbalancedSampler([Data(num_nodes=1, y=int(y)) for y in CLASSES])) == expected
    assert list(ImbalancedSampler([Data(num_nodes=1, y=y.view(1)) for y in CLASSES])) == expected
    mask = torch.arange(47) < 7
    assert list(ImbalancedSampler(graph, mask)) == list(ImbalancedSampler(CLASSES[:7]))
    batches = NeighborLoader(graph, [2], batch_size=10, sampler=ImbalancedSampler(graph))
    assert torch.cat([batch.input_id for batch in batches]).tolist() == expected
    items = [Data(num_nodes=1, y=int(y)) for y in CLASSES]
    found = torch.cat([batch.y for batch in DataLoader(items, batch_size=10, sampler=ImbalancedSampler(items))])
    assert torch.equal(found, CLASSES[expected])


def test_bad_input_gives_one_line():
    for line, given in (
        ("classes have dtype torch.float32, expected integers", torch.ones(3)),
        ("0 classes are given, expected one of 0 or more for each item", torch.empty(0, dtype=torch.long)),
        ("2 classes are given, expected one of 0 or more for each item", torch.tensor([0, -1])),
        ("y is of shape (2,), expected the class of each of 3 items", Data(y=torch.tensor([0, 1]), num_nodes=3)),
        ("y is a NoneType, expected the class of each of 3 items", Data(num_nodes=3)),
    ):
        with pytest.raises(tendril.ArgumentError) as found:
            ImbalancedSampler(given)
        assert str(found.value) == line
    with pytest.raises(tendril.ArgumentError, match="^num_samples is 0, expected 1 or more$"):
        ImbalancedSampler(CLASSES, num_samples=0)
