"""Threads that make items before they are asked for.

A thread that is done waits a moment for the next iteration. OpenMP's threads, for one, belong to the thread that calls them,
and to start them anew takes as long as some tiny batches do.
"""

from __future__ import annotations

import atexit
import os
import queue
import threading
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

T = TypeVar("T")

_END = object()


def ahead(
    made: Iterator[T],
    depth: int,
    cores: frozenset[int] | None = None,
    within: Callable[[], AbstractContextManager[Any]] = nullcontext,
    mark: Callable[[T], Any] | None = None,
    kind: Any = None,
    steady: bool = False,
) -> Generator[tuple[T, Any], None, None]:
    """The items of `made`, made by a thread of their own, up to `depth` of them in advance.

    cores: where the thread runs, and the threads that it starts; None: anywhere. within: the thread's context. mark:
    called in the thread with each item; what it returns comes with the item. kind: what a thread must have been started
    with to be used again, beside the process's cores: settings that a thread keeps. When the iteration is closed, the
    thread has closed `made` and holds nothing of it; without another iteration it ends soon after.

    steady: a thread whose iteration is closed makes as many items as it could have made by then, whether it has or not: for
    items that threads of other processes make with it, whose iterations are closed behind the same item.
    """
    # Queues in C, which take the interpreter once: a queue.Queue is a lock and two conditions in Python.
    ready: queue.SimpleQueue[tuple[Any, Any, BaseException | None]] = queue.SimpleQueue()
    room: queue.SimpleQueue[None] = queue.SimpleQueue()  # as many as there is room for in `ready`
    for _ in range(depth):
        room.put(None)
    has_ended = False
    num_made = num_taken = 0

    def end() -> None:
        nonlocal has_ended
        has_ended = True
        room.put(None)  # or the thread might wait for it

    def put(item: tuple[Any, Any, BaseException | None]) -> bool:
        if not has_ended:
            room.get()
        if has_ended:
            return False
        ready.put(item)
        return True

    def goes_on() -> bool:
        return steady and num_made <= num_taken + depth  # as many wait in the queue, and one for its turn

    def run() -> None:
        nonlocal num_made
        try:
            if cores is not None:
                os.sched_setaffinity(0, cores)  # of this thread alone
            with within():
                try:
                    for item in made:
                        num_made += 1
                        if not put((item, None if mark is None else mark(item), None)) and not goes_on():
                            break
                finally:  # so that threads which make its parts have ended, too
                    close = getattr(made, "close", None)
                    if close is not None:
                        close()
            ready.put((_END, None, None))
        except BaseException as error:  # the consumer handles it
            ready.put((_END, None, error))

    work = _Work(run, end)
    allowed = frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    thread = _start(work, (kind, cores, allowed))
    try:
        while True:
            item, marked, error = ready.get()
            num_taken += 1
            room.put(None)
            if error is not None:
                raise error
            if item is _END:
                return
            yield item, marked
    finally:
        end()
        while thread.is_alive() and not work.done.wait(1):  # a fork of the process doesn't have the thread
            continue


# --- Threads ---------------------------------------------------------------------------------------------------------

_IDLE_SECONDS = 1.0  # enough for the work between two epochs of a small training
_MOST_IDLE = 8


class _Work:
    """What a thread is to run. end: tells it to end early."""

    def __init__(self, run: Callable[[], None], end: Callable[[], None]) -> None:
        self.run, self.end, self.done = run, end, threading.Event()


class _Thread:
    """Runs one work after another, all of one kind."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        self._inbox: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._loop, name="tendril-loader", daemon=True)
        self.start, self.join, self.is_alive = self._thread.start, self._thread.join, self._thread.is_alive
        self.put = self._inbox.put  # the next work of an idle thread; None: it ends

    def _loop(self) -> None:
        idles = True
        while idles and (work := self._next()) is not None:
            idles = False
            try:
                work.run()
                idles = True
            finally:
                done = work.done
                del work  # or the thread would keep the loader alive
                with _lock:
                    _at_work.pop(self, None)
                    idles = idles and len(_idle) < _MOST_IDLE
                    if idles:
                        _idle.append(self)
                done.set()

    def _next(self) -> _Work | None:
        try:
            return self._inbox.get(timeout=_IDLE_SECONDS)
        except queue.Empty:
            with _lock:
                if self in _idle:
                    _idle.remove(self)
                    return None
            return self._inbox.get()  # some work has just taken it


_lock = threading.Lock()
_idle: list[_Thread] = []
_at_work: dict[_Thread, _Work] = {}


def _start(work: _Work, kind: Any) -> _Thread:
    """Runs a work in an idle thread of that kind, or in a new one."""
    with _lock:
        found = next((one for one in reversed(_idle) if one.kind == kind), None)
        if found is not None:
            _idle.remove(found)
        thread = _Thread(kind) if found is None else found
        _at_work[thread] = work
        thread.put(work)
    if found is None:
        thread.start()
    return thread


def _forget_all() -> None:
    """A forked process has none of the threads."""
    global _lock
    _lock = threading.Lock()
    _idle.clear()
    _at_work.clear()


os.register_at_fork(after_in_child=_forget_all)


@atexit.register
def stop_all() -> None:
    """Ends iterations that are still open when the interpreter exits: their threads would keep graphs alive."""
    with _lock:
        waiting, working = list(_idle), dict(_at_work)
        _idle.clear()
    for work in working.values():
        work.end()
    for thread in (*waiting, *working):
        thread.put(None)
    for thread in (*waiting, *working):
        thread.join()
