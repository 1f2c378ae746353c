"""Objects in other processes: pickled, copied, sent, and used there with the same results."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import subprocess
import sys

import numpy as np
import pytest

import calls
import tendril

PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)
ARRAYS = ("weights", "edge_labels", "node_types", "edge_ids", "original_ids")


def assert_same(a, b):
    """Two graphs of one content."""
    assert type(a) is type(b)
    assert (a.num_vertices, a.num_edges, a.form, a.symmetric) == (b.num_vertices, b.num_edges, b.form, b.symmetric)
    assert (a.metadata, a.edge_label_names, a.node_type_names) == (b.metadata, b.edge_label_names, b.node_type_names)
    for name in ARRAYS:
        mine, other = getattr(a, name), getattr(b, name)
        assert (mine is None) == (other is None)
        if mine is not None:
            assert mine.dtype == other.dtype
            assert np.array_equal(mine, other)
    assert np.array_equal(a.to_csr().indptr, b.to_csr().indptr)
    assert np.array_equal(a.to_csr().indices, b.to_csr().indices)
    b.validate()


def sent(value, protocol=pickle.HIGHEST_PROTOCOL):
    return pickle.loads(pickle.dumps(value, protocol))


@pytest.fixture(scope="module")
def graphs(graph, tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")
    graph.save(folder / "csr.safetensors")
    forms = {form: graph.compress(form) for form in ("packed", "runs", "ef", "vbyte", "auto")}
    forms["auto"].save(folder / "auto.safetensors")
    many = np.arange(70_000)
    return {
        "csr": graph,
        **forms,
        "no vertices": tendril.Graph.from_coo([], []),
        "no edges": tendril.Graph.from_coo([], [], num_vertices=5),
        "no edges, compressed": tendril.Graph.from_coo([], [], num_vertices=5).compress("runs"),
        "symmetric": tendril.generate.ring(9),
        "compact": tendril.Graph.from_coo([5, 9], [9, 5], compact=True),
        "wide labels": tendril.Graph.from_coo(many, many[::-1], labels=many % 60_000, metadata={"name": "x"}),
        "narrow": tendril.Graph.from_coo(many, many[::-1], labels=many % 3, weights=many % 5, keep_edge_ids=True).compress(),
        "mapped": tendril.read_graph(folder / "csr.safetensors"),
        "mapped, compressed": tendril.read_graph(folder / "auto.safetensors"),
    }


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_graphs_come_back_whole(graphs, protocol):
    for one in graphs.values():
        assert_same(one, sent(one, protocol))


def test_compressed_graphs_stay_compressed(graphs):
    assert sent(graphs["narrow"]).num_bytes == graphs["narrow"].num_bytes < graphs["narrow"].to_csr().num_bytes / 2
    assert sent(graphs["narrow"]).edge_array_bits == graphs["narrow"].edge_array_bits


def test_arrays_travel_out_of_band():
    graph = tendril.generate.rmat(10, 16, weights=(1, 2))
    buffers = []
    stream = pickle.dumps(graph, protocol=5, buffer_callback=buffers.append)
    assert len(stream) < 4096 < sum(len(buffer.raw()) for buffer in buffers)
    again = pickle.loads(stream, buffers=buffers)
    assert np.shares_memory(again.indices, graph.indices)
    assert_same(graph, again)


@pytest.mark.parametrize("shift", [1, 4])
def test_arrays_may_arrive_anywhere(graphs, shift):
    """Dask cuts the buffers of a pickle out of a message."""
    for one in graphs.values():
        buffers = []
        stream = pickle.dumps(one, protocol=5, buffer_callback=buffers.append)
        moved = [memoryview(bytearray(shift) + buffer.raw())[shift:] for buffer in buffers]
        assert_same(one, pickle.loads(stream, buffers=moved))


def test_a_mapped_graph_travels_as_the_name_of_its_file(tmp_path, monkeypatch):
    graph = tendril.generate.rmat(10, 16)
    graph.save(tmp_path / "graph.safetensors")
    monkeypatch.chdir(tmp_path)
    stream = pickle.dumps(tendril.read_graph("graph.safetensors"))
    assert len(stream) < 1024
    monkeypatch.chdir("/")
    assert_same(graph, pickle.loads(stream))


def test_a_pickle_of_a_file_asks_for_the_same_file(tmp_path):
    path = tmp_path / "graph.safetensors"
    tendril.generate.rmat(8, 4, seed=1).save(path)
    mapped = tendril.read_graph(path)
    stream = pickle.dumps(mapped)
    other = tendril.generate.rmat(8, 4, seed=2)
    other.save(path)
    with pytest.raises(tendril.FormatError, match="another file than the one that the graph was pickled from") as error:
        pickle.loads(stream)
    assert str(path) in str(error.value)
    assert_same(mapped, sent(mapped))  # by its arrays now: its file has gone
    path.unlink()
    with pytest.raises(tendril.IoError, match="graph.safetensors"):
        pickle.loads(stream)
    assert_same(mapped, sent(mapped))


def test_what_is_made_of_a_mapped_graph_is_not_its_file(tmp_path):
    tendril.generate.rmat(8, 4).save(tmp_path / "graph.safetensors")
    mapped = tendril.read_graph(tmp_path / "graph.safetensors")
    for one in (
        mapped.rebuild(reverse=True),
        mapped.compress("runs"),
        mapped.renumber("degree"),
        tendril.read_graph(tmp_path / "graph.safetensors", reverse=True),
    ):
        assert_same(one, sent(one))


def test_copies_of_what_never_changes_are_the_object(graphs):
    clusters = tendril.group_clusters(graphs["csr"], np.arange(60) % 4)
    negatives = tendril.NegativeSampler(5)
    hetero = tendril.HeteroGraph({"a": 3}, {("a", "to", "a"): ([0, 1], [1, 2])})
    for one in (*graphs.values(), clusters, negatives, hetero):
        assert copy.copy(one) is one
        assert copy.deepcopy([one])[0] is one


def samplers(graph):
    """Objects with state, and what each of them does."""
    rng = np.random.default_rng(3)
    library = tendril.HeteroGraph(
        {"author": 30, "paper": 20},
        {
            ("author", "writes", "paper"): (rng.integers(0, 30, 90), rng.integers(0, 20, 90)),
            ("paper", "cites", "paper"): (rng.integers(0, 20, 90), rng.integers(0, 20, 90)),
        },
        node_times={"author": rng.integers(0, 9, 30)},
        edge_times={("paper", "cites", "paper"): rng.integers(0, 9, 90)},
        reverse=True,
    )
    untimed = tendril.HeteroGraph(
        {"author": 30, "paper": 20},
        {("author", "writes", "paper"): (rng.integers(0, 30, 90), rng.integers(0, 20, 90))},
        reverse=True,
    )
    timed = {"disjoint": True, "edge_times": rng.integers(0, 9, graph.num_edges)}
    aged = {"disjoint": True, "node_times": rng.integers(0, 9, graph.num_vertices)}
    late = {"seeds": {"paper": [0, 1, 2]}, "times": {"paper": [3, 5, 7]}}
    batch = tendril.MinibatchSampler
    return {
        "sampler": (batch(graph, [3, 2], weighted=True, seed=4, dtype=np.int32), lambda s: s.sample([1, 2], batch=3)),
        "LABOR": (batch(graph, [3, 2], choice="labor"), lambda s: s.sample([1, 2])),
        "times of edges": (batch(graph, [3, 2], **timed), lambda s: s.sample([1, 2], times=[4, 6])),
        "times of nodes": (batch(graph, [3, 2], **aged), lambda s: s.sample([1, 2], times=[4, 6])),
        "times, compressed": (batch(graph.compress(), [3, 2], **timed), lambda s: s.sample([1, 2], times=[4, 6])),
        "several types": (batch(library, [3, 2], disjoint=True), lambda s: s.sample(**late)),
        "HGSampling": (
            tendril.HGTSampler(untimed, {"author": [3, 2], "paper": [2, 2]}, seed=5),
            lambda s: s.sample({"paper": [0, 1]}, batch=3),
        ),
        "hetero graph": (library, lambda g: batch(g, [3, 2], disjoint=True).sample(**late)),
        "negatives": (
            tendril.NegativeSampler(9, "source", weights=np.arange(9), node_times=np.arange(9), seed=2),
            lambda n: n.draw(20, until=[5, 8]),
        ),
        "clusters": (
            tendril.group_clusters(graph, np.arange(60) % 7, 9),
            lambda c: tendril.cluster_sample(graph, c, 2).nodes,
        ),
        "walk": (tendril.CustomWalk(calls.WALK, bonus=0.5), lambda w: tendril.dynamic_walk(graph, [1, 2], 5, w)[0]),
        "application": (tendril.Application(calls.APPLICATION, fanout=3), lambda a: a.sample(graph, [1, 2]).steps[0].vertices),
    }


def assert_equal(a, b):
    """Two results, of arrays and of what holds arrays."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        assert np.array_equal(a, b)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            assert_equal(a[key], b[key])
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            assert_equal(one, other)
    elif hasattr(a, "__dataclass_fields__"):
        for name in a.__dataclass_fields__:
            assert_equal(getattr(a, name), getattr(b, name))
    else:
        assert a == b


def test_samplers_go_on_with_the_same_samples(graph):
    for name, (one, use) in samplers(graph).items():
        expected = use(one)
        for protocol in PROTOCOLS:
            assert_equal(expected, use(sent(one, protocol)))
        assert_equal(expected, use(copy.copy(one)))
        assert_equal(expected, use(copy.deepcopy(one)))
        assert name


def test_a_sampler_keeps_the_times_that_it_was_made_of(graph):
    times = np.arange(graph.num_edges)
    sampler = tendril.MinibatchSampler(graph, [3], disjoint=True, edge_times=times)
    expected = sampler.sample([1, 2], times=[90, 90])
    times[:] = 0
    assert_equal(expected, sent(sampler).sample([1, 2], times=[90, 90]))
    weights = np.arange(9, dtype=np.float32)
    negatives = tendril.NegativeSampler(9, weights=weights)
    drawn = negatives.draw(50)
    weights[:] = [1, *[0] * 8]
    assert_equal(drawn, sent(negatives).draw(50))


def test_results_travel(graph):
    for name, (function, arguments) in calls.samplers(graph).items():
        result = function(**arguments)
        if name == "group_clusters":
            continue
        if name == "random_walk":
            assert type(sent(result)) is tuple
        assert_equal_results(result, sent(result))


def assert_equal_results(a, b):
    if hasattr(a, "__slots__") and not isinstance(a, (tuple, np.ndarray)) and not hasattr(a, "__dataclass_fields__"):
        for name in a.__slots__:
            if name != "__weakref__":
                assert_equal(getattr(a, name), getattr(b, name))
    else:
        assert_equal(a, b)


STATE = {"indptr": np.array([0, 1, 2]), "indices": np.array([1, 0], np.uint32)}


def broken(change):
    """A state that somebody has damaged."""
    state = tendril._tendril.graph_state(tendril.Graph.from_csr(**STATE)._core)
    change(state)
    return state


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda s: s.pop("indptr"), "no array 'indptr'"),
        (lambda s: s.pop("indices"), "indptr ends with 2, expected the number of indices, 0"),
        (lambda s: s.pop("symmetric"), "'symmetric' is missing"),
        (lambda s: s.update(indptr=s["indptr"][:-1]), "indptr ends with 1"),
        (lambda s: s.update(indptr=s["indptr"].astype(np.int32)), "'indptr' is an array of another type"),
        (lambda s: s.update(indptr="x"), "'indptr' is no array"),
        (lambda s: s.update(indices=np.zeros((2, 2))), "'indices' is no array of one dimension"),
        (lambda s: s.update(edge_label_names=[1]), "'edge_label_names' is of another type"),
        (lambda s: s.update(form="x"), "form is 'x', expected 'csr'"),
        (lambda s: s.update(node_types=np.zeros(1, np.uint8)), "node_types has 1 elements, expected one a vertex: 2"),
        (lambda s: s.update(words=np.zeros(99, np.uint32)), "its form is 'csr', expected compressed lists in any form but 'csr'"),
        (lambda s: s.update(form="runs"), "its form is 'runs', expected compressed lists"),
        (lambda s: s.update(words=np.zeros(99, np.uint32), form="runs"), "both indptr or indices and compressed lists"),
        (lambda s: s.update(weights=np.frombuffer(b"x" * 9, np.uint8)[1:].view(np.float32)), ""),
    ],
)
def test_a_damaged_state_gives_one_line(change, text):
    rebuild = tendril.generate.ring(3).__reduce__()[0]
    try:
        rebuild(tendril.Graph, broken(change))
    except (tendril.FormatError, tendril.ArgumentError) as error:
        assert text in str(error)
        assert "\n" not in str(error)
    else:
        assert text == ""


def test_damaged_content_is_found_at_the_first_use(graph):
    rebuild, (kind, state) = graph.compress("auto").__reduce__()
    rng = np.random.default_rng(5)
    found = 0
    for name in [key for key, value in state.items() if isinstance(value, np.ndarray) and value.size]:
        for _ in range(5):
            array = state[name].copy()
            array.view(np.uint8)[rng.integers(0, array.nbytes)] ^= 0xFF
            try:
                damaged = rebuild(kind, {**state, name: array})
                tendril.random_walk(damaged, length=3)
                damaged.validate()
            except (tendril.FormatError, tendril.ArgumentError) as error:
                assert "\n" not in str(error)
                found += 1
    assert found >= 8  # any weight, label or id that is changed may be as good as the one before


def walks_of(graph):
    return tendril.random_walk(graph, length=9, seed=3)[0]


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_pools_of_processes_take_graphs(graph, method):
    expected = walks_of(graph)
    with multiprocessing.get_context(method).Pool(2) as pool:
        for walks in pool.map(walks_of, [graph, graph.compress("auto")], chunksize=1):
            assert np.array_equal(walks, expected)


WORKERS = """
import torch
from torch_geometric.data import Data
from torch_geometric.loader import NodeLoader
from tendril.pyg import NeighborSampler

if __name__ == "__main__":
    data = Data(x=torch.zeros(9, 1), edge_index=torch.stack([torch.arange(9), (torch.arange(9) + 1) % 9]))
    workers = {"num_workers": 2, "multiprocessing_context": "spawn", "timeout": 100}
    loader = NodeLoader(data, NeighborSampler(data, [1]), batch_size=3, **workers)
    print([len(batch.n_id) for batch in loader])
"""


def test_workers_of_a_data_loader_say_nothing_when_they_end(tmp_path):
    pytest.importorskip("torch_geometric")
    script = tmp_path / "script.py"
    script.write_text(WORKERS)
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=200, check=False)
    assert ended.stdout == "[4, 4, 4]\n", ended.stderr
    assert "nanobind" not in ended.stderr
