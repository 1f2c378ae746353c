"""Results that no memory holds: one line at once, in a process that may have six gigabytes of addresses."""

from __future__ import annotations

import subprocess
import sys

import pytest

SETUP = """
import resource
import tendril
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
graph = tendril.generate.rmat(10, 8, seed=1)
try:
    {call}
except tendril.OutOfMemoryError as refused:
    print(refused)
"""

CALLS = {
    "khop": (
        "tendril.khop_sample(graph, [0, 1], [2**30])",
        "fanouts: 2147483648 slots in hops 1 to 1 (seeds in one call: 2): ",
    ),
    "walk": ("tendril.random_walk(graph, [0, 1], 2**31 - 2)", "out of memory: an array: "),
    "row cache": (
        "tendril._tendril.RowCache(2**31, 2**30, 'lookahead', 4)",
        "a cache of 1073741824 slots for 2147483648 rows: 20.0",
    ),
    "rmat": ("tendril.generate.rmat(28, 16)", "building the graph: "),
}


def run(call):
    code = SETUP.format(call=call)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("call, beginning", CALLS.values(), ids=CALLS)
def test_a_result_that_no_memory_holds(call, beginning):
    done = run(call)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(beginning) and done.stdout.count("\n") == 1, done.stdout
    assert " GiB of memory, expected at most the " in done.stdout


def test_fewer_threads_where_many_were_asked_for():
    """A thousand threads with stacks of 8 MiB take 8 GiB of addresses; OpenMP would end the process."""
    call = "print(tendril.random_walk(graph, list(range(1024)), 8, seed=1, num_threads=1000)[0].sum())"
    done, alone = run(call), run(call.replace("1000", "1"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == alone.stdout != ""
