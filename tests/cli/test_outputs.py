"""What the verbs write: formats agree, walks and trees follow edges, splits and threads change nothing."""

import json
import resource

import numpy as np
import pytest
from tensors import read_safetensors

ENRON = "data/email-enron.npz"


def edges_of(tendril, graph):
    """The graph's edges as a set, by way of a sparse matrix."""
    tendril("convert", graph, "edges.npz", "--quiet")
    with np.load(tendril.path("edges.npz")) as matrix:
        sources = np.repeat(np.arange(len(matrix["indptr"]) - 1), np.diff(matrix["indptr"]))
        return set(zip(sources.tolist(), matrix["indices"].tolist()))


@pytest.mark.parametrize("app", ["deepwalk", "ppr", "restart", "node2vec"])
def test_formats_agree(app, tendril, graphs):
    job = [
        "walk",
        graphs["skewed.safetensors"],
        "--app",
        app,
        "--walks",
        3,
        "--length",
        12,
        "--weighted",
        "--seed",
        5,
        "--quiet",
    ]
    tendril(*job, "-o", "w.npy")
    tendril(*job, "-o", "w64.npy", "--dtype", "int64")
    tendril(*job, "-o", "w.safetensors")
    tendril(*job, "-o", "w64.safetensors", "--dtype", "int64")
    tendril(*job, "-o", "w.txt")
    walks = np.load(tendril.path("w.npy"))
    assert walks.dtype == np.int32 and walks.shape == (3 * 1024, 13)
    wide = np.load(tendril.path("w64.npy"))
    assert wide.dtype == np.int64 and np.array_equal(walks, wide)
    for name in ("w.safetensors", "w64.safetensors"):
        arrays, metadata = read_safetensors(tendril.path(name))
        assert np.array_equal(arrays["walks"], walks)
        assert np.array_equal(arrays["lengths"], (walks >= 0).sum(axis=1) - 1)
        assert metadata["app"] == app and metadata["seed"] == "5" and metadata["version"]
        assert json.loads(metadata["params"])["length"] == 12
    lines = [list(map(int, line.split())) for line in tendril.path("w.txt").read_text().splitlines()]
    assert lines == [[v for v in row if v >= 0] for row in walks.tolist()]
    assert tendril(*job, "-o", "-").encode() == tendril.bytes("w.txt")


@pytest.mark.parametrize("app", ["deepwalk", "ppr", "restart", "node2vec"])
def test_memory_does_not_change_walks(app, tendril, graphs):
    """Walks that go region by region, of a graph in CSR form and of a compressed one."""
    job = ["--app", app, "--walks", 3, "--length", 12, "--weighted", "--seed", 5]
    tendril("convert", graphs["skewed.safetensors"], "lists.safetensors", "--compress", "auto", "--quiet")
    tendril("walk", graphs["skewed.safetensors"], *job, "-o", "all.npy", "--quiet")
    for graph in (graphs["skewed.safetensors"], "lists.safetensors"):
        for memory in (20_000, "1G"):
            made = json.loads(tendril("walk", graph, *job, "-o", "regions.npy", "--memory", memory, "--json"))
            assert tendril.bytes("regions.npy") == tendril.bytes("all.npy")
            assert made["read_bytes"] > 0


@pytest.mark.parametrize("app", ["deepwalk", "ppr", "node2vec"])
def test_ragged_files_are_rows_cut_at_their_lengths(app, tendril, graphs):
    job = ["walk", graphs["skewed.safetensors"], "--app", app, "--walks", 3, "--length", 12, "--seed", 5, "--quiet"]
    tendril(*job, "-o", "rows.safetensors")
    tendril(*job, "-o", "ragged.safetensors", "--order", "ragged")
    tendril(*job, "-o", "wide.safetensors", "--order", "ragged", "--dtype", "int64", "--threads", 3)
    rows, metadata = read_safetensors(tendril.path("rows.safetensors"))
    for name, dtype in (("ragged", np.int32), ("wide", np.int64)):
        ragged, same = read_safetensors(tendril.path(f"{name}.safetensors"))
        assert same == metadata and set(ragged) == {"offsets", "vertices"}
        assert ragged["offsets"].dtype == np.int64 and ragged["vertices"].dtype == dtype
        assert np.array_equal(np.diff(ragged["offsets"]), rows["lengths"] + 1)
        assert np.array_equal(ragged["vertices"], rows["walks"][rows["walks"] >= 0])
    summary = json.loads(tendril(*job[:-1], "-o", "ragged.safetensors", "--order", "ragged", "--json"))
    assert summary["order"] == "ragged" and summary["steps"] == rows["lengths"].sum()
    assert summary["output_bytes"] < tendril.path("rows.safetensors").stat().st_size


def test_ragged_walks_take_the_memory_of_what_they_visit(tendril, graphs):
    """Rows of the largest length would take 8.6 GB each; the command gets 1 GB of addresses for 1,000 walks."""
    job = ["walk", graphs["skewed.safetensors"], "--app", "ppr", "--stop-prob", 0.5, "--num-starts", 1000]
    job += ["--order", "ragged", "--threads", 2, "--json", "-o"]
    tendril(*job, "short.safetensors", "--length", 60)
    done = tendril.try_run(
        *[*job, "long.safetensors", "--length", 2147483646],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)),
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["peak_memory_bytes"] < 100 << 20
    short, long = (read_safetensors(tendril.path(f"{name}.safetensors"))[0] for name in ("short", "long"))
    for name in ("offsets", "vertices"):
        assert np.array_equal(short[name], long[name])


def test_ragged_walks_that_dead_ends_stop_may_have_any_length(tendril):
    """Nothing says beforehand how long these walks are: one needs more room than all others together."""
    n = 20_000
    tendril.path("path.txt").write_text("".join(f"{v} {v + 1}\n" for v in range(n)))
    tendril.path("starts.txt").write_text("".join(f"{n - v % 7}\n" for v in range(2000)) + "0\n")
    job = ["walk", "path.txt", "--starts", "starts.txt", "--length", 2147483646, "--order", "ragged", "--threads", 2]
    tendril(*job, "-o", "w.safetensors", "--quiet")
    walks, _ = read_safetensors(tendril.path("w.safetensors"))
    assert np.array_equal(np.diff(walks["offsets"]), [*(1 + v % 7 for v in range(2000)), n + 1])
    assert np.array_equal(walks["vertices"][-n - 1 :], np.arange(n + 1))


def test_walks_follow_edges_from_every_vertex(tendril, graphs):
    tendril("walk", graphs["skewed.safetensors"], "-o", "w.npy", "--walks", 4, "--length", 20, "--quiet")
    walks = np.load(tendril.path("w.npy"))
    assert np.array_equal(walks[:, 0], np.repeat(np.arange(1024), 4))
    edges = edges_of(tendril, graphs["skewed.safetensors"])
    steps = {(int(u), int(v)) for row in walks for u, v in zip(row, row[1:]) if v >= 0}
    assert steps and steps <= edges


def test_dead_ends(tendril, graphs):
    job = ["walk", graphs["line.txt"], "--starts", "starts.txt", "--length", 3, "--quiet"]
    tendril.path("starts.txt").write_text("2\n\n# the beginning\n 0 \n")
    tendril(*job, "-o", "stop.npy")
    assert np.load(tendril.path("stop.npy")).tolist() == [[2, 3, -1, -1], [0, 1, 2, 3]]
    tendril(*job, "-o", "repeat.npy", "--dead-end", "repeat")
    assert np.load(tendril.path("repeat.npy")).tolist() == [[2, 3, 3, 3], [0, 1, 2, 3]]


THREADED = {
    "deepwalk.npy": ["walk", "--length", 40],
    "weighted.safetensors": ["walk", "--app", "node2vec", "--p", 0.5, "--q", 2, "--weighted", "--length", 30],
    "walks.txt": ["walk", "--app", "ppr", "--stop-prob", 0.1],
    "short.safetensors": ["walk", "--app", "ppr", "--stop-prob", 0.1, "--order", "ragged"],
    "metapath.npy": ["walk", "--app", "metapath", "--metapath", "0,2,1", "--length", 12],
    "khop.npz": ["sample", "--fanouts", "7,3", "--weighted", "--edges"],
    "khop.safetensors": ["sample", "--fanouts", "4,3,2", "--replace"],
    "ragged.npz": ["sample", "--fanouts=3,-1", "--num-seeds", 50],
    "minibatch.npz": ["sample", "--app", "minibatch", "--fanouts", "5,3", "--batch-size", 100, "--num-seeds", 350],
    "disjoint.safetensors": ["sample", "--app", "minibatch", "--fanouts", "4,2", "--disjoint", "--num-seeds", 64],
}


@pytest.mark.parametrize("output", THREADED)
def test_threads_change_no_byte(output, tendril, graphs):
    verb, *options = THREADED[output]
    for threads in (1, 2, 5):
        tendril(
            verb,
            graphs["skewed.safetensors"],
            "-o",
            f"{threads}-{output}",
            *options,
            "--threads",
            threads,
            "--seed",
            3,
            "--quiet",
        )
    assert tendril.bytes(f"1-{output}") == tendril.bytes(f"2-{output}") == tendril.bytes(f"5-{output}")
    tendril(verb, graphs["skewed.safetensors"], "-o", f"other-{output}", *options, "--seed", 4, "--quiet")
    assert tendril.bytes(f"1-{output}") != tendril.bytes(f"other-{output}")


def test_splits_of_walks_are_the_whole(tendril, graphs):
    job = ["walk", graphs["skewed.safetensors"], "--app", "node2vec", "--p", 2, "--walks", 3, "--length", 15, "--quiet"]
    tendril(*job, "-o", "all.npy")
    np.save(tendril.path("first.npy"), np.arange(400))
    tendril.path("second.txt").write_text("".join(f"{v}\n" for v in range(400, 1024)))
    tendril(*job, "-o", "a.npy", "--starts", "first.npy")
    tendril(*job, "-o", "b.npy", "--starts", "second.txt", "--first-walk", 1200)
    parts = [np.load(tendril.path(name)) for name in ("a.npy", "b.npy")]
    assert np.array_equal(np.load(tendril.path("all.npy")), np.concatenate(parts))


def test_splits_of_trees_are_the_whole(tendril, graphs):
    job = ["sample", graphs["skewed.safetensors"], "--fanouts", "5,4", "--quiet"]
    tendril(*job, "-o", "all.npz")
    np.save(tendril.path("second.npy"), np.arange(700, 1024, dtype=np.int32))
    tendril(*job, "-o", "b.npz", "--seeds", "second.npy", "--first-root", 700)
    with np.load(tendril.path("all.npz")) as whole, np.load(tendril.path("b.npz")) as part:
        assert set(part.files) == {"seeds", "hop1", "hop2"}
        for name in part.files:
            assert np.array_equal(whole[name][700:], part[name])


def test_batches_beyond_one_are_the_same_walks(tendril):
    """More walks than one batch holds: rows of a long job equal those of a short one."""
    tendril("walk", ENRON, "-o", "long.npy", "--walks", 8, "--length", 80, "--quiet")  # 95 MB of vertices, two batches
    walks = np.load(tendril.path("long.npy"), mmap_mode="r")
    assert walks.shape == (8 * 36692, 81) and walks.nbytes > 64 << 20
    tendril.path("last.txt").write_text("36600\n36691\n")
    tendril("walk", ENRON, "-o", "one.npy", "--starts", "last.txt", "--walks", 1, "--first-walk", 8 * 36600, "--quiet")
    assert np.array_equal(np.load(tendril.path("one.npy"))[0], walks[8 * 36600])


def test_memory_does_not_grow_with_the_number_of_walks(tendril):
    peaks = []
    for walks in (8, 24):
        summary = json.loads(tendril("walk", ENRON, "-o", "w.npy", "--walks", walks, "--length", 80, "--json"))
        assert summary["output_bytes"] > walks * 36692 * 81 * 4
        peaks.append(summary["peak_memory_bytes"])
    assert peaks[1] < peaks[0] + (64 << 20)  # 190 MB more were written


def test_trees(tendril, graphs):
    edges = edges_of(tendril, graphs["skewed.safetensors"])
    tendril(
        "sample", graphs["skewed.safetensors"], "-o", "t.safetensors", "--fanouts", "6,4", "--num-seeds", 200, "--quiet"
    )
    trees, metadata = read_safetensors(tendril.path("t.safetensors"))
    assert metadata["app"] == "khop" and json.loads(metadata["params"])["fanouts"] == [6, 4]
    assert len(set(trees["seeds"].tolist())) == 200
    assert trees["hop1"].shape == (200, 6) and trees["hop2"].shape == (200, 6, 4)
    for seed, children, rows in zip(trees["seeds"].tolist(), trees["hop1"].tolist(), trees["hop2"].tolist()):
        kept = [v for v in children if v >= 0]
        assert len(set(kept)) == len(kept) and all((seed, v) in edges for v in kept)
        for child, row in zip(children, rows):
            assert all(w < 0 or (child, w) in edges for w in row)


def test_all_neighbours(tendril, graphs):
    edges = edges_of(tendril, graphs["skewed.safetensors"])
    tendril(
        "sample", graphs["skewed.safetensors"], "-o", "t.npz", "--fanouts=-1", "--num-seeds", 30, "--edges", "--quiet"
    )
    with np.load(tendril.path("t.npz")) as trees:
        offsets, hop = trees["hop1_offsets"], trees["hop1"]
        assert trees["hop1_edges"].shape == hop.shape
        for i, seed in enumerate(trees["seeds"].tolist()):
            assert sorted(hop[offsets[i] : offsets[i + 1]].tolist()) == sorted(v for u, v in edges if u == seed)


def test_files_of_samples_without_edges_can_be_read(tendril):
    """Their check sums are those of what was written, though some arrays have nothing to write."""
    folder = tendril.folder
    np.savez(folder / "g.npz", indptr=np.array([0, 1, 1, 1, 2]), indices=np.array([3, 0], dtype=np.uint32))
    np.savez(folder / "none.npz", indptr=np.array([0]), indices=np.array([], dtype=np.uint32))
    (folder / "seeds.txt").write_text("0\n1\n3\n2\n")
    batches = ["--app", "minibatch", "--fanouts", "2", "--batch-size", 1, "--quiet"]
    tendril("sample", "g.npz", "-o", "batches.npz", "--seeds", "seeds.txt", *batches)
    with np.load(folder / "batches.npz") as made:
        assert made["edge_offsets"].tolist() == [0, 1, 1, 2, 2]
        assert (made["edge"].tolist(), made["node"].tolist()) == ([0, 1], [0, 3, 1, 3, 0, 2])
    for job in (batches, ["--fanouts", "3", "--quiet"], ["--fanouts=-1", "--quiet"]):
        tendril("sample", "none.npz", "-o", "none-made.npz", *job)
        with np.load(folder / "none-made.npz") as made:
            assert all(made[name].size == ("offsets" in name) and made[name].sum() == 0 for name in made)
    tendril("convert", "none.npz", "matrix.npz", "--quiet")
    with np.load(folder / "matrix.npz") as matrix:
        assert [matrix["indptr"].tolist(), matrix["indices"].tolist()] == [[0], []]


def test_minibatches(tendril, graphs):
    edges = edges_of(tendril, graphs["skewed.safetensors"])
    tendril(
        "sample",
        graphs["skewed.safetensors"],
        "-o",
        "m.npz",
        "--app",
        "minibatch",
        "--fanouts",
        "5,3",
        "--batch-size",
        64,
        "--num-seeds",
        150,
        "--quiet",
    )
    with np.load(tendril.path("m.npz")) as file:
        arrays = dict(file)
    assert arrays["node_offsets"].shape == arrays["edge_offsets"].shape == (4,)
    assert arrays["num_sampled_nodes"].shape == (3, 3) and arrays["num_sampled_edges"].shape == (3, 2)
    for b in range(3):
        nodes = arrays["node"][arrays["node_offsets"][b] : arrays["node_offsets"][b + 1]]
        part = slice(arrays["edge_offsets"][b], arrays["edge_offsets"][b + 1])
        seeds = arrays["seeds"][64 * b : 64 * (b + 1)]
        assert np.array_equal(nodes[: len(seeds)], seeds)
        assert len(set(nodes.tolist())) == len(nodes) == arrays["num_sampled_nodes"][b].sum()
        pairs = set(zip(nodes[arrays["row"][part]].tolist(), nodes[arrays["col"][part]].tolist()))
        assert pairs and pairs <= edges


def test_starts_are_drawn_uniformly(tendril, graphs):
    tendril("walk", graphs["star.npz"], "-o", "w.npy", "--num-starts", 50_000, "--length", 1, "--quiet")
    counts = np.bincount(np.load(tendril.path("w.npy"))[:, 0], minlength=50)
    chi_square = ((counts - 1000) ** 2 / 1000).sum()
    assert chi_square < 49 + 5 * (2 * 49) ** 0.5  # five standard deviations above its mean
