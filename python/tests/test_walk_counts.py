"""Walks that are counted: what their rows say, wherever they are made."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from counting import counted

import tendril

JOBS = {
    "plain": ({}, tendril.random_walk, {}),
    "weighted": ({"weighted": True, "restart_prob": 0.2}, tendril.random_walk, {"weighted": True, "restart_prob": 0.2}),
    "stopping": ({"stop_prob": 0.1}, tendril.random_walk, {"stop_prob": 0.1}),
    "node2vec": ({"p": 2.0, "q": 0.5}, functools.partial(tendril.node2vec_walk, p=2.0, q=0.5), {}),
    "metapath": ({"metapath": [0, 1, 2]}, functools.partial(tendril.metapath_walk, metapath=[0, 1, 2]), {}),
}


def check(graph, job, device=None):
    more, walk, options = JOBS[job]
    where = {} if device is None else {"device": device}
    starts = np.arange(200) % graph.num_vertices
    walks, lengths = walk(graph, starts, length=12, seed=5, walks_per_vertex=3, first_walk=7, **options)
    expected = counted(np.asarray(walks), np.asarray(lengths), graph.num_vertices)
    for what, wanted in expected.items():
        made = tendril.count_walks(
            graph, starts, 12, what, seed=5, walks_per_vertex=3, first_walk=7, **more, **where
        )
        assert made.dtype == np.int64
        np.testing.assert_array_equal(made, wanted, err_msg=what)


@pytest.mark.parametrize("job", JOBS)
def test_counts_are_those_of_rows(graph, job):
    check(graph, job)


@pytest.mark.gpu
@pytest.mark.skipif(tendril.num_gpus() == 0, reason="no GPU")
@pytest.mark.parametrize("job", JOBS)
def test_counts_of_a_gpu_are_those_of_rows(graph, job):
    check(graph, job, "cuda")
    if tendril.num_gpus() > 1:
        check(graph, job, "cuda:0,1")


def test_every_vertex_by_default(graph):
    ends = tendril.count_walks(graph, length=1, what="ends", walks_per_vertex=4)
    assert ends.sum() == 4 * graph.num_vertices
    assert tendril.count_walks(graph, length=5, walks_per_vertex=0).tolist() == [0] * graph.num_vertices
    assert tendril.count_walks(graph, [], 5).sum() == 0


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"what": "steps"}, "what is 'steps', expected 'visits' or 'ends'"),
        ({"starts": [3, 1000]}, "start 1: vertex 1000 is out of range, the graph has 60 vertices"),
        ({"walks_per_vertex": -1}, "walks_per_vertex is -1, expected 0 or more"),
        ({"length": 0}, "length"),
        ({"first_walk": -1}, "first_walk: -1, expected 0 or more"),
        ({"metapath": ["nobody"]}, "metapath[0] is 'nobody'"),
    ],
)
def test_what_is_wrong_is_named(graph, arguments, words):
    with pytest.raises(tendril.ArgumentError) as failure:
        tendril.count_walks(graph, **{"length": 5, **arguments})
    assert words in str(failure.value)
    assert "\n" not in str(failure.value)
