"""Dynamic walks that come as C++ text."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tendril

UPHILL = """
struct uphill {
  float back;
  float weight(walk_state const& s, walk_edge const& e) const
  {
    return e.target() > s.vertex ? 1 : back;
  }
};
"""
EXAMPLES = Path(__file__).parents[2] / "examples"


def test_an_example_of_the_library():
    """metapath2vec as a text is the library's own metapath walk, by another stream of random numbers."""
    graph = tendril.generate.rmat(8, 8, symmetrize=True, num_node_types=3)
    walk = tendril.CustomWalk((EXAMPLES / "metapath2vec_walk.hpp").read_text(), schema=[0, 1, 2, 1], size=4)
    walks, lengths = tendril.dynamic_walk(graph, None, 12, walk, seed=3)
    assert lengths.max() == 12
    types = np.where(walks >= 0, graph.node_types[walks], 255)
    expected = np.array([0, 1, 2, 1])[np.arange(13) % 4]
    assert ((types == expected) | (walks < 0))[graph.node_types == 0].all()
    assert (lengths[graph.node_types != 0] == 0).all()


def test_parameters(graph):
    up = tendril.CustomWalk(UPHILL, back=0)
    walks, lengths = tendril.dynamic_walk(graph, None, 10, up, seed=1)
    inside = walks[:, 1:] >= 0
    assert (np.diff(walks)[inside] > 0).all()
    assert lengths.max() > 2
    assert up.name == "uphill"
    assert repr(up) == "CustomWalk(uphill, back=0)"
    both = tendril.CustomWalk(UPHILL, back=np.float32(1))
    assert (np.diff(tendril.dynamic_walk(graph, None, 10, both, seed=1)[0]) < 0).any()
    assert (tendril.CustomWalk(UPHILL, "uphill", back=0).name) == "uphill"


def test_walks_are_cut_anywhere(graph):
    walk = tendril.CustomWalk(UPHILL, back=0.5)
    whole, _ = tendril.dynamic_walk(graph, None, 8, walk, walks_per_vertex=2, seed=5, num_threads=3)
    part, _ = tendril.dynamic_walk(graph, [3, 3], 8, walk, first_walk=6, seed=5)
    assert np.array_equal(whole[6:8], part)
    rows, lengths = tendril.dynamic_walk(graph, None, 8, walk, stop_prob=0.2, seed=5)
    offsets, vertices = tendril.dynamic_walk(graph, None, 8, walk, stop_prob=0.2, seed=5, order="ragged")
    assert np.array_equal(np.diff(offsets), lengths + 1)
    assert np.array_equal(vertices, rows[rows >= 0])
    narrow, _ = tendril.dynamic_walk(graph, [3, 3], 8, walk, first_walk=6, seed=5, dtype=np.int32)
    assert narrow.dtype == np.int32
    assert np.array_equal(narrow, part)
    assert tendril.dynamic_walk(graph, [], 8, walk)[0].shape == (0, 9)


def test_rules(graph):
    bounded = UPHILL.replace("float back;", "float back; float bound(walk_state const&) const { return 1; }")
    walk = tendril.CustomWalk(bounded, back=0.5)
    default = tendril.dynamic_walk(graph, None, 8, walk)[0]
    assert np.array_equal(default, tendril.dynamic_walk(graph, None, 8, walk, rule="reject")[0])
    assert not np.array_equal(default, tendril.dynamic_walk(graph, None, 8, walk, rule="scan")[0])
    with pytest.raises(tendril.ArgumentError, match="rule reject: not for a dynamic walk without bound"):
        tendril.dynamic_walk(graph, None, 8, tendril.CustomWalk(UPHILL), rule="reject")


def message_of(call):
    with pytest.raises(tendril.ArgumentError) as info:
        call()
    return str(info.value)


def test_errors_are_in_the_callers_lines():
    text = message_of(tendril.CustomWalk(UPHILL.replace("back;\n  }", "front;\n  }"), back=1).compile)
    first, rest = text.split("\n", 1)
    assert first.startswith("walk: struct 'uphill' doesn't compile (")
    assert "walk.cpp:6:" in rest
    assert "front" in rest


@pytest.mark.parametrize(
    "source, options, expected",
    [
        (
            "struct w {};",
            {},
            "walk: struct 'w' needs a member 'float weight(walk_state const&, walk_edge const&) const'",
        ),
        (UPHILL, {"name": "fall"}, "walk: the source defines no struct 'fall', expected 'struct fall { … }'"),
        (UPHILL, {"front": 1}, "parameter 'front': struct 'uphill' has no public field of that name"),
        (
            UPHILL.replace("float back", "int back"),
            {"back": 0.5},
            "parameter 'back': a field of integers takes no fractions",
        ),
        (
            UPHILL,
            {"back": [1, 2]},
            "parameter 'back': a parameter with several values needs an array, one with a single value must not have "
            "one",
        ),
        (UPHILL, {"back": "much"}, "parameter 'back' is 'much', expected a number or a sequence of numbers"),
        (UPHILL, {"back": 1 << 70}, f"parameter 'back' is {1 << 70}, expected a number or a sequence of numbers"),
        (
            "int a;",
            {},
            "walk: the source defines 0 structs outside of namespaces, expected one, or its name among several",
        ),
        (b"struct", {}, "source is b'struct', expected a string"),
    ],
)
def test_what_is_refused(source, options, expected):
    assert message_of(lambda: tendril.CustomWalk(source, **options).compile()) == expected


def test_wrong_calls(graph):
    walk = tendril.CustomWalk(UPHILL, back=-1)
    told = message_of(lambda: tendril.dynamic_walk(graph, [0], 8, walk, order="steps"))
    assert told == "order is 'steps', expected 'rows' or 'ragged' for a dynamic walk"
    text = message_of(lambda: tendril.dynamic_walk(graph, [0], 8, "uphill"))
    assert text == "walk is 'uphill', expected a CustomWalk"
    assert "weight: -1 at walk" in message_of(lambda: tendril.dynamic_walk(graph, None, 8, walk))
    assert message_of(lambda: tendril.dynamic_walk(graph, [0], 0, walk)).startswith("length: 0")
    assert message_of(lambda: tendril.dynamic_walk(graph, [60], 8, walk)).startswith("start")
    missing = tendril.CustomWalk(UPHILL, compiler="no-such-compiler")
    with pytest.raises(tendril.IoError, match="there is no program 'no-such-compiler'"):
        missing.compile()


@pytest.mark.skipif(tendril.num_gpus() > 0, reason="there is a GPU")
def test_without_a_gpu(graph):
    with pytest.raises(tendril.DeviceError, match="GPU"):
        tendril.CustomWalk(UPHILL).compile("cuda")
    with pytest.raises(tendril.DeviceError, match="GPU"):
        tendril.dynamic_walk(graph, [0], 8, tendril.CustomWalk(UPHILL), device="cuda")


def test_what_was_compiled_is_found_by_another_process(tmp_path):
    """The compiler of both runs once only, then fails."""
    compiler = tmp_path / "once"
    compiler.write_text(f'#!/bin/sh\n[ -e {tmp_path}/called ] && exit 1\ntouch {tmp_path}/called\nexec c++ "$@"\n')
    compiler.chmod(0o755)
    code = (
        f"import tendril; w = tendril.CustomWalk({UPHILL!r}, back=0, compiler={str(compiler)!r}); "
        "print(tendril.dynamic_walk(tendril.generate.ring(6), [1], 9, w)[1][0])"
    )
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == ("4\n", "")


@pytest.mark.gpu
@pytest.mark.skipif(tendril.num_gpus() == 0, reason="no GPU")
@pytest.mark.parametrize("rule", ["auto", "scan"])
def test_on_a_gpu(rule):
    """metapath2vec from a text is the same walk there; so is one that rejects."""
    graph = tendril.generate.rmat(11, 8, symmetrize=True, weights=(1, 5), num_node_types=3)
    bounded = UPHILL.replace("float back;", "float back; float bound(walk_state const&) const { return 1; }")
    paths = tendril.CustomWalk((EXAMPLES / "metapath2vec_walk.hpp").read_text(), schema=[0, 1, 2, 1], size=4)
    for walk in (tendril.CustomWalk(bounded, back=0.25), paths):
        here = tendril.dynamic_walk(graph, None, 20, walk, rule=rule, restart_prob=0.1, seed=2)
        there = tendril.dynamic_walk(graph, None, 20, walk, rule=rule, restart_prob=0.1, seed=2, device="cuda")
        assert np.array_equal(here[0], there[0].numpy())
        assert np.array_equal(here[1], there[1].numpy())


@pytest.mark.gpu
@pytest.mark.skipif(tendril.num_gpus() == 0, reason="no GPU")
def test_errors_on_a_gpu():
    graph = tendril.generate.ring(6)
    broken = tendril.CustomWalk(UPHILL.replace("back;\n  }", "front;\n  }"), back=1)
    text = message_of(lambda: tendril.dynamic_walk(graph, [0], 8, broken, device="cuda"))
    assert text.startswith("walk: struct 'uphill' doesn't compile (NVRTC")
    assert "walk.cpp(6)" in text
    negative = tendril.CustomWalk(UPHILL, back=-1)
    assert "weight: -1 at walk" in message_of(lambda: tendril.dynamic_walk(graph, [0], 8, negative, device="cuda"))
    walk = tendril.CustomWalk(UPHILL, back=0)
    assert tendril.dynamic_walk(graph, [1, 3], 9, walk, device="cuda")[1].numpy().tolist() == [4, 2]
