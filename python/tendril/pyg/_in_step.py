"""Loaders over graphs and features on GPUs of several ranks. There every call is one of all ranks, so loaders keep step: they make
the same calls in the same order, and a rank whose batches end before those of others joins the calls that are left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tendril import dist
from tendril._errors import ArgumentError

from ._inputs import Unsupported
from ._sharded import ShardedFeatureStore, ShardedGraphStore

if TYPE_CHECKING:
    from tendril._epochs import Ranks


class InStep:
    """The calls of all ranks that a loader's batches take."""

    def __init__(self, graph: ShardedGraphStore, features: ShardedFeatureStore, ranks: Ranks, bulk: int) -> None:
        self._samples_together = graph.device.type != "cpu"
        self._tables = [table for table in features.tables.values() if table.device != "cpu"]
        self._ranks, self._bulk = ranks, bulk

    def join(self, engine: Any, total: int, begin: int, made: int) -> None:
        """Takes part in what the others make beside this rank's batches of an epoch of `total`, of which `begin` were done before."""
        if made == self._ranks.most(total - begin):
            return
        if self._samples_together and made % self._bulk == 0:  # else the others' last batch was in the last call
            engine.sample_batches([], 1)
        for table in self._tables:
            table.gather([])


def in_step(loader: Any, ranks: Ranks, bulk: int) -> InStep | None:
    """How the loader keeps step with those of other ranks; None if it need not. @raises ArgumentError, Unsupported."""
    data = loader.data
    if not isinstance(data, tuple) or not isinstance(data[1], ShardedGraphStore):
        return None
    features, graph = data
    if graph.device.type == "cpu" and all(table.device == "cpu" for table in features.tables.values()):
        return None
    _expect_ranks(ranks, graph.graph.ranks)
    where = "a graph or features on GPUs of several ranks, whose loaders keep step"
    if not hasattr(loader, "input_nodes") and not loader._of_links:
        raise Unsupported(f"{type(loader).__name__} over {where}: expected NeighborLoader or LinkNeighborLoader")
    if loader._batch_order is not None:
        raise Unsupported(f"batch_sampler over {where}: expected batch_size")
    if loader.transform_sampler_output is not None or loader._is_overridden():
        raise Unsupported(f"transform_sampler_output, or methods of a subclass, over {where}: expected transform")
    return InStep(graph, features, ranks, bulk)


def _expect_ranks(ranks: Ranks, shared: dist.Ranks) -> None:
    if (ranks.rank, ranks.world_size) != (shared.rank, shared.size):
        raise ArgumentError(
            f"rank is {ranks.rank} of {ranks.world_size}, expected that of the graph, whose GPUs make batches together: "
            f"{shared.rank} of {shared.size}"
        )
