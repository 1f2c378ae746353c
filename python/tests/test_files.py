"""Files: what is saved is what is loaded, and bad files get one line."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys

import numpy as np
import pytest

import tendril

ARRAYS = ("indptr", "indices", "weights", "edge_labels", "node_types", "edge_ids", "original_ids")


def assert_same(one, other, names=ARRAYS):
    for name in names:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def test_the_native_container_keeps_everything(graph, tmp_path):
    path = tmp_path / "graph.safetensors"
    graph.save(path)
    assert tendril.detect_format(path) == "safetensors"
    back = tendril.read_graph(path)
    assert_same(graph, back)
    assert back.edge_label_names == graph.edge_label_names
    assert back.node_type_names == graph.node_type_names
    back.validate()
    assert [p.name for p in tmp_path.iterdir()] == ["graph.safetensors"]


def test_a_file_that_became_shorter_ends_the_process_with_one_line(tmp_path):
    path = tmp_path / "graph.safetensors"
    tendril.generate.ring(200_000).save(path)
    program = """
import os, sys, tendril
graph = tendril.read_graph(sys.argv[1])
os.truncate(sys.argv[1], 4096)
tendril.random_walk(graph, [199_999], 3)
"""
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, env=os.environ)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"tendril: error: {path}: the file was truncated while it was read\n"


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
def test_an_array_of_edges_is_a_graph(dtype, tmp_path):
    edges = np.array([[0, 2, 2, 5], [1, 0, 4, 5]], dtype)
    expected = tendril.Graph.from_coo(*edges.astype(np.int64), symmetrize=True)
    np.save(tmp_path / "rows.npy", edges)
    np.save(tmp_path / "columns.npy", np.ascontiguousarray(edges.T))
    edges.T.astype("<u8").tofile(tmp_path / "pairs.bin")
    for name, format in (("rows.npy", "auto"), ("columns.npy", "npy"), ("pairs.bin", "coo64")):
        assert_same(tendril.read_graph(tmp_path / name, format=format, symmetrize=True), expected)
        output = tmp_path / "o.safetensors"
        bounded = tendril.convert(tmp_path / name, output, memory=1 << 20, format=format, symmetrize=True)
        assert_same(bounded, expected)


def test_a_corrupt_native_file_is_named_when_it_is_used(tmp_path):
    tendril.generate.ring(100).save(tmp_path / "good.safetensors")
    path = tmp_path / "bad.safetensors"
    path.write_bytes((tmp_path / "good.safetensors").read_bytes()[:-4] + b"\xff" * 4)
    graph = tendril.read_graph(path)
    assert graph.num_edges == 200 and graph.indices[-1] == 2**32 - 1  # shown as it is
    message = f"{path}: vertex 99: neighbour 4294967295 at edge 199, expected an id below 100"
    seeds = [0, 1]
    for use in (
        lambda: tendril.random_walk(graph, seeds, 3),
        lambda: tendril.node2vec_walk(graph, seeds, 3, p=2, q=0.5),
        lambda: tendril.neighbor_sample(graph, seeds, [2]),
        lambda: graph.rebuild(reverse=True),
        lambda: graph.save(tmp_path / "copy.safetensors"),
        lambda: graph.save(tmp_path / "copy.txt"),
        graph.validate,
    ):
        for _ in range(2):
            with pytest.raises(tendril.FormatError) as refused:
                use()
            assert str(refused.value) == message
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.safetensors", "good.safetensors"]


@pytest.mark.parametrize("name", ["g.txt", "g.txt.gz", "g.mtx", "g.npz", "g.wsg"])
def test_weighted_graphs_in_other_formats(graph, tmp_path, name):
    weights = np.ceil(graph.weights) if name == "g.wsg" else graph.weights  # GAP files hold integers
    plain = tendril.Graph.from_csr(graph.indptr, graph.indices, weights=weights)
    plain.save(tmp_path / name)
    back = tendril.Graph.load(tmp_path / name)
    assert back.indices.tolist() == plain.indices.tolist()
    np.testing.assert_array_equal(back.weights, weights)


def test_metis_holds_undirected_graphs(karate, tmp_path):
    karate.save(tmp_path / "karate.graph", format="metis")
    back = tendril.read_graph(tmp_path / "karate.graph", format="metis")
    assert_same(karate, back, ("indptr", "indices"))


def test_scipy_npz(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.random_array((30, 30), density=0.2, format="csr", dtype=np.float32, rng=np.random.default_rng(1))
    sparse.save_npz(tmp_path / "m.npz", matrix)
    assert (tendril.read_graph(tmp_path / "m.npz").to_scipy() != matrix).nnz == 0


def test_edge_lists_with_columns_and_steps(tmp_path):
    path = tmp_path / "edges.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write("# label,target,source\n2,1,0\n1,0,1\n2,1,0\n")
    graph = tendril.read_graph(
        path, format="edge-list", columns=["label", "target", "source"], drop_duplicates=True, num_threads=1
    )
    assert graph.indices.tolist() == [1, 0]
    assert graph.edge_labels.tolist() == [2, 1]


def test_bad_files_get_one_line(tmp_path):
    path = tmp_path / "bad.txt"
    path.write_text("0 1\n1 x\n")
    with pytest.raises(tendril.FormatError) as info:
        tendril.read_graph(path)
    assert str(info.value).startswith(f"{path}:2: ")
    assert "\n" not in str(info.value)


def test_missing_files(graph, tmp_path):
    with pytest.raises(tendril.IoError, match="missing.txt") as info:
        tendril.read_graph(tmp_path / "missing.txt")
    assert isinstance(info.value, OSError)
    with pytest.raises(tendril.IoError, match="nowhere"):
        graph.save(tmp_path / "nowhere" / "g.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_unknown_formats(graph, tmp_path):
    with pytest.raises(tendril.ArgumentError, match="gexf"):
        tendril.read_graph(tmp_path / "g.txt", format="gexf")
    with pytest.raises(tendril.ArgumentError):
        graph.save(tmp_path / "g.gap", format="gap")  # labels and types don't fit
    assert list(tmp_path.iterdir()) == []
