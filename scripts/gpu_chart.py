"""Draws docs/h200-walks.svg from the result file of the walks on a GPU: Tendril beside the best published system.

Run from anywhere: python3 scripts/gpu_chart.py
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import svg_chart
from result_rows import RESULTS, Key, rows_of
from svg_chart import text

ROOT = Path(__file__).resolve().parent.parent
WALKS = RESULTS / "nvidia-h200-walks.json"
OUTPUT = ROOT / "docs" / "h200-walks.svg"

LOW, HIGH = 0.01, 100.0  # ends of the axis, in G steps/s
WIDTH, LEFT, RIGHT, TOP, STEP, GAP, BOTTOM = 760, 236, 66, 66, 18, 10, 52


@dataclass(frozen=True)
class Comparison:
    """A job of the result file; by graph, in G steps/s, the goal and the best published system on an H200.

    Published figures: docs/papers.md, "The published systems, run again". Dynamic walks read every weight at each step, as
    the published systems do: a row that has read a table instead is not comparable.
    """

    title: str
    job: str
    goals: Mapping[str, float]
    published: Mapping[str, float]

    def figure(self, rows: Mapping[Key, float], graph: str) -> float:
        """Our rate, in G steps/s."""
        found = {key: value for key, value in rows.items() if key.graph == graph and self.fits(key)}
        if len(found) != 1:
            raise SystemExit(f"{graph}, {self.job}: {len(found)} rows, expected 1: {[*found]}")
        return found.popitem()[1] / 1e9

    def fits(self, key: Key) -> bool:
        if not self.job.startswith("dynamic"):
            return key.job == self.job
        without = key.job in (self.job, f"{self.job}, without a table")
        return without and "scan, 0 MB of tables" in key.params


COMPARISONS = [
    Comparison("uniform", "uniform", {"g1": 36, "g2": 29}, {"g1": 18.7, "g2": 15.9}),
    Comparison("weighted", "weighted", {"g1": 36, "g2": 32, "g1l": 36}, {"g1": 7.7, "g2": 6.6, "g1l": 0.146}),
    Comparison("weighted node2vec", "node2vec p 2 q 0.5, weighted", {"g1": 13, "g2": 9}, {"g1": 2.5, "g2": 1.28}),
    Comparison("node2vec", "node2vec p 2 q 0.5", {"g1": 15, "g2": 10}, {"g1": 1.83, "g2": 1.90}),
    Comparison("weighted MetaPath", "MetaPath 0..4, weighted", {"g1": 12, "g2": 8}, {"g1": 1.26, "g2": 1.19}),
    Comparison("PPR from the hub", "PPR 0.2 from the hub", {"g1": 12, "g2": 10}, {"g1": 2.8, "g2": 2.85}),
    Comparison(
        "dynamic DeepWalk", "dynamic weighted DeepWalk", {"g1": 0.29, "g2": 0.105}, {"g1": 0.216, "g2": 0.063}
    ),
    Comparison("dynamic node2vec", "dynamic weighted node2vec", {"g1": 0.15}, {"g1": 0.036, "g2": 0.0119}),
    Comparison("dynamic MetaPath", "dynamic weighted MetaPath", {"g1": 0.36}, {"g1": 0.120, "g2": 0.0475}),
]


def x(value: float) -> float:
    share = math.log10(value / LOW) / math.log10(HIGH / LOW)
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def legend() -> list[str]:
    y = 22
    return [
        f'<circle class="a" cx="{LEFT}" cy="{y}" r="5.5"/>',
        text(LEFT + 12, y + 4, "Tendril"),
        f'<circle class="b" cx="{LEFT + 90}" cy="{y}" r="4.5"/>',
        text(LEFT + 102, y + 4, "best published system"),
        f'<path class="goal" d="M{LEFT + 262} {y - 7}v14"/>',
        text(LEFT + 272, y + 4, "goal"),
        text(WIDTH - 8, TOP - 16, "ratio", anchor="end"),
    ]


def grid(height: int) -> list[str]:
    parts = []
    for exponent in range(round(math.log10(LOW)), round(math.log10(HIGH)) + 1):
        at = x(10.0**exponent)
        parts.append(f'<line class="grid" x1="{at:.1f}" y1="{TOP - 10}" x2="{at:.1f}" y2="{height - BOTTOM}"/>')
        parts.append(text(at, height - BOTTOM + 18, f"{10.0**exponent:g}", anchor="middle"))
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(text(middle, height - 12, "G steps/s, logarithmic: 10⁶ walkers, 80 steps", "title", "middle"))
    return parts


def line_of(y: float, graph: str, ours: float, published: float, goal: float | None) -> list[str]:
    """One graph of a job: both figures, what is between them, the goal, and their ratio."""
    ratio = ours / published
    parts = [
        text(LEFT - 12, y + 4, graph.upper(), anchor="end"),
        f'<line class="between" x1="{x(published):.1f}" y1="{y:.1f}" x2="{x(ours):.1f}" y2="{y:.1f}"/>',
    ]
    parts.append(f'<circle class="b" cx="{x(published):.1f}" cy="{y:.1f}" r="4.5"/>')
    parts.append(f'<circle class="a" cx="{x(ours):.1f}" cy="{y:.1f}" r="5.5"/>')
    if goal is not None:
        parts.append(f'<path class="goal" d="M{x(goal):.1f} {y - 7:.1f}v14"/>')
    parts.append(text(WIDTH - 8, y + 4, f"{ratio:.0f} ×" if ratio >= 10 else f"{ratio:.1f} ×", "value", "end"))
    return parts


def chart(rows: Mapping[Key, float]) -> str:
    height = TOP + BOTTOM + sum(STEP * len(c.published) + GAP for c in COMPARISONS)
    parts = svg_chart.page(WIDTH, height)
    parts += grid(height) + legend()
    y = float(TOP)
    for c in COMPARISONS:
        parts.append(text(14, y + 4, c.title, "title"))
        for graph, published in c.published.items():
            parts += line_of(y, graph, c.figure(rows, graph), published, c.goals.get(graph))
            y += STEP
        y += GAP
    return svg_chart.svg(WIDTH, height, parts, "Steps a second of walks on an H200, Tendril beside published systems")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=WALKS)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args()
    options.output.write_text(chart(rows_of(options.results, "walks")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
