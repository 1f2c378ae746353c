"""A sampler of items whose classes are equally likely."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import WeightedRandomSampler
from torch_geometric.data import Data, InMemoryDataset

from tendril._errors import ArgumentError
from tendril._params import integer, unsigned

from . import _inputs
from ._node_loader import chosen_seed
from ._order import class_draws


class ImbalancedSampler(WeightedRandomSampler):  # type: ignore[misc]
    """Draws items with replacement, so that all classes are equally likely: `torch_geometric.loader.ImbalancedSampler`
    with draws that depend on ``seed`` and the number of the epoch alone.

    A draw is a class, uniformly among those that occur, then one of its items, uniformly.

    Parameters
    ----------
    dataset : Dataset, Data, list of Data or tensor
        The data, or the class of each item.
    input_nodes : tensor, optional
        The vertices that the loader takes: vertices or a mask. Default: all.
    num_samples : int, optional
        Draws per epoch. Default: as many as there are items.
    seed : int, optional
        In [0, 2^64). None: the constructor draws it once from Torch's generator.

    Raises
    ------
    ArgumentError
        A ValueError: for classes that are not one integer of 0 or more for each item.
    """

    def __init__(
        self,
        dataset: Any,
        input_nodes: Tensor | None = None,
        num_samples: int | None = None,
        *,
        seed: int | None = 0,
    ) -> None:
        classes = _classes_of(dataset)
        if input_nodes is not None and isinstance(dataset, (Data, Tensor)):
            classes = classes[_inputs.as_tensor(input_nodes, "input_nodes")]
        if classes.is_floating_point() or classes.dtype == torch.bool:
            raise ArgumentError(f"classes have dtype {classes.dtype}, expected integers")
        classes = classes.detach().cpu().to(torch.int64)
        if classes.numel() == 0 or int(classes.min()) < 0:
            raise ArgumentError(f"{classes.numel()} classes are given, expected one of 0 or more for each item")
        count = classes.numel() if num_samples is None else integer(num_samples, "num_samples")
        if count < 1:
            raise ArgumentError(f"num_samples is {count}, expected 1 or more")
        self.seed = unsigned(chosen_seed(seed), "seed")
        self.epoch = 0
        self._order = torch.argsort(classes, stable=True)  # items, class by class
        counts = torch.unique(classes, return_counts=True)[1]
        self._counts = counts
        self._first = counts.cumsum(0) - counts
        super().__init__((1.0 / classes.bincount())[classes], count, replacement=True)

    def set_epoch(self, epoch: int) -> None:
        """Set the number of the epoch that the next iteration draws, for example to resume an interrupted training.

        Parameters
        ----------
        epoch : int
        """
        self.epoch = unsigned(epoch, "epoch")

    def __iter__(self) -> Iterator[int]:
        which, place = class_draws(self.num_samples, self.seed, self.epoch, self._counts)
        self.epoch += 1
        return iter(self._order[self._first[which] + place].tolist())


def _classes_of(dataset: Any) -> Tensor:
    if isinstance(dataset, Tensor):
        return dataset.view(-1)
    if isinstance(dataset, (Data, InMemoryDataset)):
        y = dataset.y
        count = dataset.num_nodes if isinstance(dataset, Data) else len(dataset)
    else:
        ys = [data.y for data in dataset]
        y = torch.cat([one.view(-1) for one in ys]) if ys and isinstance(ys[0], Tensor) else torch.tensor(ys)
        count = len(ys)
    if not isinstance(y, Tensor) or y.numel() != count:
        what = f"a {type(y).__name__}" if not isinstance(y, Tensor) else f"of shape {tuple(y.shape)}"
        raise ArgumentError(f"y is {what}, expected the class of each of {count} items")
    return y.view(-1)
