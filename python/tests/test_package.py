"""The package itself: its stub, its types, its examples, what it leaves behind and what it never does."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import tendril
from tendril import _cpu

INSTALLED = Path(tendril.__file__).parent


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)


def test_the_stub_says_what_the_extension_has(tmp_path):
    """_tendril.pyi is both shipped and golden: python -m nanobind.stubgen -m tendril._tendril writes it anew."""
    pytest.importorskip("nanobind")
    out = tmp_path / "_tendril.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "tendril._tendril", "-o", str(out)]
    subprocess.run(command, check=True, timeout=60)
    assert out.read_text() == (INSTALLED / "_tendril.pyi").read_text()
    assert (INSTALLED / "py.typed").exists()


def test_types_are_strict(tmp_path):
    pytest.importorskip("mypy")
    config = Path(__file__).parents[2] / "pyproject.toml"
    command = [sys.executable, "-m", "mypy", "--config-file", str(config), "-p", "tendril"]
    result = subprocess.run(
        [*command, "--cache-dir", str(tmp_path)], capture_output=True, text=True, check=False, timeout=300
    )
    assert result.returncode == 0, result.stdout


USES_EVERYTHING = """
import numpy as np, tendril
graph = tendril.generate.rmat(8, 8, symmetrize=True, weights=(1, 5), num_labels=2)
held = graph.indices
tendril.random_walk(graph, length=5, weighted=True)
tendril.khop_sample(graph, [1, 2], [3, -1], return_edges=True)
tendril.neighbor_sample(graph, [1, 2], [3, 2], disjoint=True)
sampler = tendril.MinibatchSampler(graph, [3, 2], frontier="all")
block = sampler.sample_batches([1, 2, 3], 2)[0].blocks()[1]
library = tendril.HeteroGraph({"a": 2}, {("a", "to", "a"): ([0], [1])}, edge_times={("a", "to", "a"): [5]})
tendril.MinibatchSampler(library, [2], disjoint=True).sample({"a": [0, 1]}, times={"a": [4, 6]})
tendril.plan_walk(graph)
layer = tendril.ladies_sample(graph, [[1, 2], [3, 4]], 2, 8, return_edges=True).layer(0, 1)
tendril.mvs_sample(graph, [1.0] * 256, 3, 9).batch(2)
tendril.layer_sample(graph, [1, 2], 3, 5)
tendril.labor_sample(graph, [1, 2], [3, -1])
samples = tendril.shadow_sample(graph, [1, 2])
part = samples.sample(1).edge_index
clusters = tendril.group_clusters(graph, tendril.cluster_vertices(graph, 5))
tendril.sample(graph, "cluster", clusters, 2)
tendril.saint_coefficients(graph, 4, budget=20)
shared = tendril.Graph.from_csr(graph.indptr, held, weights=graph.weights)
try:
    tendril.random_walk(graph, [10**6])
except tendril.ArgumentError as error:
    kept = error
"""


def test_nothing_leaks():
    """nanobind reports at exit what is still alive; a planted leak shows that it would."""
    clean = run(USES_EVERYTHING)
    assert clean.returncode == 0, clean.stderr
    assert clean.stderr == ""
    planted = run(USES_EVERYTHING + "import ctypes; ctypes.pythonapi.Py_IncRef(ctypes.py_object(graph._core))")
    assert "leak" in planted.stderr


def test_references_are_given_back(graph):
    core = graph._core
    before = sys.getrefcount(core), sys.getrefcount(tendril.ArgumentError)
    for _ in range(100):
        tendril.random_walk(graph, [0], length=2)
        tendril.khop_sample(graph, [0], [2])
        tendril.ladies_sample(graph, [0], 1, 2).layer(0)
        tendril.saint_walk_sample(graph, 2, 3).sample(1)
        with pytest.raises(tendril.ArgumentError):
            tendril.random_walk(graph, [1000])
    after = sys.getrefcount(core), sys.getrefcount(tendril.ArgumentError)
    assert all(b - a < 10 for a, b in zip(before, after, strict=True))


def test_torch_is_never_imported():
    result = run(USES_EVERYTHING + "import sys; print('torch' in sys.modules, 'scipy' in sys.modules)")
    assert result.stdout == "False False\n"


def test_examples_in_docstrings():
    tried = 0
    names = [found.name for found in pkgutil.iter_modules([str(INSTALLED)]) if found.name != "pyg"]  # that needs Torch
    for module in [tendril, *(importlib.import_module(f"tendril.{name}") for name in names)]:
        result = doctest.testmod(module, extraglobs={"tendril": tendril})
        assert result.failed == 0
        tried += result.attempted
    assert tried >= 10


def test_examples_in_the_page(pages, tmp_path, monkeypatch):
    pytest.importorskip("scipy")
    monkeypatch.chdir(tmp_path)
    result = doctest.DocTestRunner().run(doctest.DocTestParser().get_doctest(pages[0], {}, "page", "python.md", 0))
    assert result.failed == 0
    assert result.attempted >= 20


def test_everything_public_is_documented():
    names = [name for name in tendril.__all__ if not name.startswith("_")]
    members = [getattr(tendril, name) for name in names]
    for kind in (tendril.Graph, tendril.HeteroGraph, tendril.MinibatchSampler):
        members += [m for n, m in vars(kind).items() if not n.startswith("_")]
    members += [getattr(tendril.generate, name) for name in tendril.generate.__all__]
    assert all(member.__doc__ for member in members)


def test_version_is_the_projects():
    assert tendril.__version__[0].isdigit()


FLAGS = "flags\t\t: fpu sse2 cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3 abm avx avx2 bmi1 bmi2 f16c fma movbe\n"


def test_processors_that_lack_what_the_build_needs(monkeypatch):
    assert _cpu.missing_features("x86-64-v3", "processor : 0\n" + FLAGS) == []
    old = FLAGS.replace("avx2 ", "").replace("fma ", "")
    assert _cpu.missing_features("x86-64-v3", old) == ["avx2", "fma"]
    assert _cpu.missing_features("x86-64-v2", old) == []
    assert _cpu.missing_features("native", old) == []
    assert _cpu.missing_features("x86-64-v3", "Features : asimd\n") == []
    monkeypatch.setattr(_cpu.platform, "system", lambda: "Linux")
    monkeypatch.setattr(_cpu.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(_cpu.Path, "read_text", lambda self: old)
    with pytest.raises(ImportError) as info:
        _cpu.check("x86-64-v3")
    assert str(info.value) == (
        "tendril was compiled for x86-64-v3 processors and this one lacks avx2, fma: "
        "build it from source with TENDRIL_MARCH=x86-64"
    )
