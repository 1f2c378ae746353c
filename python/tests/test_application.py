"""Sampling applications that come as C++ text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tendril

EXAMPLES = Path(__file__).parents[2] / "examples"
NEXT = """
  vertex_id next(sample_view& sample, transit_list const& transits, edge_list const& edges, int step,
                 random_stream& rng) const
  {
    return edges.empty() ? no_vertex : edges[rng.bounded(edges.size())];
  }
"""
HOPS = f"""
struct hops {{
  std::int64_t fanouts[4] = {{3, 2}};
  int count = 2;
  bool distinct;
  int steps() const {{ return count; }}
  std::int64_t sample_size(int step) const {{ return fanouts[step]; }}
  bool unique(int) const {{ return distinct; }}
{NEXT}}};
"""
WALK = f"""
struct walk {{
  double stop;
  int steps() const {{ return until_done; }}
  std::int64_t sample_size(int) const {{ return 1; }}
{NEXT.replace("edges.empty()", "edges.empty() || rng.chance(stop)")}}};
"""
LINKS = """
struct links {
  static constexpr bool adds_edges = true;
  static constexpr sampling sampling_type() { return sampling::collective; }
  int steps() const { return 2; }
  std::int64_t sample_size(int step) const { return 4 + step; }
  vertex_id next(sample_view& sample, transit_list const& transits, combined_edges const& edges, int step,
                 random_stream& rng) const
  {
    if (edges.empty()) { return no_vertex; }
    vertex_id const v = edges[rng.bounded(edges.size())];
    for (std::uint32_t i = 0; i < transits.size(); ++i) {
      if (transits[i] != no_vertex && sample.graph.has_edge(transits[i], v)) { sample.add_edge(transits[i], v); }
    }
    return v;
  }
};
"""
MOVING = f"""
struct moving {{
  int steps() const {{ return 4; }}
  std::int64_t sample_size(int) const {{ return 1; }}
  std::int64_t num_transits(int) const {{ return 1; }}
  vertex_id step_transits(int, sample_view const& sample, std::int64_t, random_stream& rng) const
  {{
    return sample.root(rng.bounded(sample.num_roots()));
  }}
  void end_step(sample_view& sample, int) const
  {{
    vertex_id const v = sample.prev_vertex(1, 0);
    if (v != no_vertex) {{ sample.replace_root(0, v); }}
  }}
{NEXT}}};
"""


def neighbors_of(graph, v):
    return graph.indices[graph.indptr[v] : graph.indptr[v + 1]]


def test_what_is_added_is_a_neighbor(graph):
    samples = tendril.Application(HOPS, fanouts=[4, 3, 2], count=3).sample(graph, np.arange(60), seed=3)
    before = np.arange(60)[:, None]
    assert [step.sample_size for step in samples.steps] == [4, 3, 2]
    for step in samples.steps:
        assert step.num_transits == before.shape[1]
        assert step.vertices.shape == (60, before.shape[1] * step.sample_size)
        transits = np.repeat(before, step.sample_size, axis=1)
        for transit, v in zip(transits.ravel(), step.vertices.ravel(), strict=True):
            expected = v in neighbors_of(graph, transit) if transit >= 0 and graph.degrees()[transit] else v == -1
            assert expected
        before = step.vertices
    assert samples.vertices is None
    assert samples.roots is None
    assert samples.steps[0].sizes is None
    assert samples.steps[0].edges is None


def test_the_layouts_and_types_hold_the_same(graph):
    app = tendril.Application(HOPS)
    by_step = app.sample(graph, [5, 6, 7], seed=1)
    by_sample = app.sample(graph, [5, 6, 7], seed=1, order="samples", num_threads=2)
    narrow = app.sample(graph, [5, 6, 7], seed=1, dtype=np.int32)
    assert by_sample.vertices.shape == (3, 9)
    for one, other, small in zip(by_step.steps, by_sample.steps, narrow.steps, strict=True):
        assert one.vertices.dtype == np.int64
        assert small.vertices.dtype == np.int32
        assert np.array_equal(one.vertices, other.vertices)
        assert np.array_equal(one.vertices, small.vertices)
        assert np.shares_memory(other.vertices, by_sample.vertices)


def test_samples_are_cut_anywhere(graph):
    app = tendril.Application(HOPS, distinct=True)
    whole = app.sample(graph, np.arange(40).reshape(20, 2), seed=5, num_threads=3)
    part = app.sample(graph, [[14, 15], [16, 17]], seed=5, first_sample=7)
    for one, other in zip(whole.steps, part.steps, strict=True):
        assert np.array_equal(one.vertices[7:9], other.vertices)
        assert np.array_equal(one.sizes[7:9], other.sizes)
    assert app.sample(graph, []).steps[1].vertices.shape == (0, 6)


def test_unique_steps_have_no_vertex_twice(graph):
    samples = tendril.Application(HOPS, distinct=True, fanouts=[8, 2]).sample(graph, np.arange(50))
    for step in samples.steps:
        for row, size in zip(step.vertices, step.sizes, strict=True):
            found = row[row >= 0]
            assert len(set(found)) == len(found) == size


def test_edges_that_are_recorded(graph):
    roots = np.arange(40).reshape(10, 4)
    samples = tendril.Application(LINKS).sample(graph, roots, seed=2, dtype=np.int32)
    before = roots
    for step in samples.steps:
        assert step.vertices.shape == (10, step.sample_size)
        offsets, sources, targets = step.edges
        assert offsets.dtype == np.int64
        for i in range(10):
            expected = [
                (u, v) for v in step.vertices[i] for u in before[i] if u >= 0 and v >= 0 and v in neighbors_of(graph, u)
            ]
            part = slice(offsets[i], offsets[i + 1])
            assert list(zip(sources[part], targets[part], strict=True)) == expected
        before = step.vertices


def test_roots_that_are_replaced(graph):
    samples = tendril.Application(MOVING).sample(graph, np.arange(30).reshape(10, 3), seed=2)
    steps = np.concatenate([step.vertices for step in samples.steps], axis=1)
    last = np.array([([root, *row[row >= 0]])[-1] for root, row in zip(range(0, 30, 3), steps, strict=True)])
    assert np.array_equal(samples.roots[:, 0], last)
    assert np.array_equal(samples.roots[:, 1:], np.arange(30).reshape(10, 3)[:, 1:])


def test_samples_that_end(graph):
    roots = np.tile(np.arange(50), 100)  # all have edges
    samples = tendril.Application(WALK, stop=0.5).sample(graph, roots, max_steps=60, checked=True)
    sizes = np.array([step.sizes for step in samples.steps])
    assert len(samples.steps) == 60
    assert (np.diff(sizes, axis=0) <= 0).all()
    assert abs(sizes[0].mean() - 0.5) <= 5 * (0.25 / 5000) ** 0.5  # deviations of a binomial
    assert (np.concatenate([step.vertices for step in samples.steps], axis=1).T >= 0).astype(int).tolist() == (
        sizes.tolist()
    )


# Random numbers, as docs/reproducibility.md has them


def philox(counter, key):
    x, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [(b >> 32) ^ x[1] ^ k[0], b & 0xFFFFFFFF, (a >> 32) ^ x[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return x


def draw(seed, fold, sample, transit, call, num_calls, d):
    """Number d of a call, 64 bits."""
    key = philox((fold & 0xFFFFFFFF, fold >> 32, 10, 0x444E4554), (seed & 0xFFFFFFFF, seed >> 32))[:2]
    block = philox((sample & 0xFFFFFFFF, sample >> 32, transit, d * -(-num_calls // 2) + call // 2), key)
    low, high = (block[1] << 32) | block[0], (block[3] << 32) | block[2]
    return high if call % 2 else low


def bounded(bits, size):
    return (bits * size) >> 64


def test_random_numbers_are_the_documented_ones(graph):
    seed, first = 0x123456789ABCDEF, 1 << 33
    pick = "edges[rng.bounded(edges.size())]"
    app = tendril.Application(HOPS.replace(pick, f"((void)rng.bits(), {pick})"), fanouts=[3, 2])
    samples = app.sample(graph, np.arange(20), seed=seed, first_sample=first)
    before = np.arange(20)[:, None]
    for t, step in enumerate(samples.steps):
        m = step.sample_size
        for i, row in enumerate(step.vertices):
            for slot, v in enumerate(row):
                transit = before[i, slot // m]
                around = neighbors_of(graph, transit) if transit >= 0 else []
                bits = draw(seed, t + 1, first + i, slot // m, slot % m, m, 1)  # the second number
                assert v == (around[bounded(bits, len(around))] if len(around) else -1)
        before = step.vertices


def test_random_numbers_of_rounds_and_transits_are_the_documented_ones(graph):
    app = tendril.Application(HOPS, distinct=True, fanouts=[5], count=1)
    for i, row in enumerate(app.sample(graph, np.arange(50), seed=8).steps[0].vertices):
        around = neighbors_of(graph, i)
        expected, open_slots = [-1] * 5, list(range(5)) if len(around) else []
        for r in range(32):
            left = []
            for slot in open_slots:
                v = around[bounded(draw(8, 1 + (r << 32), i, 0, slot, 5, 0), len(around))]
                if v in expected:
                    left.append(slot)
                else:
                    expected[slot] = v
            open_slots = left
        assert row.tolist() == expected
    moving = tendril.Application(MOVING).sample(graph, np.arange(30).reshape(10, 3), seed=8)
    roots = np.arange(30).reshape(10, 3)
    for t, step in enumerate(moving.steps):
        for i in range(10):
            transit = roots[i, bounded(draw(8, (1 << 63) + t + 1, i, 0, 0, 1, 0), 3)]
            around = neighbors_of(graph, transit)
            v = around[bounded(draw(8, t + 1, i, 0, 0, 1, 0), len(around))] if len(around) else -1
            assert step.vertices[i, 0] == v
            roots[i, 0] = v if v >= 0 else roots[i, 0]


# What is refused


def message_of(call):
    with pytest.raises(tendril.ArgumentError) as info:
        call()
    return str(info.value)


def test_errors_are_in_the_callers_lines():
    text = message_of(tendril.Application(HOPS.replace("edges[rng.bounded", "edges[rng.roll")).compile)
    first, rest = text.split("\n", 1)
    assert first.startswith("application: struct 'hops' doesn't compile (")
    assert "application.cpp:13:" in rest
    assert "roll" in rest


@pytest.mark.parametrize(
    "source, options, expected",
    [
        (
            "struct w {};",
            {},
            "application: struct 'w' needs a member 'vertex_id next(sample_view&, transit_list const&, edge_list "
            "const&, int step, random_stream&) const', with 'combined_edges const&' in the third place if "
            "sampling_type() is collective",
        ),
        (
            HOPS.replace("int steps()", "int step()"),
            {},
            "application: struct 'hops' needs a member 'int steps() const', a number or until_done",
        ),
        (HOPS, {"name": "jumps"}, "application: the source defines no struct 'jumps', expected 'struct jumps { … }'"),
        (HOPS, {"fanout": 1}, "parameter 'fanout': struct 'hops' has no public field of that name"),
        (HOPS, {"count": 0.5}, "parameter 'count': a field of integers takes no fractions"),
        (HOPS, {"fanouts": [1, 2, 3, 4, 5]}, "parameter 'fanouts': a parameter has more values than its array"),
        (
            HOPS,
            {"count": 1 << 40},
            "parameter 'count': out of range, expected a value that its field in struct 'hops' can hold",
        ),
        (HOPS, {"count": "much"}, "parameter 'count' is 'much', expected a number or a sequence of numbers"),
    ],
)
def test_what_is_refused(source, options, expected):
    assert message_of(lambda: tendril.Application(source, **options).compile()) == expected


@pytest.mark.parametrize(
    "options, expected",
    [
        ({"order": "rows"}, "order is 'rows', expected 'steps' or 'samples'"),
        ({"executor": "fast"}, "executor is 'fast', expected 'auto', 'sample' or 'transit'"),
        ({"executor": 3}, "executor is 3, expected a name"),
        ({"checked": "yes"}, "checked is 'yes', expected True or False"),
        ({"max_steps": 1.5}, "max_steps is 1.5, expected an integer that fits the parameter"),
        ({"max_steps": 1}, "application: steps() is 2, expected at most max_steps, 1"),
        ({"roots": [0, 60]}, "root 1: vertex 60 is out of range, the graph has 60 vertices"),
        ({"roots": [-1]}, "roots[0] is -1, expected a vertex id in [0, 4294967294]"),
        ({"roots": [[[0]]]}, "roots has shape (1, 1, 1), expected one dimension, or two: samples, roots of each"),
        ({"roots": np.zeros((3, 0), int)}, "num_roots: 0, expected 1 to 2147483647"),
        ({"first_sample": -1}, "first_sample: -1, expected 0 or more"),
        ({"dtype": np.int16}, f"dtype is {np.int16!r}, expected int64 or int32"),
    ],
)
def test_wrong_calls(graph, options, expected):
    app = tendril.Application(HOPS)
    assert message_of(lambda: app.sample(graph, **{"roots": [0, 1], **options})) == expected


def test_what_samples_do_wrong(graph):
    walk = tendril.Application(WALK, stop=0.0)
    ring = tendril.generate.ring(6)
    assert message_of(lambda: walk.sample(ring, [0])).startswith("max_steps: 0, expected 1 to ")
    assert len(walk.sample(ring, [0], max_steps=3).steps) == 3
    assert message_of(lambda: walk.sample(ring, [0], max_steps=3, checked=True, first_sample=4)) == (
        "sample 4: it still grows after 3 steps, expected it to end within max_steps"
    )
    wild = tendril.Application(HOPS.replace("edges[rng", "step == 1 ? 6 : edges[rng"))
    assert message_of(lambda: wild.sample(ring, [0, 1])) == (
        "sample 0, step 1: next() returned a vertex that is out of range, the graph has 6 vertices"
    )


def test_names_and_parameters():
    app = tendril.Application((EXAMPLES / "quiet_hops.hpp").read_text(), tries=3)
    assert app.name == "quiet_hops"
    assert repr(app) == "Application(quiet_hops, tries=3)"
    assert isinstance(app.sample(tendril.generate.ring(6), [0, 3]), tendril.Samples)


@pytest.mark.skipif(tendril.num_gpus() > 0, reason="there is a GPU")
def test_without_a_gpu(graph):
    with pytest.raises(tendril.DeviceError, match="GPU"):
        tendril.Application(HOPS).compile("cuda")
    with pytest.raises(tendril.DeviceError, match="GPU"):
        tendril.Application(HOPS).sample(graph, [0], device="cuda")


# On a GPU

on_gpu = [pytest.mark.gpu, pytest.mark.skipif(tendril.num_gpus() == 0, reason="no GPU")]
APPLICATIONS = {
    "hops": (HOPS, {"fanouts": [7, 4]}, {}),
    "unique": (HOPS, {"fanouts": [7, 4], "distinct": True}, {}),
    "walk": (WALK, {"stop": 0.1}, {"max_steps": 30}),
    "links": (LINKS, {}, {}),
    "moving": (MOVING, {}, {}),
}


def gpu_test(function):
    for mark in on_gpu:
        function = mark(function)
    return function


def assert_same(here, there):
    """Every array of a sample on a GPU is that of the CPU."""

    def same(a, b):
        if a is None:
            assert b is None
            return
        assert type(b) is tendril.DeviceArray
        assert b.dtype == a.dtype
        np.testing.assert_array_equal(b.numpy(), a)

    same(here.vertices, there.vertices)
    same(here.roots, there.roots)
    for a, b in zip(here.steps, there.steps, strict=True):
        assert (a.num_transits, a.sample_size) == (b.num_transits, b.sample_size)
        same(a.vertices, b.vertices)
        same(a.sizes, b.sizes)
        assert (a.edges is None) == (b.edges is None)
        for x, y in zip(a.edges or (), b.edges or (), strict=True):
            same(x, y)


@gpu_test
@pytest.mark.parametrize("name", APPLICATIONS)
@pytest.mark.parametrize("order", ["steps", "samples"])
def test_on_a_gpu(name, order):
    source, parameters, options = APPLICATIONS[name]
    graph = tendril.generate.rmat(11, 8, symmetrize=True, drop_duplicates=True)
    app = tendril.Application(source, **parameters)
    for roots in (np.arange(500), np.arange(600).reshape(200, 3)):
        for dtype in (np.int64, np.int32):
            wanted = {"seed": 2, "order": order, "dtype": dtype, "first_sample": 9, **options}
            here = app.sample(graph, roots, **wanted)
            for executor in ("auto", "sample", "transit"):
                assert_same(here, app.sample(graph, roots, executor=executor, device="cuda", **wanted))


@gpu_test
def test_arrays_are_shared_with_torch():
    torch = pytest.importorskip("torch")
    graph = tendril.generate.rmat(11, 8, symmetrize=True, drop_duplicates=True)
    app = tendril.Application(HOPS, fanouts=[7, 4])
    roots = np.arange(600).reshape(200, 3)
    for order in ("steps", "samples"):
        here = app.sample(graph, roots, order=order)
        for given in (torch.from_numpy(roots).cuda(), torch.from_numpy(roots).int().cuda()):
            there = app.sample(graph, given, order=order, device="cuda")
            for a, b in zip(here.steps, there.steps, strict=True):
                taken = torch.from_dlpack(b.vertices)
                assert taken.is_cuda
                assert taken.data_ptr() == b.vertices.__cuda_array_interface__["data"][0]
                np.testing.assert_array_equal(taken.cpu().numpy(), a.vertices)
    flat = app.sample(graph, torch.arange(10, device="cuda"), device="cuda")
    assert_same(app.sample(graph, np.arange(10)), flat)
    with pytest.raises(tendril.ArgumentError, match=r"^roots has shape \(1, 1, 1\), expected one dimension, or two"):
        app.sample(graph, torch.zeros((1, 1, 1), dtype=torch.int64, device="cuda"), device="cuda")


@gpu_test
def test_errors_on_a_gpu():
    ring = tendril.generate.ring(6)
    broken = tendril.Application(HOPS.replace("edges[rng.bounded", "edges[rng.roll"))
    text = message_of(lambda: broken.sample(ring, [0], device="cuda"))
    assert text.startswith("application: struct 'hops' doesn't compile (NVRTC")
    assert "application.cpp(13)" in text
    walk = tendril.Application(WALK, stop=0.0)
    wild = tendril.Application(HOPS.replace("edges[rng", "step == 1 ? 6 : edges[rng"))
    for app, options in (
        (walk, {}),
        (walk, {"max_steps": 3, "checked": True, "first_sample": 4}),
        (wild, {}),
        (tendril.Application(HOPS), {"roots": [0, 6]}),
    ):
        wanted = {"roots": [0, 1], **options}
        here = message_of(lambda app=app, wanted=wanted: app.sample(ring, **wanted))
        there = message_of(lambda app=app, wanted=wanted: app.sample(ring, device="cuda", **wanted))
        assert here == there
    assert tendril.Application(HOPS).sample(ring, [], device="cuda").steps[0].vertices.shape == (0, 3)
