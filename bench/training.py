"""What sampling and gathering cost beside training: GraphSAGE on a graph of the size and skew of ogbn-products.

Each job runs in turn, --rounds times an epoch, after --warmup epochs; figures are medians of the rounds, quartiles are
those of all steps. Jobs:

  epoch                   the loop as a user writes it: for batch in loader: train(batch)
  loader alone            the same loader with nothing else
  training alone          the same training on batches that lie on the device already
  in turn: ...            without batches made ahead, waiting for the device between the two: what next(loader) takes, what
                          training takes, and the share of the former; of whole epochs, since batches are made in groups
  in turn, one by one     the same with batches that are sampled each for itself
  engine                  tendril.MinibatchSampler alone, in groups as large as the loader's, and one by one
  loader without features what the loader adds to that
  gather                  the features of a batch alone, by tendril.gather, torch.index_select and x[index], against a copy
                          of as many bytes
  PyG's loader            on the CPU, where it has pyg-lib or torch-sparse
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from pathlib import Path

import torch
import torch_geometric.typing
from torch_geometric.data import Data
from training_graphs import NUM_CLASSES, NUM_FEATURES, make_data, make_graph, with_features
from training_models import SAGE, trainer
from training_report import Report, megabytes

import tendril
from tendril.pyg import NeighborLoader, NeighborSampler

EXAMPLES = """examples:
  python bench/training.py --small --device cpu
  python bench/training.py --json bench/results/nvidia-h200-training.json
  python bench/training.py --setting 1024:15,10,5 --features host --model plain
  python bench/training.py --graph products.safetensors --steps 200 --rounds 5
"""
GOAL = 0.15  # of a step: sampling and gathering
PLACES = {"device": "features on the device", "host": "features in page-locked host memory"}


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graph", default="products", help="products (made here, 2.4 M vertices), or a graph's file")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument(
        "--setting", action="append", metavar="BATCH:FANOUTS", help="default: 1024:15,10,5 and 2048:10,10,10"
    )
    parser.add_argument("--features", choices=("device", "host", "both"), default="both", help="default: both")
    parser.add_argument(
        "--model",
        choices=("plain", "trimmed", "both"),
        default="both",
        help="every layer on the whole batch, or on what later layers need (PyG's trim_to_layer); default: both",
    )
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--steps", type=int, default=100, help="batches that are kept, and steps of PyG's loader")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warmup", type=int, default=1, help="epochs of each job before the clock counts")
    parser.add_argument("--workers", type=int, default=8, help="processes of PyG's loader")
    parser.add_argument("--tf32", action="store_true", help="let matrix products round to TF32")
    parser.add_argument("--small", action="store_true", help="a small graph and model: to see whether all is well")
    parser.add_argument("--json", type=Path, help="write the result file")
    args = parser.parse_args()
    if args.small:
        args.hidden, args.steps, args.rounds, args.warmup, args.workers = 16, 6, 2, 1, 2
        args.setting = args.setting or ["64:5,4,3"]
    args.setting = [setting(one, parser) for one in args.setting or ["1024:15,10,5", "2048:10,10,10"]]
    args.device = torch.device(args.device)
    return args


def setting(text, parser):
    try:
        batch_size, fanouts = text.split(":")
        return int(batch_size), [int(one) for one in fanouts.split(",")]
    except ValueError:
        parser.error(f"--setting: '{text}', expected one like 1024:15,10,5")


def training(args, num_layers, trimmed):
    """A function that makes one step."""
    torch.manual_seed(0)
    return trainer(SAGE(args.hidden, num_layers, trimmed, NUM_FEATURES, NUM_CLASSES).to(args.device), args.device)


# --- Measuring -------------------------------------------------------------------------------------------------------


def now(device):
    """Seconds; the device is idle."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


class Marks:
    """Points in time as the device reaches them; no code waits for them."""

    def __init__(self, device):
        self._on_gpu, self._marks = device.type == "cuda", []

    def add(self):
        if not self._on_gpu:
            self._marks.append(time.perf_counter())
            return
        self._marks.append(torch.cuda.Event(enable_timing=True))
        self._marks[-1].record()

    def seconds(self):
        """From each to the next; the device has reached all."""
        pairs = itertools.pairwise(self._marks)
        return [a.elapsed_time(b) / 1000 if self._on_gpu else b - a for a, b in pairs]


def each(batches, device, work=None):
    """Seconds a batch of all together, and of every one, with its work."""
    marks, begin = Marks(device), now(device)
    marks.add()
    for batch in batches:
        if work is not None:
            work(batch)
        marks.add()
    total = now(device) - begin
    steps = marks.seconds()
    return total / len(steps), steps


def in_turn(loader, device, train):
    """Seconds in next(loader), and in training, of every step."""
    waits, works = [], []
    batches, begin = iter(loader), now(device)
    for batch in batches:
        made = now(device)
        train(batch)
        done = now(device)
        waits.append(made - begin)
        works.append(done - made)
        begin = done
    return waits, works


def kept(loader, args):
    """Batches on the device: as many as --steps says, and as fit in a third of its memory."""
    batches, most = [], args.steps
    for batch in loader:
        batches.append(batch)
        if len(batches) == 1 and args.device.type == "cuda":
            room = torch.cuda.mem_get_info(args.device)[0] / 3e6
            most = min(most, max(4, int(room / megabytes(batch))))
        if len(batches) >= most:
            break
    return batches


# --- Jobs ------------------------------------------------------------------------------------------------------------


class Case:
    """One setting with features in one place: loaders, and jobs that measure them."""

    def __init__(self, args, report, data, graph, sampler, seeds, batch_size, fanouts, place):
        self.args, self.report, self.graph = args, report, graph
        self.batch_size, self.fanouts = batch_size, fanouts
        self.seeds, self.device = seeds, args.device
        where = PLACES[place] if self.device.type != "cpu" else "on the CPU"
        of = ",".join(map(str, fanouts))
        self.params = f"fan-outs {of}, batch {batch_size}, hidden {args.hidden}, {where}"
        self.on_device = place == "device"
        sampler.num_neighbors = fanouts
        common = {"num_neighbors": fanouts, "input_nodes": seeds, "batch_size": batch_size, "shuffle": True}
        common |= {"neighbor_sampler": sampler, "device": self.device}
        self.data = with_features(data, place, self.device)
        self.loader = NeighborLoader(self.data, **common)
        self.synchronous = NeighborLoader(self.data, prefetch=0, **common)
        self.one_by_one = NeighborLoader(self.data, prefetch=0, bulk=1, **common)
        bare = Data(edge_index=data.edge_index, num_nodes=data.num_nodes)
        self.bare = {
            "loader without features": NeighborLoader(bare, **common),
            "loader without features, nothing ahead": NeighborLoader(bare, prefetch=0, **common),
        }

    def measure(self, models):
        jobs = {name: training(self.args, len(self.fanouts), name == "trimmed") for name in models}
        first = next(iter(jobs.values()))
        if self.device.type == "cuda":
            torch.cuda.empty_cache()  # so that no case finds what another one has allocated
        cold, _ = each(self.loader, self.device, first)
        self._add("first epoch, with all that is allocated once", [cold], [], f", {models[0]} model")
        batches = kept(self.loader, self.args)
        self.params += f", {megabytes(batches[0]):.0f} MB a batch"
        works = {}
        for name, train in jobs.items():
            works |= self._training(name, train, batches)
        works["loader alone"] = lambda: each(self.loader, self.device)
        if self.on_device:  # the same wherever features are
            for name, loader in self.bare.items():
                works[name] = lambda loader=loader: each(loader, self.device)
            works |= self._engine() | self._gathers(batches)
        found = self._run(works)
        self._add_ratios(models, found)

    def _training(self, name, train, batches):
        device, ways = self.device, {"in turn": self.synchronous, "in turn, one by one": self.one_by_one}
        works = {
            f"epoch|{name}": lambda: each(self.loader, device, train),
            f"training alone|{name}": lambda: each(batches, device, train),
        }
        for way, loader in ways.items():
            works[f"{way}|{name}"] = lambda loader=loader: in_turn(loader, device, train)
        return works

    def _engine(self):
        sampler = tendril.MinibatchSampler(self.graph, self.fanouts, device=self.device)
        group = self.batch_size * self.loader._bulk  # what the loader has chosen
        order = self.seeds.numpy()
        together = [order[i : i + group] for i in range(0, len(order), group)]
        apart = [order[i : i + self.batch_size] for i in range(0, len(order), self.batch_size)]

        def bulk():
            count, begin = 0, now(self.device)
            for seeds in together:
                count += len(sampler.sample_batches(seeds, self.batch_size, first_batch=count))
            return (now(self.device) - begin) / count, []

        def single():
            begin = now(self.device)
            for i, seeds in enumerate(apart):
                sampler.sample(seeds, batch=i)
            return (now(self.device) - begin) / len(apart), []

        return {"engine": bulk, "engine, one by one": single}

    def _gathers(self, batches):
        x = self.data.x
        ids = [batch.n_id for batch in batches]
        table = tendril.FeatureTable(x)
        flat = torch.empty(max(one.numel() for one in ids), x.size(1), device=x.device)
        return {
            "gather": lambda: each(ids, self.device, lambda one: table.gather(one, check=False)),
            "gather, index_select": lambda: each(ids, self.device, lambda one: torch.index_select(x, 0, one)),
            "gather, x[index]": lambda: each(ids, self.device, lambda one: x[one]),
            "copy of as many bytes": lambda: each(ids, self.device, lambda one: flat[: one.numel()].clone()),
        }

    def _run(self, works):
        """All jobs in turn; of each the rounds' figures and all steps."""
        found = {name: ([], []) for name in works}
        for turn in range(-self.args.warmup, self.args.rounds):
            for name, work in works.items():
                figure, steps = work()
                if turn >= 0:
                    found[name][0].append(figure)
                    found[name][1].append(steps)
        for name, (figures, steps) in found.items():
            job, _, model = name.partition("|")
            told = f", {model} model" if model else ""
            if not job.startswith("in turn"):
                self._add(job, figures, list(itertools.chain(*steps)), told)
                continue
            for what, rounds in (("next(loader)", figures), ("training", steps)):
                each_step = list(itertools.chain(*rounds))
                self._add(f"{job}: {what}", [statistics.fmean(one) for one in rounds], each_step, told)
        return found

    def _add_ratios(self, models, found):
        report, params = self.report, self.params
        for model in models:
            told = f"{params}, {model} model"
            for way in ("in turn", "in turn, one by one"):
                waits, works = found[f"{way}|{model}"]
                shares = [sum(a) / (sum(a) + sum(b)) for a, b in zip(waits, works, strict=True)]
                report.add_ratio(f"{way}: share of next(loader) in a step", told, shares, GOAL)
            whole, alone = (found[f"{job}|{model}"][0] for job in ("epoch", "training alone"))
            ratios = [a / b for a, b in zip(whole, alone, strict=True)]
            report.add_ratio("epoch / training alone", told, ratios)
        if not self.on_device:
            return
        for name in self.bare:
            ratios = [a / b for a, b in zip(found[name][0], found["engine"][0], strict=True)]
            report.add_ratio(f"{name} / engine", params, ratios)
        for name in ("gather", "gather, index_select", "gather, x[index]"):
            report.set_ceiling(name, params, "copy of as many bytes", found["copy of as many bytes"][0])

    def _add(self, job, figures, steps, told=""):
        self.report.add(job, self.params + told, figures, steps)


def measure_pyg(args, report, data, seeds):
    """PyG's own loader, whose batches a model needs on the device."""
    if not (torch_geometric.typing.WITH_PYG_LIB or torch_geometric.typing.WITH_TORCH_SPARSE):
        print("PyG's loader: skipped, it has neither pyg-lib nor torch-sparse here")
        return
    from torch_geometric.loader import NeighborLoader as Theirs

    name = "pyg-lib" if torch_geometric.typing.WITH_PYG_LIB else "torch-sparse"
    for batch_size, fanouts in args.setting:
        of = ",".join(map(str, fanouts))
        params = f"fan-outs {of}, batch {batch_size}, {name}, {args.workers} workers"
        options = {"num_workers": args.workers, "persistent_workers": args.workers > 0}
        loader = Theirs(data, fanouts, input_nodes=seeds, batch_size=batch_size, shuffle=True, **options)
        train = training(args, len(fanouts), trimmed=False)

        def step(batch, train=train):
            train(batch.to(args.device))

        for job, work in (("PyG's loader alone", None), ("epoch with PyG's loader, plain model", step)):
            figure, steps = each(itertools.islice(loader, args.steps), args.device, work)
            report.add(job, params, [figure], steps)
        del loader


def main():
    args = parse()
    if args.tf32:
        torch.set_float32_matmul_precision("high")
    begin = time.perf_counter()
    name, graph = make_graph(args.graph, args.small)
    made = time.perf_counter()
    data, seeds = make_data(graph)
    report = Report(name, args.device)
    size = f"{graph.num_vertices} vertices, {graph.num_edges} edges"
    report.add("graph made or read", size, [made - begin], unit="s")
    begin = now(args.device)
    sampler = NeighborSampler(data, args.setting[0][1], device=args.device)
    report.add("NeighborSampler made", size, [now(args.device) - begin], unit="s")
    models = ["plain", "trimmed"] if args.model == "both" else [args.model]
    places = ["device", "host"] if args.features == "both" else [args.features]
    if args.device.type == "cpu":
        places = ["device"]
    for batch_size, fanouts in args.setting:
        for place in places:
            Case(args, report, data, graph, sampler, seeds, batch_size, fanouts, place).measure(models)
            if args.json:  # what is there, should a later case fail
                report.write(args.json)
    measure_pyg(args, report, data, seeds)
    report.print()
    if args.json:
        report.write(args.json)


if __name__ == "__main__":
    main()
