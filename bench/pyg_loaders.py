"""How long an epoch of a loader takes on the CPU: tendril.pyg's NeighborLoader beside PyG's.

Both get the same data with 100 features a vertex, the same seeds, batch size and fan-outs; nothing trains. In each of
--rounds rounds every loader makes one epoch, --warmup rounds before; figures are medians of the rounds, ratios those of
the rounds' own ratios. Jobs, in milliseconds an epoch, shuffled:

  tendril.pyg, prefetch 0        no thread that makes batches ahead
  tendril.pyg, prefetch 2        the default
  PyG, num_workers 0, ...        with pyg-lib, or else torch-sparse; skipped where PyG has neither
  PyG, num_workers 2             each worker samples and gathers with one thread

Torch has --threads threads, so has Tendril's sampler.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path

import torch
import torch_geometric.loader
from pyg_sampling import make_graph, version
from torch_geometric.typing import WITH_PYG_LIB, WITH_TORCH_SPARSE
from training import setting
from training_graphs import make_data
from training_report import Report

import tendril.pyg

EXAMPLES = """examples:
  python bench/pyg_loaders.py --small
  python bench/pyg_loaders.py --json bench/results/cpu-pyg-loaders.json
"""


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graph", default="rmat", help="rmat (made here, scale 20, 16 edges a vertex), or a file")
    parser.add_argument("--setting", metavar="BATCH:FANOUTS", default=None, help="default: 1024:15,10,5")
    parser.add_argument("--batches", type=int, default=32, help="an epoch")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--warmup", type=int, default=1, help="rounds before the clock counts")
    parser.add_argument(
        "--threads", type=int, default=len(os.sched_getaffinity(0)), help="default: one a core that the process may use"
    )
    parser.add_argument("--small", action="store_true", help="a small graph and batches: to see whether all is well")
    parser.add_argument("--json", type=Path, help="write the result file")
    args = parser.parse_args()
    if args.small:
        args.rounds, args.batches = 2, 3
    args.setting = setting(args.setting or ("64:5,4,3" if args.small else "1024:15,10,5"), parser)
    for name in ("batches", "rounds", "threads"):
        if getattr(args, name) < 1:
            parser.error(f"--{name}: {getattr(args, name)}, expected 1 or more")
    return args


def make_loaders(args, data, seeds):
    """By name."""
    batch_size, fanouts = args.setting
    given = {"num_neighbors": fanouts, "input_nodes": seeds, "batch_size": batch_size, "shuffle": True}
    loaders = {
        f"tendril.pyg, prefetch {ahead}": tendril.pyg.NeighborLoader(
            data, prefetch=ahead, num_threads=args.threads, **given
        )
        for ahead in (0, 2)
    }
    if not (WITH_PYG_LIB or WITH_TORCH_SPARSE):
        print("PyG's loader: skipped, PyG has neither pyg-lib nor torch-sparse here")
        return loaders
    engine = "pyg_lib" if WITH_PYG_LIB else "torch_sparse"
    name = f"PyG with {engine.replace('_', '-')} {version(engine)}"
    sampler = torch_geometric.loader.NeighborLoader(data, **given).node_sampler  # one copy of the graph
    for workers in (0, 2):
        loaders[f"{name}, num_workers {workers}"] = torch_geometric.loader.NeighborLoader(
            data, neighbor_sampler=sampler, num_workers=workers, **given
        )
    return loaders


def epoch(loader):
    """Its seconds, and its number of edges."""
    begin = time.perf_counter()
    edges = sum(batch.edge_index.shape[1] for batch in loader)
    return time.perf_counter() - begin, edges


def measure(args, report, loaders):
    batch_size, fanouts = args.setting
    params = f"fan-outs {','.join(map(str, fanouts))}, batch {batch_size}, {args.batches} batches an epoch"
    names = list(loaders)
    seconds, edges = ({name: [] for name in names} for _ in range(2))
    for turn in range(args.warmup + args.rounds):
        start = turn % len(names)  # each loader follows each other one about as often
        for name in names[start:] + names[:start]:
            took, made = epoch(loaders[name])
            if turn >= args.warmup:
                seconds[name].append(took)
                edges[name].append(made)
    for name in names:
        report.add(name, params, seconds[name])
    for name in names:
        report.add(f"edges an epoch, {name}", params, edges[name], unit="edges")
    ours = [name for name in names if name.startswith("tendril")]
    for name in ours:
        for theirs in (one for one in names if one not in ours):
            ratios = [b / a for a, b in zip(seconds[name], seconds[theirs], strict=True)]
            report.add_ratio(f"speed of {name} / {theirs}", params, ratios)
    return {name: statistics.fmean(edges[name]) for name in names}


def main():
    args = parse()
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)  # what PyG's loaders draw
    begin = time.perf_counter()
    name, graph = make_graph(args)
    data, _ = make_data(graph)
    report = Report(name, torch.device("cpu"))
    size = f"{graph.num_vertices} vertices, {graph.num_edges} edges, {data.num_features} features"
    report.add("data made", size, [time.perf_counter() - begin], unit="s")
    seeds = torch.from_numpy(graph.degrees()).nonzero().view(-1)
    wanted = args.batches * args.setting[0]
    if len(seeds) < wanted:
        raise SystemExit(f"{args.batches} batches: the graph has {len(seeds)} vertices with a neighbour")
    seeds = seeds[torch.randperm(len(seeds))[:wanted]]
    measure(args, report, make_loaders(args, data, seeds))
    report.print()
    if args.json:
        report.write(args.json)


if __name__ == "__main__":
    main()
