"""Hit rates of caches of features, by policy: the share of a batch's rows that a cache has. Needs no GPU, since a cache on one
does just what the host's bookkeeping does.

Two graphs: one of the size and skew of ogbn-products, whose seeds are everywhere, and one of communities, of which a few
hold all seeds. Batches of 1,024 seeds, fan-outs 15,10,5; one epoch.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from training_graphs import make_graph, shape
from training_report import Report

import tendril
from tendril import _tendril

EXAMPLES = """examples:
  python bench/feature_cache.py --small
  python bench/feature_cache.py --json bench/results/feature-cache-hits.json
"""
FANOUTS, BATCH_SIZE = [15, 10, 5], 1024
SHARES = (0.05, 0.10, 0.20, 0.50)
WINDOWS = (8, 16, 32)


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graph", choices=("products", "communities", "both"), default="both", help="default: both")
    parser.add_argument("--batches", type=int, default=0, help="of an epoch at most; 0: all")
    parser.add_argument("--small", action="store_true", help="small graphs: to see whether all is well")
    parser.add_argument("--json", type=Path, help="write the result file")
    return parser.parse_args()


def products(small):
    """As bench/training.py makes it, and its seeds."""
    of, (_, graph) = shape("products", small), make_graph("products", small)
    return graph, np.random.default_rng(0).permutation(of.num_vertices)[: of.num_seeds]


def communities(small):
    """1,000 communities of which 20 hold all seeds; of each vertex's 15 edges one leads out of its community, to vertices
    of which some are much more popular than others."""
    size, count = (20_000, 100) if small else (2_000_000, 1_000)
    draws = np.random.default_rng(1)
    each = size // count
    source = np.repeat(np.arange(size), 15)
    inside = source // each * each + draws.integers(0, each, source.size)
    popular = draws.permutation(size)[(size * draws.random(source.size) ** 3).astype(np.int64)]
    target = np.where(draws.random(source.size) < 1 / 15, popular, inside)
    graph = tendril.Graph.from_coo(source, target, num_vertices=size, drop_duplicates=True)
    chosen = draws.permutation(count)[: count // 50]
    seeds = (chosen[:, None] * each + np.arange(each)).ravel()
    return graph, draws.permutation(seeds)


def epoch(graph, seeds, number, most):
    """The vertices of an epoch's batches."""
    order = np.random.default_rng(number).permutation(len(seeds))
    total = -(-len(seeds) // BATCH_SIZE)
    total = min(total, most) if most else total
    sampler = tendril.MinibatchSampler(graph, FANOUTS, dtype=np.int32)
    batches = []
    for first in range(0, total, 16):
        part = seeds[order[first * BATCH_SIZE : min(first + 16, total) * BATCH_SIZE]]
        made = sampler.sample_batches(part, BATCH_SIZE, first_batch=number * total + first)
        batches += [one.node for one in made]
    return batches


def hit_rate(batches, num_rows, num_slots, policy, window=1, content=None, scores=None):
    cache = _tendril.RowCache(num_rows, num_slots, policy, window)
    if content is not None:
        cache.fill(content)
    if scores is not None:
        cache.rank(scores)
    hits = 0
    for known in range(len(batches) + window - 1):
        if known < len(batches):
            cache.see(batches[known])
        if known >= window - 1:
            missed, sources, *_ = cache.serve()
            hits += sources.size - missed.size
    return hits / sum(batch.size for batch in batches)


def counts(batches, num_rows):
    return np.bincount(np.concatenate(batches), minlength=num_rows).astype(np.float64)


def measure(report, graph, seeds, most):
    size = graph.num_vertices
    begin = time.perf_counter()
    batches, other = epoch(graph, seeds, 1, most), epoch(graph, seeds, 0, most)
    print(f"{len(batches)} batches of {np.mean([batch.size for batch in batches]):,.0f} rows", flush=True)
    report.add("two epochs sampled", f"{size} vertices, {graph.num_edges} edges", [time.perf_counter() - begin], unit="s")
    core = _tendril.HeteroGraph.of_one(graph._core, None)
    exact = counts(batches, size)
    scores = {
        "degree": _tendril.neighbor_counts(core, 0)[0],
        "pagerank": _tendril.pageranks(core, 20, 0)[0],
        "presample": counts(other, size),
        "exact": exact,
    }
    worth = np.minimum(exact, 255).astype(np.uint8)
    for share in SHARES:
        slots = int(share * size)
        found = {
            name: hit_rate(batches, size, slots, "fixed", content=_tendril.best_rows(one, slots))
            for name, one in scores.items()
        }
        found["lru"] = hit_rate(batches, size, slots, "lru")
        for window in WINDOWS:
            found[f"lookahead, window {window}"] = hit_rate(batches, size, slots, "lookahead", window)
        found["lookahead, window 32, then exact counts"] = hit_rate(batches, size, slots, "lookahead", 32, scores=worth)
        for name, rate in found.items():
            report.add_ratio(f"hits, {name}", f"{len(batches)} batches, cache {share:.0%} of rows", [rate])
            print(f"{share:4.0%} {name:<42} {rate:.3f}", flush=True)


def main():
    args = parse()
    names = ["products", "communities"] if args.graph == "both" else [args.graph]
    for name in names:
        graph, seeds = {"products": products, "communities": communities}[name](args.small)
        report = Report(f"{name}, small" if args.small else name, torch.device("cpu"))
        measure(report, graph, seeds, args.batches)
        if args.json:
            report.write(args.json.with_stem(f"{args.json.stem}-{name}") if len(names) > 1 else args.json)


if __name__ == "__main__":
    main()
