"""What a loader's cache does, batch by batch, with the host's bookkeeping in the place of a GPU's."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tendril
from tendril import ArgumentError, FeatureCache, OutOfMemoryError, _tendril
from tendril._cache import CacheSource, LoaderCache

NUM_ROWS = 200


class Step:
    def __init__(self, lists):
        self.missed, self.sources, *_ = lists

    def counts(self):
        return self.sources.size, self.missed.size, 0


class HostTables:
    """`CachedTables` on the host, without rows."""

    room = None  # rows that fit into memory

    def __init__(self, num_rows, num_slots, policy, window, device, stream):
        if self.room is not None and num_slots > self.room:
            raise OutOfMemoryError("no room")
        self.cache, self.num_slots, self.num_bytes = _tendril.RowCache(num_rows, num_slots, policy, window), num_slots, 0

    def add(self, reader, stream):
        self.num_bytes += 8 * self.num_slots

    def fill(self, rows, stream):
        self.cache.fill(rows)

    def fill_best(self, counts, stream):
        self.cache.fill(_tendril.best_rows(counts.counts, self.num_slots))

    def empty(self, stream):
        self.cache.fill(np.empty(0, np.int64))

    def serve(self, stream):
        return Step(self.cache.serve())

    def gather_at(self, table, step, out, stream, *way):
        pass

    def content(self, stream):
        return self.cache.content()


class HostCounts:
    def __init__(self, num_rows, device, stream):
        self.counts = np.zeros(num_rows)


class Table:
    nbytes = 8 * NUM_ROWS

    def __len__(self):
        return NUM_ROWS

    def _on_gpu(self, device):
        return None


def batches_of(epoch):
    draws = np.random.default_rng(epoch % 1000)
    return [np.unique((NUM_ROWS * draws.random(40) ** 2).astype(np.int64)) for _ in range(30)]


class Loader:
    """Makes the batches of an epoch, and gathers each before the next is asked for."""

    def __init__(self, settings, free_bytes=1 << 40, table=None):
        table = Table() if table is None else table
        self.held, self.version = object(), 0
        self.cache = LoaderCache(
            settings,
            CacheSource(
                device=0,
                tables=lambda: {None: {"x": (self.held, table)}},
                mark=lambda held: self.version,
                graph=lambda: (None, [None]),
                subject="the graph",
                epoch=lambda epoch: ({None: ids} for ids in batches_of(epoch)),
                see=lambda core, ids, stream: core.cache.see(ids),
                count=lambda counts, ids, stream: np.add.at(counts.counts, ids, 1),
                stream=lambda: 0,
                free_bytes=lambda: free_bytes,
                total_bytes=lambda: 0,
            ),
        )

    def epoch(self, number, most=None):
        """The batches' numbers, and whether the cache served each."""
        found = []
        for (i, _), served in self.cache.served(enumerate(batches_of(number)), lambda one: {None: one[1]}, number, 4):
            if served is not None:
                served.gather_at(None, "x", 0, 0, ("auto", 0))
            found.append((i, served is not None))
            if len(found) == most:
                break
        return found


@pytest.fixture(autouse=True)
def without_a_gpu(monkeypatch):
    monkeypatch.setattr(_tendril, "CachedTables", HostTables)
    monkeypatch.setattr(_tendril, "GpuRowCounts", HostCounts)
    monkeypatch.setattr(HostTables, "room", None)


@pytest.mark.parametrize("policy", ["lookahead", "lru", "exact", "presample", np.arange(NUM_ROWS), lambda graph: np.ones(NUM_ROWS)])
@pytest.mark.parametrize("window", [1, 4, 32])
def test_all_batches_come_in_order(policy, window):
    loader = Loader(FeatureCache(0.1, policy=policy, window=window))
    for number in range(3):
        assert loader.epoch(number) == [(i, True) for i in range(30)]
    rows = sum(ids.size for number in range(3) for ids in batches_of(number))
    assert loader.cache.hits + loader.cache.misses == rows
    assert loader.cache.num_rows == 20 and loader.cache.nbytes == 160
    assert "miss_rate=0." in repr(loader.cache)


def test_the_window_decides_and_nothing_else():
    """Batches are known in lockstep: as many ahead as the window has, whenever they were sampled."""
    loader, host = Loader(FeatureCache(0.1, window=5)), _tendril.RowCache(NUM_ROWS, 20, "lookahead", 5)
    loader.epoch(0)
    ids, hits = batches_of(0), 0
    for known in range(34):
        if known < 30:
            host.see(ids[known])
        if known >= 4:
            missed, sources, *_ = host.serve()
            hits += sources.size - missed.size
    assert loader.cache.hits == hits
    assert np.array_equal(loader.cache.content(), host.content().view(np.int32))


def test_lookahead_hits_more_than_any_other_policy():
    hits = {}
    for policy in ("lookahead", "exact", "presample", "lru"):
        loader = Loader(FeatureCache(0.1, policy=policy))
        loader.epoch(0)
        hits[policy] = loader.cache.hits
    assert hits["lookahead"] > hits["exact"] >= hits["presample"]
    assert hits["lookahead"] > hits["lru"]


def test_exact_counts_are_those_of_each_epoch():
    loader = Loader(FeatureCache(0.1, policy="exact"))
    for number in (0, 1):
        loader.epoch(number)
        counts = np.bincount(np.concatenate(batches_of(number)), minlength=NUM_ROWS)
        assert np.array_equal(loader.cache.content(), np.argsort(-counts, kind="stable")[:20])


def test_scores_are_asked_for_once():
    calls = []
    loader = Loader(FeatureCache(0.1, policy=lambda graph: calls.append(graph) or np.arange(NUM_ROWS)))
    for number in range(3):
        loader.epoch(number)
    assert calls == ["the graph"]
    assert np.array_equal(loader.cache.content(), np.arange(NUM_ROWS - 1, NUM_ROWS - 21, -1))


def test_scores_that_are_wrong_are_an_error_in_each_epoch():
    for policy in (np.arange(5), np.array(["high"] * NUM_ROWS), lambda graph: {"paper": [1]}, lambda graph: graph):
        loader = Loader(FeatureCache(0.1, policy=policy))
        for number in range(2):
            with pytest.raises(ArgumentError) as error:
                loader.epoch(number)
            assert "\n" not in str(error.value)


@pytest.mark.parametrize("policy", ["lookahead", "lru"])
def test_an_epoch_that_is_left_early_leaves_an_empty_cache(policy):
    loader, fresh = (Loader(FeatureCache(0.1, policy=policy, window=4)) for _ in range(2))
    loader.epoch(0, most=7)
    loader.epoch(1)
    fresh.epoch(1)
    assert np.array_equal(loader.cache.content(), fresh.cache.content())
    before = loader.cache.content()
    assert (before >= 0).all()
    loader.epoch(2)  # goes on from there
    fresh.epoch(2)
    assert np.array_equal(loader.cache.content(), fresh.cache.content())


def test_a_second_iteration_does_without():
    loader = Loader(FeatureCache(0.1, window=3))
    first = loader.cache.served(enumerate(batches_of(0)), lambda one: {None: one[1]}, 0, 4)
    assert next(first)[1] is not None
    assert loader.epoch(1) == [(i, False) for i in range(30)]
    first.close()
    assert loader.epoch(1) == [(i, True) for i in range(30)]


def test_rows_that_were_written_to_are_read_again():
    loader = Loader(FeatureCache(1.0, policy="lru"))
    loader.epoch(0)
    misses = loader.cache.misses
    loader.epoch(0)
    assert loader.cache.misses == misses  # all rows are there
    loader.version += 1
    loader.epoch(0)
    assert loader.cache.misses == 2 * misses


def test_a_cache_without_a_size_takes_what_the_first_batches_leave():
    loader = Loader(FeatureCache(), free_bytes=12 * NUM_ROWS + 8 * 50)
    assert loader.epoch(0) == [(i, i >= 4) for i in range(30)]
    assert loader.cache.num_rows == 50
    assert loader.epoch(1) == [(i, True) for i in range(30)]
    assert Loader(FeatureCache(), free_bytes=0).epoch(0)[-1] == (29, True)  # a cache of nothing


def test_an_epoch_shorter_than_the_first_steps():
    loader = Loader(FeatureCache())
    assert loader.epoch(0, most=3) == [(i, False) for i in range(3)]
    assert len(loader.epoch(1)) == 30


def test_a_size_of_its_own_is_halved_where_memory_runs_out(monkeypatch):
    monkeypatch.setattr(HostTables, "room", 60)
    loader = Loader(FeatureCache())
    with pytest.warns(UserWarning, match="the cache takes 25.0% of the rows, 100.0% were to fit$") as told:
        loader.epoch(0)
    assert len(told) == 1
    assert loader.cache.num_rows == 50
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loader.epoch(1)


def test_a_given_size_that_does_not_fit_is_an_error(monkeypatch):
    monkeypatch.setattr(HostTables, "room", 60)
    for settings in (FeatureCache(0.5), FeatureCache(bytes=8 * 100)):
        loader = Loader(settings)
        with pytest.raises(OutOfMemoryError):
            loader.epoch(0)
        monkeypatch.setattr(HostTables, "room", 200)
        assert len(loader.epoch(0)) == 30  # the error left nothing behind
        monkeypatch.setattr(HostTables, "room", 60)


def test_an_error_in_the_loop_ends_the_iteration():
    loader = Loader(FeatureCache(0.1, window=4))
    served = loader.cache.served(enumerate(batches_of(0)), lambda one: {None: one[1]}, 0, 4)
    next(served)
    with pytest.raises(RuntimeError):
        served.throw(RuntimeError("planted"))
    assert len(loader.epoch(0)) == 30


class RowsOnHost(HostTables):
    """The same with rows, in arrays."""

    def add(self, reader, stream):
        self.table, self.slots = reader, np.full((self.num_slots, *reader.shape[1:]), np.nan, np.float32)

    def fill(self, rows, stream):
        super().fill(rows, stream)
        self.slots[: len(rows)] = self.table.gather(rows)

    def fill_best(self, counts, stream):
        self.fill(_tendril.best_rows(counts.counts, self.num_slots), stream)

    def serve(self, stream):
        lists = self.cache.serve()
        step = Step(lists)
        step.lists = lists
        return step

    def gather_at(self, table, step, out, stream, *way):
        missed, sources, kept, kept_slots = step.lists
        new = self.table.gather(missed)
        out[:] = np.concatenate([self.slots, new])[sources]
        self.slots[kept_slots] = new[kept]


@pytest.mark.parametrize("policy", ["lookahead", "lru", "exact", "presample", np.arange(NUM_ROWS)])
def test_rows_of_a_mapped_file_are_cached(policy, tmp_path, monkeypatch):
    rows = np.random.default_rng(0).random((NUM_ROWS, 7), dtype=np.float32)
    np.save(tmp_path / "rows.npy", rows)
    mapped = tendril.read_features(tmp_path / "rows.npy")
    monkeypatch.setattr(_tendril, "CachedTables", RowsOnHost)
    monkeypatch.setattr(tendril.FeatureTable, "_on_gpu", lambda table, device: table)
    loader = Loader(FeatureCache(0.1, policy=policy, window=4), table=mapped)
    for number in range(3):
        for (_, ids), served in loader.cache.served(enumerate(batches_of(number)), lambda one: {None: one[1]}, number, 4):
            found = np.full((len(ids), 7), np.nan, np.float32)
            served.gather_at(None, "x", found, 0, ("auto", 0))
            assert np.array_equal(found, rows[ids])
    assert 0 < loader.cache.miss_rate < 1
