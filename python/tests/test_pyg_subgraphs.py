"""ShaDow, ClusterGCN and GraphSAINT in PyG's form: every attribute follows the data, and numbers decide the draws."""

from __future__ import annotations

import math

import pytest
from pyg_checks import heterogeneous, homogeneous, torch
from torch_geometric.data import Data
from torch_geometric.loader import ClusterLoader as PygClusterLoader

import tendril
from tendril.pyg import (
    ClusterData,
    ClusterLoader,
    GraphSAINTEdgeSampler,
    GraphSAINTNodeSampler,
    GraphSAINTRandomWalkSampler,
    ShaDowKHopSampler,
)
from tendril.pyg._order import shuffled

SAINT = {
    "node": (GraphSAINTNodeSampler, {}),
    "edge": (GraphSAINTEdgeSampler, {}),
    "walk": (GraphSAINTRandomWalkSampler, {"walk_length": 2}),
}


def graph():
    data = homogeneous()
    data.train_mask = torch.arange(100) % 3 == 0
    data.n_id = torch.arange(100)
    data.e_id = torch.arange(700)
    return data


def equal(one, other):
    keys = [key for key in one.keys() if isinstance(one[key], torch.Tensor)]
    return set(one.keys()) == set(other.keys()) and all(torch.equal(one[key], other[key]) for key in keys)


def same_epochs(make, reference, **others):
    return all(equal(a, b) for a, b in zip(reference, make(**others), strict=True))


# ShaDow ---------------------------------------------------------------------------------------------------------------


def test_shadow_batches_hold_the_subgraph_of_each_root():
    data = graph()
    loader = ShaDowKHopSampler(data, depth=2, num_neighbors=3, node_idx=data.train_mask, batch_size=8)
    assert isinstance(loader, torch.utils.data.DataLoader) and len(loader) == 5
    roots = data.train_mask.nonzero().view(-1)
    assert len(loader.dataset) == roots.numel()
    for i, batch in enumerate(loader):
        mine = roots[8 * i : 8 * i + 8]
        assert batch.num_graphs == mine.numel()
        assert torch.equal(batch.n_id[batch.root_n_id], mine) and torch.equal(batch.y, data.y[mine])
        assert torch.equal(batch.batch, torch.repeat_interleave(torch.arange(mine.numel()), batch.ptr.diff()))
        assert torch.equal(batch.x, data.x[batch.n_id]) and torch.equal(batch.train_mask, data.train_mask[batch.n_id])
        assert torch.equal(batch.edge_attr, data.edge_attr[batch.e_id]) and batch.name == data.name
        assert torch.equal(batch.n_id[batch.edge_index], data.edge_index[:, batch.e_id])
        place = batch.edge_index[0] * batch.num_nodes + batch.edge_index[1]
        assert torch.equal(place, place.sort().values)  # by source, then target, as in PyG
        for tree in range(mine.numel()):
            nodes = batch.n_id[batch.batch == tree]
            assert torch.equal(nodes, nodes.unique())  # ascending, each once
            inside = torch.isin(data.edge_index, nodes).all(dim=0)
            found = batch.e_id[batch.batch[batch.edge_index[0]] == tree]
            assert torch.equal(found.sort().values, inside.nonzero().view(-1))


def test_shadow_with_few_edges_takes_the_whole_neighbourhood():
    data = Data(edge_index=torch.tensor([[0, 1, 2, 3, 9], [1, 2, 3, 4, 4]]), num_nodes=10, y=torch.arange(10))
    batch = next(iter(ShaDowKHopSampler(data, depth=2, num_neighbors=5, node_idx=torch.tensor([4]), batch_size=1)))
    assert batch.ptr.tolist() == [0, 4] and batch.y.tolist() == [4]  # 2, 3, 4 and 9 reach vertex 4 in two steps
    assert batch.edge_index.tolist() == [[0, 1, 3], [1, 2, 2]] and batch.root_n_id.tolist() == [2]


def test_shadow_depends_on_seed_and_number_alone():
    data = graph()

    def make(**others):
        return ShaDowKHopSampler(data, **{"depth": 2, "num_neighbors": 2, "batch_size": 16, "shuffle": True, **others})

    one = make()
    epochs = [list(one), list(one)]
    assert not equal(epochs[0][0], epochs[1][0])
    assert same_epochs(make, epochs[0], num_threads=1) and same_epochs(make, epochs[0], num_workers=3)
    later = make()
    later.set_epoch(1)
    assert all(equal(a, b) for a, b in zip(epochs[1], later, strict=True))
    assert not same_epochs(make, epochs[0], seed=1)
    roots = torch.cat([batch.n_id[batch.root_n_id] for batch in epochs[1]])
    assert torch.equal(roots.sort().values, torch.arange(100)) and not torch.equal(roots, torch.arange(100))


def test_each_iteration_has_the_order_of_its_epoch():
    loader = ShaDowKHopSampler(graph(), depth=1, num_neighbors=2, batch_size=16, shuffle=True, seed=5)
    orders = [shuffled(100, 5, epoch) for epoch in range(3)]
    assert len({tuple(order.tolist()) for order in orders}) == 3

    def roots(batches):
        return torch.cat([batch.n_id[batch.root_n_id] for batch in batches])

    for order in orders:
        assert torch.equal(roots(loader), order)
    assert loader.epoch == 3
    loader.set_epoch(0)
    iterations = [iter(loader) for _ in orders]
    turns = list(zip(*reversed(iterations), strict=True))  # the last iteration takes its first batch first
    for order, batches in zip(reversed(orders), zip(*turns, strict=True), strict=True):
        assert torch.equal(roots(batches), order)


# ClusterGCN -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def clustered(monkeypatch):
    """Clusters that need no METIS: of different sizes, and the tenth of them empty."""
    monkeypatch.setattr(ClusterData, "_metis", lambda self, edge_index, count: torch.arange(count).sqrt().long() % 9)
    return lambda parts=10, **options: ClusterData(graph(), parts, log=False, **options)


@pytest.mark.parametrize("sparse_format", ["csr", "csc"])
@pytest.mark.parametrize("batch_size", [1, 3])
def test_cluster_batches_are_pygs(clustered, sparse_format, batch_size):
    cut = clustered(9, sparse_format=sparse_format)  # PyG's loader fails for an empty cluster
    ours = ClusterLoader(cut, batch_size=batch_size)
    theirs = PygClusterLoader(cut, batch_size=batch_size)
    assert len(ours) == len(theirs) and isinstance(ours, torch.utils.data.DataLoader)
    for one, other in zip(ours, theirs, strict=True):
        one.validate()
        assert equal(one, other)
        assert torch.equal(one.n_id[one.edge_index], graph().edge_index[:, one.e_id])


def test_an_epoch_of_clusters_has_every_vertex_once(clustered):
    cut = clustered()
    loader = ClusterLoader(cut, batch_size=3, shuffle=True)
    epochs = [[batch.n_id for batch in loader] for _ in range(2)]
    for epoch in epochs:
        assert torch.equal(torch.cat(epoch).sort().values, torch.arange(100))
    assert not torch.equal(torch.cat(epochs[0]), torch.cat(epochs[1]))
    again = [batch.n_id for batch in ClusterLoader(cut, batch_size=3, shuffle=True, num_threads=1)]
    assert torch.equal(torch.cat(epochs[0]), torch.cat(again))


def test_clusters_are_saved_and_read_again(clustered, tmp_path, monkeypatch):
    first = clustered(save_dir=str(tmp_path))
    monkeypatch.setattr(ClusterData, "_metis", lambda *ignored: pytest.fail("the file has the clusters"))
    again = clustered(save_dir=str(tmp_path))
    assert torch.equal(first.partition.node_perm, again.partition.node_perm)


def test_metis_cuts_the_data():
    try:
        cut = ClusterData(graph(), 4, log=False)
    except tendril.IoError as error:
        pytest.skip(str(error))
    assert len(cut) == 4 and cut.partition.node_perm.sort().values.tolist() == list(range(100))
    sizes = cut.partition.partptr.diff()
    assert sizes.min() > 10 and sizes.max() < 40


# GraphSAINT -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SAINT)
def test_saint_batches_are_induced_subgraphs(kind):
    data = graph()
    sampler, options = SAINT[kind]
    loader = sampler(data, batch_size=12, num_steps=20, sample_coverage=5, log=False, **options)
    assert isinstance(loader, torch.utils.data.DataLoader) and len(loader) == 20
    for batch in loader:
        assert torch.equal(batch.n_id, batch.n_id.unique()) and batch.num_nodes == batch.n_id.numel() > 0
        assert torch.equal(batch.x, data.x[batch.n_id]) and torch.equal(batch.y, data.y[batch.n_id])
        assert torch.equal(batch.train_mask, data.train_mask[batch.n_id]) and batch.name == data.name
        inside = torch.isin(data.edge_index, batch.n_id).all(dim=0)
        assert torch.equal(batch.e_id.sort().values, inside.nonzero().view(-1))
        assert torch.equal(batch.n_id[batch.edge_index], data.edge_index[:, batch.e_id])
        assert torch.equal(batch.edge_attr, data.edge_attr[batch.e_id])
        assert torch.equal(batch.node_norm, loader.node_norm[batch.n_id])
        assert torch.equal(batch.edge_norm, loader.edge_norm[batch.e_id])
    most = {"node": 12, "edge": 24, "walk": 36}[kind]
    assert max(batch.num_nodes for batch in loader) <= most


@pytest.mark.parametrize("kind", SAINT)
def test_saint_norms_are_pygs_formulas(kind):
    """Counted one by one over the samples that the norms are counted over."""
    data = graph()
    data.edge_index = data.edge_index[:, torch.randperm(700, generator=torch.Generator().manual_seed(1))]
    sampler, options = SAINT[kind]
    loader = sampler(data, batch_size=9, num_steps=3, sample_coverage=4, **options)
    core = tendril.Graph.from_coo(*data.edge_index, num_vertices=100, keep_edge_ids=True)
    draw = getattr(tendril, f"saint_{kind}_sample")
    length = {"length": 2} if kind == "walk" else {}
    nodes, edges, total, count = torch.zeros(100), torch.zeros(700), 0, 0
    while total < 4 * 100:
        for _ in range(3):
            one = draw(core, 1, 9, first_sample=(1 << 61) + count, **length).sample(0)
            nodes[torch.from_numpy(one.nodes.copy())] += 1
            edges[torch.from_numpy(core.edge_ids[one.edges].astype("int64"))] += 1
            total, count = total + len(one.nodes), count + 1
    for v in range(100):
        assert math.isclose(loader.node_norm[v], count / max(nodes[v].item(), 0.1) / 100, rel_tol=1e-6)
    for e in range(700):
        source = data.edge_index[0, e]
        expected = min(nodes[source] / edges[e], 1e4) if edges[e] else 1e4 if nodes[source] else 0.1
        assert math.isclose(loader.edge_norm[e], expected, rel_tol=1e-6)
    assert count % 3 == 0 and (nodes == 0).any()  # the formula for vertices that no sample has was needed


@pytest.mark.parametrize("kind", SAINT)
def test_saint_depends_on_seed_and_number_alone(kind):
    data = graph()
    sampler, options = SAINT[kind]

    def make(**others):
        return sampler(data, **{"batch_size": 9, "num_steps": 19, "sample_coverage": 2, **options, **others})

    one = make()
    epochs = [list(one), list(one)]
    assert not equal(epochs[0][0], epochs[1][0])
    assert same_epochs(make, epochs[0], num_threads=1) and same_epochs(make, epochs[0], num_workers=2)
    assert not same_epochs(make, epochs[0], seed=1)


@pytest.mark.parametrize("kind", SAINT)
@pytest.mark.parametrize("uneven", ["keep", "repeat"])
def test_ranks_of_saint_share_an_epoch_and_sample_in_groups(kind, uneven, monkeypatch):
    data = graph()
    sampler, options = SAINT[kind]

    def make(**others):
        return sampler(data, **{"batch_size": 9, "num_steps": 19, **options, **others})

    whole = make()
    epochs = [list(whole), list(whole)]
    for world in (2, 5):
        for rank in range(world):
            one = make(rank=rank, world_size=world, uneven=uneven)
            calls, samples = [], one._samples
            monkeypatch.setattr(one, "_samples", lambda *of, calls=calls, samples=samples: calls.append(of) or samples(*of))
            for number, epoch in enumerate(epochs):
                calls.clear()
                found, mine = list(one), epoch[rank::world]
                assert all(equal(a, b) for a, b in zip(found, mine, strict=False)) and len(found) >= len(mine)
                assert calls[0] == (min(8, len(mine)), 19 * number + rank, world)


def test_saint_norms_are_saved_and_read_again(tmp_path, monkeypatch):
    data = graph()
    make = {"batch_size": 9, "num_steps": 3, "sample_coverage": 4, "save_dir": str(tmp_path)}
    first = GraphSAINTEdgeSampler(data, **make)
    with monkeypatch.context() as patch:
        patch.setattr(GraphSAINTEdgeSampler, "_count_norms", lambda self: pytest.fail("the file has the norms"))
        again = GraphSAINTEdgeSampler(data, **make)
    assert torch.equal(first.node_norm, again.node_norm) and torch.equal(first.edge_norm, again.edge_norm)
    other = GraphSAINTEdgeSampler(data, **{**make, "seed": 1})
    assert not torch.equal(first.node_norm, other.node_norm)


# Errors ---------------------------------------------------------------------------------------------------------------


def test_bad_input_gives_one_line():
    data = graph()

    def refuses(line, call):
        with pytest.raises(tendril.ArgumentError) as found:
            call()
        assert str(found.value) == line

    plain = Data(x=torch.ones(3, 1))
    refuses("data is a HeteroData, expected Data", lambda: ShaDowKHopSampler(heterogeneous(), 1, 1))
    refuses("data has neither edge_index nor adj_t, expected one of them", lambda: ShaDowKHopSampler(plain, 1, 1))
    refuses("input_nodes[0] is 100, expected a vertex in [0, 100)", lambda: ShaDowKHopSampler(data, 1, 1, torch.tensor([100])))
    refuses("depth: 0, expected 1 to 64 hops", lambda: ShaDowKHopSampler(data, 0, 1))
    refuses("data is a Data without edge_index, expected Data with edges", lambda: ClusterData(plain, 2))
    refuses("recursive is True, expected False: METIS' k-way partition", lambda: ClusterData(data, 2, recursive=True))
    refuses("sparse_format is 'coo', expected 'csr' or 'csc'", lambda: ClusterData(data, 2, sparse_format="coo"))
    refuses("cluster_data is a Data, expected ClusterData", lambda: ClusterLoader(data))
    refuses("data is a Data without edge_index, expected Data with edges", lambda: GraphSAINTNodeSampler(plain, 1))
    refuses("num_steps is 0, expected 1 or more", lambda: GraphSAINTNodeSampler(data, 1, 0))
    refuses("batch_size is 0, expected 1 or more", lambda: GraphSAINTEdgeSampler(data, 0))
    refuses("length: -1, expected 0 to 1000 steps", lambda: GraphSAINTRandomWalkSampler(data, 1, -1))
    normed = Data(edge_index=data.edge_index, num_nodes=100, node_norm=torch.ones(100))
    refuses("data has the attribute node_norm, expected none: the sampler adds it", lambda: GraphSAINTNodeSampler(normed, 1))
    empty = Data(edge_index=torch.empty(2, 0, dtype=torch.long), num_nodes=4)
    refuses(
        "sample_coverage is given, but nothing can be drawn: the graph has no edges",
        lambda: GraphSAINTEdgeSampler(empty, 2, sample_coverage=1),
    )
