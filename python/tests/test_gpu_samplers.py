"""Layers and subgraphs on a GPU: those of the CPU, in arrays that stay there. Skipped, by name, without a GPU."""

from __future__ import annotations

import gc
import subprocess
import sys

import numpy as np
import pytest

import tendril

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(tendril.num_gpus() == 0, reason="no GPU"),
]


@pytest.fixture(scope="module")
def skewed():
    """An R-MAT graph: hubs, isolated vertices, weights."""
    return tendril.generate.rmat(12, 8, symmetrize=True, weights=(1, 5))


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


@pytest.fixture(scope="module")
def cupy():
    return pytest.importorskip("cupy")


SEEDS = np.random.default_rng(6).integers(0, 60, (5, 30))
SETS = np.stack([np.random.default_rng(i).permutation(60)[:40] for i in range(9)])
CUTS = np.array([0, 7, 7, 40], np.int64)
CALLS = {
    "khop": (tendril.khop_sample, (SEEDS[0], [4, 3]), {"return_edges": True, "first_root": 5}),
    "khop replace": (tendril.khop_sample, (SEEDS[0], [25, 10]), {"replace": True}),
    "khop weighted": (tendril.khop_sample, (SEEDS[1], [5, 2]), {"weighted": True, "return_edges": True}),
    "khop alias": (tendril.khop_sample, (SEEDS[1], [5, 2]), {"weighted": True, "replace": True}),
    "khop all": (tendril.khop_sample, (SEEDS[2], [2, -1, 3]), {"return_edges": True}),
    "fastgcn": (tendril.fastgcn_sample, (SEEDS, 3, 50), {}),
    "fastgcn symmetric": (tendril.fastgcn_sample, (SEEDS, 2, 20), {"normalization": "symmetric", "replace": False}),
    "fastgcn edges": (tendril.fastgcn_sample, (SEEDS[0], 1, 9), {"row_normalize": True, "return_edges": True}),
    "ladies": (tendril.ladies_sample, (SEEDS, 3, 64), {}),
    "ladies weights": (tendril.ladies_sample, (SEEDS, 2, 33), {"normalization": "weights", "row_normalize": False}),
    "ladies edges": (tendril.ladies_sample, (SEEDS[1], 2, 20), {"replace": False, "return_edges": True}),
    "ladies none": (tendril.ladies_sample, (np.empty((0, 4), np.int64), 2, 20), {}),
    "layer": (tendril.layer_sample, (SEEDS, 20, 50), {"first_sample": 3}),
    "layer unique": (tendril.layer_sample, (SEEDS[0], 15, 40), {"unique": True, "max_steps": 2}),
    "layer by transits": (tendril.layer_sample, (SEEDS, 20, 50), {"executor": "transit"}),
    "mvs": (tendril.mvs_sample, (None, 6, 20), {"return_edges": True}),
    "mvs replace": (tendril.mvs_sample, (None, 6, 20), {"replace": True, "first_sample": 3}),
    "labor": (tendril.labor_sample, (SEEDS[0], [4, 3, -1]), {}),
    "labor weights": (tendril.labor_sample, (SEEDS[0], [2]), {"normalize": False, "batch": 4}),
    "induced": (tendril.induced_subgraphs, (SETS,), {}),
    "induced cuts": (tendril.induced_subgraphs, (SETS[0], CUTS), {}),
    "induced one": (tendril.induced_subgraphs, (SETS[1],), {}),
    "shadow": (tendril.shadow_sample, (SEEDS[0], 2, 5), {"first_sample": 9}),
    "shadow replace": (tendril.shadow_sample, (SEEDS[0], 3, 2), {"replace": True}),
    "saint node": (tendril.saint_node_sample, (7, 90), {"normalization": "symmetric"}),
    "saint edge": (tendril.saint_edge_sample, (7, 60), {"first_sample": 2}),
    "saint walk": (tendril.saint_walk_sample, (7, 20, 4), {}),
    "cluster ways": (tendril.cluster_vertices, (9,), {}),
    "cluster random": (tendril.cluster_vertices, (9,), {"method": "random"}),
    "coefficients node": (tendril.saint_coefficients, (9,), {"sampler": "node", "budget": 40}),
    "coefficients edge": (tendril.saint_coefficients, (9,), {"sampler": "edge", "budget": 40}),
    "coefficients walk": (tendril.saint_coefficients, (9,), {"sampler": "walk", "budget": 40, "length": 3}),
}


def arrays(result):
    """Every array of a result, in order."""
    if isinstance(result, (np.ndarray, tendril.DeviceArray)):
        return [result]
    held = vars(result).values() if hasattr(result, "__dict__") else []
    parts = result if isinstance(result, (list, tuple)) else held
    return [array for part in parts for array in arrays(part)]


def expect_equal(there, here):
    ours, theirs = arrays(here), arrays(there)
    assert len(ours) == len(theirs) > 0
    for a, b in zip(ours, theirs, strict=True):
        assert isinstance(b, tendril.DeviceArray)
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_array_equal(b, a)


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("which", ["graph", "skewed"])
def test_samples_are_those_of_the_cpu(request, which, call, dtype):
    graph = request.getfixturevalue(which)
    function, arguments, options = CALLS[call]
    options = dict(options)
    if function is not tendril.induced_subgraphs:
        options["seed"] = 5
    if function is not tendril.saint_coefficients:
        options["dtype"] = dtype
    here = function(graph, *arguments, **options)
    expect_equal(function(graph, *arguments, device="cuda", **options), here)
    expect_equal(function(graph.to("cuda"), *arguments, **options), here)


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_clusters_there(skewed, torch, dtype):
    there = skewed.to("cuda")
    cluster_of = tendril.cluster_vertices(skewed, 50, method="random", seed=1)
    given = tendril.cluster_vertices(there, 50, method="random", seed=1, dtype=dtype)
    np.testing.assert_array_equal(given, cluster_of)
    here = tendril.group_clusters(skewed, cluster_of)
    for from_where in (given, cluster_of, torch.from_dlpack(given)):
        groups = tendril.group_clusters(there, from_where)
        assert (groups.num_clusters, groups.device) == (50, "cuda:0")
        for options in ({}, {"num_samples": 3, "first_sample": 11}):
            expected = tendril.cluster_sample(skewed, here, 4, seed=3, dtype=dtype, **options)
            expect_equal(tendril.cluster_sample(there, groups, 4, seed=3, dtype=dtype, **options), expected)
    expected = tendril.cluster_subgraphs(skewed, here, [[1, 5], [7, 0]])
    expect_equal(tendril.cluster_subgraphs(there, groups, [[1, 5], [7, 0]]), expected)
    lists = torch.tensor([[1, 5], [7, 0]], device="cuda", dtype=torch.int32)
    expect_equal(tendril.cluster_subgraphs(there, cluster_of, lists), expected)
    cuts = torch.tensor([0, 1, 4], device="cuda")
    expected = tendril.cluster_subgraphs(skewed, here, [1, 5, 7, 0], [0, 1, 4])
    expect_equal(tendril.cluster_subgraphs(there, groups, lists.reshape(-1), cuts), expected)
    for graph, clusters in ((there, here), (skewed, groups)):
        with pytest.raises(tendril.ArgumentError, match="^clusters: on (cpu|cuda:0), expected them on (cpu|cuda:0)$"):
            tendril.cluster_sample(graph, clusters)


class ByInterface:
    """An array that speaks the CUDA array interface alone."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, "version": 3, "stream": None}


def test_arguments_from_gpu_memory(skewed, torch, cupy):
    here = tendril.ladies_sample(skewed, SEEDS, 2, 20, seed=1)
    there = torch.from_numpy(SEEDS).cuda()
    transposed = torch.from_numpy(np.ascontiguousarray(SEEDS.T)).cuda().T
    for given in (there, there.int(), transposed, cupy.asarray(SEEDS), ByInterface(there), ByInterface(there.int())):
        expect_equal(tendril.ladies_sample(skewed, given, 2, 20, seed=1, device="cuda"), here)
    one = tendril.ladies_sample(skewed, SEEDS[2], 2, 20, seed=1)
    expect_equal(tendril.ladies_sample(skewed, there[2], 2, 20, seed=1, device="cuda"), one)
    expect_equal(tendril.ladies_sample(skewed, transposed[2], 2, 20, seed=1, device="cuda"), one)

    importances = np.random.default_rng(2).uniform(0, 3, skewed.num_vertices).astype(np.float32)
    batches = tendril.mvs_sample(skewed, importances, 5, 40, seed=1)
    there = torch.from_numpy(importances).cuda()
    for given in (importances, importances.tolist(), there, cupy.asarray(importances), ByInterface(there)):
        expect_equal(tendril.mvs_sample(skewed, given, 5, 40, seed=1, device="cuda"), batches)

    sets = tendril.induced_subgraphs(skewed, SETS[0], CUTS)
    for cuts in (CUTS, torch.from_numpy(CUTS).cuda(), ByInterface(torch.from_numpy(CUTS).cuda())):
        nodes = torch.from_numpy(SETS[0]).cuda()
        expect_equal(tendril.induced_subgraphs(skewed, nodes, cuts, device="cuda"), sets)


def test_parts_share_the_memory(skewed, torch):
    here = tendril.saint_walk_sample(skewed, 6, 30, 4)
    there = tendril.saint_walk_sample(skewed, 6, 30, 4, device="cuda")
    whole = torch.from_dlpack(there.edge_index)
    for i, (ours, theirs) in enumerate(zip(here, there, strict=True)):
        index = torch.from_dlpack(theirs.edge_index)
        assert index.data_ptr() == whole.data_ptr() + 8 * int(here.edge_offsets[i])
        assert index.stride() == (whole.shape[1], 1)
        np.testing.assert_array_equal(index.cpu().numpy(), ours.edge_index)
        for name in ("nodes", "row", "col", "edges", "edge_index"):
            np.testing.assert_array_equal(getattr(theirs, name), getattr(ours, name))
    del there, theirs, whole
    gc.collect()
    tendril.saint_walk_sample(skewed, 6, 30, 4, seed=1, device="cuda")
    np.testing.assert_array_equal(index.cpu().numpy(), ours.edge_index)  # it lives on


def test_layers_and_batches_there(skewed, torch):
    here = tendril.ladies_sample(skewed, SEEDS, 2, 20, return_edges=True)
    there = tendril.ladies_sample(skewed, SEEDS, 2, 20, return_edges=True, device="cuda")
    for place in ((0, 0), (1, 0), (1, 4)):
        expect_equal(there.layer(*place), here.layer(*place))
    layer, expected = there.layer(1, 4), here.layer(1, 4)
    rows = torch.sparse_coo_tensor(
        torch.from_dlpack(layer.edge_index), torch.from_dlpack(layer.coefficients), (20, 20)
    ).sum(1)
    sums = np.bincount(expected.row, expected.coefficients, minlength=20)
    np.testing.assert_allclose(rows.to_dense().cpu().numpy(), sums, rtol=1e-5, atol=1e-6)
    batches = tendril.mvs_sample(skewed, None, 3, 9, device="cuda")
    expect_equal(batches.batch(2), tendril.mvs_sample(skewed, None, 3, 9).batch(2))


def test_work_runs_on_the_callers_stream(skewed, torch):
    """Seeds that a busy stream has yet to write are seen as written, and consumers wait for what is under way."""
    here = tendril.shadow_sample(skewed, SEEDS[0], 2, 5, seed=4)
    layers = tendril.ladies_sample(skewed, SEEDS, 2, 20, seed=4)
    ready, rows = torch.from_numpy(SEEDS[0]).cuda(), torch.from_numpy(SEEDS).cuda()
    side, consumer = torch.cuda.Stream(), torch.cuda.Stream()
    for stream in (side, side.cuda_stream, None):
        seeds, batches = torch.zeros_like(ready), torch.zeros_like(rows)
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            torch.cuda._sleep(200_000_000)  # cycles: about a tenth of a second
            seeds.copy_(ready)
            batches.copy_(rows)
            made = tendril.shadow_sample(skewed, seeds, 2, 5, seed=4, device="cuda", stream=stream)
            more = tendril.ladies_sample(skewed, batches, 2, 20, seed=4, device="cuda", stream=stream)
        with torch.cuda.stream(consumer):
            copy = torch.from_dlpack(more.edge_index).clone()
        consumer.synchronize()
        np.testing.assert_array_equal(copy.cpu().numpy(), layers.edge_index)
        expect_equal(made, here)
        expect_equal(more, layers)


def test_parameters_are_refused_as_on_the_cpu(skewed, torch):
    n = skewed.num_vertices
    calls = [
        lambda **o: tendril.ladies_sample(skewed, [0, n], **o),
        lambda **o: tendril.ladies_sample(skewed, [0, -1], **o),
        lambda **o: tendril.fastgcn_sample(skewed, [0], 0, **o),
        lambda **o: tendril.fastgcn_sample(skewed, [[[0]]], **o),
        lambda **o: tendril.mvs_sample(skewed, [1.0], **o),
        lambda **o: tendril.mvs_sample(skewed, [1.0] * (n - 1) + [-2.0], **o),
        lambda **o: tendril.labor_sample(skewed, [0, 3, n + 5], **o),
        lambda **o: tendril.labor_sample(skewed, [0], [0], **o),
        lambda **o: tendril.induced_subgraphs(skewed, [0, n], **o),
        lambda **o: tendril.induced_subgraphs(skewed, [4, 5, 4], **o),
        lambda **o: tendril.induced_subgraphs(skewed, [4, 5], [0, 3], **o),
        lambda **o: tendril.shadow_sample(skewed, [n], **o),
        lambda **o: tendril.shadow_sample(skewed, [0], 0, **o),
        lambda **o: tendril.saint_node_sample(skewed, -1, **o),
        lambda **o: tendril.saint_coefficients(skewed, 0, **o),
        lambda **o: tendril.cluster_vertices(skewed, n + 1, **o),
        lambda **o: tendril.group_clusters(skewed, [0] * (n - 1) + [3], 3, **o),
        lambda **o: tendril.cluster_subgraphs(skewed, [0] * n, [1], **o),
    ]
    for call in calls:
        said = []
        for device in ("cpu", "cuda"):
            with pytest.raises(tendril.ArgumentError) as info:
                call(device=device)
            said.append(str(info.value))
        assert said[0] == said[1]


def test_arrays_that_are_refused(skewed, torch):
    def refused(text, call):
        with pytest.raises(tendril.ArgumentError) as info:
            call()
        assert str(info.value) == text

    n = skewed.num_vertices
    cuda = {"device": "cuda"}
    floats = "importances is no contiguous array of float32, as is expected in GPU memory"
    doubles, spread = torch.ones(n, dtype=torch.float64, **cuda), torch.ones(2 * n, **cuda)[::2]
    for given in (doubles, spread, ByInterface(doubles), ByInterface(spread)):
        refused(floats, lambda given=given: tendril.mvs_sample(skewed, given, **cuda))
    offsets = torch.tensor([0, 2], dtype=torch.int32, **cuda)
    for given in (offsets, ByInterface(offsets)):
        refused(
            "offsets is no contiguous array of int64, as is expected in GPU memory",
            lambda given=given: tendril.induced_subgraphs(skewed, [1, 2], given, **cuda),
        )
    seeds = torch.tensor([[0, 1], [2, -3]], **cuda)
    refused(
        "seeds[3] is -3, expected a vertex id in [0, 4294967294]", lambda: tendril.ladies_sample(skewed, seeds, **cuda)
    )
    clusters = torch.zeros(n, dtype=torch.int64, **cuda)
    clusters[7] = -2
    refused(
        "cluster_of[7] is -2, expected a vertex id in [0, 4294967294]",
        lambda: tendril.group_clusters(skewed, clusters, 3, **cuda),
    )
    clusters[7] = n + 9
    refused(
        f"vertex 7: cluster {n + 9} is out of range, there are 3 clusters",
        lambda: tendril.group_clusters(skewed, clusters, 3, **cuda),
    )
    with pytest.raises(tendril.ArgumentError, match="another device"):
        tendril.ladies_sample(skewed, seeds, device="cpu")
    tendril.ladies_sample(skewed, [0], **cuda)  # the GPU works on


HELD_AT_EXIT = """
import tendril
graph = tendril.generate.rmat(8, 8, weights=(1, 5)).to("cuda")
layers = tendril.ladies_sample(graph, [1, 2, 3])
layer = layers.layer(0)
samples = tendril.shadow_sample(graph, [1, 2, 3])
part = samples.sample(1).edge_index
clusters = tendril.group_clusters(graph, tendril.cluster_vertices(graph, 5))
batch = tendril.labor_sample(graph, [1, 2])
batches = tendril.mvs_sample(graph, [1.0] * 256)
capsule = part.__dlpack__()
"""


def test_nothing_leaks():
    result = subprocess.run(
        [sys.executable, "-c", HELD_AT_EXIT], capture_output=True, text=True, check=False, timeout=120
    )
    assert (result.returncode, result.stderr) == (0, "")
