"""The loaders' states work where those of torchdata's StatefulDataLoader do: in the same checkpoint, by the same code."""

from __future__ import annotations

import io

import numpy as np
import pytest
from pyg_checks import homogeneous, torch
from pyg_digests import digest

import tendril
from tendril.pyg import NeighborLoader

pytest.importorskip("torchdata")
from torchdata.stateful_dataloader import Stateful, StatefulDataLoader
from torchdata.stateful_dataloader.sampler import StatefulDistributedSampler

pytestmark = pytest.mark.filterwarnings("ignore:'set_vital' is deprecated")  # torchdata 0.11 calls it, Torch 2.13 warns


def neighbours(**options):
    return NeighborLoader(homogeneous(), [4, 3], **{"batch_size": 9, "shuffle": True, **options})


def pipeline():
    sampler = tendril.MinibatchSampler(tendril.generate.ring(100), [2, 2])
    return tendril.Pipeline(sampler, np.arange(100), batch_size=9, shuffle=True)


def theirs():
    return StatefulDataLoader(range(100), batch_size=9)  # in order: after a resumed epoch it shuffles in another way


class Inside(torch.utils.data.IterableDataset):
    """A data set whose items are the batches of a NeighborLoader, with its state."""

    def __init__(self):
        self._loader = neighbours()
        self.state_dict, self.load_state_dict = self._loader.state_dict, self._loader.load_state_dict

    def __iter__(self):
        return iter(self._loader)


LOADERS = {
    "neighbours": neighbours,
    "pipeline": pipeline,
    "torchdata": theirs,
    "neighbours in torchdata": lambda: StatefulDataLoader(Inside(), batch_size=None),
}


def shown(batch):
    if isinstance(batch, torch.Tensor):
        return batch.tolist()
    return batch.index.tolist() if isinstance(batch, tendril.PipelineBatch) else digest([batch])


def each(loader):
    return [shown(batch) for batch in loader]


def stored(checkpoint):
    """What comes back from a file."""
    file = io.BytesIO()
    torch.save(checkpoint, file)
    file.seek(0)
    return torch.load(file)


@pytest.mark.parametrize("done", [0, 1, 5, 11])
def test_one_checkpoint_holds_the_states_of_all(done):
    whole = {name: make() for name, make in LOADERS.items()}
    epochs = {name: [each(loader) for _ in range(3)] for name, loader in whole.items()}
    interrupted = {name: make() for name, make in LOADERS.items()}
    for name, loader in interrupted.items():
        assert isinstance(loader, Stateful) and len(each(loader)) == 12
        iteration = iter(loader)
        assert [shown(next(iteration)) for _ in range(done)] == epochs[name][1][:done]
    checkpoint = stored({name: loader.state_dict() for name, loader in interrupted.items()})
    resumed = {name: make() for name, make in LOADERS.items()}
    for name, loader in resumed.items():
        loader.load_state_dict(checkpoint[name])
        assert each(loader) == epochs[name][1][done:], name
        assert each(loader) == epochs[name][2], name


@pytest.mark.parametrize("epoch", [0, 1])
def test_a_sampler_of_torchdata_decides_the_order(epoch):
    def make():
        return neighbours(shuffle=False, sampler=StatefulDistributedSampler(range(100), 1, 0, seed=4))

    whole = make()
    wanted = [each(whole) for _ in range(2)][epoch]
    interrupted = make()
    for _ in range(epoch):
        each(interrupted)
    iteration = iter(interrupted)
    assert [shown(next(iteration)) for _ in range(5)] == wanted[:5]
    resumed = make()
    resumed.load_state_dict(stored(interrupted.state_dict()))
    assert each(resumed) == wanted[5:]
