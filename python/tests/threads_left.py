"""Checks that iterations leave no threads behind."""

from __future__ import annotations

import os
import threading
import time

from tendril import _ahead


def expect_none_left(before):
    """No thread has work, and those that wait for some end soon: then there are no more of all kinds than `before`."""
    assert not _ahead._at_work
    until = time.monotonic() + 20 * _ahead._IDLE_SECONDS
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.02)
    assert threading.active_count() <= before


def native_threads():
    """Of this process, those that Python doesn't know among them."""
    return len(os.listdir("/proc/self/task"))


def expect_no_more_native(before):
    """Threads whose work is done end at once, but the system may tell so a moment later."""
    until = time.monotonic() + 60
    while native_threads() > before and time.monotonic() < until:
        time.sleep(0.02)
    assert native_threads() <= before
