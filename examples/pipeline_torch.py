"""GraphSAGE on mini-batches with Torch alone, without PyG: python examples/pipeline_torch.py

The graph is an .npz file with CSR, features, classes and masks, by default Cora's (data/README.md).
"""

from __future__ import annotations

import argparse

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812: so do all
from cora import CORA, load

import tendril


class Layer(torch.nn.Module):
    """A vertex's own features, and the mean of its sampled neighbours'."""

    def __init__(self, width, out):
        super().__init__()
        self.own, self.others = torch.nn.Linear(width, out), torch.nn.Linear(width, out, bias=False)

    def forward(self, x, row, col):
        total = torch.zeros_like(x).index_add_(0, row, x[col])
        count = torch.zeros(len(x)).index_add_(0, row, torch.ones(len(row))).clamp(min=1)
        return self.own(x) + self.others(total / count[:, None])


class Model(torch.nn.Module):
    def __init__(self, width, hidden, classes):
        super().__init__()
        self.layers = torch.nn.ModuleList([Layer(width, hidden), Layer(hidden, classes)])

    def forward(self, batch):
        x = torch.from_numpy(batch.features["x"])
        row, col = torch.from_numpy(batch.minibatch.row), torch.from_numpy(batch.minibatch.col)
        for i, layer in enumerate(self.layers):
            x = layer(F.dropout(x if i == 0 else x.relu(), 0.5, self.training), row, col)
        return x[: len(batch.index)]  # seeds come first


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=CORA)
    parser.add_argument("--epochs", type=int, default=30)
    args = parser.parse_args()
    torch.manual_seed(0)
    graph, x, y, seeds = load(args.data)
    sampler = tendril.MinibatchSampler(graph, [10, 10])
    tables = {"features": {"x": x}, "labels": {"y": y}}
    training = tendril.Pipeline(sampler, seeds["train"], batch_size=32, shuffle=True, **tables)
    testing = tendril.Pipeline(sampler, seeds["test"], batch_size=512, **tables)
    model = Model(x.shape[1], 64, int(y.max()) + 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005, weight_decay=5e-4)
    for _ in range(args.epochs):
        model.train()
        for batch in training:
            optimizer.zero_grad()
            F.cross_entropy(model(batch), torch.from_numpy(batch.labels["y"])).backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        right = [model(batch).argmax(dim=1).numpy() == batch.labels["y"] for batch in testing]
    print(f"test accuracy {np.concatenate(right).mean():.4f}")
    print(training.stats())


if __name__ == "__main__":
    main()
