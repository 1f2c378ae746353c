"""A batch is a function of data, arguments, seed and number alone; epochs, their order, and what else is promised."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
from pyg_checks import homogeneous, numbers, same, torch
from pyg_digests import EPOCHS, check_digest, digest
from threads_left import expect_none_left
from torch_geometric.loader import ImbalancedSampler

from tendril.pyg import LinkNeighborLoader, NeighborLoader


@pytest.fixture(scope="module")
def data():
    return homogeneous()


WAYS = [{"num_threads": 1}, {"num_threads": 2}, {"bulk": 1}, {"bulk": 4}, {"bulk": 100}, {"prefetch": 0}, {"prefetch": 9},
        {"num_workers": 4, "persistent_workers": True}]  # fmt: skip


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("epoch", EPOCHS)
def test_an_epoch_has_one_digest(epoch, way):
    check_digest(epoch, **way)


def test_another_seed_has_another_digest(data):
    one, other = (digest(NeighborLoader(data, [5, 3], batch_size=8, shuffle=True, seed=seed)) for seed in (7, 8))
    assert one != other


def test_torchs_generator_neither_decides_nor_moves(data):
    found = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        found.append(digest(NeighborLoader(data, [5, 3], batch_size=8, shuffle=True)))
        drawn = torch.rand(3)
        torch.manual_seed(seed)
        assert torch.equal(torch.rand(3), drawn)
    assert found[0] == found[1]


def test_without_a_seed_torchs_generator_decides(data):
    found = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        found.append(digest(NeighborLoader(data, [5, 3], batch_size=8, shuffle=True, seed=None)))
    assert found[0] == found[1] != found[2]


def test_epochs_differ_and_can_be_repeated(data):
    loader = NeighborLoader(data, [5, 3], batch_size=30, shuffle=True)
    epochs = [digest(loader) for _ in range(3)]
    assert loader.epoch == 3 and len(set(epochs)) == 3
    loader.set_epoch(1)
    assert digest(loader) == epochs[1]
    again = NeighborLoader(data, [5, 3], batch_size=30, shuffle=True)
    again.set_epoch(2)
    assert digest(again) == epochs[2]


def test_an_epochs_order_has_every_seed_once(data):
    loader = NeighborLoader(data, [1], batch_size=30, shuffle=True)
    orders = [torch.cat([batch.input_id for batch in loader]).tolist() for _ in range(2)]
    for order in orders:
        assert sorted(order) == list(range(100)) and order != sorted(order)
    assert orders[0] != orders[1]
    assert orders[0][:6] == FIRST_OF_EPOCH_0  # the same on every machine, with every version


FIRST_OF_EPOCH_0 = [29, 90, 28, 20, 92, 6]


def test_the_number_of_a_batch_is_counted_over_epochs(data):
    loader = NeighborLoader(data, [5, 3], batch_size=30)
    first = list(loader)
    second = list(loader)
    for i, batch in enumerate(second):
        same(loader(numbers(100)[30 * i : 30 * i + 30], batch=4 + i), batch)
    assert not torch.equal(first[0].e_id, second[0].e_id)


def test_the_last_batch_may_be_dropped(data):
    kept, dropped = (NeighborLoader(data, [2], batch_size=30, drop_last=drop) for drop in (False, True))
    assert len(kept) == len(list(kept)) == 4 and len(dropped) == len(list(dropped)) == 3
    assert [batch.batch_size for batch in kept] == [30, 30, 30, 10]


def test_a_generator_gives_the_order(data):
    orders = []
    for seed in (5, 5, 6):
        generator = torch.Generator().manual_seed(seed)
        loader = NeighborLoader(data, [1], batch_size=50, shuffle=True, generator=generator)
        orders.append(torch.cat([batch.input_id for batch in loader]).tolist())
    assert orders[0] == orders[1] != orders[2]


def test_samplers_give_the_order(data):
    torch.manual_seed(3)
    classes = (numbers(100) >= 90).long()
    sampler = ImbalancedSampler(classes, num_samples=40)
    loader = NeighborLoader(data, [2], batch_size=16, sampler=sampler)
    assert len(loader) == 3
    for batch in loader:  # with replacement: seeds may come twice
        assert torch.equal(batch.n_id[: batch.batch_size], batch.input_id)
        assert torch.equal(batch.y, batch.n_id)
    loader = NeighborLoader(data, [2], batch_sampler=[[4, 5], [9], [0, 1, 2]])
    assert len(loader) == 3 and [batch.input_id.tolist() for batch in loader] == [[4, 5], [9], [0, 1, 2]]


def test_users_functions_run_in_their_thread(data):
    threads = []

    def seen(given):
        threads.append(threading.current_thread())
        return given

    loader = NeighborLoader(data, [2], batch_size=25, transform=seen, transform_sampler_output=seen)
    assert len(list(loader)) == 4 and set(threads) == {threading.current_thread()} and len(threads) == 8


def test_a_loop_may_be_left_and_errors_arrive(data):
    before = threading.active_count()
    for _ in range(3):
        for batch in NeighborLoader(data, [2], batch_size=1):
            assert batch.batch_size == 1
            break
    expect_none_left(before)

    class Bad(list):
        def __iter__(self):
            yield [0, 1]
            raise RuntimeError("no more")

    loader = NeighborLoader(data, [2], batch_sampler=Bad([0, 1]))
    with pytest.raises(RuntimeError, match="no more"):
        list(loader)


def test_an_interpreter_may_end_amid_an_epoch():
    script = """
import warnings
warnings.simplefilter("ignore")
import torch, torch_geometric.data
from tendril.pyg import NeighborLoader
data = torch_geometric.data.Data(num_nodes=99, edge_index=torch.randint(99, (2, 999)))
loader = iter(NeighborLoader(data, [3, 2], batch_size=2))
print(next(loader).batch_size)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", "")


def test_two_iterations_at_once_and_two_loaders_of_one_sampler(data):
    loader = NeighborLoader(data, [5, 3], batch_size=10)
    alone = [digest(loader), digest(loader)]
    loader.set_epoch(0)
    pairs = list(zip(loader, loader, strict=True))
    assert [digest([pair[i] for pair in pairs]) for i in (0, 1)] == alone
    other = NeighborLoader(data, [9], batch_size=10, neighbor_sampler=loader.node_sampler)
    loader.set_epoch(0)
    pairs = list(zip(loader, other, strict=True))
    assert digest([pair[0] for pair in pairs]) == digest([pair[1] for pair in pairs]) == alone[0]


def test_links_with_triplets_have_one_digest(data):
    ways = [{"num_threads": 1}, {"num_threads": 2}, {"bulk": 5}, {"prefetch": 0}]
    arguments = {"batch_size": 30, "shuffle": True, "neg_sampling": "triplet", "disjoint": True}
    assert len({digest(LinkNeighborLoader(data, [3, 2], **arguments, **way)) for way in ways}) == 1
