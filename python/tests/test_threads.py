"""Long calls let other threads run, and Ctrl-C ends them."""

from __future__ import annotations

import signal
import threading
import time

import pytest

import tendril


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
