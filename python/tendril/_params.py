"""Converts Python values to the library's parameters. A value that can't be converted gives one clear line."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import numpy as np

from . import _tendril
from ._errors import ArgumentError, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

Params = TypeVar("Params")

_EXPECTED = {
    bool: "True or False",
    int: "an integer that fits the parameter",
    float: "a number",
    str: "a name",
    list: "a sequence of integers that fit the parameter",
}


def fill(params: Params, **fields: Any) -> Params:
    """Set fields of one of the library's parameter structs, check what needs no graph, and return it."""
    for name, value in fields.items():
        try:
            setattr(params, name, bool(value) if isinstance(value, np.bool_) else value)
        except TypeError:
            expected = _EXPECTED[type(getattr(params, name))]
            raise ArgumentError(f"{name} is {shown(value)}, expected {expected}") from None
    validate = getattr(params, "validate", None)
    if validate is not None:
        validate()
    return params


def integer(value: Any, what: str, bits: int = 64) -> int:
    """``value`` as a signed integer of `bits` bits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{what} is {shown(value)}, expected an integer") from None
    if not -(1 << (bits - 1)) <= number < 1 << (bits - 1):
        raise ArgumentError(f"{what} is {number}, expected an integer of {bits} bits")
    return number


def limit(value: Any, what: str) -> int | None:
    """``value`` as an integer, or None: no limit of the caller's."""
    return None if value is None else integer(value, what)


def unsigned(value: Any, what: str) -> int:
    """``value`` as an integer in [0, 2^64)."""
    given = integer(value, what, 4096)
    if given < 0:
        raise ArgumentError(f"{what} is {given}, expected 0 or more")
    if given >= 1 << 64:
        raise ArgumentError(f"{what} is {given}, expected less than 2^64")
    return given


def number(value: Any, what: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{what} is {shown(value)}, expected a number") from None


def string(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise ArgumentError(f"{what} is {shown(value)}, expected a string")
    return value


def strings(values: Any, what: str) -> list[str]:
    """A sequence of strings; one string is none, but the letters of one."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ArgumentError(f"{what} is {shown(values)}, expected a sequence of strings")
    return [string(value, f"{what}[{i}]") for i, value in enumerate(values)]


def file_name(path: Any, what: str) -> str:
    """A path as a string."""
    try:
        name = os.fspath(path)
    except TypeError:
        raise ArgumentError(f"{what} is {shown(path)}, expected a path") from None
    if isinstance(name, bytes):
        raise ArgumentError(f"{what} is {shown(name)}, expected a path as a string: os.fsdecode(path)")
    return str(name)


def flag(value: Any, what: str) -> bool:
    """True or False, or what stands for one of them; an array of several elements is neither."""
    try:
        return bool(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{what} is {shown(value)}, expected True or False") from None


def threads(num_threads: Any) -> int:
    return integer(num_threads, "num_threads", 32)


def counts(values: Sequence[int], what: str) -> list[int]:
    """The fan-outs of the hops."""
    try:
        items = list(values)
    except TypeError:
        raise ArgumentError(f"{what} is {shown(values)}, expected a sequence of integers") from None
    return [integer(value, f"{what}[{i}]") for i, value in enumerate(items)]


class BuildKeywords(TypedDict, total=False):
    """The keywords that all graph builders share: transformations of the input edges."""

    num_vertices: int | None
    reverse: bool
    symmetrize: bool
    drop_self_loops: bool
    drop_duplicates: bool
    compact: bool
    keep_edge_ids: bool


BUILDING = tuple(BuildKeywords.__annotations__)
FROM_COO = ("weights", "labels", "node_types", "edge_label_names", "node_type_names", "metadata", "num_threads")


def build_options(
    *,
    num_vertices: int | None = None,
    reverse: bool = False,
    symmetrize: bool = False,
    drop_self_loops: bool = False,
    drop_duplicates: bool = False,
    compact: bool = False,
    keep_edge_ids: bool = False,
) -> _tendril.BuildOptions:
    """The library's options for the keywords of BuildKeywords."""
    if num_vertices is not None and integer(num_vertices, "num_vertices") < 0:
        raise ArgumentError(f"num_vertices is {num_vertices}, expected 0 or more")
    return fill(
        _tendril.BuildOptions(),
        num_vertices=-1 if num_vertices is None else num_vertices,
        reverse=reverse,
        symmetrize=symmetrize,
        drop_self_loops=drop_self_loops,
        drop_duplicates=drop_duplicates,
        compact=compact,
        keep_edge_ids=keep_edge_ids,
    )


def fanouts(num_neighbors: Any, ends: Any) -> dict[str, Any]:
    """The parameters of mini-batches that hold fan-outs. ``ends``: the edge types, None for a graph that has one."""
    if not isinstance(num_neighbors, Mapping):
        return {"num_neighbors": counts(num_neighbors, "num_neighbors")}
    if ends is None:
        raise ArgumentError("num_neighbors is a mapping, expected a sequence of integers: the graph has one edge type")
    for key in num_neighbors:
        if key not in ends:
            raise ArgumentError(f"num_neighbors has the edge type {key!r}, expected one of {list(ends)}")
    if not num_neighbors:
        raise ArgumentError("num_neighbors is an empty mapping, expected fan-outs of one edge type or more")
    given = {key: counts(value, f"num_neighbors[{key!r}]") for key, value in num_neighbors.items()}
    hops = {len(value) for value in given.values()}
    if len(hops) != 1:
        lengths = {key: len(value) for key, value in given.items()}
        raise ArgumentError(f"num_neighbors: the number of hops must be the same across all edge types, not {lengths}")
    return {"num_neighbors_of_type": [given.get(key, [0] * next(iter(hops))) for key in ends]}
