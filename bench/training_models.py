"""Models that training is measured with, and a step of training."""

from __future__ import annotations

from types import SimpleNamespace

import torch
import torch.nn.functional as F  # noqa: N812: so do all
from torch_geometric.data import HeteroData
from torch_geometric.nn import HeteroConv, SAGEConv, models
from torch_geometric.utils import trim_to_layer

HOMOGENEOUS = {"GCN": models.GCN, "GraphSAGE": models.GraphSAGE, "GAT": models.GAT}


def homogeneous(name, width, hidden, num_layers, num_classes, heads):
    """A model of PyG's for graphs of one type. heads: of GAT, which share `hidden`, rounded to a multiple of them."""
    if name == "GAT":
        return models.GAT(width, rounded(hidden, heads), num_layers, num_classes, dropout=0.5, heads=heads)
    return HOMOGENEOUS[name](width, hidden, num_layers, num_classes, dropout=0.5)


def rounded(hidden, heads):
    return max(hidden // heads, 1) * heads


class SAGE(torch.nn.Module):
    """GraphSAGE (Hamilton et al., NIPS 2017). trimmed: a layer computes what later ones need (PyG's trim_to_layer)."""

    def __init__(self, hidden, num_layers, trimmed, width, num_classes):
        super().__init__()
        widths = [width] + [hidden] * (num_layers - 1) + [num_classes]
        self.convs = torch.nn.ModuleList(SAGEConv(a, b) for a, b in zip(widths, widths[1:], strict=False))
        self.trimmed = trimmed

    def forward(self, batch):
        x, edge_index = batch.x, batch.edge_index
        for i, conv in enumerate(self.convs):
            if self.trimmed:
                nodes, edges = batch.num_sampled_nodes, batch.num_sampled_edges
                x, edge_index, _ = trim_to_layer(i, nodes, edges, x, edge_index)
            x = conv(F.dropout(x, 0.5, self.training), edge_index)
            x = x.relu() if i < len(self.convs) - 1 else x
        return x[: batch.batch_size]


class OnBatches(torch.nn.Module):
    """A model of features and edges, on batches, every layer on the whole batch."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, batch):
        return self.model(batch.x, batch.edge_index)[: batch.batch_size]


class RGCN(torch.nn.Module):
    """R-GCN (Schlichtkrull et al., ESWC 2018) on features of every type: a mean of the neighbours for each relation, and the
    vertex itself."""

    def __init__(self, edge_types, seed_type, width, hidden, num_layers, num_classes):
        super().__init__()
        widths = [width] + [hidden] * (num_layers - 1) + [num_classes]
        self.convs = torch.nn.ModuleList(
            HeteroConv({key: SAGEConv((a, a), b) for key in edge_types}) for a, b in zip(widths, widths[1:], strict=False)
        )
        self.seed_type = seed_type

    def forward(self, batch):
        x = batch.x_dict
        for i, conv in enumerate(self.convs):
            x = conv({kind: F.dropout(one, 0.5, self.training) for kind, one in x.items()}, batch.edge_index_dict)
            x = {kind: one.relu() for kind, one in x.items()} if i < len(self.convs) - 1 else x
        return x[self.seed_type][: batch[self.seed_type].batch_size]


def labels(batch, seed_type):
    """The classes of a batch's seeds."""
    store = batch[seed_type] if isinstance(batch, HeteroData) else batch
    return store.y[: store.batch_size]


class Replayed:
    """Makes steps as one CUDA graph, on arrays that stay: of batches that are padded to one size, which are copied to them. On a
    CPU there is no graph. Recorded when it is made, while no loader is at work."""

    def __init__(self, model, device, batch, bf16=False):
        self._arrays = SimpleNamespace(
            **{name: batch[name].clone() for name in ("x", "edge_index", "y")},
            num_sampled_nodes=batch.num_sampled_nodes,
            num_sampled_edges=batch.num_sampled_edges,
            batch_size=batch.num_sampled_nodes[0],
        )
        train = trainer(model, device, bf16=bf16, capturable=True)
        self._run = recorded(lambda: train(self._arrays), device)

    def __call__(self, batch):
        for name in ("x", "edge_index", "y"):
            getattr(self._arrays, name).copy_(batch[name])
        self._run()


def recorded(run, device):
    """A function that does the same by one CUDA graph, which is recorded here; on a CPU the function itself."""
    if device.type != "cuda":
        return run
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):  # libraries allocate their memory before the recording
            run()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def trainer(model, device, seed_type=None, bf16=False, capturable=False):
    """A function that makes a step on a batch. bf16: in bfloat16 where Torch's autocast does. capturable: so that a CUDA graph can hold it."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003, capturable=capturable and device.type == "cuda")

    def train(batch):
        optimizer.zero_grad()
        with torch.autocast(device.type, torch.bfloat16, enabled=bf16, cache_enabled=not capturable):
            out = model(batch)
        F.cross_entropy(out.float(), labels(batch, seed_type)).backward()
        optimizer.step()

    return train
