"""Files of graphs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from . import _tendril
from ._graph import Graph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Unpack

    from ._params import BuildKeywords


def read_graph(
    path: str | os.PathLike[str],
    *,
    format: str = "auto",
    columns: Sequence[str] = (),
    num_threads: int = 0,
    **build: Unpack[BuildKeywords],
) -> Graph:
    """Read a graph from a file. The parameters are those of `Graph.load`."""
    return Graph.load(path, format=format, columns=columns, num_threads=num_threads, **build)


def detect_format(path: str | os.PathLike[str]) -> str:
    """Detect the format of a graph file from its content and name.

    Raises
    ------
    IoError
        If the file can't be read.
    FormatError
        If no format fits.
    """
    return _tendril.detect_graph_format(os.fspath(path))
