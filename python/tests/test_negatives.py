"""Ends of negative links: numbers, weights, times, errors."""

from __future__ import annotations

import numpy as np
import pytest

import tendril


def test_numbers_decide_and_calls_do_not():
    sampler = tendril.NegativeSampler(1000, "target", seed=3)
    drawn = sampler.draw(500, batch=7)
    assert drawn.dtype == np.int64 and drawn.min() >= 0 and drawn.max() < 1000
    np.testing.assert_array_equal(drawn[:100], sampler.draw(100, batch=7))
    again = tendril.NegativeSampler(1000, "target", seed=3, num_threads=1)
    np.testing.assert_array_equal(again.draw(500, batch=7, dtype=np.int32), drawn)
    others = (sampler.draw(500, batch=8), tendril.NegativeSampler(1000, "target", seed=4).draw(500, batch=7))
    for other in (*others, tendril.NegativeSampler(1000, "source", seed=3).draw(500, batch=7)):
        assert (other == drawn).mean() < 0.05


def test_weights_are_probabilities():
    """60,000 draws; within five deviations of a binomial, which uniform ones are not."""
    weights = np.array([0, 1, 2, 3], np.float32)
    for given, share in ((weights, weights / 6), (None, np.full(4, 0.25))):
        counts = np.bincount(tendril.NegativeSampler(4, weights=given, seed=1).draw(60000), minlength=4)
        five = 5 * np.sqrt(60000 * share * (1 - share))
        assert (np.abs(counts - 60000 * share) <= five).all()
        assert not (np.abs(counts - 60000 * share[::-1]) <= five).all() or given is None


def test_negatives_are_not_later_than_their_links():
    times = np.arange(100)
    drawn = tendril.NegativeSampler(100, node_times=times, seed=1).draw(3000, until=[70, 20, 99])
    limits = np.resize([70, 20, 99], 3000)
    late = times[drawn] > limits
    assert not late[limits == 99].any() and late[limits == 70].mean() < 0.01
    assert 0.1 < late[limits == 20].mean() < 0.45  # 0.79^6 find nothing
    assert times[drawn][limits == 20].mean() < 20


def test_how_many():
    assert [tendril.num_negatives(10, amount) for amount in (1, 0.25, 2.31)] == [10, 3, 24]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tendril.NegativeSampler(5, "src"), "end is 'src', expected 'source' or 'target'"),
        (lambda: tendril.NegativeSampler(5, weights=[1, 2]), "2"),
        (lambda: tendril.NegativeSampler(2, weights=[1, -2]), "-2"),
        (lambda: tendril.NegativeSampler(2, weights=[0, 0]), "0"),
        (lambda: tendril.NegativeSampler(5, node_times=[1.5] * 5), "node_times has dtype float64, expected integers"),
        (lambda: tendril.NegativeSampler(5, seed=-1), "seed is -1, expected 0 or more"),
        (lambda: tendril.NegativeSampler(5, weights=[]), "weights has 0 elements, expected 5: one of each vertex"),
        (lambda: tendril.NegativeSampler(5, node_times=[1]), "node_times has 1 elements, expected 5"),
        (lambda: tendril.NegativeSampler(5).draw(2**62), "count: 4611686018427387904, expected at most"),
        (lambda: tendril.NegativeSampler(5).draw(-1), "-1"),
        (lambda: tendril.NegativeSampler(0).draw(1), "0"),
        (lambda: tendril.NegativeSampler(5).draw(1, until=[3]), "times"),
        (lambda: tendril.num_negatives(5, 0), "0"),
        (lambda: tendril.num_negatives(5, "x"), "amount is 'x', expected a number"),
    ],
)
def test_mistakes_get_one_line(call, message):
    with pytest.raises(tendril.ArgumentError) as caught:
        call()
    assert message in str(caught.value) and "\n" not in str(caught.value)
