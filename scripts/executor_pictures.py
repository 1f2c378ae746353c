#!/usr/bin/env python3
"""Draws the executors of sampling applications, and of walkers that move, one picture each, for docs/executors.md.

    scripts/executor_pictures.py [FOLDER]      writes executor-*.svg there [docs]

Those of applications show one step of the same three samples: S1 and S3 have the transits 4 and 1, S2 has 4 and 6, and each
transit is asked twice.
"""

import pathlib
import sys

STYLE = """
    .page { fill: #ffffff; }
    .panel { fill: #f6f7f9; stroke: #d9dde3; }
    .box { fill: #ffffff; stroke: #8a94a3; stroke-width: 1.3; }
    .four { fill: #e9f1fc; stroke: #3d74c4; stroke-width: 1.3; }
    .one { fill: #fdf3dc; stroke: #b9862a; stroke-width: 1.3; }
    .six { fill: #e4f4ea; stroke: #2f8a57; stroke-width: 1.3; }
    .arrow { fill: none; stroke: #4d5766; stroke-width: 1.4; }
    .faint { fill: none; stroke: #9aa3b0; stroke-width: 1.2; stroke-dasharray: 2 4; stroke-linecap: round; }
    .head { fill: #4d5766; }
    .h { fill: #1d232b; font-size: 17px; font-weight: 600; }
    .t { fill: #1d232b; font-size: 14px; font-weight: 600; }
    .s { fill: #4b5563; font-size: 12.5px; }
    .m { fill: #1d232b; font-size: 12px; font-family: 'DejaVu Sans Mono',Menlo,Consolas,monospace; }
    .mid { text-anchor: middle; }
    @media (prefers-color-scheme: dark) {
      .page { fill: #14181d; }
      .panel { fill: #1b2026; stroke: #343c47; }
      .box { fill: #242b33; stroke: #78838f; }
      .four { fill: #1c2c44; stroke: #6ea3ee; }
      .one { fill: #372c14; stroke: #dbab4f; }
      .six { fill: #17352a; stroke: #5cbf88; }
      .arrow { stroke: #c3cad3; }
      .faint { stroke: #78838f; }
      .head { fill: #c3cad3; }
      .h, .t, .m { fill: #eef1f4; }
      .s { fill: #b4bdc8; }
    }"""

NAMES = {4: "four", 1: "one", 6: "six"}
SAMPLES = [("S1", [4, 1]), ("S2", [4, 6]), ("S3", [4, 1])]
PAIRS = [(s, t) for s, transits in SAMPLES for t in transits]
CELL = 34  # a slot, or a thread


class Picture:
    def __init__(self, title, summary, height, width=960):
        self.title, self.summary, self.width, self.height = title, summary, width, height
        self.parts = []

    def box(self, x, y, w, h, kind="box", radius=6):
        self.parts.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{w}" height="{h}" rx="{radius}"/>')

    def text(self, x, y, words, kind="s", middle=False):
        self.parts.append(f'<text class="{kind}{" mid" if middle else ""}" x="{x}" y="{y}">{words}</text>')

    def arrow(self, x1, y1, x2, y2, kind="arrow"):
        tip = ' marker-end="url(#tip)"' if kind == "arrow" else ""
        self.parts.append(f'<path class="{kind}" d="M{x1} {y1} L{x2} {y2}"{tip}/>')

    def cell(self, x, y, words, kind):
        self.box(x, y, CELL - 4, CELL - 6, kind, 4)
        self.text(x + (CELL - 4) / 2, y + 19, words, "m", True)

    def slots(self, y):
        """The output row of all samples. @return the middle of each slot's upper edge."""
        tops = []
        self.text(40, y + 19, "result", "t")
        for i, (s, t) in enumerate(PAIRS):
            for j in range(2):
                x = 130 + i * 136 + (i // 2) * 6 + j * CELL
                self.cell(x, y, "", NAMES[t])
                tops.append((x + (CELL - 4) / 2, y))
        for n, (s, _) in enumerate(SAMPLES):
            self.text(130 + n * 278 + 118, y + 48, s, "s", True)
        return tops

    def write(self, path):
        path.write_text(f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}" role="img"
     aria-labelledby="title summary" font-family="'Inter','Segoe UI','Helvetica Neue',Arial,'DejaVu Sans',sans-serif">
  <title id="title">{self.title}</title>
  <desc id="summary">{self.summary}</desc>
  <style>{STYLE}
  </style>
  <defs>
    <marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
      <path class="head" d="M0 0 L10 5 L0 10 z"/>
    </marker>
  </defs>
  <rect class="page" x="0" y="0" width="{self.width}" height="{self.height}"/>
  <rect class="panel" x="10" y="10" width="{self.width - 20}" height="{self.height - 20}" rx="8"/>
  <text class="h" x="30" y="42">{self.title}</text>
  """ + "\n  ".join(self.parts) + "\n</svg>\n")


def cpu():
    p = Picture("CPU: a core a sample", "Each core takes one sample after the other and does all of its steps, transit by "
                "transit, call by call.", 290)
    p.text(30, 66, "A core takes a run of samples and does each from its first step to its last. What it gives is what every "
                   "other executor must give.")
    for row, (core, sample) in enumerate([("core 1", SAMPLES[0]), ("core 2", SAMPLES[1]), ("core 1", SAMPLES[2])]):
        y = 100 + row * 56
        p.text(40, y + 24, f"{core}: {sample[0]}", "t")
        x = 150
        for step in range(2):
            for t in sample[1] if step == 0 else [None] * 4:
                for _ in range(2 if step == 0 else 1):
                    p.cell(x, y + 4, str(t) if t else "·", NAMES.get(t, "box"))
                    x += CELL
            x += 30
            p.arrow(x - 30, y + 18, x - 6, y + 18)
        p.text(x + 4, y + 23, "next step, until done")
    p.text(150, 274, "one box: one call of next(), for the transit whose number it bears")
    return p


def samples():
    p = Picture("GPU, sample-parallel: threads belong to samples",
                "Consecutive threads make the calls of one sample and transit and write neighbouring slots; neighbouring "
                "threads read the lists of different transits.", 420)
    p.text(30, 66, "A thread makes a pair of calls, which share a block of random bits. Neighbouring threads write "
                   "neighbouring slots.")
    tops = p.slots(330)
    lists = {4: 150, 1: 430, 6: 700}
    for t, x in lists.items():
        p.text(x - 8, 112, f"edges of {t}", "t")
        for k in range(5 if t == 4 else 3):
            p.box(x + 90 + k * 20, 98, 18, 18, NAMES[t], 3)
    for i, (s, t) in enumerate(PAIRS):
        x = 130 + i * 136 + (i // 2) * 6
        p.box(x, 220, 2 * CELL - 4, 34, NAMES[t])
        p.text(x + CELL - 2, 242, f"{s}, {t}", "m", True)
        p.arrow(x + CELL - 2, 216, lists[t] + 100 + 18 * (i // 2), 122, "faint")
        p.arrow(x + CELL - 2, 256, x + CELL - 2, 326)
    p.text(40, 242, "threads", "t")
    p.text(30, 86, "Dotted: each reads wherever the list of its transit is.")
    return p


def teams():
    p = Picture("GPU, sample-parallel: a block a sample",
                "Collective applications and unique steps: a block looks up its sample's transits, adds up their degrees, "
                "draws from the lists as if they lay one after the other, and keeps the vertices it has in a hash table.", 400)
    p.text(30, 66, "Where calls of one sample must know of each other: collective applications, unique steps, recorded edges.")
    p.box(40, 90, 880, 210)
    p.text(60, 118, "the block of S1, its shared memory", "t")
    p.text(60, 152, "transits", "s")
    for k, t in enumerate([4, 1]):
        p.cell(150 + k * CELL, 134, str(t), NAMES[t])
    p.text(60, 192, "lists begin at", "s")
    for k, n in enumerate([0, 5, 8]):
        p.cell(150 + k * CELL, 174, str(n), "box")
    p.text(60, 236, "combined edges", "s")
    for k in range(8):
        t = 4 if k < 5 else 1
        p.cell(180 + k * CELL, 218, str(k), NAMES[t])
    p.text(60, 276, "nothing is copied: edge 6 is edge 1 of transit 1, by a binary search among the beginnings", "s")
    p.text(560, 152, "unique steps: a hash table", "s")
    for k, v in enumerate(["", "17", "", "5", "9", ""]):
        p.cell(560 + k * CELL, 164, v, "box")
    p.text(560, 220, "the least slot wins a vertex;", "s")
    p.text(560, 238, "slots that lose call again, round by round", "s")
    for k in range(4):
        x = 180 + k * 2 * CELL
        p.arrow(x + 14, 304, x + 14, 340)
        p.cell(x, 344, "", "four" if k % 2 == 0 else "one")
    p.text(60, 364, "result of S1", "t")
    p.text(470, 364, "then its next step, without another launch", "s")
    return p


def transits():
    p = Picture("GPU, transit-parallel: threads belong to transits",
                "Pairs of sample and transit are sorted by transit. Each transit's list is read once into shared memory by a "
                "sub-warp, a block or several blocks, whose threads make all its calls, and write to the slots of the samples.",
                500)
    p.text(30, 66, "Pairs are grouped by transit. A transit's list is read once; all calls for it are made by threads "
                   "that sit together.")
    p.text(40, 112, "pairs", "t")
    for i, (s, t) in enumerate(PAIRS):
        p.box(130 + i * 90, 92, 80, 30, NAMES[t])
        p.text(170 + i * 90, 112, f"{s}, {t}", "m", True)
    p.text(690, 112, "sorted by transit", "s")
    order = sorted(range(len(PAIRS)), key=lambda i: ([4, 1, 6].index(PAIRS[i][1]), i))
    starts, x = {}, 130
    for place, i in enumerate(order):
        s, t = PAIRS[i]
        if t not in starts:
            x += 30 if place else 0
            starts[t] = x
        p.box(x, 178, 80, 30, NAMES[t])
        p.text(x + 40, 198, f"{s}, {t}", "m", True)
        p.arrow(170 + i * 90, 124, x + 40, 174)
        x += 86
    p.text(40, 198, "map", "t")
    groups = [(4, 3, "blocks: above 1,024 calls"), (1, 2, "a block: up to 1,024"), (6, 1, "a sub-warp: below 32")]
    tops = p.slots(410)
    for t, n, words in groups:
        w = n * 86 - 6
        p.box(starts[t] - 4, 236, max(w, 160) + 8, 86, NAMES[t])
        p.text(starts[t] + 6, 256, words, "s")
        for k in range(5 if t == 4 else 3):
            p.box(starts[t] + 6 + k * 20, 268, 18, 16, "box", 3)
        p.text(starts[t] + 6, 308, "list in shared memory", "s")
    drawn = {4: 0, 1: 0, 6: 0}
    for i, (s, t) in enumerate(PAIRS):
        w = max({4: 3, 1: 2, 6: 1}[t] * 86 - 6, 150)
        count = {4: 3, 1: 2, 6: 1}[t]
        x = starts[t] + (drawn[t] + 1) * w / (count + 1)
        drawn[t] += 1
        p.arrow(round(x), 324, round((tops[2 * i][0] + tops[2 * i + 1][0]) / 2), 406)
    return p


def stream():
    p = Picture("GPU, graph beyond its memory: sub-graphs stream through",
                "The edges of the graph stay in host memory, cut into sub-graphs. Pairs sorted by transit are pairs sorted by "
                "sub-graph; while the calls for one sub-graph run, the next one is copied.", 330)
    p.text(30, 66, "Edges stay in host memory. Pairs sorted by transit are sorted by sub-graph: each is copied once a step, "
                   "during the calls")
    p.text(30, 84, "for the one before.")
    rows = [("host memory", 100), ("copies", 160), ("calls", 220)]
    for words, y in rows:
        p.text(40, y + 24, words, "t")
    kinds = ["four", "one", "six", "box"]
    for k, kind in enumerate(kinds):
        p.box(170 + k * 180, 100, 170, 36, kind)
        p.text(255 + k * 180, 123, f"sub-graph {k}", "m", True)
        p.box(170 + k * 150, 160, 144, 36, kind)
        p.text(242 + k * 150, 183, f"{k} into buffer {'AB'[k % 2]}", "m", True)
        p.box(320 + k * 150, 220, 110, 36, kind)
        p.text(375 + k * 150, 243, f"from {'AB'[k % 2]}", "m", True)
        p.arrow(314 + k * 150, 198, 326 + k * 150, 216)
    p.arrow(170, 284, 900, 284)
    p.text(170, 306, "time; a sub-graph that no transit of the step needs is left out", "s")
    return p


def moving():
    p = Picture("Several GPUs, one graph: walkers go where the edges are",
                "Each GPU has half of the edges, an inbox and a block that takes steps. Walkers leave in runs for the inbox of the "
                "GPU that has the edges of their next vertex; vertices go to the home of the walk, into the column of the step.", 400)
    p.text(30, 66, "One superstep. Walks 1 to 4 have their home on GPU 0, 5 to 8 on GPU 1. Blue vertices have their edges on GPU 0, "
                   "green ones on GPU 1.")
    gpus = [("GPU 0", 30, "four", [(1, 0), (6, 1), (3, 1)]), ("GPU 1", 500, "six", [(2, 0), (5, 1), (8, 0)])]
    inboxes = {}
    for g, (name, x, own, walkers) in enumerate(gpus):
        p.box(x, 84, 430, 290, "page", 8)
        p.text(x + 14, 108, name, "t")
        p.text(x + 70, 108, f"edges {'0 … E/2' if g == 0 else 'E/2 … E'}, tables of them; all offsets")
        p.text(x + 14, 138, "inbox")
        p.text(x + 14, 198, "a step each,")
        p.text(x + 14, 214, "sorted by GPU")
        for i, (walk, _) in enumerate(walkers):
            p.cell(x + 110 + i * CELL, 120, walk, own)
            p.arrow(x + 125 + i * CELL, 150, x + 125 + i * CELL, 184)
        for i, (walk, to) in enumerate(sorted(walkers, key=lambda w: w[1])):
            p.cell(x + 110 + i * CELL, 188, walk, gpus[to][2])
        p.text(x + 230, 198, "16 bytes a walker:", "s")
        p.text(x + 230, 214, "walk, vertex, place", "s")
        p.text(x + 14, 268, "inbox of the")
        p.text(x + 14, 284, "next step")
        coming = [walk for _, _, _, ws in gpus for walk, to in ws if to == g]
        inboxes[g] = [(x + 125 + i * CELL, 256) for i in range(len(coming))]
        for i, walk in enumerate(coming):
            p.cell(x + 110 + i * CELL, 258, walk, own)
        p.text(x + 14, 328, "column of")
        p.text(x + 14, 344, "the step")
        for i in range(4):
            walk = 4 * g + i + 1
            to = next((to for _, _, _, ws in gpus for w, to in ws if w == walk), None)
            p.cell(x + 110 + i * CELL, 318, walk, "box" if to is None else gpus[to][2])
        for line, words in enumerate(["by those who come home,", "or leave from there;", "else by 8 bytes from afar"]):
            p.text(x + 256, 320 + 16 * line, words)
    place = [0, 0]
    for _, x, _, walkers in gpus:
        for i, (_, to) in enumerate(sorted(walkers, key=lambda w: w[1])):
            p.arrow(x + 125 + i * CELL, 218, *inboxes[to][place[to]])
            place[to] += 1
    return p


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1] / "docs")
    for draw in (cpu, samples, teams, transits, stream, moving):
        draw().write(folder / f"executor-{draw.__name__}.svg")


if __name__ == "__main__":
    main()
