"""Walks: every step is an edge, numbers alone decide, and the parameters mean what they say."""

from __future__ import annotations

import numpy as np
import pytest

import tendril


def steps(walks, lengths):
    """(walk, step, from, to) of every step taken."""
    for i, (row, length) in enumerate(zip(walks.tolist(), lengths.tolist(), strict=True)):
        for t in range(length):
            yield i, t, row[t], row[t + 1]


def neighbours(graph):
    return [set(graph.indices[a:b].tolist()) for a, b in zip(graph.indptr, graph.indptr[1:], strict=False)]


@pytest.mark.parametrize("weighted", [False, True])
def test_every_step_is_an_edge(graph, weighted):
    walks, lengths = tendril.random_walk(graph, length=20, weighted=weighted, seed=3)
    assert walks.shape == (60, 21)
    assert walks[:, 0].tolist() == list(range(60))
    edges = neighbours(graph)
    assert all(v in edges[u] for _, _, u, v in steps(walks, lengths))
    for row, length in zip(walks.tolist(), lengths.tolist(), strict=True):
        assert all(v == -1 for v in row[length + 1 :])
        assert length == 20 or not edges[row[length]]
    assert (lengths < 20).any()  # the graph has dead ends
    assert (lengths == 0).sum() == 10


def test_dead_ends_repeat(graph):
    stop, lengths = tendril.random_walk(graph, length=20, seed=3)
    stay, lengths_too = tendril.random_walk(graph, length=20, seed=3, dead_end="repeat")
    np.testing.assert_array_equal(lengths, lengths_too)
    for one, other, length in zip(stop, stay, lengths, strict=True):
        assert one[: length + 1].tolist() == other[: length + 1].tolist()
        assert set(other[length:].tolist()) == {int(one[length])}


@pytest.mark.parametrize(
    "walk",
    [
        lambda g, s, **k: tendril.random_walk(g, s, 12, weighted=True, **k),
        lambda g, s, **k: tendril.random_walk(g, s, 12, restart_prob=0.2, stop_prob=0.05, **k),
        lambda g, s, **k: tendril.node2vec_walk(g, s, 12, 2.0, 0.5, weighted=True, **k),
        lambda g, s, **k: tendril.metapath_walk(g, s, [0, 1, 2], 12, **k),
    ],
    ids=["weighted", "restart", "node2vec", "metapath"],
)
def test_numbers_alone_decide(graph, walk):
    starts = np.arange(300) % 50
    whole, lengths = walk(graph, starts, seed=5)
    for num_threads in (1, 2, 3):
        again, _ = walk(graph, starts, seed=5, num_threads=num_threads)
        np.testing.assert_array_equal(whole, again)
    parts = [walk(graph, starts[a:b], seed=5, first_walk=a)[0] for a, b in ((0, 1), (1, 130), (130, 300))]
    np.testing.assert_array_equal(whole, np.concatenate(parts))
    other, _ = walk(graph, starts, seed=6)
    assert (whole != other).any()
    small, lengths_too = walk(graph, starts, seed=5, dtype=np.int32)
    assert small.dtype == np.int32
    np.testing.assert_array_equal(whole, small)
    np.testing.assert_array_equal(lengths, lengths_too)


def test_walks_of_a_vertex_are_numbered_from_it(graph):
    whole, _ = tendril.random_walk(graph, length=8, walks_per_vertex=4, seed=2)
    assert whole.shape == (240, 9)
    assert whole[:, 0].tolist() == [i // 4 for i in range(240)]
    part, _ = tendril.random_walk(graph, [20] * 4, length=8, seed=2, first_walk=80)
    np.testing.assert_array_equal(whole[80:84], part)
    repeated, _ = tendril.random_walk(graph, [20], length=8, seed=2, first_walk=80, walks_per_vertex=4)
    np.testing.assert_array_equal(repeated, part)


def test_batches_of_long_results_join_without_a_seam():
    """int64 walks are sampled in batches of 64 MiB of 32-bit ids: three of them here."""
    ring = tendril.generate.ring(1000)
    length = 999
    starts = np.arange(40_000) % 1000
    wide, _ = tendril.random_walk(ring, starts, length, seed=1)
    narrow, _ = tendril.random_walk(ring, starts, length, seed=1, dtype=np.int32)
    assert (wide == narrow).all()


def test_no_starts(graph):
    walks, lengths = tendril.random_walk(graph, [], length=7)
    assert walks.shape == (0, 8)
    assert lengths.shape == (0,)
    walks, lengths = tendril.random_walk(tendril.Graph.from_coo([], []), length=7)
    assert walks.shape == (0, 8)


def test_a_path_has_one_walk():
    path = tendril.Graph.from_coo([0, 1, 2], [1, 2, 3])
    walks, lengths = tendril.random_walk(path, length=4)
    assert walks.tolist() == [[0, 1, 2, 3, -1], [1, 2, 3, -1, -1], [2, 3, -1, -1, -1], [3, -1, -1, -1, -1]]
    assert lengths.tolist() == [3, 2, 1, 0]


def test_probabilities_of_one_and_zero():
    ring = tendril.generate.ring(10)
    walks, lengths = tendril.random_walk(ring, [4], length=6, stop_prob=1)
    assert walks.tolist() == [[4] + [-1] * 6]
    assert lengths.tolist() == [0]
    walks, _ = tendril.random_walk(ring, [4], length=6, restart_prob=1)
    assert walks.tolist() == [[4] * 7]


def count_first_steps(weighted):
    weights = np.array([1, 2, 5, 8], np.float32)
    fan = tendril.Graph.from_coo([0] * 4, [1, 2, 3, 4], weights=weights)
    num_walks = 40_000
    walks, _ = tendril.random_walk(fan, [0] * num_walks, length=1, weighted=weighted, seed=11)
    counts = np.bincount(walks[:, 1], minlength=5)[1:]
    expected = num_walks * weights / weights.sum()
    return float(((counts - expected) ** 2 / expected).sum())


def test_weights_are_probabilities():
    """Chi-square with 3 degrees of freedom: 16.27 is exceeded once in 1,000 runs; ignoring weights must exceed it."""
    assert count_first_steps(weighted=True) < 16.27
    assert count_first_steps(weighted=False) > 16.27


def test_node2vec_returns_or_wanders():
    """Two triangles that share vertex 2: a tiny p returns at once, a huge p never does unless it must."""
    bowtie = tendril.Graph.from_coo([0, 0, 1, 2, 2, 3], [1, 2, 2, 3, 4, 4], symmetrize=True)
    back, lengths = tendril.node2vec_walk(bowtie, [0] * 50, 20, p=1e-9, q=1.0, seed=1)
    assert all((row[2:] == row[:-2]).all() for row in back)
    onward, _ = tendril.node2vec_walk(bowtie, [0] * 50, 20, p=1e9, q=1.0, seed=1)
    assert all((row[2:] != row[:-2]).all() for row in onward)
    near, _ = tendril.node2vec_walk(bowtie, [0] * 50, 20, p=1e9, q=1e9, seed=1)
    assert set(near.ravel().tolist()) == {0, 1, 2}  # never away from the first triangle


def test_metapaths_over_edge_labels(graph):
    schema = [0, 2, 1]
    walks, lengths = tendril.metapath_walk(graph, None, schema, 9, seed=4)
    labels = graph.edge_labels
    for _, t, u, v in steps(walks, lengths):
        span = slice(graph.indptr[u], graph.indptr[u + 1])
        assert schema[t % 3] in labels[span][graph.indices[span] == v]
    assert lengths.max() == 9
    named, _ = tendril.metapath_walk(graph, None, ["cites", "knows", "likes"], 9, seed=4)
    np.testing.assert_array_equal(walks, named)
    assert tendril.metapath_walk(graph, [0], schema)[0].shape == (1, 4)


def test_metapaths_over_vertex_types(graph):
    starts = np.flatnonzero(graph.node_types == 1)
    walks, lengths = tendril.metapath_walk(graph, starts, ["paper", "author", "author"], 8, metapath_of="vertices", seed=4)
    types = graph.node_types
    for row, length in zip(walks, lengths, strict=True):
        assert types[row[: length + 1]].tolist() == [(1, 0, 0)[j % 3] for j in range(length + 1)]
    assert lengths.max() == 8
    assert tendril.metapath_walk(graph, starts, [1, 0], metapath_of="vertices")[0].shape == (len(starts), 2)
    earlier, _ = tendril.metapath_walk(graph, starts, [1, 0, 0], 8, metapath_of="node", seed=4)
    np.testing.assert_array_equal(walks, earlier)


def test_plans_tell_and_can_be_overridden(graph):
    plan = tendril.plan_walk(graph, weighted=True, num_walks=10**6)
    assert plan.rule in ("scan", "reject", "alias", "its")
    assert plan.reasons
    assert str(plan).startswith(f"rule {plan.rule}, layout {plan.layout}")
    for rule in ("scan", "reject", "alias"):
        assert tendril.plan_walk(graph, weighted=True, rule=rule).rule == rule
        walks, lengths = tendril.random_walk(graph, length=5, weighted=True, rule=rule)
        assert all(v in neighbours(graph)[u] for _, _, u, v in steps(walks, lengths))
    assert tendril.plan_walk(graph).rule == "uniform"


def test_tables_never_change_a_walk(graph):
    before, _ = tendril.random_walk(graph, length=9, weighted=True, seed=8)
    graph.drop_tables()
    after, _ = tendril.random_walk(graph, length=9, weighted=True, seed=8)
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize(
    "walk",
    [
        lambda g, s, **k: tendril.random_walk(g, s, 12, weighted=True, **k),
        lambda g, s, **k: tendril.random_walk(g, s, 80, stop_prob=0.2, **k),
        lambda g, s, **k: tendril.node2vec_walk(g, s, 12, 2.0, 0.5, weighted=True, restart_prob=0.1, **k),
        lambda g, s, **k: tendril.metapath_walk(g, s, [0, 1, 2], 12, **k),
        lambda g, s, **k: tendril.metapath_walk(g, s, [0, 1], 12, metapath_of="node", **k),
    ],
    ids=["weighted", "ppr", "node2vec", "metapath", "types"],
)
def test_ragged_walks_are_rows_cut_at_their_lengths(graph, walk):
    walks, lengths = walk(graph, None, seed=5, walks_per_vertex=3, first_walk=7)
    for num_threads, dtype in ((1, np.int64), (2, np.int64), (3, np.int32)):
        offsets, vertices = walk(
            graph,
            None,
            seed=5,
            walks_per_vertex=3,
            first_walk=7,
            order="ragged",
            num_threads=num_threads,
            dtype=dtype,
        )
        assert (offsets.dtype, vertices.dtype) == (np.int64, dtype)
        assert offsets[0] == 0
        np.testing.assert_array_equal(np.diff(offsets), lengths + 1)
        np.testing.assert_array_equal(vertices, walks[walks >= 0])


def test_ragged_walks_need_no_length(graph):
    offsets, vertices = tendril.random_walk(graph, length=2**31 - 2, stop_prob=0.2, seed=1, order="ragged")
    again = tendril.random_walk(graph, length=200, stop_prob=0.2, seed=1, order="ragged")
    np.testing.assert_array_equal(offsets, again[0])
    np.testing.assert_array_equal(vertices, again[1])
    offsets, vertices = tendril.random_walk(graph, [], order="ragged")
    assert offsets.tolist() == [0] and vertices.shape == (0,)
    offsets, vertices = tendril.random_walk(graph, [3, 4], stop_prob=1.0, order="ragged")
    assert offsets.tolist() == [0, 1, 2] and vertices.tolist() == [3, 4]


def test_ragged_walks_are_refused_where_rows_are_filled(graph):
    with pytest.raises(tendril.ArgumentError, match=r"^dead_ends: repeat, expected stop: ragged walks have no rows"):
        tendril.random_walk(graph, order="ragged", dead_end="repeat")
    with pytest.raises(tendril.ArgumentError, match="60"):
        tendril.random_walk(graph, [1, 60], order="ragged")


RULES = ("uniform", "scan", "reject", "alias", "its")
OF_WALKS = [
    (dict(), "unweighted walks", ("uniform", "scan")),
    (dict(weighted=True), "weighted walks", ("scan", "reject", "alias", "its")),
    (dict(p=2), "unweighted walks biased by p and q", ("scan", "reject")),
    (dict(p=2, weighted=True), "weighted walks biased by p and q", ("scan", "reject", "alias")),
]
OF_TREES = [
    (dict(), "unweighted trees", ("uniform",)),
    (dict(weighted=True), "weighted trees without replacement", ("scan",)),
    (dict(weighted=True, replace=True), "weighted trees with replacement", ("alias", "its")),
]


def expect_used_or_refused(choice, usable, plan, sample):
    """Of each rule: the plan names it and the samples are its own, or one line names the rules that would do."""
    seen = set()
    for rule in RULES:
        if rule in usable:
            assert plan(rule).rule == rule
            seen.add(sample(rule))
            continue
        names = ("auto", *usable)
        expected = ", ".join(names[:-1]) + " or " + names[-1]
        for call in (plan, sample):
            with pytest.raises(tendril.ArgumentError, match=f"^rule {rule}: not for {choice}, expected {expected}$"):
                call(rule)
    assert len(seen) == len(usable)


@pytest.mark.parametrize("options, choice, usable", OF_WALKS, ids=lambda value: str(value))
def test_a_rule_of_walks_is_used_or_refused(options, choice, usable):
    graph = tendril.generate.rmat(7, edge_factor=16, weights=(1, 9), seed=1)
    walk = tendril.node2vec_walk if "p" in options else tendril.random_walk
    expect_used_or_refused(
        choice,
        usable,
        lambda rule: tendril.plan_walk(graph, rule=rule, **options),
        lambda rule: walk(graph, length=8, rule=rule, **options)[0].tobytes(),
    )


@pytest.mark.parametrize("options, choice, usable", OF_TREES, ids=lambda value: str(value))
def test_a_rule_of_trees_is_used_or_refused(options, choice, usable):
    graph = tendril.generate.rmat(7, edge_factor=16, weights=(1, 9), seed=1)
    seeds = list(range(64))
    expect_used_or_refused(
        choice,
        usable,
        lambda rule: tendril.plan_khop(graph, [3, 2], rule=rule, **options),
        lambda rule: b"".join(
            hop.tobytes() for hop in tendril.khop_sample(graph, seeds, [3, 2], rule=rule, **options).vertices
        ),
    )
