"""The negative ends of links."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch_geometric.sampler import NegativeSampling

from tendril._errors import ArgumentError
from tendril._negatives import NegativeSampler
from tendril._params import number

from ._inputs import as_tensor

if TYPE_CHECKING:
    from ._sampler import NeighborSampler


def configured(given: Any, ratio: Any) -> NegativeSampling | None:
    """The configuration that PyG's loaders take as `neg_sampling`, or as `neg_sampling_ratio`, which has precedence."""
    if ratio is not None:
        amount = number(ratio, "neg_sampling_ratio")
        if not 0 <= amount < math.inf:
            raise ArgumentError(f"neg_sampling_ratio is {ratio}, expected 0 or more")
        given = NegativeSampling("binary", ratio) if amount > 0 else given
    try:
        made = NegativeSampling.cast(given)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"neg_sampling is {given!r}: {error}") from None
    if made is not None and not 0 < number(made.amount, "the amount of neg_sampling") < math.inf:
        raise ArgumentError(f"the amount of neg_sampling is {made.amount}, expected more than 0")
    return made


class Negatives:
    """Draws negatives for PyG's configurations. It keeps the last sampler of each end and type."""

    def __init__(self, sampler: NeighborSampler) -> None:
        self._sampler = sampler
        self._made: dict[tuple[str, str | None], tuple[Any, NegativeSampler]] = {}

    def draw(
        self, config: NegativeSampling, end: str, kind: str | None, count: int, until: Tensor | None, batch: int
    ) -> Tensor:
        """`count` vertices of a type. until: times of the links; negative i has the time i mod their number."""
        times = self._of_type(self._sampler.node_time, kind)
        weight = config.src_weight if end == "source" else config.dst_weight
        made = self._made.get((end, kind))
        if made is None or made[0] is not weight:
            made = weight, self._make(weight, end, kind, times)
            self._made[end, kind] = made
        limits = None if times is None or until is None else until
        return torch.from_numpy(made[1].draw(count, batch=batch, until=limits))

    def _make(self, weight: Any, end: str, kind: str | None, times: Any) -> NegativeSampler:
        count = self._of_type(self._sampler.num_nodes, kind)
        if weight is not None:
            name = "src_weight" if end == "source" else "dst_weight"
            weight = as_tensor(weight, name).detach().cpu()
            if tuple(weight.shape) != (count,):
                raise ArgumentError(f"{name} has shape {tuple(weight.shape)}, expected ({count},): one of each vertex")
        return NegativeSampler(
            count,
            end,
            weights=weight,
            node_times=times,
            seed=self._sampler.seed,
            num_threads=self._sampler.num_threads,
        )

    @staticmethod
    def _of_type(given: Any, kind: str | None) -> Any:
        return given.get(kind) if isinstance(given, dict) else given
