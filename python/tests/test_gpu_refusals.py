"""What concerns GPUs and needs none: devices, streams, the protocols of arrays, and what is refused, and how."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import tendril
from tendril import _build_info
from tendril._gpu import HOST, parse, stream_handle

without_gpu = pytest.mark.skipif(tendril.num_gpus() > 0, reason="there is a GPU")


class Prints:
    """Like torch.device: no string, but prints as one."""

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text


def test_names_of_devices():
    assert parse("cpu") == HOST
    assert parse("cuda") == parse("cuda:0") == parse(Prints("cuda:0")) == 0
    assert parse("cuda:12") == 12


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:-1", "cuda:x", "CUDA", "", 0, "cpu:0"])
def test_other_names(graph, device):
    for call in (lambda: graph.to(device), lambda: tendril.random_walk(graph, [0], 3, device=device)):
        with pytest.raises(tendril.ArgumentError) as info:
            call()
        assert str(info.value) == f"device is {device!r}, expected 'cpu', 'cuda' or 'cuda:0'"


def test_the_cpu_is_a_device(graph):
    assert graph.device == "cpu"
    assert graph.to("cpu") is graph
    walks, _ = tendril.random_walk(graph, [0, 1], 5, device="cpu", order="rows")
    np.testing.assert_array_equal(walks, tendril.random_walk(graph, [0, 1], 5)[0])
    roots = [[0, 1], [2, 3]]
    here = tendril.multidim_walk(graph, roots, 5, device="cpu")
    np.testing.assert_array_equal(here.walks, tendril.multidim_walk(graph, roots, 5).walks)
    layers = tendril.ladies_sample(graph, [0, 1], 2, 9, device="cpu")
    np.testing.assert_array_equal(layers.vertices, tendril.ladies_sample(graph, [0, 1], 2, 9).vertices)
    assert tendril.plan_walk(graph, device="cpu") == tendril.plan_walk(graph)
    with pytest.raises(tendril.ArgumentError, match=r"^device is 'cpu', expected 'cuda' or 'cuda:0'$"):
        tendril.gpu_info("cpu")


def test_what_only_a_gpu_takes(graph):
    def refused(text, **options):
        with pytest.raises(tendril.ArgumentError) as info:
            tendril.random_walk(graph, [0], 3, **options)
        assert str(info.value) == text

    refused("order is 'columns', expected 'rows', 'steps' or 'ragged'", order="columns")
    refused("order is 'steps', expected 'rows' or 'ragged' on the CPU", order="steps")
    refused("stream is given, but the call runs on the CPU", stream=7)
    with pytest.raises(tendril.ArgumentError, match=r"^stream is given, but the call runs on the CPU$"):
        tendril.shadow_sample(graph, [0], stream=7)
    table = tendril.FeatureTable(np.ones((3, 2)))
    for call in (lambda: table.gather([0], stream=7), lambda: table.to("cpu", stream=7)):
        with pytest.raises(tendril.ArgumentError, match=r"^stream is given, but the call runs on the CPU$"):
            call()


@without_gpu
@pytest.mark.parametrize(
    "call",
    [
        lambda g: g.to("cuda"),
        lambda g: tendril.gpu_info(),
        lambda g: tendril.random_walk(g, [0], 3, device="cuda"),
        lambda g: tendril.node2vec_walk(g, [0], 3, device="cuda:1", order="steps"),
        lambda g: tendril.metapath_walk(g, [0], ["likes"], device="cuda", stream=0),
        lambda g: tendril.multidim_walk(g, [[0, 1]], 3, device="cuda"),
        lambda g: tendril.plan_walk(g, device="cuda"),
        lambda g: tendril.fastgcn_sample(g, [0], device="cuda"),
        lambda g: tendril.ladies_sample(g, [[0, 1]], device="cuda"),
        lambda g: tendril.layer_sample(g, [0], device="cuda"),
        lambda g: tendril.mvs_sample(g, device="cuda"),
        lambda g: tendril.labor_sample(g, [0], device="cuda", stream=0),
        lambda g: tendril.induced_subgraphs(g, [0, 1], device="cuda"),
        lambda g: tendril.shadow_sample(g, [0], device="cuda"),
        lambda g: tendril.saint_node_sample(g, device="cuda"),
        lambda g: tendril.saint_coefficients(g, device="cuda"),
        lambda g: tendril.cluster_vertices(g, 3, device="cuda"),
        lambda g: tendril.group_clusters(g, [0] * 60, device="cuda"),
        lambda g: tendril.sample(g, app="cluster", clusters=[0] * 60, device="cuda"),
    ],
)
def test_without_a_gpu(graph, call):
    """One line, as a DeviceError that is a RuntimeError; the CPU works on."""
    with pytest.raises(tendril.DeviceError, match=r"^(no GPU|GPU driver too old|no usable GPU): [^\n]+$") as info:
        call(graph)
    if not _build_info.CUDA:
        assert "no CUDA" in str(info.value)
        assert "pip install . --config-settings=cmake.define.TENDRIL_CUDA=ON" in str(info.value)
    assert isinstance(info.value, RuntimeError)
    assert isinstance(info.value, tendril.TendrilError)
    assert tendril.random_walk(graph, [0], 3)[0].shape == (1, 4)


class Named:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Protocol:
    def __init__(self, handle):
        self.handle = handle

    def __cuda_stream__(self):
        return (0, self.handle)


def test_names_of_streams():
    assert stream_handle(0, 0) == stream_handle(1, 0) == 0  # two names of the default stream
    assert stream_handle(2, 0) == 2
    assert stream_handle(np.int64(4096), 0) == 4096
    assert stream_handle(Named(cuda_stream=96), 0) == 96
    assert stream_handle(Named(ptr=97), 0) == 97
    assert stream_handle(Protocol(98), 0) == 98
    assert stream_handle(Named(__cuda_stream__=(0, 99)), 0) == 99
    for stream in (-1, "0", 1.5, True, object(), Named(ptr=None)):
        with pytest.raises(tendril.ArgumentError, match=r"^stream is .*, expected a cudaStream_t as an integer, or"):
            stream_handle(stream, 0)


def test_torch_is_asked_only_where_it_is_in_use(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert stream_handle(None, 0) == 0
    cuda = Named(is_initialized=lambda: False, current_stream=lambda device: Named(cuda_stream=5 + device))
    monkeypatch.setitem(sys.modules, "torch", Named(cuda=cuda))
    assert stream_handle(None, 1) == 0
    cuda.is_initialized = lambda: True
    assert stream_handle(None, 1) == 6


class FakeCore:
    """A GPU array's core as DeviceArray knows it, that notes what it is asked for."""

    device, pointer = 1, 4096

    def __init__(self, shape, strides, bits=64, type_code=0, first=0):
        self.shape, self.strides, self.bits, self.type_code = list(shape), list(strides), bits, type_code
        self.asked, self.first = [], first

    def wait(self, stream):
        self.asked.append(stream)

    def synchronize(self):
        self.asked.append("host")

    def copy_out(self, out):
        out[:] = np.arange(self.first, self.first + out.size)

    def part(self, offset, shape, strides):
        return FakeCore(shape, strides, self.bits, self.type_code, self.first + offset)

    def export(self):
        return Named(__dlpack__=lambda max_version: ("capsule", max_version))


def test_what_arrays_tell():
    rows = tendril.DeviceArray(FakeCore((4, 3), (3, 1)))
    assert (rows.shape, rows.strides, rows.dtype, rows.size, rows.nbytes) == ((4, 3), (24, 8), np.int64, 12, 96)
    assert repr(rows) == "DeviceArray(shape=(4, 3), dtype=int64, device='cuda:1')"
    assert rows.__cuda_array_interface__ == {
        "shape": (4, 3),
        "typestr": "<i8",
        "data": (4096, False),
        "strides": None,
        "stream": None,
        "version": 3,
    }
    assert rows._core.asked == ["host"]
    assert rows.numpy().tolist() == np.arange(12).reshape(4, 3).tolist()
    steps = tendril.DeviceArray(FakeCore((4, 3), (1, 4), bits=32))
    assert steps.__cuda_array_interface__["strides"] == steps.strides == (4, 16)
    assert steps.numpy().tolist() == np.arange(12).reshape(3, 4).T.tolist()
    assert np.asarray(steps, np.float64).dtype == np.float64


@pytest.mark.parametrize(
    "key",
    [
        0,
        -1,
        slice(1, 3),
        slice(2, None),
        slice(3, 1),
        slice(4, 9),
        (slice(None), slice(1, 2)),
        (2, slice(0, 2)),
        (slice(1, 4), 2),
        (slice(2, 3), slice(1, 2)),
        (slice(0, 0), slice(1, 2)),
        (),
    ],
)
@pytest.mark.parametrize(("shape", "strides"), [((4, 3), (3, 1)), ((4, 3), (1, 4)), ((4, 3, 2), (6, 2, 1))])
def test_parts_are_numpys(shape, strides, key):
    whole = tendril.DeviceArray(FakeCore(shape, strides))
    expected = whole.numpy()[key]
    part = whole[key]
    assert part.shape == expected.shape
    np.testing.assert_array_equal(part, expected)
    assert expected.size == 0 or (part.__cuda_array_interface__["strides"] is None) == expected.flags.c_contiguous


def test_little_of_long_rows():
    """Rows are fetched one by one where the memory between them would be most of what is copied."""
    whole = tendril.DeviceArray(FakeCore((2, 1000), (1000, 1)))
    assert whole[:, 10:12].numpy().tolist() == [[10, 11], [1010, 1011]]
    assert [row[0:2].numpy().tolist() for row in whole] == [[0, 1], [1000, 1001]]
    floats = tendril.DeviceArray(FakeCore((3,), (1,), 32, 2))
    assert (floats.dtype, floats[1:].numpy().tolist()) == (np.float32, [1.0, 2.0])


def test_types_have_numpys_names():
    for name, code, bits in (("bool", 6, 8), ("int8", 0, 8), ("uint16", 1, 16), ("float16", 2, 16), ("float64", 2, 64)):
        array = tendril.DeviceArray(FakeCore((3, 2), (2, 1), bits, code))
        assert array.dtype == np.dtype(name)
        assert (array.nbytes, array.strides) == (6 * bits // 8, (2 * bits // 8, bits // 8))
    half = tendril.DeviceArray(FakeCore((3,), (1,), 16, 4))
    assert repr(half) == "DeviceArray(shape=(3,), dtype=bfloat16, device='cuda:1')"
    with pytest.raises(TypeError, match=r"^NumPy has no bfloat16: use torch.from_dlpack\(array\)$"):
        half.numpy()


def test_inner_parts_are_not_in_order():
    whole = tendril.DeviceArray(FakeCore((4, 3, 2), (6, 2, 1)))
    for key in ((slice(None), slice(None), slice(0, 1)), (slice(None), slice(0, 1)), (slice(None), 1)):
        part = whole[key]
        assert part.__cuda_array_interface__["strides"] == part.strides
        np.testing.assert_array_equal(part, whole.numpy()[key])


@pytest.mark.parametrize("key", [4, -5, (0, 0), (0, 0, 0), slice(None, None, 2), (slice(None), 3)])
def test_what_is_no_part(key):
    with pytest.raises(IndexError):
        tendril.DeviceArray(FakeCore((4, 3), (3, 1)))[key]


def test_dlpack_names_streams_in_its_own_way():
    array = tendril.DeviceArray(FakeCore((4,), (1,)))
    assert array.__dlpack_device__() == (2, 1)
    for stream in (None, 0, 1, 2, -1, 4096):
        assert array.__dlpack__(stream=stream, max_version=(1, 0)) == ("capsule", (1, 0))
    assert array._core.asked == [0, 0, 0, 2, 4096]
    with pytest.raises(BufferError, match="^stream is -2, expected"):
        array.__dlpack__(stream=-2)
    for options in ({"copy": True}, {"dl_device": (2, 0)}, {"dl_device": (1, 0), "copy": False}):
        with pytest.raises(BufferError):
            array.__dlpack__(**options)
    np.testing.assert_array_equal(np.from_dlpack(array, device="cpu"), np.arange(4))


def test_examples_for_gpus_compile(examples_for_gpus):
    """Those of the page that need a GPU to run: test_gpu.py runs them where there is one."""
    assert len(examples_for_gpus.examples) >= 8
    for example in examples_for_gpus.examples:
        compile(example.source, f"docs/python.md:{example.lineno}", "single")


@without_gpu
def test_features_without_a_gpu():
    table = tendril.FeatureTable(np.ones((3, 2)))
    for call in (lambda: table.to("cuda"), table.pin_memory):
        with pytest.raises(tendril.DeviceError, match="^no GPU: "):
            call()
    with pytest.raises(tendril.ArgumentError, match="^device is 'gpu', expected"):
        table.to("gpu")
    assert table.to("cpu") is table
    assert table.device == "cpu"
