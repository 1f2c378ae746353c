"""How fast mini-batches are made on the CPU, beside the engine that PyG has: pyg-lib, or else torch-sparse.

Both engines get the same graph, of which they sample the stored edges, and the same seeds, and return 64-bit ids and
the edges' ids. --way says what they draw: neighbours without replacement ("uniform"), with replacement ("replace"), or
without, in disjoint batches whose vertices are not later than their seed ("time": random times of vertices; pyg-lib
alone). In each of --rounds rounds every job runs once, --warmup rounds before; figures are medians of the rounds,
ratios those of the rounds' own ratios. Jobs, in millions of sampled edges a second:

  tendril, 1 thread       tendril.MinibatchSampler, a batch at a time
  tendril, all threads    the same with as many threads as --threads says
  ... in groups           MinibatchSampler.sample_batches, all batches of a round in one call
  PyG's engine            a batch at a time, as PyG's loader calls it; it samples with one thread
  ..., Torch with more    the same with torch.set_num_threads(--threads), which parallelises copies of large results

With --clock cpu a second is one of the process's CPU time, which other programs on the machine change less, and jobs
have one thread. The ratio at equal threads is that of one thread. Edges a batch are printed of both, since rates are of
the same work only where these agree; those of the first hop, which nothing random decides, have to be equal.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import os
import statistics
import time
from pathlib import Path

import numpy as np
import torch
import torch_geometric.typing
from training import setting
from training_report import Report

import tendril

EXAMPLES = """examples:
  python bench/pyg_sampling.py --small
  python bench/pyg_sampling.py --json bench/results/cpu-pyg-sampling.json
  python bench/pyg_sampling.py --way uniform --way replace --way time --setting 1024:15,10,5
  python bench/pyg_sampling.py --setting 1024:15,10,5 --graph products.safetensors --rounds 11
"""
GOAL = 2.0  # times pyg-lib at equal threads
WAYS = {"uniform": {}, "replace": {"replace": True}, "time": {"disjoint": True}}  # options of tendril.MinibatchSampler
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
SETTINGS = ["1024:15,10,5", "1024:10,10,10", "8192:15,10,5"]


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graph", default="rmat", help="rmat (made here, scale 20, 16 edges a vertex), or a file")
    parser.add_argument(
        "--setting", action="append", metavar="BATCH:FANOUTS", help=f"default: {', '.join(SETTINGS)}"
    )
    parser.add_argument("--way", action="append", choices=WAYS, help="default: uniform; may be given several times")
    parser.add_argument("--batches", type=int, help="a round; default: 16, of large ones fewer, but 4")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--warmup", type=int, default=1, help="rounds before the clock counts")
    parser.add_argument(
        "--threads", type=int, default=len(os.sched_getaffinity(0)), help="default: one a core that the process may use"
    )
    parser.add_argument(
        "--clock", choices=CLOCKS, default="wall", help="cpu: time that the process computes, one thread alone"
    )
    parser.add_argument("--small", action="store_true", help="a small graph and batches: to see whether all is well")
    parser.add_argument("--json", type=Path, help="write the result file")
    args = parser.parse_args()
    if args.small:
        args.rounds, args.warmup = 2, 1
        args.setting = args.setting or ["64:5,4,3"]
    if args.clock == "cpu":
        args.threads = 1
    args.way = args.way or ["uniform"]
    args.setting = [setting(one, parser) for one in args.setting or SETTINGS]
    for name in ("batches", "rounds", "threads"):
        value = getattr(args, name)
        if value is not None and value < 1:
            parser.error(f"--{name}: {value}, expected 1 or more")
    return args


def make_graph(args):
    """Its name, and a graph whose vertices sample from their stored edges."""
    if args.graph != "rmat":
        return Path(args.graph).name, tendril.read_graph(args.graph)
    scale = 12 if args.small else 20
    # As bench/gpu_graphs.cpp makes G1.
    graph = tendril.generate.rmat(scale, symmetrize=True, drop_self_loops=True, drop_duplicates=True, compact=True)
    return f"rmat {scale} x 16, compact", graph


# --- Engines: functions from seeds and fan-outs to a batch's number of edges ------------------------------------------


def pyg_engine(graph, way="uniform", times=None):
    """Name, and function, of the engine that PyG takes; None where it has none, or none that samples in this way."""
    with_times = times is not None
    if not (torch_geometric.typing.WITH_PYG_LIB or torch_geometric.typing.WITH_TORCH_SPARSE and not with_times):
        return None
    indices = graph.indices
    if with_times:  # pyg-lib wants every vertex's neighbours by time
        rows = np.repeat(np.arange(graph.num_vertices, dtype=np.int32), graph.degrees())
        indices = indices[np.lexsort((times[indices], rows))]
    colptr, row = (torch.from_numpy(one.astype(np.int64)) for one in (graph.indptr, indices))
    if torch_geometric.typing.WITH_PYG_LIB:
        node_time = torch.from_numpy(times) if with_times else None
        # (..., node_time, edge_time, seed_time, edge_weight, csc, replace, directed, disjoint, temporal_strategy,
        # return_edge_id); seeds have their vertices' times. What it returns: row, col, ...
        given = (node_time, None, None, None, False, way == "replace", True, with_times, "uniform", True)
        return f"pyg-lib {version('pyg_lib')}", lambda seeds, fanouts: (
            torch.ops.pyg.neighbor_sample(colptr, row, torch.from_numpy(seeds), fanouts, *given)[1].numel()
        )
    return f"torch-sparse {version('torch_sparse')}", lambda seeds, fanouts: (
        # (..., replace, directed). What it returns: node, row, col, edge.
        torch.ops.torch_sparse.neighbor_sample(colptr, row, torch.from_numpy(seeds), fanouts, way == "replace", True)[
            1
        ].numel()
    )


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return getattr(importlib.import_module(package), "__version__", "of unknown version")


def in_turn(engine):
    """A job of an engine that makes a batch at a time: of a round's batches and its first batch's number, the edges."""
    return lambda batches, first: [engine(seeds, first + i) for i, seeds in enumerate(batches)]


def with_torch_threads(job, num_threads):
    """The job, while Torch has so many threads."""

    def run_it(batches, first):
        before = torch.get_num_threads()
        torch.set_num_threads(num_threads)
        try:
            return job(batches, first)
        finally:
            torch.set_num_threads(before)

    return run_it


def of_seeds(seeds, times):
    return None if times is None else times[seeds]


def tendril_sampler(graph, fanouts, way, times, num_threads=0):
    return tendril.MinibatchSampler(graph, fanouts, node_times=times, num_threads=num_threads, **WAYS[way])


def tendril_jobs(graph, fanouts, batch_size, num_threads, way, times):
    sampler = tendril_sampler(graph, fanouts, way, times, num_threads)

    def one(seeds, number):
        return len(sampler.sample(seeds, batch=number, times=of_seeds(seeds, times)).row)

    def in_groups(batches, first):
        seeds = np.concatenate(batches)
        made = sampler.sample_batches(seeds, batch_size, first_batch=first, times=of_seeds(seeds, times))
        return [len(one.row) for one in made]

    threads = "1 thread" if num_threads == 1 else f"{num_threads} threads"
    return {
        f"tendril, {threads}": in_turn(one),
        f"tendril, {threads}, in groups": in_groups,
    }


# --- Measuring -------------------------------------------------------------------------------------------------------


class Seeds:
    """Of every round other batches of different vertices, until all vertices with a neighbour had their turn."""

    def __init__(self, graph, batch_size, num_batches):
        order = np.random.default_rng(0).permutation(np.flatnonzero(graph.degrees()))
        if len(order) < batch_size:
            raise SystemExit(f"batch {batch_size}: the graph has {len(order)} vertices with a neighbour")
        self._all = order[: len(order) // batch_size * batch_size].reshape(-1, batch_size)
        self._num_batches = num_batches

    def of_round(self, turn):
        return [self._all[i % len(self._all)] for i in range(turn * self._num_batches, (turn + 1) * self._num_batches)]


def check_first_hop(graph, engine, seeds, fanout, way, times):
    """Both engines make as many edges of the seeds: the lesser of fan-out and degree each, with times of fan-out and
    neighbours that are not too late; with replacement the fan-out."""
    sampler = tendril_sampler(graph, [fanout], way, times)
    ours, theirs = len(sampler.sample(seeds, times=of_seeds(seeds, times)).row), engine[1](seeds, [fanout])
    if ours != theirs:
        raise SystemExit(f"first hop: tendril makes {ours} edges, {engine[0]} {theirs}, expected as many")


def run(jobs, seeds, args):
    """Of each job the rounds' edges a second, and the edges of every batch, round by round."""
    rates, edges = ({name: [] for name in jobs} for _ in range(2))
    names, clock = list(jobs), CLOCKS[args.clock]
    for turn in range(args.warmup + args.rounds):
        batches = seeds.of_round(turn)
        start = turn % len(names)  # each job follows each other one about as often
        for name in names[start:] + names[:start]:
            begin = clock()
            made = jobs[name](batches, turn * len(batches))
            seconds = clock() - begin
            if turn >= args.warmup:
                rates[name].append(sum(made) / seconds)
                edges[name].append(made)
    return rates, edges


def told_edges(ours, theirs, name):
    """One line on whether both engines did the same work: the mean difference of a batch, and its standard error."""
    apart = [a - b for one, other in zip(ours, theirs, strict=True) for a, b in zip(one, other, strict=True)]
    mean = statistics.fmean(b for other in theirs for b in other)
    error = statistics.stdev(apart) / len(apart) ** 0.5 if len(apart) > 1 else float("nan")
    return (
        f"edges a batch: tendril {mean + statistics.fmean(apart):.0f}, {name} {mean:.0f}; "
        f"{100 * statistics.fmean(apart) / mean:+.3f} %, standard error {100 * error / mean:.3f} %"
    )


def measure(args, report, graph, engine, batch_size, fanouts, way="uniform", times=None):
    num_batches = args.batches or max(4, min(16, 16_384 // batch_size))
    params = f"fan-outs {','.join(map(str, fanouts))}, batch {batch_size}, {num_batches} batches a round"
    if way != "uniform":
        params += f", {way}"
    if args.clock == "cpu":
        params += ", CPU time"
    seeds = Seeds(graph, batch_size, num_batches)
    jobs = {}
    for num_threads in sorted({1, args.threads}):
        jobs |= tendril_jobs(graph, fanouts, batch_size, num_threads, way, times)
    ours = list(jobs)
    if engine is not None:
        name, sample = engine
        check_first_hop(graph, engine, seeds.of_round(0)[0], fanouts[0], way, times)
        jobs[f"{name}, 1 thread"] = in_turn(lambda batch, _: sample(batch, fanouts))
        if args.threads > 1:
            more = with_torch_threads(jobs[f"{name}, 1 thread"], args.threads)
            jobs[f"{name}, Torch with {args.threads} threads"] = more
    rates, edges = run(jobs, seeds, args)
    for job, figures in rates.items():
        report.add(job, params, figures, unit="M edges/s")
    for job in ours:
        if edges[job] != edges[ours[0]]:
            raise SystemExit(f"{job}: other numbers of edges than {ours[0]}, expected the same batches")
    report.add("edges a batch, tendril", params, [statistics.fmean(one) for one in edges[ours[0]]], unit="edges")
    if engine is None:
        return
    theirs = f"{name}, 1 thread"
    report.add(f"edges a batch, {name}", params, [statistics.fmean(one) for one in edges[theirs]], unit="edges")
    print(f"{params}: {told_edges(edges[ours[0]], edges[theirs], name)}")
    for job in ours:
        ratios = [a / b for a, b in zip(rates[job], rates[theirs], strict=True)]
        equal = ", 1 thread" in job and name.startswith("pyg-lib")  # what the goal is about
        report.add_ratio(f"{job} / {theirs}", params, ratios, GOAL if equal else None)


def main():
    args = parse()
    torch.set_num_threads(1)  # else PyG's engines copy their results with many
    torch.manual_seed(0)  # what they draw
    begin = time.perf_counter()
    name, graph = make_graph(args)
    report = Report(name, torch.device("cpu"))
    size = f"{graph.num_vertices} vertices, {graph.num_edges} edges"
    report.add("graph made or read", size, [time.perf_counter() - begin], unit="s")
    for way in args.way:
        times = np.random.default_rng(1).integers(2**31, size=graph.num_vertices) if way == "time" else None
        engine = pyg_engine(graph, way, times)
        if engine is None:
            missing = "no pyg-lib" if way == "time" else "neither pyg-lib nor torch-sparse"
            print(f"PyG's engine: skipped, PyG has {missing} here")
        for batch_size, fanouts in args.setting:
            measure(args, report, graph, engine, batch_size, fanouts, way, times)
    report.print()
    if args.json:
        report.write(args.json)


if __name__ == "__main__":
    main()
