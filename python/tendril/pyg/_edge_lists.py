"""The edges of a batch as its data has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch_geometric.sampler import HeteroSamplerOutput, SamplerOutput

from ._groups import untouched


class Numbering:
    """What the data calls the edges of a sampler.

    Parameters
    ----------
    numbers : tensor, dict of tensors or None
        By the sampler's edge; None: they are the same.
    """

    def __init__(self, numbers: Any) -> None:
        self._numbers: dict[Any, Any] = numbers if isinstance(numbers, dict) else {None: numbers}
        self._known: tuple[list[Any], torch.device, list[int] | None] | None = None

    def of(self, key: Any, edge: Tensor | None) -> Tensor | None:
        """Of edges of a type, which is None for data without types."""
        numbers = self._numbers.get(key)
        if edge is None or numbers is None:
            return edge if edge is None or edge.dtype == torch.int64 else edge.to(torch.int64)
        places = edge if edge.dtype in (torch.int32, torch.int64) else edge.to(torch.int64)
        found: Tensor = numbers.to(edge.device).index_select(0, places)
        return found

    def addresses(self, types: list[Any], device: torch.device) -> list[int] | None:
        """Where the numbers of each type lie on a GPU, 0 for none; None if some lie elsewhere, or in another form."""
        if self._known is None or self._known[0] != types or self._known[1] != device:
            many = [self._numbers.get(key) for key in types]
            there = all(one is None or _is_int64_on(one, device) for one in many)
            self._known = types, device, [0 if one is None else one.data_ptr() for one in many] if there else None
        return self._known[2]


def _is_int64_on(numbers: Tensor, device: torch.device) -> bool:
    return bool(numbers.device == device and numbers.dtype == torch.int64 and numbers.is_contiguous())


class EdgeLists:
    """A batch's edges of each type, which is None for data without types, made when they are asked for.

    Parameters
    ----------
    out : SamplerOutput or HeteroSamplerOutput
    numbering : Numbering
    """

    def __init__(self, out: SamplerOutput | HeteroSamplerOutput, numbering: Numbering) -> None:
        self._numbering = numbering
        self._ends: dict[Any, Tensor] = {}
        self._numbers: dict[Any, Tensor | None] = {}
        self._types: list[Any] = []
        self._row: dict[Any, Tensor] = {}
        self._col: dict[Any, Tensor] = {}
        self._edge: dict[Any, Tensor | None] = {}
        group = untouched(out)
        addresses = None if group is None else numbering.addresses(group[0].types, group[0].device)
        self._group = None if group is None or addresses is None else (*group, addresses)
        if self._group is not None:
            self._types = self._group[0].types
        elif isinstance(out, HeteroSamplerOutput):
            self._row, self._col, self._edge = out.row, out.col, out.edge or {}
            self._types = list(self._edge)
        else:
            self._row, self._col, self._edge, self._types = {None: out.row}, {None: out.col}, {None: out.edge}, [None]

    def ends(self, key: Any) -> Tensor:
        """`edge_index`."""
        self._write()
        if key not in self._ends:
            self._ends[key] = torch.stack([self._row[key], self._col[key]]) if key in self._row else _nothing(2, 0)
        return self._ends[key]

    def numbers(self, key: Any) -> Tensor | None:
        """The data's numbers of the edges; None if it isn't known which they are."""
        self._write()
        if key not in self._numbers:
            self._numbers[key] = self._numbering.of(key, self._edge.get(key, _nothing(0)))
        return self._numbers[key]

    def all_numbers(self, types: list[Any]) -> dict[Any, Tensor | None]:
        """Of every type of which there are edges, and of these."""
        return {key: self.numbers(key) for key in dict.fromkeys([*self._types, *types])}

    def made(self) -> Iterator[Any]:
        """All that was asked for."""
        yield from (self._ends, self._numbers)

    def _write(self) -> None:
        if self._group is not None:
            group, batch, addresses = self._group
            self._group = None
            for key, (ends, numbers) in zip(group.types, group.lists(batch, addresses), strict=True):
                self._ends[key], self._numbers[key] = ends, numbers


def _nothing(*shape: int) -> Tensor:
    return torch.empty(*shape, dtype=torch.int64)
