"""A Pipeline and a NeighborLoader over one graph and one table, for tests of what holds for both, here and in processes that
the tests start."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tendril

NUM_VERTICES, NUM_COLUMNS = 2000, 256
NUM_BATCHES = 10  # of an epoch


@cache
def graph():
    return tendril.generate.powerlaw(NUM_VERTICES, 2.3, 6, 400, symmetrize=True, drop_self_loops=True, drop_duplicates=True)


@cache
def table():
    return tendril.FeatureTable(np.random.default_rng(0).random((NUM_VERTICES, NUM_COLUMNS), dtype=np.float32))


@cache
def data():
    """The graph and the table as PyG has them."""
    from pyg_checks import Data, torch  # skips the test where they are missing

    made = graph()
    target = torch.repeat_interleave(torch.arange(NUM_VERTICES), torch.from_numpy(made.degrees()))
    edge_index = torch.stack([torch.from_numpy(made.indices.astype(np.int64)), target])
    return Data(x=table(), edge_index=edge_index, num_nodes=NUM_VERTICES)


def pipeline(seed=3, x=None, sampler=None, **options):
    sampler = tendril.MinibatchSampler(graph(), [5, 4], seed=seed) if sampler is None else sampler
    settings = {"batch_size": NUM_VERTICES // NUM_BATCHES, "shuffle": True, "seed": seed, **options}
    return tendril.Pipeline(sampler, np.arange(NUM_VERTICES), features={"x": table() if x is None else x}, **settings)


def neighbor_loader(seed=3, x=None, **options):
    given = data()
    from tendril.pyg import NeighborLoader

    if x is not None:
        given = given.clone()
        given.x = x
    settings = {"batch_size": NUM_VERTICES // NUM_BATCHES, "shuffle": True, "seed": seed, **options}
    return NeighborLoader(given, [5, 4], **settings)


LOADERS = {"Pipeline": pipeline, "NeighborLoader": neighbor_loader}
of_both = pytest.mark.parametrize("kind", LOADERS)


def nodes_of(batch):
    return batch.minibatch.node if isinstance(batch, tendril.PipelineBatch) else batch.n_id


def told(batch):
    """All that a batch holds, as something to compare."""
    if not isinstance(batch, tendril.PipelineBatch):
        from pyg_digests import digest

        return digest([batch])
    small = batch.minibatch
    arrays = (small.node, small.row, small.col, small.edge, batch.index, batch.features["x"])
    return batch.number, [np.asarray(one).tobytes() for one in arrays]


def each(loader):
    return [told(batch) for batch in loader]


class PlantedError(Exception):
    """What the tests raise in the body of a loop."""


def fail_in_loop(loader, after):
    """A loop over an epoch whose body raises, with batch `after` in hand."""
    for number, _ in enumerate(loader):
        if number == after:
            raise PlantedError
    raise AssertionError("the epoch has fewer batches")


@contextmanager
def running(script, seconds=120, **options):
    """A process that runs the script, which may import what this folder has. It is killed at the end of the block, and if it
    hangs: after `seconds`."""
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **options.pop("env", {})}
    command = [sys.executable, "-c", textwrap.dedent(script)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    child = subprocess.Popen(command, env=environment, **pipes, **options)
    watchdog = threading.Timer(seconds, child.kill)
    watchdog.start()
    try:
        yield child
    finally:
        watchdog.cancel()
        child.kill()
        child.communicate()
