"""R-GCN (Schlichtkrull et al., ESWC 2018) on mini-batches of several types.

    python examples/pyg_rgcn.py --data acm-heco/graph.npz --device cuda

The graph is an .npz file with CSR, types of vertices and edges, features, classes and masks: ACM as HeCo has it, papers
with words and classes, their authors and subjects, which have an embedding each. `--compare --seeds 5` is as in pyg_sage.py.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812: so do all
from pyg_sage import argument_parser
from torch_geometric.data import HeteroData
from torch_geometric.nn import HeteroConv, SAGEConv

from tendril.pyg import NeighborLoader


def load(path):
    file = np.load(path, allow_pickle=False)
    told = json.loads((Path(path).parent / "meta.json").read_text())
    source = np.repeat(np.arange(len(file["y"])), np.diff(file["indptr"]))
    names, first = told["node_types"], np.r_[0, np.cumsum(told["node_type_counts"])]
    width = told["features_shape"][1]
    data = HeteroData()
    for i, name in enumerate(names):
        data[name].num_nodes = told["node_type_counts"][i]
        data[name].place = torch.arange(told["node_type_counts"][i])
    for i, name in enumerate(told["edge_types"]):
        a, b = name.split("->")
        mine = file["edge_type"] == i
        ends = source[mine] - first[names.index(a)], file["indices"][mine] - first[names.index(b)]
        data[a, "to", b].edge_index = torch.from_numpy(np.stack(ends).astype(np.int64))
    count = told["node_type_counts"][0]
    x = torch.zeros(count, width)
    places = np.repeat(np.arange(len(file["y"])), np.diff(file["features_indptr"]))
    x[places, file["features_indices"]] = torch.from_numpy(file["features_data"])
    data["paper"].x = x / x.sum(dim=1, keepdim=True).clamp(min=1e-9)
    data["paper"].y = torch.from_numpy(file["y"][:count]).long()
    for name in ("train_mask", "val_mask", "test_mask"):
        data["paper"][name] = torch.from_numpy(file[name][:count, -1].copy())  # 60 of each class to train
    return data


class RGCN(torch.nn.Module):
    """x_v = W_0 x_v + sum over relations of W_r (mean of the neighbours in r)."""

    def __init__(self, data, hidden, out_channels, num_layers):
        super().__init__()
        others = {name: data[name].num_nodes for name in data.node_types if "x" not in data[name]}
        self.embedding = torch.nn.ModuleDict({name: torch.nn.Embedding(n, hidden) for name, n in others.items()})
        self.words = torch.nn.Linear(data["paper"].x.size(1), hidden)
        widths = [hidden] * num_layers + [out_channels]
        layers = list(zip(widths, widths[1:], strict=False))
        self.convs = torch.nn.ModuleList(
            HeteroConv({key: SAGEConv((a, a), b, root_weight=False) for key in data.edge_types}) for a, b in layers
        )
        self.roots = torch.nn.ModuleList(
            torch.nn.ModuleDict({name: torch.nn.Linear(a, b) for name in data.node_types}) for a, b in layers
        )

    def forward(self, batch):
        x = {name: table(batch[name].place) for name, table in self.embedding.items()}
        x["paper"] = self.words(F.dropout(batch["paper"].x, 0.5, self.training))
        for i, (conv, root) in enumerate(zip(self.convs, self.roots, strict=True)):
            x = {name: F.dropout(one, 0.5, self.training) for name, one in x.items()}
            found = conv(x, batch.edge_index_dict)
            x = {name: root[name](one) + found.get(name, 0) for name, one in x.items()}
            x = {name: one.relu() for name, one in x.items()} if i < len(self.convs) - 1 else x
        return x["paper"][: batch["paper"].batch_size]


def run(data, args, number, loader_of=NeighborLoader, **options):
    """The accuracy on the test set after the epoch that is best on the validation set."""
    torch.manual_seed(number)
    papers = data["paper"]
    sampling = {"num_neighbors": args.fanouts, "batch_size": args.batch_size, **options}
    loader = loader_of(data, input_nodes=("paper", papers.train_mask), shuffle=True, **sampling)
    sampling["batch_size"] = 512
    validation = loader_of(data, input_nodes=("paper", papers.val_mask), **sampling)
    testing = loader_of(data, input_nodes=("paper", papers.test_mask), **sampling)
    model = RGCN(data, args.hidden, int(papers.y.max()) + 1, len(args.fanouts)).to(args.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005, weight_decay=5e-4)
    best = (0.0, 0.0)
    for _ in range(args.epochs):
        model.train()
        for batch in loader:
            batch = batch.to(args.device)
            optimizer.zero_grad()
            F.cross_entropy(model(batch), batch["paper"].y[: batch["paper"].batch_size]).backward()
            optimizer.step()
        found = test(model, validation, args.device)
        best = (found, test(model, testing, args.device)) if found > best[0] else best
    return best[1]


@torch.no_grad()
def test(model, loader, device):
    model.eval()
    right = []
    for batch in loader:
        batch = batch.to(device)
        right.append(model(batch).argmax(dim=-1) == batch["paper"].y[: batch["paper"].batch_size])
    return float(torch.cat(right).float().mean())


def main():
    args = argument_parser(None, [10, 10], 30).parse_args()
    data = load(args.data)
    if args.compare:
        from pyg_compare import compare

        compare("R-GCN", data, args, run)
        return
    for seed in range(args.seeds):
        print(f"seed {seed}: test accuracy {run(data, args, seed, seed=seed, device=args.device):.4f}")


if __name__ == "__main__":
    main()
