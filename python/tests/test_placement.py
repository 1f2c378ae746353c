"""Graphs that lie partly on a GPU, partly in host memory; and how often jobs read lists."""

from __future__ import annotations

import numpy as np
import pytest

import tendril

GPU = [pytest.mark.gpu, pytest.mark.skipif(tendril.num_gpus() == 0, reason="no GPU")]


@pytest.fixture(scope="module")
def skewed():
    return tendril.generate.rmat(13, 8, symmetrize=True, weights=(1, 5), num_labels=3, num_node_types=2)


def test_visits_are_those_of_the_job(skewed):
    degrees = skewed.degrees()
    walks = tendril.count_visits(skewed, length=20, num_samples=20_000, seed=1)
    assert walks.dtype == np.float32 and walks.shape == (skewed.num_vertices,)
    assert walks[degrees == 0].max(initial=0) < walks[degrees > 0].mean()
    trees = tendril.count_visits(skewed, "khop", fanouts=[5], starts=[3], num_samples=10)
    assert np.argmax(trees) == 3
    batches = tendril.count_visits(skewed, "minibatch", fanouts=[5, 5], batch_size=256, num_samples=1024)
    # A hub's list is read a few times a batch, however often walks come by.
    hub = np.argmax(degrees)
    assert batches[hub] / batches.sum() < 0.5 * walks[hub] / walks.sum()


def test_visits_depend_on_nothing_else(skewed):
    once = tendril.count_visits(skewed, num_samples=500, num_threads=1)
    assert np.array_equal(once, tendril.count_visits(skewed.compress(), num_samples=500, num_threads=3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"app": "ladies"}, "app is 'ladies', expected 'walks', 'khop' or 'minibatch'"),
        ({"length": 0}, "length"),
        ({"num_samples": -1}, "num_samples: -1, expected 0 to 2^40"),
        ({"batch_size": 0}, "batch_size: 0, expected 1 to 2^32"),
        ({"starts": [9000]}, "start 0: vertex 9000 is out of range, the graph has 8192 vertices"),
        ({"starts": [-1]}, "starts[0] is -1"),
    ],
)
def test_visits_refuse(skewed, options, message):
    with pytest.raises(tendril.ArgumentError) as caught:
        tendril.count_visits(skewed, **options)
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gpu_bytes": "much"}, "gpu_bytes is 'much', expected bytes as in 500000, '64M' or '1.5G'"),
        ({"gpu_bytes": ""}, "gpu_bytes is '', expected bytes"),
        ({"gpu_bytes": 0.5}, "gpu_bytes is 0.5, expected an integer"),
        ({"share": "all"}, "share is 'all', expected 'auto', 'gpu', 'cpu' or 'both'"),
        ({"policy": "best"}, "policy is 'best', expected 'visits', 'degree' or 'scores'"),
        ({"app": "sample"}, "app is 'sample', expected"),
        ({"device": "cpu"}, "device is 'cpu', expected a GPU as in 'cuda'"),
    ],
)
def test_placing_refuses(skewed, options, message):
    with pytest.raises(tendril.ArgumentError) as caught:
        skewed.place(**options)
    assert message in str(caught.value)


def test_other_graphs_are_not_placed(skewed):
    assert skewed.placement is None


@pytest.fixture(scope="module")
def library():
    rng = np.random.default_rng(5)
    return tendril.HeteroGraph(
        {"author": 3000, "paper": 2000, "venue": 7},
        {
            ("author", "writes", "paper"): (rng.integers(0, 3000, 20000), rng.integers(0, 2000, 20000)),
            ("paper", "cites", "paper"): (rng.integers(0, 2000, 9000), rng.integers(0, 2000, 9000)),
            ("paper", "in", "venue"): (np.arange(2000), rng.integers(0, 7, 2000)),
        },
        edge_times={("paper", "cites", "paper"): rng.integers(0, 50, 9000)},
        reverse=True,
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gpu_bytes": "much"}, "gpu_bytes is 'much', expected bytes as in 500000, '64M' or '1.5G'"),
        ({"policy": "best"}, "policy is 'best', expected 'visits', 'degree' or 'scores'"),
        ({"share": "all"}, "share is 'all', expected 'auto', 'gpu', 'cpu' or 'both'"),
        ({"num_neighbors": {"cites": [2]}}, "num_neighbors has the edge type 'cites', expected one of"),
        ({"starts": {"book": [1]}}, "starts has the keys ['book'], expected one of ['author', 'paper', 'venue']"),
        ({"starts": {"paper": [1], "venue": [2]}}, "starts has the keys ['paper', 'venue'], expected one of"),
        ({"starts": [1, 2]}, "starts is a list, expected a mapping"),
        ({"device": "cpu"}, "device is 'cpu', expected a GPU as in 'cuda'"),
    ],
)
def test_placing_several_types_refuses(library, options, message):
    with pytest.raises(tendril.ArgumentError) as caught:
        library.place(**options)
    assert message in str(caught.value)


def test_other_graphs_of_several_types_are_not_placed(library):
    assert library.placement is None


@pytest.fixture(scope="module", params=["100K", "400K", None])
def placed(request, skewed):
    return skewed.place(request.param, app="khop", fanouts=[5, 5])


class TestOnGpu:
    pytestmark = GPU

    def test_says_what_lies_where(self, placed, skewed):
        assert (placed.device, placed.form, placed.num_edges) == ("cuda:0", "packed", skewed.num_edges)
        where = placed.placement
        bits_an_edge = 32 + int(skewed.edge_labels.max()).bit_length()  # a weight, a label in as few bits as it needs
        padding = where["gpu_edge_bytes"] + where["host_edge_bytes"] - bits_an_edge * skewed.num_edges / 8
        assert 0 <= padding <= 8
        assert 0 <= where["visits_on_gpu"] <= 1
        assert placed.to("cuda") is placed
        assert np.array_equal(placed.to("cpu").indices, skewed.indices)

    def test_gives_the_same_samples(self, placed, skewed):
        starts = np.arange(0, skewed.num_vertices, 3)
        for options in ({}, {"weighted": True}):
            ours = tendril.random_walk(placed, starts, length=20, seed=2, **options)
            theirs = tendril.random_walk(skewed, starts, length=20, seed=2, **options)
            for one, other in zip(ours, theirs, strict=True):
                assert np.array_equal(np.asarray(one), other)
        ours = tendril.neighbor_sample(placed, starts[:100], [5, 5], seed=2)
        theirs = tendril.neighbor_sample(skewed, starts[:100], [5, 5], seed=2)
        assert np.array_equal(np.asarray(ours.node), theirs.node)
        here = tendril.random_walk(placed, starts, length=20, seed=2, device="cpu")
        assert np.array_equal(here[0], tendril.random_walk(skewed, starts, length=20, seed=2)[0])

    def test_takes_scores(self, skewed):
        scores = np.zeros(skewed.num_vertices, dtype=np.float32)
        scores[1200:1212] = 1
        assert skewed.place("200K", scores).placement["visits_on_gpu"] == 1
        with pytest.raises(tendril.ArgumentError, match="scores: 2 numbers, expected one a vertex"):
            skewed.place("200K", [1, 2])
        scores[4] = np.nan
        with pytest.raises(tendril.ArgumentError):
            skewed.place("200K", scores)

    def test_says_how_much_is_needed(self, skewed):
        with pytest.raises(tendril.OutOfMemoryError, match="gpu_bytes: 7 bytes of GPU memory, expected at least"):
            skewed.place(7)

    @pytest.mark.parametrize("gpu_bytes", ["60K", "200K", None])
    def test_several_types_share_memory(self, library, gpu_bytes):
        there = library.place(gpu_bytes, num_neighbors=[5, 5], starts={"paper": np.arange(500)})
        where = there.placement
        assert list(where) == list(library.edges)
        assert all(0 <= one["visits_on_gpu"] <= 1 for one in where.values())
        if gpu_bytes is not None:
            held = ("gpu_bytes", "gpu_edge_bytes", "directory_bytes")
            assert sum(one[key] for one in where.values() for key in held) <= tendril._placement.num_bytes(gpu_bytes, "")
        here = tendril.MinibatchSampler(library, [5, 5], seed=3, disjoint=True).sample({"paper": np.arange(100)})
        made = tendril.MinibatchSampler(there, [5, 5], seed=3, disjoint=True).sample({"paper": np.arange(100)})
        for name in library.num_nodes:
            assert np.array_equal(np.asarray(made.node[name]), here.node[name])
        for key in library.edges:
            assert np.array_equal(np.asarray(made.edge[key]), here.edge[key])
        assert there.to("cpu")._core is library._core
        assert there.to("cuda") is there

    def test_what_has_no_room_is_placed(self, library, monkeypatch):
        monkeypatch.setattr(tendril._gpu, "graph_room", lambda: 200_000)
        graph = tendril.generate.rmat(13, 8, symmetrize=True)
        starts = np.arange(0, graph.num_vertices, 3)
        ours = tendril.random_walk(graph, starts, length=20, seed=2, device="cuda")
        assert np.array_equal(np.asarray(ours[0]), tendril.random_walk(graph, starts, length=20, seed=2)[0])
        assert graph.to("cuda").placement is not None
        monkeypatch.setattr(tendril._gpu, "graph_room", lambda: 100_000)
        part = tendril.HeteroGraph(library.num_nodes, library.edges, reverse=True).to("cuda")
        assert part.placement is not None
        here = tendril.MinibatchSampler(part.to("cpu"), [5, 5], seed=3).sample({"paper": np.arange(100)})
        made = tendril.MinibatchSampler(part, [5, 5], seed=3).sample({"paper": np.arange(100)})
        assert np.array_equal(np.asarray(made.node["author"]), here.node["author"])

    def test_any_struct_runs_where_the_graph_has_no_room(self, monkeypatch):
        text = (
            "struct near { int steps() const { return 3; } std::int64_t sample_size(int) const { return 2; }"
            " vertex_id next(sample_view& sample, transit_list const& transits, edge_list const& edges, int,"
            " random_stream& rng) const { if (edges.empty()) { return no_vertex; }"
            " vertex_id const found = edges[rng.bounded(edges.size())];"
            " return sample.graph.has_edge(found, sample.root(0)) ? found : transits[0]; } };"
        )
        graph = tendril.generate.rmat(13, 8, symmetrize=True)
        application = tendril.Application(text)
        here = application.sample(graph, np.arange(300), seed=4)
        monkeypatch.setattr(tendril._gpu, "graph_room", lambda: 120_000)
        there = application.sample(graph, np.arange(300), seed=4, device="cuda")
        for one, other in zip(there.steps, here.steps, strict=True):
            assert np.array_equal(np.asarray(one.vertices), other.vertices)
