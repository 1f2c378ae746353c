"""Padded batches on a GPU: padding waits for nothing, and a training step can be one CUDA graph. Skipped without a GPU."""

from __future__ import annotations

import copy
import warnings

import pytest
from pyg_checks import homogeneous, torch
from torch_geometric.nn import SAGEConv
from torch_geometric.utils import trim_to_layer

import tendril
from tendril.pyg import NeighborLoader
from tendril.pyg._padding import OutputPadder

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(tendril.num_gpus() == 0 or not torch.cuda.is_available(), reason="no GPU, or Torch sees none"),
]


def loader(**options):
    data = homogeneous(num_nodes=300, num_edges=2100)
    data.x = torch.randn(300, 6, generator=torch.Generator().manual_seed(1))
    data.y = data.y % 5
    options = {"batch_size": 17, "shuffle": True, "device": "cuda", "pad": "epoch", **options}
    return NeighborLoader(data, [4, 3], **options)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.convs = torch.nn.ModuleList([SAGEConv(6, 8), SAGEConv(8, 5)])

    def forward(self, x, edge_index, nodes, edges):
        for i, conv in enumerate(self.convs):
            x, edge_index, _ = trim_to_layer(i, nodes, edges, x, edge_index)
            x = conv(x.relu() if i else x, edge_index)
        return x[: nodes[0]]


def trainer():
    model = Model().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, capturable=True)

    def step(x, edge_index, y, nodes, edges):
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(model(x, edge_index, nodes, edges), y[: nodes[0]])
        loss.backward()
        optimizer.step()
        return loss

    return model, optimizer, step


def test_padding_does_not_wait_for_the_gpu():
    made = loader(pad=None)
    outputs = made._sample_many([torch.arange(17), torch.arange(17, 34), torch.arange(34, 40)], 0)
    pad = OutputPadder(made.padding().with_room(0.5), made.data, None)
    torch.cuda.synchronize()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the mode is a prototype
        torch.cuda.set_sync_debug_mode("error")
    try:
        for number, out in enumerate(outputs):
            pad(out, number)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert len({out.node.shape for out in outputs}) == 1 and outputs[0].node.is_cuda


def test_a_step_is_one_cuda_graph():
    made = loader()
    first = next(iter(made))
    sizes = first.num_sampled_nodes, first.num_sampled_edges
    arrays = [first[name].clone() for name in ("x", "edge_index", "y")]
    model, optimizer, step = trainer()
    initial = copy.deepcopy(model.state_dict())
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step(*arrays, *sizes)
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step(*arrays, *sizes)
    model.load_state_dict(initial)
    for state in optimizer.state.values():
        for value in state.values():
            value.zero_()
    _, _, eager = trainer()
    made.set_epoch(0)
    for batch, plain in zip(made, loader(pad=None), strict=True):
        for array, name in zip(arrays, ("x", "edge_index", "y"), strict=True):
            array.copy_(batch[name])
        graph.replay()
        expected = eager(plain.x, plain.edge_index, plain.y, plain.num_sampled_nodes, plain.num_sampled_edges)
        torch.testing.assert_close(loss, expected, rtol=1e-3, atol=1e-4)  # sums on a GPU are in no order
