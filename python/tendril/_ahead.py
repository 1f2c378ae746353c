"""A thread that makes items before they are asked for."""

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
) -> Generator[tuple[T, Any], None, None]:
    """The items of `made`, made by a thread of their own, up to `depth` of them in advance.

    cores: where the thread runs, and the threads that it starts; None: anywhere. within: the thread's context. mark:
    called in the thread with each item; what it returns comes with the item. When the iteration is closed, the
    thread has ended.
    """
    ready: queue.Queue[tuple[Any, Any, BaseException | None]] = queue.Queue(depth)
    stop = threading.Event()

    def put(item: tuple[Any, Any, BaseException | None]) -> bool:
        while not stop.is_set():
            try:
                ready.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def run() -> None:
        try:
            if cores is not None:
                os.sched_setaffinity(0, cores)  # of this thread alone
            with within():
                try:
                    for item in made:
                        if not put((item, None if mark is None else mark(item), None)):
                            return
                finally:  # so that threads which make its parts have ended, too
                    close = getattr(made, "close", None)
                    if close is not None:
                        close()
            put((_END, None, None))
        except BaseException as error:  # the consumer handles it
            put((_END, None, error))

    thread = threading.Thread(target=run, name="tendril-loader", daemon=True)
    _at_work[thread] = stop
    thread.start()
    try:
        while True:
            item, marked, error = ready.get()
            if error is not None:
                raise error
            if item is _END:
                return
            yield item, marked
    finally:
        stop.set()
        thread.join()
        _at_work.pop(thread, None)


_at_work: dict[threading.Thread, threading.Event] = {}


@atexit.register
def _stop_all() -> None:
    """Ends iterations that are still open when the interpreter exits: their threads would keep graphs alive."""
    for thread, stop in list(_at_work.items()):
        stop.set()
        thread.join()
