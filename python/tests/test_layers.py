"""Layer-wise samplers: edges are the graph's, coefficients those of the formula, numbers alone decide."""

from __future__ import annotations

import numpy as np
import pytest

import tendril

SAMPLERS = {"fastgcn": tendril.fastgcn_sample, "ladies": tendril.ladies_sample}


@pytest.fixture(scope="module")
def seeds():
    return np.random.default_rng(5).integers(0, 50, (7, 9))


def matrix(graph, normalization):
    """Q, an entry an edge, in double."""
    degrees = np.diff(graph.indptr)
    source = np.repeat(np.arange(graph.num_vertices), degrees)
    if normalization == "weights":
        return source, graph.weights.astype(float)
    target_degrees = degrees[graph.indices]
    if normalization == "row":
        return source, 1 / degrees[source]
    inverse = np.divide(1, target_degrees, where=target_degrees > 0, out=np.zeros(len(source)))
    return source, np.sqrt(inverse / degrees[source])


@pytest.mark.parametrize("normalization", ["row", "symmetric", "weights"])
@pytest.mark.parametrize("replace", [True, False])
@pytest.mark.parametrize("app", SAMPLERS)
def test_layers_are_what_they_say(graph, seeds, app, replace, normalization):
    """Every edge between neighbouring layers, by the graph's list of edges; probabilities by brute force."""
    options = {"normalization": normalization, "replace": replace, "return_edges": True, "seed": 3}
    samples = SAMPLERS[app](graph, seeds, 3, 12, row_normalize=False, **options)
    normalized = SAMPLERS[app](graph, seeds, 3, 12, row_normalize=True, **options)
    assert (samples.num_samples, samples.num_layers, samples.layer_size) == (7, 3, 12)
    assert samples.vertices.shape == samples.probabilities.shape == (7, 3, 12)
    assert samples.vertices.dtype == samples.edge_index.dtype == samples.edges.dtype == np.int64
    assert samples.probabilities.dtype == samples.coefficients.dtype == np.float32
    source, entries = matrix(graph, normalization)
    for i in range(7):
        before = seeds[i]
        for number in range(3):
            layer = samples.layer(number, i)
            squares = np.zeros(60)
            rows = np.arange(60) if app == "fastgcn" else before[before >= 0]
            for v in rows:
                own = slice(graph.indptr[v], graph.indptr[v + 1])
                np.add.at(squares, graph.indices[own], entries[own] ** 2)
            filled = layer.vertices >= 0
            assert filled.any()
            assert not replace or filled.all()
            assert replace or len(set(layer.vertices[filled])) == filled.sum()
            chance = squares[layer.vertices[filled]] / squares.sum()
            np.testing.assert_allclose(layer.probabilities[filled], chance, rtol=1e-6)
            assert (layer.probabilities[~filled] == 0).all()
            expected = [
                (r, c, e)
                for r, v in enumerate(before)
                for c, u in enumerate(layer.vertices)
                for e in (range(graph.indptr[v], graph.indptr[v + 1]) if v >= 0 else ())
                if graph.indices[e] == u
            ]
            assert list(zip(*layer.edge_index.tolist(), layer.edges.tolist(), strict=True)) == expected
            assert (source[layer.edges] == before[layer.row]).all()
            value = entries[layer.edges] / (12 * layer.probabilities[layer.col].astype(float))
            np.testing.assert_allclose(layer.coefficients, value, rtol=1e-6)
            sums = np.bincount(layer.row, value, minlength=len(before))
            shares = normalized.layer(number, i)
            np.testing.assert_allclose(shares.coefficients, value / sums[layer.row], rtol=1e-6)
            before = layer.vertices


@pytest.mark.parametrize("app", SAMPLERS)
def test_numbers_alone_decide(graph, seeds, app):
    def run(rows=slice(None), **options):
        return SAMPLERS[app](graph, seeds[rows], 2, 8, **{"seed": 5, **options})

    whole = run()
    for num_threads in (1, 2, 3):
        again = run(num_threads=num_threads)
        for name in ("vertices", "probabilities", "edge_offsets", "edge_index", "coefficients"):
            np.testing.assert_array_equal(getattr(again, name), getattr(whole, name))
    parts = [run(slice(a, b), first_sample=a) for a, b in ((0, 1), (1, 5), (5, 7))]
    np.testing.assert_array_equal(np.concatenate([part.vertices for part in parts]), whole.vertices)
    np.testing.assert_array_equal(np.concatenate([part.edge_index for part in parts], axis=1), whole.edge_index)
    assert (run(seed=6).vertices != whole.vertices).any()
    assert (run(first_sample=7).vertices != whole.vertices).any()
    small = run(dtype=np.int32)
    assert (small.vertices.dtype, small.edge_index.dtype) == (np.int32, np.int64)
    np.testing.assert_array_equal(small.vertices, whole.vertices)
    one = SAMPLERS[app](graph, seeds[0], 2, 8, seed=5)
    np.testing.assert_array_equal(one.vertices, whole.vertices[:1])
    assert one.edges is one.layer(0).edges is None


def test_estimates_have_no_bias(karate):
    """The mean over 4,000 samples of the estimate of Q X at the batch, against Q X itself: 5 standard errors; with rows
    normalised, which has a bias, some value is further off than that."""
    seeds = np.tile(np.arange(10), (4000, 1))
    x = np.random.default_rng(1).uniform(1, 2, 34) * np.where(np.arange(34) % 3, 1, 10)
    means = np.array([x[karate.indices[karate.indptr[v] : karate.indptr[v + 1]]].mean() for v in range(10)])

    def off_by(sample, row_normalize):
        made = sample(karate, seeds, 1, 8, seed=2, row_normalize=row_normalize)
        of_edge = np.repeat(np.arange(4000), np.diff(made.edge_offsets))
        values = made.coefficients * x[made.vertices[of_edge, 0, made.col]]
        estimates = np.bincount(of_edge * 10 + made.row, values, minlength=40_000).reshape(4000, 10)
        error = estimates.std(axis=0) / np.sqrt(4000)
        return np.abs(estimates.mean(axis=0) - means) / error

    for sample in SAMPLERS.values():
        assert off_by(sample, False).max() < 5
        assert off_by(sample, True).max() > 5


def test_layers_are_views(graph, seeds):
    samples = tendril.ladies_sample(graph, seeds, 2, 8, return_edges=True)
    layer = samples.layer(1, 3)
    for name in ("vertices", "probabilities", "edge_index", "coefficients", "edges"):
        assert np.shares_memory(getattr(layer, name), getattr(samples, name))
    assert np.shares_memory(layer.row, samples.row)
    kept = layer.edge_index.copy()
    held = layer.edge_index
    del samples, layer
    tendril.ladies_sample(graph, seeds, 2, 8, return_edges=True, seed=9)
    np.testing.assert_array_equal(held, kept)


def test_what_is_no_layer(graph):
    samples = tendril.ladies_sample(graph, [[0, 1], [2, 3]], 3, 4)
    for place, text in {
        (3, 0): "layer 3 is out of range, there are 3",
        (-1, 0): "layer -1 is out of range, there are 3",
        (0, 2): "sample 2 is out of range, there are 2",
    }.items():
        with pytest.raises(IndexError) as info:
            samples.layer(*place)
        assert str(info.value) == text


def test_no_batches(graph):
    samples = tendril.fastgcn_sample(graph, np.empty((0, 4), np.int64), 2, 3)
    assert samples.vertices.shape == (0, 2, 3)
    assert samples.edge_index.shape == (2, 0)
    assert samples.edge_offsets.tolist() == [0]


# MVS


def test_batches_bring_all_neighbours(graph):
    importances = np.random.default_rng(3).uniform(0, 2, 60)
    importances[[4, 9]] = 0
    made = tendril.mvs_sample(graph, importances, 20, 16, return_edges=True, seed=1)
    assert made.vertices.shape == made.probabilities.shape == made.weights.shape == (20, 16)
    for i in range(20):
        batch = made.batch(i)
        assert len(set(batch.vertices.tolist())) == 16
        assert not {4, 9} & set(batch.vertices.tolist())
        chance = importances[batch.vertices] / importances.astype(np.float32).astype(float).sum()
        np.testing.assert_allclose(batch.probabilities, chance, rtol=1e-6)
        np.testing.assert_allclose(batch.weights, 1 / (16 * chance), rtol=1e-6)
        for slot, v in enumerate(batch.vertices):
            own = slice(*(batch.offsets[slot : slot + 2] - batch.offsets[0]))
            assert batch.edges[own].tolist() == list(range(graph.indptr[v], graph.indptr[v + 1]))
            np.testing.assert_array_equal(batch.neighbors[own], graph.indices[batch.edges[own]])
    assert np.shares_memory(made.batch(3).neighbors, made.neighbors)
    with pytest.raises(IndexError, match=r"^batch 20 is out of range, there are 20$"):
        made.batch(20)


def test_batches_by_numbers_alone(graph):
    whole = tendril.mvs_sample(graph, None, 9, 8, seed=1, replace=True)
    parts = [tendril.mvs_sample(graph, None, 3, 8, seed=1, replace=True, first_sample=a) for a in (0, 3, 6)]
    np.testing.assert_array_equal(np.concatenate([part.vertices for part in parts]), whole.vertices)
    np.testing.assert_array_equal(np.concatenate([part.neighbors for part in parts]), whole.neighbors)
    one = tendril.mvs_sample(graph, None, 9, 8, seed=1, replace=True, num_threads=1, dtype=np.int32)
    assert one.vertices.dtype == one.neighbors.dtype == np.int32
    np.testing.assert_array_equal(one.vertices, whole.vertices)
    assert whole.edges is None


# LABOR-0


@pytest.mark.parametrize("normalize", [True, False])
def test_labor_edges_are_the_graphs(graph, normalize):
    batch = tendril.labor_sample(graph, [9, 4, 33, 4, 55], [3, -1], normalize=normalize, seed=2)
    assert batch.node[:4].tolist() == [9, 4, 33, 55]
    assert len(set(batch.node.tolist())) == len(batch.node) == sum(batch.num_sampled_nodes)
    degrees = graph.degrees()
    known = 4
    for fanout, hop in zip((3, -1), batch.hops, strict=True):
        assert np.shares_memory(hop.row, hop.edge_index)
        assert (hop.row < known).all()
        np.testing.assert_array_equal(graph.indices[hop.edge], batch.node[hop.col])
        asked = batch.node[hop.row]
        assert ((graph.indptr[asked] <= hop.edge) & (hop.edge < graph.indptr[asked + 1])).all()
        taken = np.bincount(hop.row, minlength=known)
        few = degrees[batch.node[:known]] <= (fanout if fanout > 0 else 10**9)
        assert (taken[few] == degrees[batch.node[:known]][few]).all()
        chance = np.minimum(1, fanout / degrees[asked]) if fanout > 0 else np.ones(len(asked))
        np.testing.assert_allclose(hop.weights, 1 / taken[hop.row] if normalize else 1 / chance, rtol=1e-6)
        # One number a vertex: whoever has the higher chance to take u takes it where one of the lower chance does.
        for u in set(hop.col.tolist()):
            took = set(asked[hop.col == u].tolist())
            lowest = max(degrees[list(took)])
            for v in batch.node[:known]:
                if 0 < degrees[v] <= lowest and batch.node[u] in graph.indices[graph.indptr[v] : graph.indptr[v + 1]]:
                    assert v in took
        known = int(hop.col.max()) + 1


def test_labor_depends_on_the_batch_number(graph):
    def edges(**options):
        return tendril.labor_sample(graph, np.arange(30), [2], **options).hops[0].edge.tolist()

    assert edges(seed=1) == edges(seed=1, num_threads=1) == edges(seed=1, dtype=np.int32)
    assert edges(seed=1) != edges(seed=1, batch=1)
    assert edges(seed=1) != edges(seed=2)


# Messages

SHAPE = "expected one dimension, or two: samples, vertices of each"
MESSAGES = [
    (lambda g: tendril.ladies_sample(g, [[[0]]]), f"seeds has shape (1, 1, 1), {SHAPE}"),
    (lambda g: tendril.ladies_sample(g, 3), f"seeds has shape (), {SHAPE}"),
    (lambda g: tendril.ladies_sample(g, [0.5]), "seeds has dtype float64, expected integers"),
    (lambda g: tendril.ladies_sample(g, [[0, 1], [2, -3]]), "seeds[3] is -3, expected a vertex id in [0, 4294967294]"),
    (lambda g: tendril.ladies_sample(g, [0, 60]), "root 1: vertex 60 is out of range, the graph has 60 vertices"),
    (lambda g: tendril.ladies_sample(g, [0], 0), "num_layers: 0, expected 1 to 65535"),
    (lambda g: tendril.fastgcn_sample(g, [0], 1, 20000), "layer_size: 20000, expected 1 to 16384 vertices"),
    (lambda g: tendril.fastgcn_sample(g, []), "batch_size: 0, expected 1 to 16384 roots"),
    (
        lambda g: tendril.fastgcn_sample(g, [0], normalization="gcn"),
        "normalization is 'gcn', expected 'row', 'symmetric' or 'weights'",
    ),
    (lambda g: tendril.fastgcn_sample(g, [0], normalization=3), "normalization is 3, expected a name"),
    (lambda g: tendril.fastgcn_sample(g, [0], replace="no"), "replace is 'no', expected True or False"),
    (lambda g: tendril.fastgcn_sample(g, [0], first_sample=-1), "first_sample: -1, expected 0 or more"),
    (lambda g: tendril.fastgcn_sample(g, [0], num_threads=-1), "num_threads is -1, expected 0 (every core) or more"),
    (lambda g: tendril.fastgcn_sample(g, [0], dtype="u4"), "dtype is 'u4', expected int64 or int32"),
    (
        lambda g: tendril.ladies_sample(tendril.generate.ring(5), [0], normalization="weights"),
        "matrix: the graph has no weights, expected one an edge",
    ),
    (
        lambda g: tendril.mvs_sample(g, [1.0, 2.0]),
        "importances: 2 values, expected none or one for each of the graph's 60 vertices",
    ),
    (lambda g: tendril.mvs_sample(g, ["x"] * 60), "importances has dtype <U1, expected numbers"),
    (lambda g: tendril.mvs_sample(g, None, -1), "num_samples: -1, expected 0 or more"),
    (lambda g: tendril.mvs_sample(g, batch_size=0), "batch_size: 0, expected 1 to 16384 vertices"),
    (lambda g: tendril.labor_sample(g, [[0]]), "seeds has shape (1, 1), expected one dimension"),
    (lambda g: tendril.labor_sample(g, [0, 99]), "seed 1: vertex 99 is out of range, the graph has 60 vertices"),
    (lambda g: tendril.labor_sample(g, [0], []), "fanouts: none given, expected one a hop"),
    (lambda g: tendril.labor_sample(g, [0], 5), "fanouts is 5, expected a sequence of integers"),
]


@pytest.mark.parametrize(("call", "message"), MESSAGES, ids=[message.split(",")[0] for _, message in MESSAGES])
def test_messages(graph, call, message):
    with pytest.raises(tendril.ArgumentError) as info:
        call(graph)
    assert str(info.value) == message
