"""What features in host memory cost training beside a cache of them on the GPU: GraphSAGE, epoch by epoch.

Each case runs in turn, --rounds times an epoch after a first one; between any two epochs the same training runs on batches
that lie on the GPU already. Figures are ratios of the two, of one round each, so that they share the machine's state. The
GPU's busy share is NVML's, sampled during the epochs: the part of the time in which some kernel ran.

The graph of the size and skew of ogbn-products is trained on with tendril.pyg.NeighborLoader. A graph's file, which
`tendril generate` can make, is read by tendril.Pipeline, with random features of --width floats: its edges are not copied to
PyG's form, which would take 16 bytes each.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import torch
import torch_geometric.typing
from training import NUM_CLASSES, SAGE, each, make_data, make_graph, now, with_features
from training_report import Report

import tendril
from tendril import FeatureCache
from tendril.pyg import NeighborLoader, NeighborSampler

EXAMPLES = """examples:
  python bench/training_cache.py --json bench/results/nvidia-h200-training-cache.json
  python bench/training_cache.py --bf16 --cache 0,0.2
  tendril generate powerlaw papers.safetensors --vertices 111059956 --exponent 2.6077 --min-degree 6 \\
    --max-degree 127858 --symmetrize --drop-self-loops --drop-duplicates --device cuda
  python bench/training_cache.py --graph papers.safetensors --width 128 --steps 300
"""
FANOUTS, BATCH_SIZE = [15, 10, 5], 1024


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graph", default="products", help="products (made here, 2.4 M vertices), or a graph's file")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--cache", default="0,0.05,0.1,0.2", help="shares of the rows; 0: none; default: 0,0.05,0.1,0.2")
    parser.add_argument("--policy", default="lookahead", help="several by commas; default: lookahead")
    parser.add_argument("--width", type=int, default=100, help="floats of a row, of a graph's file; default: 100")
    parser.add_argument("--steps", type=int, default=0, help="batches of an epoch at most; 0: all")
    parser.add_argument("--bf16", action="store_true", help="train in bfloat16 where Torch's autocast does")
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model", choices=("trimmed", "plain"), default="trimmed", help="as in bench/training.py")
    parser.add_argument(
        "--peer", metavar="WORKERS", help="products: also PyG's own loader, with so many processes, several by commas"
    )
    parser.add_argument("--peer-steps", type=int, default=60, help="batches of PyG's loader; default: 60")
    parser.add_argument("--no-device", action="store_true", help="leave out the case of features on the GPU")
    parser.add_argument("--small", action="store_true", help="a small graph and model: to see whether all is well")
    parser.add_argument("--json", type=Path, help="write the result file")
    args = parser.parse_args()
    if args.small:
        args.hidden, args.rounds = 16, 1
    args.cache = [float(one) for one in args.cache.split(",")]
    args.policy = args.policy.split(",")
    args.device = torch.device(args.device)
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


class Products:
    """PyG's loader on the graph that bench/training.py makes."""

    def __init__(self, args):
        self.name, graph = make_graph(args)
        data, seeds = make_data(graph)
        self.width = data.x.size(1)
        self.seeds = seeds[: args.steps * BATCH_SIZE] if args.steps else seeds
        self._args, self.data = args, data
        self._sampler = NeighborSampler(data, FANOUTS, device=args.device)
        self._host = with_features(data, "host", args.device) if args.device.type == "cuda" else data

    def loader(self, cache=None, on_device=False):
        data = with_features(self.data, "device", self._args.device) if on_device else self._host
        return NeighborLoader(
            data,
            FANOUTS,
            input_nodes=self.seeds,
            batch_size=BATCH_SIZE if not self._args.small else 64,
            shuffle=True,
            neighbor_sampler=self._sampler,
            device=self._args.device,
            cache=cache,
        )

    @staticmethod
    def batch(made):
        return made


class GraphFile:
    """A pipeline on a graph's file, with random features in page-locked memory."""

    def __init__(self, args):
        self.name, self.width = Path(args.graph).name, args.width
        graph = tendril.read_graph(args.graph)
        count = graph.num_vertices
        x = torch.empty(count, args.width)
        part = torch.randn(1 << 18, args.width, generator=torch.Generator().manual_seed(0))
        for first in range(0, count, len(part)):
            x[first : first + len(part)] = part[: min(len(part), count - first)]
        self._x, self._device = tendril.FeatureTable(x).pin_memory(), args.device
        self._y = torch.randint(NUM_CLASSES, (count,), device=args.device)
        steps = args.steps or -(-count // 100 // BATCH_SIZE)
        self._seeds = torch.randint(count, (steps * BATCH_SIZE,), generator=torch.Generator().manual_seed(1)).numpy()
        self._sampler = tendril.MinibatchSampler(
            graph.to(str(args.device)), FANOUTS, stream=torch.cuda.Stream(args.device, priority=-1)
        )

    def loader(self, cache=None, on_device=False):
        x = self._x.to(str(self._device)) if on_device else self._x
        tables = {"features": {"x": x}, "labels": {"y": self._y}}
        return tendril.Pipeline(
            self._sampler, self._seeds, batch_size=BATCH_SIZE, shuffle=True, bulk=16, cache=cache, **tables
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


# --- Measuring -------------------------------------------------------------------------------------------------------


def trainer(args, width):
    torch.manual_seed(0)
    model = SAGE(args.hidden, len(FANOUTS), trimmed=args.model == "trimmed", width=width).to(args.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)

    def train(batch):
        optimizer.zero_grad()
        with torch.autocast(args.device.type, torch.bfloat16, enabled=args.bf16):
            out = model(batch)
        torch.nn.functional.cross_entropy(out.float(), batch.y[: batch.batch_size]).backward()
        optimizer.step()

    return train


def kept(source, args):
    """Batches on the device, as many as are enough to tell an epoch's mean, with their rows."""
    batches = []
    for made in source.loader():
        batches.append(source.batch(made))
        if len(batches) == (4 if args.small else 60) or (args.device.type == "cuda" and torch.cuda.mem_get_info()[0] < 40e9):
            break
    return batches


def measure(args, source, report):
    train = trainer(args, source.width)
    batches = kept(source, args)
    rows = statistics.fmean(batch.x.size(0) for batch in batches)
    told = f"{args.model} SAGE, hidden {args.hidden}, {'bf16' if args.bf16 else 'float32'}, "
    told += f"{rows:,.0f} rows of {source.width} floats a batch"

    def alone():
        return each(batches, args.device, train)[0]

    cases = [] if args.no_device else [("features on the GPU", lambda: source.loader(on_device=True))]
    for ratio in args.cache:
        for policy in args.policy if ratio else [None]:
            name = "features in host memory, no cache" if not ratio else f"features in host memory, {policy} {ratio:.0%}"
            cache = None if not ratio else FeatureCache(ratio, policy=policy)
            cases.append((name, lambda cache=cache: source.loader(cache)))
    alone()
    for name, make in cases:
        loader, found = make(), {"epoch": [], "alone": [], "loader": [], "busy": []}
        first = each(loader, args.device, lambda made: train(source.batch(made)))[0]
        each(loader, args.device, lambda made: train(source.batch(made)))  # its way is chosen in the first ones
        for _ in range(args.rounds):
            before = (loader.cache.hits, loader.cache.misses) if loader.cache else (0, 0)
            with BusyShare(args.device) as busy:
                found["epoch"].append(each(loader, args.device, lambda made: train(source.batch(made)))[0])
            found["busy"] += busy.samples[2:-1]  # NVML's samples reach back in time
            found["alone"].append(alone())
        found["loader"].append(each(loader, args.device)[0])
        params = f"{told}, {name}"
        report.add("first epoch", params, [first])
        report.add("epoch", params, found["epoch"])
        report.add("training alone", params, found["alone"])
        report.add("loader alone", params, found["loader"])
        report.add_ratio("epoch / training alone", params, [a / b for a, b in zip(found["epoch"], found["alone"], strict=True)])
        if loader.cache:
            hits, misses = loader.cache.hits - before[0], loader.cache.misses - before[1]
            report.add_ratio("miss rate", params, [misses / (hits + misses)])
        if found["busy"]:
            report.add_ratio("GPU busy share", params, found["busy"])
        print(f"{name}: {statistics.median(found['epoch']) / statistics.median(found['alone']):.3f}", file=sys.stderr, flush=True)
        if args.json:
            report.write(args.json)
        del loader


def measure_peer(args, source, report):
    """PyG's loader, on the CPU, where it has an engine; its batches tell no sizes of hops with torch-sparse, so that only the
    plain model can be trained on them."""
    if not (torch_geometric.typing.WITH_PYG_LIB or torch_geometric.typing.WITH_TORCH_SPARSE):
        print("PyG's loader: skipped, it has neither pyg-lib nor torch-sparse here")
        return
    from torch_geometric.loader import NeighborLoader as Theirs

    engine = "pyg-lib" if torch_geometric.typing.WITH_PYG_LIB else "torch-sparse"
    train = trainer(args, source.width)
    for workers in map(int, args.peer.split(",")):
        options = {"num_workers": workers, "persistent_workers": workers > 0, "pin_memory": True}
        loader = Theirs(source.data, FANOUTS, input_nodes=source.seeds, batch_size=BATCH_SIZE, shuffle=True, **options)
        batches = iter(loader)
        for made in itertools.islice(batches, workers):  # what processes make while they start is not counted
            train(made.to(args.device))
        work = lambda made: train(made.to(args.device, non_blocking=True))  # noqa: E731
        figure, steps = each(itertools.islice(batches, args.peer_steps), args.device, work)
        report.add("epoch with PyG's loader", f"{args.model} SAGE, hidden {args.hidden}, {engine}, {workers} workers", [figure], steps)
        del batches, loader


def main():
    args = parse()
    begin = time.perf_counter()
    source = Products(args) if args.graph == "products" else GraphFile(args)
    report = Report(source.name, args.device)
    report.add("made or read", "graph, features and sampler", [now(args.device) - begin], unit="s")
    measure(args, source, report)
    if args.peer:
        measure_peer(args, source, report)
    report.print()
    if args.json:
        report.write(args.json)


if __name__ == "__main__":
    main()
