"""Whatever is passed for whichever parameter: a result, or one line that names the parameter."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import calls
import tendril

VALUES = {
    "None": None,
    "object": object(),
    "minus one": -1,
    "2**63": 2**63,
    "nan": float("nan"),
    "string": "x",
    "bytes": b"x",
    "empty array": np.empty(0),
    "floats": np.array([0.5, 1.5]),
    "strided": np.arange(12)[::-2],
    "two dimensions": np.zeros((2, 2), np.int64),
    "five dimensions": np.zeros((1,) * 5, np.int64),
    "structured": np.zeros(2, [("a", int)]),
    "objects": np.array([object(), None]),
    "dict": {"a": 5},
    "list of None": [None],
    "nested": [[0], [1, 2]],
    "big ints": [2**70],
    "class": int,
    "complex": 1j,
}


@pytest.fixture(scope="module")
def every(graph, tmp_path_factory):
    return calls.every(graph, tmp_path_factory.mktemp("files"))


# What makes a call only reports, or is made by the library alone.
NOT_CALLED = {
    "gpu_info", "num_gpus", "GpuInfo", "Plan", "Block", "KHop", "LaborBatch", "LaborHop", "Layer", "LayerSamples", "LoaderCache", "LoaderStats",
    "Minibatch", "MultidimWalks", "MvsBatch", "MvsBatches", "NeighborSample", "PassBatch", "PipelineBatch", "SaintCoefficients", "SampledEdges", "SampledStep", "Samples",
    "Subgraph", "Subgraphs",
}  # fmt: skip


def test_every_public_function_is_called(every):
    public = [name for name in tendril.__all__ if callable(getattr(tendril, name))]
    errors = {name for name in public if inspect.isclass(getattr(tendril, name)) and issubclass(getattr(tendril, name), Exception)}
    assert {*public} - errors - NOT_CALLED - {*every} == set()
    assert {f"generate.{name}" for name in tendril.generate.__all__} <= {*every}


def test_the_calls_are_valid(every):
    for name, (function, arguments) in every.items():
        if name != "DeviceArray":
            function(**arguments)


def parameters_of(function):
    """The parameters, and those that go through **keywords."""
    parameters = inspect.signature(function).parameters.values()
    named = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return [*named, *getattr(inspect.unwrap(function), "_also", ())]


# Where a value contradicts another parameter, the message may tell that one, or the element that is wrong.
OTHERS = {
    ("segment_multinomial", "scores"): ("offsets: ",),
    ("fastgcn_sample", "seeds"): ("batch_size: 0",),
    ("ladies_sample", "seeds"): ("batch_size: 0",),
    ("HGTSampler.sample_batches", "seeds"): ("seed 0: vertex 11",),
    ("Graph.from_coo", "node_types"): ("num_vertices",),
    ("Graph.from_edge_index", "node_types"): ("num_vertices",),
    ("induced_subgraphs", "nodes"): ("vertex 0 occurs more than once",),
    ("cluster_subgraphs", "lists"): ("vertex 0 occurs more than once", "cluster 11 is out of range"),
    ("cluster_subgraphs", "offsets"): ("lists has shape (1, 2), expected one dimension",),
    ("pass_sample", "score"): ("int() can't convert",),  # what the caller's own function says
    ("gather", "table"): ("ids[0] is 2, expected 0 to",),
    ("Graph", "core"): ("Graph(",),
    ("Clusters", "core"): ("Clusters(",),
    ("Graph.save", "path"): ("x: the extension names no format",),
    ("convert", "output"): ("x: expected a .safetensors file",),
}


def problem_of(function, arguments, parameter, value, name):
    """What is wrong with the way in which a call takes a value; None if nothing is."""
    try:
        function(**{**arguments, parameter: value})
    except (tendril.ArgumentError, tendril.FormatError, tendril.IoError, TypeError, ValueError) as error:
        text = str(error)
        if "\n" in text:
            return f"several lines: {text!r}"
        if "incompatible function arguments" in text or "tendril._tendril" in text:
            return f"names of the compiled half: {text}"
        if isinstance(error, (tendril.FormatError, tendril.IoError)):
            return None  # about the content of an array or a file
        if parameter not in text and not any(other in text for other in OTHERS.get((name, parameter), ())):
            return f"the parameter isn't named: {text}"
    except (tendril.OutOfMemoryError, tendril.DeviceError):
        pass
    except Exception as error:  # noqa: BLE001: any other exception is what the test looks for
        return f"{type(error).__name__}: {error}"
    return None


@pytest.mark.parametrize("what", [pytest.param(value, id=name) for name, value in VALUES.items()])
def test_every_parameter_takes_a_value_or_tells_one_line(every, what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where a file named "x" may appear
    problems = {
        f"{name}({parameter}=)": problem
        for name, (function, arguments) in every.items()
        for parameter in parameters_of(function)
        if (problem := problem_of(function, arguments, parameter, what, name)) is not None
    }
    assert problems == {}


def test_a_misspelt_keyword_brings_the_nearest_name(every):
    asked = 0
    for name, (function, arguments) in every.items():
        if name in ("CustomWalk", "Application"):  # any other keyword is a field of the struct
            continue
        known = parameters_of(function)
        for parameter in (one for one in known if len(one) >= 6):
            wrong = parameter[:-1] + "_"
            kept = {key: value for key, value in arguments.items() if key != parameter}
            with pytest.raises(TypeError, match=f"unexpected keyword argument '{wrong}'. Did you mean '{parameter}'?"):
                function(**kept, **{wrong: 1})
            asked += 1
    assert asked > 300


def test_arguments_of_an_application_by_name_are_checked_too(graph):
    with pytest.raises(TypeError, match="unexpected keyword argument 'lenght'. Did you mean 'length'?"):
        tendril.sample(graph, app="node2vec", lenght=5)
    with pytest.raises(TypeError, match="'stop_porb'. Did you mean 'stop_prob'?"):
        tendril.sample(graph, app="ppr", stop_porb=0.5)


def test_keywords_of_building_steps_are_checked_where_they_are_passed_on():
    with pytest.raises(TypeError, match=r"Graph.from_edge_index\(\) .* 'symetrize'. Did you mean 'symmetrize'?"):
        tendril.Graph.from_edge_index([[0], [1]], symetrize=True)
    with pytest.raises(TypeError, match=r"generate.rmat\(\) .* 'drop_duplicate'. Did you mean 'drop_duplicates'?"):
        tendril.generate.rmat(4, drop_duplicate=True)


def test_earlier_names_of_keywords_are_taken_with_a_warning(graph):
    with pytest.warns(DeprecationWarning, match="metapath_walk: 'by' is now called 'metapath_of'"):
        walks, _ = tendril.metapath_walk(graph, [0], [1, 0], by="vertices")
    assert (walks == tendril.metapath_walk(graph, [0], [1, 0], metapath_of="vertices")[0]).all()
    with pytest.raises(TypeError, match="'metapath_of' and its earlier name 'by'"):
        tendril.metapath_walk(graph, [0], [1, 0], by="vertices", metapath_of="vertices")


ONE_LINE = [
    (lambda g: tendril.random_walk(g, walks_per_vertex=2**60), "out of memory: "),
    (lambda g: tendril.Graph(5), "Graph(5): expected one of Graph.from_coo"),
    (lambda g: tendril.metapath_walk(g, [0], None), "metapath is None, expected a sequence of edge labels"),
    (
        lambda g: tendril.Graph.from_coo([0], [1], metadata={"a": 5}),
        "metadata['a'] is 5, expected a string",
    ),
    (lambda g: tendril.read_graph(b"x.txt"), "path is b'x.txt', expected a path as a string"),
    (lambda g: tendril.generate.ring(-1), "num_vertices is -1, expected 0 to 4294967295"),
    (lambda g: tendril.generate.rmat(40), "scale is 40, expected 1 to 31"),
    (lambda g: tendril.Graph.from_coo([0, 1], [1]), "1 targets, expected as many as sources, 2"),
]


@pytest.mark.parametrize(("call", "text"), ONE_LINE, ids=[text for _, text in ONE_LINE])
def test_one_line_says_it_in_the_callers_words(graph, call, text):
    with pytest.raises(tendril.TendrilError) as error:
        call(graph)
    assert str(error.value).startswith(text)
    assert "\n" not in str(error.value)
