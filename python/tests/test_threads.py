"""Long calls let other threads run, and Ctrl-C ends them. Threads that work ahead of a loop end with it."""

from __future__ import annotations

import signal
import threading
import time
from contextlib import closing
from itertools import islice

import pytest

import tendril
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
    assert threading.active_count() == before


@pytest.mark.parametrize("taken", [0, 1, 100])
def test_closed_early_both_threads_have_ended(taken):
    before, made = threading.active_count(), in_two_threads(400)
    assert [one for one, _ in islice(made, taken)] == [*range(0, 2 * taken, 2)]
    made.close()
    assert threading.active_count() == before


def test_an_error_in_a_thread_ends_both():
    before, found = threading.active_count(), []
    with pytest.raises(ArithmeticError, match="500 can't be doubled"):
        found.extend(one for one, _ in in_two_threads(10**9))
    assert found == [*range(0, 1000, 2)]
    assert threading.active_count() == before
