"""The common part of both loaders: epochs, their order, prefetched batches, and batches that move between streams."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, RandomSampler
from torch_geometric.data import Data, HeteroData
from torch_geometric.loader.utils import infer_filter_per_worker

from tendril._ahead import ahead
from tendril._cache import FeatureCache, LoaderCache, ServedBatch
from tendril._epochs import Progress, Ranks, runs
from tendril._errors import ArgumentError
from tendril._host_way import HostWay
from tendril._padding import BatchSizes, Padded, Padding
from tendril._params import integer
from tendril._timeline import Timeline

from . import _cache, _features, _gather, _inputs, _padding
from ._edge_lists import Numbering
from ._features import GatheredBatch
from ._gather import HostCopy, Target
from ._hgt_sampler import HGTSampler
from ._in_step import in_step
from ._order import Shuffle, shuffled
from ._outputs import lasting_of
from ._processors import Processors
from ._sampler import NeighborSampler
from ._sharded import ShardedGraphStore

# Arguments of torch.utils.data.DataLoader that configure worker processes, which are not needed here.
_OF_WORKERS = {
    "in_order",
    "multiprocessing_context",
    "num_workers",
    "persistent_workers",
    "pin_memory_device",
    "prefetch_factor",
    "timeout",
    "worker_init_fn",
}
_OF_LIGHTNING = {"collate_fn", "dataset"}  # it makes loaders anew from the attributes of others
_BULK_SEEDS = 16384  # bench minibatch: a GPU is fully used from here on
_MOST_TOGETHER = 64
_TRIAL = 24  # batches of a trial of `HostWay`
_IN_FLIGHT = 2  # batches that a stream may still work on while the next is prepared
_AHEAD_OF_GPU = 4  # steps of the loop that a GPU has still to do when the next one is enqueued
_FIRST_STEPS = 4  # after so many, what training allocates is there
_TOGETHER_ON_CPU = 8  # each thread then has its own batch, and doesn't wait for the others at every hop


def expect_sampler(given: Any, method: str) -> None:
    """Checks that the sampler provides the method that the loader needs."""
    if not hasattr(given, method):
        raise ArgumentError(f"neighbor_sampler is a {type(given).__name__}, expected one that has {method}()")


class Loader(Padded, Processors, DataLoader):  # type: ignore[misc]
    """Each iteration is one epoch of batches; a thread makes the next batches while the last one is in use.

    It is a `torch.utils.data.DataLoader` of the positions in its input, and each of its parts works by itself, too:
    `sampler` and `batch_sampler` give the order, `collate_fn` and `filter_fn` make a batch.
    """

    def __init__(
        self,
        data: Any,
        sampler: Any,
        count: int,
        transform: Any,
        transform_sampler_output: Any,
        custom_cls: Any,
        input_id: Any,
        filter_per_worker: bool | None,
        seed: int | None,
        device: Any,
        bulk: int | None,
        prefetch: int,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        drop_last: bool = False,
        batch_sampler: Any = None,
        index_sampler: Any = None,
        generator: torch.Generator | None = None,
        pin_memory: bool = False,
        rank: int | str = 0,
        world_size: int = 1,
        uneven: str = "keep",
        cache: FeatureCache | None = None,
        pad: str | Padding | None = None,
        **others: Any,
    ) -> None:
        for name in others:
            if name not in _OF_WORKERS | _OF_LIGHTNING:
                raise TypeError(f"{type(self).__name__}() got an unexpected keyword argument '{name}'")
        if batch_sampler is None and (batch_size is None or integer(batch_size, "batch_size") < 1):
            raise ArgumentError(f"batch_size is {batch_size}, expected 1 or more")
        if batch_sampler is not None and (batch_size not in (None, 1) or drop_last):
            raise ArgumentError("batch_sampler is given, and batch_size or drop_last, which it decides itself")
        if shuffle and (index_sampler is not None or batch_sampler is not None):
            raise ArgumentError("shuffle is True, and a sampler gives the order: expected one of them")
        if batch_sampler is not None and index_sampler is not None:
            raise ArgumentError("sampler and batch_sampler are given, expected one of them")
        if bulk is not None and integer(bulk, "bulk") < 1:
            raise ArgumentError(f"bulk is {bulk}, expected 1 or more batches made together")
        if integer(prefetch, "prefetch") < 0:
            raise ArgumentError(f"prefetch is {prefetch}, expected 0 or more batches made ahead")
        if generator is not None and not isinstance(generator, torch.Generator):
            raise ArgumentError(f"generator is a {type(generator).__name__}, expected a torch.Generator")
        for function, what in ((transform, "transform"), (transform_sampler_output, "transform_sampler_output")):
            if function is not None and not callable(function):
                raise ArgumentError(f"{what} is a {type(function).__name__}, expected a function")
        for order, what in ((index_sampler, "sampler"), (batch_sampler, "batch_sampler")):
            if order is not None and not isinstance(order, Iterable):
                raise ArgumentError(f"{what} is a {type(order).__name__}, expected one that can be iterated over")
        self.data = data
        self.transform = transform
        self.transform_sampler_output = transform_sampler_output
        self.custom_cls = custom_cls
        self.input_id = input_id
        self.filter_per_worker = infer_filter_per_worker(data) if filter_per_worker is None else filter_per_worker
        self.prefetch = prefetch
        self.seed = seed
        self.rank, self.world_size, self.uneven = rank, world_size, uneven
        self._ranks = Ranks.of(rank, world_size, uneven)
        self._count = count
        self._shuffle = bool(shuffle)
        self._engine = sampler
        self._ours = isinstance(sampler, (NeighborSampler, HGTSampler))
        self._index_order = index_sampler
        self._batch_order = batch_sampler
        if self._shuffle and generator is not None and count:
            index_sampler = RandomSampler(range(count), generator=generator)
        elif self._shuffle:
            index_sampler = Shuffle(range(count), self._draws())
        DataLoader.__init__(
            self,
            range(count),
            batch_size=1 if batch_size is None else int(batch_size),
            sampler=index_sampler,
            batch_sampler=batch_sampler,
            collate_fn=self.collate_fn,
            pin_memory=pin_memory,
            drop_last=drop_last,
            generator=generator,
            **{name: value for name, value in others.items() if name in _OF_WORKERS and value is not None},
        )
        place = torch.device("cpu") if device is None else torch.device(device)
        if self._ours:
            place = getattr(sampler, "batches_on", sampler.device)
        self._target = place if place.type != "cpu" else None
        self._bulk = self._together(bulk)
        self._in_step = in_step(self, self._ranks, self._bulk)
        self._cache = _cache.cache_of(self, cache)
        self._loop_gathers = self._gathers_in_loop()
        self._gathers = self._streams_of_gathers(place)
        self._host_way = self._way_of_rows()
        self._maker: _features.BatchMaker | None = None
        self.pad = pad

    @property
    def cache(self) -> LoaderCache | None:
        """What the loader's cache of features holds, and how often it had what batches asked for; None without one."""
        return self._cache

    def _together(self, bulk: int | None) -> int:
        if self._of_links and _is_shared(self.data):  # each batch is a call; ranks that keep step gather in between
            return 1
        if bulk is not None:
            return bulk
        if not self._ours or self.batch_size is None or self._engine.takes_all:  # the size of those batches is unknown
            return 1
        if self._target is None:
            return _TOGETHER_ON_CPU
        return max(1, min(_MOST_TOGETHER, _BULK_SEEDS // int(self.batch_size)))

    def _streams_of_gathers(self, place: torch.device) -> list[Any]:
        """Gathers have streams of their own, where sampling has one. Those over the bus, which have little to do on the GPU and
        long to wait, go before what trains; others, which fill the GPU, don't: they are ahead of it by batches. Batches take two
        streams in turn, so that one is prepared while the bus is busy with the last; but a cache changes from batch to batch.
        Where ranks keep step, all of their calls come from one thread."""
        if not self._samples_apart() or self._loop_gathers or _is_shared(self.data):
            return []
        from_host = _features.come_from_host(self.data)
        count = 2 if from_host and self._cache is None else 1
        return [torch.cuda.Stream(place, priority=-1 if from_host else 0) for _ in range(count)]

    def _samples_apart(self) -> bool:
        """Whether sampling has a stream of its own, which nothing else that makes a batch takes."""
        return self._ours and self._engine._stream is not None and self.transform_sampler_output is None

    def _gathers_in_loop(self) -> bool:
        """Whether the thread that iterates gathers, which takes moments where a GPU has all that batches need: a thread that
        does so takes the interpreter from it, which holds up its launches for longer."""
        return self._samples_apart() and self._in_step is None and _features.are_all_on_gpu(self.data, self._target)

    def _way_of_rows(self) -> HostWay:
        device = self._target
        if device is None:
            return HostWay(works_ahead=False)

        def mark() -> Any:
            return torch.cuda.current_stream(device).record_event(torch.cuda.Event(enable_timing=True))

        def nanoseconds(first: Any, last: Any) -> float | None:
            return 1e6 * float(first.elapsed_time(last)) if last.query() else None

        whole_groups = -(-_TRIAL // self._bulk) * self._bulk  # a group is sampled at once
        return HostWay(self.prefetch > 0 and self._ours, mark, nanoseconds, whole_groups)

    def _host_rows(self) -> str:
        return self._host_way.told() if self._target is not None and _features.come_from_host(self.data) else ""

    # Epochs

    def __len__(self) -> int:
        return self._ranks.count(self._length())

    def _length(self) -> int:
        """The batches of an epoch, of all ranks."""
        if self._batch_order is not None:
            return int(len(self._batch_order))
        count = self._count if self._index_order is None else len(self._index_order)
        assert self.batch_size is not None
        return int(count // self.batch_size if self.drop_last else -(-count // self.batch_size))

    def _batches(self, epoch: int) -> Iterator[Tensor]:
        """The positions of each batch's seeds in the input of the loader."""
        if self._batch_order is not None:
            for i, one in enumerate(self._batch_order):
                if not isinstance(one, Iterable):
                    raise ArgumentError(f"batch {i} of batch_sampler is {one!r}, expected several positions")
                yield _inputs.positions(list(one), f"batch {i} of batch_sampler: position", self._count)
            return
        if self._index_order is not None:
            order = _inputs.positions(list(self._index_order), "sampler: position", self._count)
        elif not self._shuffle:
            order = torch.arange(self._count)
        elif self.generator is not None:
            order = torch.randperm(self._count, generator=self.generator)
        else:
            order = shuffled(self._count, self._draws(), epoch)
        assert self.batch_size is not None
        for one in order.split(self.batch_size) if order.numel() else ():
            if one.numel() == self.batch_size or not self.drop_last:
                yield one

    def _draws(self) -> int:
        return int(self._engine.seed if self._ours else self.seed or 0)

    _seed_of_order = _draws

    def _numbered(self, epoch: int, begin: int) -> Iterator[tuple[int, Tensor]]:
        """This rank's batches of an epoch from batch `begin` on: their positions, each behind the batch's number."""
        first = self._first_number(epoch)
        return ((first + i, part) for i, part in self._ranks.deal(self._batches(epoch), begin))

    def _orders(self) -> Iterator[Any]:
        return (order for order in (self._index_order, self._batch_order) if order is not None)

    def _total(self) -> int | None:
        try:
            return self._length()
        except TypeError:  # a sampler of unknown length
            return None

    # Padding

    def _expect_paddable(self) -> None:
        _padding.expect_paddable(self)

    def _expect_order_of_seed(self, why: str) -> None:
        _padding.expect_order_of_seed(self, why)

    def _layout(self) -> tuple[list[Any], list[Any], int]:
        return _padding.layout(self._engine)

    def _sizes(self, epoch: int) -> Iterator[BatchSizes]:
        for number, step, group in runs(enumerate(self._batches(epoch), self._first_number(epoch)), self._bulk):
            yield from (_padding.sizes_of(out, self.input_data) for out in self._sample_many(group, number, step))

    def _is_overridden(self) -> bool:
        """Whether the methods of a user's subclass make the batches."""
        cls = type(self)
        return cls.collate_fn is not Loader.collate_fn or cls.filter_fn is not Loader.filter_fn

    # Batches

    def _sample(self, index: Tensor, number: int | None) -> Any:
        """The sampler's output for one batch. None: the sampler counts."""
        raise NotImplementedError

    def _sample_many(self, parts: list[Tensor], number: int, step: int) -> list[Any]:
        return [self._sample(part, number + i * step) for i, part in enumerate(parts)]

    def _finish(self, made: Any, out: Any) -> None:
        """Adds the fields about its seeds to a batch."""
        raise NotImplementedError

    def _filter(self, out: Any, on_host: Any = None, served: ServedBatch | None = None) -> Any:
        return self._completed(self._gather(out, on_host, served))

    def _gather(self, out: Any, on_host: Any = None, served: ServedBatch | None = None) -> GatheredBatch:
        if self._maker is None or self._maker.data is not self.data:
            of_edges = self._engine.attributes_of_edges if self._ours else frozenset()
            numbering = Numbering(self._engine.edge_permutation)
            self._maker = _features.BatchMaker(self.data, numbering, self._target, self.custom_cls, of_edges)
        target = None if self._target is None else Target(self._target, self._host_way.way)
        cached = {} if served is None or target is None else {"cached": partial(_cache.rows_of, served, target)}
        with self._host_way.gathering():
            return self._maker.gather(out, target, on_host or {}, **cached)

    def _completes_in_loop(self) -> bool:
        """Whether the thread that iterates does what is Python alone: it would wait for the interpreter meanwhile."""
        return self._target is not None and isinstance(self.data, (Data, HeteroData))

    def _completed(self, batch: GatheredBatch) -> Any:
        assert self._maker is not None
        made = self._maker.complete(batch)
        self._finish(made, batch.out)
        if self._target is not None:
            made = _gather.all_on(self._target, made)
        elif self.pin_memory and torch.cuda.is_available():
            made = made.pin_memory()
        return made

    def collate_fn(self, index: Any) -> Any:
        """Sample the batch of some of the loader's inputs, for loaders that consist of others. Calls are counted, and
        the number of the call is the number of the batch.

        Parameters
        ----------
        index : array_like of int
            Positions in the loader's input.

        Returns
        -------
        Data or HeteroData, or, if not ``filter_per_worker``, the sampler's output
        """
        out = self._sample(_inputs.positions(index, "index", self._count).cpu(), None)
        return self.filter_fn(out) if self.filter_per_worker else out

    def filter_fn(self, out: Any) -> Any:
        """Make a batch of a sampler's output: adds attributes, and calls the user's functions.

        Parameters
        ----------
        out : SamplerOutput or HeteroSamplerOutput

        Returns
        -------
        Data or HeteroData
        """
        return self._last_step(out if self.transform_sampler_output is not None else self._filter(out))

    def _last_step(self, made: Any) -> Any:
        """Calls the user's functions, in the user's thread, since they may draw random numbers."""
        if self.transform_sampler_output is not None:
            made = self._filter(self.transform_sampler_output(made))
        return made if self.transform is None else self.transform(made)

    def __call__(self, index: Any, batch: int = 0) -> Any:
        """Make the batch of some of the loader's inputs.

        Parameters
        ----------
        index : array_like of int
            Positions in the loader's input.
        batch : int
            Number of the batch.

        Returns
        -------
        Data or HeteroData
        """
        return self.filter_fn(self._sample(_inputs.positions(index, "index", self._count).cpu(), batch))

    def _sampled(
        self, numbered: Iterator[tuple[int, Tensor]], held: Any, timeline: Timeline, pad: _padding.OutputPadder | None
    ) -> Iterator[tuple[int, Any, dict[Any, HostCopy]]]:
        """All batches of an epoch as the sampler makes them, or padded: number, output, the copies of `held` positions."""
        numbering = Numbering(self._engine.edge_permutation)
        for number, step, group in runs(numbered, self._bulk, self._ranks.world_size):
            with timeline.span("sample", number, len(group)):
                made = self._sample_many(group, number, step)
                if pad is not None:
                    made = [pad(out, number + i * step) for i, out in enumerate(made)]
                if self._target is not None and self.transform_sampler_output is None:
                    _gather.move_metadata(made, self._target)
                known = [_features.host_copies(out, numbering, held) for out in made]
            yield from zip(itertools.count(number, step), made, known)

    def _made(
        self, numbered: Iterator[tuple[int, Tensor]], at: Progress, timeline: Timeline, pad: _padding.OutputPadder | None
    ) -> Iterator[Any]:
        """All batches of an epoch, up to the steps that the prefetching threads do: on a GPU they only gather."""
        epoch, begin = at.epoch, at.batch
        unfiltered = self.transform_sampler_output is not None
        held = ([], []) if self._target is None or unfiltered else _features.held_on_host(self.data)
        sampled = self._sampled(numbered, held, timeline, pad)
        if unfiltered:
            yield from (out for _, out, _ in sampled)
            return
        if self.prefetch and (self._gathers or self._loop_gathers):  # what samples the next group doesn't wait for gathers
            sampled = _ahead(sampled, max(1, self._bulk // 2), [self._engine._stream], self._cores)
        num_made = 0
        for (number, out, on_host), served in self._served(sampled, epoch):
            with timeline.span("gather", number):
                done = self._gather(out, on_host, served)
                if not self._completes_in_loop():
                    done = done._replace(made=self._completed(done))
            num_made += 1
            yield done
        if self._in_step is not None:
            self._in_step.join(self._engine._engine(), self._length(), begin, num_made)

    def _served(self, sampled: Iterator[Any], epoch: int) -> Iterator[tuple[Any, ServedBatch | None]]:
        """The same, each with what the cache has of it."""
        if self._cache is None:
            return ((one, None) for one in sampled)
        return self._cache.served(sampled, lambda one: _cache.ids_of(one[1]), epoch, self.prefetch + _FIRST_STEPS)

    def _made_by_override(self, numbered: Iterator[tuple[int, Tensor]], timeline: Timeline) -> Iterator[Any]:
        """All batches of an epoch, made by the methods of a user's subclass."""
        for number, part in numbered:
            if self._ours:
                self._engine._calls = itertools.count(number)  # of the batch that gets no number
            with timeline.span("sample", number):
                made = self.collate_fn(part)
            if not self.filter_per_worker:
                with timeline.span("gather", number):
                    made = self.filter_fn(made)
            yield made

    def _get_iterator(self) -> Iterator[Any]:
        progress = self._begin_epoch()
        timeline = self._timeline
        self._host_way.begin()
        self._begin_worker()
        numbered = self._numbered(progress.epoch, progress.batch)
        if self._is_overridden():
            return self._counted(self._made_by_override(numbered, timeline), progress, timeline)
        padding = self._padding_of(progress.epoch)
        pad = None if padding is None else _padding.OutputPadder(padding, self)
        made = self._made(numbered, replace(progress), timeline, pad)
        # A foreign sampler may draw from Torch's generator, which other threads must not use at the same time.
        if self.prefetch and self._ours and not self._loop_gathers:
            own = [] if self._engine._stream is None else [self._engine._stream]
            made = _ahead(self._host_way.supplied(made), self.prefetch, self._gathers or own, self._cores, self._in_step is not None)
        if self.transform_sampler_output is None:
            made = map(self._completed if self._completes_in_loop() else itemgetter(0), made)
        if self.transform is not None or self.transform_sampler_output is not None:
            made = self._transformed(made, timeline)
        pace = [] if self._target is None or not self.prefetch else [_Pace(self._target)]
        return self._counted(self._host_way.watched(made), progress, timeline, *pace)

    def _transformed(self, made: Iterator[Any], timeline: Timeline) -> Iterator[Any]:
        for number, one in enumerate(made):
            with timeline.span("transform", number):
                done = self._last_step(one)
            yield done

    def __iter__(self) -> Iterator[Any]:
        return self._get_iterator()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def _ahead(
    made: Iterator[Any], depth: int, streams: list[Any], cores: frozenset[int] | None, steady: bool = False
) -> Iterator[Any]:
    """The same items, made by a thread, up to `depth` of them in advance; on a GPU on the thread's own streams in turn."""
    threads = torch.get_num_threads()  # a thread keeps the number that it began with
    if not streams:
        with closing(ahead(made, depth, cores, kind=threads, steady=steady)) as items:
            yield from (item for item, _ in items)
        return
    device = streams[0].device_index
    reader = torch.cuda.current_stream(device)
    for stream in streams:
        stream.wait_stream(reader)  # for features that the caller has just copied there
    flight = _Flight(streams)
    with closing(ahead(made, depth, cores, flight.begin, flight.mark, threads, steady)) as items:
        for item, event in items:
            current = torch.cuda.current_stream(device)
            current.wait_event(event)
            _keep(item, current)
            yield item


def _is_shared(data: Any) -> bool:
    """Whether several ranks have parts of the graph."""
    return isinstance(data, tuple) and isinstance(data[1], ShardedGraphStore)


class _Pace:
    """Keeps a loop from running ahead of its GPU by more than some steps, as one would whose steps are CUDA graphs: each batch
    that it is ahead has memory, and how long its steps take would be unknown."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._marks: deque[Any] = deque()  # behind the last steps

    def __call__(self) -> None:
        """Called behind a step."""
        if len(self._marks) < _AHEAD_OF_GPU:
            mark = torch.cuda.Event(blocking=True)
        else:
            mark = self._marks.popleft()
            mark.synchronize()
        mark.record(torch.cuda.current_stream(self._device))
        self._marks.append(mark)


class _Flight:
    """Items that a thread's streams still make, while the thread goes on with others: so few that their memory is bounded."""

    def __init__(self, streams: list[Any]) -> None:
        self._turns = itertools.cycle(streams)
        self._events: deque[Any] = deque()
        self._stream = next(self._turns)

    def begin(self) -> Any:
        """The thread's context."""
        return torch.cuda.stream(self._stream)

    def mark(self, item: Any) -> Any:
        """An event after the item. Waits for the item before the last one; the next item is of the next stream."""
        event = torch.cuda.Event(blocking=True)
        event.record(self._stream)
        self._events.append(event)
        if len(self._events) > _IN_FLIGHT:
            self._events.popleft().synchronize()
        following = next(self._turns)
        if following is not self._stream:
            self._stream = following
            torch.cuda.set_stream(following)
        return event


def _keep(item: Any, stream: Any) -> None:
    """The memory of an item's tensors isn't reused before the stream has read it."""
    if isinstance(item, GatheredBatch):
        out, values = item.out, item.values()
    else:
        out = item[1] if isinstance(item, tuple) else item  # behind its number: what was sampled
        values = iter(vars(out).values())
    lasting = lasting_of(out)
    for value in values:
        _gather.keep_for(stream, value, lasting)
