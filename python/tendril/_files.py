"""Files of graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _tendril
from ._calls import accepts
from ._errors import ArgumentError
from ._graph import Graph
from ._params import BUILDING, build_options, file_name, flag, integer, string, strings, threads

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from typing_extensions import Unpack

    from ._params import BuildKeywords


@accepts(also=BUILDING)
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


@accepts(also=BUILDING)
def convert(
    input: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    form: str | None = None,
    memory: int = 1 << 30,
    restart: bool = False,
    format: str = "auto",
    columns: Sequence[str] = (),
    num_threads: int = 0,
    **build: Unpack[BuildKeywords],
) -> Graph:
    """Convert a graph file of any size to a native file, in bounded memory.

    The output has the bytes that `Graph.load`, `Graph.compress` and `Graph.save` give. Temporary files lie in the folder
    OUTPUT.unfinished. If the call ends early (Ctrl-C, a kill, a full disk), the same call goes on behind what is complete;
    other options or a changed input begin anew.

    Parameters
    ----------
    input : path
        An edge list, a Matrix Market, WebGraph or native file.
    output : path
        A .safetensors file.
    form : str, optional
        Of the neighbours, as for `Graph.compress`. Default: as in the input, "csr" where a keyword of `build` is given.
    memory : int
        Bytes that arrays may take, at least 2**20; mapped files and the program itself come on top.
    restart : bool
        Begin anew, whatever an earlier call left behind.
    format, columns, num_threads, **build
        As for `Graph.load`.

    Returns
    -------
    Graph
        The output, opened.

    Raises
    ------
    ArgumentError
        If a format can't be converted in bounded memory, or a part of the job doesn't fit into `memory`.
    IoError
        If a file can't be read or written. What is complete stays for the next call.
    FormatError
        If the input is malformed: "file:line: what, expected what".
    """
    _tendril.convert_graph(
        file_name(input, "input"),
        file_name(output, "output"),
        None if form is None else string(form, "form"),
        integer(memory, "memory"),
        flag(restart, "restart"),
        string(format, "format"),
        strings(columns, "columns"),
        build_options(**build),
        threads(num_threads),
    )
    return Graph.load(output)


def detect_format(path: str | os.PathLike[str]) -> str:
    """Detect the format of a graph file from its content and name.

    Raises
    ------
    IoError
        If the file can't be read.
    FormatError
        If no format fits.
    """
    return _tendril.detect_graph_format(file_name(path, "path"))


def partition(
    graph: Graph,
    folder: str | os.PathLike[str],
    num_parts: int,
    *,
    method: str = "degree",
    form: str | None = None,
    num_threads: int = 0,
) -> None:
    """Cut a graph into parts for several processes, and write a folder with a file for each part.

    Parameters
    ----------
    graph : Graph
        In host memory. One that is mapped from a native file in CSR form may be larger than memory.
    folder : path
        A new or an empty folder. It appears when it is complete.
    num_parts : int
        From 1 to 1,024. If there are more parts than vertices, some are empty.
    method : str
        "range" (equal numbers of vertices), "degree" (equal numbers of edges, as far as ranges of vertices allow) or
        "metis" (few edges between the parts). "metis" gives the vertices other numbers, and needs libmetis.
    form : str, optional
        Of the parts' neighbours, as for `Graph.compress`: "csr", "packed", "runs", "ef", "vbyte" or "auto". None: as in the
        graph. Samples don't depend on it.
    num_threads : int
        0: every core. Never changes the files.

    Raises
    ------
    ArgumentError
        If an argument is out of range, or the folder is not empty.
    IoError
        If the folder can't be written, or libmetis can't be loaded.
    """
    if not isinstance(graph, Graph):
        raise ArgumentError(f"graph is a {type(graph).__name__}, expected a Graph")
    _tendril.partition_graph(
        graph._core,
        file_name(folder, "folder"),
        integer(num_parts, "num_parts"),
        string(method, "method"),
        None if form is None else string(form, "form"),
        threads(num_threads),
    )


@accepts(also=BUILDING)
def read_partition(folder: str | os.PathLike[str], *, num_threads: int = 0, **build: Unpack[BuildKeywords]) -> Graph:
    """Read the folder that `partition` wrote as the whole graph, into memory.

    With "range" and "degree" it is the graph that was cut, in the form of the parts. With "metis" it is the renumbered graph, whose
    `original_ids` tell the old numbers.

    Parameters
    ----------
    folder : path
    num_threads : int
        0: every core.
    **build
        As for `Graph.load`.

    Returns
    -------
    Graph

    Raises
    ------
    IoError
        If a file can't be read.
    FormatError
        If a file is malformed, or belongs to another graph: "file: what, expected what".
    """
    return Graph(_tendril.read_partition(file_name(folder, "folder"), build_options(**build), threads(num_threads)))
