"""What the tests share: small graphs, and graphs as plain Python sees them."""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import tendril

sys.path.insert(0, str(Path(__file__).parent))  # digests.py, pyg_checks.py


@pytest.fixture(autouse=True)
def _names(doctest_namespace):
    doctest_namespace["tendril"] = tendril


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    """What the tests compile goes into a cache of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def edges():
    """500 random edges over 60 vertices of which the last ten have no out-edge, with duplicates and self loops."""
    rng = np.random.default_rng(7)
    source = rng.integers(0, 50, 500)
    target = rng.integers(0, 60, 500)
    return source, target


@pytest.fixture(scope="session")
def graph(edges):
    """Those edges with weights, labels and vertex types."""
    rng = np.random.default_rng(8)
    return tendril.Graph.from_coo(
        *edges,
        num_vertices=60,
        weights=rng.uniform(1, 5, 500),
        labels=rng.integers(0, 3, 500),
        node_types=rng.integers(0, 2, 60),
        edge_label_names=["cites", "likes", "knows"],
        node_type_names=["author", "paper"],
        keep_edge_ids=True,
    )


@pytest.fixture(scope="session")
def karate():
    networkx = pytest.importorskip("networkx")
    return tendril.Graph.from_networkx(networkx.karate_club_graph())


@pytest.fixture(scope="session")
def pages():
    """docs/python.md in two: what runs anywhere, and its section on GPUs."""
    text = (Path(__file__).parents[2] / "docs" / "python.md").read_text()
    section = re.search(r"^## On a GPU\n.*?(?=^## )", text, re.MULTILINE | re.DOTALL)
    return text.replace(section[0], ""), section[0]


@pytest.fixture
def torch_on_gpu():
    """Torch, where there is a GPU."""
    if tendril.num_gpus() == 0:
        pytest.skip("no GPU")
    return pytest.importorskip("torch")


@pytest.fixture
def examples_for_gpus(pages):
    return doctest.DocTestParser().get_doctest(pages[1], {"tendril": tendril, "np": np}, "on a GPU", "python.md", 0)


class PageLocked:
    """Host memory as Torch shows it once it is page-locked: to DLPack another device, where NumPy sees memory."""

    def __init__(self, array):
        self.array, self.dtype, self.device = array, array.dtype, "cpu"

    def __dlpack_device__(self):
        return (3, 0)

    def __dlpack__(self, **_):
        raise BufferError("not CPU memory")

    def numpy(self):
        return self.array


@pytest.fixture
def page_locked():
    return PageLocked
