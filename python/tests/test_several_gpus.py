"""Several GPUs share a call: the result is that of one call, whatever their number, and lies on the first.

Where there are fewer GPUs, one of them stands for several, or the CPU does: calls run side by side all the same, and their
parts are joined."""

import dataclasses
import pickle

import numpy as np
import pytest
from calls import APPLICATION, WALK

import tendril
from tendril import _gpu

N = 300


@pytest.fixture(scope="module")
def graph():
    return tendril.generate.rmat(
        9, 8, seed=3, weights=(1, 5), num_labels=2, symmetrize=True, drop_self_loops=True
    )


def jobs(graph):
    """By name: a call that takes a device, and keywords for it, that gives several samples."""
    some = np.arange(37) * 11 % N
    rows = some[:36].reshape(12, 3)
    walk, app = tendril.CustomWalk(WALK, bonus=1.0), tendril.Application(APPLICATION, fanout=5)
    clusters = tendril.cluster_vertices(graph, 20)
    return {
        "walks from every vertex": lambda **how: tendril.random_walk(graph, length=7, seed=4, **how),
        "several walks each": lambda **how: tendril.random_walk(
            graph, some, 7, walks_per_vertex=3, stop_prob=0.2, first_walk=2**33, **how
        ),
        "ragged": lambda **how: tendril.random_walk(graph, some, 30, stop_prob=0.2, order="ragged", **how),
        "int32": lambda **how: tendril.random_walk(graph, some, 7, weighted=True, dtype=np.int32, **how),
        "node2vec": lambda **how: tendril.node2vec_walk(graph, some, 9, 0.5, 2.0, **how),
        "metapath": lambda **how: tendril.metapath_walk(graph, some, [0, 1], 9, **how),
        "dynamic": lambda **how: tendril.dynamic_walk(graph, some, 9, walk, first_walk=5, **how),
        "multidim": lambda **how: tendril.multidim_walk(graph, rows, 12, **how),
        "khop": lambda **how: tendril.khop_sample(graph, some, [4, 3], first_root=9, return_edges=True, **how),
        "khop, all": lambda **how: tendril.khop_sample(graph, some, [3, -1, 2], return_edges=True, **how),
        "fastgcn": lambda **how: tendril.fastgcn_sample(graph, rows, num_layers=2, layer_size=8, **how),
        "ladies": lambda **how: tendril.ladies_sample(graph, rows, num_layers=2, layer_size=8, return_edges=True, **how),
        "one batch": lambda **how: tendril.ladies_sample(graph, some, num_layers=2, layer_size=8, **how),
        "mvs": lambda **how: tendril.mvs_sample(
            graph, np.arange(graph.num_vertices, dtype=np.float32), num_samples=13, batch_size=4, **how
        ),
        "cluster": lambda **how: tendril.cluster_sample(graph, clusters, 3, 11, **how),
        "shadow": lambda **how: tendril.shadow_sample(graph, some, depth=2, num_neighbors=3, **how),
        "saint node": lambda **how: tendril.saint_node_sample(graph, budget=20, num_samples=11, **how),
        "saint edge": lambda **how: tendril.saint_edge_sample(graph, budget=20, num_samples=11, **how),
        "saint walk": lambda **how: tendril.saint_walk_sample(graph, budget=9, length=3, num_samples=11, **how),
        "layer": lambda **how: tendril.layer_sample(graph, some, layer_size=4, max_size=9, **how),
        "application": lambda **how: app.sample(graph, some, first_sample=3, **how),
        "by name": lambda **how: tendril.sample(graph, "deepwalk", some, 6, **how),
    }


NAMES = list(jobs(tendril.generate.ring(N)))


@pytest.fixture(params=["cpu", pytest.param("gpus", marks=pytest.mark.gpu)])
def several(request, monkeypatch):
    """The device "several": every GPU, or three times the one device that there is; and where results lie then."""
    there = tendril.num_gpus()
    if request.param == "gpus" and there == 0:
        pytest.skip("no GPU")
    devices = [_gpu.HOST] * 3 if request.param == "cpu" else list(range(there)) if there > 1 else [0] * 3
    parse = _gpu.parse_several
    monkeypatch.setattr(_gpu, "parse_several", lambda device: devices if device == "several" else parse(device))
    return _gpu.name_of(devices[0])


def fields_of(made):
    return {field.name: getattr(made, field.name) for field in dataclasses.fields(made)}


def expect_equal(made, expected, place):
    """The same arrays, wherever `expected` lies; `made` lies in one place."""
    if dataclasses.is_dataclass(expected):
        made, expected = fields_of(made), fields_of(expected)
    if isinstance(expected, dict):
        assert list(made) == list(expected)
        made, expected = list(made.values()), list(expected.values())
    if isinstance(expected, (list, tuple)):
        assert len(made) == len(expected)
        for one, other in zip(made, expected, strict=True):
            expect_equal(one, other, place)
    elif isinstance(expected, (np.ndarray, tendril.DeviceArray)):
        assert getattr(made, "device", "cpu") == place
        assert made.dtype == expected.dtype and made.shape == expected.shape
        assert np.array_equal(np.asarray(made), np.asarray(expected))
    else:
        assert made == expected


@pytest.mark.parametrize("name", NAMES)
def test_places_together_make_what_the_cpu_makes(name, graph, several):
    call = jobs(graph)[name]
    expect_equal(call(device="several"), call(device="cpu"), several)


def batches_of(sampler, **options):
    return [fields_of(batch) for batch in sampler.sample_batches(np.arange(N), 32, **options)]


@pytest.mark.parametrize("options", [{}, {"first_batch": 2**64 - 3}, {"batch_step": 4}], ids=str)
def test_batches_are_shared(options, graph, several):
    make = {"num_neighbors": [4, 3], "seed": 5}
    shared = tendril.MinibatchSampler(graph, **make, device="several")
    assert shared.device == several
    expect_equal(batches_of(shared, **options), batches_of(tendril.MinibatchSampler(graph, **make, device="cpu"), **options), several)
    one = tendril.MinibatchSampler(graph, **make, device="cpu").sample([3, 4], batch=7)
    expect_equal(shared.sample([3, 4], batch=7), one, several)


def test_batches_of_types_and_times_are_shared(several):
    ring = tendril.generate.ring(N)
    types = tendril.HeteroGraph({"a": N}, {("a", "to", "a"): ring})
    for options in ({"num_neighbors": [2, 2]}, {"num_neighbors": [2], "disjoint": True}):
        shared = tendril.MinibatchSampler(types, **options, device="several")
        alone = tendril.MinibatchSampler(types, **options, device="cpu")
        expect_equal(batches_of(shared, node_type="a"), batches_of(alone, node_type="a"), several)
    timed = {"num_neighbors": [2], "disjoint": True, "edge_times": np.arange(ring.num_edges)}
    when = np.arange(N) * 2
    shared = tendril.MinibatchSampler(ring, **timed, device="several")
    alone = tendril.MinibatchSampler(ring, **timed, device="cpu")
    expect_equal(batches_of(shared, times=when), batches_of(alone, times=when), several)


def test_what_is_refused_counts_samples_from_the_first(graph, several):
    starts = np.arange(40)
    starts[33] = 10**6
    with pytest.raises(tendril.ArgumentError) as alone:
        tendril.random_walk(graph, starts, 5, device=several)
    with pytest.raises(tendril.ArgumentError) as together:
        tendril.random_walk(graph, starts, 5, device="several")
    assert str(together.value) == str(alone.value) and "33" in str(alone.value)
    sampler = tendril.MinibatchSampler(graph, [2], device="several")
    with pytest.raises(tendril.ArgumentError) as together:
        sampler.sample_batches(starts, 4)
    with pytest.raises(tendril.ArgumentError) as alone:
        tendril.MinibatchSampler(graph, [2], device=several).sample_batches(starts, 4)
    assert str(together.value) == str(alone.value)


def test_fewer_samples_than_gpus(graph, several):
    for starts in ([], [5], [5, 6]):
        made = tendril.random_walk(graph, starts, 4, device="several")
        expect_equal(made, tendril.random_walk(graph, starts, 4, device="cpu"), several)
    sampler = tendril.MinibatchSampler(graph, [2], device="several")
    assert sampler.sample_batches([], 4) == []
    assert len(sampler.sample_batches([1, 2, 3], 4)) == 1


def test_what_several_gpus_can_t_do_is_one_line(graph, several):
    def refusal(call, *arguments, **keywords):
        with pytest.raises(tendril.ArgumentError) as error:
            call(*arguments, **keywords)
        return str(error.value)

    walk = tendril.random_walk
    assert refusal(walk, graph, device="several", stream=0).startswith("stream is given, expected none")
    assert refusal(walk, graph, device="several", order="steps") == "order is 'steps', expected 'rows' or 'ragged' on several GPUs"
    for starts in ([1, 2], None):
        assert refusal(walk, "graph", starts, 3, device="several") == "graph is a str, expected a Graph"
    app = tendril.Application(APPLICATION, fanout=5)
    assert refusal(app.sample, graph, [1, 2], device="several", order="samples") == (
        "order is 'samples', expected 'steps' on several GPUs"
    )
    assert refusal(tendril.cluster_sample, graph, np.zeros(graph.num_vertices, int), device="several") == (
        "num_samples is None, expected a number of samples on several GPUs"
    )
    assert refusal(tendril.MinibatchSampler, graph, [2], device="several", stream=0).startswith("stream is given")


@pytest.mark.parametrize(
    ("device", "problem"),
    [
        (["cuda:0", "cuda:0"], "device is ['cuda:0', 'cuda:0'], expected different GPUs"),
        ("cuda:1,1", "device is 'cuda:1,1', expected different GPUs"),
        ([], "device is [], expected names of GPUs"),
        (["cuda:0", "cpu"], "device is ['cuda:0', 'cpu'], expected names of GPUs"),
        (["cuda:0", "tpu"], "device is 'tpu', expected 'cpu', 'cuda' or 'cuda:0'"),
        ("cuda:0,", "device is 'cuda:0,', expected 'cpu', 'cuda' or 'cuda:0'"),
    ],
)
def test_a_device_that_can_t_be(device, problem, graph):
    with pytest.raises(tendril.ArgumentError) as error:
        tendril.random_walk(graph, device=device)
    assert str(error.value) == problem


def test_one_name_in_a_list_is_one_device(graph):
    expect_equal(tendril.random_walk(graph, length=3, device=["cpu"]), tendril.random_walk(graph, length=3), "cpu")


def test_calls_of_one_batch_take_one_gpu(graph):
    with pytest.raises(tendril.ArgumentError, match="expected 'cpu', 'cuda' or 'cuda:0'"):
        tendril.labor_sample(graph, [1], [2], device="cuda:0,1")


@pytest.fixture
def two_gpus():
    if tendril.num_gpus() < 2:
        pytest.skip("fewer than two GPUs")
    return "cuda:0,1"


@pytest.mark.gpu
@pytest.mark.parametrize("name", NAMES)
def test_one_graph_lies_over_several_gpus(name, graph, two_gpus):
    if name in ("cluster",):
        pytest.skip("clusters lie where their graph does")
    spread, expected = jobs(graph.to(two_gpus))[name], jobs(graph)[name](device="cpu")
    expect_equal(spread(), expected, "cuda:0")
    expect_equal(spread(device="cuda:1"), expected, "cuda:1")
    expect_equal(spread(device=two_gpus), expected, "cuda:0")


@pytest.mark.gpu
def test_batches_of_one_graph_over_several_gpus(graph, two_gpus):
    spread = graph.to(two_gpus)
    assert spread.device == "cuda:0" and spread.num_edges == graph.num_edges
    expected = batches_of(tendril.MinibatchSampler(graph, [4, 3], seed=5, device="cpu"))
    for device in (None, "cuda:1", two_gpus):
        made = batches_of(tendril.MinibatchSampler(spread, [4, 3], seed=5, device=device))
        expect_equal(made, expected, "cuda:1" if device == "cuda:1" else "cuda:0")
    assert np.array_equal(spread.to("cpu").indices, graph.indices)


@pytest.mark.gpu
def test_one_table_lies_over_several_gpus(two_gpus):
    rows = np.random.default_rng(1).random((200_000, 33), np.float32)
    table = tendril.FeatureTable(rows).to(two_gpus)
    assert table.device == "cuda:0" and table.shape == rows.shape
    ids = np.random.default_rng(2).integers(0, len(rows), 50_000)
    made = table.gather(ids)
    assert made.device == "cuda:0" and np.array_equal(made.numpy(), rows[ids])
    assert np.array_equal(np.asarray(table), rows)
    with pytest.raises(tendril.ArgumentError, match=r"ids\[1\] is 200000"):
        table.gather([0, 200_000])
    with pytest.raises(tendril.ArgumentError, match="stream is given, expected none"):
        tendril.FeatureTable(rows).to(two_gpus, stream=0)


@pytest.mark.gpu
@pytest.mark.parametrize("hot", [None, [], [7, 199_999, 7, 0], np.arange(0, 200_000, 3)])
def test_each_gpu_gathers_from_a_table_over_several(hot, two_gpus):
    rows = np.random.default_rng(1).random((200_000, 33), np.float32)
    table = tendril.FeatureTable(rows).to(two_gpus, hot=hot)
    assert table.device == "cuda:0" and "device='cuda:0,1'" in repr(table)
    ids = np.random.default_rng(2).integers(0, len(rows), 50_000)
    for device in ("cuda:0", "cuda:1"):
        there = tendril.FeatureTable(ids).to(device)
        made = table.gather(there)
        assert made.device == device and np.array_equal(made.numpy(), rows[ids])
        made = tendril.gather_tables({"x": table, "y": rows}, there)
        assert made["x"].device == made["y"].device == device
        assert np.array_equal(made["x"].numpy(), rows[ids]) and np.array_equal(made["y"].numpy(), rows[ids])
        assert np.array_equal(table.gather(there, check=False).numpy(), rows[ids])
        out = table.gather(tendril.FeatureTable(ids[::-1].copy()).to(device))
        assert table.gather(ids, out=out) is out and np.array_equal(out.numpy(), rows[ids])
        assert table.to(device) is table
        with pytest.raises(tendril.ArgumentError, match=r"ids\[1\] is 200000"):
            table.gather(tendril.FeatureTable(np.array([0, 200_000])).to(device))
    assert np.array_equal(np.asarray(pickle.loads(pickle.dumps(table))), rows)
    assert (table.to(two_gpus) is table) and np.array_equal(np.asarray(table.to("cpu")), rows)


@pytest.mark.gpu
@pytest.mark.parametrize("first", ["spread", "own"])
def test_tables_of_one_call_are_gathered_by_a_gpu_that_has_all(first, two_gpus):
    rows = np.random.default_rng(1).random((900, 5), np.float32)
    tables = {"spread": tendril.FeatureTable(rows).to(two_gpus, hot=[3]), "own": tendril.FeatureTable(rows).to("cuda:1")}
    made = tendril.gather_tables({key: tables[key] for key in sorted(tables, key=lambda key: key != first)}, [5, 3, 899])
    for found in made.values():
        assert found.device == "cuda:1" and np.array_equal(found.numpy(), rows[[5, 3, 899]])


@pytest.mark.gpu
@pytest.mark.parametrize("device", ["cuda:0", "cuda:1"])
def test_pipelines_of_each_gpu_take_a_table_over_several(device, two_gpus):
    graph = tendril.generate.rmat(10, 8, seed=3)
    rows = np.random.default_rng(1).random((graph.num_vertices, 20), np.float32)
    sampler = tendril.MinibatchSampler(graph, [4, 3], seed=5, device=device)
    table = tendril.FeatureTable(rows).to(two_gpus, hot=np.arange(100))
    made = list(tendril.Pipeline(sampler, np.arange(500), batch_size=100, features={"x": table}))
    assert len(made) == 5
    for batch in made:
        assert batch.features["x"].device == device
        assert np.array_equal(batch.features["x"].numpy(), rows[batch.minibatch.node.numpy()])


@pytest.mark.gpu
def test_rows_to_copy_are_checked(two_gpus):
    table = tendril.FeatureTable(np.zeros((9, 2), np.float32))
    with pytest.raises(tendril.ArgumentError, match=r"hot\[2\] is 9, expected 0 to 8"):
        table.to(two_gpus, hot=[1, 2, 9])
    with pytest.raises(tendril.ArgumentError, match=r"hot\[0\] is -1, expected 0 to 8"):
        table.to(two_gpus, hot=[-1])


def test_rows_are_copied_to_gpus_alone():
    table = tendril.FeatureTable(np.zeros((9, 2), np.float32))
    with pytest.raises(tendril.ArgumentError, match="hot is given, expected GPUs, not 'cpu'"):
        table.to("cpu", hot=[1])


@pytest.mark.gpu
@pytest.mark.skipif(tendril.num_gpus() == 0, reason="no GPU")
def test_one_gpu_has_the_hot_rows_in_any_case():
    rows = np.arange(18, dtype=np.float32).reshape(9, 2)
    table = tendril.FeatureTable(rows).to("cuda:0", hot=[8, 1])
    assert np.array_equal(np.asarray(table), rows) and table._core.gpus == [0]
    with pytest.raises(tendril.ArgumentError, match=r"hot\[1\] is 9, expected 0 to 8"):
        tendril.FeatureTable(rows).to("cuda:0", hot=[1, 9])


@pytest.mark.gpu
def test_a_graph_is_copied_to_several_gpus_by_name(graph, two_gpus):
    expected = tendril.random_walk(graph, length=7, seed=4)
    for device in ("cuda:0,1", ["cuda:1", "cuda:0"], "cuda:all"):
        made = tendril.random_walk(graph, length=7, seed=4, device=device)
        expect_equal(made, expected, "cuda:1" if device == ["cuda:1", "cuda:0"] else "cuda:0")


@pytest.mark.gpu
def test_many_walkers_move_on_a_graph_over_several_gpus(graph, two_gpus):
    spread = graph.to(two_gpus)
    each = 2 * 65536 // graph.num_vertices + 1  # enough to move
    jobs = [
        lambda g, **how: tendril.random_walk(g, length=6, walks_per_vertex=each, weighted=True, first_walk=2**33, **how),
        lambda g, **how: tendril.random_walk(g, length=60, walks_per_vertex=each, stop_prob=0.1, restart_prob=0.1, **how),
        lambda g, **how: tendril.node2vec_walk(g, None, 6, 0.5, 2.0, walks_per_vertex=each, **how),
        lambda g, **how: tendril.metapath_walk(g, None, [0, 1], 6, walks_per_vertex=each, **how),
    ]
    for job in jobs:
        expected = job(graph, device="cpu")
        expect_equal(job(spread), expected, "cuda:0")
        expect_equal(job(spread, device="cuda:1"), expected, "cuda:1")
        expect_equal(job(spread, device=two_gpus), expected, "cuda:0")
