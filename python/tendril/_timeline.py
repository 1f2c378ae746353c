"""Where the time of an epoch goes: what each stage of a loader did when, its sums, and the picture of it."""

from __future__ import annotations

import json
import os
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter_ns
from types import TracebackType
from typing import Any

from . import _timeline_chart
from ._errors import ArgumentError, shown
from ._params import file_name, integer
from ._timeline_chart import Span

_MOST = 1 << 16  # spans that are kept for pictures; sums are of all


@dataclass(frozen=True)
class LoaderStats:
    """Where the time of an iteration goes. Times are in seconds, of the host's clock.

    On a GPU, a stage counts what the host does for it, waiting for the GPU included; kernels that run on while the host
    does something else do not count.

    Attributes
    ----------
    epoch : int
    batches : int
        Handed over so far.
    seconds : float
        Of the loop so far: ``wait`` and ``train`` together.
    sample, gather : float
        Making batches: sampling, and gathering the attributes of their vertices and edges. A thread does both ahead of
        the loop, for a GPU a thread each, unless ``prefetch=0``; where a GPU has all attributes, the loop gathers. ShaDow
        and clusters do all in ``sample``.
    wait : float
        The loop, waiting for the loader, and in PyG's loaders putting together what is to lie on a GPU.
    transform : float
        The part of ``wait`` in the user's ``transform`` and ``transform_sampler_output``, with the gathering that
        follows the latter.
    train : float
        The loop, at work between two batches.
    host_rows : str
        How rows of page-locked memory come to a GPU now: "cpu, 7 threads", "cpu, 12 threads, gpu 8 %" or "gpu"; "auto" of a
        loader that makes nothing ahead. Empty where there are none.
    """

    epoch: int
    batches: int
    seconds: float
    sample: float
    gather: float
    wait: float
    transform: float
    train: float
    host_rows: str = ""

    def __str__(self) -> str:
        stages = [("sample", "making batches"), ("gather", "making batches"), ("wait", "loop"), ("train", "loop")]
        if self.transform > 0:
            stages.insert(3, ("transform", "within wait"))
        lines = [f"epoch {self.epoch}: {self.batches:,} batches in {self.seconds:.3g} s"]
        for stage, where in stages:
            time = getattr(self, stage)
            share = f"{time / self.seconds:6.1%}" if self.seconds > 0 else " " * 6
            by = f"; rows of the host by {self.host_rows}" if stage == "gather" and self.host_rows else ""
            lines.append(f"  {stage:9}  {1e3 * time / max(self.batches, 1):9.3f} ms a batch  {share}  {where}{by}")
        return "\n".join(lines)


class Timeline:
    """What the stages of one iteration did. Each stage belongs to one thread at a time."""

    def __init__(self, epoch: int, first_batch: int = 0) -> None:
        self.epoch = epoch
        self._first = first_batch
        self.batches = 0
        self._spans: deque[Span] = deque(maxlen=_MOST)
        self._sums = dict.fromkeys(("sample", "gather", "wait", "transform", "train"), 0)
        self._training_since: int | None = None

    def span(self, stage: str, batch: int, batches: int = 1) -> _Measured:
        """Measures a with block. `batch`: the number of a batch, of all epochs."""
        return _Measured(self, stage, batch - self._first, batches)

    def training(self, batch: int) -> _Training:
        """Measures a with block in which the loop has the batch."""
        return _Training(self, batch - self._first)

    def add(self, span: Span) -> None:
        self._spans.append(span)
        self._sums[span.stage] += span.end - span.begin

    def stats(self, host_rows: str) -> LoaderStats:
        sums = {stage: 1e-9 * time for stage, time in self._sums.items()}
        since = self._training_since
        if since is not None:
            sums["train"] += 1e-9 * (perf_counter_ns() - since)
        return LoaderStats(epoch=self.epoch, batches=self.batches, seconds=sums["wait"] + sums["train"], **sums, host_rows=host_rows)

    def write(self, path: Any, last: Any) -> None:
        """Writes the spans of the last batches: .json as a Chrome trace, .svg as a picture."""
        target = Path(file_name(path, "path"))
        if target.suffix not in (".json", ".svg"):
            raise ArgumentError(f"path is {shown(str(target))}, expected a file with the extension .json or .svg")
        if integer(last, "last") < 1:
            raise ArgumentError(f"last is {last}, expected 1 or more batches")
        spans = self._last(last)
        text = _timeline_chart.svg(self.epoch, spans) if target.suffix == ".svg" else _chrome_trace(spans)
        part = target.with_name(f"{target.name}.{os.getpid()}.part")
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    def _last(self, count: int) -> list[Span]:
        """The spans in the time that the loop had the last `count` batches, or waited for them."""
        spans = sorted(self._spans, key=lambda span: span.begin)
        numbers = {span.batch for span in [one for one in spans if one.stage == "train"][-count:]}
        begin = min((span.begin for span in spans if span.lane == "loop" and span.batch in numbers), default=0)
        return [span for span in spans if span.end > begin]


class _Measured:
    def __init__(self, timeline: Timeline, stage: str, batch: int, batches: int) -> None:
        self._timeline, self._stage, self._batch, self._batches = timeline, stage, batch, batches

    def __enter__(self) -> None:
        self._begin = perf_counter_ns()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timeline.add(Span(self._stage, self._batch, self._batches, self._begin, perf_counter_ns()))


class _Training(_Measured):
    def __init__(self, timeline: Timeline, batch: int) -> None:
        super().__init__(timeline, "train", batch, 1)

    def __enter__(self) -> None:
        super().__enter__()
        self._timeline.batches += 1
        self._timeline._training_since = self._begin

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timeline._training_since = None
        super().__exit__(kind, error, trace)


def _chrome_trace(spans: list[Span]) -> str:
    """The Trace Event Format, which chrome://tracing and Perfetto show: complete events, in microseconds."""
    origin = spans[0].begin if spans else 0
    threads = {"loop": 1, "sample": 2, "gather": 3}
    events: list[dict[str, object]] = [
        {"name": "thread_name", "ph": "M", "pid": 1, "tid": tid, "args": {"name": _timeline_chart.LANES[lane]}}
        for lane, tid in threads.items()
    ]
    for span in spans:
        events.append(
            {
                "name": span.stage,
                "ph": "X",
                "pid": 1,
                "tid": threads[span.lane],
                "ts": (span.begin - origin) / 1e3,
                "dur": (span.end - span.begin) / 1e3,
                "args": {"batch": span.batch, "batches": span.batches},
            }
        )
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ms"})
