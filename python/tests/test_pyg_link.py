"""LinkNeighborLoader: links and their ends in the batch, labels, negatives, times; one type of vertices and several."""

from __future__ import annotations

import math

import pytest
from pyg_checks import CITES, WRITES, WRITTEN, check_edges, check_nodes, heterogeneous, homogeneous, numbers, torch
from torch_geometric.data import Data, HeteroData
from torch_geometric.sampler import NegativeSampling
from torch_geometric.sampler.neighbor_sampler import neg_sample

from tendril.pyg import LinkNeighborLoader


@pytest.fixture(scope="module")
def data():
    return homogeneous()


def ends(store, index):
    return store.n_id[index]


@pytest.mark.parametrize("disjoint", [False, True])
@pytest.mark.parametrize("kind", ["directional", "bidirectional", "induced"])
def test_links_are_found_in_the_batch(data, kind, disjoint):
    links = data.edge_index[:, 100:300]
    loader = LinkNeighborLoader(data, [3, 2], links, batch_size=32, subgraph_type=kind, disjoint=disjoint)
    assert len(loader) == 7 and str(loader) == "LinkNeighborLoader()"
    for i, batch in enumerate(loader):
        mine = links[:, 32 * i : 32 * i + 32]
        check_nodes(data, batch, distinct=not disjoint)
        assert torch.equal(ends(batch, batch.edge_label_index), mine)
        assert torch.equal(batch.input_id, numbers(200)[32 * i : 32 * i + 32])
        assert batch.get("edge_label") is None
        if kind != "bidirectional":
            check_edges(data, batch, batch, batch)
        if disjoint:
            count = mine.size(1)
            assert torch.equal(batch.batch[batch.edge_label_index], numbers(count).expand(2, count))
        else:  # every end once, in ascending order
            assert torch.equal(batch.n_id[: batch.edge_label_index.max() + 1], mine.unique())


def test_all_edges_are_the_default_and_labels_come_along(data):
    labels = torch.rand(700, 2)
    loader = LinkNeighborLoader(data, [2], edge_label=labels, batch_size=300, shuffle=True)
    assert len(loader) == 3
    for batch in loader:
        assert torch.equal(ends(batch, batch.edge_label_index), data.edge_index[:, batch.input_id])
        assert torch.equal(batch.edge_label, labels[batch.input_id])


@pytest.mark.parametrize("amount", [1, 0.5, 2.3])
@pytest.mark.parametrize("disjoint", [False, True])
def test_binary_negatives_follow_the_links(data, amount, disjoint):
    config = NegativeSampling("binary", amount)
    loader = LinkNeighborLoader(data, [3, 2], batch_size=100, neg_sampling=config, disjoint=disjoint)
    negatives = []
    for i, batch in enumerate(loader):
        count = math.ceil(100 * amount)
        assert batch.edge_label_index.shape == (2, 100 + count)
        assert torch.equal(ends(batch, batch.edge_label_index[:, :100]), data.edge_index[:, 100 * i : 100 * i + 100])
        assert batch.edge_label.tolist() == [1.0] * 100 + [0.0] * count
        check_edges(data, batch, batch, batch)
        negatives.append(ends(batch, batch.edge_label_index[:, 100:]))
        if disjoint:
            assert torch.equal(batch.batch[batch.edge_label_index], (numbers(100 + count) % 100).expand(2, -1))
    negatives = torch.cat(negatives, dim=1)
    assert negatives.unique().numel() > 80 and not torch.equal(negatives[0], negatives[1])


def test_the_ratio_is_short_for_binary_negatives(data):
    one = next(iter(LinkNeighborLoader(data, [2], batch_size=50, neg_sampling_ratio=2.0)))
    other = next(iter(LinkNeighborLoader(data, [2], batch_size=50, neg_sampling={"mode": "binary", "amount": 2.0})))
    assert torch.equal(ends(one, one.edge_label_index), ends(other, other.edge_label_index))
    none = next(iter(LinkNeighborLoader(data, [2], batch_size=50, neg_sampling_ratio=0.0)))
    assert none.edge_label_index.shape == (2, 50)


def test_labels_from_zero_are_raised(data):
    for labels, raised in ((numbers(700) % 3, 1), (numbers(700) % 3 + 1, 0)):
        batch = next(iter(LinkNeighborLoader(data, [2], edge_label=labels, batch_size=50, neg_sampling="binary")))
        assert torch.equal(batch.edge_label[:50], labels[:50] + raised) and not batch.edge_label[50:].any()
        assert batch.edge_label.dtype == torch.int64


@pytest.mark.parametrize("amount", [1, 3])
@pytest.mark.parametrize("disjoint", [False, True])
def test_triplets_have_targets_that_are_not_linked(data, amount, disjoint):
    config = NegativeSampling("triplet", amount)
    loader = LinkNeighborLoader(data, [3, 2], batch_size=90, neg_sampling=config, disjoint=disjoint)
    for i, batch in enumerate(loader):
        mine = data.edge_index[:, 90 * i : 90 * i + 90]
        count = mine.size(1)
        assert torch.equal(ends(batch, torch.stack([batch.src_index, batch.dst_pos_index])), mine)
        assert batch.dst_neg_index.shape == ((count,) if amount == 1 else (count, amount))
        assert "edge_label" not in batch and "edge_label_index" not in batch
        if disjoint:
            for index in (batch.src_index, batch.dst_pos_index, *batch.dst_neg_index.view(count, -1).t()):
                assert torch.equal(batch.batch[index], numbers(count))


def test_weights_of_negatives_are_probabilities(data):
    """20,000 negatives; within five deviations of a binomial of what their weights say."""
    weight = torch.zeros(100)
    weight[[5, 6, 7]] = torch.tensor([1.0, 2.0, 5.0])
    config = NegativeSampling("triplet", 200, dst_weight=weight)
    batch = next(iter(LinkNeighborLoader(data, [0], batch_size=100, neg_sampling=config)))
    share = torch.bincount(ends(batch, batch.dst_neg_index).view(-1), minlength=100) / 20000
    want = weight / 8
    assert bool(((share - want).abs() <= 5 * (want * (1 - want) / 20000).sqrt()).all())
    config = NegativeSampling("binary", 2, src_weight=weight, dst_weight=weight.flip(0))
    batch = next(iter(LinkNeighborLoader(data, [0], batch_size=100, neg_sampling=config)))
    negative = ends(batch, batch.edge_label_index[:, 100:])
    assert set(negative[0].tolist()) <= {5, 6, 7} and set(negative[1].tolist()) <= {94, 93, 92}


def test_links_with_times_see_nothing_later(data):
    own = homogeneous()
    generator = torch.Generator().manual_seed(1)
    own.made = torch.randint(50, (700,), generator=generator)
    limit = torch.randint(10, 50, (700,), generator=generator)
    for mode in (None, "binary", "triplet"):
        loader = LinkNeighborLoader(
            own, [3, 3], batch_size=100, edge_label_time=limit, time_attr="made", neg_sampling=mode
        )
        for i, batch in enumerate(loader):
            mine = limit[100 * i : 100 * i + 100]
            told = batch.seed_time if mode == "triplet" else batch.edge_label_time
            assert torch.equal(told, mine.repeat(2) if mode == "binary" else mine)
            assert batch.num_edges > 0
            assert bool((batch.made <= mine[batch.batch[batch.edge_index[1]]]).all())


def own_times(*limits):
    """Vertices with times in no order, each its own, and links at these times in turn."""
    own = homogeneous()
    own.born = torch.randperm(100, generator=torch.Generator().manual_seed(1))
    return own, torch.tensor(limits).repeat(700)[:700]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("mode", ["binary", "triplet"])
def test_negatives_are_not_later_than_their_links(mode, weighted):
    own, limit = own_times(60, 0, 10, 99)
    weight = torch.linspace(1, 5, 100) if weighted else None
    config = NegativeSampling(mode, 3, src_weight=weight if mode == "binary" else None, dst_weight=weight)
    loader = LinkNeighborLoader(
        own, [2], batch_size=100, edge_label_time=limit, time_attr="born", neg_sampling=config
    )
    for i, batch in enumerate(loader):
        mine = limit[100 * i : 100 * i + 100]
        if mode == "triplet":
            negative, until = batch.dst_neg_index, mine.view(-1, 1)
        else:
            negative, until = batch.edge_label_index[:, 100:], mine.repeat(3)
        assert bool((batch.born[negative] <= until).all())
        assert bool((batch.born[batch.edge_index[0]] <= mine[batch.batch[batch.edge_index[1]]]).all())


@pytest.mark.parametrize("mode", ["binary", "triplet"])
def test_where_no_negative_is_eligible_the_earliest_is_taken_as_pyg_does(mode):
    own, limit = own_times(-1)
    loader = LinkNeighborLoader(
        own, [2], batch_size=100, edge_label_time=limit, time_attr="born", neg_sampling=mode
    )
    batch = next(iter(loader))
    negative = ends(batch, batch.dst_neg_index if mode == "triplet" else batch.edge_label_index[:, 100:])
    theirs = neg_sample(numbers(100), NegativeSampling(mode), 100, limit[:100], own.born, "dst")
    assert torch.equal(negative.view(-1, 100), theirs.expand_as(negative.view(-1, 100)))
    assert set(theirs.tolist()) == {int(own.born.argmin())}


@pytest.mark.parametrize("mode", ["binary", "triplet"])
def test_negatives_of_several_types_are_not_later_than_their_links(mode):
    data = heterogeneous()
    for name, of in data.node_items():
        of.born = torch.randperm(of.num_nodes, generator=torch.Generator().manual_seed(len(name)))
    limit = torch.tensor([3, 0, 20, 7]).repeat(10)
    loader = LinkNeighborLoader(
        data,
        [2],
        (WRITES, data[WRITES].edge_index[:, :40]),
        batch_size=20,
        edge_label_time=limit,
        time_attr="born",
        neg_sampling=NegativeSampling(mode, 5),
    )
    for i, batch in enumerate(loader):
        mine = limit[20 * i : 20 * i + 20]
        if mode == "triplet":
            assert bool((batch["paper"].born[batch["paper"].dst_neg_index] <= mine.view(-1, 1)).all())
        else:
            source, target = batch[WRITES].edge_label_index[:, 20:]
            assert bool((batch["author"].born[source] <= mine.repeat(5)).all())
            assert bool((batch["paper"].born[target] <= mine.repeat(5)).all())


@pytest.mark.parametrize("disjoint", [False, True])
@pytest.mark.parametrize("mode", [None, "binary", "triplet"])
def test_links_between_two_types(mode, disjoint):
    data = heterogeneous()
    links = data[WRITES].edge_index[:, :40]
    loader = LinkNeighborLoader(data, [3, 2], (WRITES, links), batch_size=20, neg_sampling=mode, disjoint=disjoint)
    for i, batch in enumerate(loader):
        mine = links[:, 20 * i : 20 * i + 20]
        for name in ("paper", "author"):
            check_nodes(data[name], batch[name], distinct=not disjoint)
        for key in (CITES, WRITES, WRITTEN):
            check_edges(data[key], batch[key], batch[key[0]], batch[key[2]])
        if mode == "triplet":
            source, target = batch["author"].src_index, batch["paper"].dst_pos_index
            negative = batch["paper"].dst_neg_index
            assert negative.shape == (20,) and bool((negative < batch["paper"].num_nodes).all())
            assert "edge_label_index" not in batch[WRITES]
        else:
            (source, target), negative = batch[WRITES].edge_label_index[:, :20], None
            assert batch[WRITES].edge_label_index.size(1) == (40 if mode else 20)
        assert torch.equal(batch["author"].n_id[source], mine[0]) and torch.equal(batch["paper"].n_id[target], mine[1])
        assert torch.equal(batch[WRITES].input_id, numbers(40)[20 * i : 20 * i + 20])
        if disjoint:
            assert torch.equal(batch["author"].batch[source], numbers(20))
            assert torch.equal(batch["paper"].batch[target], numbers(20))
            if negative is not None:
                assert torch.equal(batch["paper"].batch[negative], numbers(20))


def test_links_within_one_of_several_types():
    data = heterogeneous()
    for given in (CITES, (CITES, None), (CITES, data[CITES].edge_index), ("paper", "paper")):
        loader = LinkNeighborLoader(data, [2], given, batch_size=64)
        batch = next(iter(loader))
        assert torch.equal(batch["paper"].n_id[batch[CITES].edge_label_index], data[CITES].edge_index[:, :64])


def test_links_of_a_type_that_the_graph_does_not_have():
    data = heterogeneous()
    links = torch.stack([numbers(10), numbers(10) + 3])
    batch = next(iter(LinkNeighborLoader(data, [2], (("author", "knows", "author"), links), batch_size=10)))
    assert torch.equal(batch["author"].n_id[batch["author", "knows", "author"].edge_label_index], links)


def test_a_graph_without_edges():
    links = torch.stack([numbers(10), numbers(10) + 3])
    batch = next(iter(LinkNeighborLoader(Data(num_nodes=20), [2], links, batch_size=10)))
    assert torch.equal(batch.n_id[batch.edge_label_index], links) and batch.num_nodes == 13
    data = HeteroData(paper={"num_nodes": 20})
    batch = next(iter(LinkNeighborLoader(data, [2], (("paper", "to", "paper"), links), batch_size=10)))
    assert torch.equal(batch["paper"].n_id[batch["paper", "to", "paper"].edge_label_index], links)


def test_the_same_negatives_every_time(data):
    def negatives(**options):
        loader = LinkNeighborLoader(data, [1], batch_size=100, neg_sampling="binary", **options)
        return [ends(batch, batch.edge_label_index[:, 100:]).tolist() for batch in loader]

    torch.manual_seed(1)
    first = negatives(seed=3)
    torch.manual_seed(2)
    assert negatives(seed=3) == first and negatives(seed=4) != first and first[0] != first[1]
