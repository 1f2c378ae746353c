"""The order of a loader's epochs, and draws of items by class. They depend only on the seed and the epoch's number, on every
machine and with every version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import RandomSampler

_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


def mixed(x: int) -> int:
    """The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & _MASK
    return x ^ (x >> 31)


def _numbers(count: int, seed: int, epoch: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """SplitMix64's outputs from the state that seed and epoch give. All of them differ: the generator passes through
    2^64 states, and the finaliser is a bijection."""
    state = mixed(mixed((seed + _GOLDEN) & _MASK) + epoch & _MASK)
    x = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_GOLDEN) + np.uint64(state)  # wraps around, as intended
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def shuffled(count: int, seed: int, epoch: int) -> Tensor:
    """The numbers 0 to count - 1, ordered by SplitMix64's i-th output from the state that seed and epoch give."""
    return torch.from_numpy(np.argsort(_numbers(count, seed, epoch)))


def class_draws(count: int, seed: int, epoch: int, class_sizes: Tensor) -> tuple[Tensor, Tensor]:
    """Draws of a class, uniform, and of a place in it, uniform: from outputs 2 i and 2 i + 1, as integers below a size
    by the high half of the product. The seed is another one than that of an order."""
    x = _numbers(2 * count, mixed(seed ^ _GOLDEN), epoch)
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
