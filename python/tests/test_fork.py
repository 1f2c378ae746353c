"""A process that was forked after the library had used threads goes on with one thread, and the same results."""

from __future__ import annotations

import multiprocessing
import os
import sys
import traceback

import numpy as np
import pytest

import calls
import tendril
from tendril import _gpu, _tendril
from tendril._ahead import ahead

forking = multiprocessing.get_context("fork")


def in_child(work, seconds=120):
    """What ``work`` returns in a forked process; None if it hangs."""
    mine, other = forking.Pipe(duplex=False)

    def run():
        try:
            other.send(("done", work()))
        except BaseException as error:  # noqa: BLE001: the parent shows it
            other.send(("failed", "".join(traceback.format_exception(error))))

    child = forking.Process(target=run)
    child.start()
    told = mine.recv() if mine.poll(seconds) else ("hung", None)
    child.kill()
    child.join()
    assert told[0] == "done", told
    return told[1]


def use_threads(graph):
    """Leaves a pool of threads behind."""
    tendril.random_walk(graph, np.zeros(50_000, np.int64), length=5, num_threads=4)


def flat(result):
    """The arrays of a result, as bytes."""
    if isinstance(result, (np.ndarray, np.generic)):
        return np.ascontiguousarray(result).tobytes()
    if isinstance(result, (list, tuple)):
        return [flat(one) for one in result]
    if isinstance(result, dict):
        return {key: flat(one) for key, one in result.items()}
    if hasattr(result, "__dataclass_fields__"):
        return [flat(getattr(result, name)) for name in result.__dataclass_fields__]
    if isinstance(result, tendril.Clusters):
        return flat(result.__reduce__()[1])
    return result


@pytest.mark.parametrize("num_threads", [0, 4])
def test_every_sampler_works_in_a_forked_process(graph, num_threads):
    use_threads(graph)

    def run():
        made = {}
        for name, (function, arguments) in calls.samplers(graph).items():
            workers = {} if name in ("sample", "num_negatives") else {"num_threads": num_threads}
            made[name] = flat(function(**arguments, **workers))
        return made

    expected = run()
    found = in_child(run)
    assert found.keys() == expected.keys()
    for name in expected:
        assert found[name] == expected[name], name


def test_graphs_are_made_read_and_written_in_a_forked_process(graph, tmp_path):
    use_threads(graph)

    def run():
        made = [function(**arguments).indices.tolist() for function, arguments in calls.generators().values()]
        for name, (function, arguments) in calls.files(graph, tmp_path).items():
            function(**arguments)
            made.append(name)
        return made

    assert run() == in_child(run)


def test_a_sampler_of_the_parent_works_in_its_children(graph):
    use_threads(graph)
    sampler = tendril.MinibatchSampler(graph, [3, 2], num_threads=4)
    seeds = np.arange(40)

    def run():
        return [one.node.tolist() for one in sampler.sample_batches(seeds, 5)]

    assert in_child(run) == run() == in_child(lambda: in_child(run))  # and in theirs


def test_the_library_knows_a_forked_process(graph):
    assert not _tendril.forked()
    assert in_child(_tendril.forked)
    assert not _tendril.forked()


def test_a_gpu_used_by_the_parent_is_refused_with_one_line(graph, monkeypatch):
    monkeypatch.setattr(_gpu, "_user", os.getpid())

    def run():
        lines = []
        for call in (
            lambda: tendril.random_walk(graph, device="cuda"),
            lambda: graph.to("cuda"),
            lambda: tendril.gpu_info(),
            lambda: tendril.MinibatchSampler(graph, [2], device="cuda"),
        ):
            try:
                call()
            except tendril.DeviceError as error:
                lines.append(str(error))
        return lines

    lines = in_child(run)
    assert len(lines) == 4
    for line in lines:
        assert "forked" in line
        assert "'spawn' or 'forkserver'" in line
        assert "\n" not in line


def test_workers_of_a_data_loader_sample(graph):
    torch = pytest.importorskip("torch")
    use_threads(graph)
    sampler = tendril.MinibatchSampler(graph, [3, 2], seed=1)

    class Batches(torch.utils.data.Dataset):
        def __len__(self):
            return 10

        def __getitem__(self, i):
            return sampler.sample([i, i + 1], batch=i).node

    expected = [sampler.sample([i, i + 1], batch=i).node.tolist() for i in range(10)]
    for method in ("fork", "spawn"):
        if method == "spawn":
            data = _Sampled(sampler)
        else:
            data = Batches()
        loader = torch.utils.data.DataLoader(
            data, batch_size=None, num_workers=2, multiprocessing_context=method, timeout=120
        )
        assert [batch.tolist() for batch in loader] == expected


class _Sampled:
    """A data set that spawned processes can import."""

    def __init__(self, sampler):
        self.sampler = sampler

    def __len__(self):
        return 10

    def __getitem__(self, i):
        return self.sampler.sample([i, i + 1], batch=i).node


def test_threads_are_one_after_fork_whatever_openmp_does(graph):
    """Another library of the process may have used OpenMP before: Torch has the same runtime."""
    torch = pytest.importorskip("torch")
    torch.ones(1_000_000).sum()
    expected = tendril.random_walk(graph, np.zeros(50_000, np.int64), length=5, seed=2)[0]
    found = in_child(lambda: tendril.random_walk(graph, np.zeros(50_000, np.int64), length=5, seed=2, num_threads=4)[0])
    assert np.array_equal(found, expected)
    assert "torch" in sys.modules


def test_iterations_have_threads_of_their_own_in_a_child():
    """Neither those that idle in the parent nor those at work are there."""
    idle = [one for one, _ in ahead(iter(range(5)), 2)]
    left = ahead(iter(range(5)), 2)
    assert next(left) == (0, None)

    def work():
        left.close()
        return [one for one, _ in ahead(iter(range(5)), 2)]

    assert in_child(work) == idle == [*range(5)]
    assert [one for one, _ in left] == [1, 2, 3, 4]
