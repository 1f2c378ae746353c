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


@pytest.fixture(scope="module", params=["100K", "400K", None])
def placed(request, skewed):
    return skewed.place(request.param, app="khop", fanouts=[5, 5])


class TestOnGpu:
    pytestmark = GPU

    def test_says_what_lies_where(self, placed, skewed):
        assert (placed.device, placed.form, placed.num_edges) == ("cuda:0", "packed", skewed.num_edges)
        where = placed.placement
        assert where["gpu_edge_bytes"] + where["host_edge_bytes"] == 5 * skewed.num_edges
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
