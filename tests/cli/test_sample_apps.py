"""The catalogue of `tendril sample`: what each application writes holds what its page promises, read back by NumPy."""

import ctypes
import json

import numpy as np
import pytest
from tensors import Csr, read_safetensors

QUIET = """
// Two hops that keep away from hubs.
struct quiet_hops {
  std::int32_t fanouts[2] = {10, 5};
  std::int32_t tries = 2;
  int steps() const { return 2; }
  std::int64_t sample_size(int step) const { return fanouts[step]; }
  vertex_id next(sample_view& sample, transit_list const& transits, edge_list const& edges, int step,
                 random_stream& rng) const
  {
    if (edges.empty()) { return no_vertex; }
    vertex_id pick = edges[rng.bounded(edges.size())];
    for (int i = 1; step == 1 && i < tries; ++i) {
      vertex_id const other = edges[rng.bounded(edges.size())];
      if (sample.graph.degree(other) < sample.graph.degree(pick)) { pick = other; }
    }
    return pick;
  }
};
"""
PAIRS = """
struct pairs {
  static constexpr bool adds_edges = true;
  int steps() const { return 1; }
  std::int64_t sample_size(int) const { return 3; }
  vertex_id next(sample_view& sample, transit_list const& transits, edge_list const& edges, int, random_stream& rng) const
  {
    if (edges.empty()) { return no_vertex; }
    vertex_id const v = edges[rng.bounded(edges.size())];
    sample.add_edge(transits[0], v);
    return v;
  }
};
"""


@pytest.fixture(autouse=True)
def compiled_once(monkeypatch, tmp_path_factory):
    """Applications that come as text are compiled once for all tests of this session."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "compiled"))


@pytest.fixture
def sample(tendril, graphs):
    """Runs an application on the skewed graph: (arrays, metadata)."""

    def run(app, *options, output="s.safetensors"):
        tendril("sample", graphs["skewed.safetensors"], "-o", output, "--app", app, "--seed", 7, "--quiet", *options)
        return read_safetensors(tendril.path(output))

    return run


@pytest.fixture
def csr(tendril, graphs):
    return Csr(tendril, graphs["skewed.safetensors"])


def from_source(tendril, graphs, source, *options):
    tendril.path("application.txt").write_text(source)
    source_options = ["--app-source", "application.txt", "--seed", 7, "--quiet"]
    tendril("sample", graphs["skewed.safetensors"], "-o", "own.safetensors", *source_options, *options)
    return read_safetensors(tendril.path("own.safetensors"))


def rows_of(arrays, data, offsets):
    """An array in the pieces that its offsets cut."""
    cuts = arrays[offsets]
    assert cuts[0] == 0 and cuts[-1] == len(arrays[data]) and (np.diff(cuts) >= 0).all()
    return np.split(arrays[data], cuts[1:-1])


def verify_subgraphs(arrays, csr):
    """Every sample is what its vertices induce: all edges between them, by position, and no other. @return the sets."""
    samples = rows_of(arrays, "nodes", "node_offsets")
    edges = rows_of(arrays, "edges", "edge_offsets")
    rows, cols = (rows_of(arrays, name, "edge_offsets") for name in ("row", "col"))
    for nodes, edge, row, col in zip(samples, edges, rows, cols):
        assert len(set(nodes.tolist())) == len(nodes)
        assert np.array_equal(np.sort(edge), csr.induced(nodes))
        assert np.array_equal(nodes[row], csr.sources[edge])
        assert np.array_equal(nodes[col], csr.targets[edge])
    return samples


def test_layer(sample, csr):
    arrays, metadata = sample("layer", "--layer-size", 20, "--max-size", 50, "--num-seeds", 100)
    assert metadata["app"] == "layer" and metadata["num_samples"] == "100"
    assert [arrays[f"step{t}.vertices"].shape for t in range(3)] == [(100, 20)] * 3
    for i, seed in enumerate(arrays["seeds"]):
        reachable = set(csr.neighbors(seed).tolist())
        for t, room in enumerate((20, 20, 10)):
            added = [v for v in arrays[f"step{t}.vertices"][i].tolist() if v >= 0]
            assert len(added) == arrays[f"step{t}.sizes"][i] == (room if reachable else 0)
            assert set(added) <= reachable
            reachable = set(np.concatenate([csr.neighbors(v) for v in added]).tolist()) if added else set()


def test_layer_may_be_unique_and_start_from_sets(sample):
    arrays, metadata = sample("layer", "--layer-size", 8, "--max-size", 24, "--roots", 4, "--unique", "--num-seeds", 60)
    assert arrays["seeds"].shape == (15, 4) and json.loads(metadata["params"])["num_roots"] == 4
    for t in range(3):
        for row in arrays[f"step{t}.vertices"]:
            added = row[row >= 0]
            assert len(np.unique(added)) == len(added)


def layers_before(arrays, batch):
    """(vertices before, vertices of the layer, block) of every layer of every sample."""
    for i, layers in enumerate(arrays["vertices"]):
        before = arrays["seeds"][i * batch : (i + 1) * batch]
        for layer, vertices in enumerate(layers):
            yield before, vertices, i * len(layers) + layer
            before = vertices


@pytest.mark.parametrize("app", ["fastgcn", "ladies"])
@pytest.mark.parametrize("normalised", [True, False])
def test_layers_hold_all_edges_with_their_coefficients(app, normalised, sample, csr):
    size, batch = 16, 30
    arrays, metadata = sample(
        app, "--layers", 3, "--layer-size", size, "--batch-size", batch, "--num-seeds", 100, "--edges",
        "--normalize-rows" if normalised else "--no-normalize-rows",
    )  # fmt: skip
    assert arrays["vertices"].shape == arrays["probabilities"].shape == (4, 3, size), "the last batch has 10 seeds"
    assert json.loads(metadata["params"])["normalize_rows"] == normalised
    cuts = arrays["edge_offsets"]
    columns = np.zeros(csr.num_vertices)
    np.add.at(columns, csr.targets, 1 / csr.degrees[csr.sources] ** 2)
    total = 0
    for before, vertices, block in layers_before(arrays, batch):
        here = slice(cuts[block], cuts[block + 1])
        row, col, edge = (arrays[name][here] for name in ("row", "col", "edges"))
        assert np.array_equal(csr.sources[edge], before[row]) and np.array_equal(csr.targets[edge], vertices[col])
        expected = sum(
            np.count_nonzero(csr.neighbors(v) == u) for v in before if v >= 0 for u in vertices if u >= 0
        )
        assert len(row) == expected, "all edges between the two layers"
        total += len(row)
        probability = arrays["probabilities"].reshape(-1, size)[block]
        if app == "fastgcn":
            assert np.allclose(probability, columns[vertices] / columns.sum(), rtol=1e-6)
        else:
            p = np.zeros(csr.num_vertices)
            for v in before[(before >= 0) & (csr.degrees[before] > 0)]:
                np.add.at(p, csr.neighbors(v), 1 / csr.degrees[v] ** 2)
            if p.sum() > 0:
                assert np.allclose(probability, p[vertices] / p.sum(), rtol=1e-6)
            else:
                assert (vertices == -1).all() and not probability.any()
        coefficients = arrays["coefficients"][here]
        if normalised:
            sums = np.bincount(row, coefficients, len(before))
            assert np.allclose(sums[np.unique(row)], 1, rtol=1e-5)
        else:
            assert np.allclose(coefficients, 1 / csr.degrees[before[row]] / (size * probability[col]), rtol=1e-5)
    assert total == cuts[-1] > 0


def test_layers_without_replacement(sample):
    arrays, _ = sample("fastgcn", "--no-replace", "--layer-size", 50, "--num-seeds", 512)
    for vertices in arrays["vertices"].reshape(-1, 50):
        assert len(np.unique(vertices)) == 50
    weighted, metadata = sample("ladies", "--normalization", "weights", "--num-seeds", 512)
    assert json.loads(metadata["params"])["normalization"] == "weights"
    assert not np.array_equal(weighted["vertices"], sample("ladies", "--num-seeds", 512)[0]["vertices"])


def test_mvs(tendril, sample, csr):
    arrays, _ = sample("mvs", "--batch-size", 32, "--edges")
    assert arrays["vertices"].shape == (32, 32), "as many as have each vertex once"
    verify_neighbours(arrays, csr)
    importance = np.zeros(csr.num_vertices, np.float32)
    importance[100:150] = np.arange(50)
    np.save(tendril.path("norms.npy"), importance)
    tendril.path("norms.txt").write_text("".join(f"{value}\n" for value in importance))
    arrays, metadata = sample("mvs", "--batch-size", 20, "--num-samples", 40, "--importance", "norms.npy", "--edges")
    verify_neighbours(arrays, csr)
    vertices = arrays["vertices"]
    assert ((vertices > 100) & (vertices < 150)).all()
    assert all(len(set(row)) == 20 for row in vertices.tolist())
    assert np.allclose(arrays["probabilities"], importance[vertices] / importance.sum(), rtol=1e-6)
    assert np.allclose(arrays["weights"], 1 / (20 * arrays["probabilities"]), rtol=1e-5)
    assert json.loads(metadata["params"])["importance"] == "norms.npy"
    as_text, _ = sample("mvs", "--batch-size", 20, "--num-samples", 40, "--importance", "norms.txt", "--edges")
    assert all(np.array_equal(as_text[name], arrays[name]) for name in arrays)


def verify_neighbours(arrays, csr):
    """Every slot brings all neighbours of its vertex."""
    lists = rows_of(arrays, "neighbors", "edge_offsets")
    positions = rows_of(arrays, "edges", "edge_offsets")
    for v, neighbors, edges in zip(arrays["vertices"].ravel(), lists, positions):
        assert np.array_equal(neighbors, csr.neighbors(v))
        assert np.array_equal(edges, np.arange(csr.indptr[v], csr.indptr[v + 1]))


def test_minibatches_by_labor(sample, csr):
    options = ["--fanouts", "4,3", "--num-seeds", 250, "--batch-size", 100]
    apart, _ = sample("labor", *options)
    arrays, metadata = sample("minibatch", *options, "--choice", "labor", "--frontier", "all")
    params = json.loads(metadata["params"])
    assert params["choice"] == "labor" and params["batch_dependency"] == 1
    assert arrays["weights"].dtype == np.float32
    assert len(arrays["weights"]) == len(arrays["row"])
    assert np.array_equal(arrays["node"], apart["node"])
    assert np.array_equal(np.sort(arrays["edge"]), np.sort(np.concatenate([apart["hop0.edge"], apart["hop1.edge"]])))
    plain, _ = sample("minibatch", *options, "--choice", "labor", "--no-normalize-rows")
    assert plain["weights"].max() > 1
    dependent, _ = sample("minibatch", *options, "--choice", "labor", "--batch-dependency", 9, "--layer-dependency")
    assert not np.array_equal(dependent["edge"], plain["edge"])
    assert "weights" not in sample("minibatch", *options)[0]


def test_labor(sample, csr):
    arrays, metadata = sample("labor", "--fanouts", "4,3", "--num-seeds", 250, "--batch-size", 100)
    assert metadata["num_samples"] == "3" and arrays["num_sampled_nodes"].shape == (3, 3)
    nodes = rows_of(arrays, "node", "node_offsets")
    assert np.array_equal(np.diff(arrays["node_offsets"]), arrays["num_sampled_nodes"].sum(axis=1))
    for hop in ("hop0.", "hop1."):
        cuts = arrays[hop + "edge_offsets"]
        for b, node in enumerate(nodes):
            assert np.array_equal(node[: arrays["num_sampled_nodes"][b, 0]], arrays["seeds"][b * 100 : (b + 1) * 100])
            here = slice(cuts[b], cuts[b + 1])
            row, col, edge, weights = (arrays[hop + name][here] for name in ("row", "col", "edge", "weights"))
            assert np.array_equal(csr.sources[edge], node[row]) and np.array_equal(csr.targets[edge], node[col])
            assert np.allclose(np.bincount(row, weights)[np.unique(row)], 1, rtol=1e-5)
    plain, _ = sample("labor", "--fanouts", "4,3", "--num-seeds", 250, "--batch-size", 100, "--no-normalize-rows")
    degrees = csr.degrees[csr.sources[plain["hop0.edge"]]]
    assert np.allclose(plain["hop0.weights"], 1 / np.minimum(1, 4 / degrees), rtol=1e-5)


@pytest.mark.parametrize("partition", ["contiguous", "random"])
def test_cluster(partition, sample, csr):
    arrays, _ = sample("cluster", "--clusters", 50, "--clusters-per-sample", 8, "--partition", partition)
    cluster_of = arrays["cluster_of"]
    assert np.bincount(cluster_of).max() - np.bincount(cluster_of).min() <= 1 and cluster_of.max() == 49
    samples = verify_subgraphs(arrays, csr)
    assert len(samples) == 7, "an epoch"
    assert np.array_equal(np.sort(np.concatenate(samples)), np.arange(csr.num_vertices)), "every vertex once"
    for nodes in samples:
        chosen = np.unique(cluster_of[nodes])
        assert len(nodes) == np.isin(cluster_of, chosen).sum(), "whole clusters"
    if partition == "contiguous":
        assert (np.diff(cluster_of) >= 0).all()


def test_clusters_from_a_file(tendril, sample, csr):
    own = np.arange(csr.num_vertices) % 10
    np.save(tendril.path("own.npy"), own)
    arrays, metadata = sample("cluster", "--clusters-from", "own.npy", "--clusters-per-sample", 3, "--num-samples", 2)
    assert np.array_equal(arrays["cluster_of"], own)
    assert all(len(set((nodes % 10).tolist())) == 3 for nodes in verify_subgraphs(arrays, csr))
    assert json.loads(metadata["params"])["num_clusters"] == 10


def has_metis():
    try:
        ctypes.CDLL("libmetis.so.5")
    except OSError:
        return False
    return True


def test_clusters_by_metis(sample, csr):
    if not has_metis():
        pytest.skip("no libmetis5")
    arrays, _ = sample("cluster", "--clusters", 20, "--clusters-per-sample", 4, "--partition", "metis")
    assert arrays["cluster_of"].max() < 20
    verify_subgraphs(arrays, csr)


def test_without_metis_it_is_asked_for_by_name(tendril, graphs):
    if has_metis():
        pytest.skip("there is a libmetis5")
    done = tendril.try_run(
        "sample", graphs["skewed.safetensors"], "-o", "s.npz", "--app", "cluster", "--partition", "metis"
    )
    assert done.returncode == 1 and "libmetis" in done.stderr and done.stderr.count("\n") == 1
    assert not tendril.path("s.npz").exists()


def test_shadow(sample, csr):
    arrays, _ = sample("shadow", "--depth", 2, "--num-neighbors", 3, "--num-seeds", 80)
    samples = verify_subgraphs(arrays, csr)
    assert [nodes[0] for nodes in samples] == arrays["seeds"].tolist()
    assert max(map(len, samples)) <= 1 + 3 + 9
    for nodes in samples:
        one = set(csr.neighbors(nodes[0]).tolist())
        two = {int(u) for v in one for u in csr.neighbors(v)}
        assert set(nodes[1:].tolist()) <= one | two


@pytest.mark.parametrize(
    "app, options, most",
    [
        ("saint-node", ["--budget", 60], 60),
        ("saint-edge", ["--budget", 40], 80),
        ("saint-walk", ["--budget", 20, "--length", 3], 80),
    ],
)
def test_saint(app, options, most, sample, csr):
    arrays, _ = sample(app, *options, "--num-samples", 12, "--coefficients", 12)
    samples = verify_subgraphs(arrays, csr)
    assert len(samples) == 12
    for nodes in samples:
        assert (np.diff(nodes) > 0).all() and 0 < len(nodes) <= most
    counts = np.bincount(arrays["nodes"], minlength=csr.num_vertices)
    edges = np.bincount(arrays["edges"], minlength=len(csr.targets))
    assert np.array_equal(arrays["node_counts"], counts) and np.array_equal(arrays["edge_counts"], edges)
    assert np.allclose(arrays["loss"], counts / 12)
    of_source = counts[csr.sources]
    ratio = np.divide(edges, of_source, out=np.zeros(len(edges)), where=of_source > 0)
    assert np.allclose(arrays["aggregator"], ratio)


def test_an_epoch_is_the_default(sample, csr):
    arrays, _ = sample("saint-walk", "--budget", 100, "--length", 3)
    assert len(arrays["node_offsets"]) - 1 == -(-csr.num_vertices // 400)


def test_an_application_of_ones_own(tendril, graphs, csr):
    options = ["--param", "tries=3", "--param", "fanouts=7,4", "--num-seeds", 200]
    arrays, metadata = from_source(tendril, graphs, QUIET, *options)
    assert metadata["app"] == "quiet_hops" and json.loads(metadata["params"])["param"] == ["tries=3", "fanouts=7,4"]
    assert arrays["step0.vertices"].shape == (200, 7) and arrays["step1.vertices"].shape == (200, 28)
    first, second = arrays["step0.vertices"], arrays["step1.vertices"].reshape(200, 7, 4)
    for seed, hop, rest in zip(arrays["seeds"], first, second):
        assert np.isin(hop, csr.neighbors(seed)).all() if csr.degrees[seed] else (hop == -1).all()
        for v, children in zip(hop, rest):
            leaves = v < 0 or csr.degrees[v] == 0
            assert (children == -1).all() if leaves else np.isin(children, csr.neighbors(v)).all()
    plain, _ = from_source(tendril, graphs, QUIET, "--param", "tries=1", "--param", "fanouts=7,4", "--num-seeds", 200)
    mean = [csr.degrees[a["step1.vertices"][a["step1.vertices"] >= 0]].mean() for a in (arrays, plain)]
    assert mean[0] < 0.7 * mean[1], "parameters arrive: three tries find quieter vertices than one"


def test_an_application_that_records_edges(tendril, graphs, csr):
    arrays, _ = from_source(tendril, graphs, QUIET + PAIRS, "--struct", "pairs", "--roots", 2, "--num-seeds", 100)
    assert arrays["seeds"].shape == (50, 2)
    sources, targets = (rows_of(arrays, f"step0.edge_{end}", "step0.edge_offsets") for end in ("sources", "targets"))
    for i, seeds in enumerate(arrays["seeds"]):
        expected = [(v, u) for v, row in zip(seeds, arrays["step0.vertices"][i].reshape(2, 3)) for u in row if u >= 0]
        assert list(zip(sources[i], targets[i])) == expected
        assert set(expected) <= csr.edges


JOBS = {
    "layer": ["--layer-size", 20, "--max-size", 50],
    "fastgcn": ["--layer-size", 16, "--batch-size", 32],
    "ladies": ["--batch-size", 32, "--normalization", "symmetric"],
    "mvs": ["--batch-size", 16, "--replace"],
    "labor": ["--fanouts", "5,5", "--batch-size", 32],
    "cluster": ["--clusters", 40, "--clusters-per-sample", 5],
    "shadow": ["--num-neighbors", 4],
    "saint-node": ["--budget", 50, "--normalization", "symmetric"],
    "saint-edge": ["--budget", 50],
    "saint-walk": ["--budget", 20],
}
OF_SEEDS = {"layer": 1, "fastgcn": 32, "ladies": 32, "labor": 32, "shadow": 1}  # seeds of a sample


@pytest.mark.parametrize("app", JOBS)
def test_threads_formats_and_splits_change_nothing(app, tendril, graphs, sample):
    if app in OF_SEEDS:
        seeds = np.random.default_rng(3).permutation(1024)[:128]
        np.save(tendril.path("all.npy"), seeds)
        np.save(tendril.path("first.npy"), seeds[:64])
        np.save(tendril.path("second.npy"), seeds[64:])
        which = [["--seeds", f"{name}.npy"] for name in ("all", "first", "second")]
        half = 64 // OF_SEEDS[app]
    else:
        which, half = [["--num-samples", n] for n in (8, 4, 4)], 4
    whole, metadata = sample(app, *JOBS[app], *which[0], output="whole.safetensors")
    assert metadata["num_samples"] == str(2 * half) and metadata["seed"] == "7"
    sample(app, *JOBS[app], *which[0], "--threads", 1, output="one.safetensors")
    sample(app, *JOBS[app], *which[0], "--threads", 3, output="three.safetensors")
    assert tendril.bytes("one.safetensors") == tendril.bytes("three.safetensors") == tendril.bytes("whole.safetensors")

    job = ["sample", graphs["skewed.safetensors"], "--app", app, "--seed", 7, "--quiet", *JOBS[app], *which[0]]
    tendril(*job, "-o", "whole.npz", "--dtype", "int64")
    with np.load(tendril.path("whole.npz")) as arrays:
        assert set(arrays) == set(whole)
        assert all(np.array_equal(arrays[name], whole[name]) for name in whole)

    first, _ = sample(app, *JOBS[app], *which[1], output="first.safetensors")
    second, _ = sample(app, *JOBS[app], *which[2], "--first-sample", half, output="second.safetensors")
    for name, array in whole.items():
        if name == "cluster_of":
            joined = first[name]
        elif name.endswith("offsets"):
            joined = np.concatenate([first[name], first[name][-1] + second[name][1:]])
        else:
            joined = np.concatenate([first[name], second[name]])
        assert np.array_equal(joined, array), name


def test_own_applications_can_be_split_too(tendril, graphs):
    np.save(tendril.path("all.npy"), np.arange(200))
    np.save(tendril.path("second.npy"), np.arange(120, 200))
    whole, _ = from_source(tendril, graphs, QUIET, "--seeds", "all.npy")
    second, _ = from_source(tendril, graphs, QUIET, "--seeds", "second.npy", "--first-sample", 120, "--threads", 1)
    assert all(np.array_equal(whole[name][120:], second[name]) for name in whole)


@pytest.mark.parametrize("app", ["layer", "ladies", "labor", "shadow", "mvs", "cluster", "saint-walk", "saint-edge"])
def test_graphs_without_edges(app, tendril, graphs):
    tendril("generate", "er", "bare.npz", "--vertices", 40, "--edge-factor", 0, "--quiet")
    for graph in ("bare.npz", graphs["empty.txt"]):
        done = tendril.try_run("sample", graph, "-o", "bare.safetensors", "--app", app, "--quiet")
        if graph == "bare.npz" or done.returncode == 0:
            assert done.stderr == ""
            arrays, _ = read_safetensors(tendril.path("bare.safetensors"))
            assert arrays
        else:
            assert done.stderr.count("\n") == 1


def test_summaries(tendril, graphs):
    job = ["sample", graphs["skewed.safetensors"], "-o", "s.safetensors", "--app", "shadow", "--num-seeds", 50]
    summary = json.loads(tendril(*job, "--json"))
    arrays, _ = read_safetensors(tendril.path("s.safetensors"))
    assert (summary["app"], summary["num_samples"], summary["device"]) == ("shadow", 50, "cpu")
    assert summary["sampled_vertices"] == len(arrays["nodes"]) and summary["sampled_edges"] == len(arrays["row"])
    assert summary["params"] == {"depth": 2, "num_neighbors": 10, "replace": False, "first_sample": 0}
    assert "job     50 seeds: shadow, 2 hops of 10 neighbours, without replacement\nsamples 50: " in tendril(*job)


def test_memory_does_not_grow_with_files_of_fixed_shape(tendril, graphs):
    """A job of 100 MB of slots, in parts of 64 MB, against one of 10 MB."""
    job = ["sample", graphs["skewed.safetensors"], "-o", "s.safetensors", "--app", "layer", "--json"]
    small, large = (
        json.loads(tendril(*job, "--layer-size", 500, "--max-size", 25 * size)) for size in (100, 1000)
    )
    assert large["output_bytes"] > 100_000_000
    assert large["peak_memory_bytes"] - small["peak_memory_bytes"] < 75_000_000
