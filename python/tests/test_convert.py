"""Conversions of files in bounded memory."""

import numpy as np
import pytest

import tendril


@pytest.fixture
def edges(tmp_path):
    random = np.random.default_rng(1)
    path = tmp_path / "edges.txt"
    np.savetxt(path, random.integers(0, 5000, (50_000, 2)), fmt="%d")
    return path


@pytest.mark.parametrize("form", [None, "csr", "packed", "auto"])
def test_the_file_is_that_of_the_way_through_memory(form, edges, tmp_path):
    whole = tendril.read_graph(edges, symmetrize=True, drop_duplicates=True)
    if form:
        whole = whole.compress(form)
    whole.save(tmp_path / "whole.safetensors")
    out = tmp_path / "out.safetensors"
    graph = tendril.convert(edges, out, form=form, memory=1 << 20, symmetrize=True, drop_duplicates=True)
    assert graph.form == (form or "csr")
    assert graph.num_edges == whole.num_edges
    assert out.read_bytes() == (tmp_path / "whole.safetensors").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.txt", "out.safetensors", "whole.safetensors"]


def test_errors(edges, tmp_path):
    with pytest.raises(tendril.ArgumentError, match=r"memory: 5 bytes, expected at least 1048576"):
        tendril.convert(edges, tmp_path / "o.safetensors", memory=5)
    with pytest.raises(tendril.ArgumentError, match=r"o\.txt: expected a \.safetensors file"):
        tendril.convert(edges, tmp_path / "o.txt")
    with pytest.raises(tendril.IoError, match="no-such-file"):
        tendril.convert(tmp_path / "no-such-file.txt", tmp_path / "o.safetensors")
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("0 1\n1 2\n2 x\n")
    with pytest.raises(tendril.FormatError, match=r"wrong\.txt:3: target 'x'"):
        tendril.convert(wrong, tmp_path / "o.safetensors")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.txt", "wrong.txt"]
