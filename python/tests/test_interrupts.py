"""Ctrl-C ends every long call soon, and leaves the library as it was."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import calls
import tendril
from tendril import _tendril


@pytest.fixture(scope="module")
def large():
    """A graph with work in it, of every kind."""
    return tendril.generate.rmat(
        14, 8, symmetrize=True, drop_duplicates=True, weights=(1, 5), num_labels=3, num_node_types=2, seed=1
    )


def looks_of(call):
    before = _tendril.signal_looks()
    call()
    return _tendril.signal_looks() - before


def long_calls(g):
    """By name: a call of much work by one thread, and the least number of times that it looks for signals."""
    v = g.num_vertices
    every = np.arange(v)
    rows = every[: v // 16 * 16].reshape(-1, 16)
    one = {"num_threads": 1}
    source, target = np.repeat(every, np.diff(g.indptr)), g.indices
    walk, application = tendril.CustomWalk(calls.WALK, bonus=1.0), tendril.Application(calls.APPLICATION, fanout=4)
    return {
        "random_walk": (lambda: tendril.random_walk(g, length=20, **one), 50),
        "random_walk, weighted": (lambda: tendril.random_walk(g, length=20, weighted=True, **one), 50),
        "random_walk, ragged": (lambda: tendril.random_walk(g, length=20, order="ragged", **one), 50),
        "node2vec_walk": (lambda: tendril.node2vec_walk(g, length=20, p=2, q=0.5, **one), 50),
        "metapath_walk": (lambda: tendril.metapath_walk(g, None, [0, 1, 2], 20, **one), 50),
        "multidim_walk": (lambda: tendril.multidim_walk(g, rows, 20, **one), 4),
        "dynamic_walk": (lambda: tendril.dynamic_walk(g, None, 5, walk, **one), 20),
        "khop_sample": (lambda: tendril.khop_sample(g, every, [5, 5], **one), 8),
        "neighbor_sample": (lambda: tendril.neighbor_sample(g, every, [5, 5], **one), 20),
        "induced batches": (lambda: tendril.neighbor_sample(g, every, [5], subgraph_type="induced", **one), 20),
        "sample_batches": (lambda: tendril.MinibatchSampler(g, [5, 5], **one).sample_batches(every, 64), 200),
        "LABOR": (lambda: tendril.MinibatchSampler(g, [5], choice="labor", **one).sample(every), 50),
        "labor_sample": (lambda: tendril.labor_sample(g, every, [5, 5], **one), 50),
        "layer_sample": (lambda: tendril.layer_sample(g, rows, 16, 64, **one), 20),
        "application": (lambda: application.sample(g, every, **one), 20),
        "fastgcn_sample": (lambda: tendril.fastgcn_sample(g, rows, 2, 16, **one), 10),
        "ladies_sample": (lambda: tendril.ladies_sample(g, rows, 2, 16, **one), 10),
        "mvs_sample": (lambda: tendril.mvs_sample(g, None, 2000, 8, **one), 20),
        "shadow_sample": (lambda: tendril.shadow_sample(g, every, 1, 4, **one), 20),
        "induced_subgraphs": (lambda: tendril.induced_subgraphs(g, rows, **one), 20),
        "saint_node_sample": (lambda: tendril.saint_node_sample(g, 100, 500, **one), 50),
        "saint_edge_sample": (lambda: tendril.saint_edge_sample(g, 100, 500, **one), 50),
        "saint_walk_sample": (lambda: tendril.saint_walk_sample(g, 100, 500, **one), 50),
        "saint_coefficients": (lambda: tendril.saint_coefficients(g, 100, budget=500, **one), 50),
        "cluster_vertices": (lambda: tendril.cluster_vertices(g, 9, method="random", **one), 3),
        "cluster_sample": (lambda: tendril.cluster_sample(g, every % 64, 4, **one), 4),
        "segment_multinomial": (
            lambda: tendril.segment_multinomial(g.indptr, g.weights, every, 4, **one),
            50,
        ),
        "negatives": (lambda: tendril.NegativeSampler(v, **one).draw(1 << 20), 4),
        "count_visits": (lambda: tendril.count_visits(g, length=20, **one), 4),
        "from_coo": (lambda: tendril.Graph.from_coo(source, target, symmetrize=True, **one), 5),
        "rebuild": (lambda: g.rebuild(reverse=True, **one), 5),
        "renumber": (lambda: g.renumber("llp", **one), 20),
        "compress": (lambda: g.compress("auto", **one), 10),
        "validate": (lambda: tendril.Graph.from_csr(g.indptr, g.indices, **one), 2),
        "rmat": (lambda: tendril.generate.rmat(16, 16, symmetrize=True, **one), 8),
        "web": (lambda: tendril.generate.web(1 << 16, 8, **one), 4),
    }


def test_every_long_call_looks_for_signals_while_it_works(large):
    found = {name: looks_of(call) for name, (call, _) in long_calls(large).items()}
    wanted = {name: least for name, (_, least) in long_calls(large).items()}
    assert {name: (looks, wanted[name]) for name, looks in found.items() if looks < wanted[name]} == {}


def test_more_work_brings_more_looks(large):
    every = np.arange(large.num_vertices)
    for work in (
        lambda n: tendril.fastgcn_sample(large, np.tile(every, n)[: n * 4096].reshape(-1, 16), 2, 16, num_threads=1),
        lambda n: tendril.saint_coefficients(large, 20 * n, budget=100, num_threads=1),
        lambda n: tendril.random_walk(large, np.tile(every, n), 10, num_threads=1),
    ):
        work(1)  # makes the tables
        assert looks_of(lambda: work(8)) > 2 * looks_of(lambda: work(1))


class Stopped(Exception):
    """What the handler of a signal raises."""


@pytest.fixture
def alarm():
    """Signals come after 60 ms, when calls look every 50."""

    def stop(*_):
        raise Stopped

    before = signal.signal(signal.SIGALRM, stop)
    yield lambda: signal.setitimer(signal.ITIMER_REAL, 0.06)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_objects_are_usable_after_they_were_stopped(large, alarm):
    """A batch that was stopped anywhere leaves nothing behind in the sampler of the next one."""
    every = np.arange(large.num_vertices)
    for options in ({}, {"choice": "labor"}, {"subgraph_type": "induced"}, {"disjoint": True}, {"weighted": True}):
        fresh = tendril.MinibatchSampler(large, [8, 4], num_threads=1, **options)
        used = tendril.MinibatchSampler(large, [8, 4], num_threads=1, **options)
        stopped = 0
        for attempt in range(30):
            alarm()
            try:
                for number in range(100):
                    used.sample(every, batch=number)
            except Stopped:
                stopped += 1
            assert attempt >= 0
            if stopped == 3:
                break
        assert stopped == 3
        a, b = fresh.sample([5, 9], batch=3), used.sample([5, 9], batch=3)
        for name in ("row", "col", "node", "edge"):
            assert np.array_equal(getattr(a, name), getattr(b, name)), (options, name)


def test_tables_are_whole_after_their_making_was_stopped(alarm):
    graph = tendril.generate.rmat(17, 16, weights=(1, 5), seed=4)
    expected = tendril.ladies_sample(graph, [[1, 2, 3]], 2, 50).vertices
    stopped = 0
    for _ in range(30):
        graph.drop_tables()
        alarm()
        try:
            while True:
                tendril.ladies_sample(graph, [[1, 2, 3]], 2, 50)
                graph.drop_tables()
        except Stopped:
            stopped += 1
        if stopped == 5:
            break
    assert stopped == 5
    assert np.array_equal(tendril.ladies_sample(graph, [[1, 2, 3]], 2, 50).vertices, expected)


ENDLESS = {  # minutes of work each, in little memory
    "rmat": "tendril.generate.rmat(24, 16)",
    "saint_coefficients": "tendril.saint_coefficients(graph, 2_000_000, budget=2000)",
    "fastgcn": "tendril.fastgcn_sample(graph, np.zeros((200_000, 4), int), 5, 400)",
    "ladies": "tendril.ladies_sample(graph, np.zeros((500_000, 4), int), 5, 64)",
    "mvs": "tendril.mvs_sample(graph, None, 2_000_000, 64)",
    "labor": "tendril.labor_sample(graph, np.arange(graph.num_vertices), [50] * 2000)",
    "shadow": "tendril.shadow_sample(graph, np.tile(np.arange(graph.num_vertices), 50), 2, 20)",
    "walks": "tendril.node2vec_walk(graph, np.arange(1500), length=100_000, p=0.25, q=4.0, num_threads=2)",
    "plan": "tendril.count_visits(graph, num_samples=2**31, length=1000)",
}


def told_after_ctrl_c(call, **environment):
    """What a process prints that gets SIGINT half a second into a call; it then uses the library once more."""
    script = textwrap.dedent(f"""
        import signal, threading
        import numpy as np
        import tendril
        signal.signal(signal.SIGINT, signal.default_int_handler)
        graph = tendril.generate.rmat(16, 8, symmetrize=True, drop_duplicates=True, weights=(1, 5))
        threading.Timer(0.5, lambda: print("ready", flush=True)).start()
        try:
            {call}
        except KeyboardInterrupt:
            walks, _ = tendril.random_walk(graph, [1, 2], length=5)
            print("interrupted", walks.shape, flush=True)
    """)
    child = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )
    try:
        assert child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGINT)
        told, _ = child.communicate(timeout=60)  # far less than the call, far more than the second that it may take
    finally:
        child.kill()
        child.wait()
    return told, child.returncode


@pytest.mark.parametrize("name", ENDLESS)
def test_ctrl_c_ends_a_call_that_would_take_minutes(name):
    assert told_after_ctrl_c(ENDLESS[name]) == ("interrupted (2, 6)\n", 0)


METIS = """
#include <unistd.h>
int METIS_SetDefaultOptions(int* options) { for (int i = 0; i < 40; ++i) options[i] = -1; return 1; }
int METIS_PartGraphKway(void) { sleep(600); return 1; }
"""


def test_ctrl_c_does_not_wait_for_metis(tmp_path):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    (tmp_path / "metis.c").write_text(METIS)
    library = tmp_path / "libmetis.so.5"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "metis.c"], check=True)
    found = told_after_ctrl_c('tendril.cluster_vertices(graph, 9, method="metis")', LD_LIBRARY_PATH=str(tmp_path))
    assert found == ("interrupted (2, 6)\n", 0)


def test_nothing_half_written_is_left_behind(tmp_path, alarm):
    graph = tendril.generate.rmat(16, 16)
    stopped = 0
    for _ in range(20):
        alarm()
        try:
            while True:
                graph.save(tmp_path / "graph.txt")
                (tmp_path / "graph.txt").unlink()
        except Stopped:
            stopped += 1
            (tmp_path / "graph.txt").unlink(missing_ok=True)
            assert list(tmp_path.iterdir()) == []
        if stopped == 3:
            break
    assert stopped == 3
