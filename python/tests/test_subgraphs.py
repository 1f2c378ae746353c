"""Samples that are subgraphs: all edges between their vertices and no others, numbers alone decide, views live on."""

from __future__ import annotations

import ctypes.util

import numpy as np
import pytest

import tendril

ARRAYS = ("nodes", "node_offsets", "edge_index", "edges", "edge_offsets")


def check(graph, samples):
    """Every sample against the graph's list of edges."""
    source = np.repeat(np.arange(graph.num_vertices), np.diff(graph.indptr))
    assert samples.edge_index.dtype == samples.edges.dtype == samples.node_offsets.dtype == np.int64
    assert samples.node_offsets[-1] == len(samples.nodes)
    assert samples.edge_offsets[-1] == len(samples.edges) == samples.edge_index.shape[1]
    for sample in samples:
        nodes = sample.nodes.tolist()
        place = {v: i for i, v in enumerate(nodes)}
        assert len(place) == len(nodes)
        inside = np.isin(source, nodes) & np.isin(graph.indices, nodes)
        expected = sorted((place[source[e]], e, place[int(graph.indices[e])]) for e in np.flatnonzero(inside))
        assert list(zip(sample.row, sample.edges, sample.col, strict=True)) == expected


def equal(one, other):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def joined(parts):
    """The samples of several calls as those of one."""
    sizes = [np.concatenate([np.diff(getattr(p, name)) for p in parts]) for name in ("node_offsets", "edge_offsets")]
    cuts = [np.r_[0, np.cumsum(size)] for size in sizes]
    nodes, edges = (np.concatenate([getattr(p, name) for p in parts]) for name in ("nodes", "edges"))
    return tendril.Subgraphs(nodes, cuts[0], np.concatenate([p.edge_index for p in parts], 1), edges, cuts[1])


@pytest.fixture(scope="module")
def cluster_of():
    return np.random.default_rng(4).integers(0, 11, 60)


SAMPLERS = {
    "shadow": lambda g, n, first, **o: tendril.shadow_sample(
        g, np.arange(first, first + n) % 60, 2, 3, first_sample=first, **o
    ),
    "shadow with replacement": lambda g, n, first, **o: tendril.shadow_sample(
        g, np.arange(first, first + n) % 60, 3, 2, replace=True, first_sample=first, **o
    ),
    "saint node": lambda g, n, first, **o: tendril.saint_node_sample(g, n, 14, first_sample=first, **o),
    "saint node symmetric": lambda g, n, first, **o: tendril.saint_node_sample(
        g, n, 14, normalization="symmetric", first_sample=first, **o
    ),
    "saint edge": lambda g, n, first, **o: tendril.saint_edge_sample(g, n, 9, first_sample=first, **o),
    "saint walk": lambda g, n, first, **o: tendril.saint_walk_sample(g, n, 4, 5, first_sample=first, **o),
    "cluster": lambda g, n, first, **o: tendril.cluster_sample(
        g, np.arange(60) * 7 % 13, 3, n, first_sample=first, **o
    ),
}


@pytest.mark.parametrize("app", SAMPLERS)
def test_samples_have_all_edges_between_their_vertices(graph, app):
    samples = SAMPLERS[app](graph, 23, 0, seed=1)
    assert len(samples) == samples.num_samples == 23
    assert samples.edges.size > 23  # not empty: the check means something
    check(graph, samples)


@pytest.mark.parametrize("app", SAMPLERS)
def test_numbers_alone_decide(graph, app):
    run = SAMPLERS[app]
    whole = run(graph, 30, 0, seed=5)
    for num_threads in (1, 2, 3):
        equal(run(graph, 30, 0, seed=5, num_threads=num_threads), whole)
    equal(joined([run(graph, b - a, a, seed=5) for a, b in ((0, 1), (1, 17), (17, 30))]), whole)
    assert run(graph, 30, 0, seed=6).nodes.tolist() != whole.nodes.tolist()
    small = run(graph, 30, 0, seed=5, dtype=np.int32)
    assert (small.nodes.dtype, small.edge_index.dtype) == (np.int32, np.int64)
    equal(small, whole)


def test_sets_of_the_callers(graph):
    rng = np.random.default_rng(2)
    sizes = rng.integers(0, 40, 12)
    sets = [rng.permutation(60)[:size] for size in sizes]
    flat, offsets = np.concatenate(sets), np.r_[0, np.cumsum(sizes)]
    samples = tendril.induced_subgraphs(graph, flat, offsets)
    check(graph, samples)
    for given, sample in zip(sets, samples, strict=True):
        np.testing.assert_array_equal(sample.nodes, given)
    rows = np.stack([rng.permutation(60)[:20] for _ in range(4)])
    matrix = tendril.induced_subgraphs(graph, rows.astype(np.uint32))
    check(graph, matrix)
    assert matrix.node_offsets.tolist() == [0, 20, 40, 60, 80]
    one = tendril.induced_subgraphs(graph, rows[2].tolist())
    equal(one, tendril.induced_subgraphs(graph, rows[2], [0, 20]))
    none = tendril.induced_subgraphs(graph, [], [0])
    assert (len(none), none.edge_index.shape) == (0, (2, 0))
    assert len(tendril.induced_subgraphs(graph, np.empty((3, 0), int))) == 3


def test_against_scipy(graph):
    pytest.importorskip("scipy")
    nodes = np.random.default_rng(3).permutation(60)[:25]
    sample = tendril.induced_subgraphs(graph, nodes).sample(0)
    dense = np.zeros((25, 25))
    np.add.at(dense, (sample.row, sample.col), graph.weights[sample.edges])
    np.testing.assert_allclose(dense, graph.to_scipy()[nodes][:, nodes].toarray(), rtol=1e-6)


def test_samples_are_views_that_live_on(graph):
    samples = tendril.saint_walk_sample(graph, 5, 6, 3)
    sample = samples.sample(3)
    for name in ("nodes", "edge_index", "edges"):
        assert np.shares_memory(getattr(sample, name), getattr(samples, name))
    assert np.shares_memory(sample.row, samples.row)
    assert np.shares_memory(sample.col, samples.edge_index)
    kept, held = sample.edge_index.copy(), sample.edge_index
    del sample, samples
    for seed in range(20):
        tendril.saint_walk_sample(graph, 5, 6, 3, seed=seed)
    np.testing.assert_array_equal(held, kept)


def test_what_is_no_sample(graph):
    samples = tendril.shadow_sample(graph, [1, 2])
    for i in (-1, 2):
        with pytest.raises(IndexError, match=rf"^sample {i} is out of range, there are 2$"):
            samples.sample(i)


def test_the_seed_is_first(graph):
    samples = tendril.shadow_sample(graph, [7, 7, 59])
    assert [int(sample.nodes[0]) for sample in samples] == [7, 7, 59]
    assert samples.sample(2).nodes.tolist() == [59]  # it has no out-edge


# ClusterGCN


def test_every_cluster_once_an_epoch(graph, cluster_of):
    clusters = tendril.group_clusters(graph, cluster_of)
    assert (len(clusters), clusters.num_vertices, clusters.device) == (11, 60, "cpu")
    assert repr(clusters) == "Clusters(num_clusters=11, num_vertices=60, device='cpu')"
    assert clusters.samples_per_epoch(3) == 4
    orders = []
    for epoch in range(2):
        samples = tendril.cluster_sample(graph, clusters, 3, seed=1, first_sample=4 * epoch)
        check(graph, samples)
        assert sorted(samples.nodes.tolist()) == list(range(60))
        for sample in samples:
            inside = cluster_of[sample.nodes]
            assert len(set(inside.tolist())) <= 3
            assert set(np.flatnonzero(np.isin(cluster_of, inside))) == set(sample.nodes.tolist())
        orders.append(samples.nodes.tolist())
    assert orders[0] != orders[1]
    equal(tendril.cluster_sample(graph, cluster_of, 3, seed=1), tendril.cluster_sample(graph, clusters, 3, seed=1))


def test_chosen_clusters(graph, cluster_of):
    clusters = tendril.group_clusters(graph, cluster_of, 20)
    members = [np.flatnonzero(cluster_of == c) for c in range(20)]
    samples = tendril.cluster_subgraphs(graph, clusters, [4, 1, 19, 7], [0, 2, 2, 4])
    check(graph, samples)
    expected = [np.concatenate([members[c] for c in one] or [[]]) for one in ([4, 1], [], [19, 7])]
    for sample, nodes in zip(samples, expected, strict=True):
        np.testing.assert_array_equal(sample.nodes, nodes)
    rows = tendril.cluster_subgraphs(graph, clusters, [[4, 1], [19, 7]])
    assert rows.nodes.tolist() == samples.nodes.tolist()


def test_ways_to_cut(graph):
    assert tendril.cluster_vertices(graph, 3, dtype=np.int32).tolist() == [0] * 20 + [1] * 20 + [2] * 20
    assert tendril.cluster_vertices(graph, 3, dtype=np.int32).dtype == np.int32
    random = tendril.cluster_vertices(graph, 7, method="random", seed=1)
    assert random.dtype == np.int64
    assert sorted(np.bincount(random)) == [8, 8, 8, 9, 9, 9, 9]
    assert (tendril.cluster_vertices(graph, 7, method="random", seed=2) != random).any()


def test_metis(karate):
    if ctypes.util.find_library("metis") is None:
        pytest.skip("libmetis isn't installed")
    halves = tendril.cluster_vertices(karate, 2, method="metis")
    assert sorted(set(halves.tolist())) == [0, 1]
    source = np.repeat(np.arange(34), np.diff(karate.indptr))
    cut = (halves[source] != halves[karate.indices]).sum() / 2
    assert cut < 20  # of 78 edges; a random cut has 39


def test_metis_that_is_not_there(karate):
    if ctypes.util.find_library("metis") is not None:
        pytest.skip("libmetis is installed")
    with pytest.raises(tendril.IoError, match=r"^[^\n]*libmetis[^\n]*$"):
        tendril.cluster_vertices(karate, 2, method="metis")


# GraphSAINT


@pytest.mark.parametrize("name", [name for name in SAMPLERS if name.startswith("saint")])
def test_samples_of_a_step_are_those_of_their_numbers(graph, name):
    whole = SAMPLERS[name](graph, 20, 3)
    part = SAMPLERS[name](graph, 6, 4, sample_step=3)
    for i in range(6):
        a, b = part.sample(i), whole.sample(1 + 3 * i)
        assert np.array_equal(a.nodes, b.nodes) and np.array_equal(a.edges, b.edges)


@pytest.mark.parametrize("sampler", ["node", "edge", "walk"])
def test_coefficients_are_counted(graph, sampler):
    options = {"seed": 4, "first_sample": 9, "budget": 8}
    call = getattr(tendril, f"saint_{sampler}_sample")
    samples = call(graph, 40, **options, **({"length": 3} if sampler == "walk" else {}))
    counted = tendril.saint_coefficients(graph, 40, sampler=sampler, length=3, **options)
    nodes = np.bincount(samples.nodes, minlength=60)
    edges = np.bincount(samples.edges, minlength=graph.num_edges)
    assert counted.num_samples == 40
    np.testing.assert_array_equal(counted.node_counts, nodes)
    np.testing.assert_array_equal(counted.edge_counts, edges)
    np.testing.assert_allclose(counted.loss, nodes / 40, rtol=1e-6)
    owners = nodes[np.repeat(np.arange(60), np.diff(graph.indptr))]
    shares = np.divide(edges, owners, where=owners > 0, out=np.zeros(len(edges)))
    np.testing.assert_allclose(counted.aggregator, shares, rtol=1e-6)


# Messages

NO_SHAPE = "expected one dimension, or two: samples, vertices of each"
MESSAGES = [
    (lambda g: tendril.induced_subgraphs(g, 4), f"nodes has shape (), {NO_SHAPE}"),
    (lambda g: tendril.induced_subgraphs(g, [[1]], [0, 1]), "nodes has shape (1, 1), expected one dimension"),
    (lambda g: tendril.induced_subgraphs(g, [1, 2], [0, 1.5]), "offsets has dtype float64, expected integers"),
    (lambda g: tendril.induced_subgraphs(g, [1, 60]), "node 1: vertex 60 is out of range, the graph has 60 vertices"),
    (lambda g: tendril.induced_subgraphs(g, [1, -1]), "nodes[1] is -1, expected a vertex id in [0, 4294967294]"),
    (
        lambda g: tendril.induced_subgraphs(g, [[1, 2], [3, 3]]),
        "sample 1: vertex 3 occurs more than once, expected distinct vertices",
    ),
    (lambda g: tendril.shadow_sample(g, [60]), "seed 0: vertex 60 is out of range, the graph has 60 vertices"),
    (lambda g: tendril.shadow_sample(g, [0], 65), "depth: 65, expected 1 to 64 hops"),
    (lambda g: tendril.shadow_sample(g, [0], num_neighbors=0), "num_neighbors: 0, expected 1 to 1024"),
    (lambda g: tendril.shadow_sample(g, [0], first_sample=-1), "first_sample: -1, expected 0 to 2^62"),
    (lambda g: tendril.saint_walk_sample(g, length=1001), "length: 1001, expected 0 to 1000 steps"),
    (lambda g: tendril.saint_node_sample(g, budget=2.0), "budget is 2.0, expected an integer that fits the parameter"),
    (lambda g: tendril.saint_coefficients(g, 0), "num_samples: 0, expected 1 to 2147483647"),
    (lambda g: tendril.saint_coefficients(g, sampler="arc"), "sampler is 'arc', expected 'node', 'edge' or 'walk'"),
    (
        lambda g: tendril.saint_node_sample(tendril.generate.ring(4), normalization="weights"),
        "matrix: the graph has no weights, expected one an edge",
    ),
    (lambda g: tendril.cluster_vertices(g, 61), "num_clusters: 61, expected 1 to the number of vertices, 60"),
    (
        lambda g: tendril.cluster_vertices(g, 6, method="best"),
        "method is 'best', expected 'contiguous', 'random' or 'metis'",
    ),
    (lambda g: tendril.group_clusters(g, [0, 1]), "cluster_of has shape (2,), expected (60,): one a vertex"),
    (
        lambda g: tendril.group_clusters(g, [0] * 59 + [3], 3),
        "vertex 59: cluster 3 is out of range, there are 3 clusters",
    ),
    (
        lambda g: tendril.group_clusters(g, [0] * 59 + [-3]),
        "cluster_of[59] is -3, expected a vertex id in [0, 4294967294]",
    ),
    (lambda g: tendril.group_clusters(g, [0.5] * 60), "cluster_of has dtype float64, expected integers"),
    (lambda g: tendril.cluster_sample(g, [0] * 60, 0), "clusters_per_sample: 0, expected 1 or more"),
    (lambda g: tendril.cluster_sample(g, [0] * 60, 1, -1), "num_samples: -1, expected 0 to "),
    (
        lambda g: tendril.cluster_subgraphs(g, [0] * 60, [0, 1]),
        "list element 1: cluster 1 is out of range, there are 1 clusters",
    ),
]


@pytest.mark.parametrize(("call", "message"), MESSAGES, ids=[message.split(",")[0] for _, message in MESSAGES])
def test_messages(graph, call, message):
    with pytest.raises(tendril.ArgumentError) as info:
        call(graph)
    said = str(info.value)
    assert said.startswith(message) if message.endswith(" ") else said == message
    assert "\n" not in said


def test_clusters_of_another_graph(graph):
    clusters = tendril.group_clusters(tendril.generate.ring(5), [0, 0, 1, 1, 1])
    with pytest.raises(tendril.ArgumentError, match="^clusters: 2 clusters of 5 vertices, expected"):
        tendril.cluster_sample(graph, clusters, 1)
