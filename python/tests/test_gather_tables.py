"""Rows of several tables in one call are those of a call for each."""

from __future__ import annotations

import numpy as np
import pytest
import tendril

X = np.arange(3000, dtype=np.float32).reshape(1000, 3)
Y = np.arange(1000, dtype=np.int8)
FEW = np.arange(40, dtype=np.float64).reshape(10, 2, 2)
IDS = np.random.default_rng(0).integers(0, 1000, 5000)


def expect_rows(made, tables, ids):
    assert list(made) == list(tables)
    for key, table in tables.items():
        of = ids[key] if isinstance(ids, dict) else ids
        rows = made[key] if isinstance(made[key], np.ndarray) else made[key].numpy()
        assert rows.dtype == table.dtype
        np.testing.assert_array_equal(rows, table[of])


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_one_set_of_ids_or_one_for_each_table(threads):
    tables = {"x": X, "y": Y}
    expect_rows(tendril.gather_tables(tables, IDS, num_threads=threads), tables, IDS)
    tables = {"x": X, ("a", "to", "b"): FEW, "y": Y}
    ids = {"y": IDS[:100].astype(np.int32), "x": IDS, ("a", "to", "b"): [9, 0, 9]}  # in another order
    expect_rows(tendril.gather_tables(tables, ids, num_threads=threads), tables, ids)


def test_tables_of_every_kind(tmp_path):
    np.save(tmp_path / "x.npy", X)
    torch = pytest.importorskip("torch")
    half = torch.from_numpy(X).to(torch.bfloat16)
    tables = {"file": tendril.read_features(tmp_path / "x.npy"), "mapped": np.load(tmp_path / "x.npy", mmap_mode="r")}
    made = tendril.gather_tables({**tables, "half": half, "kept": tendril.FeatureTable(Y)}, IDS)
    np.testing.assert_array_equal(made["file"], X[IDS])
    np.testing.assert_array_equal(made["mapped"], X[IDS])
    np.testing.assert_array_equal(made["kept"], Y[IDS])
    assert torch.equal(torch.from_dlpack(made["half"]), half[torch.from_numpy(IDS)])


def test_mappings_that_read_their_arrays_anew(tmp_path):
    ids = {"x": IDS.astype(np.int16), "y": IDS[:7]}
    np.savez(tmp_path / "tables.npz", x=X, y=Y)
    np.savez(tmp_path / "ids.npz", **ids)
    with np.load(tmp_path / "tables.npz") as tables, np.load(tmp_path / "ids.npz") as given:
        expect_rows(tendril.gather_tables(tables, given), {"x": X, "y": Y}, ids)


def test_nothing_to_gather():
    assert tendril.gather_tables({}, [1, 2]) == {}
    assert tendril.gather_tables({"x": X}, [])["x"].shape == (0, 3)


@pytest.mark.parametrize(
    ("tables", "ids", "line"),
    [
        ([X], [0], "tables is a list, expected a mapping of tables"),
        ({"x": X, "y": Y}, {"x": [0]}, "ids has no 'y', expected the keys of the other"),
        ({"x": X}, {"x": [0], "z": [1]}, "tables has no 'z', expected the keys of the other"),
        ({"x": X, "y": "rows"}, [0], "tables['y']: table is 'rows', expected an array"),
        ({"x": X, "y": Y}, [[0]], "tables['x']: ids has shape (1, 1), expected one dimension"),
        ({"x": X, "f": FEW}, [3, 10], "tables['f']: ids[1] is 10, expected 0 to 9"),
        ({"f": FEW, "x": X}, {"f": [1], "x": [5, -1]}, "tables['x']: ids[1] is -1, expected 0 to 999"),
    ],
)
def test_mistakes_are_one_line_with_the_key(tables, ids, line):
    with pytest.raises(tendril.ArgumentError) as error:
        tendril.gather_tables(tables, ids)
    assert str(error.value) == line


@pytest.mark.gpu
@pytest.mark.skipif(tendril.num_gpus() == 0, reason="no GPU")
@pytest.mark.parametrize("where", ["tables", "ids", "one table"])
def test_on_a_gpu(where):
    torch = pytest.importorskip("torch")
    on_gpu = {name: tendril.FeatureTable(table).to("cuda:0") for name, table in {"x": X, "y": Y}.items()}
    tables = {"tables": on_gpu, "ids": {"x": X, "y": Y}, "one table": {"x": X, "y": on_gpu["y"]}}[where]
    ids = torch.from_numpy(IDS).cuda() if where == "ids" else IDS
    made = tendril.gather_tables(tables, ids)
    assert all(isinstance(rows, tendril.DeviceArray) for rows in made.values())
    expect_rows(made, {"x": X, "y": Y}, IDS)
    with pytest.raises(tendril.ArgumentError, match=r"^tables\['y'\]: ids\[1\] is 1000, expected 0 to 999$"):
        tendril.gather_tables({"y": on_gpu["y"]}, [0, 1000])
