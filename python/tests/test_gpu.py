"""Walks on a GPU: those of the CPU, in arrays that stay there. Without a GPU these tests are skipped, by name."""

from __future__ import annotations

import doctest
import gc
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import tendril
from tendril._gpu import stream_handle

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(tendril.num_gpus() == 0, reason="no GPU"),
]


@pytest.fixture(scope="module")
def skewed():
    """An R-MAT graph: hubs, isolated vertices, weights, labels, types."""
    return tendril.generate.rmat(
        13, 8, symmetrize=True, drop_duplicates=True, weights=(1, 5), num_labels=3, num_node_types=2
    )


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


@pytest.fixture(scope="module")
def cupy():
    return pytest.importorskip("cupy")


APPS = {
    "uniform": (tendril.random_walk, {"length": 20}),
    "weighted": (tendril.random_walk, {"length": 20, "weighted": True}),
    "scan": (tendril.random_walk, {"length": 9, "weighted": True, "rule": "scan"}),
    "reject": (tendril.random_walk, {"length": 20, "weighted": True, "rule": "reject"}),
    "its": (tendril.random_walk, {"length": 20, "weighted": True, "rule": "its"}),
    "ppr": (tendril.random_walk, {"length": 40, "stop_prob": 0.2}),
    "restart": (tendril.random_walk, {"length": 40, "restart_prob": 0.3}),
    "repeat": (tendril.random_walk, {"length": 7, "dead_end": "repeat"}),
    "several": (tendril.random_walk, {"length": 5, "walks_per_vertex": 3, "first_walk": 7}),
    "node2vec": (tendril.node2vec_walk, {"length": 20, "p": 2.0, "q": 0.5}),
    "node2vec weighted": (tendril.node2vec_walk, {"length": 20, "p": 0.25, "q": 4.0, "weighted": True}),
    "metapath": (tendril.metapath_walk, {"metapath": [0, 1, 2], "length": 12}),
    "metapath weighted": (tendril.metapath_walk, {"metapath": [2, 0], "length": 12, "weighted": True}),
    "metapath of types": (tendril.metapath_walk, {"metapath": [0, 1], "metapath_of": "vertices", "length": 12}),
}


@pytest.mark.parametrize("app", APPS)
@pytest.mark.parametrize("which", ["graph", "skewed"])
def test_walks_are_those_of_the_cpu(request, which, app):
    """Of every application, in either type and either order."""
    graph = request.getfixturevalue(which)
    walk, options = APPS[app]
    starts = np.arange(0, graph.num_vertices, 2)
    walks, lengths = walk(graph, starts, seed=5, **options)
    for dtype in (np.int64, np.int32):
        for order in ("rows", "steps"):
            there = walk(graph, starts, seed=5, device="cuda", dtype=dtype, order=order, **options)
            assert [type(array) for array in there] == [tendril.DeviceArray] * 2
            assert there[0].dtype == dtype
            np.testing.assert_array_equal(there[0], walks)
            np.testing.assert_array_equal(there[1], lengths)


@pytest.mark.parametrize("root_choice", ["degree", "uniform"])
@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_multidim_walks_are_those_of_the_cpu(skewed, torch, root_choice, dtype):
    roots = np.arange(600).reshape(20, 30)
    options = {"length": 50, "root_choice": root_choice, "seed": 3, "dtype": dtype, "first_walk": 5}
    here = tendril.multidim_walk(skewed, roots, **options)
    transposed = torch.from_numpy(np.ascontiguousarray(roots.T)).cuda().T
    for given in (roots, torch.from_numpy(roots).cuda(), torch.from_numpy(roots).int().cuda(), transposed):
        there = tendril.multidim_walk(skewed, given, device="cuda", **options)
        for a, b in zip(here, there, strict=True):
            assert b.dtype == a.dtype
            np.testing.assert_array_equal(b, a)


def test_plans_tell_of_the_gpu(skewed):
    here = tendril.plan_walk(skewed, weighted=True)
    assert tendril.plan_walk(skewed, weighted=True, device="cuda").rule == here.rule


# Graphs


def test_a_graph_goes_there_and_back(skewed):
    there = skewed.to("cuda")
    assert (skewed.device, there.device) == ("cpu", "cuda:0")
    assert "device='cuda:0'" in repr(there)
    assert there.to("cuda:0") is there
    assert there.num_edges == skewed.num_edges
    assert there.metadata == skewed.metadata
    back = there.to("cpu")
    for name in ("indptr", "indices", "weights", "edge_labels", "node_types"):
        np.testing.assert_array_equal(getattr(back, name), getattr(skewed, name))


def test_a_copy_is_made_once(skewed):
    there = skewed.to("cuda")
    assert skewed.to("cuda")._core is there._core
    tendril.random_walk(skewed, [0], 3, device="cuda")
    assert skewed.to("cuda")._core is there._core
    skewed.drop_tables()
    assert skewed.to("cuda")._core is not there._core


def test_calls_run_where_the_graph_is(skewed):
    there = skewed.to("cuda")
    walks, _ = tendril.random_walk(there, [1, 2], 6, seed=1)
    assert walks.device == "cuda:0"
    back, _ = tendril.random_walk(there, [1, 2], 6, seed=1, device="cpu")
    assert isinstance(back, np.ndarray)
    np.testing.assert_array_equal(walks, back)


@pytest.mark.parametrize(
    "call",
    [
        lambda g: g.indptr,
        lambda g: g.weights,
        lambda g: g.degrees(),
        lambda g: g.info(),
        lambda g: g.validate(),
        lambda g: g.rebuild(reverse=True),
        lambda g: g.save("never.safetensors"),
        lambda g: g.to_scipy(),
    ],
)
def test_what_only_the_cpu_does(skewed, call):
    with pytest.raises(tendril.ArgumentError, match="the graph is on cuda:0, expected one in host memory"):
        call(skewed.to("cuda"))


# Results


@pytest.mark.parametrize("order", ["rows", "steps"])
@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_torch_shares_the_memory(skewed, torch, order, dtype):
    walks, lengths = tendril.random_walk(skewed, length=7, seed=2, device="cuda", order=order, dtype=dtype)
    expected, expected_lengths = tendril.random_walk(skewed, length=7, seed=2, dtype=dtype)
    taken = torch.from_dlpack(walks)
    assert taken.is_cuda
    assert taken.data_ptr() == walks.__cuda_array_interface__["data"][0]
    assert taken.stride() == tuple(stride // walks.dtype.itemsize for stride in walks.strides)
    del walks
    np.testing.assert_array_equal(taken.cpu().numpy(), expected)
    np.testing.assert_array_equal(torch.from_dlpack(lengths).cpu().numpy(), expected_lengths)


@pytest.mark.parametrize("order", ["rows", "steps"])
def test_cupy_shares_the_memory(skewed, cupy, order):
    walks, _ = tendril.random_walk(skewed, length=7, seed=2, device="cuda", order=order)
    pointer = walks.__cuda_array_interface__["data"][0]
    expected, _ = tendril.random_walk(skewed, length=7, seed=2)
    for taken in (cupy.from_dlpack(walks), cupy.asarray(walks)):
        assert taken.data.ptr == pointer
        assert taken.strides == walks.strides
        np.testing.assert_array_equal(cupy.asnumpy(taken), expected)
    del walks, taken
    gc.collect()


def test_writing_reaches_the_memory(skewed, torch, cupy):
    walks, _ = tendril.random_walk(skewed, [0], 3, device="cuda")
    torch.from_dlpack(walks)[0, 0] = 77
    torch.cuda.synchronize()
    assert int(cupy.asarray(walks)[0, 0]) == 77
    assert walks.numpy()[0, 0] == 77


def test_the_cuda_array_interface(skewed):
    walks, _ = tendril.random_walk(skewed, [4, 5, 6], 9, device="cuda")
    told = walks.__cuda_array_interface__
    assert (told["version"], told["shape"], told["typestr"], told["strides"]) == (3, (3, 10), "<i8", None)
    assert told["stream"] is None
    walks, _ = tendril.random_walk(skewed, [4, 5, 6], 9, device="cuda", order="steps", dtype=np.int32)
    told = walks.__cuda_array_interface__
    assert (told["typestr"], told["strides"]) == ("<i4", (4, 12))


def test_ragged_walks_are_the_cpus(skewed):
    options = {"length": 50, "stop_prob": 0.2, "walks_per_vertex": 3, "seed": 4, "order": "ragged"}
    expected = tendril.random_walk(skewed, **options)
    for dtype in (np.int64, np.int32):
        offsets, vertices = tendril.random_walk(skewed, device="cuda", dtype=dtype, **options)
        assert (offsets.dtype, vertices.dtype) == (np.int64, dtype)
        np.testing.assert_array_equal(offsets.numpy(), expected[0])
        np.testing.assert_array_equal(vertices.numpy(), expected[1])
    offsets, vertices = tendril.random_walk(skewed, [], device="cuda", order="ragged")
    assert offsets.numpy().tolist() == [0]
    assert vertices.shape == (0,)


def test_numpy_copies(skewed):
    expected, _ = tendril.random_walk(skewed, length=6)
    rows, _ = tendril.random_walk(skewed, length=6, device="cuda")
    steps, _ = tendril.random_walk(skewed, length=6, device="cuda", order="steps")
    n = skewed.num_vertices
    assert (rows.shape, rows.strides, len(rows), rows.ndim) == ((n, 7), (56, 8), n, 2)
    assert (steps.shape, steps.strides, steps.nbytes) == ((n, 7), (8, 8 * n), 56 * n)
    assert rows.numpy().flags.c_contiguous
    assert steps.numpy().flags.f_contiguous
    np.testing.assert_array_equal(steps.numpy(), expected)
    assert np.asarray(rows, dtype=np.float32).dtype == np.float32
    np.testing.assert_array_equal(np.from_dlpack(rows, device="cpu"), expected)
    with pytest.raises(ValueError, match="without a copy"):
        rows.__array__(copy=False)
    with pytest.raises(BufferError):
        rows.__dlpack__(dl_device=(2, 63))


def test_empty_results(skewed, torch):
    for order in ("rows", "steps"):
        walks, lengths = tendril.random_walk(skewed, [], 4, device="cuda", order=order)
        assert (walks.shape, lengths.shape) == ((0, 5), (0,))
        assert walks.numpy().shape == (0, 5)
        assert torch.from_dlpack(walks).shape == (0, 5)
    assert tendril.random_walk(skewed, walks_per_vertex=0, length=4, device="cuda")[0].shape == (0, 5)


# Starts


def test_starts_from_gpu_memory(skewed, torch, cupy):
    here = np.array([9, 3, 3, 100, 0])
    expected, _ = tendril.random_walk(skewed, here, 8, seed=4, walks_per_vertex=2)
    spread = torch.zeros(10, dtype=torch.int64, device="cuda")
    spread[::2] = torch.from_numpy(here).cuda()
    given = {
        "host": here,
        "list": here.tolist(),
        "torch on the host": torch.from_numpy(here),
        "int64": torch.from_numpy(here).cuda(),
        "int32": torch.from_numpy(here).int().cuda(),
        "strided": spread[::2],
        "cupy": cupy.asarray(here),
        "uint32": cupy.asarray(here.astype(np.uint32)),
        "uint64": cupy.asarray(here.astype(np.uint64)),
    }
    for name, starts in given.items():
        walks, _ = tendril.random_walk(skewed, starts, 8, seed=4, walks_per_vertex=2, device="cuda")
        np.testing.assert_array_equal(walks, expected, err_msg=name)


class ByInterface:
    """An array that speaks the CUDA array interface alone, on a stream of its own."""

    def __init__(self, array, stream=None):
        self.array = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, "version": 3, "stream": stream}


def test_starts_by_the_cuda_array_interface(skewed, torch):
    expected, _ = tendril.random_walk(skewed, [5, 6, 7, 8], 8, seed=4)
    array = torch.tensor([5, 6, 7, 8], device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.cuda._sleep(200_000_000)
        late = torch.tensor([5, 6, 7, 0], device="cuda")
        late[3].fill_(8)
    for starts in (ByInterface(array), ByInterface(array.int(), 1), ByInterface(late, side.cuda_stream)):
        walks, _ = tendril.random_walk(skewed, starts, 8, seed=4, device="cuda")
        np.testing.assert_array_equal(walks, expected)


def test_walks_are_starts(skewed):
    """What came from here can go back in."""
    walks, _ = tendril.random_walk(skewed, [1, 2, 3], 4, seed=1, device="cuda", dtype=np.int32)
    lengths = tendril.random_walk(skewed, [1, 2, 3], 4, seed=1, device="cuda")[1]
    again, _ = tendril.random_walk(skewed, lengths, 4, seed=1, device="cuda")
    np.testing.assert_array_equal(again, tendril.random_walk(skewed, lengths.numpy(), 4, seed=1)[0])
    with pytest.raises(tendril.ArgumentError, match=r"^starts has shape \(3, 5\), expected one dimension$"):
        tendril.random_walk(skewed, walks, 4, device="cuda")


def test_starts_that_are_none(skewed, torch):
    def refused(starts, text):
        with pytest.raises(tendril.ArgumentError) as info:
            tendril.random_walk(skewed, starts, 4, device="cuda")
        assert str(info.value) == text

    n = skewed.num_vertices
    cuda = {"device": "cuda"}
    refused(torch.tensor([0, 1, -3, -4], **cuda), "starts[2] is -3, expected a vertex id in [0, 4294967294]")
    refused(torch.tensor([0, -1], dtype=torch.int32, **cuda), "starts[1] is -1, expected a vertex id in [0, 4294967294]")
    refused(torch.tensor([0, 2**40], **cuda), f"starts[1] is {2**40}, expected a vertex id in [0, 4294967294]")
    refused(torch.tensor([0, n, n + 1], **cuda), f"start 1: vertex {n} is out of range, the graph has {n} vertices")
    refused(np.array([0, n]), f"start 1: vertex {n} is out of range, the graph has {n} vertices")
    refused(torch.zeros(2, **cuda), "starts doesn't hold integers, expected int32 or int64")
    refused(
        torch.zeros(2, dtype=torch.int16, **cuda),
        "starts has elements of 16 bits, expected int32 or int64 in GPU memory",
    )
    refused(torch.zeros((2, 2), dtype=torch.int64, **cuda), "starts has shape (2, 2), expected one dimension")
    with pytest.raises(tendril.ArgumentError, match="another device"):
        tendril.random_walk(skewed, torch.tensor([0], **cuda), 4, device="cpu")
    tendril.random_walk(skewed, [0], 4, device="cuda")  # the GPU works on


# Streams


def test_work_runs_on_the_callers_stream(skewed, torch, cupy):
    """Starts that a busy stream has yet to write are seen as written, whichever way the stream is named."""
    here = np.arange(1000)
    expected, _ = tendril.random_walk(skewed, here, 8, seed=4)
    side = torch.cuda.Stream()
    foreign = cupy.cuda.Stream(non_blocking=True)
    for name, stream in {
        "current": None,
        "torch": side,
        "handle": side.cuda_stream,
        "cupy": foreign,
        "external": torch.cuda.ExternalStream(foreign.ptr),
    }.items():
        target = torch.cuda.ExternalStream(foreign.ptr) if name in ("cupy", "external") else side
        starts = torch.zeros(1000, dtype=torch.int64, device="cuda")
        ready = torch.from_numpy(here).cuda()
        torch.cuda.synchronize()
        with torch.cuda.stream(target):
            torch.cuda._sleep(200_000_000)  # cycles: about a tenth of a second
            starts.copy_(ready)
            walks, _ = tendril.random_walk(skewed, starts, 8, seed=4, device="cuda", stream=stream)
        np.testing.assert_array_equal(walks, expected, err_msg=name)


def test_the_default_is_the_stream_that_torch_works_on(torch):
    torch.cuda.init()
    assert stream_handle(None, 0) == 0
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        assert stream_handle(None, 0) == side.cuda_stream


def test_a_consumers_stream_waits(skewed, torch):
    """The conversion to int64 is still to run when the call returns; whoever takes the array sees it done."""
    starts = np.arange(skewed.num_vertices).repeat(20)
    expected, _ = tendril.random_walk(skewed, starts, 80, seed=4)
    producer, consumer = torch.cuda.Stream(), torch.cuda.Stream()
    for _ in range(3):
        walks, _ = tendril.random_walk(skewed, starts, 80, seed=4, device="cuda", stream=producer)
        with torch.cuda.stream(consumer):
            copy = torch.from_dlpack(walks).clone()
        consumer.synchronize()
        np.testing.assert_array_equal(copy.cpu().numpy(), expected)


def test_memory_that_a_consumer_still_reads_is_not_used_again(skewed, torch):
    expected, _ = tendril.random_walk(skewed, length=200, seed=4)
    side = torch.cuda.Stream()
    walks, _ = tendril.random_walk(skewed, length=200, seed=4, device="cuda")
    with torch.cuda.stream(side):
        taken = torch.from_dlpack(walks)
        copy = torch.empty_like(taken)
        torch.cuda._sleep(400_000_000)
        copy.copy_(taken)
    del walks, taken
    gc.collect()
    for seed in range(20):
        tendril.random_walk(skewed, length=200, seed=100 + seed, device="cuda")
    side.synchronize()
    np.testing.assert_array_equal(copy.cpu().numpy(), expected)


def test_memory_is_used_again(skewed, torch):
    """Results that are let go of don't pile up: four times what may be kept back costs no more than that."""
    kept = torch.cuda.mem_get_info()[1] // 16
    starts = np.arange(skewed.num_vertices).repeat(16)
    a_call = 8 * 201 * len(starts)
    before = torch.cuda.mem_get_info()[0]
    for _ in range(4 * kept // a_call + 1):
        tendril.random_walk(skewed, starts, 200, device="cuda")
    assert torch.cuda.mem_get_info()[0] > before - 2 * kept


def test_arrays_outlive_their_stream(skewed, cupy):
    fresh = tendril.generate.rmat(10, 8, symmetrize=True, weights=(1, 5)).to("cuda")
    stream = cupy.cuda.Stream(non_blocking=True)
    walks, lengths = tendril.random_walk(fresh, length=9, weighted=True, stream=stream)
    del stream
    gc.collect()
    cupy.asarray(walks)
    assert walks.numpy().shape == (1024, 10)
    assert cupy.from_dlpack(lengths).shape == (1024,)
    del walks, lengths, fresh  # with the tables that were built on that stream
    gc.collect()
    tendril.random_walk(skewed, length=9, device="cuda")


def test_streams_that_dlpack_does_not_know(skewed):
    walks, _ = tendril.random_walk(skewed, [0], 3, device="cuda")
    with pytest.raises(BufferError, match="^stream is -2, expected -1, 1, 2 or a cudaStream_t$"):
        walks.__dlpack__(stream=-2)
    for stream in (None, -1, 0, 1, 2):
        walks.__dlpack__(stream=stream)
    walks.__dlpack__(max_version=(1, 0), copy=False, dl_device=(2, 0))


def test_the_gil_is_released():
    graph = tendril.generate.complete(5001, weights=(1, 2)).to("cuda")
    options = {"length": 100, "weighted": True, "rule": "scan"}
    tendril.random_walk(graph, [0], **options)
    ticks, done = 0, threading.Event()

    def tick():
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    starts = np.zeros(200_000, np.int64)
    started, before = time.perf_counter(), ticks
    tendril.random_walk(graph, starts, **options)
    seconds, ticked = time.perf_counter() - started, ticks - before
    done.set()
    thread.join()
    assert seconds > 0.05  # long enough to mean anything
    assert ticked > seconds / 0.02


# Errors


def test_memory_that_is_not_there(skewed):
    """It says what was needed and free, and the process goes on."""
    with pytest.raises(tendril.OutOfMemoryError, match=r"GPU 0: out of memory: .* MB needed, .* MB free of") as info:
        tendril.random_walk(skewed, length=2**30, walks_per_vertex=4, device="cuda")
    assert isinstance(info.value, MemoryError)
    walks, _ = tendril.random_walk(skewed, [3, 4], 5, seed=1, device="cuda")
    np.testing.assert_array_equal(walks, tendril.random_walk(skewed, [3, 4], 5, seed=1)[0])


def test_a_gpu_that_is_not_there(skewed):
    with pytest.raises(tendril.DeviceError, match=r"^GPU 99: there (is|are) \d+ on this machine"):
        skewed.to("cuda:99")
    with pytest.raises(tendril.DeviceError, match="^GPU 99:"):
        tendril.random_walk(skewed, [0], 3, device="cuda:99")
    with pytest.raises(tendril.DeviceError, match="^GPU 99:"):
        tendril.gpu_info("cuda:99")
    tendril.random_walk(skewed, [0], 3, device="cuda")


def test_parameters_are_refused_as_on_the_cpu(skewed, karate):
    for graph, options in ((skewed, {"length": 0}), (skewed, {"stop_prob": 2.0}), (karate, {"weighted": True, "p": 0})):
        walk = tendril.node2vec_walk if "p" in options else tendril.random_walk
        said = []
        for device in ("cpu", "cuda"):
            with pytest.raises(tendril.ArgumentError) as info:
                walk(graph, [0], device=device, **options)
            said.append(str(info.value))
        assert said[0] == said[1]


def test_what_is_known_of_a_gpu():
    info = tendril.gpu_info()
    assert info == tendril.gpu_info("cuda:0") or info.free_bytes > 0
    assert info.name
    assert info.device == "cuda:0"
    assert 0 < info.free_bytes <= info.total_bytes
    assert info.compute_capability >= (5, 0)


HELD_AT_EXIT = """
import sys, tendril
graph = tendril.generate.rmat(8, 8, weights=(1, 5))
there = graph.to("cuda")
walks, lengths = tendril.random_walk(there, length=5, weighted=True)
capsule = walks.__dlpack__()
told = lengths.__cuda_array_interface__
print("torch" in sys.modules)
"""


def test_nothing_leaks_and_torch_is_not_imported():
    result = subprocess.run(
        [sys.executable, "-c", HELD_AT_EXIT], capture_output=True, text=True, check=False, timeout=120
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "False\n", "")


def test_examples_in_the_page(torch, examples_for_gpus):
    results = doctest.DocTestRunner().run(examples_for_gpus)
    assert results.failed == 0
    assert results.attempted >= 8
