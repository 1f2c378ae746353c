"""What users trip over gets one clear line, a ValueError."""

from __future__ import annotations

import numpy as np
import pytest
from pyg_checks import CITES, WRITES, heterogeneous, homogeneous, numbers, torch
from torch_geometric.data import Data
from torch_geometric.sampler import EdgeSamplerInput, NodeSamplerInput

import tendril
from tendril.pyg import LinkNeighborLoader, NeighborLoader, NeighborSampler

DATA, HETERO = homogeneous(), heterogeneous()
DATA.real = torch.rand(700)
DATA.short = torch.ones(3)
DATA.nan = torch.full((700,), torch.nan)


def nodes(*arguments, **options):
    return NeighborLoader(DATA, *(arguments or ([2, 2],)), **options)


def typed(*arguments, **options):
    return NeighborLoader(HETERO, *(arguments or ([2, 2], "paper")), **options)


def links(**options):
    return LinkNeighborLoader(DATA, [2], **options)


MISTAKES = {
    "data": (lambda: NeighborLoader([1, 2], [2]), "data"),
    "fan-out": (lambda: nodes([2, -2]), "num_neighbors: -2 at hop 2"),
    "fan-out of a float": (lambda: nodes([2.5]), "num_neighbors[0] is 2.5, expected an integer"),
    "fan-out of a number": (lambda: nodes(5), "num_neighbors is 5, expected a sequence of integers"),
    "fan-outs by type": (lambda: nodes({CITES: [1]}), "num_neighbors is a dict, expected a list of integers"),
    "fan-out lengths": (
        lambda: typed({CITES: [1], WRITES: [1, 2], ("paper", "rev_writes", "author"): [1]}, "paper"),
        "num_neighbors: the number of hops must be the same across all edge types, not",
    ),
    "fan-outs missing": (
        lambda: typed({CITES: [1]}, "paper"),
        "num_neighbors has no edge type ('author', 'writes', 'paper'), expected fan-outs of every edge type",
    ),
    "fan-outs of an unknown type": (
        lambda: typed({("paper", "x", "paper"): [1]}, "paper"),
        "num_neighbors has the edge type ('paper', 'x', 'paper'), expected one of",
    ),
    "seed": (lambda: nodes([2], [5, 100]), "input_nodes[1] is 100, expected a vertex in [0, 100)"),
    "negative seed": (lambda: nodes([2], torch.tensor([-1])), "input_nodes[0] is -1, expected a vertex in [0, 100)"),
    "seeds of floats": (lambda: nodes([2], torch.rand(3)), "input_nodes has dtype torch.float32, expected integers"),
    "seeds of two dimensions": (lambda: nodes([2], numbers(4).view(2, 2)), "input_nodes has shape (2, 2)"),
    "mask": (lambda: nodes([2], numbers(90) > 3), "input_nodes is a mask of 90 vertices, expected 100"),
    "seed type": (lambda: typed([2], "venue"), "input_nodes has the vertex type 'venue', expected one of"),
    "no seed type": (lambda: typed([2]), "input_nodes is None, expected a vertex type or a pair"),
    "seeds without a type": (lambda: typed([2], numbers(3)), "input_nodes is a Tensor, expected a vertex type"),
    "typed seed": (lambda: typed([2], ("paper", [60])), "input_nodes[0] is 60, expected a vertex in [0, 60)"),
    "input ids": (lambda: nodes([2], [1, 2], input_id=numbers(3)), "input_id has shape (3,), expected (2, …): one of each seed"),
    "subgraph type": (
        lambda: nodes(subgraph_type="x"),
        "subgraph_type is 'x', expected 'directional', 'bidirectional' or 'induced'",
    ),
    "strategy": (lambda: nodes(temporal_strategy="x"), "temporal_strategy is 'x', expected 'uniform' or 'last'"),
    "no such time": (
        lambda: nodes(time_attr="when"),
        "time_attr is 'when', but data has no such attribute of vertices or edges",
    ),
    "no such typed time": (
        lambda: typed(time_attr="when"),
        "time_attr is 'when', but data has no such attribute of vertices or edges",
    ),
    "times of floats": (lambda: nodes(time_attr="real"), "real has dtype torch.float32, expected integers"),
    "input time alone": (
        lambda: nodes(input_time=numbers(100)),
        "input_time is given, but 'time_attr' is not set: expected both, or none",
    ),
    "input times": (
        lambda: nodes(input_time=numbers(99), time_attr="y"),
        "input_time has shape (99,), expected (100, …): one of each seed",
    ),
    "seeds without times": (lambda: nodes(time_attr="edge_attr"), "seeds have no time"),
    "no such weight": (lambda: nodes(weight_attr="w"), "weight_attr is 'w', but data has no such attribute"),
    "no such typed weight": (lambda: typed(weight_attr="w"), "weight_attr is 'w', but no edge type has such"),
    "times of another length": (
        lambda: nodes(time_attr="short"),
        "short has shape (3,), expected (100,) or (700,): one of each vertex, or edge",
    ),
    "weights that are a name": (lambda: nodes(weight_attr="name"), "name can't be a tensor"),
    "weights that are no numbers": (lambda: nodes(weight_attr="nan"), "edge 0: weight nan, expected a finite number"),
    "weights": (lambda: nodes(weight_attr="short"), "short has shape (3,), expected (700,): one number for each edge"),
    "weights with times": (
        lambda: nodes(weight_attr="real", time_attr="y"),
        "weight_attr and time_attr are given, expected one of them",
    ),
    "batch size": (lambda: nodes(batch_size=0), "batch_size is 0, expected 1 or more"),
    "bulk": (lambda: nodes(bulk=0), "bulk is 0, expected 1 or more"),
    "prefetch": (lambda: nodes(prefetch=-1), "prefetch is -1, expected 0 or more"),
    "seed number": (lambda: nodes(seed=-1), "seed is -1"),
    "order": (lambda: nodes(shuffle=True, sampler=[1]), "shuffle is True, and a sampler gives the order"),
    "index": (lambda: nodes()([100]), "index[0] is 100, expected a position in [0, 100)"),
    "index from the end": (lambda: nodes()([-1]), "index[0] is -1, expected a position in [0, 100)"),
    "index of floats": (lambda: nodes()([1.5]), "index has dtype torch.float32, expected integers"),
    "index as a mask": (lambda: nodes()(numbers(100) > 3), "index has dtype torch.bool, expected integers"),
    "index of letters": (lambda: nodes()("ab"), "index can't be a tensor"),
    "sampler beyond": (lambda: list(nodes(sampler=[100])), "sampler: position[0] is 100, expected a position in"),
    "sampler from the end": (lambda: list(nodes(sampler=[-1])), "sampler: position[0] is -1, expected a position in"),
    "sampler of floats": (lambda: list(nodes(sampler=[0.5])), "sampler: position has dtype torch.float32"),
    "sampler of a number": (lambda: nodes(sampler=3), "sampler is a int, expected one that can be iterated over"),
    "batch sampler beyond": (
        lambda: list(nodes(batch_sampler=[[1], [2, 100]])),
        "batch 1 of batch_sampler: position[1] is 100, expected a position in [0, 100)",
    ),
    "batch sampler of numbers": (
        lambda: list(nodes(batch_sampler=[1, 2])),
        "batch 0 of batch_sampler is 1, expected several positions",
    ),
    "batch sampler and size": (
        lambda: nodes(batch_sampler=[[1]], batch_size=4),
        "batch_sampler is given, and batch_size or drop_last, which it decides itself",
    ),
    "generator": (lambda: nodes(shuffle=True, generator=3), "generator is a int, expected a torch.Generator"),
    "transform": (lambda: nodes(transform=3), "transform is a int, expected a function"),
    "epoch": (lambda: nodes().set_epoch(-1), "epoch is -1, expected 0 or more"),
    "batch number": (lambda: nodes()([0], batch=-1), "batch is -1, expected 0 or more"),
    "another's sampler": (lambda: nodes(neighbor_sampler=3), "neighbor_sampler is a int, expected one that has"),
    "batch size of a float": (lambda: nodes(batch_size=2.0), "batch_size is 2.0, expected an integer"),
    "seeds of letters": (lambda: nodes([2], "paper"), "input_nodes can't be a tensor"),
    "seeds that are ragged": (lambda: nodes([2], [[1], [2, 3]]), "input_nodes can't be a tensor"),
    "seeds beyond 64 bits": (lambda: nodes([2], [2**70]), "input_nodes can't be a tensor"),
    "seeds without elements": (
        lambda: nodes([2], torch.zeros(3, dtype=torch.int64, device="meta")),
        "input_nodes is a tensor on the device 'meta', expected a dense one with elements",
    ),
    "input id of each vertex": (lambda: nodes(input_id=numbers(5)), "input_id has shape (5,), expected (100, …)"),
    "fan-outs beyond": (lambda: nodes([2**40]), "num_neighbors: 1099511627776 at hop 1, expected 0 to 2147483647"),
    "fan-outs of a name": (lambda: typed({"x": [1]}, "paper"), "num_neighbors: Cannot convert the edge type 'x'"),
    "fan-outs of a number by type": (
        lambda: typed({CITES: 1, WRITES: 1, ("paper", "rev_writes", "author"): 1}, "paper"),
        "num_neighbors[('paper', 'cites', 'paper')] is 1, expected a sequence of integers",
    ),
    "device": (lambda: nodes(device="tpu"), "tpu"),
    "link": (
        lambda: links(edge_label_index=torch.tensor([[1], [100]])),
        "edge_label_index[1][0] is 100, expected a vertex in [0, 100)",
    ),
    "links": (
        lambda: links(edge_label_index=numbers(6).view(3, 2)),
        "edge_label_index has shape (3, 2), expected (2, number of links)",
    ),
    "links of letters": (lambda: links(edge_label_index="x"), "edge_label_index can't be a tensor"),
    "links with a type": (
        lambda: links(edge_label_index=(WRITES, numbers(4).view(2, 2))),
        "edge_label_index can't be a tensor",
    ),
    "links of two lengths": (
        lambda: NeighborSampler(DATA, [2]).sample_from_edges(EdgeSamplerInput(None, numbers(2), numbers(1))),
        "links have 2 sources and 1 targets, expected as many",
    ),
    "type of a seed": (
        lambda: NeighborSampler(DATA, [2]).sample_from_nodes(NodeSamplerInput(None, numbers(2), input_type="x")),
        "input_type is 'x', expected None: the data has one type of vertices",
    ),
    "ratio": (lambda: links(neg_sampling_ratio=-1), "neg_sampling_ratio is -1, expected 0 or more"),
    "ratio that is no number": (lambda: links(neg_sampling_ratio=torch.nan), "neg_sampling_ratio is nan, expected"),
    "ratio of letters": (lambda: links(neg_sampling_ratio="x"), "neg_sampling_ratio is 'x', expected a number"),
    "kind of negatives": (lambda: links(neg_sampling="x"), "neg_sampling is 'x': 'x' is not a valid"),
    "amount of negatives": (lambda: links(neg_sampling={"mode": "binary", "amount": -1}), "neg_sampling is {"),
    "labels": (lambda: links(edge_label=numbers(5)), "edge_label has shape (5,), expected (700, …): one of each link"),
    "labels of triplets": (
        lambda: links(edge_label=numbers(700), neg_sampling="triplet"),
        "edge_label is given, but triplets have no labels",
    ),
    "weights of negatives": (
        lambda: next(iter(links(neg_sampling={"mode": "triplet", "amount": 1, "dst_weight": torch.ones(3)}))),
        "dst_weight has shape (3,), expected (100,): one of each vertex",
    ),
    "link times alone": (
        lambda: links(edge_label_time=numbers(700)),
        "edge_label_time is given, but 'time_attr' is not set: expected both, or none",
    ),
    "time attribute alone": (
        lambda: links(time_attr="y"),
        "time_attr is given, but 'edge_label_time' is not set: expected both, or none",
    ),
    "link type": (
        lambda: LinkNeighborLoader(HETERO, [2], ("paper", "x", "author"), batch_size=2),
        "expected one of",
    ),
    "no link type": (lambda: LinkNeighborLoader(HETERO, [2]), "edge_label_index names no edge type"),
    "edge_index shape": (
        lambda: NeighborLoader(Data(num_nodes=3, edge_index=torch.zeros(3, 2, dtype=torch.int64)), [2]),
        "edge_index has shape (3, 2), expected (2, number of edges)",
    ),
    "edge_index without elements": (
        lambda: NeighborLoader(Data(num_nodes=3, edge_index=torch.zeros(2, 2, dtype=torch.int64, device="meta")), [2]),
        "edge_index is a tensor on the device 'meta'",
    ),
    "adjacency as a tensor": (
        lambda: NeighborLoader(Data(num_nodes=3, adj_t=torch.eye(3)), [2]),
        "adj_t is a tensor of the layout torch.strided, expected a sparse matrix, or edge_index",
    ),
    "num_nodes": (
        lambda: NeighborLoader(Data(num_nodes=2.5, edge_index=torch.tensor([[0], [1]])), [2]),
        "num_nodes is 2.5, expected an integer",
    ),
    "a list of data": (lambda: NeighborLoader([DATA, DATA], [2]), "the GraphStore's edges have no size"),
    "edge_index of floats": (
        lambda: NeighborLoader(Data(num_nodes=3, edge_index=torch.zeros(2, 2)), [2]),
        "edge_index has dtype torch.float32, expected int64 or int32",
    ),
    "edge_index range": (
        lambda: NeighborLoader(Data(num_nodes=3, edge_index=torch.tensor([[0, 1], [1, 3]])), [2]),
        "edge_index[1][1] is 3, expected a vertex in [0, 3)",
    ),
    "negative weights": (
        lambda: NeighborLoader(
            Data(num_nodes=3, edge_index=torch.tensor([[0, 1], [1, 2]]), w=torch.tensor([1.0, -1.0])),
            [2],
            weight_attr="w",
        ),
        "weight",
    ),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_get_one_line(what):
    call, message = MISTAKES[what]
    with pytest.raises((tendril.ArgumentError, tendril.FormatError)) as caught:
        call()
    assert isinstance(caught.value, ValueError)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_all_kinds_of_integers_are_seeds():
    for seeds in (
        *(np.array([3, 1], dtype) for dtype in (np.uint8, np.int16, np.uint16, np.uint32, np.int64, np.uint64)),
        torch.tensor([3, 9, 1])[::2],
        torch.tensor([3, 1], dtype=torch.int32),
        (3, 1),
        range(3, 0, -2),
    ):
        batch = next(iter(nodes([2], seeds, batch_size=np.int64(2))))
        assert batch.n_id[:2].tolist() == [3, 1] and batch.n_id.dtype == torch.int64


def test_lists_of_one_element_a_vertex_are_attributes():
    data = homogeneous()
    data.label = [f"vertex {i}" for i in range(100)]
    data.colour = ["blue"] * 700
    for batch in NeighborLoader(data, [2], batch_size=40):
        assert batch.label == [f"vertex {i}" for i in batch.n_id.tolist()] and len(batch.colour) == batch.num_edges


def test_unknown_keywords_are_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'batchsize'"):
        nodes(batchsize=3)


@pytest.mark.skipif(tendril.num_gpus() > 0, reason="there is a GPU")
def test_a_gpu_that_is_not_there():
    with pytest.raises(tendril.DeviceError):
        nodes(device="cuda")


def test_arguments_of_worker_processes_are_accepted():
    loader = nodes([2], batch_size=10, num_workers=3, persistent_workers=True, prefetch_factor=2, timeout=0,
                   worker_init_fn=None, pin_memory=True, is_sorted=True, filter_per_worker=True)  # fmt: skip
    assert len(list(loader)) == 10 and loader.num_workers == 3
    NeighborSampler(DATA, [2], share_memory=True)
