"""Mini-batches on a GPU: those of the CPU, in arrays that stay there. Skipped, by name, without a GPU."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import tendril

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(tendril.num_gpus() == 0, reason="no GPU"),
]

SEEDS = np.random.default_rng(6).integers(0, 60, 40)
MANY = np.random.default_rng(7).integers(0, 4096, 5000)
OPTIONS = {
    "plain": {},
    "replace": {"replace": True},
    "weighted": {"weighted": True},
    "weighted replace": {"weighted": True, "replace": True},
    "disjoint": {"disjoint": True},
    "induced": {"subgraph_type": "induced"},
    "induced disjoint": {"subgraph_type": "induced", "disjoint": True},
    "bidirectional": {"subgraph_type": "bidirectional"},
    "all": {"frontier": "all"},
    "all weighted disjoint": {"frontier": "all", "weighted": True, "disjoint": True},
}


@pytest.fixture(scope="module")
def skewed():
    """An R-MAT graph: hubs, isolated vertices, weights."""
    return tendril.generate.rmat(12, 8, symmetrize=True, weights=(1, 5))


@pytest.fixture(scope="module")
def library():
    rng = np.random.default_rng(5)
    return tendril.HeteroGraph(
        {"author": 300, "paper": 200, "venue": 7},
        {
            ("author", "writes", "paper"): (rng.integers(0, 300, 2000), rng.integers(0, 200, 2000)),
            ("paper", "cites", "paper"): (rng.integers(0, 200, 900), rng.integers(0, 200, 900)),
            ("paper", "in", "venue"): (np.arange(200), rng.integers(0, 7, 200)),
        },
        edge_times={("paper", "cites", "paper"): rng.integers(0, 50, 900)},
        reverse=True,
    )


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


def expect_equal(there, here):
    """Every field of a batch."""
    for name in here.__dataclass_fields__:
        theirs, ours = getattr(there, name), getattr(here, name)
        pairs = [(theirs[key], ours[key]) for key in ours] if isinstance(ours, dict) else [(theirs, ours)]
        for a, b in pairs:
            if isinstance(b, np.ndarray):
                assert isinstance(a, tendril.DeviceArray) and (a.dtype, a.shape) == (b.dtype, b.shape), name
                np.testing.assert_array_equal(a, b, err_msg=name)
            else:
                assert a == b, name


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
@pytest.mark.parametrize("fanouts", [[5], [15, 10, 5], [3, -1], [0, 2], [2, 0, 3]])
@pytest.mark.parametrize("options", OPTIONS)
def test_batches_are_those_of_the_cpu(skewed, options, fanouts, dtype):
    settings = {**OPTIONS[options], "seed": 3, "dtype": dtype}
    here = tendril.MinibatchSampler(skewed, fanouts, **settings)
    there = tendril.MinibatchSampler(skewed, fanouts, device="cuda", **settings)
    assert (here.device, there.device) == ("cpu", "cuda:0")
    for batch, seeds in ((0, SEEDS), (7, MANY[:1500]), (8, [9, 9, 4]), (2**63, SEEDS[:1]), (3, [])):
        expect_equal(there.sample(seeds, batch=batch), here.sample(seeds, batch=batch))
    for numbers in ({"first_batch": 4}, {"first_batch": 2**64 - 5, "batch_step": 3}):
        bulk = (one.sample_batches(MANY, 700, **numbers) for one in (there, here))
        for one, other in zip(*bulk, strict=True):
            expect_equal(one, other)


@pytest.mark.parametrize("executor", ["auto", "hops", "graph", "fused", "persistent"])
def test_executors_agree(skewed, executor):
    frontier = "all" if executor == "persistent" else "new"
    here = tendril.MinibatchSampler(skewed, [6, 4], frontier=frontier)
    there = tendril.MinibatchSampler(skewed, [6, 4], frontier=frontier, executor=executor, device="cuda")
    for i in range(5):
        expect_equal(there.sample(MANY[i : i + 500], batch=i), here.sample(MANY[i : i + 500], batch=i))


@pytest.mark.parametrize("strategy", ["uniform", "last"])
def test_times(skewed, strategy):
    rng = np.random.default_rng(1)
    made, born = rng.integers(0, 99, skewed.num_edges), rng.integers(0, 99, skewed.num_vertices)
    limit = rng.integers(0, 99, 40)
    for times in ({"edge_times": made}, {"node_times": born}):
        settings = {"disjoint": True, "temporal_strategy": strategy, **times}
        here = tendril.MinibatchSampler(skewed, [5, 3], **settings).sample(SEEDS, times=limit)
        there = tendril.MinibatchSampler(skewed, [5, 3], device="cuda", **settings).sample(SEEDS, times=limit)
        expect_equal(there, here)
        there = tendril.MinibatchSampler(skewed.to("cuda"), [5, 3], **settings).sample(SEEDS, times=limit)
        expect_equal(there, here)


@pytest.mark.parametrize("options", [{}, {"replace": True}, {"subgraph_type": "induced"}, {"frontier": "all"}])
def test_several_types(library, options):
    fanouts = {key: [4, 3] if key[1] != "cites" else [2, -1] for key in library.edges}
    seeds = {"paper": [5, 1, 9], "venue": [3]}
    times = {"paper": [10, 20, 30], "venue": [40]}
    there = library.to("cuda")
    assert there.device == "cuda:0" and library.to("cuda")._core is there._core
    here = tendril.MinibatchSampler(library, fanouts, disjoint=True, **options).sample(seeds, times=times)
    for graph, device in ((library, "cuda"), (there, None)):
        sampler = tendril.MinibatchSampler(graph, fanouts, disjoint=True, device=device, **options)
        expect_equal(sampler.sample(seeds, times=times), here)
    here = tendril.MinibatchSampler(library, fanouts, disjoint=True, **options).sample_batches(
        np.arange(200), 64, node_type="paper", times=np.arange(200)
    )
    made = sampler.sample_batches(np.arange(200), 64, node_type="paper", times=np.arange(200))
    for one, other in zip(made, here, strict=True):
        expect_equal(one, other)


def test_blocks_are_views_there(skewed):
    batch = tendril.MinibatchSampler(skewed, [4, 3], frontier="all", device="cuda").sample(SEEDS)
    expected = tendril.MinibatchSampler(skewed, [4, 3], frontier="all").sample(SEEDS).blocks()
    for one, other in zip(batch.blocks(), expected, strict=True):
        for name in one.__dataclass_fields__:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_the_function_runs_there_too(skewed):
    here = tendril.neighbor_sample(skewed, SEEDS, [4, 3], seed=2)
    for sample in (
        tendril.neighbor_sample(skewed, SEEDS, [4, 3], seed=2, device="cuda"),
        tendril.neighbor_sample(skewed.to("cuda"), SEEDS, [4, 3], seed=2, executor="hops"),
    ):
        for name in ("row", "col", "node", "edge"):
            assert isinstance(getattr(sample, name), tendril.DeviceArray)
            np.testing.assert_array_equal(getattr(sample, name), getattr(here, name))
        assert sample.num_sampled_nodes == here.num_sampled_nodes


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_seeds_and_results_are_torchs_without_a_copy(skewed, torch, dtype):
    sampler = tendril.MinibatchSampler(skewed, [5, 5], device="cuda")
    expected = tendril.MinibatchSampler(skewed, [5, 5]).sample(SEEDS, batch=1)
    seeds = torch.from_numpy(SEEDS).to("cuda", getattr(torch, dtype))
    batch = sampler.sample(seeds, batch=1)
    expect_equal(batch, expected)
    taken = torch.from_dlpack(batch.row)
    assert taken.is_cuda and taken.data_ptr() == batch.row.__cuda_array_interface__["data"][0]
    del batch, sampler
    gc.collect()
    for i in range(20):  # others' batches don't overwrite what is held
        tendril.MinibatchSampler(skewed, [5, 5], device="cuda").sample(SEEDS, batch=i)
    np.testing.assert_array_equal(taken.cpu().numpy(), expected.row)


def test_streams_wait_for_each_other(skewed, torch):
    expected = tendril.MinibatchSampler(skewed, [10, 10]).sample(MANY[:1000])
    stream, other = torch.cuda.Stream(), torch.cuda.Stream()
    sampler = tendril.MinibatchSampler(skewed, [10, 10], device="cuda", stream=stream)
    with torch.cuda.stream(other):
        seeds = torch.zeros(1000, dtype=torch.int64, device="cuda")
        torch.cuda._sleep(20_000_000)
        seeds.copy_(torch.from_numpy(MANY[:1000]).pin_memory(), non_blocking=True)
        batch = sampler.sample(seeds)
        row = (torch.from_dlpack(batch.row) + 0).cpu()  # on the other stream, too: the default one doesn't wait for it
    np.testing.assert_array_equal(row.numpy(), expected.row)


def test_mistakes_show_the_callers_values(skewed, torch):
    sampler = tendril.MinibatchSampler(skewed, [2], device="cuda")
    for seeds, message in (
        ([3, 4096], "4096"),
        (torch.tensor([3, 4096], device="cuda"), "4096"),
        (torch.tensor([3, -5], device="cuda"), "seeds[1] is -5"),
        (torch.tensor([3.0], device="cuda"), "seeds doesn't hold integers"),
        (torch.tensor([[3]], device="cuda"), "expected one dimension"),
    ):
        with pytest.raises(tendril.ArgumentError) as caught:
            sampler.sample(seeds)
        assert message in str(caught.value)
        with pytest.raises(tendril.ArgumentError):
            sampler.sample_batches(seeds, 1)
    assert sampler.sample([3]).node[:1].numpy().tolist() == [3]  # and goes on
