"""What the tests of the command line share."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from tendril_command import Tendril  # noqa: E402 (the module lies beside this one)


@pytest.fixture
def tendril(tmp_path):
    return Tendril(tmp_path)


@pytest.fixture(scope="session")
def graphs(tmp_path_factory):
    """Small graphs that several tests read, made once: paths by name."""
    command = Tendril(tmp_path_factory.mktemp("graphs"))
    command(
        "generate",
        "rmat",
        "skewed.safetensors",
        "--scale",
        10,
        "--edge-factor",
        8,
        "--drop-duplicates",
        "--weights",
        "1,5",
        "--num-labels",
        3,
        "--num-node-types",
        2,
        "--seed",
        1,
    )
    command("generate", "star", "star.npz", "--vertices", 50)
    command.path("line.txt").write_text("0 1\n1 2\n2 3\n")
    command.path("empty.txt").write_text("# a graph without edges\n")
    return {name: command.path(name) for name in ("skewed.safetensors", "star.npz", "line.txt", "empty.txt")}
