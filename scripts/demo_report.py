"""Runs the demo's jobs with build/bin/tendril, prints a table, and draws what was sampled into report.html."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import numpy as np

import svg_chart
from demo_page import page

ROOT = Path(__file__).resolve().parent.parent
TENDRIL = Path(os.environ.get("TENDRIL_BIN", ROOT / "build" / "bin" / "tendril"))
BUNDLED = ROOT / "data" / "email-enron.npz"
REPEATS = 3  # of each job; the fastest counts
NUM_SEEDS = 1024
LONG_WALKS, LONG_STEPS, SETTLING = 2000, 20000, 500  # walks long enough to forget where they began


@dataclass
class Job:
    """A job of the table and what came of it."""

    name: str
    arguments: list[str]
    unit: str  # of its rate
    output: Path
    summary: dict = field(default_factory=dict)

    @property
    def samples(self) -> str:
        if self.unit == "steps":
            return f"{self.summary['num_walks']:,} walks"
        return f"{self.summary['num_seeds']:,} neighbourhoods"

    @property
    def count(self) -> int:
        return self.summary["steps" if self.unit == "steps" else "sampled_edges"]

    @property
    def rate(self) -> float:
        return self.summary[f"{self.unit}_per_second"]

    @property
    def rate_text(self) -> str:
        return f"{si(self.rate)} {self.unit}"

    @property
    def duration_text(self) -> str:
        seconds = self.summary["sample_seconds"]
        time = f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"
        return f"{self.count:,} {self.unit} in {time}"


def tendril(*arguments: object) -> dict:
    """Runs the command line. Its --json summary; what it complains about ends the demo."""
    done = subprocess.run([str(TENDRIL), *map(str, arguments), "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr.strip() or f"tendril {arguments[0]} ended with {done.returncode}")
    return json.loads(done.stdout)


def si(value: float) -> str:
    for limit, prefix in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= limit:
            return f"{value / limit:.3g}{prefix}"
    return f"{value:.3g}"


def machine() -> str:
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    cores = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {cores} core{'s' if cores > 1 else ''}, {memory:.0f} GiB memory, {platform.system()}"


def make_jobs(folder: Path) -> list[Job]:
    def walk(name: str, *options: str) -> Job:
        output = folder / f"{name.split()[0].lower()}.npy"
        return Job(name, ["walk", "-o", output, "--length", 80, "--walks", 10, *options], "steps", output)

    def hops(name: str, fanouts: str) -> Job:
        output = folder / f"hops-{fanouts.replace(',', '-')}.npz"
        return Job(name, ["sample", "-o", output, "--fanouts", fanouts, "--num-seeds", NUM_SEEDS], "edges", output)

    return [
        walk("DeepWalk, 10 walks × 80 steps a vertex", "--app", "deepwalk"),
        walk("node2vec (p 2, q 0.5), 10 × 80 a vertex", "--app", "node2vec", "--p", "2", "--q", "0.5"),
        hops("2-hop neighbourhoods (25, 10)", "25,10"),
        hops("3-hop neighbourhoods (15, 10, 5)", "15,10,5"),
    ]


def run(job: Job, graph: Path) -> None:
    verb, *options = job.arguments
    runs = [tendril(verb, graph, *options) for _ in range(REPEATS)]
    job.summary = min(runs, key=lambda summary: summary["sample_seconds"])


def print_table(jobs: list[Job], graph: str) -> None:
    rows = [("graph", "job", "samples", "steps or edges", "per second", "memory")]
    for job in jobs:
        rows.append(
            (
                graph,
                job.name,
                job.samples,
                f"{job.count:,} {job.unit}",
                job.rate_text,
                f"{job.summary['peak_memory_bytes'] / 1e6:.0f} MB",
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for i, row in enumerate(rows):
        cells = [cell.ljust(width) if k < 2 else cell.rjust(width) for k, (cell, width) in enumerate(zip(row, widths))]
        print("  ".join(cells))
        if i == 0:
            print("  ".join("─" * width for width in widths))


def load_csr(graph: Path, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and targets, by way of an .npz, whatever format the graph has."""
    copy = folder / "graph.npz"
    tendril("convert", graph, copy)
    with np.load(copy, allow_pickle=False) as arrays:
        return arrays["indptr"], arrays["indices"].astype(np.int64)


def largest_component(indptr: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Vertices of the largest connected component of an undirected graph."""
    # Every vertex takes the smallest name among its neighbours and itself, then the name of that name, until none
    # changes.
    names = np.arange(len(indptr) - 1)
    sources = np.repeat(names, np.diff(indptr))
    while True:
        smaller = names.copy()
        np.minimum.at(smaller, sources, names[indices])
        smaller = smaller[smaller]
        if np.array_equal(smaller, names):
            break
        names = smaller
    return np.flatnonzero(names == np.bincount(names).argmax())


def degree_chart(degrees: np.ndarray) -> str:
    values, counts = np.unique(degrees[degrees > 0], return_counts=True)
    chart = svg_chart.LogLog((0.8, values.max() * 1.5), (0.7, counts.max() * 2), "degree", "vertices")
    chart.dots(zip(values.tolist(), counts.tolist()), "a", radius=2.6)
    chart.note(values[-1], counts[-1], f"largest: {values[-1]:,}", anchor="end", dx=4, dy=-44)
    return chart.svg("Number of vertices of each degree, both axes logarithmic")


def pick_tree(path: Path, degrees: np.ndarray) -> tuple[int, list[int], list[list[int]]]:
    """Of the sampled two-hop trees one that fills its first hop and has a typical second hop."""
    with np.load(path, allow_pickle=False) as arrays:
        seeds, hop1, hop2 = arrays["seeds"], arrays["hop1"], arrays["hop2"]
    filled = (hop2 >= 0).sum(axis=(1, 2))
    full = (hop1 >= 0).sum(axis=1) == hop1.shape[1]
    candidates = np.flatnonzero(full) if full.any() else np.arange(len(seeds))
    chosen = candidates[np.argsort(filled[candidates], kind="stable")[len(candidates) // 2]]
    children = [(int(v), [int(w) for w in row if w >= 0]) for v, row in zip(hop1[chosen], hop2[chosen]) if v >= 0]
    return int(seeds[chosen]), [v for v, _ in children], [row for _, row in children]


def tree_chart(seed: int, first: list[int], second: list[list[int]], degrees: np.ndarray) -> str:
    vertices = {*first, *(w for row in second for w in row)}
    sizes = {v: float(np.log10(degrees[v] + 1)) * 1.9 for v in vertices}
    return svg_chart.tree(first, second, sizes, f"Sampled two-hop neighbourhood of vertex {seed}")


@dataclass
class Visits:
    """How often long walks were at each vertex of a component, and how often they should be."""

    expected: np.ndarray
    counted: np.ndarray

    @property
    def median_deviation(self) -> float:
        """|counted / expected - 1| of the median group, vertices being pooled until they expect 1,000 visits."""
        order = np.argsort(self.expected, kind="stable")
        _, groups = np.unique(np.cumsum(self.expected[order]) // 1000, return_inverse=True)
        counted = np.bincount(groups, weights=self.counted[order])
        expected = np.bincount(groups, weights=self.expected[order])
        return float(np.median(np.abs(counted / expected - 1)))


def count_visits(graph: Path, folder: Path, indptr: np.ndarray, indices: np.ndarray) -> Visits:
    component = largest_component(indptr, indices)
    starts = folder / "starts.npy"
    np.save(starts, component[np.linspace(0, len(component) - 1, LONG_WALKS).astype(np.int64)])
    output = folder / "long.npy"
    tendril("walk", graph, "-o", output, "--starts", starts, "--length", LONG_STEPS)
    walks = np.load(output, mmap_mode="r")
    visits = np.zeros(len(indptr) - 1, dtype=np.int64)
    for first in range(0, len(walks), 100):
        visits += np.bincount(walks[first : first + 100, SETTLING:].ravel(), minlength=len(visits))
    degrees = np.diff(indptr)[component]
    return Visits(visits.sum() * degrees / degrees.sum(), visits[component])


def visits_chart(visits: Visits) -> str:
    seen = visits.counted > 0
    x, y = visits.expected[seen] / visits.counted.sum(), visits.counted[seen] / visits.counted.sum()
    low, high = min(x.min(), y.min()) * 0.7, max(x.max(), y.max()) * 1.5
    chart = svg_chart.LogLog(
        (low, high), (low, high), "stationary probability: degree / sum of degrees", "share of visits"
    )
    # One dot for all vertices that would be drawn within the same pixel.
    pixels = {(round(2 * chart.x(a)), round(2 * chart.y(b))): (a, b) for a, b in zip(x.tolist(), y.tolist())}
    chart.line([(low, low), (high, high)], "b")
    chart.dots(pixels.values(), "a faint", radius=1.5)
    return chart.svg("Share of visits of each vertex against its stationary probability, both axes logarithmic")


def rate_chart(jobs: list[Job]) -> str:
    rows = [
        (job.name, job.rate, f"{job.rate_text}/s", job.duration_text, "a" if job.unit == "steps" else "b") for job in jobs
    ]
    return svg_chart.bars(rows, "Steps or sampled edges a second of each job")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", type=Path, default=BUNDLED, help="an undirected graph")
    parser.add_argument("--output", type=Path, default=ROOT / "report.html")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="tendril-demo-") as temporary:
        folder = Path(temporary)
        info = tendril("info", options.graph)
        jobs = make_jobs(folder)
        for job in jobs:
            run(job, options.graph)
        print_table(jobs, info["name"])

        indptr, indices = load_csr(options.graph, folder)
        degrees = np.diff(indptr)
        seed, first, second = pick_tree(jobs[2].output, degrees)
        figures = {
            "degrees": degree_chart(degrees),
            "tree": tree_chart(seed, first, second, degrees),
            "rates": rate_chart(jobs),
        }
        facts = {
            "machine": machine(),
            "date": date.today().isoformat(),
            "version": jobs[0].summary["version"],
            "threads": jobs[0].summary["threads"],
            "repeats": REPEATS,
            "seed": seed,
            "bundled": options.graph == BUNDLED,
            "hop1": len(first),
            "hop2": sum(map(len, second)),
        }
        if info["symmetric"]:
            visits = count_visits(options.graph, folder, indptr, indices)
            figures["visits"] = visits_chart(visits)
            facts |= {
                "visits": int(visits.counted.sum()),
                "vertices": len(visits.counted),
                "deviation": visits.median_deviation,
            }
    rows = [
        (
            job.name,
            job.samples,
            f"{job.count:,}",
            f"{job.rate_text}/s",
            f"{job.summary['peak_memory_bytes'] / 1e6:.0f} MB",
        )
        for job in jobs
    ]
    options.output.write_text(page(info, rows, figures, facts), encoding="utf-8")
    print(f"\nPictures of what was sampled: {os.path.relpath(options.output)}")


if __name__ == "__main__":
    main()
