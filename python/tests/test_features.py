"""Rows of features: gathers from arrays of every kind and from mapped files, and what is refused."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

import tendril
from tendril import _tendril

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]


def rows(dtype="float32", shape=(300, 5)):
    return (np.arange(np.prod(shape)) % 251 % (2 if dtype == "bool" else 251)).astype(dtype).reshape(shape)


@pytest.fixture
def ids():
    return np.random.default_rng(1).integers(0, 300, 10_000)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("row", [(), (1,), (5,), (0,), (3, 4), (257,)])
def test_gathers_what_numpy_takes(dtype, row, ids):
    table = rows(dtype, (300, *row))
    for threads in (1, 2, 3, 8):
        made = tendril.gather(table, ids, num_threads=threads)
        assert made.dtype == table.dtype
        np.testing.assert_array_equal(made, np.take(table, ids, axis=0))
        out = np.empty_like(made)
        assert tendril.gather(table, ids, out=out, num_threads=threads) is out
        np.testing.assert_array_equal(out, made)
    assert made.flags.writeable


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_ids_of_any_width_and_layout(dtype):
    table = rows()
    ids = np.arange(100).astype(dtype)
    expected = table[:100]
    np.testing.assert_array_equal(tendril.gather(table, ids), expected)
    np.testing.assert_array_equal(tendril.gather(table, np.repeat(ids, 2)[::2]), expected)
    np.testing.assert_array_equal(tendril.gather(table, ids.astype(ids.dtype.newbyteorder(">"))), expected)
    unaligned = np.frombuffer(b"x" + ids.tobytes(), dtype, offset=1)
    np.testing.assert_array_equal(tendril.gather(table, unaligned), expected)
    np.testing.assert_array_equal(tendril.gather(table, ids.tolist()), expected)


def test_empty_ids_and_tables():
    assert tendril.gather(rows(), []).shape == (0, 5)
    assert tendril.gather(np.zeros((0, 3)), []).shape == (0, 3)
    with pytest.raises(tendril.ArgumentError, match=r"^ids\[0\] is 0, expected none: the table has no rows$"):
        tendril.gather(np.zeros((0, 3)), [0])


def test_memory_may_begin_anywhere(ids):
    table = rows()
    moved = np.frombuffer(b"x" + table.tobytes(), table.dtype, offset=1).reshape(table.shape)
    np.testing.assert_array_equal(tendril.gather(moved, ids), table[ids])
    out = np.frombuffer(bytearray(1 + 20 * len(ids)), np.float32, offset=1).reshape(-1, 5)
    np.testing.assert_array_equal(tendril.gather(table, ids, out=out), table[ids])


def test_rows_may_have_gaps(ids):
    table = rows(shape=(300, 9))
    np.testing.assert_array_equal(tendril.gather(table[:, 2:7], ids), table[:, 2:7][ids])
    np.testing.assert_array_equal(tendril.gather(table[::3], ids // 3), table[::3][ids // 3])


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_the_first_bad_id_is_named(threads):
    ids = np.arange(100_000) % 300
    ids[70_000], ids[70_001], ids[99_999] = 300, -1, 10**12
    with pytest.raises(tendril.ArgumentError, match=r"^ids\[70000\] is 300, expected 0 to 299$"):
        tendril.gather(rows(), ids, num_threads=threads)
    ids[5] = -4
    with pytest.raises(tendril.ArgumentError, match=r"^ids\[5\] is -4, expected 0 to 299$"):
        tendril.gather(rows(), ids, num_threads=threads)


def refused(message, *arguments, **keywords):
    with pytest.raises(tendril.ArgumentError) as info:
        tendril.gather(*arguments, **keywords)
    text = str(info.value)
    assert "\n" not in text
    assert re.search(message, text), text


def test_tables_that_are_refused():
    types = "expected bool, integers, float16, bfloat16, float32 or float64$"
    refused(f"^table has elements of another type, {types}", rows().astype(complex), [0])
    refused("^table has dtype >f4, expected one in this machine's byte order$", rows().astype(">f4"), [0])
    for array in (np.array(["a"]), np.array([None]), np.zeros(2, "i4,f4"), np.zeros(2, "M8[D]")):
        refused("^table is a ndarray of .*, expected numbers in CPU memory$", array, [0])
    refused(r"^table is \[\[1, 2\]\], expected an array$", [[1, 2]], [0])
    refused(r"^table has shape \(\), expected one dimension or more$", np.array(3.0), [0])
    refused("^table has rows that are not contiguous, expected each in one piece: ", rows()[:, ::2], [0])
    refused("^table has rows that are not contiguous", np.asfortranarray(rows()), [0])
    refused("^table has rows that overlap or run backwards", rows()[::-1], [0])
    refused("^table has rows that overlap or run backwards", np.broadcast_to(np.arange(3), (4, 3)), [0])


def test_ids_that_are_refused():
    refused("^ids has dtype float64, expected integers$", rows(), [0.5])
    refused("^ids has dtype bool, expected integers$", rows(), [True])
    refused(r"^ids has shape \(1, 1\), expected one dimension$", rows(), [[0]])
    refused(r"^ids\[1\] is 9223372036854775808, expected 0 to 299$", rows(), np.array([1, 2**63], np.uint64))
    refused(r"^ids\[0\] is 300, expected 0 to 299$", rows(), np.array([300, 2**63], np.uint64))
    refused("^num_threads is -1, expected 0", rows(), [0], num_threads=-1)


def test_outs_that_are_refused():
    table = rows()
    refused("^out has dtype float64, expected float32$", table, [1], out=np.zeros((1, 5)))
    refused(r"^out has shape \(2, 5\), expected \(1, 5\)$", table, [1], out=np.zeros((2, 5), np.float32))
    refused("^out is not contiguous", table, [1], out=np.zeros((1, 10), np.float32)[:, ::2])
    refused("^out overlaps the table, expected memory of its own$", table, [1], out=table[:1])
    refused("^out is 5, expected an array$", table, [1], out=5)
    closed = np.zeros((1, 5), np.float32)
    closed.flags.writeable = False
    refused("^out is a read-only array of float32, expected writable numbers in CPU memory$", table, [1], out=closed)
    assert not closed.any()


def test_torch_shares_its_memory(ids):
    torch = pytest.importorskip("torch")
    for dtype in (torch.bool, torch.int16, torch.float16, torch.float32, torch.float64):
        table = torch.from_numpy(rows()).to(dtype)
        expected = torch.index_select(table, 0, torch.from_numpy(ids))
        assert torch.equal(torch.from_numpy(tendril.gather(table, torch.from_numpy(ids))), expected)
        out = torch.empty_like(expected)
        assert tendril.gather(table, ids, out=out) is out
        assert torch.equal(out, expected)
    gradients = torch.zeros(3, 2, requires_grad=True)
    refused("^table requires gradients, which a gather does not record: pass its .detach()", gradients, [0])
    assert tendril.gather(gradients.detach(), [0]).shape == (1, 2)
    refused("^table is a Tensor of torch.float32 on meta, expected numbers in CPU memory", torch.zeros(3, device="meta"), [0])
    refused("^table is a Tensor of torch.float32", torch.zeros(3, 3).to_sparse(), [0])
    refused("^table has elements of another type", torch.zeros(3, dtype=torch.float8_e4m3fn), [0])


def test_page_locked_memory_is_host_memory(ids, page_locked):
    table, out = np.random.default_rng(1).random((300, 7)), np.zeros((len(ids), 7))
    assert np.array_equal(tendril.gather(page_locked(table), ids), table[ids])
    given = page_locked(out)
    assert tendril.gather(table, ids, out=given) is given
    assert np.array_equal(out, table[ids])


def test_bfloat16_comes_out_by_dlpack(ids):
    torch = pytest.importorskip("torch")
    table = torch.from_numpy(rows()).to(torch.bfloat16)
    expected = table[torch.from_numpy(ids)]
    made = tendril.gather(table, ids)
    assert isinstance(made, tendril.FeatureTable)
    assert (made.shape, made.dtype, made.nbytes) == ((10_000, 5), "bfloat16", 100_000)
    assert torch.equal(torch.from_dlpack(made), expected)
    out = torch.empty_like(expected)
    tendril.gather(table, ids, out=out)
    assert torch.equal(out, expected)
    again = tendril.gather(pickle.loads(pickle.dumps(made)), [3])
    assert torch.equal(torch.from_dlpack(again), expected[3:4])
    with pytest.raises(TypeError, match="NumPy has no bfloat16"):
        np.asarray(made)


def test_a_table_of_an_array_is_the_array(ids):
    array = rows()
    table = tendril.FeatureTable(array)
    assert (table.shape, table.dtype, table.nbytes, len(table)) == ((300, 5), "float32", 6000, 300)
    assert repr(table) == "FeatureTable(shape=(300, 5), dtype='float32')"
    assert np.shares_memory(np.asarray(table), array)
    assert np.shares_memory(np.from_dlpack(table), array)
    assert np.asarray(table, dtype=np.float64).dtype == np.float64
    assert not np.shares_memory(np.array(table, copy=True), array)
    np.testing.assert_array_equal(table.gather(ids), array[ids])
    gappy = pickle.loads(pickle.dumps(tendril.FeatureTable(array[:, 1:3])))
    np.testing.assert_array_equal(gappy.gather(ids), array[ids, 1:3])
    del array
    assert table.gather([299])[0, 4] == np.float32(1499 % 251)


def test_a_table_keeps_its_memory():
    table = tendril.FeatureTable(np.full((1000, 1000), 7.0))
    made = tendril.gather(table, np.arange(1000))
    view = np.asarray(tendril.FeatureTable(made))
    del table, made
    assert (view == 7).all()


def test_numpy_files(tmp_path, ids):
    array = rows(shape=(300, 3, 4))
    np.save(tmp_path / "x.npy", array)
    table = tendril.read_features(tmp_path / "x.npy")
    assert (table.shape, table.dtype, table.nbytes) == ((300, 3, 4), "float32", 14_400)
    assert repr(table) == f"FeatureTable(shape=(300, 3, 4), dtype='float32', file='{tmp_path / 'x.npy'}')"
    np.testing.assert_array_equal(table.gather(ids), array[ids])
    np.testing.assert_array_equal(table, array)
    assert not np.asarray(table).flags.writeable
    again = pickle.loads(pickle.dumps(table))
    assert again._file is not None
    np.testing.assert_array_equal(again.gather(ids), array[ids])
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    np.testing.assert_array_equal(tendril.gather(mapped, ids), array[ids])
    np.save(tmp_path / "other.npy", array + 1)
    stream = pickle.dumps(table)
    (tmp_path / "other.npy").rename(tmp_path / "x.npy")
    with pytest.raises(tendril.FormatError, match="another file than the one that the table was pickled from"):
        pickle.loads(stream)
    moved = pickle.loads(pickle.dumps(table))  # its file is gone: the rows travel
    assert moved._file is None
    np.testing.assert_array_equal(moved.gather(ids), array[ids])


def tensors(**arrays):
    header, data = {}, b""
    names = {"float32": "F32", "int64": "I64", "bool": "BOOL"}
    for name, array in arrays.items():
        end = len(data) + array.nbytes
        header[name] = {"dtype": names[str(array.dtype)], "shape": list(array.shape), "data_offsets": [len(data), end]}
        data += array.tobytes()
    text = repr(header).replace("'", '"').encode()
    return len(text).to_bytes(8, "little") + text + data


def test_tensors(tmp_path, ids):
    mask, x = rows("bool", (300,))[:299], rows()
    (tmp_path / "f.safetensors").write_bytes(tensors(mask=mask, x=x))
    table = tendril.read_features(tmp_path / "f.safetensors", "x")
    np.testing.assert_array_equal(table.gather(ids), x[ids])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(table)), x)
    with pytest.raises(tendril.ArgumentError, match="2 tensors, expected the name of one: 'mask', 'x'$"):
        tendril.read_features(tmp_path / "f.safetensors")
    with pytest.raises(tendril.ArgumentError, match="no tensor 'y', expected 'mask', 'x'$"):
        tendril.read_features(tmp_path / "f.safetensors", "y")
    with pytest.raises(tendril.ArgumentError, match="name is 3, expected a string"):
        tendril.read_features(tmp_path / "f.safetensors", 3)


def test_files_that_are_refused(tmp_path):
    with pytest.raises(tendril.IoError, match="No such file"):
        tendril.read_features(tmp_path / "none.npy")
    with pytest.raises(tendril.IoError, match="is a directory"):
        tendril.read_features(tmp_path)
    for array in (np.asfortranarray(rows()), rows().astype(">f4"), rows().astype(complex), np.float32(3), np.zeros(3, "S4")):
        np.save(tmp_path / "x.npy", array)
        with pytest.raises(tendril.FormatError, match=r"x\.npy: array 'features': "):
            tendril.read_features(tmp_path / "x.npy")
    np.save(tmp_path / "x.npy", np.array([None]), allow_pickle=True)
    with pytest.raises(tendril.FormatError, match="elements of another type"):
        tendril.read_features(tmp_path / "x.npy")


@pytest.mark.parametrize(
    ("table", "name"),
    [("tendril.read_features('x.npy')", "x.npy"), ("np.load('x.npy', mmap_mode='r')[:, None]", "{folder}/x.npy")],
    ids=["read_features", "memmap"],
)
def test_a_file_that_became_shorter_gives_one_line(table, name, tmp_path):
    code = (
        "import numpy as np, os, sys, tendril\n"
        "np.save('x.npy', np.zeros((100_000, 32), np.float32))\n"
        f"table = {table}\n"
        "os.truncate('x.npy', 4096)\n"
        "tendril.gather(table, [99_999])\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert run.returncode == 1
    assert run.stderr == f"tendril: error: {name.format(folder=tmp_path)}: the file was truncated while it was read\n"


class Exported:
    """An array of another library, which knows read-only memory, or none yet."""

    def __init__(self, array, old=False):
        self.array, self.old = array, old

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, *, stream=None, **options):
        if self.old and options:
            raise TypeError("unexpected keyword argument")
        return self.array.__dlpack__(**options)


def test_memory_of_other_libraries_may_be_read_only():
    x, closed = rows(), rows()
    closed.flags.writeable = False
    for table in (Exported(closed), Exported(x), Exported(x, old=True)):
        np.testing.assert_array_equal(tendril.gather(table, [2, 0]), x[[2, 0]])
    with pytest.raises(tendril.ArgumentError, match="expected writable numbers in CPU memory$"):
        tendril.gather(x, [1], out=Exported(closed[:1]))
    out = np.zeros_like(x[:1])
    for old in (False, True):
        tendril.gather(x, [2 - old], out=Exported(out, old))
        np.testing.assert_array_equal(out, x[[2 - old]])


def test_a_long_gather_looks_for_signals():
    before = _tendril.signal_looks()
    tendril.gather(np.zeros((1000, 1024), np.float32), np.zeros(20_000, np.int64), num_threads=1)
    assert _tendril.signal_looks() - before > 50


def test_works_without_torch():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import numpy as np, tendril\n"
        "assert tendril.gather(np.arange(6).reshape(3, 2), [2]).tolist() == [[4, 5]]\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert run.returncode == 0, run.stderr


def test_ids_may_change_during_a_gather():
    """A thread writes ids that are no rows again and again: each call gathers rows, or names a bad id."""
    code = (
        "import numpy as np, threading, tendril\n"
        "table, ids, done = np.arange(1000), np.zeros(1_000_000, np.int64), threading.Event()\n"
        "def write():\n"
        "    while not done.is_set():\n"
        "        ids.fill(1 << 50)\n"
        "        ids.fill(7)\n"
        "writer = threading.Thread(target=write)\n"
        "writer.start()\n"
        "found = {'rows': 0, 'errors': 0}\n"
        "for _ in range(300):\n"
        "    try:\n"
        "        assert set(np.unique(tendril.gather(table, ids, num_threads=2))) <= {0, 7}\n"
        "        found['rows'] += 1\n"
        "    except tendril.ArgumentError as error:\n"
        "        assert str(error).endswith('] is 1125899906842624, expected 0 to 999'), error\n"
        "        found['errors'] += 1\n"
        "done.set()\n"
        "writer.join()\n"
        "assert found['errors'], found\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert run.returncode == 0, run.stderr
