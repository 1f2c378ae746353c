"""Checks that iterations leave no threads behind."""

from __future__ import annotations

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
