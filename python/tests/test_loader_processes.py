"""Processes that are stopped in a loop over a Pipeline or a NeighborLoader: by Ctrl-C, by SIGKILL, by a file of features that
becomes shorter."""

from __future__ import annotations

import os
import re
import signal
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from both_loaders import LOADERS, of_both, running, table

SHARED_MEMORY = Path("/dev/shm")
with_or_without_threads = pytest.mark.parametrize("prefetch", [0, 2])


@pytest.fixture(autouse=True)
def _skip_without_torch(kind):
    """Here, and not in a process that would fail."""
    LOADERS[kind]()


def endless_loop(kind, file=None, **options):
    """Iterates without end, over a table in memory or in a file, and says so once it has had an epoch and some batches."""
    return f"""
        import signal
        import tendril
        from both_loaders import LOADERS

        signal.signal(signal.SIGINT, signal.default_int_handler)  # the runner of the tests may ignore it
        table = {file!r} and tendril.read_features({file!r})
        loader = LOADERS[{kind!r}](x=table, **{options!r})
        for epoch in range(10**9):
            for number, batch in enumerate(loader):
                if (epoch, number) == (1, 3):
                    print("ready", flush=True)
    """


# What Python prints beside lines of code. If Ctrl-C comes while an iterator ends, that end is shown first.
OF_THE_MAIN_THREAD = (
    "Traceback (most recent call last):",
    "StopIteration",
    "",
    "During handling of the above exception, another exception occurred:",
    "KeyboardInterrupt",
)


@of_both
@with_or_without_threads
def test_ctrl_c_ends_a_loop_and_threads_say_nothing(kind, prefetch):
    with running(endless_loop(kind, prefetch=prefetch)) as child:
        assert child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGINT)
        told, complaints = child.communicate()
        assert child.returncode == -signal.SIGINT  # so Python ends by KeyboardInterrupt; -SIGKILL: it had to be killed
    assert told == "" and complaints.splitlines()[-1] == "KeyboardInterrupt"
    assert {line for line in complaints.splitlines() if not line.startswith("  ")} <= {*OF_THE_MAIN_THREAD}, complaints


# --- SIGKILL ---------------------------------------------------------------------------------------------------------


def names_in_shared_memory():
    return {one.name for one in SHARED_MEMORY.iterdir()} if SHARED_MEMORY.is_dir() else set()


def mapped_by_processes():
    """Names of files in shared memory that a process has mapped: other programs of this machine make some, too."""
    found = set()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with suppress(OSError):  # it has ended, or is another user's
            found |= {*re.findall(rf"{SHARED_MEMORY}/(\S+)", maps.read_text())}
    return found


def processes_of_session(leader):
    """Ids of the processes of a session, but for those that have ended and that nobody has waited for."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, _, session = stat.read_text().rpartition(")")[2].split()[:4]
            if int(session) == leader and state != "Z":
                found.append(int(stat.parent.name))
    return found


@of_both
@pytest.mark.parametrize("file", [None, "../x.npy"])
def test_a_killed_loop_leaves_nothing_behind(kind, file, tmp_path):
    """No file, no shared memory and no process, for which num_workers doesn't ask either."""
    np.save(tmp_path / "x.npy", np.asarray(table()))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    script = endless_loop(kind, file, **({"num_workers": 2} if kind == "NeighborLoader" else {}))
    before = names_in_shared_memory()
    with running(script, cwd=temporary, env={"TMPDIR": str(temporary)}, start_new_session=True) as child:
        assert child.stdout.readline() == "ready\n"
        assert processes_of_session(child.pid) == [child.pid]
        child.kill()
        assert child.wait() == -signal.SIGKILL
        assert processes_of_session(child.pid) == []
    assert [*temporary.iterdir()] == []
    for _ in range(100):  # other programs' files come and go
        left = names_in_shared_memory() - before - mapped_by_processes()
        if not left:
            break
        time.sleep(0.1)
    assert left == set()


# --- Files -----------------------------------------------------------------------------------------------------------


@of_both
@with_or_without_threads
def test_a_file_that_became_shorter_ends_a_loop_with_one_line(kind, prefetch, tmp_path):
    np.save(tmp_path / "x.npy", np.asarray(table()))
    with running(endless_loop(kind, "x.npy", prefetch=prefetch), cwd=tmp_path) as child:
        assert child.stdout.readline() == "ready\n"
        os.truncate(tmp_path / "x.npy", 4096)
        told, complaints = child.communicate()
        assert (child.returncode, told) == (1, "")
    assert complaints == "tendril: error: x.npy: the file was truncated while it was read\n"
