"""tendril.Pipeline with padding on a GPU: its batches are those of the CPU, bit for bit. Skipped without a GPU."""

from __future__ import annotations

import numpy as np
import pytest

import tendril
from tendril import FeatureCache, _tendril
from tendril._device_array import DeviceArray

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(tendril.num_gpus() == 0, reason="no GPU")]
COUNT, EDGES = 300, 2500
DRAWS = np.random.default_rng(4)
X = DRAWS.random((COUNT, 5), dtype=np.float32)
Y = np.arange(COUNT, dtype=np.int64) * 7
WEIGHTS = DRAWS.random(EDGES, dtype=np.float32)


def graph(device):
    draws = np.random.default_rng(1)
    source, target = draws.integers(COUNT, size=EDGES), draws.integers(COUNT - 50, size=EDGES)  # 50 without neighbours
    return tendril.Graph.from_coo(source, target, num_vertices=COUNT, reverse=True).to(device)


def sampler(device, **options):
    return tendril.MinibatchSampler(graph(device), **{"num_neighbors": [4, 3, 2], "seed": 5, **options})


def pipeline(of, seeds=None, **options):
    tables = {"features": {"x": X}, "edge_features": {"w": WEIGHTS}, "labels": {"y": Y}}
    seeds = np.arange(0, COUNT, 2) if seeds is None else seeds
    return tendril.Pipeline(of, seeds, **{"batch_size": 17, "shuffle": True, "pad": "epoch", **tables, **options})


def leaves(value, name=""):
    """Every array of a batch and every number, behind its name."""
    if isinstance(value, (tendril.PipelineBatch, tendril.Minibatch)):
        value = vars(value)
    if isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, f"{name}.{key}")
    else:
        yield name, value


def expect_same(on_gpu, on_cpu):
    """All fields of two epochs, whose arrays but `index` lie on the GPU in one of them. The number of batches."""
    count = 0
    for batch, expected in zip(on_gpu, on_cpu, strict=True):
        count += 1
        found = dict(leaves(batch))
        for name, value in leaves(expected):
            if isinstance(value, np.ndarray) and name != ".index":
                assert isinstance(found[name], DeviceArray), name
                assert found[name].dtype == value.dtype and np.array_equal(found[name].numpy(), value), name
            elif isinstance(value, np.ndarray):
                assert np.array_equal(found[name], value)
            else:
                assert found[name] == value, name
        assert isinstance(batch.seed_mask, DeviceArray)
    return count


@pytest.mark.parametrize(
    "options",
    [{}, {"dtype": "int32"}, {"replace": True}, {"num_neighbors": [3]}, {"num_neighbors": [-1, 2]}, {"choice": "labor"}],
    ids=str,
)
def test_batches_are_those_of_the_cpu(options):
    on_gpu, on_cpu = (pipeline(sampler(device, **options)) for device in ("cuda", "cpu"))
    for _ in range(2):
        assert expect_same(on_gpu, on_cpu) == 9
    assert on_gpu.padding([0, 5]) == on_cpu.padding([0, 5])


@pytest.mark.parametrize("way", [{"bulk": 1}, {"bulk": 100}, {"prefetch": 0}, {"rank": 1, "world_size": 2}], ids=str)
def test_how_batches_are_made_changes_nothing(way):
    assert expect_same(pipeline(sampler("cuda"), **way), pipeline(sampler("cpu"), **way)) >= 4


def test_a_padding_of_several_epochs():
    cpu = sampler("cpu")
    wide = pipeline(cpu).padding(range(3)).with_room(0.2)
    on_gpu, on_cpu = pipeline(sampler("cuda"), pad=wide), pipeline(cpu, pad=wide)
    for _ in range(3):
        expect_same(on_gpu, on_cpu)
    on_gpu.pad = tendril.Padding([17, 9999, 1, 9999], [9999] * 3)
    with pytest.raises(tendril.ArgumentError, match=r"batch \d+ has \d+ vertices in hop 2, expected at most 1"):
        list(on_gpu)


def test_corner_cases():
    cpu, gpu = sampler("cpu"), sampler("cuda")
    alone = COUNT - 20  # a vertex without neighbours
    assert list(pipeline(gpu, seeds=[])) == []
    for seeds, options in (([alone], {}), ([alone, 3], {"batch_size": 1}), (None, {"drop_last": True})):
        expect_same(pipeline(gpu, seeds, shuffle=False, **options), pipeline(cpu, seeds, shuffle=False, **options))
    none = {"num_neighbors": [0, 0]}
    expect_same(pipeline(sampler("cuda", **none)), pipeline(sampler("cpu", **none)))


def test_several_types():
    draws = np.random.default_rng(3)
    ends = {("author", "writes", "paper"): (40, 60), ("paper", "cites", "paper"): (60, 60), ("paper", "in", "venue"): (60, 7)}
    edges = {key: (draws.integers(a, size=300), draws.integers(b, size=300)) for key, (a, b) in ends.items()}
    library = tendril.HeteroGraph({"author": 40, "paper": 60, "venue": 7}, edges, reverse=True)
    tables = {"author": {"a": np.arange(40)}, "paper": {"x": X[:60]}}

    def made(device):
        of = tendril.MinibatchSampler(library.to(device), [3, 2])
        options = {"node_type": "paper", "features": tables, "labels": {"y": Y[:60]}}
        return tendril.Pipeline(of, np.arange(40), batch_size=9, pad="epoch", **options)

    assert expect_same(made("cuda"), made("cpu")) == 5


@pytest.mark.parametrize("policy", ["lookahead", "exact", "lru"])
def test_a_cache_changes_nothing(policy):
    cached = pipeline(sampler("cuda"), cache=FeatureCache(0.3, policy=policy, window=4))
    plain = pipeline(sampler("cpu"))
    for _ in range(2):
        expect_same(cached, plain)
    assert cached.cache.hits > 0


def test_a_stream_of_its_own():
    torch = pytest.importorskip("torch")
    stream = torch.cuda.Stream()
    batches = list(pipeline(sampler("cuda", stream=stream)))
    expect_same(batches, list(pipeline(sampler("cpu"))))
    shapes = {tuple(torch.from_dlpack(one).shape for one in (batch.node_mask, batch.minibatch.row)) for batch in batches}
    assert len(shapes) == 1 and torch.from_dlpack(batches[0].node_mask).dtype == torch.bool


def test_parts_of_different_arrays_are_not_joined():
    batch = next(iter(pipeline(sampler("cuda"))))
    node, x, mask = batch.minibatch.node._core, batch.features["x"]._core, batch.node_mask._core
    for parts in ([node, mask], [x], [node, x]):
        with pytest.raises(tendril.ArgumentError, match="expected dense ones of one dimension"):
            _tendril.concatenate_gpu(parts, 0)
    twice = DeviceArray(_tendril.concatenate_gpu([node, node], 0)).numpy()
    assert np.array_equal(twice, np.tile(batch.minibatch.node.numpy(), 2))
