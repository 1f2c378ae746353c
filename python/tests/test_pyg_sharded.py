"""PyG's loaders over a graph and features that ranks share: batches are those of one process."""

from __future__ import annotations

import pytest
from pyg_checks import numbers, torch
from ranks import results, run_ranks
from torch_geometric.data import Data

import tendril
from tendril import dist
from tendril.pyg import HGTLoader, LinkNeighborLoader, NeighborLoader, NeighborSampler, ShaDowKHopSampler, sharded_data


def needs_gpu(test):
    absent = tendril.num_gpus() == 0 or not torch.cuda.is_available()
    return pytest.mark.gpu(pytest.mark.skipif(absent, reason="no GPU, or Torch sees none")(test))


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


def on_gpus(ranks, data, graph, features="gpu"):
    """The same on a GPU of each rank; ranks share GPUs where there are fewer."""
    here = dist.Graph.cut(ranks, graph)
    device = f"cuda:{ranks.rank % tendril.num_gpus()}"
    place = device if features == "gpu" else None
    x, y = dist.FeatureTable(here, data.x, device=place), dist.FeatureTable(here, data.y, device=place)
    return sharded_data(here, device=device, x=x, y=y)


@needs_gpu
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize(
    "options",
    [
        {"shuffle": True, "bulk": 1},
        {"disjoint": True, "bulk": 2, "prefetch": 0},
        {"subgraph_type": "bidirectional", "bulk": 3, "prefetch": 5},
        {"replace": True, "uneven": "repeat"},
        {"uneven": "drop", "drop_last": True, "bulk": 4},
        {"num_neighbors": [-1, 2]},
        {"choice": "labor", "bulk": 2},
        {"subgraph_type": "induced", "bulk": 3},
    ],
)
def test_gpus_of_ranks_make_the_batches_of_one_process(data, graph, count, options):
    how = {"num_neighbors": [4, 3], "input_nodes": numbers(130), "batch_size": 11, "seed": 3, **options}
    features = "gpu" if options.get("bulk") != 2 else "cpu"
    ranks_alone = [list(NeighborLoader(data, rank=rank, world_size=count, **how)) for rank in range(count)]

    def work(ranks):
        given = on_gpus(ranks, data, graph, features)
        loader = NeighborLoader(given, rank=ranks.rank, world_size=count, **how)
        assert loader.node_sampler.device == given[1].device and loader.node_sampler.device.type == "cuda"
        first = list(loader)  # while others may have one more
        loader.set_epoch(0)
        assert len(list(loader)) == len(first) == len(loader)
        return first

    for made, expected in zip(results(run_ranks(count, work)), ranks_alone, strict=True):
        assert len(made) == len(expected)
        for batch, alone in zip(made, expected, strict=True):
            for name in ("n_id", "edge_index", "x", "y", "e_id", "input_id", "batch", "edge_labor_weight"):
                one, other = batch.get(name), alone.get(name)
                assert (one is None) == (other is None), name
                assert one is None or (one.is_cuda and torch.equal(one.cpu(), other)), name
            assert batch.batch_size == alone.batch_size
            assert batch.get("num_sampled_nodes") == alone.get("num_sampled_nodes")


@needs_gpu
@pytest.mark.parametrize("prefetch", [0, 1, 4])
def test_ranks_with_gpus_leave_an_epoch_together(data, graph, prefetch):
    how = {"input_nodes": numbers(150), "batch_size": 5, "prefetch": prefetch, "bulk": 2}
    whole = list(NeighborLoader(data, [4, 3], **how))

    def work(ranks):
        given = on_gpus(ranks, data, graph)
        loader = NeighborLoader(given, [4, 3], rank=ranks.rank, world_size=3, **how)
        for last in (0, 1, 7, 8, 9):
            for i, _ in enumerate(loader):
                if i == last:
                    break
        loader.set_epoch(0)
        return list(loader)

    for rank, made in enumerate(results(run_ranks(3, work))):
        assert len(made) == 10
        for i, batch in enumerate(made):
            assert torch.equal(batch.x.cpu(), whole[3 * i + rank].x) and torch.equal(batch.n_id.cpu(), whole[3 * i + rank].n_id)


@needs_gpu
def test_what_loaders_in_step_do_not_take_is_named(data, graph):
    def work(ranks):
        given = on_gpus(ranks, data, graph)
        nodes, mine = numbers(10), {"rank": ranks.rank, "world_size": 2}
        for call, line in (
            (lambda: NeighborLoader(given, [2], nodes), "rank is 0 of 1, expected that of the graph"),
            (lambda: NeighborLoader(given, [2], nodes, batch_sampler=[[1]], **mine), "batch_sampler over a graph"),
            (lambda: NeighborLoader(given, [2], nodes, transform_sampler_output=lambda out: out, **mine), "expected transform"),
            (lambda: LinkNeighborLoader(given, [2], data.edge_index[:, :9]), "rank is 0 of 1, expected that of the graph"),
            (lambda: HGTLoader(given, [2], nodes, **mine), "a graph in parts, expected a whole one"),
        ):
            with pytest.raises((tendril.TendrilError, NotImplementedError)) as error:
                call()
            assert line in str(error.value), (line, error.value)
        return True

    assert results(run_ranks(2, work)) == [True, True]


@pytest.mark.skipif(tendril.num_gpus() > 0, reason="a GPU")
def test_a_gpu_that_is_not_there_is_one_line(data, graph):
    def work(ranks):
        return NeighborLoader(sharded_data(dist.Graph.cut(ranks, graph), device="cuda"), [2], numbers(9), rank=ranks.rank, world_size=2)

    for one in run_ranks(2, work):
        assert isinstance(one, tendril.TendrilError) and "GPU" in str(one) and "\n" not in str(one)


@needs_gpu
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
            (lambda: ShaDowKHopSampler(given, 2, 3), "data is a tuple, expected Data"),
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


@needs_gpu
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize(
    "options",
    [
        {"neg_sampling": "binary", "shuffle": True},
        {"neg_sampling": "triplet", "prefetch": 0},
        {"neg_sampling": "binary", "disjoint": True, "bulk": 4, "uneven": "repeat"},
        {"num_neighbors": [-1, 2], "drop_last": True, "prefetch": 5},
    ],
)
def test_links_on_gpus_of_ranks(data, graph, count, options):
    """Ranks have unequally many batches, unless they repeat some."""
    how = {"num_neighbors": [3, 2], "edge_label_index": data.edge_index[:, ::17], "batch_size": 9, "seed": 2, **options}
    ranks_alone = [list(LinkNeighborLoader(data, rank=rank, world_size=count, **how)) for rank in range(count)]

    def work(ranks):
        loader = LinkNeighborLoader(on_gpus(ranks, data, graph), rank=ranks.rank, world_size=count, **how)
        for i, _ in enumerate(loader):
            if i == 1:
                break
        loader.set_epoch(0)
        return list(loader)

    names = ("n_id", "edge_index", "x", "y", "e_id", "input_id", "batch", "edge_label_index", "edge_label", "src_index", "dst_neg_index")
    for made, expected in zip(results(run_ranks(count, work)), ranks_alone, strict=True):
        assert len(made) == len(expected)
        for batch, alone in zip(made, expected, strict=True):
            for name in names:
                one, other = batch.get(name), alone.get(name)
                assert (one is None) == (other is None), name
                assert one is None or (one.is_cuda and torch.equal(one.cpu(), other)), name
