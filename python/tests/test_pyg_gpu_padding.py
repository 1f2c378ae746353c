"""Padded batches on a GPU: padding waits for nothing, and a training step can be one CUDA graph. Skipped without a GPU."""

from __future__ import annotations

import copy
import warnings

import pytest
from pyg_checks import homogeneous, same_but_padding, shapes_of, torch
from torch_geometric.nn import SAGEConv
from torch_geometric.utils import trim_to_layer

import tendril
from tendril.pyg import LinkNeighborLoader, NeighborLoader
from tendril.pyg._padding import OutputPadder

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(tendril.num_gpus() == 0 or not torch.cuda.is_available(), reason="no GPU, or Torch sees none"),
]


def loader(kind=NeighborLoader, **options):
    data = homogeneous(num_nodes=300, num_edges=2100)
    data.x = torch.randn(300, 6, generator=torch.Generator().manual_seed(1))
    data.y = data.y % 5
    options = {"batch_size": 17, "shuffle": True, "device": "cuda", "pad": "epoch", **options}
    return kind(data, [4, 3], **options)


def link_loader(**options):
    return loader(LinkNeighborLoader, **{"batch_size": 400, "neg_sampling": "binary", **options})


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
    outputs = made._sample_many([torch.arange(17), torch.arange(17, 34), torch.arange(34, 40)], 0, 1)
    pad = OutputPadder(made.padding().with_room(0.5), made)
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


def recorded(step, arrays):
    """A CUDA graph of a step, and the loss that it writes."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step(*arrays)
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step(*arrays)
    return graph, loss


def begin_anew(model, optimizer, initial):
    model.load_state_dict(initial)
    for state in optimizer.state.values():
        for value in state.values():
            value.zero_()


def test_a_step_is_one_cuda_graph():
    made = loader()
    first = next(iter(made))
    sizes = first.num_sampled_nodes, first.num_sampled_edges
    arrays = [first[name].clone() for name in ("x", "edge_index", "y")]
    model, optimizer, step = trainer()
    initial = copy.deepcopy(model.state_dict())
    graph, loss = recorded(lambda *given: step(*given, *sizes), arrays)
    begin_anew(model, optimizer, initial)
    _, _, eager = trainer()
    made.set_epoch(0)
    for batch, plain in zip(made, loader(pad=None), strict=True):
        for array, name in zip(arrays, ("x", "edge_index", "y"), strict=True):
            array.copy_(batch[name])
        graph.replay()
        expected = eager(plain.x, plain.edge_index, plain.y, plain.num_sampled_nodes, plain.num_sampled_edges)
        torch.testing.assert_close(loss, expected, rtol=1e-3, atol=1e-4)  # sums on a GPU are in no order


@pytest.mark.parametrize("place", ["host", "gpu"])
@pytest.mark.parametrize("pad", [None, "epoch"])
def test_batches_last_while_the_loop_is_behind(pad, place, monkeypatch):
    """The loop gets ahead of the GPU by many batches, whose memory the loader's threads must not take for others."""
    monkeypatch.setattr("tendril.pyg._loader._AHEAD_OF_GPU", 1000)
    data = homogeneous(num_nodes=30_000, num_edges=600_000)
    data.x = torch.randn(30_000, 64, generator=torch.Generator().manual_seed(1))
    data = data.pin_memory() if place == "host" else data.to("cuda")
    options = {"num_neighbors": [10, 5], "batch_size": 500, "shuffle": True, "device": "cuda", "pad": pad, "bulk": 4}
    names, expected = ["x", "edge_index", "n_id", "e_id", "y"], []
    names += ["node_mask", "edge_mask"] if pad else []
    calm = NeighborLoader(data, prefetch=0, **options)
    for batch in calm:
        torch.cuda.synchronize()
        expected.append([batch[name].cpu() for name in names])
    for _ in range(3):
        made = NeighborLoader(data, neighbor_sampler=calm.node_sampler, **options)
        found = []
        for batch in made:
            torch.cuda._sleep(5_000_000)  # cycles: some milliseconds
            found.append([batch[name].clone() for name in names])
        for i, (one, other) in enumerate(zip(found, expected, strict=True)):
            for name, a, b in zip(names, one, other, strict=True):
                assert torch.equal(a.cpu(), b), f"batch {i}: {name}"


@pytest.mark.parametrize("negatives", [None, "binary", "triplet"])
def test_batches_around_links_have_one_shape(negatives):
    padded, plain = link_loader(neg_sampling=negatives), link_loader(neg_sampling=negatives, pad=None)
    batches = list(padded)
    assert len({shapes_of(batch) for batch in batches}) == 1 and not batches[-1].label_mask.all()
    for batch, expected in zip(batches, plain, strict=True):
        assert batch.label_mask.is_cuda and batch.node_mask.is_cuda
        same_but_padding(batch, expected)
    on_cpu = link_loader(neg_sampling=negatives, device="cpu")
    for batch, expected in zip(batches, on_cpu, strict=True):
        for key, value in expected.to_dict().items():
            assert torch.equal(batch[key].cpu(), value) if isinstance(value, torch.Tensor) else batch[key] == value, key


def test_a_step_of_links_is_one_cuda_graph():
    made = link_loader()
    first = next(iter(made))
    nodes, edges = first.num_sampled_nodes, first.num_sampled_edges
    names = "x", "edge_index", "edge_label_index", "edge_label", "label_mask"
    arrays = [first[name].clone() for name in names]

    def trainer_of_links():
        model = Model().cuda()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01, capturable=True)

        def step(x, edge_index, links, labels, mask, nodes=nodes, edges=edges):
            optimizer.zero_grad(set_to_none=True)
            for i, conv in enumerate(model.convs):
                x, edge_index, _ = trim_to_layer(i, nodes, edges, x, edge_index)
                x = conv(x.relu() if i else x, edge_index)
            scores = (x[links[0]] * x[links[1]]).sum(-1)
            each = torch.nn.functional.binary_cross_entropy_with_logits(scores, labels, reduction="none")
            loss = (each * mask).sum() / mask.sum()
            loss.backward()
            optimizer.step()
            return loss

        return model, optimizer, step

    model, optimizer, step = trainer_of_links()
    initial = copy.deepcopy(model.state_dict())
    graph, loss = recorded(step, arrays)
    begin_anew(model, optimizer, initial)
    _, _, eager = trainer_of_links()
    made.set_epoch(0)
    for batch, plain in zip(made, link_loader(pad=None), strict=True):
        for array, name in zip(arrays, names, strict=True):
            array.copy_(batch[name])
        graph.replay()
        given = [plain[name] for name in names[:-1]]
        every = torch.ones_like(plain.edge_label, dtype=torch.bool)
        expected = eager(*given, every, plain.num_sampled_nodes, plain.num_sampled_edges)
        torch.testing.assert_close(loss, expected, rtol=1e-3, atol=1e-4)  # sums on a GPU are in no order
