"""Picks in proportion to scores, in segments of an array."""

from __future__ import annotations

import numpy as np
import pytest
from digests import digest

import tendril

SCORES = np.array([1, 2, 3, 0, 4], np.float32)


def chi_square(counts, chances):
    """Standard deviations above the mean of a chi-square statistic."""
    expected = counts.sum() * chances[chances > 0]
    freedom = len(expected) - 1
    return (((counts[chances > 0] - expected) ** 2 / expected).sum() - freedom) / np.sqrt(2 * freedom)


def test_picks_are_in_proportion_to_scores():
    n, k = 20_000, 3
    offsets = np.arange(n + 1) * 5
    position, probability = tendril.segment_multinomial(offsets, np.tile(SCORES, n), np.arange(n), k, seed=3)
    local = position - offsets[:-1, None]
    for j in range(k):
        counts = np.bincount(local[:, j], minlength=5)
        assert counts[3] == 0
        assert chi_square(counts, SCORES / 10) < 6
        assert chi_square(counts, np.array([0.1, 0.2, 0.3, 0.01, 0.39])) > 6  # a planted bias
    pairs = np.bincount(local[:, 0] * 5 + local[:, 1], minlength=25)  # draws of one segment are independent
    assert chi_square(pairs, np.outer(SCORES, SCORES).ravel() / 100) < 6
    np.testing.assert_array_equal(probability, (SCORES / 10)[local].astype(np.float32))


def test_known_answers():
    scores = np.concatenate([SCORES, [1e-30, 1e30, 5e-324, 0, 0], SCORES])
    given = [0, 5, 8, 8, 10, 15], scores, [7, 3, 9, 1, 7], 4
    made = [tendril.segment_multinomial(*given, seed=1, batch=2, hop=1, num_threads=t) for t in (1, 3)]
    (position, probability), again = made
    assert digest(*made[0]) == digest(*again) == "7422f8371de84187"
    assert position[1].tolist() == [6] * 4
    assert position[2:4].tolist() == [[-1] * 4] * 2
    assert not probability[2:4].any()
    assert (position[4] - 10).tolist() == position[0].tolist()  # the vertex counts, not the place
    other = tendril.segment_multinomial([0, 5], SCORES, [7], 40, seed=1, batch=2)
    for change in ({"batch": 3}, {"hop": 1}, {"seed": 2}):
        changed = tendril.segment_multinomial([0, 5], SCORES, [7], 40, **{"seed": 1, "batch": 2, **change})
        assert (other[0] != changed[0]).any()


def test_a_hub_is_drawn_from_exactly():
    rng = np.random.default_rng(2)
    scores = np.where(rng.random(1 << 20) < 0.5, rng.random(1 << 20), 0).astype(np.float32)
    position, probability = tendril.segment_multinomial([0, 1 << 20], scores, [0], 100_000)
    total = scores.astype(np.float64).sum()
    np.testing.assert_allclose(probability[0], scores[position[0]] / total, rtol=1e-6)
    counts = np.bincount(position[0] >> 14, minlength=64)
    assert chi_square(counts, scores.reshape(64, -1).sum(1, dtype=np.float64) / total) < 6


# Wrong on every device: offsets and vertices for SCORES, and numbers that are no scores.
WRONG_SEGMENTS = [([0, 4], [0]), ([1, 5], [0]), ([0, 6, 5], [0, 1]), ([0], []), ([0, 5], [0, 1])]
WRONG_SCORES = [-1, np.nan, np.inf]


def refusal(offsets, scores, *rest, **options):
    with pytest.raises(tendril.ArgumentError, match=r"^[^\n]*expected[^\n]*$") as info:
        tendril.segment_multinomial(offsets, scores, *rest, **options)
    return str(info.value)


def test_arguments_that_are_wrong():
    for offsets, *rest in (*WRONG_SEGMENTS, ([], []), ([0, 5], [-1]), ([0, 5], [0], 0), ([0, 5], [0], 1 << 31)):
        refusal(np.array(offsets, np.int64), SCORES, *rest)
    for wrong in WRONG_SCORES:
        assert refusal([0, 3], [1, 2, wrong], [0]) == f"score 2: {wrong}, expected a finite number of 0 or more"
    assert refusal([0, 2], ["a", "b"], [0]) == "scores has dtype <U1, expected numbers"
    assert refusal([0, 5], SCORES, [0], hop=65536) == "hop: 65536, expected 0 to 65535"


@pytest.mark.gpu
def test_picks_on_a_gpu_equal_the_cpus(torch_on_gpu):
    rng = np.random.default_rng(4)
    degrees = np.concatenate([[0, 1 << 20, 0, 1, 70_000], rng.integers(0, 300, 5000), [0]])
    offsets = np.concatenate([[0], degrees.cumsum()])
    scores = (rng.random(offsets[-1]) ** 8 * (rng.random(offsets[-1]) < 0.9)).astype(np.float32)
    vertices = rng.integers(0, 1 << 31, len(degrees))
    there = [torch_on_gpu.tensor(array, device="cuda") for array in (offsets, scores, vertices)]
    for k in (1, 7):
        here = tendril.segment_multinomial(offsets, scores, vertices, k, seed=9, hop=2)
        for a, b in zip(here, tendril.segment_multinomial(*there, k, seed=9, hop=2), strict=True):
            assert a.tobytes() == b.numpy().tobytes()


@pytest.mark.gpu
def test_errors_on_a_gpu_are_the_cpus(torch_on_gpu):
    wrong_scores = [([0, 5], [3], [1, 2, wrong, 0, 4]) for wrong in WRONG_SCORES]
    for offsets, vertices, scores in (*((*one, SCORES) for one in WRONG_SEGMENTS), *wrong_scores):
        lines = []
        for device in ("cpu", "cuda"):
            given = torch_on_gpu.tensor(scores, dtype=torch_on_gpu.float32, device=device)
            lines.append(refusal(offsets, given, np.array(vertices, np.int64)))
        assert lines[0] == lines[1]
