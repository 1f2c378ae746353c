"""Charts as SVG text that takes its colours from the page, so that they are right on light and dark ground.

Colours are CSS classes: `axis`, `grid`, `label`, `a`, `b` (the two series), `soft` (background strokes). A picture that is
a file of its own brings them along (`page`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

PAGE_STYLE = """
svg { font-family: 'Inter', 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif; }
text { font-size: 12.5px; fill: #4b5563; }
.page { fill: #ffffff; }
.title, .value { fill: #1d232b; }
.grid { stroke: #e3e6eb; }
.between { stroke: #c3cad3; stroke-width: 2; }
.a { fill: #2563c9; }
.b { fill: #ffffff; stroke: #b4531f; stroke-width: 2; }
.goal { stroke: #1d232b; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
  text { fill: #b4bdc8; }
  .page { fill: #14181d; }
  .title, .value { fill: #eef1f4; }
  .grid { stroke: #2b323b; }
  .between { stroke: #4a5461; }
  .a { fill: #78aaf5; }
  .b { fill: #14181d; stroke: #f0935b; }
  .goal { stroke: #eef1f4; }
}
"""


def power_of_ten(exponent: int) -> str:
    """10, 100, 1,000, 10,000, then 10 with a raised exponent (the same for small numbers)."""
    if 0 <= exponent <= 4:
        return f"{10**exponent:,}"
    raised = str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}"


class LogLog:
    """A chart with two logarithmic axes; marks are given in data coordinates."""

    def __init__(
        self,
        x_range: tuple[float, float],
        y_range: tuple[float, float],
        x_title: str,
        y_title: str,
        width: int = 560,
        height: int = 400,
    ) -> None:
        self.width, self.height = width, height
        self.left, self.right, self.top, self.bottom = 64, 16, 16, 52
        self.x_range = tuple(math.log10(v) for v in x_range)
        self.y_range = tuple(math.log10(v) for v in y_range)
        self.parts: list[str] = []
        self._axes(x_title, y_title)

    def x(self, value: float) -> float:
        low, high = self.x_range
        return self.left + (math.log10(value) - low) / (high - low) * (self.width - self.left - self.right)

    def y(self, value: float) -> float:
        low, high = self.y_range
        share = (math.log10(value) - low) / (high - low)
        return self.height - self.bottom - share * (self.height - self.top - self.bottom)

    def _axes(self, x_title: str, y_title: str) -> None:
        floor, ceiling = self.height - self.bottom, self.top
        for exponent in range(math.ceil(self.x_range[0] - 1e-9), math.floor(self.x_range[1] + 1e-9) + 1):
            at = self.x(10.0**exponent)
            self.parts.append(f'<line class="grid" x1="{at:.1f}" y1="{ceiling}" x2="{at:.1f}" y2="{floor}"/>')
            self.parts.append(
                f'<text class="label" x="{at:.1f}" y="{floor + 18}" text-anchor="middle">'
                f"{power_of_ten(exponent)}</text>"
            )
        for exponent in range(math.ceil(self.y_range[0] - 1e-9), math.floor(self.y_range[1] + 1e-9) + 1):
            at = self.y(10.0**exponent)
            end = self.width - self.right
            self.parts.append(f'<line class="grid" x1="{self.left}" y1="{at:.1f}" x2="{end}" y2="{at:.1f}"/>')
            self.parts.append(
                f'<text class="label" x="{self.left - 8}" y="{at + 4:.1f}" text-anchor="end">'
                f"{power_of_ten(exponent)}</text>"
            )
        self.parts.append(f'<path class="axis" d="M{self.left} {ceiling}V{floor}H{self.width - self.right}"/>')
        middle_x, middle_y = (self.left + self.width - self.right) / 2, (ceiling + floor) / 2
        self.parts.append(
            f'<text class="title" x="{middle_x}" y="{self.height - 10}" text-anchor="middle">'
            f"{escape(x_title)}</text>"
        )
        self.parts.append(
            f'<text class="title" transform="translate(14 {middle_y}) rotate(-90)" '
            f'text-anchor="middle">{escape(y_title)}</text>'
        )

    def dots(self, points: Iterable[tuple[float, float]], name: str, radius: float = 2.5) -> None:
        """One path for all dots: short strokes with round ends, a fraction of the size of circles."""
        moves = "".join(f"M{self.x(x):.1f} {self.y(y):.1f}h0" for x, y in points)
        self.parts.append(f'<path class="dots {name}" stroke-width="{2 * radius}" d="{moves}"/>')

    def line(self, points: Sequence[tuple[float, float]], name: str) -> None:
        path = "L".join(f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in points)
        self.parts.append(f'<path class="line {name}" d="M{path}"/>')

    def note(self, x: float, y: float, text: str, anchor: str = "start", dx: float = 0, dy: float = 0) -> None:
        self.parts.append(
            f'<text class="note" x="{self.x(x) + dx:.1f}" y="{self.y(y) + dy:.1f}" '
            f'text-anchor="{anchor}">{escape(text)}</text>'
        )

    def svg(self, description: str) -> str:
        return svg(self.width, self.height, self.parts, description)


def text(at: float, y: float, what: str, name: str = "label", anchor: str = "start") -> str:
    return f'<text class="{name}" x="{at:.1f}" y="{y:.1f}" text-anchor="{anchor}">{what}</text>'


def page(width: int, height: int, more_style: str = "") -> list[str]:
    """What a picture that is a file of its own begins with: colours for light and dark ground, and the ground."""
    return [
        f"<style>{PAGE_STYLE}{more_style}</style>",
        f'<rect class="page" width="{width}" height="{height}" rx="10"/>',
    ]


def svg(width: int, height: int, parts: Iterable[str], description: str) -> str:
    """A picture for a page of HTML, and, as the only thing in it, for a file."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(description, quote=True)}">' + "".join(parts) + "</svg>"
    )


def bars(
    rows: Sequence[tuple[str, float, str, str, str]], description: str, width: int = 560, height: int = 560
) -> str:
    """Horizontal bars: (label, value, text at the end, note below, class) each. They fill the height."""
    step, label_room, end_room = height / len(rows), 4, 150
    thick = step - 84
    longest = max(value for _, value, _, _, _ in rows)
    parts = []
    for i, (label, value, text, note, name) in enumerate(rows):
        top = 24 + i * step
        length = max(3.0, value / longest * (width - label_room - end_room))
        parts.append(f'<text class="title" x="{label_room}" y="{top:.1f}">{escape(label)}</text>')
        parts.append(
            f'<rect class="bar {name}" x="{label_room}" y="{top + 10:.1f}" width="{length:.1f}" height="{thick:.1f}" rx="5"/>'
        )
        middle = top + 15 + thick / 2
        parts.append(f'<text class="value" x="{label_room + length + 10:.1f}" y="{middle:.1f}">{escape(text)}</text>')
        parts.append(f'<text x="{label_room}" y="{top + thick + 28:.1f}">{escape(note)}</text>')
    return svg(width, height, parts, description)


def tree(
    first: Sequence[int], second: Sequence[Sequence[int]], size_of: dict[int, float], description: str, width: int = 560
) -> str:
    """A tree of two hops around its root, which is in the middle: children of the root on the inner ring, theirs on
    the outer one, each subtree in a sector as wide as it has leaves. Areas are `size_of` vertices."""
    centre = width / 2
    inner, outer = width * 0.23, width * 0.445
    leaves = [max(1, len(children)) for children in second]
    total = sum(leaves)
    edges_near, edges_far, near, far = [], [], [], []
    turn = -math.pi / 2
    for child, children, count in zip(first, second, leaves):
        sector = 2 * math.pi * count / total
        angle = turn + sector / 2
        cx, cy = centre + inner * math.cos(angle), centre + inner * math.sin(angle)
        edges_near.append(f"M{centre} {centre}L{cx:.1f} {cy:.1f}")
        near.append(
            f'<circle class="node a" cx="{cx:.1f}" cy="{cy:.1f}" r="{3 + size_of[child]:.1f}">'
            f"<title>vertex {child}</title></circle>"
        )
        for j, grandchild in enumerate(children):
            theta = turn + sector * (j + 0.5) / count
            gx, gy = centre + outer * math.cos(theta), centre + outer * math.sin(theta)
            bend = (inner + outer) / 2
            bx, by = centre + bend * math.cos(angle), centre + bend * math.sin(angle)
            edges_far.append(f"M{cx:.1f} {cy:.1f}Q{bx:.1f} {by:.1f} {gx:.1f} {gy:.1f}")
            far.append(
                f'<circle class="node b" cx="{gx:.1f}" cy="{gy:.1f}" r="{1.6 + 0.7 * size_of[grandchild]:.1f}">'
                f"<title>vertex {grandchild}</title></circle>"
            )
        turn += sector
    parts = [
        f'<path class="soft" d="{"".join(edges_far)}"/>',
        f'<path class="strong" d="{"".join(edges_near)}"/>',
        *far,
        *near,
        f'<circle class="node root" cx="{centre}" cy="{centre}" r="10"/>',
    ]
    return svg(width, width, parts, description)
