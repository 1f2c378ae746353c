"""What PyG's loaders offer about worker processes, for loaders whose batches a thread makes."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from tendril._errors import ArgumentError
from tendril._params import integer

from ._sampler import NeighborSampler


class Processors:
    """The part of a loader that decides which threads and cores make its batches. There are no worker processes."""

    num_workers: int
    persistent_workers: bool
    prefetch: int
    worker_init_fn: Callable[[int], None] | None
    _engine: Any

    _cores: frozenset[int] | None = None
    """The cores of the thread that makes batches; None: all that the process may use."""
    _worker_began = False

    def check_worker_number_rationality(self) -> None:
        """Nothing to check: `torch.utils.data.DataLoader` warns here of more worker processes than cores."""

    def _begin_worker(self) -> None:
        """Calls `worker_init_fn` where DataLoader calls it in each worker, once, as worker 0. It often seeds random
        generators or sets a number of threads for its process, which is the user's own here: these are put back."""
        if self.num_workers == 0 or self.worker_init_fn is None or (self.persistent_workers and self._worker_began):
            return
        self._worker_began = True
        threads, of_python, of_numpy = torch.get_num_threads(), random.getstate(), np.random.get_state()
        try:
            with torch.random.fork_rng(devices=[]):
                self.worker_init_fn(0)
        finally:
            torch.set_num_threads(threads)
            random.setstate(of_python)
            np.random.set_state(of_numpy)

    @contextmanager
    def enable_multithreading(self, worker_threads: int | None = None) -> Iterator[None]:
        """Sample with a number of threads inside a ``with`` block. Batches don't depend on it.

        PyG sets the threads of each worker process here, and therefore needs ``num_workers`` and the start method
        "spawn"; this loader needs neither. Outside the block ``num_threads`` counts.

        Parameters
        ----------
        worker_threads : int, optional
            Default: every core the process may use.
        """
        if not isinstance(self._engine, NeighborSampler):
            raise ArgumentError(
                f"enable_multithreading: the sampler is a {type(self._engine).__name__}, expected Tendril's"
            )
        before = self._engine.num_threads
        self._engine.num_threads = 0 if worker_threads is None else integer(worker_threads, "worker_threads")
        try:
            yield
        finally:
            self._engine.num_threads = before

    @contextmanager
    def enable_cpu_affinity(self, loader_cores: Sequence[Any] | None = None) -> Iterator[None]:
        """Make the batches of the iterations that begin inside a ``with`` block on some cores alone.

        PyG gives each worker process its cores; here the thread that makes the batches, and the threads that sample for
        it, share all of them. The thread that iterates stays as it is.

        Parameters
        ----------
        loader_cores : list of int, or of lists of int, optional
            Numbers of cores. Default: the first ``num_workers`` of those that the process may use, at least one.
        """
        if not hasattr(os, "sched_setaffinity"):
            raise ArgumentError("enable_cpu_affinity: this system can't keep a thread on chosen cores")
        if self.prefetch == 0 or not isinstance(self._engine, NeighborSampler):
            raise ArgumentError(
                "enable_cpu_affinity: no thread makes batches ahead, expected prefetch of 1 or more, "
                "and Tendril's sampler"
            )
        allowed = os.sched_getaffinity(0)
        if loader_cores is None:
            cores = sorted(allowed)[: max(1, self.num_workers)]
        else:
            cores = [
                integer(one, "a core of loader_cores")
                for many in loader_cores
                for one in (many if isinstance(many, (list, tuple)) else [many])
            ]
        for core in cores:
            if core not in allowed:
                raise ArgumentError(f"loader_cores has {core}, expected cores of {sorted(allowed)}")
        if not cores:
            raise ArgumentError("loader_cores is empty, expected one core or more")
        before, self._cores = self._cores, frozenset(cores)
        try:
            yield
        finally:
            self._cores = before
