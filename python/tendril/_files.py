"""Files of graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _tendril
from ._calls import accepts
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
