"""NeighborLoader on several types of vertices and edges."""

from __future__ import annotations

import pytest
from pyg_checks import (
    AUTHORS,
    CITES,
    PAPERS,
    WRITES,
    WRITTEN,
    check_edges,
    check_nodes,
    degrees,
    heterogeneous,
    numbers,
    torch,
)

from tendril.pyg import NeighborLoader

KEYS = (CITES, WRITES, WRITTEN)
COUNTS = {"paper": PAPERS, "author": AUTHORS}


@pytest.fixture(scope="module")
def data():
    return heterogeneous()


def check(data, batch, fanouts, replace=False):
    """Attributes and edges of every type; each vertex that a hop saw first has its fan-out in each edge type."""
    for name in COUNTS:
        check_nodes(data[name], batch[name])
        assert sum(batch[name].num_sampled_nodes) == batch[name].num_nodes
    for key in KEYS:
        check_edges(data[key], batch[key], batch[key[0]], batch[key[2]])
        degree = degrees(data[key].edge_index, COUNTS[key[2]])
        edges, first = batch[key].edge_index[1].split(batch[key].num_sampled_edges), 0
        for hop, fanout in enumerate(fanouts[key]):
            last = first + batch[key[2]].num_sampled_nodes[hop]
            counts = torch.bincount(edges[hop], minlength=last)
            d = degree[batch[key[2]].n_id[first:last]]
            want = d if fanout == -1 else (d > 0) * fanout if replace else d.clamp(max=fanout)
            assert torch.equal(counts[first:last], want) and counts.numel() == last and not counts[:first].any()
            first = last


@pytest.mark.parametrize("replace", [False, True])
def test_batches_follow_the_graph(data, replace):
    loader = NeighborLoader(data, [4, 3], input_nodes="paper", batch_size=20, replace=replace)
    assert len(loader) == 3
    for i, batch in enumerate(loader):
        assert batch["paper"].batch_size == 20 and "batch_size" not in batch["author"]
        assert torch.equal(batch["paper"].n_id[:20], numbers(60)[20 * i : 20 * i + 20])
        assert torch.equal(batch["paper"].input_id, numbers(60)[20 * i : 20 * i + 20])
        assert batch.node_types == data.node_types and batch.edge_types == data.edge_types
        check(data, batch, dict.fromkeys(KEYS, [4, 3]), replace)


def test_edge_types_have_fanouts_of_their_own(data):
    fanouts = {CITES: [2, -1], WRITES: [0, 3], WRITTEN: [5, 1]}
    for batch in NeighborLoader(data, fanouts, input_nodes=("author", numbers(30)), batch_size=15):
        check(data, batch, fanouts)


@pytest.mark.parametrize(
    "given",
    [
        ("author", numbers(AUTHORS) % 4 == 1),
        ("author", torch.arange(1, AUTHORS, 4)),
        ("author", list(range(1, AUTHORS, 4))),
    ],
)
def test_seeds_come_as_mask_tensor_or_list(data, given):
    batch = next(iter(NeighborLoader(data, [2], input_nodes=given, batch_size=100)))
    assert batch["author"].n_id[: batch["author"].batch_size].tolist() == list(range(1, AUTHORS, 4))
    check(data, batch, dict.fromkeys(KEYS, [2]))


def test_all_vertices_of_a_type_are_the_default(data):
    for given in ("author", ("author", None)):
        loader = NeighborLoader(data, [1], input_nodes=given, batch_size=AUTHORS)
        assert next(iter(loader))["author"].batch_size == AUTHORS


def test_types_that_no_edge_leads_to_are_there_and_empty(data):
    lonely = heterogeneous()
    lonely["venue"].x = numbers(5).view(-1, 1)
    lonely["venue"].y = numbers(5)
    batch = next(iter(NeighborLoader(lonely, [2, 2], input_nodes="author", batch_size=10)))
    assert batch["venue"].num_nodes == 0 and batch["venue"].x.shape == (0, 1)
    batch = next(iter(NeighborLoader(lonely, [2, 2], input_nodes="venue", batch_size=3)))
    assert batch["venue"].n_id.tolist() == [0, 1, 2] and batch["paper"].num_nodes == 0
    assert batch[CITES].edge_index.shape == (2, 0)


def test_seeds_given_twice_come_first_as_given(data):
    seeds = torch.tensor([7, 3, 7, 20])
    batch = next(iter(NeighborLoader(data, [3, 2], input_nodes=("paper", seeds), batch_size=4)))
    assert torch.equal(batch["paper"].n_id[:4], seeds) and batch["paper"].batch_size == 4
    for key in KEYS:
        check_edges(data[key], batch[key], batch[key[0]], batch[key[2]])
        assert sum(batch[key].num_sampled_edges) == batch[key].num_edges
    for key in (CITES, WRITES):
        into = [sorted(batch[key].e_id[batch[key].edge_index[1] == i].tolist()) for i in range(4)]
        assert into[0] == into[2] and into[0] != into[1]


def test_all_neighbours_give_a_model_what_the_whole_graph_gives(data):
    from torch_geometric.nn import HeteroConv, SAGEConv

    torch.manual_seed(0)
    layers = [HeteroConv({key: SAGEConv((width, width), 8) for key in KEYS}) for width in (1, 8)]

    def run(x, edges):
        for layer in layers:
            x = {name: one.relu() for name, one in layer(x, edges).items()}
        return x["paper"]

    features = {name: data[name].x.float() / COUNTS[name] for name in COUNTS}
    with torch.no_grad():
        whole = run(features, data.edge_index_dict)
        batch = next(iter(NeighborLoader(data, [-1, -1], input_nodes=("paper", [9, 41, 3]), batch_size=3)))
        part = run({name: features[name][batch[name].n_id] for name in COUNTS}, batch.edge_index_dict)[:3]
    assert torch.allclose(part, whole[[9, 41, 3]], atol=1e-5)
