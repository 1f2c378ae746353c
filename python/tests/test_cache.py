"""What can be asked of a cache of features, who can have one, and the bookkeeping on the host, without a GPU."""

from __future__ import annotations

import itertools
import math
import os
from array import array

import numpy as np
import pytest

import tendril
from tendril import ArgumentError, FeatureCache, _tendril
from tendril._host_way import (
    _EARLY,
    _MOST_OF_GPU,
    _REST,
    _SETTLING,
    _STEADY,
    HostWay,
    _threads_beside_training,
)


def line(call, *arguments, **options):
    with pytest.raises(ArgumentError) as error:
        call(*arguments, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_what_is_asked_for_is_kept():
    cache = FeatureCache(0.25, policy="lru", window=3)
    assert (cache.ratio, cache.bytes, cache.policy, cache.policy_name, cache.window) == (0.25, None, "lru", "lru", 3)
    assert repr(cache) == "FeatureCache(ratio=0.25, policy='lru', window=3)"
    assert repr(FeatureCache(bytes=10, policy=np.ones(3))) == "FeatureCache(bytes=10, policy='scores', window=16)"
    assert FeatureCache(np.float32(0.5)).ratio == 0.5


def test_what_is_out_of_range_is_named():
    assert line(FeatureCache, 0.1, bytes=5) == "ratio and bytes are given, expected one of them, or none"
    for wrong in (0, -0.5, 1.5, "half", float("nan"), True):
        assert "expected a number in (0, 1]" in line(FeatureCache, wrong)
    assert line(FeatureCache, bytes=-1) == "bytes is -1, expected 0 or more"
    assert "expected 1 to 32" in line(FeatureCache, 0.1, window=33)
    assert "expected 1 to 32" in line(FeatureCache, 0.1, window=0)
    assert "'lookahead', 'exact'" in line(FeatureCache, 0.1, policy="lookback")
    for wrong in (None, 3, True, object(), b"lru", {1, 2}, iter([1, 2]), np.float32(2), np.array(2)):
        assert "expected a name, an array of scores or a function" in line(FeatureCache, 0.1, policy=wrong)
    found = line(FeatureCache, 0.1, policy={"paper": [1, 2], "author": 3})
    assert found == "policy['author'] is 3, expected an array of scores"


def test_whatever_holds_scores_is_taken():
    scores = ([1, 2], (1, 2), np.ones(2), memoryview(np.ones(2)), array("d", [1, 2]), {"paper": np.ones(2)}, {}, len)
    for policy in scores:
        assert FeatureCache(0.1, policy=policy).policy_name == "scores"


def test_loaders_on_the_cpu_have_none():
    graph = tendril.generate.ring(20)
    sampler = tendril.MinibatchSampler(graph, [2])
    assert "the sampler is on the CPU" in line(tendril.Pipeline, sampler, [1, 2], cache=FeatureCache(0.1))
    assert line(tendril.Pipeline, sampler, [1], cache=1) == "cache is a int, expected a FeatureCache"
    assert tendril.Pipeline(sampler, [1, 2]).cache is None


def test_pyg_loaders_on_the_cpu_have_none():
    pytest.importorskip("torch_geometric")
    from pyg_checks import homogeneous

    from tendril.pyg import NeighborLoader

    assert "made on the CPU" in line(NeighborLoader, homogeneous(), [2], cache=FeatureCache(0.1))
    assert line(NeighborLoader, homogeneous(), [2], cache="all") == "cache is a str, expected a FeatureCache"
    assert NeighborLoader(homogeneous(), [2]).cache is None


def test_the_bookkeeping_on_the_host():
    cache = _tendril.RowCache(10, 2, "lookahead", 3)
    for batch in ([3, 1, 2], [4, 3], [2]):
        cache.see(np.array(batch))
    missed, sources, kept, slots = cache.serve()
    assert (missed.tolist(), sources.tolist()) == ([3, 1, 2], [2, 3, 4])
    assert missed[kept].tolist() == [3, 2]  # the soonest, of which there is room for two
    assert cache.content()[slots].tolist() == [3, 2]
    missed, sources, *_ = cache.serve()
    assert (missed.tolist(), sources.tolist()) == ([4], [2, 0])  # the first missed row, and slot 0
    assert line(cache.see, np.array([10])) == "ids[0] is 10, expected 0 to 9"
    assert line(_tendril.RowCache, 5, 9, "lru", 1) == "a cache of 9 slots, expected 0 to 5, the number of rows"


def test_scores_of_a_graph():
    graph = tendril.Graph.from_coo([0, 0, 3, 1], [1, 2, 1, 1], num_vertices=5)
    core = _tendril.HeteroGraph.of_one(graph._core, None)
    assert _tendril.neighbor_counts(core, 1)[0].tolist() == [0, 3, 1, 0, 0]
    ranks = _tendril.pageranks(core, 20, 1)[0]
    assert ranks.argmax() == 1
    assert _tendril.best_rows(ranks, 2)[0] == 1


# The way of host rows: a loop whose period with each way is given, in steps of its clock


def chosen(periods, batches=2000, restart=None):
    """The way that is kept, and how many batches it took."""
    clock = [0]
    way = HostWay(True, trial=TRIAL, clock=lambda: clock[0])
    way.begin()

    def loop():
        for number in range(batches):
            if restart is not None and number % restart == 0:
                way.begin()
            with way.gathering():
                pass
            if way.is_chosen:
                return
            clock[0] += periods[way.way(1 << 30).share] + (1000 if number == 0 else 0)  # the first batch is slow
            yield number

    made = list(way.watched(loop()))
    return way.share, made[-1] + 1 if way.is_chosen else None


TRIAL = 24


@pytest.mark.parametrize(
    ("periods", "expected"),
    [
        ({"cpu": 10, "gpu": 11}, "cpu"),
        ({"cpu": 12, "gpu": 9}, "gpu"),
        ({"cpu": 1000, "gpu": 998}, "cpu"),  # gains too small to tell from noise
    ],
)
def test_the_way_with_which_the_loop_is_quicker_is_kept(periods, expected):
    way, taken = chosen(periods)
    assert way == expected
    assert taken is not None and taken <= 4 * (_SETTLING + TRIAL + 1)


QUEUE = 8  # batches by which a host may be ahead of its stream


@pytest.mark.parametrize(
    ("of_host", "of_stream", "expected"),
    [
        ({"cpu": 70, "gpu": 50}, {"cpu": 52, "gpu": 60}, "gpu"),  # the stream catches up on the CPU's way
        ({"cpu": 45, "gpu": 60}, {"cpu": 77, "gpu": 52}, "gpu"),  # on which the host gets ahead here
        ({"cpu": 45, "gpu": 46}, {"cpu": 52, "gpu": 60}, "cpu"),
    ],
)
def test_a_host_that_is_ahead_of_its_stream_misleads_no_trial(of_host, of_stream, expected):
    now = {"host": 0, "stream": 0}
    way = HostWay(True, lambda: now["stream"], lambda first, last: last - first, TRIAL, lambda: now["host"])
    way.begin()

    def loop():
        for number in range(2000):
            with way.gathering():
                pass
            if way.is_chosen:
                return
            share = way.way(1 << 30).share
            now["host"] = max(now["host"] + of_host[share], now["stream"] - QUEUE * of_stream[share])
            now["stream"] = max(now["stream"], now["host"]) + of_stream[share]
            yield number

    for _ in way.watched(loop()):
        pass
    assert way.is_chosen and way.share == expected


def test_trials_lie_within_one_iteration():
    assert chosen({"cpu": 9, "gpu": 5}, restart=_SETTLING + TRIAL - 1)[1] is None
    assert chosen({"cpu": 9, "gpu": 5}, restart=_SETTLING + TRIAL + 2)[0] == "gpu"


MOST_THREADS = 12


@pytest.fixture(autouse=True)
def cores(monkeypatch):
    monkeypatch.setattr("tendril._host_way._threads_beside_training", lambda: MOST_THREADS)


ROWS = 1000


class Told:
    """A meter that is read as often as gathers are told."""

    def __init__(self):
        self.next = (0, 0, 0)

    def take(self):
        told, self.next = self.next, (0, 0, 0)
        return told


def shares(of_cpu, step=5.7, of_gpu=0.75, between=0.3, batches=400, pauses=(), of_reads=0.0, of_copies=0.0):
    """The GPU's part and the CPU's threads, batch by batch, and when the loop got the batch. A thread gathers all rows of batch i
    with all threads in of_cpu(i), and for `between` does something else; it is up to two batches ahead of the loop, which works
    `step` on a batch, and of_gpu more if the GPU reads all of its rows. pauses: of the loop, by the batch before. Of all rows
    the GPU's reads take of_reads, and copies of those that the CPU gathers of_copies; a gather waits for both of the one before."""
    clock, found, put, free, taken, pauses = [0.0], [], [], [], [], dict(pauses)
    told = Told()
    way = HostWay(True, clock=lambda: int(clock[0] * 1e6), meter=told)
    way.choose("cpu")
    way.begin()
    handed = way.watched(itertools.count())

    def take_next(until):
        """Whether the loop gets its next batch by then."""
        i = len(taken)
        if i == len(put):
            return False
        work = step + of_gpu * found[i - 1][0] + pauses.get(i - 1, 0) if i else 0
        time = max(put[i], (taken[-1] if i else 0) + work)
        if time > until:
            return False
        clock[0] = time
        next(handed)
        taken.append(time)
        return True

    def take(until):
        while take_next(until):
            pass

    def take_until_it_has(i):
        while len(taken) <= i:
            assert take_next(math.inf)

    def made():
        time = there = 0.0
        for i in range(batches):
            time += between
            take(time)
            clock[0] = time
            with way.gathering():
                found.append((way.gpu_part, way.num_threads))
                time = max(time, there)
                work = (1 - way.gpu_part) * of_cpu(i) * MOST_THREADS / way.num_threads
                there = time + max(way.gpu_part * of_reads, (1 - way.gpu_part) * of_copies)
                time += work
                told.next = int(work * 1e6), ROWS - int(way.gpu_part * ROWS), int(way.gpu_part * ROWS)
                take(time)
                clock[0] = time
            if i >= 2:  # there is room as soon as the loop has taken that one
                take_until_it_has(i - 2)
            free.append(max(time, taken[i - 2]) if i >= 2 else time)
            put.append(max(free[-1], there))
            clock[0] = time
            yield i
            time = free[-1]

    for _ in way.supplied(made()):
        take(free[-1])
        clock[0] = free[-1]
    take(math.inf)
    return found, taken


def parts(of_cpu, later=None, batches=400, **options):
    found, _ = shares(lambda i: of_cpu if later is None or i < batches // 2 else later, batches=batches, **options)
    return [part for part, _ in found]


def period(of_cpu, last=100, **options):
    """Of the loop, in its last batches, as it is with as many threads as are chosen, and with all."""
    _, taken = shares(of_cpu, **options)
    return (taken[-1] - taken[-1 - last]) / last


def balanced(of_cpu, step=5.7, of_gpu=0.75):
    """The part with which the CPU is done in .92 of the loop's period."""
    return max(0, (of_cpu - _EARLY * step) / (of_cpu + _EARLY * of_gpu))


@pytest.mark.parametrize(("of_cpu", "batches"), [(1, 1), (5, 1), (5.5, 30), (7, 40), (12, 100), (40, 200)])
def test_the_gpu_reads_what_the_cpu_has_no_time_for(of_cpu, batches):
    found = parts(of_cpu)
    assert found[0] == 0
    assert found[batches:] == pytest.approx([balanced(of_cpu)] * (400 - batches), abs=0.02)


def test_the_part_follows_a_host_that_gets_busy_and_calms_down():
    busy, calm = parts(5, later=9), parts(9, later=5)
    assert busy[199] == 0 and busy[-1] == pytest.approx(balanced(9), abs=0.01)
    assert calm[199] == pytest.approx(balanced(9), abs=0.01) and calm[-1] == 0


@pytest.mark.parametrize(("of_cpu", "of_reads"), [(15, 13), (15, 30), (9, 13), (30, 30), (6, 40)])
def test_the_gpu_reads_no_more_than_it_has_time_for(of_cpu, of_reads):
    """Where neither side is done in time, both end together; a gather also waits for the GPU's reads of the one before."""
    found = parts(of_cpu, of_reads=of_reads)
    best = of_cpu / (of_cpu + of_reads)  # with which both end together
    assert found[-1] < best + 0.05
    alone = period(lambda i: of_cpu, of_reads=of_reads, step=0)
    assert alone < 1.1 * best * of_reads + 0.3


def test_copies_that_are_too_slow_are_left_to_the_copy_engine():
    """The GPU's reads take the same bus."""
    assert parts(5, of_copies=9)[-1] == 0


def test_a_gpu_that_cannot_read_the_rows_is_asked_once():
    told = Told()
    way = HostWay(True, meter=told)
    way.begin()
    with way.gathering():
        told.next = 5, ROWS, 0
    assert not way.is_chosen and way.gpu_part == 0
    way._shares.gpu_part = 0.5
    with way.gathering():
        told.next = 5, ROWS, 0
    assert way.is_chosen and way.told() == "cpu, 12 threads"
    way.share, way._is_chosen = "gpu", False  # on trial
    with way.gathering():
        told.next = 5, ROWS, 0
    assert way.is_chosen and way.told() == "cpu, 12 threads"


@pytest.mark.parametrize(("of_cpu", "threads"), [(0.1, 1), (0.45, 3), (1.1, 7), (1.4, 9), (4, 12), (9, 12)])
def test_there_are_as_many_threads_as_leave_the_thread_rest(of_cpu, threads):
    found, taken = shares(lambda i: of_cpu)
    assert [count for _, count in found[:_STEADY]] == [MOST_THREADS] * _STEADY
    assert {count for _, count in found[-100:]} == {threads}
    room = (1 - _REST) * 5.7 - 0.3
    assert threads == min(MOST_THREADS, math.ceil(MOST_THREADS * of_cpu / room))
    assert of_cpu > _EARLY * 5.7 or not any(part for part, _ in found)


def test_all_threads_are_at_work_before_the_gpu_reads():
    found, _ = shares(lambda i: 1.1 if i < 200 else 9)
    assert found[199] == (0, 7)
    assert all(threads == MOST_THREADS for part, threads in found if part > 0) and any(part > 0 for part, _ in found)
    assert found[-1] == (pytest.approx(balanced(9), abs=0.01), MOST_THREADS)
    found, _ = shares(lambda i: 9 if i < 200 else 1.1)
    assert found[199] == (pytest.approx(balanced(9), abs=0.01), MOST_THREADS) and found[-1] == (0, 7)


@pytest.mark.parametrize("between", [0.3, 0.6, 1.5, 3])
@pytest.mark.parametrize(("first", "later"), [(1, 1), (1, 2.6), (2, 1), (0.5, 4)])
def test_no_loop_waits_longer_than_it_would_with_all_threads(between, first, later, monkeypatch):
    """Whatever else the thread does between two gathers."""
    options = {"step": 5.3, "between": between}
    found = period(lambda i: first if i < 200 else later, **options)
    monkeypatch.setattr("tendril._host_way._REST", 2)  # more than there is: all threads
    assert found == pytest.approx(period(lambda i: first if i < 200 else later, **options), rel=0.01)


@pytest.mark.parametrize("of_cpu", [2.5, 9])
@pytest.mark.parametrize("pause", [300, 10_000])
def test_a_loop_that_pauses_is_no_slower_afterwards(of_cpu, pause):
    calm, when = shares(lambda i: of_cpu)
    found, taken = shares(lambda i: of_cpu, pauses={200: pause})
    assert found[:200] == calm[:200]
    assert min(threads for _, threads in found) >= min(threads for _, threads in calm) - 1
    assert [part for part, _ in found[240:]] == pytest.approx([part for part, _ in calm[240:]], abs=0.02)
    assert taken[-1] - taken[201] == pytest.approx(when[-1] - when[201], rel=0.01)


def test_threads_that_were_too_few_are_not_tried_again():
    """Gathers that take five times as long at times, as on a host with other work."""
    found, _ = shares(lambda i: 5 if i % 60 < 6 else 1, batches=900)
    late, threads = set(), [count for _, count in found]
    for before, after in zip(threads, threads[1:], strict=False):
        if after == MOST_THREADS > before:
            late.add(before)
        assert after > max(late, default=0)
    assert late


def test_a_loop_whose_thread_never_rests_keeps_few_times():
    """Where nobody tells of rests, as in loops that gather themselves, an iteration without end must not grow."""
    clock = itertools.count(0, 1_000_000)
    told = Told()
    way = HostWay(True, clock=lambda: next(clock), meter=told)
    way.choose("cpu")
    way.begin()
    for _ in way.watched(iter(range(1000))):
        with way.gathering():
            told.next = 500_000, ROWS, 0
    assert len(way._shares._gathers) == _STEADY and way.num_threads == MOST_THREADS


def test_the_shares_are_told():
    way = HostWay(True)
    assert way.told() == "cpu, 12 threads"
    way._shares.gpu_part = 0.125
    assert way.told() == "cpu, 12 threads, gpu 12 %"
    way.choose("gpu")
    assert way.told() == "gpu"
    assert HostWay(False).told() == "auto"


def test_a_gpu_that_does_nothing_else_reads_most_of_what_a_slow_cpu_would():
    assert parts(1000, step=0, of_gpu=0)[-1] == _MOST_OF_GPU
    assert 0 < parts(5, step=0, of_gpu=0)[-1] < _MOST_OF_GPU, "the CPU's threads take their share"


def test_a_loader_that_does_not_work_ahead_takes_the_quickest_gather():
    way = HostWay(works_ahead=False)
    way.begin()
    assert list(way.watched(iter(range(300)))) == [*range(300)]
    assert way.way(1 << 30)[:3] == ("auto", 0, 0)


def test_training_keeps_a_quarter_of_the_cores():
    cores = len(os.sched_getaffinity(0))
    assert 1 <= _threads_beside_training() <= max(1, cores - cores // 4)


def test_small_gathers_wake_no_threads():
    way = HostWay(works_ahead=True)
    assert way.way(1 << 30)[::2] == ("cpu", 0)
    assert way.way(1 << 30).num_threads == MOST_THREADS
    assert way.way(1000).share == "gpu"
