"""GraphSAGE, GCN or GAT on mini-batches: python examples/pyg_sage.py --model gat --device cuda

Papers: GraphSAGE, Hamilton et al., NIPS 2017; GCN, Kipf and Welling, ICLR 2017; GAT, Veličković et al., ICLR 2018.

The graph is an .npz file with CSR, features, classes and masks, by default Cora's (data/README.md). With
`--compare --seeds 5` it trains with PyG's sampler too, and tells means and deviations.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812: so do all
from torch_geometric.data import Data
from torch_geometric.nn import GATConv, GCNConv, SAGEConv

from tendril.pyg import NeighborLoader


def gat_layer(width, out):
    """Eight heads side by side in hidden layers; one head where `out` is no multiple of eight, as for Cora's 7 classes."""
    return GATConv(width, out // 8, heads=8) if out % 8 == 0 else GATConv(width, out)


MODELS = {"sage": ("GraphSAGE", SAGEConv), "gcn": ("GCN", GCNConv), "gat": ("GAT", gat_layer)}  # name and layer


def load(path):
    file = np.load(path, allow_pickle=False)
    num_nodes = len(file["y"])
    target = np.repeat(np.arange(num_nodes), np.diff(file["indptr"]))
    x = torch.zeros(num_nodes, int(file["features_indices"].max()) + 1)
    x[np.repeat(np.arange(num_nodes), np.diff(file["features_indptr"])), file["features_indices"]] = 1
    x = x / x.sum(dim=1, keepdim=True).clamp(min=1)
    y = torch.from_numpy(file["y"]).long()
    data = Data(x=x, y=y, edge_index=torch.from_numpy(np.stack([file["indices"].astype(np.int64), target])))
    if "train_mask" in file:
        for name in ("train_mask", "val_mask", "test_mask"):
            data[name] = torch.from_numpy(file[name])
        return data
    # 20 of each class to train, 30 to validate, as Shchur et al. (2018), in one fixed order.
    order = torch.from_numpy(np.random.RandomState(0).permutation(num_nodes))
    rank = torch.zeros(num_nodes, dtype=torch.long)
    for c in y.unique():
        mine = order[y[order] == c]
        rank[mine] = torch.arange(mine.numel())
    data.train_mask, data.val_mask, data.test_mask = rank < 20, (rank >= 20) & (rank < 50), rank >= 50
    return data


class Model(torch.nn.Module):
    def __init__(self, layer, in_channels, hidden, out_channels, num_layers):
        super().__init__()
        widths = [in_channels] + [hidden] * (num_layers - 1) + [out_channels]
        self.convs = torch.nn.ModuleList(layer(a, b) for a, b in zip(widths, widths[1:], strict=False))

    def forward(self, x, edge_index):
        for i, conv in enumerate(self.convs):
            x = conv(F.dropout(x, 0.5, self.training), edge_index)
            x = x.relu() if i < len(self.convs) - 1 else x
        return x


def train(model, loader, optimizer, device):
    model.train()
    for batch in loader:
        batch = batch.to(device)
        optimizer.zero_grad()
        out = model(batch.x, batch.edge_index)[: batch.batch_size]
        F.cross_entropy(out, batch.y[: batch.batch_size]).backward()
        optimizer.step()


@torch.no_grad()
def test(model, loader, device):
    model.eval()
    right = []
    for batch in loader:
        batch = batch.to(device)
        out = model(batch.x, batch.edge_index)[: batch.batch_size]
        right.append(out.argmax(dim=-1) == batch.y[: batch.batch_size])
    return float(torch.cat(right).float().mean())


def run(data, args, number, loader_of=NeighborLoader, **options):
    """The accuracy on the test set after the epoch that is best on the validation set."""
    torch.manual_seed(number)
    sampling = {"num_neighbors": args.fanouts, "batch_size": args.batch_size, **options}
    loader = loader_of(data, input_nodes=data.train_mask, shuffle=True, **sampling)
    sampling["batch_size"] = 512
    validation = loader_of(data, input_nodes=data.val_mask, **sampling)
    testing = loader_of(data, input_nodes=data.test_mask, **sampling)
    layer = MODELS[args.model][1]
    model = Model(layer, data.num_features, args.hidden, int(data.y.max()) + 1, len(args.fanouts)).to(args.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005, weight_decay=5e-4)
    best = (0.0, 0.0)
    for _ in range(args.epochs):
        train(model, loader, optimizer, args.device)
        found = test(model, validation, args.device)
        best = (found, test(model, testing, args.device)) if found > best[0] else best
    return best[1]


def argument_parser(path, fanouts, epochs):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=path, required=path is None, help="the graph's file")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--fanouts", type=int, nargs="+", default=fanouts)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--seeds", type=int, default=1, help="runs")
    parser.add_argument("--compare", action="store_true", help="train with PyG's sampler, too")
    parser.add_argument("--json", help="add the results to this file")
    return parser


def main():
    parser = argument_parser(Path(__file__).parents[1] / "data" / "cora.npz", [10, 10], 50)
    parser.add_argument("--model", choices=MODELS, default="sage")
    args = parser.parse_args()
    data = load(args.data)
    if args.compare:
        from pyg_compare import compare

        compare(MODELS[args.model][0], data, args, run)
        return
    for seed in range(args.seeds):
        print(f"seed {seed}: test accuracy {run(data, args, seed, seed=seed, device=args.device):.4f}")


if __name__ == "__main__":
    main()
