"""Spans of time and their picture: what was made ahead above, the loop below, time from left to right."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LANES = {"sample": "sampling", "gather": "gathering", "loop": "the loop"}
_STAGES = ("sample", "gather", "wait", "transform", "train")

_STYLE = """
svg { font-family: 'Inter', 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif; }
text { font-size: 12.5px; fill: #4b5563; }
.page { fill: #ffffff; }
.title { fill: #1d232b; font-size: 14px; }
.grid { stroke: #e3e6eb; }
.sample { fill: #2563c9; } .gather { fill: #3aa17e; } .wait { fill: #d9572b; }
.transform { fill: #e0a52f; } .train { fill: #b8c1cc; stroke: #ffffff; stroke-width: 0.8; }
@media (prefers-color-scheme: dark) {
  text { fill: #b4bdc8; }
  .page { fill: #14181d; }
  .title { fill: #eef1f4; }
  .grid { stroke: #2b323b; }
  .sample { fill: #78aaf5; } .gather { fill: #6fcaa9; } .wait { fill: #f0835b; }
  .transform { fill: #ecc05f; } .train { fill: #5a6675; stroke: #14181d; }
}
"""

_WIDTH, _LEFT, _RIGHT = 960, 120, 20
_TOP, _LANE, _GAP = 78, 34, 12
_BOTTOM = _TOP + len(LANES) * (_LANE + _GAP) - _GAP


class Span(NamedTuple):
    """A stage at work on some batches. Times: nanoseconds of `time.perf_counter_ns`."""

    stage: str
    batch: int  # the first one's number in the epoch
    batches: int
    begin: int
    end: int

    @property
    def lane(self) -> str:
        return self.stage if self.stage in LANES else "loop"


def _nice(least: float) -> float:
    """The smallest of 1, 2, 5, 10, 20, … that is not below `least`."""
    step = 1e-3
    while True:
        for factor in (1, 2, 5):
            if factor * step >= least:
                return factor * step
        step *= 10


def _axis(duration: float, scale: float) -> Iterator[str]:
    """Lines and labels, in milliseconds."""
    step = _nice(duration / 8)
    for i in range(int(duration / step) + 1):
        x = _LEFT + i * step * scale
        yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 6}" y2="{_BOTTOM + 6}"/>'
        yield f'<text x="{x:.1f}" y="{_BOTTOM + 22}" text-anchor="middle">{i * step:g}</text>'
    yield f'<text x="{_WIDTH - _RIGHT}" y="{_BOTTOM + 40}" text-anchor="end">milliseconds</text>'


def svg(epoch: int, spans: Sequence[Span]) -> str:
    """A picture of spans in the order of their beginnings."""
    height = _BOTTOM + 52
    numbers = [span.batch for span in spans if span.stage == "train"]
    title = f"Epoch {epoch}" + (f", batches {min(numbers):,} to {max(numbers):,}" if numbers else ": no batches")
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}">',
        f"<title>{title}</title><style>{_STYLE}</style>",
        f'<rect class="page" width="{_WIDTH}" height="{height}"/>',
        f'<text class="title" x="{_LEFT}" y="26">{title}</text>',
    ]
    used = {span.stage for span in spans}
    x = _LEFT
    for stage in _STAGES:
        if stage in used:
            out.append(f'<rect class="{stage}" x="{x}" y="41" width="12" height="12"/>')
            out.append(f'<text x="{x + 18}" y="52">{stage}</text>')
            x += 34 + 8 * len(stage)
    origin = min((span.begin for span in spans), default=0)
    duration = max((span.end - origin for span in spans), default=1_000_000) / 1e6
    scale = (_WIDTH - _LEFT - _RIGHT) / duration
    out += _axis(duration, scale)
    tops = {}
    for i, (lane, name) in enumerate(LANES.items()):
        tops[lane] = _TOP + i * (_LANE + _GAP)
        out.append(f'<text x="{_LEFT - 10}" y="{tops[lane] + _LANE / 2 + 4}" text-anchor="end">{name}</text>')
    for span in sorted(spans, key=lambda one: one.stage == "transform"):  # which lies upon a wait
        begin, time = _LEFT + (span.begin - origin) / 1e6 * scale, (span.end - span.begin) / 1e6
        batches = f"batch {span.batch:,}" if span.batches == 1 else f"{span.batches} batches from {span.batch:,}"
        out.append(
            f'<rect class="{span.stage}" x="{begin:.2f}" y="{tops[span.lane]}" width="{max(time * scale, 0.3):.2f}" '
            f'height="{_LANE}"><title>{span.stage}, {batches}: {time:.3g} ms</title></rect>'
        )
    return "\n".join([*out, "</svg>", ""])
