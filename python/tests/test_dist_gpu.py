"""Ranks with GPUs: walks, trees, batches and rows are those of one process, and what they don't take is named. Ranks share GPUs where
there are fewer."""

from __future__ import annotations

import numpy as np
import pytest
from counting import counted
from ranks import results, run_ranks, start_ranks

import tendril
from tendril import dist


@pytest.fixture(scope="module", params=["csr", "auto"])
def graph(request):
    made = tendril.generate.rmat(
        9, 8, seed=3, weights=(1, 5), num_labels=2, num_node_types=2, symmetrize=True, drop_self_loops=True
    )
    return made.compress(request.param)


on_gpu = [pytest.mark.gpu, pytest.mark.skipif(tendril.num_gpus() == 0, reason="no GPU")]


@pytest.mark.parametrize("count", [pytest.param(count, marks=on_gpu) for count in (1, 2, 3)])
def test_walks_on_gpus_are_those_of_the_whole_graph(graph, count):
    def plain(**how):
        return tendril.random_walk(graph, length=9, **how)

    def second_order(**how):
        return tendril.node2vec_walk(graph, length=9, **how)

    def by_path(**how):
        return tendril.metapath_walk(graph, None, length=9, **how)

    ways = (
        ({}, 8, plain),
        ({"weighted": True, "restart_prob": 0.1, "dtype": np.int32}, 8, plain),
        ({"stop_prob": 0.2, "dead_end": "repeat"}, 8, plain),
        ({"p": 2.0, "q": 0.5}, 16, second_order),
        ({"p": 0.1, "weighted": True, "dead_end": "repeat"}, 16, second_order),
        ({"p": 2.0, "q": 0.5, "rule": "scan"}, 16, second_order),
        ({"metapath": [0, 1], "dead_end": "repeat"}, 8, by_path),
        ({"metapath": [0, 1], "metapath_of": "vertices", "stop_prob": 0.2, "dead_end": "repeat"}, 8, by_path),
        ({"weighted": True, "rule": "scan"}, 8, plain),
    )
    for options, bytes_each, whole in ways:
        walks, lengths = whole(seed=4, **options)

        def work(ranks, options=options, bytes_each=bytes_each):
            parted = dist.Graph.cut(ranks, graph)
            device = f"cuda:{ranks.rank % tendril.num_gpus()}"
            walker = dist.Walker(parted, 9, seed=4, device=device, **options)
            assert walker.reasons[-1].startswith(f"walkers go to the GPU that has their vertex, {bytes_each} bytes each, by ")
            mine = parted.vertices
            made = walker.walk(np.asarray(mine), first_walk=mine.start)
            assert made[0].device == device and made[1].dtype == np.int32
            counts = {what: walker.count(np.asarray(mine), what, first_walk=mine.start) for what in ("visits", "ends")}
            return made[0].numpy(), made[1].numpy(), counts

        made = results(run_ranks(count, work))
        assert made[0][0].dtype == walks.dtype
        assert np.array_equal(np.concatenate([one[0] for one in made]), walks), options
        assert np.array_equal(np.concatenate([one[1] for one in made]), lengths), options
        for what, expected in counted(walks, lengths, graph.num_vertices).items():
            assert np.array_equal(np.concatenate([one[2][what] for one in made]), expected), (what, options)


STRUCT = """struct warm {
  float cold;
  float weight(walk_state const& s, walk_edge const& e) const
  {
    return e.weight() * (e.label() + 1) + (e.target() == s.previous || e.target() == s.start ? cold : 1);
  }
};"""


@pytest.mark.parametrize("count", [pytest.param(count, marks=on_gpu) for count in (1, 3)])
def test_a_struct_walks_on_gpus_of_ranks(graph, count):
    walk = tendril.CustomWalk(STRUCT, cold=0.25)
    options = {"stop_prob": 0.05, "restart_prob": 0.1, "seed": 4, "dead_end": "repeat"}
    walks, lengths = tendril.dynamic_walk(graph.to("cuda"), None, 12, walk, **options)

    def work(ranks):
        parted = dist.Graph.cut(ranks, graph)
        walker = dist.DynamicWalker(parted, 12, walk, device=f"cuda:{ranks.rank % tendril.num_gpus()}", **options)
        assert walker.reasons[-1].startswith("walkers go to the GPU that has their vertex, 12 bytes each, by ")
        mine = parted.vertices
        made = walker.walk(np.asarray(mine), first_walk=mine.start)
        return made[0].numpy(), made[1].numpy()

    made = results(run_ranks(count, work))
    assert np.array_equal(np.concatenate([one for one, _ in made]), walks.numpy())
    assert np.array_equal(np.concatenate([one for _, one in made]), lengths.numpy())


@pytest.mark.parametrize("count", [pytest.param(count, marks=on_gpu) for count in (1, 3)])
def test_trees_on_gpus_are_those_of_the_whole_graph(graph, count):
    for options in ({}, {"replace": True, "weighted": True, "dtype": np.int32}, {"weighted": True}):
        expected = tendril.khop_sample(graph, np.arange(300), [5, 3], seed=4, return_edges=True, **options)

        def work(ranks, options=options):
            parted = dist.Graph.cut(ranks, graph)
            device = f"cuda:{ranks.rank % tendril.num_gpus()}"
            sampler = dist.KHopSampler(parted, [5, 3], seed=4, device=device, **options)
            mine = np.array_split(np.arange(300), count)[ranks.rank]
            plain = sampler.sample(mine, first_root=int(mine[0]))
            made = sampler.sample(mine, first_root=int(mine[0]), return_edges=True)
            assert plain.edges is None and plain.vertices[0].device == device and made.offsets == [None, None]
            assert all(np.array_equal(a.numpy(), b.numpy()) for a, b in zip(plain.vertices, made.vertices, strict=True))
            return [(v.numpy(), e.numpy()) for v, e in zip(made.vertices, made.edges, strict=True)]

        ranks = results(run_ranks(count, work))
        for hop in range(2):
            vertices, edges = (np.concatenate([made[hop][i] for made in ranks]) for i in range(2))
            assert vertices.dtype == expected.vertices[hop].dtype and vertices.shape == expected.vertices[hop].shape
            assert np.array_equal(vertices, expected.vertices[hop]), options
            assert np.array_equal(edges, expected.edges[hop]), options


@pytest.mark.parametrize("count", [pytest.param(count, marks=on_gpu) for count in (1, 3)])
def test_trees_of_all_neighbours_on_gpus_are_those_of_the_whole_graph(graph, count):
    roots = np.arange(60)
    for fanouts, options in (([-1, 2], {}), ([2, -1, 3], {"weighted": True, "dtype": np.int32}), ([3, -1], {"replace": True})):
        mine = np.array_split(roots, count)
        expected = [
            tendril.khop_sample(graph, part, fanouts, seed=4, first_root=int(part[0]), return_edges=True, **options) for part in mine
        ]

        def work(ranks, fanouts=fanouts, options=options, mine=mine):
            device = f"cuda:{ranks.rank % tendril.num_gpus()}"
            sampler = dist.KHopSampler(dist.Graph.cut(ranks, graph), fanouts, seed=4, device=device, **options)
            made = sampler.sample(mine[ranks.rank], first_root=int(mine[ranks.rank][0]), return_edges=True)
            offsets = [None if one is None else one.numpy() for one in made.offsets]
            return [one.numpy() for one in made.vertices], [one.numpy() for one in made.edges], offsets

        for made, one in zip(results(run_ranks(count, work)), expected, strict=True):
            for arrays, wanted in zip(made, (one.vertices, one.edges, one.offsets), strict=True):
                for hop, array, right in zip(fanouts, arrays, wanted, strict=True):
                    assert (array is None) == (right is None), fanouts
                    assert array is None or (array.dtype == right.dtype and np.array_equal(array, right)), (fanouts, hop)


@pytest.mark.parametrize("count", [pytest.param(count, marks=on_gpu) for count in (1, 3)])
def test_batches_on_gpus_are_those_of_the_whole_graph(graph, count):
    for fanouts, options in (
        ([5, 3], {}),
        ([5, 3], {"replace": True, "weighted": True, "dtype": np.int32}),
        ([5, 3], {"disjoint": True, "weighted": True}),
        ([-1, 2, -1], {}),
        ([5, 3], {"choice": "labor", "batch_dependency": 3}),
        ([3, -1], {"choice": "labor", "layer_dependency": True, "normalize": False}),
        ([5, 3], {"subgraph_type": "induced"}),
        ([5], {"subgraph_type": "induced", "disjoint": True, "dtype": np.int32}),
    ):
        one = tendril.MinibatchSampler(graph, fanouts, seed=4, **options)
        expected = one.sample_batches(np.arange(300), 20, first_batch=7, batch_step=2)

        def work(ranks, fanouts=fanouts, options=options, expected=expected):
            parted = dist.Graph.cut(ranks, graph)
            device = f"cuda:{ranks.rank % tendril.num_gpus()}"
            sampler = dist.MinibatchSampler(parted, fanouts, seed=4, device=device, **options)
            assert sampler.device == device
            mine = np.array_split(np.arange(15), count)[ranks.rank]  # batches of this rank
            seeds = np.arange(mine[0] * 20, (mine[-1] + 1) * 20)
            made = sampler.sample_batches(seeds, 20, first_batch=7 + 2 * int(mine[0]), batch_step=2)
            for batch, whole in zip(made, expected[mine[0] : mine[-1] + 1], strict=True):
                assert batch.node.device == device and batch.node.numpy().dtype == whole.node.dtype
                for name in ("row", "col", "node", "edge", "weights", "batch", "indptr"):
                    a, b = getattr(batch, name), getattr(whole, name)
                    assert (a is None) == (b is None) and (a is None or np.array_equal(a.numpy(), b)), name
                assert list(batch.num_sampled_nodes) == list(whole.num_sampled_nodes)
            nothing = sampler.sample_batches([], 20) if ranks.rank else sampler.sample_batches(seeds[:7], 7)
            assert len(nothing) == (ranks.rank == 0)
            single = sampler.sample(seeds[:20], batch=7 + 2 * int(mine[0]))
            assert np.array_equal(single.node.numpy(), made[0].node.numpy())
            return sampler.report().num_batches

        assert sum(results(run_ranks(count, work))) == 15 + 1 + count


@pytest.mark.parametrize("count", [pytest.param(count, marks=on_gpu) for count in (1, 3)])
def test_rows_come_from_any_gpu(graph, count):
    for rows in (
        np.arange(512 * 5, dtype=np.float32).reshape(512, 5),
        np.arange(512 * 256, dtype=np.int16).reshape(512, 2, 128),
        np.arange(512, dtype=np.int64),
    ):

        def work(ranks, rows=rows):
            parted = dist.Graph.cut(ranks, graph)
            device = f"cuda:{ranks.rank % tendril.num_gpus()}"
            table = dist.FeatureTable(parted, rows, device=device)
            mine = np.asarray(parted.vertices)
            again = dist.FeatureTable.of_part(parted, rows[mine], device=device)
            ids = np.random.default_rng(ranks.rank).integers(0, 512, 1000 * ranks.rank + 1)
            for one in (table, again):
                made = one.gather(ids)
                assert made.device == device and made.shape == (len(ids), *rows.shape[1:])
                assert made.dtype == rows.dtype and np.array_equal(made.numpy(), rows[ids])
                there = one.gather(walker_ids(parted, device))
                assert np.array_equal(there.numpy(), rows[walker_ids(parted, None)])
            assert table.device == device
            kept = dist.FeatureTable(parted, rows, device=device, hot=0.1)
            assert np.array_equal(kept.gather(ids).numpy(), rows[ids])
            hot, away = parted.hot_vertices(51), ~np.isin(ids, mine)
            report = kept.report()
            assert (report.rows_away, report.rows_kept) == (away.sum(), (away & np.isin(ids, hot)).sum())
            wanted = np.arange(512)[:: ranks.rank + 1]
            kept.keep(wanted)
            assert np.array_equal(kept.gather(ids).numpy(), rows[ids])
            assert kept.report().rows_kept - report.rows_kept == (away & np.isin(ids, wanted)).sum()
            of_part = dist.FeatureTable.of_part(parted, rows[mine], device=device, hot=0.1)
            assert np.array_equal(of_part.gather(ids).numpy(), rows[ids])
            assert of_part.report().rows_kept == report.rows_kept
            report = table.report()
            assert report.rows == len(ids) + 20 and (report.rows_away > 0 or count == 1 or ranks.rank == 0)
            for call, line in (
                (lambda: table.gather([0, 512]), "ids[1] is 512, expected 0 to 511"),
                (lambda: table.gather([0], out=np.zeros((1, 5))), "out: rows on a GPU, expected none"),
                (lambda: kept.keep([0, 512]), "ids[1] is 512, expected 0 to 511"),
            ):
                with pytest.raises(tendril.ArgumentError) as error:
                    call()
                assert str(error.value) == line
            return len(table.gather([]))

        assert results(run_ranks(count, work)) == [0] * count


OF_PROCESSES = """
    import numpy as np, tendril
    from tendril import dist
    ranks = dist.connect(deadline=60)
    graph = tendril.generate.rmat(9, 8, seed=3)
    rows = np.arange(512 * 128, dtype=np.float32).reshape(512, 128)
    table = dist.FeatureTable(dist.Graph.cut(ranks, graph), rows, device=f"cuda:{ranks.rank}")
    ids = np.random.default_rng(ranks.rank).integers(0, 512, 50_000)
    for _ in range(3):
        assert np.array_equal(table.gather(ids).numpy(), rows[ids])
    report = table.report()
    print(report.rows_away > 20_000, report.sent_bytes < 4_096)
"""


@pytest.mark.gpu
@pytest.mark.skipif(tendril.num_gpus() < 2, reason="fewer than two GPUs")
@pytest.mark.parametrize("way", ["peers", "host"])
def test_rows_of_processes_are_read_where_they_lie(tmp_path, monkeypatch, way):
    """Where GPUs reach each other, nothing is sent; that rows are sent otherwise shows that this would be seen."""
    pytest.importorskip("torch")
    monkeypatch.setenv("TENDRIL_GPU_MESSAGES", way)
    running = start_ranks(tmp_path, OF_PROCESSES, 2)
    said = [one.communicate(timeout=120) for one in running]
    assert [one.returncode for one in running] == [0, 0], said
    assert [out for out, _ in said] == [f"True {way == 'peers'}\n"] * 2


def walker_ids(parted, device):
    """Vertices on a GPU, or the same ones in host memory: a walk of 19 steps."""
    walks, _ = dist.Walker(parted, 19, seed=1, device=device, dead_end="repeat").walk([3])
    return walks[0]


@pytest.mark.parametrize("count", [pytest.param(3, marks=on_gpu)])
def test_wrong_arguments_of_one_rank_end_the_call_alone(graph, count):
    rows = np.arange(512 * 2, dtype=np.float32).reshape(512, 2)
    whole = tendril.random_walk(graph, [5, 500], 9)[0]

    def work(ranks):
        parted = dist.Graph.cut(ranks, graph)
        device = f"cuda:{ranks.rank % tendril.num_gpus()}"
        walker = dist.Walker(parted, 9, device=device)
        trees = dist.KHopSampler(parted, [3, 2], device=device)
        sampler = dist.MinibatchSampler(parted, [3, 2], device=device)
        table = dist.FeatureTable(parted, rows, device=device)
        for bad in range(count):
            wrong = ranks.rank == bad
            kind = tendril.ArgumentError if wrong else tendril.RankError
            for ids in ([0, 9999], [0, -1], [0.5]):
                given = ids if wrong else [1, 2]
                for call in (walker.walk, trees.sample, sampler.sample, table.gather, table.keep):
                    with pytest.raises(kind) as error:
                        call(given)
                    assert wrong or str(error.value).startswith(f"rank {bad} of {count}: ")
            with pytest.raises(kind):
                sampler.sample_batches([0], 0 if wrong else 1)
            assert np.array_equal(walker.walk([5, 500])[0].numpy(), whole)
            assert np.array_equal(table.gather([5, 500]).numpy(), rows[[5, 500]])
            assert len(trees.sample([5]).vertices) == 2 and len(sampler.sample([5]).node) > 0
        return True

    assert all(results(run_ranks(count, work)))


@pytest.mark.parametrize("count", [1, 2])
def test_what_gpus_of_ranks_dont_take_is_named(graph, count):
    def work(ranks):
        parted = dist.Graph.cut(ranks, graph)
        with pytest.raises(tendril.ArgumentError, match="device"):
            dist.Walker(parted, 9, device="cuda:0,1")
        return len(dist.Walker(parted, 9).walk([0])[0])  # the ranks are as they were

    assert results(run_ranks(count, work)) == [1] * count


@pytest.mark.skipif(tendril.num_gpus() > 0, reason="a GPU")
def test_a_gpu_that_is_not_there_is_one_line(graph):
    def work(ranks):
        return dist.Walker(dist.Graph.cut(ranks, graph), 9, device="cuda")

    def by_struct(ranks):
        walk = tendril.CustomWalk(STRUCT, cold=0.25)
        return dist.DynamicWalker(dist.Graph.cut(ranks, graph), 9, walk, device="cuda")

    def grow(ranks):
        return dist.KHopSampler(dist.Graph.cut(ranks, graph), [2], device="cuda")

    def sample(ranks):
        return dist.MinibatchSampler(dist.Graph.cut(ranks, graph), [2], device="cuda")

    for one in [one for make in (work, by_struct, grow, sample) for one in run_ranks(2, make)]:
        assert isinstance(one, tendril.TendrilError) and "\n" not in str(one)
        assert "GPU" in str(one) or "CUDA" in str(one)
