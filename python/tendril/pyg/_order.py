"""The order of a loader's epochs in Torch's terms, and draws of items by class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import RandomSampler

from tendril import _order
from tendril._order import GOLDEN, mixed, numbers


def shuffled(count: int, seed: int, epoch: int) -> Tensor:
    """The numbers 0 to count - 1, in the order that the seed and the epoch decide."""
    return torch.from_numpy(_order.shuffled(count, seed, epoch))


def class_draws(count: int, seed: int, epoch: int, class_sizes: Tensor) -> tuple[Tensor, Tensor]:
    """Draws of a class, uniform, and of a place in it, uniform: from outputs 2 i and 2 i + 1, as integers below a size
    by the high half of the product. The seed is another one than that of an order."""
    x = numbers(2 * count, mixed(seed ^ GOLDEN), epoch)
    sizes = class_sizes.numpy().astype(np.uint64)
    which = _bounded(x[::2], np.uint64(len(sizes))).astype(np.int64)
    return torch.from_numpy(which), torch.from_numpy(_bounded(x[1::2], sizes[which]).astype(np.int64))


def _bounded(bits: Any, size: Any) -> Any:
    """The high half of the 128-bit product of bits and size < 2^32."""
    half = np.uint64(32)
    low = (bits & np.uint64(0xFFFFFFFF)) * size >> half
    return (bits >> half) * size + low >> half


class Shuffle(RandomSampler):  # type: ignore[misc]
    """The orders of a loader's epochs, for programs that take a DataLoader apart: iteration e gives the order of epoch
    e, as in an iteration over the loader itself."""

    def __init__(self, data_source: range, seed: int) -> None:
        # RandomSampler's own constructor refuses a source without elements.
        self.data_source = data_source
        self.replacement, self._num_samples, self.generator = False, None, None
        self._seed, self._epoch = seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Set the number of the epoch whose order comes next."""
        self._epoch = epoch

    def __iter__(self) -> Iterator[int]:
        order = shuffled(len(self.data_source), self._seed, self._epoch)
        self._epoch += 1
        return iter(order.tolist())
