"""tendril.Pipeline: batches are the sampler's, features are the tables' rows, whatever makes them when."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from threads_left import expect_none_left

import tendril

COUNT, EDGES = 200, 1500
X = np.arange(COUNT * 3, dtype=np.float32).reshape(COUNT, 3)
Y = np.arange(COUNT, dtype=np.int64) * 7
FIRST_OF_EPOCH_0 = [29, 90, 28, 20, 92, 6]  # of 100 seeds: what tendril.pyg's loaders have, too


def graph():
    rng = np.random.RandomState(1)
    return tendril.Graph.from_coo(rng.randint(COUNT, size=EDGES), rng.randint(COUNT, size=EDGES), num_vertices=COUNT)


def pipeline(sampler=None, seeds=None, **options):
    sampler = tendril.MinibatchSampler(graph(), [4, 3], seed=5) if sampler is None else sampler
    seeds = np.arange(0, COUNT, 2) if seeds is None else seeds
    return tendril.Pipeline(sampler, seeds, **{"batch_size": 9, "shuffle": True, "features": {"x": X}, **options})


def told(batch):
    """All that a batch holds, as bytes."""

    def parts(one):
        if isinstance(one, dict):
            return [(key, parts(value)) for key, value in one.items()]
        return None if one is None else np.asarray(one).tobytes() if hasattr(one, "dtype") else repr(one)

    fields = (batch.minibatch.node, batch.minibatch.row, batch.minibatch.col, batch.minibatch.edge)
    return repr([parts(one) for one in (*fields, batch.index, batch.features, batch.edge_features, batch.labels)])


def each(given):
    return [told(batch) for batch in given]


def test_batches_are_the_samplers_and_features_their_rows():
    seeds = np.random.RandomState(2).permutation(COUNT)[:100]
    weights = np.arange(graph().num_edges, dtype=np.float16).reshape(-1, 1) % 512
    sampler = tendril.MinibatchSampler(graph(), [4, 3], seed=5)
    made = pipeline(sampler, seeds, edge_features={"w": weights}, labels={"y": Y}, seed=3)
    assert len(made) == 12
    for epoch in range(2):
        batches = list(made)
        order = np.concatenate([batch.index for batch in batches])
        assert sorted(order) == list(range(100))
        for i, batch in enumerate(batches):
            assert batch.number == 12 * epoch + i and len(batch.index) == (9 if i < 11 else 1)
            expected = sampler.sample(seeds[batch.index], batch=batch.number)
            for field in ("node", "row", "col", "edge", "num_sampled_nodes"):
                assert np.array_equal(getattr(batch.minibatch, field), getattr(expected, field))
            assert np.array_equal(batch.features["x"], X[expected.node]) and batch.features["x"].dtype == np.float32
            assert np.array_equal(batch.edge_features["w"], weights[expected.edge])
            assert np.array_equal(batch.labels["y"], Y[seeds[batch.index]])


def test_the_order_is_that_of_all_loaders():
    made = pipeline(seeds=np.arange(100), batch_size=6, seed=0)
    assert next(iter(made)).index.tolist() == FIRST_OF_EPOCH_0
    made = pipeline(shuffle=False)
    assert np.concatenate([batch.index for batch in made]).tolist() == list(range(100))


@pytest.mark.parametrize("way", [{"bulk": 1}, {"bulk": 100}, {"prefetch": 0}, {"prefetch": 9}, {"num_threads": 1}], ids=str)
def test_nothing_but_the_seed_changes_a_batch(way):
    assert each(pipeline(**way)) == each(pipeline())
    assert each(pipeline(**way, seed=1)) != each(pipeline())


def test_graphs_of_several_types():
    rng = np.random.RandomState(3)
    ends = {("author", "writes", "paper"): (40, 60), ("paper", "cites", "paper"): (60, 60)}
    edges = {key: (rng.randint(a, size=300), rng.randint(b, size=300)) for key, (a, b) in ends.items()}
    library = tendril.HeteroGraph({"author": 40, "paper": 60}, edges)
    tables = {"author": {"a": np.arange(40)}, "paper": {"x": X[:60], "y": Y[:60]}}
    of_edges = {("paper", "cites", "paper"): {"e": np.arange(300, dtype=np.int8)}}
    for sampler in (tendril.MinibatchSampler(library, [3, 2]), tendril.HGTSampler(library, [3, 2])):
        made = pipeline(
            sampler, np.arange(40), node_type="author", features=tables, edge_features=of_edges, labels={"a": -np.arange(40)}
        )
        count = 0
        for batch in made:
            node, edge = batch.minibatch.node, batch.minibatch.edge
            assert np.array_equal(batch.features["author"]["a"], node["author"])
            assert np.array_equal(batch.features["paper"]["x"], X[node["paper"]])
            assert np.array_equal(batch.features["paper"]["y"], Y[node["paper"]])
            own = batch.edge_features["paper", "cites", "paper"]["e"]
            assert np.array_equal(own, edge["paper", "cites", "paper"].astype(np.int8))
            assert np.array_equal(batch.labels["a"], -batch.index)
            count += len(node["paper"])
        assert count > 40 or isinstance(sampler, tendril.HGTSampler)
    for options, message in (
        ({}, "node_type is None, expected one of"),
        ({"node_type": "reader"}, "node_type is 'reader', expected one of"),
        ({"node_type": "paper", "features": {"reader": {}}}, "features has the type 'reader', expected one of"),
        ({"node_type": "paper", "features": {"paper": X}}, r"features\['paper'\] is a ndarray, expected a mapping"),
        ({"node_type": "paper", "features": {"paper": {"x": X}}}, r"\['x'\] has 200 rows, expected 60"),
    ):
        with pytest.raises(tendril.ArgumentError, match=message):
            pipeline(tendril.MinibatchSampler(library, [3]), np.arange(40), **{"features": None, **options})


def test_seeds_with_times_see_nothing_later():
    times = np.random.RandomState(4).randint(100, size=graph().num_edges)
    sampler = tendril.MinibatchSampler(graph(), [5], disjoint=True, edge_times=times)
    seeds, when = np.arange(COUNT), np.random.RandomState(5).randint(100, size=COUNT)
    made = pipeline(sampler, seeds, times=when, edge_features={"t": times})
    total = 0
    for batch in made:
        small = batch.minibatch
        assert (batch.edge_features["t"] <= when[batch.index][small.batch[small.row]]).all()
        total += len(small.row)
    assert total > 100


def test_features_of_files(tmp_path):
    np.save(tmp_path / "x.npy", X)
    table = tendril.read_features(tmp_path / "x.npy")
    for given in (table, np.load(tmp_path / "x.npy", mmap_mode="r")):
        assert each(pipeline(features={"x": given})) == each(pipeline())


def test_other_libraries_take_the_arrays():
    torch = pytest.importorskip("torch")
    half = torch.arange(COUNT * 2).reshape(COUNT, 2).to(torch.bfloat16)
    for batch in pipeline(features={"x": X, "half": half}):
        node = torch.from_numpy(batch.minibatch.node)
        assert torch.equal(torch.from_dlpack(batch.features["x"]), torch.from_numpy(X)[node])
        assert torch.equal(torch.from_dlpack(batch.features["half"]), half[node])


def test_an_interrupted_epoch_goes_on():
    whole = pipeline()
    epochs = [each(whole) for _ in range(3)]
    for done in (0, 1, 5, 12):
        first = pipeline()
        each(first)
        iteration = iter(first)
        assert [told(next(iteration)) for _ in range(done)] == epochs[1][:done]
        state = first.state_dict()
        assert state == {"version": 1, "seed": 0, "epoch": 1, "batch": done, "batches": 12}
        again = pipeline()
        again.load_state_dict(state)
        assert each(again) == epochs[1][done:] and each(again) == epochs[2]
    with pytest.raises(tendril.ArgumentError, match="state has batches 12, this loader 11"):
        pipeline(drop_last=True).load_state_dict(state)


def test_ranks_share_an_epoch():
    epoch = each(pipeline())
    for world_size in (2, 5, 13):
        for uneven in ("keep", "drop", "repeat"):
            ranks = [pipeline(rank=rank, world_size=world_size, uneven=uneven) for rank in range(world_size)]
            made = [each(one) for one in ranks]
            assert [len(one) for one in made] == [len(one) for one in ranks]
            if uneven == "keep":
                assert made == [epoch[rank::world_size] for rank in range(world_size)]
            else:
                rounds = 12 // world_size if uneven == "drop" else -(-12 // world_size)
                wanted = [[epoch[(i * world_size + rank) % 12] for i in range(rounds)] for rank in range(world_size)]
                assert made == wanted


@pytest.mark.parametrize("uneven", ["keep", "repeat"])
def test_ranks_sample_batches_together(uneven, monkeypatch):
    sampler = tendril.MinibatchSampler(graph(), [4, 3], seed=5)
    calls, bulk = [], sampler.sample_batches

    def counting(seeds, size, **options):
        calls.append((options["first_batch"], options["batch_step"], len(seeds)))
        return bulk(seeds, size, **options)

    monkeypatch.setattr(sampler, "sample_batches", counting)
    for rank in range(5):  # of 12 batches; the last one is smaller
        ways = {"rank": rank, "world_size": 5, "uneven": uneven, "seeds": np.arange(100), "prefetch": 0}
        alone = each(pipeline(sampler, bulk=1, **ways))
        calls.clear()
        assert each(pipeline(sampler, bulk=2, **ways)) == alone
        last = [] if rank > 1 and uneven == "keep" else [((10 + rank) % 12, 5, 1 if rank == 1 else 9)]
        assert calls == [(rank, 5, 18), *last]


def test_where_the_time_goes_and_what_is_left_behind(tmp_path):
    before = threading.active_count()
    made = pipeline()
    assert len(list(made)) == made.stats().batches == 12
    assert made.stats().sample > 0 and made.stats().gather > 0
    made.write_timeline(tmp_path / "epoch.svg")
    for _ in range(3):
        for batch in made:
            assert batch.number >= 12
            break
    expect_none_left(before)


def test_an_interpreter_may_end_amid_an_epoch():
    script = """
import numpy as np, tendril
sampler = tendril.MinibatchSampler(tendril.generate.ring(1000), [2])
pipeline = iter(tendril.Pipeline(sampler, np.arange(1000), batch_size=2, features={"x": np.zeros((1000, 4))}))
print(next(pipeline).features["x"].shape[1])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "4\n", "")


def test_no_seeds_and_no_features():
    assert list(pipeline(seeds=[])) == []
    batch = next(iter(pipeline(features=None)))
    assert batch.features == batch.edge_features == batch.labels == {}
    assert len(pipeline(seeds=[1, 2, 3], drop_last=True)) == 0


@pytest.mark.gpu
@pytest.mark.skipif(tendril.num_gpus() == 0, reason="no GPU")
@pytest.mark.parametrize("place", [lambda t: t, lambda t: t.pin_memory(), lambda t: t.to("cuda")])
def test_on_a_gpu_batches_are_those_of_the_cpu(place):
    weights = np.arange(graph().num_edges, dtype=np.float16).reshape(-1, 1) % 512
    tables = {"features": {"x": X}, "edge_features": {"w": weights}, "labels": {"y": Y}}
    expected = each(pipeline(**tables))
    there = {
        what: {name: place(tendril.FeatureTable(table)) for name, table in many.items()} for what, many in tables.items()
    }
    for prefetch in (0, 3):
        sampler = tendril.MinibatchSampler(graph().to("cuda"), [4, 3], seed=5)
        loader = pipeline(sampler, prefetch=prefetch, **there)
        made = list(loader)
        told = "" if there["features"]["x"].device != "cpu" else "cpu" if prefetch else "auto"
        assert loader.stats().host_rows.split(",")[0] == told
        assert all(isinstance(batch.features["x"], tendril.DeviceArray) for batch in made)
        assert all(isinstance(batch.labels["y"], tendril.DeviceArray) for batch in made)
        assert each(made) == expected


@pytest.mark.gpu
@pytest.mark.skipif(tendril.num_gpus() == 0, reason="no GPU")
def test_on_a_stream_of_its_own():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("Torch sees no GPU")
    stream = torch.cuda.Stream()
    sampler = tendril.MinibatchSampler(graph().to("cuda"), [4, 3], seed=5, stream=stream)
    features = {"x": tendril.FeatureTable(X).to("cuda")}
    for batch, other in zip(pipeline(sampler, features=features), pipeline(), strict=True):
        torch.cuda._sleep(1_000_000)
        found = torch.from_dlpack(batch.features["x"])
        assert torch.equal(found.cpu(), torch.from_numpy(other.features["x"]))


def test_what_is_refused():
    on = tendril.MinibatchSampler(graph(), [2])
    for options, message in (
        ({"sampler": graph()}, "sampler is a Graph, expected a MinibatchSampler or HGTSampler"),
        ({"batch_size": 0}, "batch_size is 0, expected 1 or more"),
        ({"prefetch": -1}, "prefetch is -1, expected 0 or more"),
        ({"bulk": 0}, "bulk is 0, expected 1 or more"),
        ({"seed": -1}, "seed"),
        ({"rank": 3}, "rank is 3, expected 0 to 0"),
        ({"node_type": "paper"}, "node_type is 'paper', expected None: the graph has one type"),
        ({"seeds": [3, 200, -1]}, r"seeds\[1\] is 200, expected a vertex in \[0, 200\)"),
        ({"seeds": [3, -1]}, r"seeds\[1\] is -1, expected a vertex in \[0, 200\)"),
        ({"seeds": [0.5]}, "seeds"),
        ({"times": [1]}, "times has 1 elements, expected one for each of 100 seeds"),
        ({"features": X}, "features is a ndarray, expected a mapping of names to tables"),
        ({"features": {"x": X[:-1]}}, r"features\['x'\] has 199 rows, expected 200"),
        ({"features": {"x": np.array(["a"] * COUNT)}}, r"features\['x'\]: "),
        ({"features": {"x": "file.npy"}}, r"features\['x'\]: "),
        ({"edge_features": {"x": X}}, r"edge_features\['x'\] has 200 rows, expected 1500"),
        ({"labels": {"y": Y[:3]}}, r"labels\['y'\] has 3 rows, expected 200"),
        ({"shuffle": np.ones(2)}, "shuffle"),
        ({"prefech": 2}, "prefetch"),
    ):
        with pytest.raises((ValueError, TypeError), match=message) as error:
            pipeline(**{"sampler": on, **options})
        assert "\n" not in str(error.value)


def test_an_error_while_batches_are_made_arrives():
    table = X.copy()
    made = pipeline(features={"x": table}, sampler=tendril.MinibatchSampler(graph(), [2], disjoint=True))

    def fail(*_):
        raise tendril.OutOfMemoryError("out of memory: a batch")

    made._sample = fail
    before = threading.active_count()
    with pytest.raises(tendril.OutOfMemoryError, match="a batch"):
        list(made)
    expect_none_left(before)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_examples_learn(library):
    pytest.importorskip(library)
    command = [sys.executable, "-W", "ignore", str(Path(__file__).parents[2] / "examples" / f"pipeline_{library}.py")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    assert float(done.stdout.split("test accuracy ")[1].split()[0]) > 0.75  # of 1,000 vertices; 0.80 and more


class Unordered:
    """An array for whose elements no stream waits."""

    def __init__(self, array):
        self._array = array

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()

    def __dlpack__(self, *, stream=None, max_version=None, **more):
        return self._array.__dlpack__(stream=-1, max_version=max_version)


@pytest.mark.gpu
@pytest.mark.skipif(tendril.num_gpus() == 0, reason="no GPU")
@pytest.mark.parametrize("way", ["cpu", "gpu"])
def test_rows_of_the_host_are_there_for_the_stream_of_the_sampler(way, monkeypatch):
    """Though gathers take streams of their own."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("Torch sees no GPU")
    monkeypatch.setattr("tendril._host_way._LEAST_BYTES", 0)
    wide = np.random.default_rng(0).random((graph().num_vertices, 4096), np.float32)
    features = {"x": tendril.FeatureTable(wide).pin_memory()}
    stream = torch.cuda.Stream()
    sampler = tendril.MinibatchSampler(graph().to("cuda"), [4, 3], seed=5, stream=stream)
    loader = pipeline(sampler, features=features)
    assert len(loader._streams) == 2
    loader._host_way.choose(way)
    found = []
    with torch.cuda.stream(stream):
        for batch in loader:
            found.append((torch.from_dlpack(Unordered(batch.features["x"])).clone(), batch.minibatch.node.numpy()))
    for rows, node in found:
        assert torch.equal(rows.cpu(), torch.from_numpy(wide[node]))
