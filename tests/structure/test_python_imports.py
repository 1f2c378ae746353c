"""Modules of the Python package import each other without circles, and a planted circle is found."""

from pathlib import Path

import pytest
from python_rules import import_circles, import_graph

ROOT = Path(__file__).resolve().parents[2]


def plant(root, files):
    for name, text in files.items():
        path = root / "python" / "tendril" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return import_circles(root)


def test_repository_has_no_circle():
    assert import_circles(ROOT) == []


def test_imports_of_the_repository_are_read():
    graph = import_graph(ROOT)
    assert len(graph) > 30
    assert ("tendril", "_gpu") in graph["tendril", "_graph"]
    assert ("tendril", "_graph") in graph["tendril", "_walks"]  # for type checkers alone
    assert ("tendril", "pyg", "_edges") in graph["tendril", "pyg", "_sampler"]
    assert ("tendril", "_minibatch") in graph["tendril", "pyg", "_sampler"]
    assert ("tendril", "_graph") in graph[("tendril",)]


FOR_TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    {}\n"


@pytest.mark.parametrize(
    "back",
    [
        "from . import _a",
        "from ._a import A",
        "from tendril._a import A",
        "import tendril._a",
        "def f():\n    from ._a import A",
        FOR_TYPES.format("from ._a import A"),
    ],
)
def test_planted_circle_is_found(tmp_path, back):
    found = plant(tmp_path, {"__init__.py": "", "_a.py": "from . import _b\n", "_b.py": back + "\n"})
    assert found == ["python/tendril: modules import each other in a circle: tendril._a -> tendril._b -> tendril._a"]


def test_planted_longer_circle_is_found_once(tmp_path):
    files = {
        "_a.py": "from ._b import b",
        "_b.py": "from .pyg import _c",
        "pyg/_c.py": FOR_TYPES.format("from tendril._a import a"),
        "_d.py": "from ._a import a",
    }
    assert len(plant(tmp_path, files)) == 1


def test_planted_circle_through_a_package_is_found(tmp_path):
    files = {"__init__.py": "from ._a import A\n", "_a.py": "from . import __version__\n"}
    assert len(plant(tmp_path, files)) == 1


@pytest.mark.parametrize("text", ["import numpy", "from . import _tendril", "from ._c import c", "from .pyg._e import e"])
def test_imports_without_a_circle_are_allowed(tmp_path, text):
    files = {
        "__init__.py": "from ._a import A",
        "_a.py": text,
        "_tendril.pyi": "",
        "_c.py": "",
        "pyg/__init__.py": "from ._e import e",
        "pyg/_e.py": "from tendril import _c",
    }
    assert plant(tmp_path, files) == []
