"""Compressed graphs: the same graph in another form, for every function that takes one."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import tendril

GPU = pytest.mark.skipif(tendril.num_gpus() == 0, reason="no GPU")
FORMS = ["packed", "runs", "ef", "vbyte", "auto"]


@pytest.fixture(scope="module")
def graph():
    return tendril.generate.rmat(10, 8, symmetrize=True, weights=(1, 5), num_labels=3, num_node_types=2, seed=4)


@pytest.fixture(scope="module", params=FORMS)
def form(request):
    return request.param


@pytest.fixture(scope="module")
def compressed(graph, form):
    return graph.compress(form)


def same(left, right):
    assert np.array_equal(left.indptr, right.indptr) and np.array_equal(left.indices, right.indices)
    for name in ("weights", "edge_labels", "node_types", "edge_ids", "original_ids"):
        ours, theirs = getattr(left, name), getattr(right, name)
        assert (ours is None) == (theirs is None)
        assert ours is None or np.array_equal(ours, theirs)


def test_there_and_back(graph, compressed, form):
    assert (graph.form, compressed.form) == ("csr", form)
    assert (compressed.num_vertices, compressed.num_edges) == (graph.num_vertices, graph.num_edges)
    assert np.array_equal(compressed.degrees(), graph.degrees())
    assert np.shares_memory(compressed.weights, graph.weights)
    assert compressed.symmetric and compressed.metadata == graph.metadata
    compressed.validate()
    same(compressed.to_csr(), graph)
    same(graph.compress(form, num_threads=3).to_csr(num_threads=2), graph)
    same(graph.compress("vbyte").compress(form).to_csr(), graph)


@pytest.mark.parametrize("of", ["star", "ring", "complete"])
def test_long_and_short_lists_come_back(of, form):
    graph = getattr(tendril.generate, of)(1000, weights=(1, 5))
    compressed = graph.compress(form)
    compressed.validate()
    same(compressed.to_csr(), graph)
    equal(tendril.random_walk(compressed, length=9, weighted=True), tendril.random_walk(graph, length=9, weighted=True))


def test_the_smallest_form_is_the_default(graph):
    smallest = graph.compress()
    assert smallest.form == "auto"
    assert smallest.bits_per_edge <= min(graph.compress(form).bits_per_edge for form in ("packed", "runs", "ef"))


def test_the_form_at_hand_is_the_graph_itself(graph, compressed, form):
    assert graph.to_csr() is graph and graph.compress("csr") is graph
    assert compressed.compress(form) is compressed


def test_bits_per_edge(graph, compressed, form):
    vertices, edges = graph.num_vertices, graph.num_edges
    assert graph.bits_per_edge == pytest.approx(32 + 64 * (vertices + 1) / edges)

    def all_bits(g):  # of an edge: its target, and what it carries
        return g.bits_per_edge + sum(g.edge_array_bits.values())

    saved = (all_bits(graph) - all_bits(compressed)) * edges / 8
    assert 0 < saved == pytest.approx(graph.num_bytes - compressed.num_bytes)
    assert tendril.Graph.from_coo([], [], num_vertices=3).compress(form).bits_per_edge == 0
    assert compressed.info()["form"] == form and compressed.info()["bits_per_edge"] == compressed.bits_per_edge
    rest = {"form", "bits_per_edge", "num_bytes", "edge_array_bits"}
    assert {k: v for k, v in compressed.info().items() if k not in rest} == {
        k: v for k, v in graph.info().items() if k not in rest
    }


def test_repr(graph, compressed, form):
    assert "form" not in repr(graph)
    assert repr(compressed) == repr(graph).replace("symmetric", f"symmetric, form='{form}'")


@pytest.mark.parametrize("name", ["indptr", "indices"])
def test_csr_arrays_are_refused(name, compressed, form):
    with pytest.raises(tendril.ArgumentError) as refused:
        getattr(compressed, name)
    assert str(refused.value) == f"{name}: the graph's form is '{form}', expected 'csr': graph.to_csr()"


def test_other_forms_are_refused(graph):
    with pytest.raises(tendril.ArgumentError) as refused:
        graph.compress("zip")
    assert str(refused.value) == "form is 'zip', expected 'csr', 'packed', 'runs', 'ef', 'vbyte' or 'auto'"


def test_native_files_keep_the_form(tmp_path, graph, compressed, form):
    compressed.save(tmp_path / "p.safetensors")
    opened = tendril.read_graph(tmp_path / "p.safetensors")
    assert opened.form == form and opened.bits_per_edge == compressed.bits_per_edge
    opened.validate()
    same(opened.to_csr(), graph)
    opened.to_csr().save(tmp_path / "g.safetensors")
    graph.save(tmp_path / "expected.safetensors")
    assert (tmp_path / "g.safetensors").read_bytes() == (tmp_path / "expected.safetensors").read_bytes()


def test_other_formats_hold_csr(tmp_path, graph, compressed):
    for name, one in (("g.npz", graph), ("p.npz", compressed)):
        one.save(tmp_path / name)
    assert (tmp_path / "p.npz").read_bytes() == (tmp_path / "g.npz").read_bytes()
    assert tendril.read_graph(tmp_path / "p.npz").form == "csr"


def test_a_corrupt_file_is_refused_when_it_is_used(tmp_path, form):
    tendril.generate.ring(100).compress(form).save(tmp_path / "p.safetensors")
    content = bytearray((tmp_path / "p.safetensors").read_bytes())
    begin = 8 + int.from_bytes(content[:8], "little")
    content[begin + 4] = 255  # of the place of the first block's lists
    (tmp_path / "p.safetensors").write_bytes(content)
    opened = tendril.read_graph(tmp_path / "p.safetensors")
    expected = r"p\.safetensors: vertex 0: its block of the directory has a list at byte \d+, expected at most \d+$"
    walk = partial(tendril.random_walk, opened, length=2)
    for use in (opened.validate, opened.to_csr, opened.degrees, opened.info, walk):
        with pytest.raises(tendril.FormatError, match=expected):
            use()


def test_rebuilding_gives_csr(graph, compressed):
    built = compressed.rebuild(reverse=True, drop_self_loops=True)
    assert built.form == "csr"
    same(built, graph.rebuild(reverse=True, drop_self_loops=True))


def test_other_libraries_get_the_same(graph, compressed):
    pytest.importorskip("scipy")
    assert (compressed.to_scipy() != graph.to_scipy()).nnz == 0


def test_networkx_gets_the_same(form):
    pytest.importorskip("networkx")
    small = tendril.generate.ring(10)
    assert sorted(small.compress(form).to_networkx().edges) == sorted(small.to_networkx().edges)


def arrays_of(value):
    """All arrays of a result, whatever it is made of."""
    if isinstance(value, (np.ndarray, tendril.DeviceArray)):
        yield np.asarray(value)
    elif isinstance(value, dict):
        for part in value.values():
            yield from arrays_of(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from arrays_of(part)
    elif hasattr(type(value), "__dataclass_fields__"):
        for name in type(value).__dataclass_fields__:
            yield from arrays_of(getattr(value, name))


def equal(left, right):
    ours, theirs = list(arrays_of(left)), list(arrays_of(right))
    assert len(ours) == len(theirs) > 0
    assert all(np.array_equal(a, b) for a, b in zip(ours, theirs))


SEEDS = np.arange(0, 1024, 7)
CALLS = {
    "random_walk": lambda g, **on: tendril.random_walk(g, length=20, weighted=True, **on),
    "node2vec_walk": lambda g, **on: tendril.node2vec_walk(g, length=20, p=2, q=0.5, **on),
    "khop_sample": lambda g, **on: tendril.khop_sample(g, SEEDS, [5, 3], return_edges=True, **on),
    "neighbor_sample": lambda g, **on: tendril.neighbor_sample(g, SEEDS, [5, 3], weighted=True, **on),
    "ladies_sample": lambda g, **on: tendril.ladies_sample(g, SEEDS.reshape(-1, 7), 2, 16, return_edges=True, **on),
}


@pytest.mark.parametrize("name", CALLS)
def test_samples_do_not_depend_on_the_form(name, graph, compressed):
    equal(CALLS[name](compressed), CALLS[name](graph))


@GPU
@pytest.mark.parametrize("name", CALLS)
def test_samples_on_a_gpu_do_not_depend_on_the_form(name, graph, compressed):
    equal(CALLS[name](compressed, device="cuda"), CALLS[name](graph))


@GPU
def test_a_gpu_keeps_the_form(graph, compressed, form):
    there = compressed.to("cuda")
    assert there.form == form and there.bits_per_edge == compressed.bits_per_edge
    same(there.to("cpu").to_csr(), graph)


@GPU
def test_a_gpu_compresses_to_the_same(graph, compressed, form):
    there = graph.to("cuda").compress(form)
    assert (there.form, there.device, there.bits_per_edge) == (form, "cuda:0", compressed.bits_per_edge)
    same(there.to("cpu").to_csr(), graph)
    same(there.to_csr().to("cpu"), graph)
    crawl = tendril.generate.web(20_000, 10, seed=3)
    same(tendril.generate.web(20_000, 10, seed=3, form=form, device="cuda").to("cpu").to_csr(), crawl)


def test_web_graphs_are_made_in_a_form(form):
    crawl = tendril.generate.web(20_000, 10, seed=3)
    made = tendril.generate.web(20_000, 10, seed=3, form=form)
    assert made.form == form and made.bits_per_edge == crawl.compress(form).bits_per_edge
    same(made.to_csr(), crawl)
    with pytest.raises(tendril.ArgumentError, match="form is 'zip', expected 'csr', 'packed'"):
        tendril.generate.web(100, form="zip")


def library(form, times):
    """Papers and authors, with edges in that form."""
    rng = np.random.default_rng(3)
    ends = {key: (rng.integers(0, 60, 900), rng.integers(0, 60, 900)) for key in ("cites", "wrote")}
    edges = {
        ("paper", "cites", "paper"): tendril.Graph.from_coo(*ends["cites"], num_vertices=60, reverse=True),
        ("author", "wrote", "paper"): tendril.Graph.from_coo(*ends["wrote"], num_vertices=60, reverse=True),
    }
    return tendril.HeteroGraph(
        {"paper": 60, "author": 60},
        {key: value.compress(form) for key, value in edges.items()},
        **({"node_times": {"paper": np.arange(60), "author": np.arange(60)}} if times else {}),
    )


@pytest.mark.parametrize("times", [False, True])
def test_graphs_of_several_types_take_compressed_ones(times, form):
    results = []
    for each in ("csr", form):
        graph = library(each, times)
        sampler = tendril.MinibatchSampler(graph, [4, 3], disjoint=times, seed=1)
        on = {"times": {"paper": np.arange(10) * 5}} if times else {}
        results.append(sampler.sample({"paper": np.arange(10)}, **on))
    equal(*results)


def test_neighbours_of_other_types_are_found_in_compressed_graphs_too(form):
    wide = tendril.Graph.from_coo([0], [5], num_vertices=6)
    for graph in (wide, wide.compress(form)):
        with pytest.raises(tendril.ArgumentError, match="5"):
            tendril.HeteroGraph({"a": 3}, {("a", "to", "a"): graph}, reverse=True)
