"""What accuracy models reach with batches of tendril.pyg's NeighborLoader, and with batches of PyG's.

Each model is trained --seeds times with each loader. The n-th runs of both begin with the same weights; data, model,
optimizer, fan-outs, batch size and epochs are the same, and so are the features in host memory. Tendril samples on --device,
PyG on the CPU, with pyg-lib or else torch-sparse; where PyG has neither, its half is skipped. After each epoch the model
sees all neighbours in the whole graph: no sampler has a part in that. A run's accuracy is that on the test vertices
after the epoch that is best on the validation vertices. Rows of the result file:

  MODEL, test accuracy                      one for each loader: mean and deviation of the runs
  MODEL, difference of test accuracies      tendril - PyG: of the means, with its standard error, which takes the runs of the
                                            two for independent; min and max are those of the n-th runs' differences

Graphs and models:

  cora              GCN, GraphSAGE and GAT; the public split of Planetoid
  coauthor-physics  the same; 20 vertices of each class train, 30 validate, in one fixed order, as Shchur et al. (2018)
  acm-heco          R-GCN on three types; HeCo's split with 60 labels of each class
  am-kgbench        R-GCN on 12 relations and their inverses, with learned embeddings as the only features; kgbench's split
  flickr            GCN, GraphSAGE and GAT; GraphSAINT's split. The data has no features of flickr, so they are made from the
                    edges and from the labels of half the training vertices. The other half trains: see LabelShares
"""

from __future__ import annotations

import argparse
import copy
import math
import statistics
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812: so do all
import torch_geometric.loader
import torch_geometric.sampler
from pyg_sampling import version
from torch_geometric.data import Data
from torch_geometric.nn import RGCNConv
from torch_geometric.typing import WITH_PYG_LIB, WITH_TORCH_SPARSE
from torch_geometric.utils import k_hop_subgraph
from training_models import HOMOGENEOUS, homogeneous, rounded
from training_report import Report

import tendril
import tendril.pyg

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "examples"))
import pyg_rgcn  # noqa: E402: an example
import pyg_sage  # noqa: E402: an example

EXAMPLES = """examples:
  python bench/pyg_accuracy.py --small
  python bench/pyg_accuracy.py --graph cora --model GCN,GAT --device cpu
  python bench/pyg_accuracy.py --data data --data GRAPHS --json bench/results/nvidia-h100-pyg-accuracy.json
  python bench/pyg_accuracy.py --graph coauthor-physics --cache 0.1
"""
HEADS = 8  # of GAT, each an eighth as wide


# --- Graphs and models -----------------------------------------------------------------------------------------------


class Plain:
    """A graph of one type, with features."""

    models = tuple(HOMOGENEOUS)
    fanouts, batch_size, hidden, rate = [10, 10], 64, 64, 0.01
    input_type = None

    def __init__(self, file, epochs):
        self.data, self.epochs = self.load(file), epochs
        store = self.data if self.input_type is None else self.data[self.input_type]
        # Apart from the data, so that no loader gathers them.
        self.masks = {name: store.pop(f"{name}_mask") for name in ("train", "val", "test")}
        self.store, self.num_classes = store, int(store.y.max()) + 1

    load = staticmethod(pyg_sage.load)

    def model(self, name, hidden):
        return homogeneous(name, self.store.x.size(1), hidden, len(self.fanouts), self.num_classes, HEADS)

    def optimizers(self, model):
        return [torch.optim.Adam(model.parameters(), self.rate, weight_decay=5e-4)]

    def whole(self, device):
        """The whole graph as one batch, whose seeds are all vertices, and which of those validate and test."""
        data = copy.copy(self.data)
        store = data if self.input_type is None else data[self.input_type]
        store.batch_size = store.num_nodes
        return data.to(device), {name: self.masks[name] for name in ("val", "test")}

    @staticmethod
    def run(model, batch):
        return model(batch.x, batch.edge_index)[: batch.batch_size]

    def labels(self, batch):
        store = batch if self.input_type is None else batch[self.input_type]
        return store.y[: store.batch_size]

    def seeds(self):
        mask = self.masks["train"]
        return mask if self.input_type is None else (self.input_type, mask)

    def pin(self):
        """Moves features and classes to page-locked memory."""
        for store in self.data.node_stores:
            for key in ("x", "y"):
                if key in store:
                    store[key] = store[key].pin_memory()


class LabelShares(Plain):
    """Flickr: a graph of one type whose own features are missing. The edges and some labels give features instead.

    Every second training vertex, in the order of ids, gives its label to the features; only the others train. A vertex has
    15 features: the share of each class among its neighbours that give labels (zeros where there is none), the mean of
    these shares over its neighbours, and the logarithm of 1 plus its degree. Nothing is drawn.

    No feature holds the label of a vertex that trains, validates or tests. This is why a vertex does not do both: if a
    vertex that trains also gave its label, its neighbours' features would hold this label, and the model would learn to
    read it there. Test vertices have no such hint.
    """

    batch_size, hidden = 512, 32

    @staticmethod
    def load(path):
        file = np.load(path, allow_pickle=False)
        degrees = np.diff(file["indptr"])
        target, source = np.repeat(np.arange(len(degrees)), degrees), file["indices"].astype(np.int64)
        data = Data(edge_index=torch.from_numpy(np.stack([source, target])), y=torch.from_numpy(file["y"]).long())
        for name in ("train_mask", "val_mask", "test_mask"):
            data[name] = torch.from_numpy(file[name])
        gives = torch.nonzero(data.train_mask).view(-1)[::2]
        data.train_mask[gives] = False
        given = torch.zeros(len(degrees), int(data.y.max()) + 1)
        given[gives] = F.one_hot(data.y[gives], given.size(1)).float()
        near, degree = neighbour_sum(given, data.edge_index), torch.from_numpy(degrees).float().view(-1, 1)
        near = near / near.sum(dim=1, keepdim=True).clamp(min=1)
        far = neighbour_sum(near, data.edge_index) / degree.clamp(min=1)
        data.x = torch.cat([near, far, degree.log1p()], dim=1)
        return data


def neighbour_sum(x, edge_index):
    return torch.zeros_like(x).index_add_(0, edge_index[1], x[edge_index[0]])


class Types(Plain):
    """ACM: papers with features, authors and subjects without."""

    models = ("R-GCN",)
    input_type = "paper"
    load = staticmethod(pyg_rgcn.load)

    def model(self, name, hidden):
        return pyg_rgcn.RGCN(self.data, hidden, self.num_classes, len(self.fanouts))

    @staticmethod
    def run(model, batch):
        return model(batch)


class Relations(Plain):
    """AM: vertices of one type without features, edges of several relations, each with its inverse."""

    models = ("R-GCN",)
    batch_size, hidden, rate = 512, 32, 0.01

    @staticmethod
    def load(path):
        file = np.load(path, allow_pickle=False)
        num_nodes = len(file["y"])
        source = np.repeat(np.arange(num_nodes), np.diff(file["indptr"]))
        ends = torch.from_numpy(np.stack([source, file["indices"].astype(np.int64)]))
        kind = torch.from_numpy(file["edge_type"].astype(np.int64))
        edge_type = torch.cat([2 * kind, 2 * kind + 1])
        data = Data(edge_index=torch.cat([ends, ends.flip(0)], dim=1), edge_type=edge_type, num_nodes=num_nodes)
        data.y = torch.from_numpy(file["y"]).long()
        for name in ("train_mask", "val_mask", "test_mask"):
            data[name] = torch.from_numpy(file[name])
        return data

    def model(self, name, hidden):
        num_relations = int(self.data.edge_type.max()) + 1
        return EmbeddedRGCN(self.data.num_nodes, hidden, self.num_classes, num_relations, len(self.fanouts))

    def optimizers(self, model):
        table = [model.table.weight]
        return [
            torch.optim.SparseAdam(table, self.rate),  # without one, each step would write all embeddings
            torch.optim.Adam(model.convs.parameters(), self.rate, weight_decay=5e-4),
        ]

    def whole(self, device):
        """What the layers see of it from vertices that validate or test: PyG's layer takes long for many vertices."""
        ends = torch.nonzero(self.masks["val"] | self.masks["test"]).view(-1)
        n_id, edge_index, _, mine = k_hop_subgraph(
            ends, len(self.fanouts), self.data.edge_index, relabel_nodes=True, num_nodes=self.data.num_nodes
        )
        data = Data(edge_index=edge_index, edge_type=self.data.edge_type[mine], y=self.store.y[n_id], n_id=n_id)
        data.batch_size = data.num_nodes = n_id.numel()
        return data.to(device), {name: self.masks[name][n_id] for name in ("val", "test")}

    @staticmethod
    def run(model, batch):
        return model(batch.n_id, batch.edge_index, batch.edge_type)[: batch.batch_size]


class EmbeddedRGCN(torch.nn.Module):
    """R-GCN (Schlichtkrull et al., ESWC 2018) on embeddings."""

    def __init__(self, num_nodes, hidden, out_channels, num_relations, num_layers):
        super().__init__()
        self.table = torch.nn.Embedding(num_nodes, hidden, sparse=True)
        torch.nn.init.normal_(self.table.weight, std=0.1)
        widths = [hidden] * num_layers + [out_channels]
        layers = list(zip(widths, widths[1:], strict=False))
        self.convs = torch.nn.ModuleList(RGCNConv(a, b, num_relations) for a, b in layers)

    def forward(self, n_id, edge_index, edge_type):
        x = self.table(n_id)
        for i, conv in enumerate(self.convs):
            x = conv(F.dropout(x, 0.5, self.training), edge_index, edge_type)
            x = x.relu() if i < len(self.convs) - 1 else x
        return x


GRAPHS = {
    "cora": (Plain, 40),
    "coauthor-physics": (Plain, 20),
    "acm-heco": (Types, 30),
    "am-kgbench": (Relations, 5),
    "flickr": (LabelShares, 5),
}


# --- Training --------------------------------------------------------------------------------------------------------


def loaders(case, args):
    """By name, functions that make the loader of a run, each with an order and draws of its own."""
    fanouts = case.fanouts
    given = {"input_nodes": case.seeds(), "batch_size": case.batch_size, "shuffle": True}
    made = {}
    if engine := "pyg_lib" if WITH_PYG_LIB else "torch_sparse" if WITH_TORCH_SPARSE else None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyG's, of samplers other than pyg-lib
            theirs = torch_geometric.sampler.NeighborSampler(case.data, fanouts)
        name = f"PyG {torch_geometric.__version__}, {engine.replace('_', '-')} {version(engine)}"
        made[name] = lambda number: torch_geometric.loader.NeighborLoader(
            case.data, fanouts, neighbor_sampler=theirs, **given
        )
    has_features = any("x" in store for store in case.data.node_stores)
    cache = tendril.FeatureCache(args.cache) if args.cache and has_features else None
    made["tendril" if cache is None else f"tendril, cache {args.cache:.0%}"] = lambda number: tendril.pyg.NeighborLoader(
        case.data, fanouts, seed=number, device=args.device, cache=cache, **given
    )
    return made


def train(case, name, hidden, epochs, make_loader, number, device, whole, masks):
    """The accuracy on the test vertices after the epoch that is best on the validation vertices."""
    torch.manual_seed(number)  # weights, and all that PyG's loader draws
    model = case.model(name, hidden).to(device)
    optimizers = case.optimizers(model)
    loader, y, best = make_loader(number), case.labels(whole), (-1.0, 0.0)
    for _ in range(epochs):
        model.train()
        for batch in loader:
            batch = batch.to(device)
            model.zero_grad()
            F.cross_entropy(case.run(model, batch), case.labels(batch)).backward()
            for one in optimizers:
                one.step()
        model.eval()
        with torch.no_grad():
            right = (case.run(model, whole).argmax(dim=-1) == y).cpu()
        validation, test = (float(right[masks[part]].double().mean()) for part in ("val", "test"))
        best = (validation, test) if validation > best[0] else best
    return best[1]


# --- Results ---------------------------------------------------------------------------------------------------------


class Accuracies(Report):
    """Rows about accuracies, whose values are means."""

    def __init__(self, device):
        super().__init__(None, device)

    def add_mean(self, graph, job, params, values, **others):
        row = self._row(job, params, values, "of 1") | {"graph": graph, "value": statistics.fmean(values)}
        self._rows.append(row | others)
        return row["value"]


def measure(args, report, graph, case):
    epochs, hidden = args.epochs or case.epochs, args.hidden or case.hidden
    if args.device.type == "cuda":
        case.pin()
    (whole, masks), makers = case.whole(args.device), loaders(case, args)
    of = f"fan-outs {','.join(map(str, case.fanouts))}, batch {case.batch_size}, hidden {hidden}, {epochs} epochs"
    for name in case.models:
        if args.model and name not in args.model:
            continue
        found, seconds = {sampler: [] for sampler in makers}, dict.fromkeys(makers, 0.0)
        width = rounded(hidden, HEADS) if name == "GAT" else hidden
        for number in range(args.seeds):
            for sampler, make in makers.items():
                begin = time.perf_counter()
                found[sampler].append(train(case, name, width, epochs, make, number, args.device, whole, masks))
                seconds[sampler] += time.perf_counter() - begin
        told = []
        for sampler, values in found.items():
            params, deviation = f"{sampler}; {of}, {args.device}", statistics.stdev(values)
            mean = report.add_mean(graph, f"{name}, test accuracy", params, values, deviation=deviation)
            told.append(f"{sampler} {mean:.4f} ± {deviation:.4f} ({seconds[sampler]:.1f} s)")
        if len(found) == 2:
            told.append(add_difference(report, graph, name, found, f"{of}, {args.device}"))
        print(f"{graph}, {name}, {args.seeds} runs: {'; '.join(told)}", flush=True)
        if args.json:
            report.write(args.json)


def add_difference(report, graph, name, found, of):
    """Tells it, too."""
    (theirs, others), (ours, values) = found.items()
    error = math.sqrt((statistics.variance(values) + statistics.variance(others)) / len(values))
    each = [a - b for a, b in zip(values, others, strict=True)]
    job = f"{name}, difference of test accuracies"
    mean = report.add_mean(graph, job, f"{ours} - {theirs}; {of}", each, standard_error=error)
    return f"difference {mean:+.4f} ± {error:.4f} (standard error)"


def find(name, folders):
    """A graph's file: NAME/graph.npz, or NAME.npz where that needs no other file."""
    places = [Path(folder) / one for folder in folders for one in (f"{name}/graph.npz", f"{name}.npz")]
    return next((place for place in places if place.exists()), None)


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data",
        action="append",
        metavar="FOLDER",
        help="where graphs are, as NAME/graph.npz or NAME.npz; may be given several times; default: data/ of the repository",
    )
    parser.add_argument("--graph", help=f"several by commas; default: those of {', '.join(GRAPHS)} that are found")
    parser.add_argument("--model", help="GCN, GraphSAGE, GAT, R-GCN; several by commas; default: all of a graph")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--seeds", type=int, default=5, help="runs of each loader, 2 or more; default: 5")
    parser.add_argument("--epochs", type=int, default=0, help="default: the graph's own, 5 to 40")
    parser.add_argument("--hidden", type=int, default=0, help="default: the graph's own, 32 or 64")
    parser.add_argument(
        "--cache",
        type=float,
        default=0,
        metavar="RATIO",
        help="of the features, by tendril.FeatureCache, on a GPU; default: none",
    )
    parser.add_argument("--small", action="store_true", help="2 runs of 2 epochs, a small model: to see whether all is well")
    parser.add_argument("--json", type=Path, help="write the result file")
    args = parser.parse_args()
    if args.small:
        args.seeds, args.epochs, args.hidden = 2, args.epochs or 2, args.hidden or 8
    args.device = torch.device(args.device)
    args.data = args.data or [ROOT / "data"]
    args.model = args.model.split(",") if args.model else None
    known = [*HOMOGENEOUS, "R-GCN"]
    for name in args.model or []:
        if name not in known:
            parser.error(f"--model: '{name}', expected one of {', '.join(known)}")
    names = args.graph.split(",") if args.graph else list(GRAPHS)
    args.files = {}
    for name in names:
        if name not in GRAPHS:
            parser.error(f"--graph: '{name}', expected one of {', '.join(GRAPHS)}")
        if file := find(name, args.data):
            args.files[name] = file
        elif args.graph:
            parser.error(f"--graph: '{name}' is in none of the folders {', '.join(map(str, args.data))}")
        else:
            print(f"{name}: skipped, it is in none of the folders of --data")
    if args.seeds < 2:
        parser.error(f"--seeds: {args.seeds}, expected 2 or more")
    for name in ("epochs", "hidden"):
        if getattr(args, name) < 0:
            parser.error(f"--{name}: {getattr(args, name)}, expected 1 or more")
    if args.cache and (args.device.type != "cuda" or not 0 < args.cache <= 1):
        parser.error(f"--cache: {args.cache} with --device {args.device}, expected a ratio in (0, 1] and cuda")
    return args


def main():
    args = parse()
    if not (WITH_PYG_LIB or WITH_TORCH_SPARSE):
        print("PyG's loader: skipped, PyG has neither pyg-lib nor torch-sparse here")
    report = Accuracies(args.device)
    for graph, file in args.files.items():
        begin = time.perf_counter()
        kind, epochs = GRAPHS[graph]
        if args.model and not set(args.model) & set(kind.models):
            continue
        measure(args, report, graph, kind(file, epochs))
        print(f"{graph}: {time.perf_counter() - begin:.1f} s in all", flush=True)


if __name__ == "__main__":
    main()
