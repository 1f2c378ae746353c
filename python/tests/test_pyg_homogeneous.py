"""NeighborLoader on one type of vertices: edges, attributes, fan-outs, numbering; a model sees what it would on the graph."""

from __future__ import annotations

import pytest
from pyg_checks import Data, check_homogeneous, homogeneous, numbers, torch

from tendril.pyg import NeighborLoader


@pytest.fixture(scope="module")
def data():
    return homogeneous()


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("fanouts", [[5], [4, 3], [-1, 2], [3, -1, 2], [0, 2], [2, 0, 1]])
def test_batches_follow_the_graph(data, fanouts, replace):
    loader = NeighborLoader(data, fanouts, batch_size=20, replace=replace)
    assert str(loader) == "NeighborLoader()"
    assert len(loader) == 5
    batches = list(loader)
    assert len(batches) == 5
    for i, batch in enumerate(batches):
        assert batch.batch_size == 20 and batch.name == "kept as it is"
        assert torch.equal(batch.n_id[:20], numbers(100)[20 * i : 20 * i + 20])
        assert torch.equal(batch.input_id, numbers(100)[20 * i : 20 * i + 20])
        check_homogeneous(data, batch, fanouts, replace)


def test_seeds_without_edges_stay(data):
    batch = next(iter(NeighborLoader(data, [3, 3], input_nodes=numbers(100)[-5:], batch_size=5)))
    assert batch.num_nodes == batch.batch_size == 5 and batch.num_edges == 0
    assert batch.edge_index.shape == (2, 0) and batch.num_sampled_nodes == [5, 0, 0]


@pytest.mark.parametrize("replace", [False, True])
def test_the_neighbours_of_a_hub_are_equally_likely(replace):
    degree, many, fanout = 3 << 14, 4000, 10  # 16 random bits modulo this degree are in its first third half the time
    edges = torch.stack([numbers(degree) + 1, torch.zeros(degree, dtype=torch.long)])
    hub = Data(edge_index=edges, num_nodes=degree + 1)
    seeds = torch.zeros(many, dtype=torch.long)
    loader = NeighborLoader(hub, [fanout], input_nodes=seeds, batch_size=many, disjoint=True, replace=replace)
    picks = next(iter(loader)).e_id
    assert len(picks) == many * fanout
    deviation = (1 / 3 * 2 / 3 / len(picks)) ** 0.5
    assert 30 * deviation < 1 / 2 - 1 / 3  # strong enough to see that bias
    for third in range(3):
        assert abs((picks // (degree // 3) == third).float().mean() - 1 / 3) < 5 * deviation


def test_a_loader_is_called_for_chosen_inputs(data):
    loader = NeighborLoader(data, [4, 3], input_nodes=numbers(50) * 2, batch_size=10)
    batch = loader(numbers(20)[10:], batch=1)
    assert torch.equal(batch.n_id[:10], torch.arange(20, 40, 2)) and torch.equal(batch.input_id, numbers(20)[10:])
    check_homogeneous(data, batch, [4, 3])
    assert torch.equal(batch.e_id, list(loader)[1].e_id)


def test_seeds_given_twice_come_first_as_given_and_see_the_same(data):
    seeds = torch.tensor([7, 3, 7, 7, 20, 3])
    batch = next(iter(NeighborLoader(data, [3, 2], input_nodes=seeds, batch_size=6)))
    assert torch.equal(batch.n_id[:6], seeds) and batch.batch_size == 6
    assert torch.equal(batch.y, batch.n_id)
    ends = torch.stack([batch.n_id[batch.edge_index[0]], batch.n_id[batch.edge_index[1]]])
    assert torch.equal(ends, data.edge_index[:, batch.e_id])
    assert sum(batch.num_sampled_nodes) == batch.num_nodes and sum(batch.num_sampled_edges) == batch.num_edges
    into = [sorted(batch.e_id[batch.edge_index[1] == i].tolist()) for i in range(6)]
    assert into[0] == into[2] == into[3] and into[1] == into[5] and into[0] != into[1]
    once = next(iter(NeighborLoader(data, [3, 2], input_nodes=[7, 3, 20], batch_size=3)))
    assert into[0] == sorted(once.e_id[once.edge_index[1] == 0].tolist())


def test_all_neighbours_give_a_model_what_the_whole_graph_gives(data):
    from torch_geometric.nn import SAGEConv

    torch.manual_seed(0)
    layers = [SAGEConv(1, 8), SAGEConv(8, 4)]

    def run(x, edge_index):
        for layer in layers:
            x = layer(x, edge_index).relu()
        return x

    with torch.no_grad():
        whole = run(data.x, data.edge_index)
        seeds = torch.tensor([5, 80, 33, 99, 5])
        for kind in ("directional", "induced"):
            batch = next(iter(NeighborLoader(data, [-1, -1], seeds, batch_size=5, subgraph_type=kind)))
            assert torch.allclose(run(batch.x, batch.edge_index)[:5], whole[seeds], atol=1e-5)


def test_layers_can_be_trimmed(data):
    from torch_geometric.nn import SAGEConv
    from torch_geometric.utils import trim_to_layer

    torch.manual_seed(0)
    layers = [SAGEConv(1, 8), SAGEConv(8, 4)]
    batch = next(iter(NeighborLoader(data, [4, 4], batch_size=20)))
    with torch.no_grad():
        whole = layers[1](layers[0](batch.x, batch.edge_index), batch.edge_index)[:20]
        x, edges = batch.x, batch.edge_index
        for i, layer in enumerate(layers):
            x, edges, _ = trim_to_layer(i, batch.num_sampled_nodes, batch.num_sampled_edges, x, edges)
            x = layer(x, edges)
    assert torch.allclose(x[:20], whole, atol=1e-5)


def test_numbers_that_the_data_has_already_are_kept(data):
    own = homogeneous()
    own.n_id, own.e_id = numbers(100) + 1000, numbers(700) + 5000
    batch = next(iter(NeighborLoader(own, [3, 2], batch_size=4)))
    assert torch.equal(batch.n_id - 1000, batch.y) and torch.equal(batch.e_id - 5000, batch.edge_attr.view(-1))


def test_more_vertices_than_edges_name(data):
    from torch_geometric.data import Data

    lonely = Data(num_nodes=7, edge_index=torch.tensor([[0, 1], [1, 2]]))
    batch = next(iter(NeighborLoader(lonely, [2], input_nodes=[6, 2], batch_size=2)))
    assert batch.num_nodes == 3 and batch.n_id.tolist() == [6, 2, 1] and batch.edge_index.tolist() == [[2], [1]]
    empty = Data(num_nodes=7, edge_index=torch.empty(2, 0, dtype=torch.int64))
    batch = next(iter(NeighborLoader(empty, [2, 2], batch_size=4)))
    assert batch.num_nodes == 4 and batch.num_edges == 0
    assert len(list(NeighborLoader(empty, [2], input_nodes=[], batch_size=4))) == 0


def test_edge_indices_of_int32_are_taken():
    small = homogeneous()
    batch = next(iter(NeighborLoader(small.clone().update({"edge_index": small.edge_index.int()}), [3], batch_size=9)))
    assert torch.equal(batch.e_id, next(iter(NeighborLoader(small, [3], batch_size=9))).e_id)
