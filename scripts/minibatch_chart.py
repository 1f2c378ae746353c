"""Draws docs/h200-minibatch.svg from result files of mini-batches on a GPU: rates, and what executors take.

Run from anywhere: python3 scripts/minibatch_chart.py
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import svg_chart
from result_rows import RESULTS, Key, rows_of
from svg_chart import text

ROOT = Path(__file__).resolve().parent.parent
RATES_FROM = RESULTS / "nvidia-h200-minibatch.json"
TIMES_FROM = RESULTS / "nvidia-h200-one-engine.json"  # all executors in one run, the fused one too
OUTPUT = ROOT / "docs" / "h200-minibatch.svg"

WIDTH, LEFT, RIGHT = 760, 258, 66
HEAD, STEP, GAP, FOOT = 78, 10, 12, 54  # of a panel; a bar has a STEP, and there is a GAP below each setting
BAR, BETWEEN = 8, 6  # height of a bar; room between two graphs

MORE_STYLE = """
.soft { fill: #a9c3ee; }
.hops { fill: #8d98a6; }
.fused { fill: #2f8a57; }
.persistent { fill: #c8612a; }
@media (prefers-color-scheme: dark) {
  .soft { fill: #43618f; }
  .hops { fill: #7b8796; }
  .fused { fill: #5cbf88; }
  .persistent { fill: #f0935b; }
}
"""

GRAPHS = {"rmat24": "R-MAT 24", "products": "products", "reddit": "reddit", "papers100m": "papers100M"}
SMALL = ["1024 seeds (15,10,5)", "1024 seeds (10,10,10)", "2048 seeds (10,10,10), frontier all"]
ALL = [*SMALL, "8192 seeds (15,10,5)", "10240 seeds (25,10)"]

Rows = Mapping[Key, float]


@dataclass(frozen=True)
class Series:
    """A bar of every graph: name in the legend, class of its colour, job of the result file."""

    title: str
    name: str
    job: str


@dataclass(frozen=True)
class Panel:
    """Bars for each setting and graph. Rates have the setting in their job, times in their params."""

    title: str
    axis: str
    end: str  # what stands at the end of a line
    series: Sequence[Series]
    settings: Sequence[str]
    top_value: float
    ticks: Sequence[float]
    scale: float = 1.0
    setting_in_job: bool = False
    goals: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def values(self, rows: Rows, graph: str, setting: str) -> list[tuple[Series, float]]:
        found = []
        for one in self.series:
            job = f"{one.job}, {setting}" if self.setting_in_job else one.job
            key = Key(graph, job, "as planned" if self.setting_in_job else setting)
            if key in rows:  # not every executor does every setting
                found.append((one, rows[key] * self.scale))
        return found

    def x(self, value: float) -> float:
        return LEFT + value / self.top_value * (WIDTH - LEFT - RIGHT)


RATES = Panel(
    title="Rate",
    axis="G sampled edges/s, relabelled",
    end="together",
    series=[
        Series("one by one", "soft", "batches one by one"),
        Series("many together", "a", "batches together"),
    ],
    settings=ALL,
    top_value=14,
    ticks=range(0, 15, 2),
    scale=1e-9,
    setting_in_job=True,
    goals={
        **{(graph, setting): 6 for graph in GRAPHS for setting in SMALL[:2]},
        **{(graph, "8192 seeds (15,10,5)"): 8 for graph in GRAPHS},
    },
)

TIMES = Panel(
    title="One batch",
    axis="milliseconds to a finished batch",
    end="gain",
    series=[
        Series("hop by hop", "hops", "a batch, hop by hop"),
        Series("CUDA graph", "a", "a batch, CUDA graph"),
        Series("fused", "fused", "a batch, fused"),
        Series("persistent", "persistent", "a batch, persistent"),
    ],
    settings=["1 seeds (1,1,1)", *SMALL],
    top_value=0.7,
    ticks=[i / 10 for i in range(8)],
    goals={("rmat24", SMALL[0]): 0.07, ("rmat24", SMALL[2]): 0.11, ("products", SMALL[2]): 0.30},
)


def headline(setting: str) -> list[str]:
    """A setting as lines that fit beside the names of graphs."""
    seeds, _, rest = setting.partition(" ")
    shape, _, frontier = rest.partition(", ")
    if seeds == "1":
        shape = shape.replace("seeds", "seed")
    return [f"{int(seeds):,} {shape}", *([frontier] if frontier else [])]


def legend(panel: Panel, y: float) -> list[str]:
    parts, at = [text(14, y + 4, panel.title, "title")], float(LEFT)
    for one in panel.series:
        parts.append(f'<rect class="{one.name}" x="{at:.1f}" y="{y - 5:.1f}" width="18" height="10" rx="2"/>')
        parts.append(text(at + 25, y + 4, one.title))
        at += 50 + 7 * len(one.title)
    parts.append(f'<path class="goal" d="M{at:.1f} {y - 7:.1f}v14"/>')
    parts.append(text(at + 10, y + 4, "goal"))
    parts.append(text(WIDTH - 8, y + 30, panel.end, anchor="end"))
    return parts


def last_word(panel: Panel, values: Sequence[tuple[Series, float]]) -> str:
    """Of rates the last one; of times how much sooner the best of the others is there than the first."""
    if panel.setting_in_job:
        return f"{values[-1][1]:.1f}"
    return f"{values[0][1] / min(value for _, value in values[1:]):.2f} ×"


def line_of(panel: Panel, graph: str, setting: str, rows: Rows, y: float) -> tuple[list[str], float]:
    """The bars of a graph from `y` on, and where the next graph begins."""
    values = panel.values(rows, graph, setting)
    height = STEP * len(values)
    middle = y + (height - STEP + BAR) / 2
    parts = [text(LEFT - 12, middle + 4, GRAPHS[graph], anchor="end")]
    for i, (one, value) in enumerate(values):
        size = f'width="{panel.x(value) - LEFT:.1f}" height="{BAR}"'
        parts.append(f'<rect class="{one.name}" x="{LEFT}" y="{y + i * STEP:.1f}" {size} rx="1.5"/>')
    goal = panel.goals.get((graph, setting))
    if goal is not None:
        parts.append(f'<path class="goal" d="M{panel.x(goal):.1f} {y - 3:.1f}v{height - STEP + BAR + 6}"/>')
    parts.append(text(WIDTH - 8, middle + 4, last_word(panel, values), "value", "end"))
    return parts, y + height + BETWEEN


def draw(panel: Panel, rows: Rows, top: float) -> tuple[list[str], float]:
    """A panel from `top` on, and where it ends."""
    parts: list[str] = []
    y = top + HEAD
    for setting in panel.settings:
        for i, one_line in enumerate(headline(setting)):
            parts.append(text(14, y + 13 + 18 * i, one_line, "title"))
        for graph in (graph for graph in GRAPHS if panel.values(rows, graph, setting)):
            line, y = line_of(panel, graph, setting, rows, y)
            parts += line
        y += GAP
    floor = y - GAP + 4
    return [*legend(panel, top + 28), *grid(panel, top + HEAD - 10, floor), *parts], floor + FOOT


def grid(panel: Panel, ceiling: float, floor: float) -> Iterable[str]:
    for tick in panel.ticks:
        at = panel.x(tick)
        yield f'<line class="grid" x1="{at:.1f}" y1="{ceiling:.1f}" x2="{at:.1f}" y2="{floor:.1f}"/>'
        yield text(at, floor + 18, f"{tick:g}", anchor="middle")
    yield text((LEFT + WIDTH - RIGHT) / 2, floor + 38, panel.axis, "title", "middle")


def chart(rates: Rows, times: Rows) -> str:
    above, end = draw(RATES, rates, 0)
    below, height = draw(TIMES, times, end)
    size = round(height)
    parts = [*svg_chart.page(WIDTH, size, MORE_STYLE), *above, *below]
    return svg_chart.svg(
        WIDTH, size, parts, "Mini-batches on an H200: sampled edges a second, and the time of one batch by each executor"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rates", type=Path, default=RATES_FROM)
    parser.add_argument("--times", type=Path, default=TIMES_FROM)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args()
    picture = chart(rows_of(options.rates, "minibatch"), rows_of(options.times, "minibatch"))
    options.output.write_text(picture + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
