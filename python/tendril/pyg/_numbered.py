"""PyG's loaders of subgraphs are `torch.utils.data.DataLoader`s. This is their common part: batches that their numbers
decide, and an order of the epochs that the seed decides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader, Sampler

from tendril._params import unsigned

from ._loader import _OF_LIGHTNING, _OF_WORKERS
from ._node_loader import chosen_seed
from ._order import shuffled


class _Shuffled(Sampler):  # type: ignore[misc]
    """The order of an epoch, another one each time."""

    def __init__(self, count: int, seed: int) -> None:
        self.count = count
        self.seed = seed
        self.epoch = 0

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[int]:
        return iter(shuffled(self.count, self.seed, self.epoch).tolist())


class NumberedLoader(DataLoader):  # type: ignore[misc]
    """A DataLoader whose batches are made by `_make(items, number)` in the thread that iterates. Batch i of epoch e,
    from 0, has the number ``e * len(loader) + i``.

    Parameters
    ----------
    dataset
        The items that batches consist of.
    seed : int, optional
        In [0, 2^64). None: the constructor draws it once from Torch's generator.
    shuffle : bool
        Take the items in a different order in every epoch. ``seed`` and the number of the epoch determine the order; a
        given ``generator`` takes their place.
    **loader
        As in `torch.utils.data.DataLoader`. Arguments of worker processes are accepted, without effect.
    """

    def __init__(self, dataset: Any, seed: int | None, shuffle: bool | None = None, **loader: Any) -> None:
        self.seed = unsigned(chosen_seed(seed), "seed")
        self._epoch = 0
        loader = {name: value for name, value in loader.items() if name not in _OF_WORKERS | _OF_LIGHTNING}
        if shuffle and loader.get("generator") is None and not {"sampler", "batch_sampler"} & loader.keys():
            loader["sampler"], shuffle = _Shuffled(len(dataset), self.seed), None
        super().__init__(dataset, shuffle=shuffle, collate_fn=self._collate, **loader)

    @property
    def epoch(self) -> int:
        """Number of the epoch that the next iteration makes, from 0."""
        return self._epoch

    def set_epoch(self, epoch: int) -> None:
        """Set the number of the epoch that the next iteration makes, for example to resume an interrupted training.

        Parameters
        ----------
        epoch : int
        """
        self._epoch = unsigned(epoch, "epoch")

    def __iter__(self) -> Iterator[Any]:
        epoch = self._epoch
        self._epoch += 1
        if isinstance(self.sampler, _Shuffled):
            self.sampler.epoch = epoch
        return self._batches(iter(self.sampler if self.batch_sampler is None else self.batch_sampler), epoch * len(self))

    def _batches(self, index: Iterator[Any], first: int) -> Iterator[Any]:
        for i, items in enumerate(index):
            made = self._make([self.dataset[item] for item in ([items] if isinstance(items, int) else items)], first + i)
            yield made.pin_memory() if self.pin_memory and torch.cuda.is_available() else made

    def _make(self, items: list[Any], number: int) -> Any:
        raise NotImplementedError

    def _collate(self, items: list[Any]) -> Any:
        """Make the batch of some items, with the draws of batch 0."""
        return self._make(items, 0)
