"""Processes that Python's multiprocessing has started."""

from __future__ import annotations

import atexit
import sys

from . import _tendril


@atexit.register
def _be_quiet_in_workers() -> None:
    """The binding reports objects that are alive when the interpreter ends. A worker's arguments always are."""
    process = sys.modules.get("multiprocessing.process")
    if process is not None and process.parent_process() is not None:
        _tendril.set_leak_warnings(False)
