"""PyG's loaders of subgraphs are `torch.utils.data.DataLoader`s. This is their common part: batches that their numbers
decide, and an order of the epochs that the seed decides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader

from tendril._epochs import Epochs, Ranks
from tendril._params import unsigned
from tendril._timeline import Timeline

from ._loader import _OF_LIGHTNING, _OF_WORKERS
from ._node_loader import chosen_seed
from ._order import Shuffle


class NumberedLoader(Epochs, DataLoader):  # type: ignore[misc]
    """A DataLoader whose batches are made by `_make(items, number)` in the thread that iterates. Batch i of epoch e,
    from 0, of all ranks, has the number ``e * n + i`` for n batches an epoch.

    Parameters
    ----------
    dataset
        The items that batches consist of.
    seed : int, optional
        In [0, 2^64). None: the constructor draws it once from Torch's generator.
    shuffle : bool
        Take the items in a different order in every epoch. ``seed`` and the number of the epoch determine the order; a
        given ``generator`` takes their place.
    rank, world_size, uneven
        As for `NeighborLoader`.
    **loader
        As in `torch.utils.data.DataLoader`. Arguments of worker processes are accepted, without effect.
    """

    def __init__(
        self,
        dataset: Any,
        seed: int | None,
        shuffle: bool | None = None,
        *,
        rank: int | str = 0,
        world_size: int = 1,
        uneven: str = "keep",
        **loader: Any,
    ) -> None:
        self.seed = unsigned(chosen_seed(seed), "seed")
        self.rank, self.world_size, self.uneven = rank, world_size, uneven
        self._ranks = Ranks.of(rank, world_size, uneven)
        self._given_orders = [loader[name] for name in ("sampler", "batch_sampler") if loader.get(name) is not None]
        loader = {name: value for name, value in loader.items() if name not in _OF_WORKERS | _OF_LIGHTNING}
        if shuffle and loader.get("generator") is None and not {"sampler", "batch_sampler"} & loader.keys():
            loader["sampler"], shuffle = Shuffle(range(len(dataset)), self.seed), None
        super().__init__(dataset, shuffle=shuffle, collate_fn=self._collate, **loader)

    def __len__(self) -> int:
        return self._ranks.count(super().__len__())

    def __iter__(self) -> Iterator[Any]:
        progress = self._begin_epoch()
        timeline, first = self._timeline, self._first_number(progress.epoch)
        dealt = self._ranks.deal(self._index(progress.epoch), progress.batch)
        made = self._made(((first + i, items) for i, items in dealt), timeline)
        return self._counted(made, progress, timeline)

    def _index(self, epoch: int) -> Iterator[Any]:
        if isinstance(self.sampler, Shuffle):  # in the step that asks it for an order: iterations may alternate
            self.sampler.set_epoch(epoch)
        yield from self.sampler if self.batch_sampler is None else self.batch_sampler

    def _made(self, numbered: Iterator[tuple[int, Any]], timeline: Timeline) -> Iterator[Any]:
        for number, items in numbered:
            with timeline.span("sample", number):
                made = self._make([self.dataset[item] for item in ([items] if isinstance(items, int) else items)], number)
            yield self._pinned(made)

    def _pinned(self, made: Any) -> Any:
        return made.pin_memory() if self.pin_memory and torch.cuda.is_available() else made

    def _orders(self) -> Iterator[Any]:
        return iter(self._given_orders)

    def _seed_of_order(self) -> int:
        return int(self.seed)

    def _total(self) -> int | None:
        return int(super().__len__())

    def _make(self, items: list[Any], number: int) -> Any:
        raise NotImplementedError

    def _collate(self, items: list[Any]) -> Any:
        """Make the batch of some items, with the draws of batch 0."""
        return self._make(items, 0)
