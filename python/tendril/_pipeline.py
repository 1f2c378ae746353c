"""Mini-batches with their features, made ahead by a thread: arrays for any library, in host or GPU memory."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _gpu, _tendril
from ._ahead import ahead
from ._cache import CacheSource, FeatureCache, LoaderCache, ServedBatch
from ._device_array import DeviceArray
from ._epochs import Ranks, runs
from ._errors import ArgumentError, shown
from ._features import FeatureTable, gather_on_gpu
from ._gather_tables import gather_tables
from ._hetero_graph import HeteroGraph
from ._hgt import HGTSampler
from ._host_way import HostWay
from ._minibatch import Minibatch, MinibatchSampler
from ._order import shuffled
from ._padder import Masks, MinibatchPadder, as_given, sizes_of
from ._padding import BatchSizes, Padded, Padding
from ._params import flag, integer, string, threads, unsigned

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ._timeline import Timeline


@dataclass(frozen=True, eq=False)
class PipelineBatch:
    """A mini-batch and its features. NumPy arrays, or FeatureTables of bfloat16; DeviceArrays if the sampler is on a GPU.
    All have DLPack."""

    minibatch: Minibatch
    """The small graph: seeds first. For a graph of several types its fields are dicts."""
    index: Any
    """[seeds] int64, in host memory: the positions of the seeds in the pipeline's `seeds`."""
    number: int
    """The number of the batch, which decides its draws."""
    features: dict[Any, Any]
    """By name [nodes, …]: the rows of `minibatch.node`. Of several types: by vertex type, then by name."""
    edge_features: dict[Any, Any]
    """By name [edges, …]: the rows of `minibatch.edge`. Of several types: by edge type, then by name."""
    labels: dict[str, Any]
    """By name [seeds, …]: the rows of the seeds."""
    node_mask: Any = None
    """[nodes] bool, of a padded batch: whether a vertex is real. Of several types: by vertex type."""
    edge_mask: Any = None
    """[edges] bool, of a padded batch: whether an edge is real. Of several types: by edge type."""
    seed_mask: Any = None
    """[seeds] bool, of a padded batch: whether a seed is real. The others have the `index` -1, and the first seed's labels."""


_Sampled = tuple[int, Any, Minibatch, "Masks | None"]
_IN_FLIGHT = 2  # batches that a GPU may still work on while the next is prepared
_FIRST_STEPS = 4  # after so many, what training allocates is there


class Pipeline(Padded):
    """Iterates over mini-batches with features, without any framework: each iteration is one epoch.

    A thread samples the next batches and gathers their features while the loop works on the last one; the library's
    calls run without the interpreter's lock. `torch.from_numpy`, `torch.from_dlpack` and `jax.numpy.asarray` take the
    arrays. If the sampler is on a GPU, all but `index` is there, wherever the tables lie, and there for the sampler's
    stream: give the sampler a stream of its own, so that this work runs beside the loop's.

    Batch i of epoch e, from 0, has the number ``e * n + i``, where n is the number of batches an epoch. This number,
    ``seed`` and the sampler decide it: threads, ``bulk``, ``prefetch`` and the number of ranks never change a batch.
    `state_dict` and `load_state_dict` resume an interrupted epoch; `stats` tells where the time goes.

    Parameters
    ----------
    sampler : MinibatchSampler or HGTSampler
        Makes the batches, on the CPU or on a GPU.
    seeds : array_like of int, shape [n]
        Vertices.
    batch_size : int
        Seeds per batch; the last batch may have fewer.
    node_type : str, optional
        Type of the seeds, in a graph of several types.
    times : array_like of int, shape [n], optional
        Time of each seed, as for `MinibatchSampler.sample`.
    features : mapping of str to table, optional
        Tables with a row for each vertex: arrays as `gather` takes them, or `FeatureTable`s, of files, too. For a graph
        of several types: a mapping of vertex types to such mappings.
    edge_features : mapping of str to table, optional
        Tables with a row for each edge, in the order of the graph's edge arrays (`Graph.edge_ids` tells the order that
        they had). For a graph of several types: a mapping of edge types to such mappings.
    labels : mapping of str to table, optional
        Tables with a row for each vertex (of the seeds' type), of which a batch has the seeds' rows.
    shuffle : bool
        Take the seeds in a different order in every epoch, which ``seed`` and the number of the epoch determine.
    drop_last : bool
        Omit the last batch if it is smaller.
    seed : int
        Of the order, in [0, 2^64). The draws follow from the sampler's own.
    prefetch : int
        Batches that are made in advance; 0: each batch is made on request.
    bulk : int
        Batches that are sampled together: each thread then has its own.
    rank : int or "auto", world_size : int
        Of a distributed training: this process makes batches rank, rank + world_size, … of each epoch. "auto" takes both from
        `torch.distributed`, if the program has set that up, or from torchrun or mpirun.
    uneven : str
        Where the batches of an epoch are no multiple of ``world_size``: "keep" gives some ranks one batch more, "drop"
        omits the last batches, "repeat" takes the epoch's first batches again.
    cache : FeatureCache, optional
        Keeps rows of ``features`` in host memory on the sampler's GPU; ``pipeline.cache`` tells how it does. It never
        changes a batch.
    num_threads : int
        Threads that gather on the CPU; 0: every core the process may use.
    pad : str or Padding, optional
        Give every batch the same sizes. "epoch": those of the epoch's largest batch, which are found by sampling the
        epoch ahead, all ranks' batches of it, when it begins. A `Padding`, of `padding` for example: those. A batch that
        is larger raises an ArgumentError. For directional batches and those of HGSampling, with different seeds.
        docs/features.md tells what padding looks like.

    Raises
    ------
    ArgumentError
        A ValueError: for tables with other numbers of rows than the graph has vertices or edges,
        seeds that are not vertices, unknown types, arguments out of range.

    Examples
    --------
    >>> import numpy as np
    >>> graph = tendril.generate.ring(100)
    >>> x = np.arange(100, dtype=np.float32).reshape(100, 1)
    >>> sampler = tendril.MinibatchSampler(graph, [2, 2])
    >>> pipeline = tendril.Pipeline(sampler, np.arange(100), batch_size=40, features={"x": x}, labels={"y": x[:, 0] > 50})
    >>> [(len(batch.index), batch.features["x"].shape == (len(batch.minibatch.node), 1)) for batch in pipeline]
    [(40, True), (40, True), (20, True)]
    """

    def __init__(
        self,
        sampler: MinibatchSampler | HGTSampler,
        seeds: ArrayLike,
        *,
        batch_size: int = 1024,
        node_type: str | None = None,
        times: ArrayLike | None = None,
        features: Mapping[Any, Any] | None = None,
        edge_features: Mapping[Any, Any] | None = None,
        labels: Mapping[str, Any] | None = None,
        shuffle: bool = False,
        drop_last: bool = False,
        seed: int = 0,
        prefetch: int = 2,
        bulk: int = 8,
        rank: int | str = 0,
        world_size: int = 1,
        uneven: str = "keep",
        cache: FeatureCache | None = None,
        num_threads: int = 0,
        pad: str | Padding | None = None,
    ) -> None:
        if not isinstance(sampler, (MinibatchSampler, HGTSampler)):
            raise ArgumentError(f"sampler is a {type(sampler).__name__}, expected a MinibatchSampler or HGTSampler")
        for value, least, name in ((batch_size, 1, "batch_size"), (prefetch, 0, "prefetch"), (bulk, 1, "bulk")):
            if integer(value, name) < least:
                raise ArgumentError(f"{name} is {value}, expected {least} or more")
        self.batch_size, self.prefetch, self.bulk = int(batch_size), int(prefetch), int(bulk)
        self.shuffle, self.drop_last = flag(shuffle, "shuffle"), flag(drop_last, "drop_last")
        self.seed = unsigned(seed, "seed")
        self._ranks = Ranks.of(rank, world_size, uneven)
        self._num_threads = threads(num_threads)
        self._sampler, self._node_type = sampler, node_type
        self._device = sampler._device if isinstance(sampler, MinibatchSampler) else _gpu.HOST
        self._has_hops = not isinstance(sampler, HGTSampler)
        self._counts = _Counts(sampler)
        if node_type is not None:
            string(node_type, "node_type")
        if node_type not in self._counts.nodes:
            expected = f"one of {[*self._counts.nodes]}" if self._counts.has_types else "None: the graph has one type"
            raise ArgumentError(f"node_type is {shown(node_type)}, expected {expected}")
        self._seeds = _vertices(seeds, self._counts.nodes[node_type])
        self._when = None if times is None else _arrays.times(times, "times")
        if self._when is not None and len(self._when) != len(self._seeds):
            raise ArgumentError(f"times has {len(self._when)} elements, expected one for each of {len(self._seeds)} seeds")
        self._features = self._counts.tables(features, self._counts.nodes, "features")
        self._edge_features = self._counts.tables(edge_features, self._counts.edges, "edge_features")
        self._labels = _tables(labels, self._counts.nodes[node_type], "labels")
        self._cache = None if cache is None else self._cache_of(cache)
        self._host_way = HostWay(works_ahead=self.prefetch > 0 and self._device != _gpu.HOST)
        self._streams = self._streams_of_gathers()
        self.pad = pad

    @property
    def cache(self) -> LoaderCache | None:
        """What the cache of features holds, and how often it had what batches asked for; None without one."""
        return self._cache

    def __len__(self) -> int:
        """The batches of an epoch that this rank makes."""
        return self._ranks.count(self._total())

    def __iter__(self) -> Iterator[PipelineBatch]:
        progress = self._begin_epoch()
        timeline = self._timeline
        padding = self._padding_of(progress.epoch)
        pad = None if padding is None else self._padder(padding)
        self._host_way.begin()
        made = self._made(progress.epoch, progress.batch, timeline, pad)
        made = _items(self._host_way.supplied(made), self.prefetch) if self.prefetch else made
        return self._counted(self._host_way.watched(made), progress, timeline)

    @property
    def _stream(self) -> int:
        """The sampler's."""
        return self._sampler._stream if isinstance(self._sampler, MinibatchSampler) else 0

    def _total(self) -> int:
        count = len(self._seeds)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)

    def _seed_of_order(self) -> int:
        return self.seed

    def _batches(self, epoch: int) -> Iterator[NDArray[np.int64]]:
        """The positions of each batch's seeds."""
        order = shuffled(len(self._seeds), self.seed, epoch) if self.shuffle else np.arange(len(self._seeds))
        return (order[i * self.batch_size : (i + 1) * self.batch_size] for i in range(self._total()))

    def _host_rows(self) -> str:
        return self._host_way.told() if self._gathers_from_host() else ""

    def _gathers_from_host(self) -> bool:
        tables = itertools.chain(*(many.values() for many in (*self._features.values(), *self._edge_features.values())))
        on_host = any(table._core.device == _gpu.HOST for table in (*tables, *self._labels.values()))
        return on_host and self._device != _gpu.HOST

    def _streams_of_gathers(self) -> list[_tendril.GpuStream]:
        """Gathers over the bus take two streams in turn: neither those of a batch nor the next sampling wait until the rows of
        the batch before have come. Without any all is in the order of the sampler's stream, as what a cache does must be."""
        if self.prefetch == 0 or self._cache is not None or not self._gathers_from_host():
            return []
        return [_tendril.GpuStream(self._device) for _ in range(2)]

    def _numbered(self, epoch: int, begin: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """This rank's batches of an epoch from batch `begin` on: the positions of their seeds behind their numbers."""
        first = self._first_number(epoch)
        return ((first + i, part) for i, part in self._ranks.deal(self._batches(epoch), begin))

    def _made(
        self, epoch: int, begin: int, timeline: Timeline, pad: MinibatchPadder | None
    ) -> Iterator[PipelineBatch]:
        sampled = self._sampled(self._numbered(epoch, begin), timeline, pad)
        at_work: deque[DeviceArray] = deque()  # of batches whose rows the GPU may not have gathered yet
        streams = itertools.cycle([stream.handle for stream in self._streams] or [self._stream])
        for (number, index, batch, masks), served in self._served(sampled, epoch):
            with timeline.span("gather", number), self._host_way.gathering():
                if pad is None or masks is None:
                    done = self._gathered(batch, index, number, next(streams), served)
                else:
                    rows = self._gathered(batch, pad.seeds(index), number, next(streams), served)
                    done = self._with_masks(rows, index, masks, pad)
                at_work.extend(_rows_on_gpu(done))
                if len(at_work) > _IN_FLIGHT:  # so that a bounded number of batches has memory
                    at_work.popleft()._core.synchronize()
            yield done

    def _sampled(
        self, numbered: Iterator[tuple[int, NDArray[np.int64]]], timeline: Timeline, pad: MinibatchPadder | None
    ) -> Iterator[_Sampled]:
        """Numbers of batches, positions of their seeds, and the batches; padded ones with what is real of them."""
        for number, step, group in runs(numbered, self.bulk, self._ranks.world_size):
            numbers = range(number, number + step * len(group), step)
            with timeline.span("sample", number, len(group)):
                made = self._sample(np.concatenate(group), number, step)
                batches: list[tuple[Minibatch, Masks | None]] = [
                    (batch, None) if pad is None else pad(batch, one) for one, batch in zip(numbers, made, strict=True)
                ]
            for one, index, (batch, masks) in zip(numbers, group, batches, strict=True):
                yield one, index, batch, masks

    def _served(self, sampled: Iterator[_Sampled], epoch: int) -> Iterator[tuple[_Sampled, ServedBatch | None]]:
        """The same, each with what the cache has of it."""
        if self._cache is None:
            return ((one, None) for one in sampled)
        return self._cache.served(sampled, lambda one: self._ids_of(one[2]), epoch, self.prefetch + _FIRST_STEPS)

    def _sample(self, index: NDArray[np.int64], number: int, step: int) -> list[Minibatch]:
        seeds = self._seeds[index]
        if isinstance(self._sampler, HGTSampler):
            assert self._node_type is not None
            return self._sampler.sample_batches(
                seeds, self.batch_size, node_type=self._node_type, first_batch=number, batch_step=step
            )
        times = None if self._when is None else self._when[index]
        return self._sampler.sample_batches(
            seeds, self.batch_size, node_type=self._node_type, first_batch=number, batch_step=step, times=times
        )

    def _gathered(
        self, batch: Minibatch, index: NDArray[np.int64], number: int, stream: int, served: ServedBatch | None = None
    ) -> PipelineBatch:
        has_types = self._counts.has_types

        def of(tables: dict[Any, dict[str, FeatureTable]], ids: Any, cached: ServedBatch | None = None) -> dict[Any, Any]:
            made = {
                key: self._rows(many, ids[key] if has_types else ids, stream, key, cached) for key, many in tables.items()
            }
            return made if has_types else made.get(None, {})

        return PipelineBatch(
            minibatch=batch,
            index=index,
            number=number,
            features=of(self._features, batch.node, served),
            edge_features=of(self._edge_features, batch.edge),
            labels=self._rows(self._labels, self._seeds[index], stream),
        )

    def _padder(self, padding: Padding) -> MinibatchPadder:
        return MinibatchPadder(padding, self._node_type, self._has_hops, self._device, self._stream)

    @staticmethod
    def _with_masks(made: PipelineBatch, index: NDArray[np.int64], masks: Masks, pad: MinibatchPadder) -> PipelineBatch:
        return replace(
            made,
            index=pad.seeds(index, -1),
            node_mask=as_given(masks.nodes),
            edge_mask=as_given(masks.edges),
            seed_mask=pad.seed_mask(masks),
        )

    def _sizes(self, epoch: int) -> Iterator[BatchSizes]:
        for number, step, group in runs(enumerate(self._batches(epoch), self._first_number(epoch)), self.bulk):
            made = self._sample(np.concatenate(group), number, step)
            yield from (sizes_of(one, self._has_hops) for one in made)

    def _expect_paddable(self) -> None:
        if isinstance(self._sampler, MinibatchSampler):
            options = self._sampler._made_of[2]
            for name, expected in (("subgraph_type", "directional"), ("disjoint", False), ("frontier", "new")):
                if options[name] != expected:
                    raise ArgumentError(f"pad: the sampler has {name} {options[name]!r}, expected {expected!r}")
        ids, times = np.unique(self._seeds, return_counts=True)
        if len(ids) != len(self._seeds):
            raise ArgumentError(f"pad: seeds has {ids[times > 1][0]} more than once, expected different vertices")

    def _layout(self) -> tuple[list[Any], list[Any], int]:
        if isinstance(self._sampler, HGTSampler):
            return [*self._counts.nodes], [*self._counts.edges], 1
        given = self._sampler._made_of[1]
        hops = len(next(iter(given.values())) if isinstance(given, Mapping) else given)
        return [*self._counts.nodes], [*self._counts.edges], hops

    def _rows(
        self, tables: dict[str, FeatureTable], ids: Any, stream: int, kind: Any = None, cached: ServedBatch | None = None
    ) -> dict[str, Any]:
        if self._device == _gpu.HOST:
            return gather_tables(tables, ids, num_threads=self._num_threads)
        made = {}
        for name, table in tables.items():
            way = self._host_way.way(len(ids) * table.nbytes // max(len(table), 1))
            if cached is not None and cached.has(kind, name):
                made[name] = DeviceArray(cached.gather_new(kind, name, stream, way))
            else:
                made[name] = gather_on_gpu(table, ids, self._device, stream, check=False, way=way)
            if stream != self._stream:
                made[name]._core.wait(self._stream)
        return made

    # The cache

    def _ids_of(self, batch: Minibatch) -> Mapping[Any, Any]:
        node: Any = batch.node
        return dict(node) if self._counts.has_types else {None: node}

    def _cache_of(self, settings: Any) -> LoaderCache:
        if not isinstance(settings, FeatureCache):
            raise ArgumentError(f"cache is a {type(settings).__name__}, expected a FeatureCache")
        sampler, device = self._sampler, self._device
        if device == _gpu.HOST or not isinstance(sampler, MinibatchSampler):
            raise ArgumentError("cache is given, but the sampler is on the CPU: expected a MinibatchSampler on a GPU")

        def ids(array: Any, stream: int) -> Any:
            return _gpu.ids(array, "node", 1, device, stream, 0)

        return LoaderCache(
            settings,
            CacheSource(
                device=device,
                tables=lambda: {
                    kind: {name: (table, table) for name, table in many.items() if table.device == "cpu" and len(table)}
                    for kind, many in self._features.items()
                },
                mark=lambda table: None,
                graph=lambda: (sampler._input, list(self._counts.nodes)),
                subject=sampler._made_of[0],
                epoch=self._epoch_ids,
                see=lambda core, array, stream: core.see(ids(array, stream), stream),
                count=lambda counts, array, stream: counts.add(device, ids(array, stream), stream),
                stream=lambda: self._stream,
                free_bytes=lambda: _tendril.free_gpu_bytes(device),
                total_bytes=lambda: int(_tendril.describe_gpu(device).total_bytes),
            ),
        )

    def _epoch_ids(self, epoch: int) -> Iterator[Mapping[Any, Any]]:
        for number, step, group in runs(self._numbered(epoch, 0), self.bulk, self._ranks.world_size):
            for batch in self._sample(np.concatenate(group), number, step):
                yield self._ids_of(batch)


def _rows_on_gpu(batch: PipelineBatch) -> list[DeviceArray]:
    """One array of rows on a GPU that is made last, if there is any."""
    of: list[Any] = [batch.features, batch.edge_features, batch.labels]
    many = [one for each in of for value in each.values() for one in (value.values() if isinstance(value, dict) else [value])]
    return [one for one in many if isinstance(one, DeviceArray)][-1:]


def _items(made: Iterator[PipelineBatch], depth: int) -> Iterator[PipelineBatch]:
    items = ahead(made, depth)
    try:
        for item, _ in items:
            yield item
    finally:
        items.close()


class _Counts:
    """How many vertices and edges there are of each type; a graph of one type has the type None."""

    def __init__(self, sampler: MinibatchSampler | HGTSampler) -> None:
        graph = sampler._made_of[0] if isinstance(sampler, MinibatchSampler) else sampler._made_of[0][0]
        self.has_types = isinstance(graph, HeteroGraph)
        self.nodes: dict[Any, int]
        self.edges: dict[Any, int]
        if isinstance(graph, HeteroGraph):
            self.nodes = dict(graph.num_nodes)
            self.edges = {key: one.num_edges for key, one in graph.edges.items()}
        else:
            self.nodes, self.edges = {None: graph.num_vertices}, {None: graph.num_edges}

    def tables(self, given: Any, sizes: dict[Any, int], what: str) -> dict[Any, dict[str, FeatureTable]]:
        """The tables of each type that has some."""
        if not self.has_types:
            return {None: _tables(given, sizes[None], what)}
        if given is not None and not isinstance(given, Mapping):
            raise ArgumentError(f"{what} is a {type(given).__name__}, expected a mapping of types to mappings")
        for key in given or ():
            if key not in sizes:
                raise ArgumentError(f"{what} has the type {key!r}, expected one of {[*sizes]}")
        return {key: _tables(many, sizes[key], f"{what}[{key!r}]") for key, many in (given or {}).items()}


def _vertices(given: ArrayLike, count: int) -> NDArray[Any]:
    seeds = _arrays.ids(given, "seeds")
    wrong = np.flatnonzero((seeds < 0) | (seeds >= count))
    if wrong.size:
        raise ArgumentError(f"seeds[{wrong[0]}] is {seeds[wrong[0]]}, expected a vertex in [0, {count})")
    return seeds


def _tables(given: Any, count: int, what: str) -> dict[str, FeatureTable]:
    """Tables with `count` rows each."""
    if given is not None and not isinstance(given, Mapping):
        raise ArgumentError(f"{what} is a {type(given).__name__}, expected a mapping of names to tables")
    made = {}
    for name, value in (given or {}).items():
        try:
            table = value if isinstance(value, FeatureTable) else FeatureTable(value)
        except ArgumentError as error:
            raise ArgumentError(f"{what}[{name!r}]: {error}") from error
        if len(table) != count:
            raise ArgumentError(f"{what}[{name!r}] has {len(table)} rows, expected {count}")
        made[name] = table
    return made
