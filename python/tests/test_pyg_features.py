"""Features of a batch: whatever memory, type and layout they have, they are what Torch and NumPy pick."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.data import Data  # noqa: E402

from tendril.pyg import NeighborLoader, _features, _gather  # noqa: E402

NUM_ROWS = 3000
PLACES = torch.from_numpy(np.random.default_rng(3).integers(0, NUM_ROWS, 20_000))


def taken(value, places=PLACES, dim=0):
    return _gather.take(value, _gather.Index(places), dim, None)


def values(dtype, shape):
    return torch.arange(int(np.prod(shape))).remainder(2 if dtype == torch.bool else 199).to(dtype).reshape(shape)


@pytest.mark.parametrize("dtype", [*sorted(_gather._TYPES, key=str), torch.complex64, torch.float8_e4m3fn], ids=str)
@pytest.mark.parametrize("row", [(), (1,), (13,), (2, 16)])
@pytest.mark.parametrize("count", [0, 1, 20_000])
def test_rows_of_tensors(dtype, row, count):
    value = values(torch.bool if dtype == torch.bool else torch.float32, (NUM_ROWS, *row)).to(dtype)
    made, expected = taken(value, PLACES[:count]), torch.index_select(value, 0, PLACES[:count])
    assert made.dtype == dtype
    assert made.shape == expected.shape
    assert made.flatten().view(torch.uint8).equal(expected.flatten().view(torch.uint8))


def test_large_batches_have_memory_of_their_own():
    value = values(torch.float32, (NUM_ROWS, 500))
    made = taken(value)
    assert made.equal(torch.index_select(value, 0, PLACES))
    made += 1
    assert taken(value).equal(made - 1)


def test_other_layouts_and_dimensions():
    wide = values(torch.float32, (NUM_ROWS, 40))
    for value in (wide[:, 3:20], wide[:, ::2], wide.flip(0), wide[::2].repeat(2, 1), wide.t().contiguous().t()):
        assert taken(value).equal(torch.index_select(value, 0, PLACES))
    assert taken(wide.t(), dim=1).equal(torch.index_select(wide.t(), 1, PLACES))
    repeated = wide[:1].expand(NUM_ROWS, -1)
    assert taken(repeated).equal(torch.index_select(repeated, 0, PLACES))
    overlapping = wide.flatten().as_strided((NUM_ROWS, 30), (2, 1))
    assert taken(overlapping).equal(torch.index_select(overlapping, 0, PLACES))
    negated = torch.conj(torch.full((NUM_ROWS,), 1j)).imag
    assert negated.is_neg()
    assert taken(negated).equal(torch.full((len(PLACES),), -1.0))


def test_gradients_are_kept():
    value = values(torch.float32, (NUM_ROWS, 16)).requires_grad_()
    taken(value).sum().backward()
    assert value.grad is not None
    assert value.grad[:, 0].equal(torch.bincount(PLACES, minlength=NUM_ROWS).float())
    constant = torch.nn.Parameter(values(torch.float32, (NUM_ROWS, 16)), requires_grad=False)
    assert taken(constant).equal(torch.index_select(constant, 0, PLACES))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "u1", "?", ">f4", "f2"])
def test_rows_of_numpy_arrays(dtype, tmp_path):
    array = (np.arange(NUM_ROWS * 24) % 200).astype(dtype).reshape(NUM_ROWS, 24)
    np.save(tmp_path / "x.npy", array)
    expected = np.take(array, PLACES.numpy(), axis=0)
    arrays = [array, np.load(tmp_path / "x.npy", mmap_mode="r"), np.asfortranarray(array), array[:, ::2].repeat(2, 1)]
    if not array.dtype.isnative:  # Torch takes no other
        arrays, expected = [one.astype("f4") for one in arrays], expected.astype("f4")
    for one in arrays[:3]:
        made = taken(one)
        assert made.numpy().dtype == expected.dtype
        np.testing.assert_array_equal(made.numpy(), expected)
    np.testing.assert_array_equal(taken(arrays[3]).numpy(), np.take(arrays[3], PLACES.numpy(), axis=0))


def test_a_loader_gives_the_same_batches_from_memory_and_files(tmp_path):
    edges = torch.from_numpy(np.random.default_rng(4).integers(0, NUM_ROWS, (2, 40_000)))
    x = torch.rand(NUM_ROWS, 64)
    np.save(tmp_path / "x.npy", x.numpy())
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    y = torch.arange(NUM_ROWS)
    loaders = [
        NeighborLoader(Data(x=one, y=y, edge_index=edges), [8, 8], batch_size=512, num_workers=workers)
        for one, workers in ((x, 0), (mapped, 0), (x, 1))
    ]
    for batches in zip(*loaders, strict=True):
        for batch in batches:
            assert batch.x.equal(x[batch.n_id])
            assert batch.y.equal(batch.n_id)


def test_what_a_gpu_gathers():
    """What it does not is gathered on the host, and copied."""

    def told(rows, dtype=torch.uint8, columns=1):
        return _gather.is_for_gpu(torch.empty((rows, columns), dtype=dtype, device="meta"))  # takes no memory

    assert told(2**32 - 2) and not told(2**32 - 1)
    assert told(1, columns=2**30 - 1) and not told(1, columns=2**30)
    assert told(5, torch.bfloat16) and not told(5, torch.complex64) and not told(0)
    assert _gather.is_for_gpu(np.ones((3, 2))) and not _gather.is_for_gpu(np.array(["name"]))
    assert not _gather.is_for_gpu(["name"])


def test_where_the_loop_itself_gathers():
    """Where a GPU has all attributes of vertices and edges, or gets them as a whole."""

    def told(device="cuda:0", **attributes):
        data = Data(edge_index=torch.zeros((2, 7), dtype=torch.int64), num_nodes=5, **attributes)
        return _features.are_all_on_gpu(data, None if device is None else torch.device(device))

    assert told() and told(y=torch.zeros(5)) and told(edge_weight=torch.zeros(7)) and told(graph_name="cora")
    assert not told(x=torch.zeros(5, 64)) and not told(edge_attr=torch.zeros(7, 64))  # rows in host memory
    assert not told(names=list("abcde")) and not told(x=torch.zeros(5, dtype=torch.complex64))  # what no GPU gathers
    assert not told(device=None)  # batches on the CPU
    assert not _features.are_all_on_gpu((None, None), torch.device("cuda:0"))  # stores


def test_what_is_copied_to_a_gpu_as_a_whole():
    classes = torch.zeros(1000, dtype=torch.int64)
    assert _gather._is_copied(classes) and not _gather.comes_from_host(classes)
    before = _gather.version_of(classes)
    classes[3] = 1
    assert _gather.version_of(classes) != before
    for wide in (torch.zeros(1000, 4), torch.zeros((1 << 26) // 8 + 1, dtype=torch.int64, device="meta")):
        assert not _gather._is_copied(wide)
    with torch.inference_mode():  # of such tensors nothing tells when they are written to, nor of NumPy's
        unknown = torch.zeros(1000, dtype=torch.int64)
    assert _gather.version_of(unknown) is None
    for value in (unknown, np.zeros(1000, np.int64)):
        assert not _gather._is_copied(value) and _gather.comes_from_host(value)


@pytest.mark.parametrize("prefetch", [0, 2])
def test_attributes_that_are_replaced_between_batches(prefetch):
    data = Data(x=torch.arange(400.0).view(200, 2), edge_index=torch.randint(200, (2, 900)), name="a graph")
    loader = NeighborLoader(data, [3], batch_size=20, prefetch=prefetch)
    assert next(iter(loader)).name == "a graph"
    data.x, data.y = -data.x, torch.arange(200)
    del data.name
    batches = list(loader) if prefetch else [loader(torch.arange(20))]
    for batch in batches:
        assert batch.x.equal(data.x[batch.n_id]) and batch.y.equal(batch.n_id) and "name" not in batch
    assert data.num_nodes == 200 and "n_id" not in data


def test_metadata_moves_in_one_copy_of_each_type(monkeypatch):
    class Out:
        def __init__(self, *metadata):
            self.metadata = metadata

    ids = torch.arange(6)
    outs = [Out(ids[:4], None, ids.view(2, 3)), Out(ids[4:], torch.ones(2), ids[:0])]
    copies, concatenated = [], torch.cat

    def cat(parts):
        copies.append(len(parts))
        return concatenated(parts)

    monkeypatch.setattr(torch, "cat", cat)
    _gather.move_metadata(outs, torch.device("meta"))
    assert sorted(copies) == [1, 4]
    assert [one.device.type for out in outs for one in out.metadata if one is not None] == ["meta"] * 5
    told = [[None if one is None else (one.dtype, tuple(one.shape)) for one in out.metadata] for out in outs]
    assert told[0] == [(torch.int64, (4,)), None, (torch.int64, (2, 3))]
    assert told[1] == [(torch.int64, (2,)), (torch.float32, (2,)), (torch.int64, (0,))]


class Memory(torch.Tensor):
    """Stands for a tensor on a GPU, and notes the streams that are to read it."""

    is_cuda = True

    def record_stream(self, stream):
        recorded.append(stream)


recorded = []


def test_all_tensors_of_a_batch_are_kept_for_its_reader():
    def memory():
        return torch.zeros(2).as_subclass(Memory)

    class Foreign:
        def apply(self, function):
            raise AssertionError("an object of the user's is not asked")

    recorded.clear()
    values = [memory(), [memory(), (memory(),)], {"a": {"b": memory()}}, [3, 4], "a name", None, 5, Foreign(), torch.zeros(3)]
    for value in values:
        _gather.keep_for("reader", value, frozenset())
    assert recorded == ["reader"] * 4
