"""Graphs that are cut into parts: what is read is what was cut."""

from __future__ import annotations

import json

import numpy as np
import pytest
from test_files import assert_same

import tendril


@pytest.mark.parametrize("method", ["range", "degree"])
@pytest.mark.parametrize("num_parts", [1, 3, 100])
def test_the_folder_holds_the_graph(method, num_parts, graph, tmp_path):
    assert tendril.partition(graph, tmp_path / "parts", num_parts, method=method) is None
    back = tendril.read_partition(tmp_path / "parts")
    assert_same(graph, back)
    assert back.edge_label_names == graph.edge_label_names
    assert back.node_type_names == graph.node_type_names
    back.validate()
    told = json.loads((tmp_path / "parts" / "graph.json").read_text())
    assert (told["num_parts"], told["method"]) == (num_parts, method)
    starts = np.arange(graph.num_vertices)
    for one, other in zip(tendril.random_walk(graph, starts, 5), tendril.random_walk(back, starts, 5), strict=True):
        np.testing.assert_array_equal(one, other)


def test_parts_have_the_form_that_is_asked_for(graph, tmp_path):
    for name, source, form, expected in (
        ("packed", graph, "packed", "packed"),
        ("kept", graph.compress("auto"), None, "auto"),
        ("decoded", graph.compress("auto"), "csr", None),
    ):
        tendril.partition(source, tmp_path / name, 3, form=form)
        assert json.loads((tmp_path / name / "graph.json").read_text()).get("form") == expected
        back = tendril.read_partition(tmp_path / name)
        assert back.form == (expected or "csr")
        assert_same(graph, back.compress("csr"))
    with pytest.raises(tendril.ArgumentError, match="form is 'zip', expected 'csr', 'packed', 'runs', 'ef', 'vbyte' or 'auto'"):
        tendril.partition(graph, tmp_path / "other", 2, form="zip")


def test_building_steps_apply(graph, tmp_path):
    tendril.partition(graph, tmp_path / "parts", 4)
    graph.save(tmp_path / "graph.safetensors")
    expected = tendril.read_graph(tmp_path / "graph.safetensors", reverse=True)
    assert_same(tendril.read_partition(tmp_path / "parts", reverse=True), expected)


def test_errors(graph, tmp_path):
    folder = tmp_path / "parts"
    tendril.partition(graph, folder, 2)
    before = sorted(path.name for path in folder.iterdir())
    with pytest.raises(tendril.ArgumentError, match=r"parts': the folder is not empty, expected a new or an empty one"):
        tendril.partition(graph, folder, 2)
    with pytest.raises(tendril.ArgumentError, match="num_parts: 0, expected a number from 1 to 1024"):
        tendril.partition(graph, tmp_path / "other", 0)
    with pytest.raises(tendril.ArgumentError, match="method is 'luck', expected 'range', 'degree' or 'metis'"):
        tendril.partition(graph, tmp_path / "other", 2, method="luck")
    with pytest.raises(tendril.ArgumentError, match="graph is a int, expected a Graph"):
        tendril.partition(5, tmp_path / "other", 2)
    with pytest.raises(tendril.IoError, match=r"other.graph\.json: cannot open: No such file or directory"):
        tendril.read_partition(tmp_path / "other")
    assert sorted(path.name for path in folder.iterdir()) == before
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]
    (folder / "graph.json").write_text("{}")
    with pytest.raises(tendril.FormatError, match=r"graph\.json: no entry 'format', expected one"):
        tendril.read_partition(folder)
