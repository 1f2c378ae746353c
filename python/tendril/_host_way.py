"""Who gathers rows of page-locked memory for a loader: measured by how fast its loop runs."""

from __future__ import annotations

from time import perf_counter_ns

from ._timeline import Timeline

_SETTLING = 8  # batches that are handed over before a trial counts
_TRIAL = 16  # batches of a trial
_WAYS = ("cpu", "auto")
_ORDER = ("cpu", "auto", "cpu", "auto")  # of trials: the first batches are slow, whoever makes them
_LEAST_GAIN = 0.02  # of the second way, or the first stays


class HostWay:
    """The way that rows in page-locked host memory take to the GPU, for a loader that works ahead of its loop.

    "auto" is the quickest way of a gather alone, mostly the GPU's own reads over the bus, but they slow down the kernels of
    training beside them. The CPU's threads and copy engines are slower and disturb nothing, so they are better where
    training takes longer than they do. Each way is on trial twice, in the first iterations: the one with which the loop went
    round quicker is kept (TurboGNN balances its stages by their times, section III-D). It never changes a batch.
    """

    def __init__(self, works_ahead: bool) -> None:
        self._periods: list[float] = []  # of the trials that are done: nanoseconds a batch
        self._timeline: Timeline | None = None
        self._settled_at = 0
        self._since: tuple[int, int] | None = None
        self.way = _WAYS[0] if works_ahead else _WAYS[1]
        self._is_chosen = not works_ahead

    def begin(self, timeline: Timeline) -> None:
        """A new iteration begins: trials lie within one."""
        self._timeline = timeline
        self._settle()

    def next(self) -> str:
        """The way of the next batch."""
        if self._is_chosen or self._timeline is None:
            return self.way
        done, now = self._timeline.batches, perf_counter_ns()
        if self._since is None:
            if done >= self._settled_at:
                self._since = done, now
        elif done - self._since[0] >= _TRIAL:
            self._periods.append((now - self._since[1]) / (done - self._since[0]))
            self._after_trial()
        return self.way

    def _after_trial(self) -> None:
        if len(self._periods) < len(_ORDER):
            self.way = _ORDER[len(self._periods)]
            self._settle()
            return
        first, second = (min(p for p, one in zip(self._periods, _ORDER, strict=True) if one == way) for way in _WAYS)
        self.way = _WAYS[1] if second < (1 - _LEAST_GAIN) * first else _WAYS[0]
        self._is_chosen = True

    def _settle(self) -> None:
        assert self._timeline is not None
        self._settled_at, self._since = self._timeline.batches + _SETTLING, None
