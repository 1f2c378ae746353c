"""A training goes on where it was interrupted, and ranks share an epoch: the batches are those of one loader that
nothing interrupts."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading

import pytest
from pyg_checks import heterogeneous, homogeneous, numbers, torch
from pyg_digests import digest
from threads_left import expect_none_left
from torch.utils.data import RandomSampler
from torch.utils.data.distributed import DistributedSampler

from tendril.pyg import (
    ClusterData,
    ClusterLoader,
    GraphSAINTEdgeSampler,
    HGTLoader,
    ImbalancedSampler,
    LinkNeighborLoader,
    NeighborLoader,
    ShaDowKHopSampler,
)


def neighbours(**options):
    return NeighborLoader(homogeneous(), [4, 3], **{"batch_size": 9, "shuffle": True, "seed": 5, **options})


def clusters(**options):
    cut = ClusterData(homogeneous(), 20, log=False)
    return ClusterLoader(cut, **{"batch_size": 2, "shuffle": True, "seed": 5, **options})


class Changed(NeighborLoader):
    """A subclass, whose batches are made by its own methods."""

    def filter_fn(self, out):
        made = super().filter_fn(out)
        made.y += 1
        return made


class Stateful(RandomSampler):
    """A sampler of the user's that torchdata could resume, too."""

    def __init__(self, count, seed):
        super().__init__(range(count), generator=torch.Generator().manual_seed(seed))

    def state_dict(self):
        return {"generator": self.generator.get_state()}

    def load_state_dict(self, state):
        self.generator.set_state(state["generator"])


def drawn(**options):
    return neighbours(generator=torch.Generator().manual_seed(3), **options)


LOADERS = {
    "vertices": neighbours,
    "in order": lambda **options: neighbours(shuffle=False, **options),
    "without the last": lambda **options: neighbours(drop_last=True, **options),
    "not ahead": lambda **options: neighbours(prefetch=0, bulk=1, **options),
    "far ahead": lambda **options: neighbours(prefetch=7, bulk=3, **options),
    "users' functions": lambda **options: neighbours(transform_sampler_output=lambda out: out, **options),
    "a subclass": lambda **options: Changed(homogeneous(), [4, 3], batch_size=9, shuffle=True, seed=5, **options),
    "several types": lambda **options: NeighborLoader(
        heterogeneous(), [4, 3], "paper", batch_size=7, shuffle=True, **options
    ),
    "links": lambda **options: LinkNeighborLoader(
        homogeneous(), [3, 2], neg_sampling="binary", batch_size=90, shuffle=True, **options
    ),
    "hgt": lambda **options: HGTLoader(heterogeneous(), [3, 3], "paper", batch_size=7, shuffle=True, **options),
    "a generator": drawn,
    "classes": lambda **options: NeighborLoader(
        homogeneous(), [3], batch_size=9, sampler=ImbalancedSampler((numbers(100) > 80).long(), seed=2), **options
    ),
    "a sampler with an epoch": lambda **options: NeighborLoader(
        homogeneous(), [3], batch_size=9, sampler=DistributedSampler(range(100), 1, 0, seed=4), **options
    ),
    "a sampler with a state": lambda **options: NeighborLoader(
        homogeneous(), [3], batch_size=9, sampler=Stateful(100, 8), **options
    ),
    "lists": lambda **options: NeighborLoader(
        homogeneous(), [3], batch_sampler=[[i, i + 40] for i in range(11)], **options
    ),
    "shadow": lambda **options: ShaDowKHopSampler(
        homogeneous(), depth=2, num_neighbors=2, batch_size=13, shuffle=True, seed=5, **options
    ),
    "shadow by a generator": lambda **options: ShaDowKHopSampler(
        homogeneous(), 2, 2, batch_size=13, shuffle=True, generator=torch.Generator().manual_seed(3), **options
    ),
    "saint": lambda **options: GraphSAINTEdgeSampler(homogeneous(), batch_size=9, num_steps=19, seed=5, **options),
    "clusters": clusters,
}


@pytest.fixture(autouse=True)
def no_metis(monkeypatch):
    monkeypatch.setattr(ClusterData, "_metis", lambda self, edge_index, count: torch.arange(count) % 20)


def each(loader):
    return [digest([batch]) for batch in loader]


def stored(state):
    """What a checkpoint gives back."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file)


@pytest.mark.parametrize("name", LOADERS)
def test_a_resumed_loader_makes_the_rest(name):
    make = LOADERS[name]
    whole = make()
    epochs = [each(whole) for _ in range(3)]
    size = len(whole)
    assert [len(epoch) for epoch in epochs] == [size] * 3 and size > 5
    assert len({*sum(epochs, [])}) > 2 * size  # some have nothing to draw, and are the same in every epoch
    for done in (0, 1, size // 2, size - 1, size):
        interrupted = make()
        each(interrupted)
        iteration = iter(interrupted)
        assert [digest([next(iteration)]) for _ in range(done)] == epochs[1][:done]
        state = stored(interrupted.state_dict())
        assert (state["epoch"], state["batch"], state["batches"]) == (1, done, size)
        del iteration, interrupted
        resumed = make()
        resumed.load_state_dict(state)
        told = resumed.state_dict()
        assert resumed.epoch == 1 and len(resumed) == size and [*told] == [*state]
        assert all(told[key] == state[key] for key in ("seed", "epoch", "batch", "batches"))
        assert each(resumed) == epochs[1][done:]
        assert (resumed.state_dict()["epoch"], resumed.state_dict()["batch"]) == (2, 0)
        assert each(resumed) == epochs[2]


@pytest.mark.parametrize("name", LOADERS)
def test_between_two_epochs_a_loader_resumes_the_next(name):
    make = LOADERS[name]
    first = make()
    each(first)
    state = stored(first.state_dict())
    second = each(first)
    resumed = make()
    resumed.load_state_dict(state)
    assert each(resumed) == second


def test_a_state_is_json_where_seeds_decide_the_order():
    loader = neighbours()
    next(iter(loader))
    again = neighbours()
    again.load_state_dict(json.loads(json.dumps(loader.state_dict())))
    assert again.state_dict() == loader.state_dict() == {"version": 1, "seed": 5, "epoch": 0, "batch": 1, "batches": 12}


def test_a_resumed_loader_may_be_interrupted_again():
    epoch = each(neighbours())
    state, found = neighbours().state_dict(), []
    while state["epoch"] == 0:
        loader = neighbours()
        loader.load_state_dict(state)
        for _, batch in zip(range(5), loader, strict=False):
            found.append(digest([batch]))
        state = loader.state_dict()
        if state["batch"] == len(loader):  # at the end of an epoch, whose end was not asked for
            assert each(loader) and loader.epoch == 2
            break
    assert found == epoch


def test_the_iteration_that_began_last_counts():
    loader = neighbours()
    first = iter(loader)
    next(first), next(first)
    second = iter(loader)
    next(second)
    next(first)
    assert (loader.state_dict()["epoch"], loader.state_dict()["batch"]) == (1, 1)
    loader.set_epoch(4)
    assert (loader.state_dict()["epoch"], loader.state_dict()["batch"]) == (4, 0)
    for batch in loader:
        assert batch.batch_size == 9
        break
    assert (loader.state_dict()["epoch"], loader.state_dict()["batch"], loader.epoch) == (4, 1, 5)


def test_what_is_done_is_not_sampled_again():
    made = []

    class Counted(NeighborLoader):
        def collate_fn(self, index):
            made.append(len(index))
            return super().collate_fn(index)

    loader = Counted(homogeneous(), [2], batch_size=10)
    loader.load_state_dict({**loader.state_dict(), "batch": 8})
    assert len(list(loader)) == len(made) == 2


def test_a_state_of_another_loader_is_refused():
    loader = neighbours()
    state = loader.state_dict()
    for wrong, message in (
        ({**state, "seed": 6}, "state has seed 6, this loader 5: expected the same arguments"),
        ({**state, "batches": 13}, "state has batches 13, this loader 12: expected the same arguments"),
        ({**state, "epoch": -1}, "epoch"),
        ({**state, "batch": "3"}, "batch"),
        ({**state, "batch": 2**64}, "batch"),
        ({**state, "version": 2}, "version 1"),
        ({"epoch": 1}, "version 1"),
        (5, "version 1"),
        (None, "version 1"),
    ):
        with pytest.raises(ValueError, match=message) as error:
            loader.load_state_dict(wrong)
        assert "\n" not in str(error.value)
    assert loader.state_dict() == state and each(loader) == each(neighbours())


@pytest.mark.parametrize("name", LOADERS)
def test_ranks_share_an_epoch(name):
    make = LOADERS[name]
    whole = make()
    epochs = [each(whole) for _ in range(2)]
    size = len(whole)
    for world_size in (2, 5, size - 1, size + 3):
        ranks = [make(rank=rank, world_size=world_size) for rank in range(world_size)]
        for epoch in epochs:
            for rank, loader in enumerate(ranks):
                assert each(loader) == epoch[rank::world_size]
        assert [len(loader) for loader in ranks] == [len(range(rank, size, world_size)) for rank in range(world_size)]


@pytest.mark.parametrize("name", ["vertices", "several types", "hgt"])
def test_ranks_sample_batches_together(name, monkeypatch):
    """One call makes `bulk` batches, which are those of `bulk=1`; a last batch that is alone is made by itself."""
    make = LOADERS[name]
    loader = make(rank=1, world_size=3, bulk=2)
    alone = [each(one) for one in [make(rank=1, world_size=3, bulk=1)] for _ in range(2)]
    size, calls, bulk = loader._length(), [], loader.node_sampler.sample_batches

    def counting(index, batch_size, first, step):
        calls.append((first, step, len(index.node.split(batch_size))))
        return bulk(index, batch_size, first, step)

    monkeypatch.setattr(loader.node_sampler, "sample_batches", counting)
    for epoch in range(2):
        calls.clear()
        assert each(loader) == alone[epoch]
        numbers = range(epoch * size + 1, (epoch + 1) * size, 3)
        assert calls == [(number, 3, 2) for number in numbers[: len(numbers) // 2 * 2 : 2]] != []


def test_ranks_sample_dependent_batches_together():
    """LABOR: the random numbers of a vertex depend on the batch's number divided by the dependency."""
    for dependency in (2, 5):
        options = {"choice": "labor", "batch_dependency": dependency}
        made = [
            [each(neighbours(rank=rank, world_size=4, bulk=bulk, **options)) for rank in range(4)] for bulk in (1, 3)
        ]
        assert made[0] == made[1] == [each(neighbours(bulk=1, **options))[rank::4] for rank in range(4)]


@pytest.mark.parametrize("name", ["vertices", "lists", "saint", "clusters"])
def test_ranks_may_have_as_many_batches(name):
    make = LOADERS[name]
    epoch = each(make())
    size = len(epoch)
    for world_size in (2, 3, 4, size, size + 1, 2 * size + 1):
        for uneven, rounds in (("drop", size // world_size), ("repeat", -(-size // world_size))):
            ranks = [make(rank=rank, world_size=world_size, uneven=uneven) for rank in range(world_size)]
            made = [each(loader) for loader in ranks]
            assert {len(loader) for loader in ranks} == {len(one) for one in made} == {rounds}
            together = [one[i] for i in range(rounds) for one in made]
            assert together == [epoch[i % size] for i in range(rounds * world_size)]


def test_a_training_goes_on_with_another_number_of_ranks():
    epoch = each(neighbours())
    for before, after in ((1, 4), (4, 1), (2, 3), (3, 2)):
        ranks = [neighbours(rank=rank, world_size=before) for rank in range(before)]
        iterations = [iter(loader) for loader in ranks]
        found = [digest([next(one)]) for _ in range(2) for one in iterations]
        states = [loader.state_dict() for loader in ranks]
        assert all(state == states[0] for state in states)
        ranks = [neighbours(rank=rank, world_size=after) for rank in range(after)]
        for loader in ranks:
            loader.load_state_dict(states[0])
        rest = [each(loader) for loader in ranks]
        found += [one[i] for i in range(12) for one in rest if i < len(one)]
        assert found == epoch
    ranks = [neighbours(rank=rank, world_size=5, uneven="repeat") for rank in range(5)]
    for loader in ranks:
        loader.load_state_dict({**states[0], "batch": 10})
    assert [each(loader) for loader in ranks] == [[epoch[i % 12]] for i in range(10, 15)]


def test_without_batches_ranks_have_none():
    for uneven in ("keep", "drop", "repeat"):
        loader = NeighborLoader(homogeneous(), [2], [], rank=1, world_size=3, uneven=uneven)
        assert len(loader) == 0 and list(loader) == []


def test_a_batch_sampler_without_a_length():
    class Endless:
        def __iter__(self):
            return iter([[i] for i in range(7)])

    def make(**options):
        return NeighborLoader(homogeneous(), [3], batch_sampler=Endless(), **options)

    epoch = each(make())
    with pytest.raises(TypeError):
        len(make())
    for uneven, wanted in (("keep", epoch[1::3]), ("drop", epoch[1:6:3]), ("repeat", [epoch[1], epoch[4], epoch[0]])):
        assert each(make(rank=1, world_size=3, uneven=uneven)) == wanted
    loader = make()
    state = loader.state_dict()
    assert state["batches"] is None
    loader.load_state_dict({**state, "batch": 5})
    assert each(loader) == epoch[5:]


def test_ranks_that_are_none():
    for options, message in (
        ({"rank": 2, "world_size": 2}, "rank is 2, expected 0 to 1"),
        ({"rank": -1, "world_size": 2}, "rank is -1, expected 0 to 1"),
        ({"rank": 1}, "rank is 1, expected 0 to 0"),
        ({"world_size": 0}, "world_size is 0, expected 1 or more"),
        ({"world_size": 2.5}, "world_size"),
        ({"rank": None}, "rank"),
        ({"uneven": "pad"}, "uneven is 'pad', expected 'keep', 'drop' or 'repeat'"),
    ):
        for make in (neighbours, clusters):
            with pytest.raises(ValueError, match=message) as error:
                make(**options)
            assert "\n" not in str(error.value)


def test_a_loader_left_early_leaves_nothing_behind():
    before = threading.active_count()
    loader = neighbours()
    for _ in range(3):
        state = loader.state_dict()
        for _ in loader:
            break
        loader.load_state_dict(state)
    expect_none_left(before)


TRAINING = """
import os, sys, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, sys.argv[1])
import torch, torch.distributed as dist
from torch_geometric.nn import GraphSAGE
from pyg_checks import homogeneous
from tendril.pyg import NeighborLoader

dist.init_process_group("gloo")
rank, world_size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(1)
model = torch.nn.parallel.DistributedDataParallel(GraphSAGE(1, 8, 2))
ranks = {"rank": rank, "world_size": world_size, "uneven": "drop"}
loader = NeighborLoader(homogeneous(), [4, 3], batch_size=10, shuffle=True, **ranks)
optimizer, seeds = torch.optim.SGD(model.parameters(), 1e-6), []
for batch in loader:
    model(batch.x, batch.edge_index)[: batch.batch_size].mean().backward()  # waits for the other ranks' gradients
    optimizer.step()
    seeds += batch.input_id.tolist()
found = [None] * world_size
dist.all_gather_object(found, seeds)
if rank == 0:
    print(len(loader), len(set(sum(found, []))), sum(map(len, found)), flush=True)
dist.barrier()
os._exit(0)  # Gloo's threads sometimes abort a process that ends
"""


def test_ranks_of_torch_train_together(tmp_path):
    """10 batches of 10 seeds, 3 ranks: 3 batches each, all of different seeds."""
    script = tmp_path / "training.py"
    script.write_text(TRAINING)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=3", str(script)]
    done = subprocess.run(
        [*command, os.path.dirname(__file__)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split() == ["3", "90", "90"]
