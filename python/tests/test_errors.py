"""Bad arguments get one clear line, as an exception that is a built-in kind too."""

from __future__ import annotations

import numpy as np
import pytest

import tendril


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (tendril.ArgumentError, ValueError),
        (tendril.FormatError, ValueError),
        (tendril.IoError, OSError),
        (tendril.OutOfMemoryError, MemoryError),
    ],
)
def test_errors_are_built_in_kinds_too(kind, builtin):
    assert issubclass(kind, tendril.TendrilError)
    assert issubclass(kind, builtin)
    assert kind.__module__ == "tendril"
    with pytest.raises(builtin, match="^one line$"):
        raise kind("one line")


def coo(*arguments, **keywords):
    return lambda graph: tendril.Graph.from_coo(*arguments, **keywords)


INTEGER = "expected an integer that fits the parameter"
ARGUMENTS = [
    (coo([0, -3], [1, 1]), "source[1] is -3, expected a vertex id in [0, 4294967294]"),
    (coo([0], [2**32 - 1]), "target[0] is 4294967295, expected a vertex id in [0, 4294967294]"),
    (coo([0], np.array([-1], np.int32)), "target[0] is -1, expected a vertex id in [0, 4294967294]"),
    (coo([0.5], [1]), "source has dtype float64, expected integers"),
    (coo([True], [1]), "source has dtype bool, expected integers"),
    (coo([[0]], [1]), "source has shape (1, 1), expected one dimension"),
    (coo([0], [1], weights=["x"]), "weights has dtype <U1, expected numbers"),
    (coo([0], [1], labels=[65536]), "labels[0] is 65536, expected an integer in [0, 65535]"),
    (coo([0], [1], labels=[-1]), "labels[0] is -1, expected an integer in [0, 65535]"),
    (coo([0], [1], num_threads=-2), "num_threads is -2, expected 0 (every core) or more"),
    (coo([0], [1], num_threads="all"), "num_threads is 'all', expected an integer"),
    (coo([0], [1], num_vertices=-5), "num_vertices is -5, expected 0 or more"),
    (coo([0], [1], symmetrize="yes"), "symmetrize is 'yes', expected True or False"),
    (
        lambda graph: tendril.Graph.from_edge_index([[0, 1, 2]]),
        "edge_index has shape (1, 3), expected (2, number of edges)",
    ),
    (lambda graph: tendril.random_walk(graph, length="80"), f"length is '80', {INTEGER}"),
    (lambda graph: tendril.random_walk(graph, length=8.0), f"length is 8.0, {INTEGER}"),
    (lambda graph: tendril.random_walk(graph, seed=-1), f"seed is -1, {INTEGER}"),
    (lambda graph: tendril.random_walk(graph, seed=2**64), f"seed is {2**64}, {INTEGER}"),
    (lambda graph: tendril.random_walk(graph, stop_prob=None), "stop_prob is None, expected a number"),
    (lambda graph: tendril.random_walk(graph, dead_end="fly"), "walk: dead_end is 'fly', expected 'stop' or 'repeat'"),
    (lambda graph: tendril.random_walk(graph, dtype="int16"), "dtype is 'int16', expected int64 or int32"),
    (lambda graph: tendril.random_walk(graph, dtype="nonsense"), "dtype is 'nonsense', expected int64 or int32"),
    (lambda graph: tendril.random_walk(graph, walks_per_vertex=-1), "walks_per_vertex is -1, expected 0 or more"),
    (
        lambda graph: tendril.random_walk(graph, first_walk=2**63),
        f"first_walk is {2**63}, expected an integer of 64 bits",
    ),
    (lambda graph: tendril.metapath_walk(graph, [0], [0], metapath_of="hop"), "metapath_of is 'hop', expected 'edges' or 'vertices'"),
    (
        lambda graph: tendril.metapath_walk(graph, [0], []),
        "metapath is [], expected a sequence of edge labels, one at least",
    ),
    (
        lambda graph: tendril.metapath_walk(graph, [0], ["hates"]),
        "metapath[0] is 'hates', but the edge labels of the graph are cites, likes, knows",
    ),
    (
        lambda graph: tendril.metapath_walk(graph, [0], [0, -1]),
        "metapath[1] is -1, expected a name or an integer in [0, 65535]",
    ),
    (lambda graph: tendril.khop_sample(graph, [0], 5), "fanouts is 5, expected a sequence of integers"),
    (lambda graph: tendril.khop_sample(graph, [0], [5, "x"]), "fanouts[1] is 'x', expected an integer"),
    (
        lambda graph: tendril.neighbor_sample(graph, [0], [1], subgraph_type="all"),
        "neighbor_sample: subgraph_type is 'all', expected 'directional', 'bidirectional' or 'induced'",
    ),
    (lambda graph: tendril.generate.er(10, 10, weights=3), "weights is 3, expected two numbers (min, max)"),
]


@pytest.mark.parametrize(("call", "message"), ARGUMENTS, ids=[message.split(",")[0] for _, message in ARGUMENTS])
def test_the_packages_own_messages(graph, call, message):
    with pytest.raises(tendril.ArgumentError) as info:
        call(graph)
    assert str(info.value) == message


# What the library refuses: its messages are tested there; here, that they arrive, in one line, naming the value.
LIBRARY = [
    (coo([0, 1], [1]), tendril.ArgumentError, "1"),
    (coo([0], [7], num_vertices=5), tendril.ArgumentError, "7"),
    (coo([0], [1], weights=[np.nan]), tendril.FormatError, "nan"),
    (coo([0], [1], weights=[-1.0]), tendril.FormatError, "-1"),
    (coo([0], [1], weights=[1e300]), tendril.FormatError, "inf"),
    (coo([0], [1], node_types=[1] * 3, num_vertices=2), tendril.ArgumentError, "node_types"),
    (lambda g: tendril.Graph.from_csr([0, 2, 2], [1, 0]), tendril.FormatError, "ascending"),
    (lambda g: tendril.Graph.from_csr([0, 1], [7]), tendril.FormatError, "7"),
    (lambda g: tendril.Graph.from_csr([0, 2, 1], [0]), tendril.FormatError, ""),
    (lambda g: tendril.Graph.from_csr([], []), tendril.ArgumentError, "indptr"),
    (lambda g: tendril.random_walk(g, [60]), tendril.ArgumentError, "60"),
    (lambda g: tendril.random_walk(g, length=0), tendril.ArgumentError, "0"),
    (lambda g: tendril.random_walk(g, length=2**31), tendril.ArgumentError, "2147483648"),
    (lambda g: tendril.random_walk(g, stop_prob=1.5), tendril.ArgumentError, "1.5"),
    (lambda g: tendril.random_walk(g, rule="magic"), tendril.ArgumentError, "magic"),
    (lambda g: tendril.node2vec_walk(g, p=0), tendril.ArgumentError, "0"),
    (lambda g: tendril.node2vec_walk(g, q=float("nan")), tendril.ArgumentError, "nan"),
    (lambda g: tendril.metapath_walk(g, [0], [9]), tendril.ArgumentError, "9"),
    (lambda g: tendril.khop_sample(g, [0], [0]), tendril.ArgumentError, "0"),
    (lambda g: tendril.khop_sample(g, [0], [-2]), tendril.ArgumentError, "-2"),
    (lambda g: tendril.khop_sample(g, [0], []), tendril.ArgumentError, "fanouts"),
    (lambda g: tendril.neighbor_sample(g, [99], [1]), tendril.ArgumentError, "99"),
    (lambda g: tendril.generate.rmat(99), tendril.ArgumentError, "99"),
    (lambda g: tendril.random_walk(tendril.generate.ring(5), weighted=True), tendril.ArgumentError, "weights"),
    (lambda g: tendril.metapath_walk(tendril.generate.ring(5), [0], [0]), tendril.ArgumentError, "label"),
]


@pytest.mark.parametrize(("call", "kind", "part"), LIBRARY)
def test_the_librarys_messages_arrive(graph, call, kind, part):
    with pytest.raises(kind) as info:
        call(graph)
    assert part in str(info.value)
    assert "\n" not in str(info.value)


def test_results_that_fit_no_memory(graph):
    with pytest.raises(tendril.OutOfMemoryError) as info:
        tendril.random_walk(graph, length=2**31 - 2, walks_per_vertex=2**12)
    assert "\n" not in str(info.value)


@pytest.mark.parametrize("number", [2**60, 2**62, 2**63 - 1])
def test_more_starts_than_any_memory_holds(graph, number):
    """NumPy alone crashes where the product wraps around, and else says "array is too big" or "Unable to allocate"."""
    for starts, count in ((None, graph.num_vertices), ([0, 1], 2)):
        with pytest.raises(tendril.OutOfMemoryError) as info:
            tendril.random_walk(graph, starts, walks_per_vertex=number)
        assert str(info.value) == f"out of memory: starts: {count} elements, each {number} times"


def test_an_array_that_is_larger_than_any_memory(graph):
    """Arrays of NumPy can be repeated without memory; a copy of such a one can't be had."""
    endless = np.broadcast_to(np.int64(0), (2**58,))
    with pytest.raises(tendril.OutOfMemoryError) as info:
        tendril.random_walk(graph, endless)
    assert str(info.value) == f"out of memory: a copy of {2**58} elements as int64"


def test_unknown_keywords_are_type_errors():
    with pytest.raises(TypeError, match="symetrize"):
        tendril.Graph.from_coo([0], [1], symetrize=True)
    with pytest.raises(TypeError, match="wheights"):
        tendril.generate.ring(5, wheights=(1, 2))
