"""Who gathers rows of page-locked memory for a loader: measured by how fast its loop runs."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from statistics import fmean, median
from time import perf_counter_ns
from typing import Any, NamedTuple, Protocol, TypeVar

from . import _tendril

T = TypeVar("T")

_SETTLING = 8  # batches that are handed over before a trial counts
_TRIAL = 64  # batches of a trial by the host's clock, which tells less than a stream's
_LEAST_GAIN = 0.02  # of another way over the CPU's, or the latter stays
_LEAST_BYTES = 4 << 20  # of a gather for which threads of the CPU are worth waking
_EARLY = 0.92  # of the loop's period: when the CPU is to be done, so that the loop finds its batch
_REST = 0.6  # of the loop's period, which the thread that gathers is to have for itself
_STEP = 0.25  # of the way to the part that would be right, a batch
_STEADY = 16  # gathers that tell whether a number of threads is right; a quarter of them, whether it is too small
_SMOOTHING = 8  # batches
_MOST_OF_GPU = 0.95


class Way(NamedTuple):
    """Who gathers rows of page-locked memory, as the extension takes it."""

    share: str = "auto"
    num_threads: int = 0
    gpu_part: float = 0.0
    """Of the rows, if the share is "cpu": those that the GPU reads meanwhile."""
    meter: _tendril.GatherMeter | None = None
    """Is told who gathered how many."""


class Meter(Protocol):
    """As _tendril.GatherMeter."""

    def take(self) -> tuple[int, int, int]:
        """Since the last call: nanoseconds that a thread of the CPU was at work, and rows of the CPU and of the GPU."""
        ...


def _threads_beside_training() -> int:
    """Three quarters of the cores: the process that trains has threads, too, that launch kernels."""
    return max(1, len(os.sched_getaffinity(0)) * 3 // 4)


class _Shares:
    """What the CPU does of each gather, and with how many threads. Both follow the times that were measured, as TurboGNN balances
    its stages (section III-D).

    The GPU's reads slow down the kernels beside them. So the GPU reads as small a part as the loop allows, and none before all
    threads are at work: batch by batch the part moves towards that with which the CPU is done a little before the loop asks for
    the next batch. What counts is the time for which the CPU's threads work. They also wait for the GPU and for copies, which a
    larger part of the GPU would not shorten.

    Threads take cores from what launches kernels, and from other processes. So there are as few as leave the thread that
    gathers some rest: it rests while the loop has as many batches as it may be ahead. As soon as it hardly rests, whatever else
    it does, all threads are at work; then never again so few in this iteration.
    """

    def __init__(self, clock: Callable[[], int], most_threads: int) -> None:
        self.gpu_part, self._most_of_gpu = 0.0, _MOST_OF_GPU
        self.threads = self._most = most_threads
        self._least = 1
        self._clock = clock
        self._period = 0.0  # of the loop, in nanoseconds
        self._work = 0.0  # of a gather: for so many nanoseconds the CPU's threads work
        self._handed: int | None = None
        self._begun: int | None = None
        self._gathers: deque[int] = deque(maxlen=_STEADY)  # the last ones with this number of threads, in nanoseconds
        self._rests: deque[int] = deque(maxlen=_STEADY)

    def keep_from_gpu(self) -> None:
        """It can't read these rows."""
        self.gpu_part = self._most_of_gpu = 0.0

    def begin_iteration(self) -> None:
        self._handed = self._begun = None
        self._least = 1
        self._forget_times()

    def hand_over(self) -> None:
        now = self._clock()
        if self._handed is not None:
            time = now - self._handed
            if self._period > 0:
                time = min(time, 2 * int(self._period))  # a loop that pauses is not a slow one
            self._period = _smoothed(self._period, time)
        self._handed = now

    def begin_gather(self) -> None:
        self._begun = self._clock()

    def end_gather(self, on_trial: bool, work: int) -> None:
        """work: nanoseconds of the CPU's threads."""
        if self._begun is None:
            return
        self._work = _smoothed(self._work, work)
        self._gathers.append(self._clock() - self._begun)
        if self._period <= 0 or self._work <= 0:
            return
        if self.threads == self._most:
            room = min(max(_EARLY * self._period / self._work, 0.5), 2.0)
            of_cpu = (1 - self.gpu_part) * room**_STEP
            self.gpu_part = min(max(1 - of_cpu, 0.0), self._most_of_gpu)
        if self.gpu_part > 0 or on_trial:
            self._forget_times()
        elif len(self._rests) >= _STEADY // 4:
            self._set_threads()

    def rest(self, time: int) -> None:
        """For so many nanoseconds the thread that gathers had nothing to do."""
        self._rests.append(time)

    def _set_threads(self) -> None:
        rest, gather = _usual(self._rests) / self._period, _usual(self._gathers) / self._period
        is_late = rest < 1 - _EARLY and self.threads < self._most
        if not is_late and len(self._rests) < _STEADY:
            return
        wanted = self.threads
        if is_late:
            self._least = self.threads + 1
            wanted = self._most
        elif rest > _REST or rest < _REST / 2:
            longest = gather + rest - _REST  # that a gather may take
            enough = math.ceil(self.threads * gather / longest) if longest > 0 else self._most
            wanted = min(max(self._least, enough), self._most)
        if wanted != self.threads:
            self.threads, self._work = wanted, 0.0
        self._forget_times()

    def _forget_times(self) -> None:
        self._gathers.clear()
        self._rests.clear()


def _usual(times: Collection[int]) -> float:
    """Their mean, in which a pause counts for little."""
    most = 4 * median(times)
    return fmean(min(time, most) for time in times)


def _smoothed(before: float, now: float) -> float:
    return now if before == 0 else before + (now - before) / _SMOOTHING


class HostWay:
    """The way that rows in page-locked host memory take to the GPU, for a loader that works ahead of its loop.

    "gpu", its own reads over the bus, needs no thread that waits for it, but slows down the kernels of training beside it. The
    "cpu"'s threads and copy engines disturb no kernels, but take cores from the process that launches them; what they can't do
    in the time of a step the GPU reads, and where they have time, there are fewer. Each is on trial twice, in the first
    iterations: the one with which the loop went round quickest is kept. It never changes a batch. A loader that doesn't work ahead takes "auto", the quickest way of a gather
    alone.

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
    meter : Meter
        Told of the gathers. Where the GPU can read none of the rows, which lie in pageable memory or a file, trials end.
    """

    _ORDER = ("cpu", "gpu") * 2  # of trials: the first batches are slow, whoever makes them

    def __init__(
        self,
        works_ahead: bool,
        mark: Callable[[], Any] = lambda: None,
        nanoseconds: Callable[[Any, Any], float | None] = lambda first, last: 0.0,
        trial: int = _TRIAL,
        clock: Callable[[], int] = perf_counter_ns,
        meter: Meter | None = None,
    ) -> None:
        self._trial = trial
        self._meter: Any = _tendril.GatherMeter() if meter is None else meter
        self._mark, self._nanoseconds, self._clock = mark, nanoseconds, clock
        self._periods: list[float] = []  # of the trials that are done: nanoseconds a batch
        self._handed = 0  # batches of this iteration that the loop has got
        self._from = _SETTLING  # the batch with which a trial begins
        self._first: tuple[int, Any] | None = None
        self._last: tuple[int, Any] | None = None
        self._is_chosen = not works_ahead
        self._shares = _Shares(clock, _threads_beside_training() if works_ahead else 0)
        self.share = "cpu" if works_ahead else "auto"

    @property
    def is_chosen(self) -> bool:
        """Whether the trials are over."""
        return self._is_chosen

    @property
    def gpu_part(self) -> float:
        """Of the rows: what the GPU reads of them while the CPU gathers."""
        return self._shares.gpu_part if self.share == "cpu" else 0.0

    @property
    def num_threads(self) -> int:
        """Of the CPU, for a gather of its own; 0: every core."""
        return self._shares.threads

    def choose(self, share: str) -> None:
        """Takes a way without trials: for measurements."""
        self.share, self._is_chosen = share, True

    def begin(self) -> None:
        """A new iteration begins: trials lie within one."""
        self._handed = 0
        self._shares.begin_iteration()
        self._settle()

    def watched(self, batches: Iterator[T]) -> Iterator[T]:
        """The same batches, as the loop gets them."""
        for batch in batches:
            self._count()
            yield batch

    def supplied(self, batches: Iterator[T]) -> Iterator[T]:
        """The same batches, as the thread that gathers makes them: it rests while nobody takes one."""
        try:
            for batch in batches:
                begin = self._clock()
                yield batch
                self._shares.rest(self._clock() - begin)
        finally:  # so that threads which make parts of them have ended, too
            close = getattr(batches, "close", None)
            if close is not None:
                close()

    def _count(self) -> None:
        self._handed += 1
        if self.share == "cpu":
            self._shares.hand_over()
        if self._is_chosen:
            return
        if self._handed == self._from:
            self._first = self._clock(), self._mark()
        elif self._handed == self._from + self._trial:
            self._last = self._clock(), self._mark()

    @contextmanager
    def gathering(self) -> Iterator[None]:
        """The next batch is gathered meanwhile, by this thread."""
        self._next()
        self._meter.take()
        self._shares.begin_gather()
        yield
        work, by_cpu, by_gpu = self._meter.take()
        if by_cpu > 0 and by_gpu == 0 and self._asked_gpu(by_cpu):
            self._shares.keep_from_gpu()
            self.choose("cpu")
        if self.share == "cpu" and by_cpu + by_gpu > 0:
            self._shares.end_gather(on_trial=not self._is_chosen, work=work)

    def _asked_gpu(self, rows: int) -> bool:
        return self.share == "gpu" or self.gpu_part * rows >= 1

    def _next(self) -> None:
        if self._is_chosen or self._last is None or self._first is None:
            return
        of_stream = self._nanoseconds(self._first[1], self._last[1])
        if of_stream is None:
            return
        self._periods.append(max(of_stream, self._last[0] - self._first[0]) / self._trial)
        if len(self._periods) < len(self._ORDER):
            self.share = self._ORDER[len(self._periods)]
            self._shares.begin_iteration()
            self._settle()
            return
        quickest = {share: min(self._of(share)) for share in self._ORDER}
        best = min(quickest, key=lambda share: quickest[share])
        self.share = best if quickest[best] < (1 - _LEAST_GAIN) * quickest["cpu"] else "cpu"
        self._is_chosen = True

    def way(self, num_bytes: int) -> Way:
        """Of a gather of so many bytes."""
        if num_bytes < _LEAST_BYTES:
            return Way("gpu", self.num_threads)
        return Way(self.share, self.num_threads, self.gpu_part, self._meter)

    def told(self) -> str:
        """For people."""
        threads = f", {self.num_threads} threads" if self.share == "cpu" else ""
        part = f", gpu {self.gpu_part:.0%}".replace("%", " %") if self.gpu_part > 0 else ""
        return f"{self.share}{threads}{part}"

    def _of(self, share: str) -> list[float]:
        return [period for period, one in zip(self._periods, self._ORDER, strict=True) if one == share]

    def _settle(self) -> None:
        self._first = self._last = None
        self._from = self._handed + _SETTLING
