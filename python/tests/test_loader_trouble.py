"""Loops that raise, and two loops at once: Pipeline and NeighborLoader make the batches that they make without trouble."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from both_loaders import LOADERS, NUM_BATCHES, PlantedError, each, fail_in_loop, graph, of_both, pipeline, told
from threads_left import expect_none_left

import tendril
from tendril import _ahead

ROUNDS = 30


@of_both
@pytest.mark.parametrize("prefetch", [0, 2, 9])
def test_the_epoch_after_loops_that_raised_is_that_of_a_fresh_loader(kind, prefetch):
    """Each loop that begins takes one epoch, whether it ends or not."""
    make, before = LOADERS[kind], threading.active_count()
    used, fresh = make(prefetch=prefetch), make()
    for number in range(ROUNDS):
        with pytest.raises(PlantedError):
            fail_in_loop(used, number % NUM_BATCHES)
        assert not _ahead._at_work
        state = used.state_dict()
        assert (state["epoch"], state["batch"]) == (number, number % NUM_BATCHES + 1)
    expect_none_left(before)
    assert used.epoch == ROUNDS
    fresh.set_epoch(ROUNDS)
    expected = each(fresh)
    assert each(used) == expected and len({*map(repr, expected)}) == NUM_BATCHES
    assert used.state_dict() == fresh.state_dict()
    assert each(used) == each(fresh)
    expect_none_left(before)


@of_both
@pytest.mark.parametrize("done", [1, 4, NUM_BATCHES])
def test_a_loop_that_raised_goes_on_by_its_state(kind, done):
    make = LOADERS[kind]
    whole = each(make())
    used = make()
    for _ in range(ROUNDS):
        used.set_epoch(0)
        with pytest.raises(PlantedError):
            fail_in_loop(used, done - 1)
    resumed = make()
    resumed.load_state_dict(used.state_dict())
    assert each(resumed) == whole[done:]
    used.load_state_dict(used.state_dict())
    assert each(used) == whole[done:]


def pair_of(*kinds):
    """Loaders of one graph and one table, with batches of their own."""
    return [LOADERS[kind](seed=seed) for seed, kind in enumerate(kinds)]


def pair_of_one_sampler():
    sampler = tendril.MinibatchSampler(graph(), [5, 4], seed=8)
    return [pipeline(seed=seed, sampler=sampler) for seed in range(2)]


PAIRS = {
    "Pipelines": lambda: pair_of("Pipeline", "Pipeline"),
    "Pipelines of one sampler": pair_of_one_sampler,
    "NeighborLoaders": lambda: pair_of("NeighborLoader", "NeighborLoader"),
    "one of each": lambda: pair_of("Pipeline", "NeighborLoader"),
}


def one_after_the_other(pair):
    """Two epochs of both, each epoch with both loaders' batches."""
    found = [each(loader) for loader in pair for _ in range(2)]
    assert len({repr(batch) for epoch in found for batch in epoch}) == 4 * NUM_BATCHES
    return found


@pytest.mark.parametrize("name", PAIRS)
def test_two_loops_in_turn_have_the_batches_of_one_after_the_other(name):
    expected = one_after_the_other(PAIRS[name]())
    pair, found = PAIRS[name](), [[], [], [], []]
    for epoch in range(2):
        for batches in zip(*pair, strict=True):
            for place, batch in enumerate(batches):
                found[2 * place + epoch].append(told(batch))
    assert found == expected


@pytest.mark.parametrize("name", PAIRS)
def test_two_loops_in_two_threads_have_the_batches_of_one_after_the_other(name):
    expected = one_after_the_other(PAIRS[name]())
    together = threading.Barrier(2)

    def epochs(loader):
        made = []
        for _ in range(2):
            together.wait(60)
            made.append(each(loader))
        return made

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(epochs, PAIRS[name]())
    assert [*one, *other] == expected


@of_both
def test_two_loops_over_one_loader_have_an_epoch_each(kind):
    expected = LOADERS[kind]()
    epochs = [each(expected) for _ in range(2)]
    loader = LOADERS[kind]()
    both = [[*map(told, batches)] for batches in zip(loader, loader, strict=True)]
    assert [[*one] for one in zip(*both, strict=True)] == epochs
