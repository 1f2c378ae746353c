"""What users trip over gets one clear line, a ValueError."""

from __future__ import annotations

import pytest
from pyg_checks import CITES, WRITES, heterogeneous, homogeneous, numbers, torch
from torch_geometric.data import Data

import tendril
from tendril.pyg import LinkNeighborLoader, NeighborLoader, NeighborSampler

DATA, HETERO = homogeneous(), heterogeneous()
DATA.real = torch.rand(700)
DATA.short = torch.ones(3)


def nodes(*arguments, **options):
    return NeighborLoader(DATA, *(arguments or ([2, 2],)), **options)


def typed(*arguments, **options):
    return NeighborLoader(HETERO, *(arguments or ([2, 2], "paper")), **options)


def links(**options):
    return LinkNeighborLoader(DATA, [2], **options)


MISTAKES = {
    "data": (lambda: NeighborLoader([1, 2], [2]), "data"),
    "no fan-out": (lambda: nodes([]), "num_neighbors: none given"),
    "fan-out": (lambda: nodes([2, -2]), "num_neighbors: -2 at hop 2"),
    "fan-out of a float": (lambda: nodes([2.5]), "num_neighbors[0] is 2.5, expected an integer"),
    "fan-out of a number": (lambda: nodes(5), "num_neighbors is 5, expected a sequence of integers"),
    "fan-outs by type": (lambda: nodes({CITES: [1]}), "num_neighbors is a dict, expected a list of integers"),
    "fan-out lengths": (
        lambda: typed({CITES: [1], WRITES: [1, 2], ("paper", "rev_writes", "author"): [1]}, "paper"),
        "num_neighbors has lists of different lengths",
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
    "input ids": (lambda: nodes([2], [1, 2], input_id=numbers(3)), "input_id has 3 elements, expected 2"),
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
        "input_time is given, but time_attr isn't: expected both, or none",
    ),
    "input times": (
        lambda: nodes(input_time=numbers(99), time_attr="y"),
        "input_time has shape (99,), expected (100, …): one of each seed",
    ),
    "seeds without times": (lambda: nodes(time_attr="edge_attr"), "seeds have no time"),
    "no such weight": (lambda: nodes(weight_attr="w"), "weight_attr is 'w', but data has no such attribute"),
    "no such typed weight": (lambda: typed(weight_attr="w"), "weight_attr is 'w', but no edge type has such"),
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
    "index": (lambda: nodes()([100]), "index is out of range, expected positions in [0, 100)"),
    "device": (lambda: nodes(device="tpu"), "tpu"),
    "link": (
        lambda: links(edge_label_index=torch.tensor([[1], [100]])),
        "edge_label_index[1][0] is 100, expected a vertex in [0, 100)",
    ),
    "links": (
        lambda: links(edge_label_index=numbers(6).view(3, 2)),
        "edge_label_index has shape (3, 2), expected (2, number of links)",
    ),
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
        "edge_label_time is given, but time_attr isn't: expected both, or none",
    ),
    "time attribute alone": (
        lambda: links(time_attr="y"),
        "time_attr is given, but edge_label_time isn't: expected both, or none",
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
