"""The order of a loader's epochs. It depends only on the seed and the epoch's number, on every machine and with every
version."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


def mixed(x: int) -> int:
    """The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & _MASK
    return x ^ (x >> 31)


def numbers(count: int, seed: int, epoch: int) -> NDArray[np.uint64]:
    """SplitMix64's outputs from the state that seed and epoch give. All of them differ: the generator passes through
    2^64 states, and the finaliser is a bijection."""
    state = mixed(mixed((seed + GOLDEN) & _MASK) + epoch & _MASK)
    x = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GOLDEN) + np.uint64(state)  # wraps around, as intended
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def shuffled(count: int, seed: int, epoch: int) -> NDArray[np.int64]:
    """The numbers 0 to count - 1, ordered by SplitMix64's i-th output from the state that seed and epoch give."""
    return np.argsort(numbers(count, seed, epoch))
