"""Who gathers rows of page-locked memory for a loader: measured by how fast its loop runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from time import perf_counter_ns
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

_SETTLING = 8  # batches that are handed over before a trial counts
_TRIAL = 64  # batches of a trial by the host's clock, which tells less than a stream's
_LEAST_GAIN = 0.02  # of another way over the CPU's, or the latter stays
_LEAST_BYTES = 4 << 20  # of a gather for which threads of the CPU are worth waking


class Way(NamedTuple):
    """Who gathers rows of page-locked memory, as the extension takes it."""

    share: str = "auto"
    num_threads: int = 0


def _threads_beside_training() -> int:
    """Three quarters of the cores: the process that trains has threads, too, that launch kernels."""
    return max(1, len(os.sched_getaffinity(0)) * 3 // 4)


class HostWay:
    """The way that rows in page-locked host memory take to the GPU, for a loader that works ahead of its loop.

    "gpu", its own reads over the bus, needs no thread that waits for it, but slows down the kernels of training beside it. The
    "cpu"'s threads and copy engines are slower and don't disturb kernels, but take cores from the process that launches
    them. "auto" is the quickest way of a gather alone, mostly both at once. Each is on trial twice, in the first iterations:
    the one with which the loop went round quickest is kept (TurboGNN balances its stages by their times, section III-D). It
    never changes a batch.

    Parameters
    ----------
    works_ahead : bool
        Whether a thread gathers while the loop works.
    mark : callable
        A point in time of the loop's stream, and
    nanoseconds : callable
        the time between two of them, None while it is not known.
    trial : int
        Batches of a trial.
    clock : callable
        The host's, in nanoseconds. A trial takes the longer of both times: while the host gets ahead of its stream, by as many
        batches as fit into the queue of launches, the host's is too short, and while the stream catches up its own is.
    """

    _ORDER = ("cpu", "gpu", "auto") * 2  # of trials: the first batches are slow, whoever makes them

    def __init__(
        self,
        works_ahead: bool,
        mark: Callable[[], Any] = lambda: None,
        nanoseconds: Callable[[Any, Any], float | None] = lambda first, last: 0.0,
        trial: int = _TRIAL,
        clock: Callable[[], int] = perf_counter_ns,
    ) -> None:
        self._trial = trial
        self._mark, self._nanoseconds, self._clock = mark, nanoseconds, clock
        self._periods: list[float] = []  # of the trials that are done: nanoseconds a batch
        self._handed = 0  # batches of this iteration that the loop has got
        self._from = _SETTLING  # the batch with which a trial begins
        self._first: tuple[int, Any] | None = None
        self._last: tuple[int, Any] | None = None
        self._is_chosen = not works_ahead
        self._threads = _threads_beside_training() if works_ahead else 0
        self.share = "cpu" if works_ahead else "auto"

    @property
    def is_chosen(self) -> bool:
        """Whether the trials are over."""
        return self._is_chosen

    def choose(self, share: str) -> None:
        """Takes a way without trials: for measurements."""
        self.share, self._is_chosen = share, True

    def begin(self) -> None:
        """A new iteration begins: trials lie within one."""
        self._handed = 0
        self._settle()

    def watched(self, batches: Iterator[T]) -> Iterator[T]:
        """The same batches, as the loop gets them."""
        for batch in batches:
            self._count()
            yield batch

    def _count(self) -> None:
        self._handed += 1
        if self._is_chosen:
            return
        if self._handed == self._from:
            self._first = self._clock(), self._mark()
        elif self._handed == self._from + self._trial:
            self._last = self._clock(), self._mark()

    def next(self) -> None:
        """The next batch is gathered. Called by the thread that does it."""
        if self._is_chosen or self._last is None or self._first is None:
            return
        of_stream = self._nanoseconds(self._first[1], self._last[1])
        if of_stream is None:
            return
        self._periods.append(max(of_stream, self._last[0] - self._first[0]) / self._trial)
        if len(self._periods) < len(self._ORDER):
            self.share = self._ORDER[len(self._periods)]
            self._settle()
            return
        quickest = {share: min(self._of(share)) for share in self._ORDER}
        best = min(quickest, key=lambda share: quickest[share])
        self.share = best if quickest[best] < (1 - _LEAST_GAIN) * quickest["cpu"] else "cpu"
        self._is_chosen = True

    def way(self, num_bytes: int) -> Way:
        """Of a gather of so many bytes."""
        return Way(self.share if num_bytes >= _LEAST_BYTES else "gpu", self._threads)

    def _of(self, share: str) -> list[float]:
        return [period for period, one in zip(self._periods, self._ORDER, strict=True) if one == share]

    def _settle(self) -> None:
        self._first = self._last = None
        self._from = self._handed + _SETTLING
