"""Attributes that are FeatureTables. PyG knows tensors and NumPy's arrays alone. So loaders read a copy of the data in which
an array over the same memory stands for each table; what gathers rows finds the table again, which knows more: that its file
is mapped, that its memory is page-locked, and how fast earlier gathers were."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data, HeteroData
from torch_geometric.data.storage import EdgeStorage, NodeStorage

from tendril._errors import ArgumentError
from tendril._features import FeatureTable


class _Rows(np.ndarray[Any, Any]):
    """The rows of a table. Views and copies of this array are of no table."""

    _tendril_table: FeatureTable | None = None


def with_arrays(data: Any) -> Any:
    """Data whose tables are arrays, without a copy of their rows; data without tables as it is.

    Raises ArgumentError for a table that has neither a row for each vertex nor one for each edge.
    """
    if not _names(data):
        return data
    made = copy.copy(data)
    for store in (*made.node_stores, *made.edge_stores):
        tables = {key: value for key, value in store.items() if isinstance(value, FeatureTable)}
        for key, table in tables.items():
            store[key] = _array_of(table)
        for key, table in tables.items():
            _expect_rows(store, key, table)
    return made


def expect_none(data: Any, kind: str) -> None:
    """Refuses tables for loaders that gather without the library."""
    for name in _names(data):
        raise ArgumentError(f"{name} is a FeatureTable, which a {kind} can't gather: expected a tensor")


def table_of(value: Any) -> FeatureTable | None:
    """The table that an attribute stands for."""
    found: FeatureTable | None = getattr(value, "_tendril_table", None)
    return found


def _names(data: Any) -> list[str]:
    if not isinstance(data, (Data, HeteroData)):
        return []
    stores = data.node_stores if isinstance(data, Data) else (*data.node_stores, *data.edge_stores)
    return [_name(store, key) for store in stores for key, value in store.items() if isinstance(value, FeatureTable)]


def _name(store: Any, key: str) -> str:
    return f"data.{key}" if store._key is None else f"data[{store._key!r}].{key}"


def _array_of(table: FeatureTable) -> Any:
    if table.device == "cpu" and table.dtype != "bfloat16":
        array: Any = np.asarray(table).view(_Rows)
    else:
        array = torch.from_dlpack(table)
    array._tendril_table = table
    return array


def _expect_rows(store: Any, key: str, table: FeatureTable) -> None:
    of_nodes, of_edges = isinstance(store, NodeStorage), isinstance(store, EdgeStorage)
    if (of_nodes and store.is_node_attr(key)) or (of_edges and store.is_edge_attr(key)):
        return
    counts = [f"{store.num_nodes} vertices"] if of_nodes else []
    counts += [f"{store.num_edges} edges"] if of_edges else []
    hint = "" if not of_nodes or "num_nodes" in store else "; num_nodes is not set"
    expected = f"one for each of {' or '.join(counts)}{hint}"
    raise ArgumentError(f"{_name(store, key)} is a FeatureTable of {len(table)} rows, expected {expected}")
