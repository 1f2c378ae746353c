"""Long calls let other threads run, and Ctrl-C ends them. Threads that work ahead of a loop end with it."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from contextlib import closing
from itertools import islice

import pytest
from threads_left import expect_none_left

import tendril
from tendril import _ahead
from tendril._ahead import ahead


@pytest.fixture(scope="module")
def long_call():
    """Much work in few bytes: each step reads 500 weights."""
    graph = tendril.generate.complete(501, weights=(1, 2))

    def call(num_walks):
        return tendril.random_walk(graph, [0] * num_walks, length=20, weighted=True, rule="scan", num_threads=1)

    return call


def test_the_gil_is_released(long_call):
    ticks = 0
    done = threading.Event()

    def tick():
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    started = time.perf_counter()
    before = ticks
    long_call(10_000)
    seconds, ticked = time.perf_counter() - started, ticks - before
    done.set()
    thread.join()
    assert seconds > 0.05  # long enough to mean anything
    assert ticked > seconds / 0.02  # were the GIL held, there would be one tick or none


@pytest.fixture
def hears_interrupts():
    """A runner in the background may have been told to ignore SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_a_call(long_call, hears_interrupts):
    calling = threading.main_thread().ident
    timer = threading.Timer(0.3, lambda: signal.pthread_kill(calling, signal.SIGINT))
    timer.start()
    started = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        long_call(500_000)
    assert time.perf_counter() - started < 2
    timer.join()


def test_calls_in_parallel_agree(graph):
    expected, _ = tendril.random_walk(graph, length=50, weighted=True, seed=1)
    results = []

    def work():
        results.append(tendril.random_walk(graph, length=50, weighted=True, seed=1)[0])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((walks == expected).all() for walks in results)
    assert len(results) == 8


def in_two_threads(count, depth=2):
    """Numbers that one thread makes, and another doubles."""

    def doubled():
        with closing(ahead(iter(range(count)), depth)) as numbers:
            for number, _ in numbers:
                if number == 500:
                    raise ArithmeticError("500 can't be doubled")
                yield 2 * number

    return ahead(doubled(), depth)


def test_items_pass_through_two_threads():
    before = threading.active_count()
    assert [one for one, _ in in_two_threads(300)] == [*range(0, 600, 2)]
    expect_none_left(before)


@pytest.mark.parametrize("taken", [0, 1, 100])
def test_closed_early_both_threads_have_ended(taken):
    before, made = threading.active_count(), in_two_threads(400)
    assert [one for one, _ in islice(made, taken)] == [*range(0, 2 * taken, 2)]
    made.close()
    expect_none_left(before)


def test_an_error_in_a_thread_ends_both():
    before, found = threading.active_count(), []
    with pytest.raises(ArithmeticError, match="500 can't be doubled"):
        found.extend(one for one, _ in in_two_threads(10**9))
    assert found == [*range(0, 1000, 2)]
    expect_none_left(before)


def makers(count, **options):
    """The thread that made each item."""
    return [one for one, _ in ahead((threading.get_ident() for _ in range(count)), 2, **options)]


def test_the_next_iteration_has_the_same_thread():
    found = {one for _ in range(20) for one in makers(3)}
    assert len(found) == 1 and threading.get_ident() not in found
    with closing(ahead(iter(range(9)), 2)) as first:  # while its thread is at work, another iteration has another one
        assert next(first) == (0, None)
        assert makers(1) != [*found]
    with pytest.raises(ZeroDivisionError):
        list(ahead((1 // one for one in (1, 0)), 2))
    assert len({*makers(1), *makers(1)}) == 1


def test_threads_of_other_settings_are_others():
    cores = frozenset([min(os.sched_getaffinity(0))])
    plain, of_kind, on_core = makers(1), makers(1, kind=3), makers(1, cores=cores)
    assert len({*plain, *of_kind, *on_core}) == 3
    assert (makers(1), makers(1, kind=3), makers(1, cores=cores)) == (plain, of_kind, on_core)
    assert next(ahead(iter([0]), 1, cores, mark=lambda _: os.sched_getaffinity(0)))[1] == cores
    assert next(ahead(iter([0]), 1, mark=lambda _: os.sched_getaffinity(0)))[1] == os.sched_getaffinity(0)


def test_an_idle_thread_holds_nothing_and_ends(monkeypatch):
    monkeypatch.setattr(_ahead, "_IDLE_SECONDS", 3.0)  # longer than a busy machine takes for the next lines

    class Item:
        pass

    seen = [weakref.ref(item) for item, _ in ahead((Item() for _ in range(5)), 2)]
    waiting = list(_ahead._idle)
    gc.collect()
    assert waiting and not any(one() for one in seen)
    for thread in waiting:
        thread.join()
    assert not _ahead._idle


def test_many_threads_do_not_wait_for_work():
    before = threading.active_count()
    open_ones = [ahead(iter(range(9)), 2) for _ in range(_ahead._MOST_IDLE + 5)]
    assert [next(one) for one in open_ones] == [(0, None)] * len(open_ones)
    for one in open_ones:
        one.close()
    assert len(_ahead._idle) <= _ahead._MOST_IDLE
    expect_none_left(before)


def test_the_interpreter_does_not_wait_for_idle_threads():
    script = """
import time
from tendril import _ahead
_ahead._IDLE_SECONDS = 60.0
for _ in range(2):
    assert [one for one, _ in _ahead.ahead(iter(range(9)), 2)] == [*range(9)]
rest = _ahead.ahead(iter(range(9)), 2)
next(rest)
"""
    begin = time.monotonic()
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "") and time.monotonic() - begin < 50


def test_the_interpreter_ends_a_thread_that_waits_for_another():
    script = """
import time
from tendril._ahead import ahead
def slow():
    for i in range(100):
        time.sleep(0.5)
        yield i
def passed_on():
    yield -1
    for i, _ in ahead(slow(), 2):
        yield i
rest = ahead(passed_on(), 2)
next(rest)
time.sleep(0.2)  # now both threads are at work: one sleeps, the other waits for it
"""
    begin = time.monotonic()
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "") and time.monotonic() - begin < 40


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("taken", [0, 1, 4, 18, 19, 20])
def test_a_steady_thread_makes_as_many_items_whenever_it_is_left(depth, taken):
    for hurry in (0, 0.002):
        made = []

        def items(made=made):
            for i in range(20):
                made.append(i)
                yield i
                time.sleep(hurry)
            made.append("end")

        with closing(ahead(items(), depth, steady=True)) as some:
            assert [item for item, _ in islice(some, taken)] == list(range(taken))
        # What it makes before the first item is asked for can't be told apart from that it never began.
        expected = [] if taken == 0 else list(range(min(taken + depth + 1, 20)))
        assert made == (expected if taken + depth + 1 <= 20 else [*expected, "end"])
