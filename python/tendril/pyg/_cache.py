"""Caches of features for PyG's loaders: which attributes they take, and what they ask of a loader."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from tendril import _tendril
from tendril._cache import CacheSource, FeatureCache, LoaderCache, ServedBatch
from tendril._epochs import runs
from tendril._errors import ArgumentError
from tendril._features import FeatureTable

from . import _gather
from ._gather import Target
from ._sampler import NeighborSampler

_OF_EPOCHS = ("exact", "presample")  # policies that count the batches of a whole epoch


def cache_of(loader: Any, settings: Any) -> LoaderCache | None:
    """The cache that a loader asks for. Raises ArgumentError where the loader can't have one."""
    if settings is None:
        return None
    if not isinstance(settings, FeatureCache):
        raise ArgumentError(f"cache is a {type(settings).__name__}, expected a FeatureCache")
    if loader._target is None or not isinstance(loader._engine, NeighborSampler):
        raise ArgumentError("cache is given, but batches are made on the CPU: expected device='cuda' and a sampler of tendril's")
    if not isinstance(loader.data, (Data, HeteroData)):
        raise ArgumentError("cache is given, and data is a FeatureStore: expected Data or HeteroData")
    if loader.transform_sampler_output is not None:
        raise ArgumentError("cache and transform_sampler_output are given: which rows batches need is not known ahead")
    own_order = loader.generator is not None or any(True for _ in loader._orders())
    if settings.policy_name in _OF_EPOCHS and (own_order or loader._total() is None):
        raise ArgumentError(
            f"policy is '{settings.policy}', which makes each epoch's order twice: expected one that seed decides, "
            "without generator, sampler and batch_sampler"
        )
    device = torch.device(loader._target)
    index = torch.cuda.current_device() if device.index is None else device.index

    def stream() -> int:
        return int(torch.cuda.current_stream(index).cuda_stream)

    return LoaderCache(
        settings,
        CacheSource(
            device=index,
            tables=lambda: _tables(loader.data),
            mark=lambda held: (held.data_ptr(), _gather.version_of(held)) if isinstance(held, Tensor) else None,
            graph=lambda: _graph(loader._engine),
            subject=loader.data,
            epoch=lambda epoch: _epoch(loader, epoch),
            see=lambda core, ids, on: core.see_at(ids.data_ptr(), ids.numel(), on),
            count=lambda counts, ids, on: counts.add_at(index, ids.data_ptr(), ids.numel(), on),
            stream=stream,
            free_bytes=lambda: int(_tendril.free_gpu_bytes(index)),
            total_bytes=lambda: int(torch.cuda.mem_get_info(index)[1]),
        ),
    )


def _stores(data: Any) -> list[tuple[Any, Any]]:
    """Types and their attributes; data without types has the type None."""
    return [(None, data._store)] if isinstance(data, Data) else [(name, data[name]) for name in data.node_types]


def _tables(data: Any) -> dict[Any, dict[str, tuple[Any, FeatureTable]]]:
    """The attributes of vertices that are gathered from host memory."""
    made: dict[Any, dict[str, tuple[Any, FeatureTable]]] = {}
    for kind, store in _stores(data):
        made[kind] = {
            key: (value, _gather.table_over(value))
            for key, value in store.items()
            if key not in ("edge_index", "num_nodes")
            and store.is_node_attr(key)
            and store._parent().__cat_dim__(key, value, store) == 0
            and _gather.comes_from_host(value)
        }
    return made


def _graph(engine: NeighborSampler) -> tuple[_tendril.HeteroGraph, list[Any]]:
    made = engine._engine()
    return made._input, [None] if made._ends is None else list(made._types)


def _epoch(loader: Any, epoch: int) -> Iterator[Mapping[Any, Tensor]]:
    for number, step, group in runs(loader._numbered(epoch, 0), loader._bulk, loader._ranks.world_size):
        for out in loader._sample_many(group, number, step):
            yield ids_of(out)


class _Ids(dict[Any, Tensor]):
    """The vertices of a batch by type; of a type that it lacks there are none."""

    def __missing__(self, kind: Any) -> Tensor:
        return torch.empty(0, dtype=torch.int64)


def ids_of(out: Any) -> Mapping[Any, Tensor]:
    """The vertices of a sampler's output by type."""
    return _Ids(out.node) if isinstance(out.node, dict) else {None: out.node}


def rows_of(served: ServedBatch, target: Target, kind: Any, node: Tensor) -> dict[str, Tensor]:
    """The rows of all attributes that the cache takes, for the vertices of a batch."""
    made = {}
    for key, (value, _) in served.tables(kind).items():
        found = torch.empty((node.numel(), *value.shape[1:]), dtype=_gather.torch_type(value.dtype), device=node.device)
        served.gather_at(kind, key, found.data_ptr(), target.stream, target.way(found.nbytes))
        made[key] = found
    return made
