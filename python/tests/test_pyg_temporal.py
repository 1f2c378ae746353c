"""Batches that don't look ahead: every edge is at most as late as its seed, of vertices' times and of edges'."""

from __future__ import annotations

import pytest
from pyg_checks import CITES, PAPERS, WRITES, WRITTEN, check_edges, check_nodes, heterogeneous, homogeneous, torch

from tendril.pyg import NeighborLoader


def times(count, seed, most=40):
    return torch.randint(most, (count,), generator=torch.Generator().manual_seed(seed))


@pytest.fixture(scope="module")
def data():
    data = homogeneous()
    data.when = times(100, 1)  # of vertices
    data.made = times(700, 2)  # of edges
    return data


def of_edges(data, level):
    return data.when[data.edge_index[0]] if level == "when" else data.made


def check_counts(data, batch, level, limit, fanouts, strategy):
    """Every vertex has as many edges as its seed lets it see, up to the fan-out; the last ones where asked for."""
    known = of_edges(data, level)
    assert bool((known[batch.e_id] <= limit[batch.batch[batch.edge_index[1]]]).all())
    first = edge = 0
    for hop, fanout in enumerate(fanouts):
        last = first + batch.num_sampled_nodes[hop]
        ids = batch.e_id[edge : edge + batch.num_sampled_edges[hop]]
        to = batch.edge_index[1, edge : edge + batch.num_sampled_edges[hop]]
        for place in range(first, last):
            seen = (data.edge_index[1] == batch.n_id[place]) & (known <= limit[batch.batch[place]])
            mine = ids[to == place]
            want = int(seen.sum()) if fanout == -1 else min(fanout, int(seen.sum()))
            assert mine.numel() == want == mine.unique().numel()
            if strategy == "last":
                assert known[mine].sort().values.tolist() == known[seen].sort().values[-want:].tolist()[:want]
        first, edge = last, edge + batch.num_sampled_edges[hop]


@pytest.mark.parametrize("strategy", ["uniform", "last"])
@pytest.mark.parametrize("level", ["when", "made"])
def test_seeds_see_nothing_later(data, level, strategy):
    limit = times(100, 5)
    loader = NeighborLoader(
        data, [4, 3], batch_size=25, input_time=limit, time_attr=level, temporal_strategy=strategy
    )
    for i, batch in enumerate(loader):
        check_nodes(data, batch)
        check_edges(data, batch, batch, batch)
        mine = limit[25 * i : 25 * i + 25]
        assert torch.equal(batch.seed_time, mine) and torch.equal(batch.batch[:25], torch.arange(25))
        check_counts(data, batch, level, mine, [4, 3], strategy)
    check_counts(data, loader([3, 4, 5]), level, limit[3:6], [4, 3], strategy)


def test_vertices_are_seeds_at_their_own_time(data):
    batch = next(iter(NeighborLoader(data, [-1, 2], batch_size=30, time_attr="when")))
    check_counts(data, batch, "when", data.when[:30], [-1, 2], "uniform")
    given = next(iter(NeighborLoader(data, [-1, 2], batch_size=30, time_attr="when", input_time=data.when)))
    assert torch.equal(batch.e_id, given.e_id)


def test_a_time_before_everything_leaves_the_seeds_alone(data):
    early = torch.full((100,), -1)
    batch = next(iter(NeighborLoader(data, [3, 3], batch_size=10, time_attr="made", input_time=early)))
    assert batch.num_nodes == 10 and batch.num_edges == 0


def test_draws_are_uniform_among_what_is_early_enough():
    """One seed with 12 edges, 8 of them early enough: over 4,000 batches of 2 each is drawn 1,000 times, give or take five
    deviations of a binomial; a planted rule that prefers early edges isn't within it."""
    from torch_geometric.data import Data

    star = Data(num_nodes=13, edge_index=torch.stack([torch.arange(1, 13), torch.zeros(12, dtype=torch.int64)]))
    star.made = torch.tensor([5, 1, 9, 2, 3, 20, 4, 30, 6, 40, 7, 50])
    loader = NeighborLoader(
        star, [2], [0] * 4000, batch_size=4000, time_attr="made", input_time=torch.full((4000,), 9)
    )
    counts = torch.bincount(next(iter(loader)).e_id, minlength=12)
    early = star.made <= 9
    five = 5 * (4000 * 0.25 * 0.75) ** 0.5
    assert not counts[~early].any() and bool(((counts[early] - 1000).abs() < five).all())
    biased = torch.multinomial(1.0 / star.made[early], 8000, replacement=True)
    assert not bool(((torch.bincount(biased, minlength=8) - 1000).abs() < five).all())


def test_several_types_with_times_of_vertices():
    data = heterogeneous()
    data["paper"].time = times(PAPERS, 7)
    limit = times(20, 8)
    loader = NeighborLoader(
        data, [4, 3], input_nodes=("paper", torch.arange(20)), input_time=limit, time_attr="time", batch_size=20
    )
    batch = next(iter(loader))
    assert torch.equal(batch["paper"].seed_time, limit)
    assert "time" in batch["paper"] and "time" not in batch["author"]
    late = batch["paper"].time > limit[batch["paper"].batch]
    assert not bool(late[20:].any())  # papers that were sampled; seeds are there whatever their time
    for key in (CITES, WRITES, WRITTEN):
        check_edges(data[key], batch[key], batch[key[0]], batch[key[2]])
    # Authors have no times: all edges to them count, where a paper is expanded.
    degree = torch.bincount(data[WRITES].edge_index[1], minlength=PAPERS)
    first = batch[WRITES].edge_index[1][: batch[WRITES].num_sampled_edges[0]]
    assert torch.equal(torch.bincount(first, minlength=20), degree[:20].clamp(max=4))


def test_several_types_with_times_of_edges():
    data = heterogeneous()
    for i, key in enumerate((CITES, WRITES)):  # edges of the third type have none, and are always there
        data[key].time = times(data[key].num_edges, 10 + i)
    limit = times(15, 9)
    arguments = {"input_nodes": ("author", torch.arange(15)), "time_attr": "time", "batch_size": 15}
    batch = next(iter(NeighborLoader(data, [5, 5, 5], input_time=limit, **arguments)))
    for key in (CITES, WRITES):
        assert batch[key].num_edges > 0
        trees = batch[key[2]].batch[batch[key].edge_index[1]]
        assert bool((batch[key].time <= limit[trees]).all())
    with pytest.raises(ValueError, match="seeds have no time"):
        NeighborLoader(data, [5, 5], **arguments)
