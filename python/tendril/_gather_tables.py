"""Rows of several tables in one call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from . import _gpu, _tendril
from ._errors import ArgumentError, shown
from ._features import FeatureTable, gather_on_gpu, gathering_device, new_rows, row_ids, table_of
from ._params import flag, threads

if TYPE_CHECKING:
    from numpy.typing import NDArray


def gather_tables(
    tables: Mapping[Any, Any], ids: Any, *, num_threads: int = 0, stream: Any = None, check: bool = True
) -> dict[Any, Any]:
    """Gather rows of several tables in one call: of vertices and of edges, or of several types.

    The result is that of `gather` for each table. In host memory threads share the rows of all tables, so that small gathers
    wait for each other less. If any table or any ids lie on a GPU, all results are made there, in the order of one stream.

    Parameters
    ----------
    tables : mapping of tables
        By any keys: each [rows, …], as for `gather`.
    ids : array_like of int, or a mapping of these
        Ids for all tables, or by the keys of `tables`.
    num_threads : int
        Number of threads of a gather to host memory; 0: every core the process may use.
    stream : cudaStream_t or stream object, optional
        Of a GPU: where the work is enqueued, as for `random_walk`.
    check : bool
        Of a GPU: False if all ids are known to be in range, as for `gather`.

    Returns
    -------
    dict
        By the same keys, in their order: [ids, …] as `gather` gives them.

    Raises
    ------
    ArgumentError
        As `gather`, for the first table that is wrong, whose key begins the line; for keys that ``ids`` lacks, or has more.
    OutOfMemoryError
        If the result doesn't fit.
    DeviceError
        If the GPU can't be used.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.array([[1, 2], [3, 4], [5, 6]]), np.array([7, 8, 9])
    >>> rows = tendril.gather_tables({"x": x, "y": y}, [2, 0])
    >>> rows["x"].tolist(), rows["y"].tolist()
    ([[5, 6], [1, 2]], [9, 7])
    """
    if not isinstance(tables, Mapping):
        raise ArgumentError(f"tables is a {type(tables).__name__}, expected a mapping of tables")
    tables = dict(tables)  # once: a mapping may read each array anew, as numpy.load's do
    each = dict(ids) if isinstance(ids, Mapping) else dict.fromkeys(tables, ids)
    for key in (*tables, *each):
        if (key in tables) != (key in each):
            raise ArgumentError(f"{'ids' if key in tables else 'tables'} has no {shown(key)}, expected the keys of the other")
    is_checked, threads_used, held = flag(check, "check"), threads(num_threads), {}
    for key, table in tables.items():
        with _named(key):
            held[key] = table_of(table)
    device = gathering_device(held.values(), each.values())
    if device != _gpu.HOST:
        return _on_gpu(held, each, device, _gpu.stream_handle(stream, device), is_checked)
    _gpu.expect_no_stream(stream)
    return _on_host(held, each, threads_used)


def _on_gpu(held: dict[Any, FeatureTable], each: dict[Any, Any], device: int, stream: int, check: bool) -> dict[Any, Any]:
    made = {}
    for key, table in held.items():
        with _named(key):
            made[key] = gather_on_gpu(table, each[key], device, stream, check=check)
    return made


def _on_host(held: dict[Any, FeatureTable], each: dict[Any, Any], num_threads: int) -> dict[Any, Any]:
    known: dict[int, NDArray[Any]] = {}  # by the identity of what was given
    places, rows = [], {}
    for key, table in held.items():
        with _named(key):
            if id(each[key]) not in known:
                known[id(each[key])] = row_ids(each[key], table._core)
            found = known[id(each[key])]
            place, rows[key] = new_rows((found.size, *table._core.shape[1:]), table._core.dtype)
            places.append(place)
    given = [known[id(each[key])] for key in held]
    try:
        _tendril.gather_tables([table._core for table in held.values()], given, places, num_threads)
    except ArgumentError as error:
        raise _with_key(error, list(held)) from None
    return rows


def _with_key(error: ArgumentError, keys: list[Any]) -> ArgumentError:
    """The library counts requests."""
    head, _, rest = str(error).partition(": ")
    number = head.removeprefix("request ")
    return ArgumentError(f"tables[{shown(keys[int(number)])}]: {rest}") if number.isdecimal() else error


@contextmanager
def _named(key: Any) -> Iterator[None]:
    try:
        yield
    except ArgumentError as error:
        raise ArgumentError(f"tables[{shown(key)}]: {error}") from error
