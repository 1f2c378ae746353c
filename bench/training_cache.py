"""What features in host memory cost training beside a cache of them on the GPU, epoch by epoch, and what PyG's loader costs.

Each case runs in turn, --rounds times an epoch after a first one; between any two epochs the same training runs on batches
that lie on the GPU already. Figures are ratios of the two, of one round each, so that they share the machine's state. The
GPU's busy share is NVML's, sampled during the epochs: the part of the time in which some kernel ran.

Graphs:

  products  of the size and skew of ogbn-products; tendril.pyg.NeighborLoader, 3 layers
  reddit    of the size of Reddit: 490 neighbours a vertex, 602 floats; the same
  mag       of the types, relations and numbers of ogbn-mag; R-GCN of 2 layers
  FILE      which `tendril generate` can make, read by tendril.Pipeline, with random features of --width floats: its edges are
            not copied to PyG's form, which would take 16 bytes each. --pipeline does so with products and reddit, too

--features FILE leaves the features of products or reddit in a mapped file, which may be larger than memory: it is written
if it is not there, with --width floats a row. The file's pages stay in memory as far as there is room, so a file much larger
than that measures the disk.

With --peer, rows "epoch / epoch with PyG's loader" hold each case's epoch against the fastest of PyG's loader's: the goal is
that none is above 1. Models, but for the trimmed SAGE, are those that both loaders' batches can be trained on.
"""

from __future__ import annotations

import argparse
import itertools
import re
import statistics
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
import torch_geometric.typing
from training import each, now
from training_graphs import (
    MAG,
    NUM_CLASSES,
    SHAPES,
    made_name,
    make_data,
    make_graph,
    make_mag,
    shape,
    with_features,
    write_features,
)
from training_models import RGCN, SAGE, OnBatches, Replayed, homogeneous, trainer
from training_report import Report

import tendril
from tendril import FeatureCache
from tendril.pyg import NeighborLoader, NeighborSampler

EXAMPLES = """examples:
  python bench/training_cache.py --json bench/results/nvidia-h200-training-cache.json
  python bench/training_cache.py --bf16 --cache 0,0.2
  python bench/training_cache.py --bf16 --bf16-features --cache 0,0.2
  python bench/training_cache.py --bf16 --replay --cache 0,0.2
  python bench/training_cache.py --pipeline --cache 0,0.2
  python bench/training_cache.py --graph reddit --model gat --peer 8,14
  python bench/training_cache.py --graph mag --cache 0 --peer 14
  python bench/training_cache.py --features rows.npy --width 4096 --batch-size 64 --steps 50   # 40 GB, .8 GB a batch
  tendril generate powerlaw papers.safetensors --vertices 111059956 --exponent 2.6077 --min-degree 6 \\
    --max-degree 127858 --symmetrize --drop-self-loops --drop-duplicates --device cuda
  python bench/training_cache.py --graph papers.safetensors --width 128 --steps 300
"""
FANOUTS, FANOUTS_OF_TYPES, BATCH_SIZE, SMALL_BATCH = [15, 10, 5], [15, 10], 1024, 16
HEADS = 4  # of GAT
EPOCHS_BESIDE_ROUNDS = 3  # of a loader: two first ones, and one without training
MODELS = {
    "trimmed": "trimmed SAGE",
    "plain": "plain SAGE",
    "gcn": "GCN",
    "gat": f"GAT of {HEADS} heads",
    "rgcn": "R-GCN",
}


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graph", default="products", help="products, reddit, mag, which are made here, or a graph's file")
    parser.add_argument("--device", default="cuda")
    parser.add_argument(
        "--cache", help="shares of the rows; 0: none; default: 0,0.05,0.1,0.2, and on the CPU, which has no caches, 0"
    )
    parser.add_argument("--policy", default="lookahead", help="several by commas; default: lookahead")
    parser.add_argument("--width", type=int, default=0, help="floats of a row, of a graph's file (default: 100) or --features")
    parser.add_argument("--features", type=Path, metavar="FILE", help="products, reddit: a .npy that holds the features")
    parser.add_argument("--batch-size", type=int, default=0, help=f"seeds of a batch; default: {BATCH_SIZE}")
    parser.add_argument("--steps", type=int, default=0, help="batches of an epoch at most; 0: all")
    parser.add_argument("--bf16", action="store_true", help="train in bfloat16 where Torch's autocast does")
    parser.add_argument(
        "--bf16-features", action="store_true", help="products, reddit, mag: rows of bfloat16, half as wide, not of float32"
    )
    parser.add_argument(
        "--replay", action="store_true", help="products, reddit: each step is one CUDA graph, on batches padded to one size"
    )
    parser.add_argument("--pipeline", action="store_true", help="products, reddit: by tendril.Pipeline, without PyG")
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--model",
        choices=MODELS,
        help="SAGE, trimmed (as in bench/training.py) or plain, GCN, GAT; mag: R-GCN; default: trimmed, and rgcn for mag",
    )
    parser.add_argument(
        "--peer", metavar="WORKERS", help="graphs made here: also PyG's own loader, with so many processes, several by commas"
    )
    parser.add_argument("--peer-steps", type=int, default=60, help="batches of PyG's loader; default: 60")
    parser.add_argument("--no-device", action="store_true", help="leave out the case of features on the GPU")
    parser.add_argument("--small", action="store_true", help="a small graph and model: to see whether all is well")
    parser.add_argument("--json", type=Path, help="write the result file")
    args = parser.parse_args()
    if args.small:
        args.hidden, args.rounds, args.steps = 16, 1, args.steps or 4
    args.batch_size = args.batch_size or (SMALL_BATCH if args.small else BATCH_SIZE)
    if args.batch_size < 1:
        parser.error(f"--batch-size: {args.batch_size}, expected 1 or more")
    args.device = torch.device(args.device)
    args.cache = args.cache or ("0,0.05,0.1,0.2" if args.device.type == "cuda" else "0")
    args.cache = [float(one) for one in args.cache.split(",")]
    args.policy = args.policy.split(",")
    if any(args.cache) and args.device.type != "cuda":
        parser.error(f"--cache: {max(args.cache)} on the CPU, expected 0: caches are on GPUs")
    args.model = args.model or ("rgcn" if args.graph == "mag" else "trimmed")
    if (args.model == "rgcn") != (args.graph == "mag"):
        parser.error(f"--model: {args.model} for --graph {args.graph}, expected rgcn for mag, and another one for the others")
    if args.bf16_features and (args.features or args.graph not in (*SHAPES, "mag")):
        parser.error(f"--bf16-features: --graph is {args.graph}, expected one of {', '.join(SHAPES)}, mag, without --features")
    if args.replay and (args.graph not in SHAPES or args.model != "trimmed"):
        parser.error(f"--replay: {args.model} on {args.graph}, expected trimmed on one of {', '.join(SHAPES)}")
    if args.features and args.graph not in SHAPES:
        parser.error(f"--features: --graph is {args.graph}, expected one of {', '.join(SHAPES)}")
    if args.pipeline and (args.graph not in SHAPES or args.features or args.bf16_features or args.replay or args.peer):
        parser.error(f"--pipeline: for --graph {', '.join(SHAPES)}, without --features, --bf16-features, --replay and --peer")
    if args.peer and args.replay:
        parser.error("--peer: with --replay, which needs batches of one size")
    if args.peer and args.graph not in (*SHAPES, "mag"):
        parser.error(f"--peer: --graph is {args.graph}, expected one of {', '.join(SHAPES)}, mag")
    return args


class BusyShare:
    """Samples NVML's utilization while a with block runs; none without NVML."""

    def __init__(self, device):
        self.samples, self._device, self._stop = [], device, threading.Event()

    def __enter__(self):
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def _run(self):
        try:
            torch.cuda.utilization(self._device)
        except Exception as error:  # whatever keeps NVML from answering
            print(f"GPU busy share: not measured, {error}")
            return
        while not self._stop.wait(0.1):
            self.samples.append(torch.cuda.utilization(self._device) / 100)


# --- Loaders ---------------------------------------------------------------------------------------------------------


class Made:
    """A graph that is made here, in the loaders of PyG's users."""

    fanouts, seed_type = FANOUTS, None

    def __init__(self, args):
        self.name, data, seeds = self._make(args)
        self.row_type = "bfloat16" if args.bf16_features else "float"
        if args.bf16_features:
            for store in data.node_stores:
                store.x = store.x.to(torch.bfloat16)
        self.batch_size = args.batch_size
        self.seeds = seeds[: args.steps * self.batch_size] if args.steps else seeds
        self._args, self.data = args, data
        self._sampler = NeighborSampler(data, self.fanouts, device=args.device)
        self._padding = None
        self._host = with_features(data, "host", args.device) if args.device.type == "cuda" else data

    def _make(self, args):
        """The name, the data and the seeds."""
        of = shape(args.graph, args.small)
        self.width, self.num_classes = of.num_features, of.num_classes
        name, graph = make_graph(args.graph, args.small)
        if args.features is None:
            return name, *make_data(graph, of)
        self.width = args.width or self.width
        write_features(args.features, of.num_vertices, self.width)
        return name, *make_data(graph, of, tendril.read_features(args.features))

    def _options(self):
        seeds = self.seeds if self.seed_type is None else (self.seed_type, self.seeds)
        return {"input_nodes": seeds, "batch_size": self.batch_size, "shuffle": True}

    def loader(self, cache=None, on_device=False):
        data = with_features(self.data, "device", self._args.device) if on_device else self._host
        more = {"neighbor_sampler": self._sampler, "device": self._args.device, "cache": cache}
        made = NeighborLoader(data, self.fanouts, **self._options(), **more)
        if self._args.replay:
            if self._padding is None:  # all loaders have the same epochs
                self._padding = made.padding(range(EPOCHS_BESIDE_ROUNDS + self._args.rounds))
            made.pad = self._padding
        return made

    def loader_of_pyg(self, workers):
        from torch_geometric.loader import NeighborLoader as Theirs

        data = self.data
        if self._args.features is not None:
            data = data.__copy__()
            data.x = torch.from_numpy(np.load(self._args.features, mmap_mode="r"))
        more = {"num_workers": workers, "persistent_workers": workers > 0, "pin_memory": True}
        return Theirs(data, self.fanouts, **self._options(), **more)

    @staticmethod
    def batch(made):
        return made

    @staticmethod
    def num_rows(batch):
        return batch.x.size(0)


class Mag(Made):
    """Vertices and edges of several types."""

    fanouts, seed_type, width, num_classes = FANOUTS_OF_TYPES, "paper", MAG.num_features, MAG.num_classes

    def _make(self, args):
        return made_name("mag", args.small), *make_mag(args.small)

    @staticmethod
    def num_rows(batch):
        return sum(x.size(0) for x in batch.x_dict.values())


class ByPipeline:
    """A pipeline on a graph, with random features in page-locked memory, if there is a GPU."""

    fanouts, seed_type, num_classes, row_type = FANOUTS, None, NUM_CLASSES, "float"

    def __init__(self, args):
        self.width = args.width or (SHAPES[args.graph].num_features if args.pipeline else 100)
        self.name, graph = make_graph(args.graph, args.small)
        count = graph.num_vertices
        x = torch.empty(count, self.width)
        part = torch.randn(1 << 18, self.width, generator=torch.Generator().manual_seed(0))
        for first in range(0, count, len(part)):
            x[first : first + len(part)] = part[: min(len(part), count - first)]
        table, on_gpu = tendril.FeatureTable(x), args.device.type == "cuda"
        self._x, self._device = table.pin_memory() if on_gpu else table, args.device
        self._y = torch.randint(NUM_CLASSES, (count,), device=args.device)
        self._batch_size = args.batch_size
        seeds = (args.steps or -(-count // 100 // BATCH_SIZE)) * self._batch_size
        self._seeds = torch.randint(count, (seeds,), generator=torch.Generator().manual_seed(1)).numpy()
        stream = torch.cuda.Stream(args.device, priority=-1) if on_gpu else None
        self._sampler = tendril.MinibatchSampler(graph.to(str(args.device)), FANOUTS, stream=stream)

    def loader(self, cache=None, on_device=False):
        x = self._x.to(str(self._device)) if on_device else self._x
        tables = {"features": {"x": x}, "labels": {"y": self._y}}
        return tendril.Pipeline(
            self._sampler, self._seeds, batch_size=self._batch_size, shuffle=True, bulk=16, cache=cache, **tables
        )

    @staticmethod
    def batch(made):
        small = made.minibatch
        row, col = torch.from_dlpack(small.row), torch.from_dlpack(small.col)
        return SimpleNamespace(
            x=torch.from_dlpack(made.features["x"]),
            y=torch.from_dlpack(made.labels["y"]),
            edge_index=torch.stack([col, row]),
            num_sampled_nodes=[int(one) for one in small.num_sampled_nodes],
            num_sampled_edges=[int(one) for one in small.num_sampled_edges],
            batch_size=len(made.index),
        )

    @staticmethod
    def num_rows(batch):
        return batch.x.size(0)


# --- Measuring -------------------------------------------------------------------------------------------------------


def make_step(args, source, batch):
    """A function that trains on a batch, as large as this one if it is a CUDA graph. The model is the same for every loader, and
    so are its first weights."""
    torch.manual_seed(0)
    sizes = {"width": source.width, "hidden": args.hidden, "num_layers": len(source.fanouts), "num_classes": source.num_classes}
    if args.model == "rgcn":
        model = RGCN(source.data.edge_types, source.seed_type, **sizes)
    elif args.model in ("trimmed", "plain"):
        model = SAGE(trimmed=args.model == "trimmed", **sizes)
    else:
        model = OnBatches(homogeneous(args.model.upper(), heads=HEADS, **sizes))
    if args.replay:
        return Replayed(model.to(args.device), args.device, batch, args.bf16)
    return trainer(model.to(args.device), args.device, source.seed_type, args.bf16)


def told_of(args):
    kind = "bf16" if args.bf16 else "float32"
    recorded = ", a CUDA graph" if args.device.type == "cuda" else ", on arrays that stay"
    by = ", by Pipeline" if args.pipeline else ""
    return f"{MODELS[args.model]}, hidden {args.hidden}, {kind}{recorded if args.replay else ''}{by}"


def share_of_gpu(by):
    """Of LoaderStats.host_rows."""
    part = re.search(r"gpu (\d+) %", by)
    return 1.0 if by == "gpu" else float(part[1]) / 100 if part else 0.0


def kept(source, args):
    """Batches on the device, as many as are enough to tell an epoch's mean, with their rows."""
    batches = []
    for made in source.loader():
        batches.append(source.batch(made))
        if len(batches) == (4 if args.small else 60) or (args.device.type == "cuda" and torch.cuda.mem_get_info()[0] < 40e9):
            break
    return batches


def measure(args, source, report):
    """The epochs of each case, by its params in the report."""
    batches = kept(source, args)
    train = make_step(args, source, batches[0])
    rows = statistics.fmean(source.num_rows(batch) for batch in batches)
    told = f"{told_of(args)}, {rows:,.0f} rows of {source.width} {source.row_type}s a batch"
    memory = "host memory" if args.features is None else "a mapped file"

    def alone():
        return each(batches, args.device, train)[0]

    on_device = not args.no_device and args.features is None
    cases = [("features on the GPU", lambda: source.loader(on_device=True))] if on_device else []
    for ratio in args.cache:
        for policy in args.policy if ratio else [None]:
            name = f"features in {memory}, no cache" if not ratio else f"features in {memory}, {policy} {ratio:.0%}"
            cache = None if not ratio else FeatureCache(ratio, policy=policy)
            cases.append((name, lambda cache=cache: source.loader(cache)))
    alone()
    epochs = {}
    for name, make in cases:
        loader, found = make(), {"epoch": [], "alone": [], "loader": [], "busy": [], "busy alone": []}
        first = each(loader, args.device, lambda made: train(source.batch(made)))[0]
        each(loader, args.device, lambda made: train(source.batch(made)))  # its way is chosen in the first ones
        for _ in range(args.rounds):
            before = (loader.cache.hits, loader.cache.misses) if loader.cache else (0, 0)
            with BusyShare(args.device) as busy:
                found["epoch"].append(each(loader, args.device, lambda made: train(source.batch(made)))[0])
            found["busy"] += busy.samples[2:-1]  # NVML's samples reach back in time
            with BusyShare(args.device) as busy:
                found["alone"].append(alone())
            found["busy alone"] += busy.samples[2:-1]
        by = loader.stats().host_rows  # before an epoch without training, in which it is another one
        found["loader"].append(each(loader, args.device)[0])
        params = f"{told}, {name}"
        epochs[params] = found["epoch"]
        report.add("first epoch", params, [first])
        report.add("epoch", params, found["epoch"])
        report.add("training alone", params, found["alone"])
        report.add("loader alone", params, found["loader"])
        report.add_ratio("epoch / training alone", params, [a / b for a, b in zip(found["epoch"], found["alone"], strict=True)])
        if loader.cache:
            hits, misses = loader.cache.hits - before[0], loader.cache.misses - before[1]
            report.add_ratio("miss rate", params, [misses / (hits + misses)])
        if by:
            report.add_ratio("rows of the host that the GPU reads", params, [share_of_gpu(by)])
        for job, samples in (("GPU busy share", found["busy"]), ("GPU busy share of training alone", found["busy alone"])):
            if samples:
                report.add_ratio(job, params, samples)
        ratio_of_medians = statistics.median(found["epoch"]) / statistics.median(found["alone"])
        beside = f" (rows of the host by {by})" if by else ""
        print(f"{name}: {ratio_of_medians:.3f}{beside}", file=sys.stderr, flush=True)
        if args.json:
            report.write(args.json)
        del loader
    return epochs


def measure_peer(args, source, report, epochs):
    """PyG's loader, on the CPU, where it has an engine. With torch-sparse its batches tell no sizes of hops, so that the
    trimmed model can't be trained on them."""
    if not (torch_geometric.typing.WITH_PYG_LIB or torch_geometric.typing.WITH_TORCH_SPARSE):
        print("PyG's loader: skipped, it has neither pyg-lib nor torch-sparse here")
        return
    engine = "pyg-lib" if torch_geometric.typing.WITH_PYG_LIB else "torch-sparse"
    train, best = make_step(args, source, None), {}
    for workers in map(int, args.peer.split(",")):
        loader = source.loader_of_pyg(workers)
        batches = iter(loader)
        for made in itertools.islice(batches, workers):  # what processes make while they start is not counted
            train(made.to(args.device))
        work = lambda made: train(made.to(args.device, non_blocking=True))  # noqa: E731
        figure, steps = each(itertools.islice(batches, args.peer_steps), args.device, work)
        best[figure] = f"{engine}, {workers} workers"
        report.add("epoch with PyG's loader", f"{told_of(args)}, {best[figure]}", [figure], steps)
        del batches, loader
    figure = min(best)
    for params, found in epochs.items():
        ratios = [one / figure for one in found]
        report.add_ratio("epoch / epoch with PyG's loader", f"{params}; {best[figure]}", ratios, goal=1)


def source_of(args):
    if args.graph == "mag":
        return Mag(args)
    return ByPipeline(args) if args.pipeline or args.graph not in SHAPES else Made(args)


def main():
    args = parse()
    begin = time.perf_counter()
    source = source_of(args)
    report = Report(source.name, args.device)
    report.add("made or read", "graph, features and sampler", [now(args.device) - begin], unit="s")
    epochs = measure(args, source, report)
    if args.peer:
        measure_peer(args, source, report, epochs)
    report.print()
    if args.json:
        report.write(args.json)


if __name__ == "__main__":
    main()
