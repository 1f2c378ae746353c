"""Features on a GPU: `gather` from its memory, from page-locked and other host memory, into new memory or the caller's.

Skipped without a GPU; `test_gpu_refusals.py` has what a machine without one says.
"""

from __future__ import annotations

import gc
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import tendril

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(tendril.num_gpus() == 0, reason="no GPU"),
]

TYPES = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64")


def rows(dtype="float32", shape=(300, 5)):
    values = np.random.default_rng(2).integers(0, 2 if dtype == "bool" else 100, shape)
    return values.astype(dtype)


@pytest.fixture
def ids():
    return np.random.default_rng(1).integers(0, 300, 10_000)


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("Torch sees no GPU")
    return torch


def places(table):
    """The table in every memory."""
    held = tendril.FeatureTable(table)
    return {"on the GPU": held.to("cuda"), "page-locked": held.pin_memory(), "pageable": held}


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("row", [(), (1,), (5,), (0,), (3, 4), (257,)])
def test_gathers_what_numpy_takes(dtype, row, ids, torch):
    table = rows(dtype, (300, *row))
    there = torch.from_numpy(ids).cuda()
    for where, held in places(table).items():
        for given in (there, there.int()):
            found = held.gather(given)
            assert isinstance(found, tendril.DeviceArray), where
            assert (found.dtype, found.shape, found.device) == (table.dtype, (len(ids), *row), "cuda:0"), where
            assert np.array_equal(found.numpy(), table[ids]), where


def test_ids_in_host_memory(ids):
    table = rows()
    found = tendril.FeatureTable(table).to("cuda").gather(ids)
    assert np.array_equal(found.numpy(), table[ids])
    assert np.array_equal(tendril.FeatureTable(table).to("cuda").gather([7, 0]).numpy(), table[[7, 0]])
    assert tendril.FeatureTable(table).to("cuda").gather([]).shape == (0, 5)


def test_arrays_of_torch_are_shared(ids, torch):
    table = torch.from_numpy(rows())
    there, expected = torch.from_numpy(ids).cuda(), table[torch.from_numpy(ids)].cuda()
    for given in (table.cuda(), table.pin_memory(), table):
        out = torch.empty_like(expected)
        assert tendril.gather(given, there, out=out) is out
        assert torch.equal(out, expected)
        assert torch.equal(torch.from_dlpack(tendril.gather(given, there)), expected)
    half = table.to(torch.bfloat16)
    found = tendril.gather(half.cuda(), there)
    assert torch.equal(torch.from_dlpack(found), half[torch.from_numpy(ids)].cuda())
    assert repr(found) == "DeviceArray(shape=(10000, 5), dtype=bfloat16, device='cuda:0')"
    with pytest.raises(TypeError, match="^NumPy has no bfloat16"):
        found.numpy()


def test_work_is_in_the_order_of_the_stream(ids, torch):
    table = torch.from_numpy(rows(shape=(300, 400))).cuda()
    there = torch.from_numpy(ids).cuda()
    held, stream = tendril.FeatureTable(table), torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    for check in (True, False):
        with torch.cuda.stream(stream):
            found = torch.from_dlpack(held.gather(there, check=check))
            assert torch.equal(found, table[there])
        found = torch.from_dlpack(held.gather(there, check=check, stream=stream))
        assert torch.equal(found, table[there])


def test_unchecked_ids_read_nothing_outside_the_table(torch):
    table = np.ones((10, 4), np.float32)
    found = tendril.FeatureTable(table).to("cuda").gather(torch.tensor([9, 10, -1], device="cuda"), check=False)
    assert found.numpy().sum(1).tolist() == [4, 0, 0]


def test_pinned_memory_is_the_callers():
    table = rows(shape=(4096, 64))
    held = tendril.FeatureTable(table)
    pinned = held.pin_memory()
    assert pinned.pin_memory().shape == (4096, 64)
    table[5] = 9
    assert (np.asarray(pinned)[5] == 9).all()
    assert (pinned.gather(np.array([5])) == 9).all()
    del pinned
    gc.collect()
    assert (held.pin_memory().gather([5]) == 9).all()


def test_mapped_files(tmp_path, ids, torch):
    table = rows(shape=(300, 33))
    np.save(tmp_path / "x.npy", table)
    held = tendril.read_features(tmp_path / "x.npy")
    there = torch.from_numpy(ids).cuda()
    for one in (held, held.pin_memory(), held.to("cuda")):
        assert np.array_equal(one.gather(there).numpy(), table[ids])


def test_tables_go_there_and_back():
    table = rows()
    there = tendril.FeatureTable(table).to("cuda")
    assert (there.device, there.to("cuda:0") is there) == ("cuda:0", True)
    assert repr(there) == "FeatureTable(shape=(300, 5), dtype='float32', device='cuda:0')"
    assert np.array_equal(np.asarray(there), table)
    back = there.to("cpu")
    assert back.device == "cpu"
    assert np.array_equal(np.asarray(back), table)
    copied = pickle.loads(pickle.dumps(there))
    assert copied.device == "cpu"
    assert np.array_equal(np.asarray(copied), table)
    gaps = np.zeros((300, 8), np.float32)
    gaps[:, :5] = table
    assert np.array_equal(np.asarray(tendril.FeatureTable(gaps[:, :5]).to("cuda")), table)


def test_the_example_of_the_page_runs(torch):
    page = (Path(__file__).parents[2] / "docs/features.md").read_text(encoding="utf-8")
    code = re.search(r"^## On a GPU$.*?^```py\n(.*?)^```$", page, re.M | re.S)[1]
    found = {}
    exec(code, found)
    assert found["x"].is_cuda


def refused(match, *args, **keywords):
    with pytest.raises(tendril.ArgumentError, match=match):
        tendril.gather(*args, **keywords)


def test_bad_arguments(ids, torch):
    table = tendril.FeatureTable(rows()).to("cuda")
    for held in places(rows()).values():
        refused(r"^ids\[1\] is 300, expected 0 to 299$", held, torch.tensor([0, 300], device="cuda"))
        refused(r"^ids\[0\] is -1, expected 0 to 299$", held, torch.tensor([-1, 300], device="cuda"))
    refused(r"^ids\[1\] is 300, expected 0 to 299$", table, [0, 300])
    refused(r"^ids\[0\] is -1, expected 0 to 299$", table, [-1])
    refused("^ids doesn't hold integers", table, torch.zeros(3, device="cuda"))
    refused("^ids has shape", table, torch.zeros((3, 2), dtype=torch.int64, device="cuda"))
    refused("^out is a read-only|^out is a ndarray", table, [1], out=np.zeros((1, 5), np.float32))
    refused("^out has dtype float64, expected float32$", table, [1], out=torch.zeros((1, 5), device="cuda", dtype=torch.float64))
    refused(r"^out has shape \(2, 5\), expected \(1, 5\)$", table, [1], out=torch.zeros((2, 5), device="cuda"))
    refused("^out is not contiguous", table, [1], out=torch.zeros((1, 10), device="cuda")[:, ::2])
    refused("^check is array.*, expected True or False$", table, [1], check=np.ones(2))
    refused("^table has elements of another type", torch.zeros(3, dtype=torch.complex64, device="cuda"), [0])


@pytest.mark.parametrize("name", ["bfloat16", "float32"])
def test_tensors_that_torch_has_page_locked(name):
    torch = pytest.importorskip("torch")
    dtype = getattr(torch, name)
    held = torch.randn(3000, 16).to(dtype).pin_memory()
    ids = torch.randint(3000, (500,))
    table = tendril.FeatureTable(held)
    assert torch.from_dlpack(tendril.gather(table, ids.cuda())).cpu().equal(held[ids])
    out = torch.empty(500, 16, dtype=dtype).pin_memory()
    tendril.gather(table, ids.numpy(), out=out)
    assert out.equal(held[ids])
