"""Our loaders where programs expect Torch's DataLoader, or PyG's own loaders."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from pyg_checks import CITES, check_homogeneous, heterogeneous, homogeneous, same, torch
from torch.utils.data import DataLoader, RandomSampler, SequentialSampler
from torch_geometric import loader as pyg
from torch_geometric.nn import GraphSAGE
from torch_geometric.sampler import BaseSampler, NodeSamplerInput, SamplerOutput

from tendril.pyg import LinkNeighborLoader, NeighborLoader, NeighborSampler


@pytest.fixture(scope="module")
def data():
    return homogeneous()


def test_loaders_are_torchs_and_pygs(data):
    nodes = NeighborLoader(data, [3], torch.arange(50), batch_size=20, drop_last=True, input_id=torch.arange(50))
    links = LinkNeighborLoader(heterogeneous(), [3], CITES, batch_size=20, filter_per_worker=False)
    kinds_of = ((nodes, (pyg.NeighborLoader, pyg.NodeLoader)), (links, (pyg.LinkNeighborLoader, pyg.LinkLoader)))
    for loader, kinds in kinds_of:
        assert isinstance(loader, (DataLoader, *kinds)) and all(isinstance(loader, kind) for kind in kinds)
        assert loader.worker_init_fn is None and loader.timeout == 0 and loader.num_workers == 0
        assert isinstance(loader.sampler, SequentialSampler) and loader.batch_sampler.batch_size == 20
        assert loader.multiprocessing_context is None and not loader.persistent_workers and not loader.pin_memory
    assert nodes.dataset == range(50) and nodes.drop_last and nodes.filter_per_worker and len(nodes) == 2
    assert nodes.input_id is not None and nodes.input_data.input_type is None
    assert len(links.dataset) == links.input_data.row.numel() and not links.filter_per_worker
    assert links.input_data.input_type == CITES and isinstance(links.collate_fn([0]), object)


def test_workers_that_are_not_there_are_not_warned_of(data, recwarn):
    assert NeighborLoader(data, [3], batch_size=20, num_workers=500, prefetch_factor=3).prefetch_factor == 3
    assert not [one for one in recwarn if "worker" in str(one.message)]
    with pytest.raises(ValueError, match="num_workers"):  # as in DataLoader
        NeighborLoader(data, [3], persistent_workers=True)


def test_a_model_infers_layer_by_layer(data):
    torch.manual_seed(1)
    model = GraphSAGE(data.x.size(1), 8, num_layers=2).eval()
    whole = model(data.x, data.edge_index)
    loader = NeighborLoader(data, [-1], batch_size=30)
    for cache in (False, True):
        assert torch.allclose(model.inference(loader, cache=cache), whole, atol=1e-5)


@pytest.mark.parametrize("filter_per_worker", [True, False])
def test_loaders_are_zipped(data, filter_per_worker):
    links = heterogeneous()
    both = [NeighborLoader(data, [3, 2], torch.arange(5, 65)), LinkNeighborLoader(links, [2], CITES)]
    zipped = pyg.ZipLoader(both, batch_size=20, filter_per_worker=filter_per_worker)
    assert zipped.dataset == range(60) and len(zipped) == 3
    for i, (left, right) in enumerate(zipped):
        assert left.input_id.tolist() == right[CITES].input_id.tolist() == list(range(20 * i, 20 * i + 20))
        assert left.n_id[:20].tolist() == list(range(20 * i + 5, 20 * i + 25))
        check_homogeneous(data, left, [3, 2])


def test_parts_of_a_loader_follow_its_order(data):
    """Programs that spread an epoch over processes make a loader of their own from the parts of the given one."""
    loader = NeighborLoader(data, [3], batch_size=30, shuffle=True, seed=4)
    assert isinstance(loader.sampler, RandomSampler) and len(loader.sampler) == len(loader.dataset)
    parts = DataLoader(loader.dataset, batch_sampler=loader.batch_sampler, collate_fn=loader.collate_fn)
    epochs = [[batch.input_id.tolist() for batch in one] for one in (loader, loader)]
    assert epochs[0] != epochs[1]
    for epoch in epochs:
        assert [batch.input_id.tolist() for batch in parts] == epoch
    loader.sampler.set_epoch(0)
    assert list(loader.batch_sampler) == epochs[0]
    drawn = torch.Generator().manual_seed(3)
    loader = NeighborLoader(data, [3], batch_size=30, shuffle=True, generator=drawn)
    state = drawn.get_state()
    own = torch.cat([batch.input_id for batch in loader]).tolist()
    drawn.set_state(state)
    assert [place for batch in loader.batch_sampler for place in batch] == own
    assert len(list(NeighborLoader(data, [3], [], shuffle=True))) == 0


def test_batches_by_collate_fn_are_counted(data):
    loader = NeighborLoader(data, [2, 2], batch_size=20, seed=9)
    made = [loader.collate_fn(list(range(20))) for _ in range(3)]
    for number, batch in enumerate(made):
        same(batch, loader(list(range(20)), batch=number))
    assert not torch.equal(made[0].e_id, made[1].e_id)
    loader.filter_per_worker = False
    out = loader.collate_fn(torch.arange(20))
    assert isinstance(out, SamplerOutput)
    same(loader.filter_fn(out), loader(torch.arange(20), batch=3))


def test_worker_processes_count_apart(data, monkeypatch):
    """They inherit the count of the process that started them, in every epoch anew."""

    def epoch(worker_seed):
        monkeypatch.setattr(torch.utils.data, "get_worker_info", lambda: SimpleNamespace(id=0, seed=worker_seed))
        sampler = NeighborSampler(data, [2])
        return [sampler.sample_from_nodes(NodeSamplerInput(None, torch.arange(60))).edge.tolist() for _ in range(3)]

    first, second = epoch(1000), epoch(1001)
    assert not [one for one in first if one in second] and first == epoch(1000)


def test_methods_of_a_subclass_are_called(data):
    class Mine(NeighborLoader):
        def filter_fn(self, out):
            made = super().filter_fn(out)
            made.mine = True
            return made

    class Theirs(LinkNeighborLoader):
        def collate_fn(self, index):
            return len(index), super().collate_fn(index)

    loader = Mine(data, [2], batch_size=30, shuffle=True)
    orders = [[batch.input_id.tolist() for batch in loader if batch.mine] for _ in range(2)]
    loader = NeighborLoader(data, [2], batch_size=30, shuffle=True)
    assert orders == [[batch.input_id.tolist() for batch in loader] for _ in range(2)]
    assert [count for count, batch in Theirs(data, [2], batch_size=150) if batch.num_nodes] == [150] * 4 + [100]


def test_worker_init_fn_is_called_and_leaves_no_trace(data):
    calls = []

    def seed_worker(number):
        calls.append(number)
        np.random.seed(1)
        random.seed(1)
        torch.manual_seed(1)
        torch.set_num_threads(1)

    def state():
        return random.random(), np.random.rand(), torch.rand(1).item(), torch.get_num_threads()

    def seed_all():
        random.seed(7), np.random.seed(7), torch.manual_seed(7)  # noqa: B018

    options = {"batch_size": 40, "worker_init_fn": seed_worker}
    seed_all()
    expected = state()
    seed_all()
    list(NeighborLoader(data, [2], **options))
    assert calls == []  # as in DataLoader, which has no workers then
    loader = NeighborLoader(data, [2], num_workers=3, **options)
    assert len(list(loader)) == len(list(loader))
    assert calls == [0, 0] and state() == expected
    loader = LinkNeighborLoader(data, [2], num_workers=1, persistent_workers=True, **options)
    assert len(list(loader)) == len(list(loader)) and calls == [0, 0, 0]
    with pytest.raises(ZeroDivisionError):
        list(NeighborLoader(data, [2], num_workers=1, worker_init_fn=lambda number: 1 // number))


def test_threads_of_a_with_block(data):
    loader = NeighborLoader(data, [3, 2], batch_size=40, num_threads=3)
    expected = list(loader)
    loader.set_epoch(0)
    with loader.enable_multithreading(1):
        assert loader.node_sampler.num_threads == 1
        for one, other in zip(loader, expected, strict=True):
            same(one, other)
    assert loader.node_sampler.num_threads == 3
    with pytest.raises(ValueError, match="^worker_threads is"):
        with loader.enable_multithreading("two"):
            pass

    class Theirs(BaseSampler):
        def sample_from_nodes(self, index, **kwargs):
            raise NotImplementedError

        sample_from_edges = sample_from_nodes

        @property
        def edge_permutation(self):
            return None

    theirs = NeighborLoader(data, [], neighbor_sampler=Theirs())
    for block in (theirs.enable_multithreading, theirs.enable_cpu_affinity):
        with pytest.raises(ValueError, match="^enable_[a-z_]*: .*expected"):
            with block():
                pass


class Watching(NeighborSampler):
    """Notes the cores of the thread that samples."""

    def sample_from_nodes(self, *args, **kwargs):
        self.seen = os.sched_getaffinity(0)
        return super().sample_from_nodes(*args, **kwargs)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="threads can't be kept on cores here")
def test_cores_of_a_with_block(data):
    allowed = os.sched_getaffinity(0)
    last = max(allowed)
    sampler = Watching(data, [3])
    loader = NeighborLoader(data, [3], batch_size=40, neighbor_sampler=sampler, bulk=1)
    for cores, expected in ((None, {min(allowed)}), ([last], {last}), ([[min(allowed)], [last]], {min(allowed), last})):
        with loader.enable_cpu_affinity(cores):
            list(loader)
        assert sampler.seen == expected and os.sched_getaffinity(0) == allowed
    list(loader)
    assert sampler.seen == allowed
    for wrong in ([], [max(allowed) + 1], ["a"]):
        with pytest.raises(ValueError, match="loader_cores"):
            with loader.enable_cpu_affinity(wrong):
                pass
    with pytest.raises(ValueError, match="expected prefetch of 1 or more"):
        with NeighborLoader(data, [3], prefetch=0).enable_cpu_affinity():
            pass


def test_nothing_of_the_extension_is_kept_when_the_interpreter_ends():
    """Not even by an array that is never let go of, in the place where arrays on a GPU have their readers."""
    script = """
import atexit, ctypes, weakref
atexit.register(lambda: print(len(_gather._readers)))  # the last one that is called
import numpy as np, torch
import tendril
from tendril.pyg import _gather
x = torch.zeros(5, 3)
ctypes.pythonapi.Py_IncRef(ctypes.py_object(x))
table = tendril.FeatureTable(np.zeros((4, 3), np.float32))
_gather._readers[id(x), 0] = weakref.ref(x), None, table._core
"""
    command = [sys.executable, "-W", "ignore", "-c", script]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")
