"""tendril.pyg on a GPU: the batches of the CPU, on the GPU; features from wherever they are. Skipped without a GPU."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from pyg_checks import CITES, WRITES, WRITTEN, heterogeneous, homogeneous, same, torch
from pyg_digests import EPOCHS, check_digest
from torch_geometric.data import Data
from torch_geometric.sampler import NodeSamplerInput

import tendril
from tendril.pyg._loader import _AHEAD_OF_GPU
from tendril.pyg._outputs import lasting_of
from tendril.pyg import LinkNeighborLoader, NeighborLoader, NeighborSampler

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(tendril.num_gpus() == 0 or not torch.cuda.is_available(), reason="no GPU, or Torch sees none"),
]


def on_gpu(batch):
    for store in batch.stores:
        for key in store.keys():  # noqa: SIM118: a store isn't a dict
            if isinstance(store[key], torch.Tensor):
                assert store[key].device == torch.device("cuda", 0), key
    return True


def nodes(data, **options):
    return NeighborLoader(data, [4, 3], batch_size=8, shuffle=True, **options)


def with_times(data):
    data.made = torch.randint(50, (700,), generator=torch.Generator().manual_seed(1))
    return data


LOADERS = {
    "plain": lambda d, **o: nodes(d, **o),
    "padded": lambda d, **o: nodes(d, pad="epoch", **o),
    "disjoint": lambda d, **o: nodes(d, disjoint=True, **o),
    "induced": lambda d, **o: nodes(d, subgraph_type="induced", **o),
    "bidirectional": lambda d, **o: nodes(d, subgraph_type="bidirectional", **o),
    "twice": lambda d, **o: nodes(d, input_nodes=[1, 2, 1, 1, 3, 2] * 5, **o),
    "labor": lambda d, **o: nodes(d, choice="labor", **o),
    "times": lambda d, **o: nodes(with_times(d), time_attr="made", input_time=torch.arange(100) % 50, **o),
    "links": lambda d, **o: LinkNeighborLoader(d, [4, 3], batch_size=64, **o),
    "binary": lambda d, **o: LinkNeighborLoader(d, [4, 3], batch_size=64, neg_sampling="binary", **o),
    "triplet": lambda d, **o: LinkNeighborLoader(d, [4], batch_size=64, neg_sampling="triplet", disjoint=True, **o),
}
PLACES = {
    "features on the host": (lambda d: d, {"device": "cuda"}),
    "features on the GPU": (lambda d: d.to("cuda"), {}),
    "features page-locked": (lambda d: d.pin_memory(), {"device": "cuda"}),
    "bulk": (lambda d: d.to("cuda"), {"bulk": 5}),
    "one by one": (lambda d: d, {"device": torch.device("cuda", 0), "bulk": 1, "prefetch": 0}),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("loader", LOADERS)
def test_batches_are_those_of_the_cpu(loader, place):
    move, options = PLACES[place]
    here = list(LOADERS[loader](homogeneous(), **({"seed": 4})))
    there = list(LOADERS[loader](move(homogeneous()), seed=4, **options))
    assert len(here) == len(there) > 1
    for one, other in zip(here, there, strict=True):
        assert on_gpu(other)
        same(one, other.to("cpu"))


@pytest.mark.parametrize("place", PLACES)
def test_several_types(place):
    move, options = PLACES[place]
    for make in (
        lambda d, **o: NeighborLoader(d, [4, 3], "paper", batch_size=7, **o),
        lambda d, **o: NeighborLoader(d, [4, 3], "paper", batch_size=7, disjoint=True, choice="labor", **o),
        lambda d, **o: NeighborLoader(d, {CITES: [2, 0], WRITES: [0, 0], WRITTEN: [3, 1]}, "paper", batch_size=7, **o),
        lambda d, **o: NeighborLoader(d, [], "paper", batch_size=7, **o),
        lambda d, **o: LinkNeighborLoader(d, [4, 3], WRITES, batch_size=50, neg_sampling="binary", **o),
        lambda d, **o: LinkNeighborLoader(d, [4], CITES, batch_size=50, **o),
    ):
        here, there = list(make(heterogeneous())), list(make(move(heterogeneous()), **options))
        for one, other in zip(here, there, strict=True):
            assert on_gpu(other)
            same(one, other.to("cpu"))


@pytest.mark.parametrize("room", [3000, 6000])
def test_graphs_without_room_are_placed(room, monkeypatch):
    monkeypatch.setattr(tendril._gpu, "graph_room", lambda: room)
    for make, data in (
        (lambda d, **o: NeighborLoader(d, [4, 3], "paper", batch_size=7, **o), heterogeneous),
        (lambda d, **o: LinkNeighborLoader(d, [4, 3], WRITES, batch_size=50, neg_sampling="binary", **o), heterogeneous),
        (LOADERS["plain"], homogeneous),
        (LOADERS["disjoint"], homogeneous),
    ):
        loader = make(data(), device="cuda")
        here = list(make(data()))
        for one, other in zip(here, loader, strict=True):
            assert on_gpu(other)
            same(one, other.to("cpu"))
    assert NeighborSampler(heterogeneous(), [4, 3], device="cuda")._graph.placement is not None


WAYS = [{}, {"bulk": 1}, {"bulk": 4}, {"bulk": 1, "executor": "hops"}, {"bulk": 1, "executor": "graph"}]


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("edges", ["on the GPU", "on the host"])
@pytest.mark.parametrize("epoch", EPOCHS)
def test_an_epoch_has_the_digest_of_the_cpu(epoch, edges, way):
    if edges == "on the GPU":
        check_digest(epoch, lambda data: data.to("cuda"), **way)
    else:
        check_digest(epoch, device="cuda", **way)


MEMORY = {
    "pageable": lambda data: data,
    "page-locked": lambda data: data.pin_memory(),
    "on the GPU": lambda data: data.to("cuda"),
}


@pytest.mark.parametrize("memory", MEMORY)
def test_batches_are_finished_for_the_stream_that_uses_them(memory):
    """A long kernel in the way of each use; memory that came back too early would be written by the next batches."""
    data = homogeneous(2000, 40000)
    expected = [batch.x.sum().item() for batch in NeighborLoader(data, [10, 10], batch_size=50)]
    found, stream = [], torch.cuda.Stream()
    data = MEMORY[memory](data)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        for batch in NeighborLoader(data, [10, 10], batch_size=50, device="cuda", prefetch=8):
            torch.cuda._sleep(5_000_000)
            found.append(batch.x.sum())
            del batch
    stream.synchronize()
    assert [one.item() for one in found] == expected


@pytest.mark.parametrize("cache", [None, 0.2])
def test_batches_do_not_depend_on_who_gathers(cache, monkeypatch):
    """The part of the rows that the GPU reads beside the CPU is another one in each batch."""
    monkeypatch.setattr("tendril._host_way._LEAST_BYTES", 0)
    data = Data(x=torch.randn(4000, 100), edge_index=homogeneous(4000, 80000).edge_index).pin_memory()
    options = {"num_neighbors": [10, 5], "batch_size": 100, "device": "cuda", "bulk": 4}
    loader = NeighborLoader(data, cache=None if cache is None else tendril.FeatureCache(cache), **options)
    loader._host_way.choose("cpu")
    expected = [data.x[batch.n_id.cpu()] for batch in NeighborLoader(data, **options)]
    found = []
    for i, batch in enumerate(loader):
        loader._host_way._shares.gpu_part = [0.0, 0.3, 0.9, 0.05][i % 4]
        found.append(batch.x)
    for one, other in zip(found, expected, strict=True):
        assert torch.equal(one.cpu(), other)


def test_the_gpu_is_asked_for_no_rows_that_it_cannot_read(tmp_path, monkeypatch):
    monkeypatch.setattr("tendril._host_way._LEAST_BYTES", 0)
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((4000, 100), np.float32))
    edges = homogeneous(4000, 80000).edge_index
    in_file = Data(x=np.load(tmp_path / "x.npy", mmap_mode="r"), edge_index=edges, num_nodes=4000)
    locked = Data(x=torch.from_numpy(np.load(tmp_path / "x.npy")), edge_index=edges).pin_memory()
    for data, part in ((in_file, 0), (locked, 0.5)):
        loader = NeighborLoader(data, num_neighbors=[10, 5], batch_size=100, device="cuda")
        way = loader._host_way
        monkeypatch.setattr(way._shares, "end_gather", lambda on_trial, work: None)  # the part stays as it is
        way.choose("cpu")
        way._shares.gpu_part = 0.5
        for batch in loader:
            assert torch.equal(batch.x.cpu(), torch.as_tensor(data.x[batch.n_id.cpu().numpy()]))
        assert way.gpu_part == part


def test_stats_tell_who_brings_rows_of_the_host():
    data = Data(x=torch.randn(400, 100), edge_index=homogeneous(400, 8000).edge_index)
    for kept, told in ((data.clone().pin_memory(), "cpu, "), (data.to("cuda"), "")):
        loader = NeighborLoader(kept, num_neighbors=[3], batch_size=100, device="cuda")
        assert len(list(loader)) == 4
        assert loader.stats().host_rows.startswith(told) and bool(loader.stats().host_rows) == bool(told)
        assert ("rows of the host by" in str(loader.stats())) == bool(told)


def test_a_loop_that_waits_for_nothing_has_memory_for_few_batches():
    """Gathers over the bus are enqueued: a loop that is quicker than they are must not have memory for all of them."""
    data = Data(x=torch.ones(4000, 4096), edge_index=homogeneous(4000, 80000).edge_index).pin_memory()
    loader = NeighborLoader(data, [5, 5], batch_size=40, device="cuda", bulk=4)
    for _ in range(2):
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before, largest = torch.cuda.memory_stats()["active_bytes.all.current"], 0
        for batch in loader:
            largest = max(largest, batch.x.nbytes)
        del batch
    assert len(loader) == 100 and largest > 4 << 20
    assert torch.cuda.memory_stats()["active_bytes.all.peak"] - before < 12 * largest


def test_a_loop_is_a_few_steps_ahead_of_its_gpu():
    marks, most = [], 0
    for _ in NeighborLoader(homogeneous(), [4], batch_size=2, device="cuda"):
        most = max(most, sum(not one.query() for one in marks[-20:]))
        torch.cuda._sleep(20_000_000)  # cycles: some ten milliseconds
        marks.append(torch.cuda.Event())
        marks[-1].record()
        if len(marks) == 40:
            break
    assert most == _AHEAD_OF_GPU


def tensors_of(out):
    for value in vars(out).values():
        yield from (one for one in (value.values() if isinstance(value, dict) else [value]) if isinstance(one, torch.Tensor))


@pytest.mark.parametrize("make", [homogeneous, heterogeneous])
@pytest.mark.parametrize("options", [{}, {"disjoint": True, "choice": "labor"}], ids=str)
def test_batches_made_together_are_tensors_of_their_own(make, options):
    """They share memory, but not what Torch notes of writes, of which it tells who trains on another batch."""
    data, kind = make(), None if make is homogeneous else "paper"
    sampler = NeighborSampler(data, [3, 2], device="cuda", **options)
    index = NodeSamplerInput(None, torch.arange(30), None, kind)
    outs, again = sampler.sample_batches(index, 7, 5), sampler.sample_batches(index, 7, 5)
    assert len(outs) == 5
    for i in (0, 2):
        for one in tensors_of(outs[i]):
            one.zero_()
    for i in (1, 3, 4):
        known = lasting_of(outs[i])
        for one, other in zip(tensors_of(outs[i]), tensors_of(again[i]), strict=True):
            assert one.is_cuda and torch.equal(one, other) and one._version == 0 and one._base is None
            assert id(one) in known


def test_a_model_trains():
    from torch_geometric.nn import SAGEConv

    data = homogeneous()
    data.y = data.y % 3
    model = SAGEConv(1, 3).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for batch in nodes(data, device="cuda"):
        out = model(batch.x, batch.edge_index)[: batch.batch_size]
        loss = torch.nn.functional.cross_entropy(out, batch.y[: batch.batch_size])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert torch.isfinite(loss)


def test_the_sampler_in_pygs_loader():
    from torch_geometric.loader import NodeLoader

    data = homogeneous().to("cuda")
    sampler = NeighborSampler(data, [4, 3])
    assert sampler.edge_permutation.is_cuda
    for one, other in zip(NodeLoader(data, sampler, batch_size=25), nodes_in_order(), strict=True):
        assert one.edge_index.is_cuda and one.x.is_cuda
        assert torch.equal(one.n_id.cpu(), other.n_id) and torch.equal(one.e_id.cpu(), other.e_id)


def nodes_in_order():
    return NeighborLoader(homogeneous(), [4, 3], batch_size=25)


@pytest.mark.parametrize("left", [False, True], ids=["", "left early"])
def test_nothing_of_the_extension_is_kept_when_the_interpreter_ends(left):
    script = f"""
import ctypes
import torch, tendril
from torch_geometric.data import Data
from tendril.pyg import NeighborLoader
x, edges = torch.randn(500, 40).pin_memory(), torch.randint(500, (2, 4000))
ctypes.pythonapi.Py_IncRef(ctypes.py_object(x))  # an array that is never let go of
data = Data(x=x, y=torch.arange(500), edge_index=edges)
loader = NeighborLoader(data, [4, 3], batch_size=20, device="cuda", cache=tendril.FeatureCache(0.2), pad="epoch")
for batch in loader:
    if {left}:
        break
"""
    command = [sys.executable, "-W", "ignore", "-c", script]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
