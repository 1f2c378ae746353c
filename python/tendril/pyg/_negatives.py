"""Negative ends of links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor

if TYPE_CHECKING:
    from ._sampler import NeighborSampler


def negatives(
    sampler: NeighborSampler,
    config: Any,
    end: str,
    kind: str | None,
    count: int,
    num_pos: int,
    time: Tensor | None,
    batch: int,
) -> Tensor:
    raise NotImplementedError
