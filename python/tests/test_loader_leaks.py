"""Loops over a Pipeline or a NeighborLoader keep nothing: no threads, no open files, no memory, however they end."""

from __future__ import annotations

import gc
import os
import threading

import pytest
from both_loaders import LOADERS, NUM_BATCHES, NUM_COLUMNS, PlantedError, fail_in_loop, nodes_of, of_both
from memory_held import bytes_of
from threads_left import expect_no_more_native, expect_none_left, native_threads

EPOCHS = 102  # of three kinds


def epochs(loader):
    """Whole ones, some that are left early, and some whose body raises."""
    for epoch in range(EPOCHS):
        last = epoch % NUM_BATCHES
        if epoch % 3 == 2:
            with pytest.raises(PlantedError):
                fail_in_loop(loader, last)
            continue
        for number, _ in enumerate(loader):
            if epoch % 3 == 1 and number == last:
                break
    gc.collect()  # pytest.raises makes cycles


def num_open_files():
    return len(os.listdir("/proc/self/fd"))


@of_both
@pytest.mark.parametrize("prefetch", [0, 2])
def test_nothing_leaks_over_many_epochs(kind, prefetch):
    """The rows of an epoch's batches take 14 MB, which is the bound: one batch in ten epochs may be lost, which is more than
    what allocators keep for later (3 MB). A batch that every epoch loses takes 138 MB."""
    loader, threads = LOADERS[kind](prefetch=prefetch), threading.active_count()
    bound = sum(len(nodes_of(batch)) * NUM_COLUMNS * 4 for batch in loader)
    assert 10 << 20 < bound < 20 << 20
    epochs(loader)  # until allocators have what they need
    expect_none_left(threads)
    natives, files, memory = native_threads(), num_open_files(), bytes_of("VmRSS")
    epochs(loader)
    expect_none_left(threads)
    expect_no_more_native(natives)
    assert num_open_files() <= files
    assert bytes_of("VmRSS") - memory < bound
