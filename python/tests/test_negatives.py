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
        assert (other == drawn).sum() <= 6  # half a one expected; 7 and more happen once in a million


def test_weights_are_probabilities():
    """60,000 draws; within five deviations of a binomial, which uniform ones are not."""
    weights = np.array([0, 1, 2, 3], np.float32)
    for given, share in ((weights, weights / 6), (None, np.full(4, 0.25))):
        counts = np.bincount(tendril.NegativeSampler(4, weights=given, seed=1).draw(60000), minlength=4)
        five = 5 * np.sqrt(60000 * share * (1 - share))
        assert (np.abs(counts - 60000 * share) <= five).all()
        assert not (np.abs(counts - 60000 * share[::-1]) <= five).all() or given is None


@pytest.mark.parametrize("until", [0, 1, 10, 100, 998, 999, 2**63 - 1])
@pytest.mark.parametrize("weights", [None, np.linspace(1, 5, 1000)])
@pytest.mark.parametrize("end", ["source", "target"])
def test_no_negative_is_later_than_its_link(until, weights, end):
    times = np.random.default_rng(1).permutation(1000)
    sampler = tendril.NegativeSampler(1000, end, weights=weights, node_times=times, seed=1)
    assert times[sampler.draw(100_000, until=np.full(1, until))].max() == min(until, 999)


def test_each_negative_keeps_to_its_own_link():
    times = np.repeat(np.arange(50), 2)[::-1]  # two vertices of each time, the last ones first
    drawn = tendril.NegativeSampler(100, node_times=times, seed=1).draw(3000, until=[35, 0, 49])
    limits = np.resize([35, 0, 49], 3000)
    assert (times[drawn] <= limits).all()
    for limit in (35, 0, 49):
        assert set(times[drawn[limits == limit]]) == set(range(limit + 1))
    assert set(drawn[limits == 0]) == {98, 99}


def test_eligible_ones_are_drawn_in_proportion():
    """60,000 draws; within five deviations of a binomial, which uniform ones are not."""
    weights = np.array([1, 2, 0, 3, 8, 2], np.float32)
    times = np.array([4, -1, 0, 4, 5, 2])
    early = times <= 4
    for given in (weights, None):
        share = np.where(early, np.ones(6) if given is None else given, 0)
        share = share / share.sum()
        sampler = tendril.NegativeSampler(6, weights=given, node_times=times, seed=1)
        counts = np.bincount(sampler.draw(60000, until=[4]), minlength=6)
        five = 5 * np.sqrt(60000 * share * (1 - share))
        assert (np.abs(counts - 60000 * share) <= five).all()
        uniform = early / early.sum()
        assert not (np.abs(counts - 60000 * uniform) <= five).all() or given is None


def test_where_none_is_eligible_the_earliest_of_all_is_taken():
    times = [7, 5, 6, 5]
    for weights in (None, [1, 1, 1, 1], [1, 0, 1, 0]):  # the lowest of equals, whatever its weight
        sampler = tendril.NegativeSampler(4, weights=weights, node_times=times)
        assert sampler.draw(5, until=[4]).tolist() == [1] * 5
        assert sampler.draw(5, until=[-(2**63)]).tolist() == [1] * 5
    assert sampler.draw(5, until=[5]).tolist() == [1] * 5  # both of that time weigh 0


def test_links_without_times_hold_nothing_back():
    plain = tendril.NegativeSampler(100, seed=1).draw(1000)
    np.testing.assert_array_equal(tendril.NegativeSampler(100, node_times=np.arange(100), seed=1).draw(1000), plain)
    assert plain.max() == 99


def test_how_many():
    assert [tendril.num_negatives(10, amount) for amount in (1, 0.25, 2.31)] == [10, 3, 24]


def timed(node_times=(4, 3, 2, 1, 0), **options):
    return tendril.NegativeSampler(5, node_times=node_times, **options)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tendril.NegativeSampler(5, "src"), "end is 'src', expected 'source' or 'target'"),
        (lambda: tendril.NegativeSampler(5, weights=[1, 2]), "2"),
        (lambda: tendril.NegativeSampler(2, weights=[1, -2]), "-2"),
        (lambda: tendril.NegativeSampler(2, weights=[0, 0]), "0"),
        (lambda: tendril.NegativeSampler(5, node_times=[1.5] * 5), "node_times has dtype float64, expected integers"),
        (lambda: tendril.NegativeSampler(1, node_times=[np.nan]), "node_times has dtype float64, expected integers"),
        (lambda: tendril.NegativeSampler(1, node_times=[[1]]), "node_times has shape (1, 1), expected one dimension"),
        (lambda: tendril.NegativeSampler(1, node_times=np.array([2**63], np.uint64)), "node_times[0] is 92233720368547"),
        (lambda: tendril.NegativeSampler(1, node_times=["x"]), "node_times has dtype <U1, expected integers"),
        (lambda: timed().draw(1, until=[np.nan]), "until has dtype float64, expected integers"),
        (lambda: timed().draw(1, until=[1.0]), "until has dtype float64, expected integers"),
        (lambda: timed().draw(1, until=3), "until has shape (), expected one dimension"),
        (lambda: timed().draw(1, until=[]), "until has 0 elements, expected the time of at least one link for 1 neg"),
        (lambda: timed(node_times=[]), "node_times has 0 elements, expected 5: one of each vertex"),
        (lambda: timed(weights=[0, 1, 1, 1, np.nan]), "weight 4: nan, expected a finite number of 0 or more"),
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
