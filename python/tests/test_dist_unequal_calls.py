"""A rank that makes one call of all ranks more than another hears that this one has ended, and does not wait for the deadline."""

from __future__ import annotations

import re

import numpy as np
import pytest
from ranks import run_ranks

import tendril
from tendril import dist

GRAPH = tendril.generate.rmat(8, 8, seed=3, symmetrize=True)


def barrier(ranks, parted):
    ranks.barrier()


def walk(ranks, parted):
    dist.Walker(parted, 5, num_threads=1).walk(np.asarray(parted.vertices))


def another_table(ranks, parted):
    dist.FeatureTable(parted, np.ones((GRAPH.num_vertices, 2), np.float32))


@pytest.mark.parametrize("call", [barrier, walk, another_table])
@pytest.mark.parametrize("count", [2, 3])
def test_one_call_more(call, count):
    def work(ranks):
        parted = dist.Graph.cut(ranks, GRAPH)
        call(ranks, parted)
        if ranks.rank == count - 1:
            call(ranks, parted)
        return "done"

    found = run_ranks(count, work, deadline=300)  # a test that waits for it is stopped
    assert isinstance(found[-1], tendril.RankError)
    line = rf"^rank \d of {count} has (ended after \d+ calls|closed), while rank {count - 1} (waits for it in '.+'|begins a call of all)$"
    assert re.match(line, str(found[-1])), str(found[-1])
    assert all(one == "done" or isinstance(one, tendril.RankError) for one in found[:-1])
    assert "done" in found
