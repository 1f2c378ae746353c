"""Caches of features on a GPU: batches never depend on them, and they hold what their policies say. Skipped without a GPU."""

from __future__ import annotations

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from memory_held import bytes_of
from pyg_checks import heterogeneous, same, torch
from threads_left import expect_no_more_native, expect_none_left, native_threads
from torch_geometric.data import Data

import tendril
from tendril import FeatureCache, _gpu, _tendril
from tendril.pyg import LinkNeighborLoader, NeighborLoader

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(tendril.num_gpus() == 0 or not torch.cuda.is_available(), reason="no GPU, or Torch sees none"),
]
POLICIES = ("lookahead", "exact", "presample", "pagerank", "degree", "lru")


def graph(size=3000):
    return tendril.generate.powerlaw(size, 2.3, 6, 400, symmetrize=True, drop_self_loops=True, drop_duplicates=True)


def data(size=3000):
    made = graph(size)
    target = torch.repeat_interleave(torch.arange(size), torch.from_numpy(made.degrees()))
    edge_index = torch.stack([torch.from_numpy(made.indices.astype(np.int64)), target])
    draws = torch.Generator().manual_seed(0)
    x = torch.randn(size, 20, generator=draws)
    half = torch.randn(size, 3, 5, generator=draws).to(torch.bfloat16)
    y = torch.randint(9, (size,), generator=draws)
    return Data(x=x, half=half, y=y, edge_index=edge_index, num_nodes=size)


def loader(given, **options):
    settings = {"batch_size": 64, "shuffle": True, "seed": 3, "device": "cuda", **options}
    return NeighborLoader(given, [5, 4], **settings)


def expect_same(first, second):
    """Epochs of two loaders."""
    count = 0
    for a, b in zip(first, second, strict=True):
        same(a, b)
        count += 1
    assert count == len(first)


@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("policy", POLICIES)
def test_batches_are_those_without_a_cache(policy, pinned):
    given = data()
    if pinned:
        given.x = given.x.pin_memory()
    plain, cached = loader(given), loader(given, cache=FeatureCache(0.2, policy=policy, window=7))
    for _ in range(3):
        expect_same(plain, cached)
    assert cached.cache.hits > 0
    assert 0 < cached.cache.miss_rate < 1
    assert cached.cache.num_rows == 600
    assert cached.cache.nbytes == 600 * (80 + 30)  # x and half; y is on the GPU as a whole
    assert cached.cache.policy == policy


@pytest.mark.parametrize("policy", POLICIES)
def test_content_is_the_same_whatever_is_made_together_and_ahead(policy):
    given = data()
    found = []
    for options in ({"bulk": 1, "prefetch": 0}, {"bulk": 16, "prefetch": 3}, {"bulk": 5, "prefetch": 1}):
        one = loader(given, cache=FeatureCache(0.15, policy=policy, window=4), **options)
        for _ in range(2):
            list(one)
        found.append((one.cache.content(), one.cache.hits, one.cache.misses))
    for content, hits, misses in found[1:]:
        assert np.array_equal(content, found[0][0])
        assert (hits, misses) == found[0][1:]


@pytest.mark.parametrize("policy", ["lookahead", "lru"])
def test_hits_are_those_of_the_bookkeeping_on_the_host(policy):
    given, window = data(), 6
    one = loader(given, cache=FeatureCache(0.1, policy=policy, window=window))
    rows = [batch.n_id.cpu().numpy() for batch in loader(given)]
    host, hits = _tendril.RowCache(3000, 300, policy, window if policy == "lookahead" else 1), 0
    ahead = window - 1 if policy == "lookahead" else 0
    for known in range(len(rows) + ahead):
        if known < len(rows):
            host.see(rows[known])
        if known >= ahead:
            missed, sources, *_ = host.serve()
            hits += sources.size - missed.size
    list(one)
    assert one.cache.hits == hits
    assert np.array_equal(one.cache.content(), host.content().view(np.int32).astype(np.int64))


def test_exact_holds_the_rows_that_the_epoch_uses_most():
    given = data()
    one = loader(given, cache=FeatureCache(0.1, policy="exact"))
    for epoch in range(2):
        plain = loader(given)
        plain.set_epoch(epoch)
        counts = np.bincount(np.concatenate([batch.n_id.cpu().numpy() for batch in plain]), minlength=3000)
        before = one.cache.hits
        list(one)
        best = np.argsort(-counts, kind="stable")[:300]
        assert np.array_equal(one.cache.content(), best)
        assert one.cache.hits - before == counts[best].sum()


def test_degree_and_scores_of_the_user():
    given = data()
    degrees = np.bincount(given.edge_index[0].numpy(), minlength=3000)
    best = np.argsort(-degrees, kind="stable")[:150]
    for policy in ("degree", degrees, torch.from_numpy(degrees), lambda data: np.bincount(data.edge_index[0], minlength=3000)):
        one = loader(given, cache=FeatureCache(0.05, policy=policy))
        list(one)
        assert np.array_equal(one.cache.content(), best)


def test_a_row_that_is_everywhere_is_a_hit_after_the_first_batch():
    given = data()
    one = loader(given, cache=FeatureCache(1.0, window=3))
    list(one)
    distinct = len(np.unique(np.concatenate([batch.n_id.cpu().numpy() for batch in loader(given)])))
    assert one.cache.misses == distinct


def test_types_of_vertices_have_caches_of_their_own():
    given = heterogeneous()
    for name in given.node_types:
        given[name].x = given[name].x.float().repeat(1, 9)
    kind = given.node_types[0]
    options = {"input_nodes": kind, "batch_size": 8, "shuffle": True, "seed": 1, "device": "cuda"}
    plain = NeighborLoader(given, [4, 3], **options)
    for policy in POLICIES:
        cached = NeighborLoader(given, [4, 3], cache=FeatureCache(0.3, policy=policy, window=5), **options)
        plain.set_epoch(0)
        for _ in range(2):
            expect_same(plain, cached)
        assert cached.cache.hits > 0


def test_links_and_disjoint_batches_have_rows_twice():
    given = data()
    for policy in ("lookahead", "lru", "degree"):
        for disjoint in (False, True):
            options = {"batch_size": 128, "neg_sampling": "binary", "disjoint": disjoint, "seed": 5, "device": "cuda"}
            edges = given.edge_index[:, :2000]
            plain = LinkNeighborLoader(given, [3, 2], edge_label_index=edges, **options)
            cached = LinkNeighborLoader(given, [3, 2], edge_label_index=edges, cache=FeatureCache(0.1, policy=policy), **options)
            expect_same(plain, cached)


def test_epochs_that_are_left_early_resumed_or_interleaved():
    given = data()
    for policy in ("lookahead", "lru", "exact", "degree"):
        plain, cached = loader(given), loader(given, cache=FeatureCache(0.2, policy=policy, window=5))
        for one, other in zip(plain, cached, strict=True):
            same(one, other)
            break
        expect_same(plain, cached)
        state = cached.state_dict()
        resumed = loader(given, cache=FeatureCache(0.2, policy=policy))
        resumed.load_state_dict(state)
        expect_same(plain, resumed)
        first = iter(resumed)
        next(first)  # the second iteration works without the cache
        plain.set_epoch(9)
        resumed.set_epoch(9)
        expect_same(plain, resumed)
        del first


def test_rows_that_are_written_to_between_epochs_are_read_again():
    given = data()
    cached = loader(given, cache=FeatureCache(0.5))
    list(cached)
    given.x += 1
    given.y[:] = 4
    for batch in cached:
        assert torch.equal(batch.x.cpu(), given.x[batch.n_id.cpu()])
        assert bool((batch.y == 4).all())


def served_counts(first, second, busy=None):
    """Missed and kept rows of two batches, whose ids are told on one stream and which are served on another."""
    tables = _tendril.CachedTables(3000, 100, "lru", 1, 0, first.cuda_stream)
    draws = np.random.default_rng(5)
    batches = [torch.from_numpy(draws.integers(0, 300, 200)).cuda() for _ in range(2)]
    torch.cuda.synchronize()
    if busy is not None:
        with torch.cuda.stream(first):
            torch.cuda._sleep(busy)
    steps = []
    for ids in batches:
        tables.see(_gpu.ids(ids, "ids", 1, 0, first.cuda_stream, 0), first.cuda_stream)
        steps.append(tables.serve(second.cuda_stream))
    was_busy = not first.query()
    return [step.counts() for step in steps], was_busy


def test_work_on_another_stream_comes_after_what_was_enqueued_before():
    one, two = torch.cuda.Stream(), torch.cuda.Stream()
    expected, _ = served_counts(one, one)
    made, was_busy = served_counts(one, two, busy=2_000_000_000)  # about a second
    assert was_busy
    assert made == expected


def test_a_cache_that_sizes_itself_takes_all_that_fits():
    given = data()
    cached = loader(given, cache=FeatureCache(), batch_size=32)
    plain = loader(given, batch_size=32)
    for _ in range(2):
        expect_same(plain, cached)
    assert cached.cache.num_rows == 3000


def test_a_cache_that_does_not_fit_is_an_error():
    rows = tendril.FeatureTable(np.zeros((4, 1 << 20), np.uint8))._on_gpu(0)
    with pytest.raises(tendril.OutOfMemoryError) as error:
        _tendril.CachedTables(1 << 20, 1 << 20, "lookahead", 32, 0, 0).add(rows, 0)  # 2^40 bytes
    assert "\n" not in str(error.value)


def test_what_is_refused():
    given = data()

    def line(**options):
        with pytest.raises(tendril.ArgumentError) as error:
            list(loader(given, **options))
        assert "\n" not in str(error.value)
        return str(error.value)

    assert line(cache=0.2) == "cache is a float, expected a FeatureCache"
    assert "made on the CPU" in line(cache=FeatureCache(0.1), device="cpu")
    assert "transform_sampler_output" in line(cache=FeatureCache(0.1), transform_sampler_output=lambda out: out)
    assert "makes each epoch's order twice" in line(cache=FeatureCache(0.1, policy="exact"), generator=torch.Generator())
    assert "has shape (5,)" in line(cache=FeatureCache(0.1, policy=np.zeros(5)))
    assert "policy[1] is NaN" in line(cache=FeatureCache(0.1, policy=np.where(np.arange(3000) == 1, np.nan, 1)))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_pipelines_have_the_same(policy, dtype):
    made = graph().to("cuda")
    x = np.random.default_rng(0).random((3000, 12), dtype=np.float32)
    sampler = tendril.MinibatchSampler(made, [5, 4], dtype=dtype, seed=2)
    options = {"batch_size": 100, "shuffle": True, "features": {"x": x}, "labels": {"y": x[:, 0].copy()}}
    cached = tendril.Pipeline(sampler, np.arange(3000), cache=FeatureCache(0.2, policy=policy, window=6), **options)
    for _ in range(2):
        for batch in cached:
            assert np.array_equal(batch.features["x"].numpy(), x[batch.minibatch.node.numpy()])
            assert np.array_equal(batch.labels["y"].numpy(), x[batch.index, 0])
    assert 0 < cached.cache.miss_rate < 1


@pytest.mark.parametrize("policy", POLICIES)
def test_rows_of_a_mapped_file_are_cached(policy, tmp_path):
    """The CPU reads the missed ones, whether the file fits into memory or not."""
    x = np.random.default_rng(0).random((3000, 12), dtype=np.float32)
    np.save(tmp_path / "x.npy", x)
    mapped, cache = tendril.read_features(tmp_path / "x.npy"), FeatureCache(0.2, policy=policy, window=6)
    given = data()
    given.x = mapped
    made = loader(given, cache=cache)
    for _ in range(2):
        for batch in made:
            assert np.array_equal(batch.x.cpu().numpy(), x[batch.n_id.cpu().numpy()])
    sampler = tendril.MinibatchSampler(graph().to("cuda"), [5, 4], seed=2)
    pipeline = tendril.Pipeline(sampler, np.arange(3000), batch_size=100, shuffle=True, features={"x": mapped}, cache=cache)
    for _ in range(2):
        for batch in pipeline:
            assert np.array_equal(batch.features["x"].numpy(), x[batch.minibatch.node.numpy()])
    assert 0 < made.cache.miss_rate < 1 and 0 < pipeline.cache.miss_rate < 1


def memory_nobody_holds():
    """Of GPU 0, with what Torch's and the library's pools keep for later."""
    return _tendril.free_gpu_bytes(0) + torch.cuda.memory_reserved() - torch.cuda.memory_allocated()


def memory_of_host():
    """What this process has, in bytes. The kernel and the driver decide which of the figures has page-locked memory."""
    return {name: bytes_of(name) for name in ("VmRSS", "VmPin", "VmLck")}


def test_nothing_leaks_over_many_epochs():
    """Rows of 8 KB: a batch has some 10 MB of them, and the cache 3.6 MB, so that one of either that is lost in each epoch
    takes several hundred MB. On the host, buffers of missed rows are of that size, too: the bound is the same."""
    given = data(1500)
    given.x = torch.randn(1500, 2000).pin_memory()
    cached = loader(given, cache=FeatureCache(0.3, window=4), batch_size=256)
    before_all = threading.active_count()
    for _ in range(100):  # until pools have what they need
        list(cached)
    torch.cuda.synchronize()
    expect_none_left(before_all)
    threads, free, host = native_threads(), memory_nobody_holds(), memory_of_host()
    for epoch in range(100):
        for batch in cached:
            if epoch % 3 == 0:
                break
        del batch
    torch.cuda.synchronize()
    expect_none_left(before_all)
    expect_no_more_native(threads)
    assert free - memory_nobody_holds() < 64 << 20
    grown = {name: value - host[name] for name, value in memory_of_host().items()}
    assert {name: value for name, value in grown.items() if value >= 64 << 20} == {}


@pytest.mark.parametrize("policies", [("lookahead", "lookahead"), ("lru", "degree")])
def test_two_loops_at_once_have_the_batches_of_one_after_the_other(policies):
    given = data()
    epochs = [[*loader(given, seed=seed)] for seed in range(2)]

    def pair():
        caches = [FeatureCache(0.2, policy=policy, window=5) for policy in policies]
        return [loader(given, seed=seed, cache=cache) for seed, cache in enumerate(caches)]

    in_turn = [*zip(*pair(), strict=True)]
    assert len(in_turn) == len(epochs[0]) == len(epochs[1])
    with ThreadPoolExecutor(2) as pool:
        in_threads = [*zip(*pool.map(list, pair()), strict=True)]
    torch.cuda.synchronize()
    for batches in zip(*epochs, in_turn, in_threads, strict=True):
        for one, other in zip(batches[:2] * 2, (*batches[2], *batches[3]), strict=True):
            same(one, other)


def test_two_pipelines_at_once_have_the_batches_of_one_after_the_other():
    made = graph().to("cuda")
    table = tendril.FeatureTable(np.random.default_rng(0).random((3000, 12), dtype=np.float32))

    def pipeline(seed, cache=None):
        sampler = tendril.MinibatchSampler(made, [5, 4], seed=seed)
        options = {"batch_size": 100, "shuffle": True, "features": {"x": table}, "cache": cache, "seed": seed}
        return tendril.Pipeline(sampler, np.arange(3000), **options)

    def told(batch):
        arrays = (batch.minibatch.node, batch.minibatch.row, batch.minibatch.col, batch.features["x"])
        return batch.number, [one.numpy().tobytes() for one in arrays]

    def each(one):
        return [told(batch) for batch in one]

    def pair():
        return [pipeline(seed, FeatureCache(0.2, window=5)) for seed in range(2)]

    expected = [each(pipeline(seed)) for seed in range(2)]
    assert expected[0] != expected[1]
    in_turn = [[*map(told, batches)] for batches in zip(*pair(), strict=True)]
    assert [[*one] for one in zip(*in_turn, strict=True)] == expected
    with ThreadPoolExecutor(2) as pool:
        assert [*pool.map(each, pair())] == expected


def test_warnings_are_not_given_where_all_fits():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(loader(data(), cache=FeatureCache()))
