"""Multi-dimensional walks: every step is an edge of the set, numbers alone decide, bad arguments get one clear line."""

from __future__ import annotations

import numpy as np
import pytest

import tendril


def check(graph, roots, result, choice):
    """Replays every sample: the set of roots, what each step replaced, and why it ended."""
    walks, lengths, slots = result
    n, m = roots.shape
    length = slots.shape[1]
    assert walks.shape == (n, m + length)
    assert lengths.shape == (n,)
    neighbours = [set(graph.indices[a:b].tolist()) for a, b in zip(graph.indptr, graph.indptr[1:], strict=False)]
    for given, row, taken, steps in zip(roots.tolist(), walks.tolist(), slots.tolist(), lengths.tolist(), strict=True):
        assert row[:m] == given
        now = list(given)
        for slot, reached in zip(taken[:steps], row[m : m + steps], strict=True):
            assert reached in neighbours[now[slot]]
            now[slot] = reached
        dead = [not neighbours[v] for v in now]
        assert steps == length or (all(dead) if choice == "degree" else any(dead))
        assert set(row[m + steps :]) <= {-1}
        assert set(taken[steps:]) <= {-1}


@pytest.mark.parametrize("choice", ["degree", "uniform"])
@pytest.mark.parametrize("m", [1, 2, 17])
def test_every_step_is_an_edge_of_the_set(graph, choice, m):
    roots = np.random.default_rng(m).integers(0, 60, (200, m))
    result = tendril.multidim_walk(graph, roots, 25, root_choice=choice, seed=3)
    check(graph, roots, result, choice)
    assert result.walks.dtype == np.int64
    assert result.lengths.dtype == result.slots.dtype == np.int32
    assert m > 1 or (result.lengths < 25).any()  # the graph has dead ends


@pytest.mark.parametrize("choice", ["degree", "uniform"])
def test_numbers_alone_decide(graph, choice):
    roots = np.random.default_rng(1).integers(0, 50, (300, 4))
    whole = tendril.multidim_walk(graph, roots, 12, root_choice=choice, seed=5)
    for num_threads in (1, 2, 3):
        again = tendril.multidim_walk(graph, roots, 12, root_choice=choice, seed=5, num_threads=num_threads)
        for one, other in zip(whole, again, strict=True):
            np.testing.assert_array_equal(one, other)
    cuts = ((0, 1), (1, 130), (130, 300))
    parts = [tendril.multidim_walk(graph, roots[a:b], 12, root_choice=choice, seed=5, first_walk=a) for a, b in cuts]
    for field, one in enumerate(whole):
        np.testing.assert_array_equal(one, np.concatenate([part[field] for part in parts]))
    assert (tendril.multidim_walk(graph, roots, 12, root_choice=choice, seed=6).walks != whole.walks).any()
    small = tendril.multidim_walk(graph, roots, 12, root_choice=choice, seed=5, dtype=np.int32)
    assert small.walks.dtype == np.int32
    np.testing.assert_array_equal(small.walks, whole.walks)


def test_known_answer():
    """The wheel of the C++ tests: vertex 0 joined to 1 .. 6, which form a ring."""
    rim = np.arange(1, 7)
    wheel = tendril.Graph.from_coo(np.r_[np.zeros(6, int), rim], np.r_[rim, rim % 6 + 1], symmetrize=True)
    walks, lengths, slots = tendril.multidim_walk(wheel, [[0, 3, 5]], 10, seed=42)
    assert walks.tolist() == [[0, 3, 5, 5, 4, 4, 3, 5, 4, 2, 0, 2, 4]]
    assert slots.tolist() == [[0, 2, 0, 2, 0, 0, 1, 1, 1, 2]]
    assert lengths.tolist() == [10]


def chosen(choice):
    """Steps that left from each root, of 30,000 samples whose roots have 1, 2 and 5 out-edges."""
    fan = tendril.Graph.from_coo([0, 1, 1, 2, 2, 2, 2, 2], [3, 3, 4, 3, 4, 5, 6, 7])
    slots = tendril.multidim_walk(fan, np.tile([0, 1, 2], (30_000, 1)), 1, root_choice=choice, seed=2).slots
    return np.bincount(slots[:, 0], minlength=3)


def chi_square(counts, weights):
    expected = counts.sum() * np.array(weights) / sum(weights)
    return float(((counts - expected) ** 2 / expected).sum())


def test_roots_are_chosen_by_degree_or_uniformly():
    """Chi-square with 2 degrees of freedom: 13.82 is exceeded once in 1,000 runs; the other choice must exceed it."""
    assert chi_square(chosen("degree"), [1, 2, 5]) < 13.82
    assert chi_square(chosen("uniform"), [1, 1, 1]) < 13.82
    assert chi_square(chosen("degree"), [1, 1, 1]) > 13.82
    assert chi_square(chosen("uniform"), [1, 2, 5]) > 13.82


def test_no_samples(graph):
    walks, lengths, slots = tendril.multidim_walk(graph, np.empty((0, 3), np.int64), 7)
    assert walks.shape == (0, 10)
    assert lengths.shape == (0,)
    assert slots.shape == (0, 7)


def test_roots_of_other_types_and_layouts(graph):
    roots = np.random.default_rng(4).integers(0, 50, (40, 6))
    expected = tendril.multidim_walk(graph, roots, 8, seed=1).walks
    for same in (roots.tolist(), roots.astype(np.uint32), roots.astype(np.int32), np.asfortranarray(roots)):
        np.testing.assert_array_equal(tendril.multidim_walk(graph, same, 8, seed=1).walks, expected)


ARGUMENTS = [
    ({"roots": [0, 1]}, "roots has shape (2,), expected two dimensions: samples, roots of each"),
    ({"roots": [[[0]]]}, "roots has shape (1, 1, 1), expected two dimensions: samples, roots of each"),
    ({"roots": [[0.5]]}, "roots has dtype float64, expected integers"),
    ({"roots": [[0, -1]]}, "roots[1] is -1, expected a vertex id in [0, 4294967294]"),
    ({"roots": [[0, 60]]}, "root 1: vertex 60 is out of range, the graph has 60 vertices"),
    ({"roots": [[]]}, "num_roots: 0, expected 1 to 65535 roots a sample"),
    ({"roots": np.zeros((1, 65536), int)}, "num_roots: 65536, expected 1 to 65535 roots a sample"),
    ({"length": 0}, "length: 0, expected 1 to 2147483646 steps"),
    ({"length": 1.0}, "length is 1.0, expected an integer that fits the parameter"),
    ({"seed": -1}, "seed is -1, expected an integer that fits the parameter"),
    ({"first_walk": -1}, "first_walk: -1, expected 0 or more"),
    ({"root_choice": "best"}, "multidim_walk: root_choice is 'best', expected 'degree' or 'uniform'"),
    ({"root_choice": None}, "root_choice is None, expected a name"),
    ({"dtype": "int16"}, "dtype is 'int16', expected int64 or int32"),
    ({"num_threads": -2}, "num_threads is -2, expected 0 (every core) or more"),
]


@pytest.mark.parametrize(("keywords", "message"), ARGUMENTS, ids=[message.split(",")[0] for _, message in ARGUMENTS])
def test_messages(graph, keywords, message):
    with pytest.raises(tendril.ArgumentError) as info:
        tendril.multidim_walk(graph, **{"roots": [[0, 1]], "length": 5, **keywords})
    assert str(info.value) == message


def test_a_result_beyond_memory():
    ring = tendril.generate.ring(5)
    with pytest.raises(tendril.OutOfMemoryError):
        tendril.multidim_walk(ring, np.zeros((1 << 20, 1), np.uint32), 2**31 - 2)
