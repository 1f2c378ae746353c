"""What batches of one size gain: a GraphSAGE so small that launching its kernels takes longer than they do.

Each job runs in turn, --rounds times an epoch, after --warmup epochs; figures are medians of the rounds, quartiles are
those of all steps. The model is trimmed (PyG's trim_to_layer), and features are on the device. Jobs:

  training: ...           on batches that lie on the device already
    eager, plain batches  without padding
    eager, padded         the same batches, padded
    torch.compile, padded forward and backward compiled; the optimizer isn't. On a CPU by the backend aot_eager, which
                          compiles nothing: to see whether all is well
    CUDA graph, padded    each batch is copied to arrays that stay, and the whole step is replayed. On a CPU the same
                          without a graph, as "static arrays, padded"
  epoch: ...              with the loader, batches made ahead: eager on plain batches, and the fastest of the above
  loader: ...             alone, plain and padded
  sizes of an epoch       what finding the maxima takes, a batch
  padded / plain          vertices and edges of a padded batch, against the mean of the plain ones
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812: so do all
from torch_geometric.nn import SAGEConv
from torch_geometric.utils import trim_to_layer
from training import each, kept, now, setting
from training_graphs import NUM_CLASSES, NUM_FEATURES, make_data, make_graph, with_features
from training_models import recorded
from training_report import Report

from tendril.pyg import NeighborLoader

EXAMPLES = """examples:
  python bench/static_shapes.py --small --device cpu
  python bench/static_shapes.py --json bench/results/nvidia-h200-static-shapes.json
"""


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graph", default="products", help="products (made here, 2.4 M vertices), or a graph's file")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--setting", metavar="BATCH:FANOUTS", help="default: 1024:10,5")
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--steps", type=int, default=100, help="batches that are kept")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--warmup", type=int, default=1, help="epochs of each job before the clock counts")
    parser.add_argument("--small", action="store_true", help="a small graph and model: to see whether all is well")
    parser.add_argument("--json", type=Path, help="write the result file")
    args = parser.parse_args()
    if args.small:
        args.hidden, args.steps, args.rounds = 16, 6, 2
        args.setting = args.setting or "64:5,4"
    args.batch_size, args.fanouts = setting(args.setting or "1024:10,5", parser)
    args.device = torch.device(args.device)
    return args


class Loss(torch.nn.Module):
    """GraphSAGE (Hamilton et al., NIPS 2017), trimmed, and its loss."""

    def __init__(self, hidden, num_layers):
        super().__init__()
        widths = [NUM_FEATURES] + [hidden] * (num_layers - 1) + [NUM_CLASSES]
        self.convs = torch.nn.ModuleList(SAGEConv(a, b) for a, b in zip(widths, widths[1:], strict=False))

    def forward(self, x, edge_index, y, num_nodes, num_edges):
        for i, conv in enumerate(self.convs):
            x, edge_index, _ = trim_to_layer(i, num_nodes, num_edges, x, edge_index)
            x = conv(F.dropout(x, 0.5, self.training), edge_index)
            x = x.relu() if i < len(self.convs) - 1 else x
        return F.cross_entropy(x[: num_nodes[0]], y[: num_nodes[0]])


def fields(batch):
    return batch.x, batch.edge_index, batch.y


class Trainer:
    """Makes steps; each trainer has a model of its own."""

    def __init__(self, args, compiled=False):
        torch.manual_seed(0)
        on_gpu = args.device.type == "cuda"
        loss = Loss(args.hidden, len(args.fanouts)).to(args.device)
        self._optimizer = torch.optim.Adam(loss.parameters(), lr=0.003, capturable=on_gpu)
        self._loss = loss
        if compiled:
            self._loss = torch.compile(loss, backend="inductor" if on_gpu else "aot_eager", dynamic=False)

    def step(self, x, edge_index, y, num_nodes, num_edges):
        self._optimizer.zero_grad(set_to_none=True)
        self._loss(x, edge_index, y, num_nodes, num_edges).backward()
        self._optimizer.step()

    def __call__(self, batch):
        self.step(*fields(batch), batch.num_sampled_nodes, batch.num_sampled_edges)


class Static:
    """Makes steps on arrays that stay; on a GPU as a CUDA graph, which is recorded while no loader is at work."""

    def __init__(self, args, batch):
        self._arrays = [one.clone() for one in fields(batch)]
        sizes, trainer = (batch.num_sampled_nodes, batch.num_sampled_edges), Trainer(args)
        self._run = recorded(lambda: trainer.step(*self._arrays, *sizes), args.device)

    def __call__(self, batch):
        for array, one in zip(self._arrays, fields(batch), strict=True):
            array.copy_(one)
        self._run()


def measure(args, report, data, seeds):
    of = ",".join(map(str, args.fanouts))
    params = f"fan-outs {of}, batch {args.batch_size}, hidden {args.hidden}, trimmed"
    options = {"num_neighbors": args.fanouts, "input_nodes": seeds, "batch_size": args.batch_size, "shuffle": True}
    data = with_features(data, "device", args.device)
    plain = NeighborLoader(data, device=args.device, **options)
    padded = NeighborLoader(data, neighbor_sampler=plain.node_sampler, device=args.device, **options)
    padded.pad = padding = plain.padding([0])
    batches = {}
    for name, loader in (("plain", plain), ("padded", padded)):
        batches[name] = kept(loader, args)
    static = Static(args, batches["padded"][0])
    graph = "CUDA graph, padded" if args.device.type == "cuda" else "static arrays, padded"
    eager = Trainer(args)

    def of_loader(loader, work=None):
        loader.set_epoch(0)  # the epoch whose sizes are known
        return each(loader, args.device, work)

    def sizes():
        begin = now(args.device)
        plain.padding([0])
        return (now(args.device) - begin) / len(plain), []

    works = {
        "training: eager, plain batches": lambda: each(batches["plain"], args.device, eager),
        "training: eager, padded": lambda: each(batches["padded"], args.device, eager),
        "training: torch.compile, padded": lambda work=Trainer(args, True): each(batches["padded"], args.device, work),
        f"training: {graph}": lambda: each(batches["padded"], args.device, static),
        "epoch: eager, plain batches": lambda: of_loader(plain, eager),
        f"epoch: {graph}": lambda: of_loader(padded, static),
        "loader: plain": lambda: of_loader(plain),
        "loader: padded": lambda: of_loader(padded),
        "sizes of an epoch": sizes,
    }
    found = {name: ([], []) for name in works}
    for turn in range(-args.warmup, args.rounds):
        for name, work in works.items():
            figure, steps = work()
            if turn >= 0:
                found[name][0].append(figure)
                found[name][1].extend(steps)
    for name, (figures, steps) in found.items():
        report.add(name, params, figures, steps)
    for one, other in (
        ("training: eager, plain batches", f"training: {graph}"),
        ("training: eager, plain batches", "training: torch.compile, padded"),
        ("epoch: eager, plain batches", f"epoch: {graph}"),
        ("loader: padded", "loader: plain"),
    ):
        ratios = [a / b for a, b in zip(found[one][0], found[other][0], strict=True)]
        report.add_ratio(f"{one} / {other}", params, ratios)
    for what, total, name in (
        ("vertices", sum(padding.num_sampled_nodes), "num_sampled_nodes"),
        ("edges", sum(padding.num_sampled_edges), "num_sampled_edges"),
    ):
        mean = statistics.fmean(sum(batch[name]) for batch in batches["plain"])
        report.add_ratio(f"padded / plain: {what}", params, [total / mean])


def main():
    args = parse()
    name, graph = make_graph(args.graph, args.small)
    data, seeds = make_data(graph)
    report = Report(name, args.device)
    measure(args, report, data, seeds)
    report.print()
    if args.json:
        report.write(args.json)


if __name__ == "__main__":
    main()
