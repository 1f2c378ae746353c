"""PyG's loaders over a graph and features that ranks share: batches are those of one process."""

from __future__ import annotations

import pytest
from pyg_checks import numbers, torch
from ranks import results, run_ranks
from torch_geometric.data import Data

import tendril
from tendril import dist
from tendril.pyg import LinkNeighborLoader, NeighborLoader, NeighborSampler, ShaDowKHopSampler, sharded_data


@pytest.fixture(scope="module")
def data():
    draws = torch.Generator().manual_seed(1)
    ends = torch.randint(0, 150, (2, 2000), generator=draws)
    ends = torch.unique(ends[1] * 150 + ends[0])  # by target, then by source: the order of the sampler's graph
    edge_index = torch.stack([ends % 150, ends // 150])
    return Data(x=torch.randn(150, 6, generator=draws), y=torch.arange(150), edge_index=edge_index)


@pytest.fixture(scope="module")
def graph(data):
    source, target = data.edge_index.numpy()
    return tendril.Graph.from_coo(source, target, num_vertices=150, reverse=True)


def parted(ranks, data, graph):
    here = dist.Graph.cut(ranks, graph)
    return sharded_data(here, x=dist.FeatureTable(here, data.x), y=dist.FeatureTable(here, data.y))


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(
    "options",
    [
        {"shuffle": True},
        {"subgraph_type": "induced", "disjoint": True},
        {"subgraph_type": "bidirectional"},
        {"replace": True, "prefetch": 0, "bulk": 1},
        {"choice": "labor"},
    ],
)
def test_batches_are_those_of_one_process(data, graph, count, options):
    how = {"input_nodes": numbers(130), "batch_size": 11, "seed": 3, **options}
    whole = list(NeighborLoader(data, [4, 3], **how))

    def work(ranks):
        loader = NeighborLoader(parted(ranks, data, graph), [4, 3], rank=ranks.rank, world_size=count, **how)
        first, second = list(loader), list(loader)
        assert len(first) == len(second) == len(loader)
        return first

    made = results(run_ranks(count, work))
    assert sum(map(len, made)) == len(whole)
    for i, expected in enumerate(whole):
        batch = made[i % count][i // count]
        for name in ("n_id", "edge_index", "x", "y", "e_id", "input_id", "batch", "edge_labor_weight"):
            one, other = batch.get(name), expected.get(name)
            assert (one is None) == (other is None) and (one is None or torch.equal(one, other)), name
        assert batch.batch_size == expected.batch_size
        assert batch.get("num_sampled_nodes") == expected.get("num_sampled_nodes")


@pytest.mark.gpu
@pytest.mark.skipif(tendril.num_gpus() == 0 or not torch.cuda.is_available(), reason="no GPU, or Torch sees none")
def test_batches_go_to_a_gpu(data, graph):
    how = {"input_nodes": numbers(130), "batch_size": 11, "seed": 3, "shuffle": True}
    whole = list(NeighborLoader(data, [4, 3], **how))

    def work(ranks):
        loader = NeighborLoader(
            parted(ranks, data, graph), [4, 3], rank=ranks.rank, world_size=2, device="cuda:0", **how
        )
        assert loader.node_sampler.device.type == "cpu"
        return list(loader)

    made = results(run_ranks(2, work))
    for i, expected in enumerate(whole):
        batch = made[i % 2][i // 2]
        for name in ("n_id", "edge_index", "x", "y", "e_id", "input_id"):
            assert batch[name].is_cuda and torch.equal(batch[name].cpu(), expected[name]), name


def test_an_epoch_that_is_left_early(data, graph):
    def work(ranks):
        loader = NeighborLoader(
            parted(ranks, data, graph), [4, 3], input_nodes=numbers(150), batch_size=5, rank=ranks.rank, world_size=2
        )
        for epoch in range(3):
            for i, _ in enumerate(loader):
                if i == 2 + epoch + ranks.rank:
                    break
        return len(list(loader))

    assert results(run_ranks(2, work)) == [15, 15]


def test_what_parts_do_not_have_is_named(data, graph):
    def work(ranks):
        given = parted(ranks, data, graph)
        nodes = numbers(10)
        for call, line in (
            (lambda: NeighborLoader(given, [2], nodes, time_attr="t"), "a graph in parts has no times"),
            (lambda: NeighborLoader(given, [2], nodes, weight_attr="w"), "the graph's edges have no weights"),
            (lambda: NeighborSampler(given, [2], sample_direction="backward"), "expected 'forward'"),
            (lambda: NeighborSampler(given, [2], executor="hops"), "expected 'auto' on the CPU"),
            (lambda: NeighborSampler(given, {("a", "to", "a"): [2]}), "the data has one type of edges"),
            (lambda: ShaDowKHopSampler(given, 2, 3), "expected"),
            (lambda: sharded_data(graph), "graph is a Graph, expected a tendril.dist.Graph"),
            (lambda: sharded_data(given[1].graph, x=data.x), "x is a Tensor, expected a tendril.dist.FeatureTable"),
            (lambda: given[0].put_tensor(data.x, attr_name="z", index=None), "expected a new sharded_data"),
            (lambda: given[1].get_edge_index(given[1].get_all_edge_attrs()[0]), "the edges lie with several ranks"),
        ):
            with pytest.raises((tendril.TendrilError, NotImplementedError)) as error:
                call()
            assert line in str(error.value), (line, error.value)
        return True

    assert results(run_ranks(2, work)) == [True, True]


def test_links(data, graph):
    how = {"edge_label_index": data.edge_index[:, ::7], "batch_size": 9, "neg_sampling": "binary", "seed": 2}
    whole = list(LinkNeighborLoader(data, [3, 2], **how))

    def work(ranks):
        given = (parted(ranks, data, graph), (None, how["edge_label_index"]))
        options = {**how, "edge_label_index": given[1]}
        return list(LinkNeighborLoader(given[0], [3, 2], rank=ranks.rank, world_size=2, **options))

    made = results(run_ranks(2, work))
    for i, expected in enumerate(whole):
        batch = made[i % 2][i // 2]
        for name in ("n_id", "edge_index", "x", "edge_label_index", "edge_label", "input_id"):
            assert torch.equal(batch[name], expected[name]), name
