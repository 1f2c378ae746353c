"""A graph whose parts lie with the ranks."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .. import _arrays, _tendril
from .._errors import ArgumentError
from .._graph import Graph as WholeGraph
from .._params import file_name, integer, string, threads
from ._ranks import Ranks

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray


class Graph:
    """A graph in parts, one with each rank: the edges that leave a range of vertices.

    ``Graph(ranks, folder)`` maps this rank's part of a folder that `tendril.partition` wrote, with as many parts as there are
    ranks; no rank reads another part. `cut` takes the part out of a graph that each rank has, for tests and for what fits.
    Vertices have the numbers of the whole graph; with the method "metis" those of the renumbered one (`original_ids`).

    Parameters
    ----------
    ranks : Ranks
    folder : path
    num_threads : int
        0: every core the process may use.

    Raises
    ------
    ArgumentError
        If there are more or fewer parts than ranks.
    IoError, FormatError
        If a file can't be read, or is malformed.
    """

    def __init__(self, ranks: Ranks, folder: str | os.PathLike[str], *, num_threads: int = 0) -> None:
        _expect_ranks(ranks)
        core = _tendril.GraphPart.read(file_name(folder, "folder"), ranks.rank, threads(num_threads))
        self._take(ranks, core)

    @classmethod
    def cut(cls, ranks: Ranks, graph: WholeGraph, *, method: str = "degree", num_threads: int = 0) -> Graph:
        """This rank's part of a graph that every rank has in host memory, in the form of that graph.

        Parameters
        ----------
        ranks : Ranks
        graph : tendril.Graph
            The same on all ranks.
        method : str
            "range", "degree" or "metis", as for `tendril.partition`.
        num_threads : int
            0: every core the process may use.

        Returns
        -------
        Graph
        """
        _expect_ranks(ranks)
        if not isinstance(graph, WholeGraph):
            raise ArgumentError(f"graph is a {type(graph).__name__}, expected a tendril.Graph")
        made = cls.__new__(cls)
        core = _tendril.GraphPart.of(
            graph._core, ranks.size, string(method, "method"), ranks.rank, threads(num_threads)
        )
        made._take(ranks, core)
        return made

    def _take(self, ranks: Ranks, core: _tendril.GraphPart) -> None:
        if core.num_parts != ranks.size:
            raise ArgumentError(f"the graph has {core.num_parts} parts, expected one a rank: {ranks.size}")
        self._ranks, self._core = ranks, core

    @property
    def ranks(self) -> Ranks:
        """The ranks that have the parts."""
        return self._ranks

    @property
    def num_vertices(self) -> int:
        """Of the whole graph."""
        return self._core.num_vertices

    @property
    def num_edges(self) -> int:
        """Of the whole graph."""
        return self._core.num_edges

    @property
    def bounds(self) -> list[int]:
        """[ranks + 1] Rank r has the vertices ``bounds[r]`` to ``bounds[r + 1] - 1``."""
        return list(self._core.bounds)

    @property
    def vertices(self) -> range:
        """Those of this rank."""
        return range(self._core.bounds[self._ranks.rank], self._core.bounds[self._ranks.rank + 1])

    @property
    def part_edges(self) -> list[int]:
        """[ranks] The edges of each part."""
        return list(self._core.part_edges)

    @property
    def form(self) -> str:
        """How the parts' neighbours are stored, as `tendril.Graph.form`. Samples don't depend on it."""
        return self._core.form

    @property
    def has_weights(self) -> bool:
        """Whether edges have weights."""
        return self._core.has_weights

    @property
    def edge_label_names(self) -> list[str]:
        """Names of the labels of edges, by number; empty without names."""
        return list(self._core.edge_label_names)

    @property
    def node_type_names(self) -> list[str]:
        """Names of the types of vertices, by number; empty without names."""
        return list(self._core.node_type_names)

    @property
    def original_ids(self) -> NDArray[Any] | None:
        """[num_vertices] uint32, of the whole graph: the number that each vertex had before it was renumbered; None where it
        was not."""
        return self._core.original_ids

    def hot_vertices(self, count: int) -> NDArray[Any]:
        """The vertices that most edges of the whole graph lead to, and so those that samplers reach most often. A call of all
        ranks; takes 8 bytes a vertex of the whole graph.

        Parameters
        ----------
        count : int
            At most so many.

        Returns
        -------
        ndarray of int64
            Most edges first; none that no edge leads to. The same on every rank.

        Raises
        ------
        ArgumentError
            For a count that is negative, or more than the vertices.
        RankError
            If another rank has failed or fallen silent.
        """
        wanted = integer(count, "count")
        if not 0 <= wanted <= self.num_vertices:
            raise ArgumentError(f"count: {wanted}, expected 0 to {self.num_vertices}")
        return _tendril.hot_vertices(self._ranks._core, self._core, wanted)

    def _holds_int32(self, dtype: DTypeLike) -> bool:
        """Whether a result of that type has ids of 32 bits, which must hold the graph's."""
        as_int32 = _arrays.is_int32(dtype)
        if as_int32 and self.num_vertices > 2**31:
            raise ArgumentError(
                f"dtype is int32, but the graph has {self.num_vertices} vertices, expected at most {2**31}: use int64"
            )
        return as_int32

    def __repr__(self) -> str:
        part = self.vertices
        return (
            f"Graph(num_vertices={self.num_vertices}, num_edges={self.num_edges}, "
            f"here=[{part.start}, {part.stop}) of {self._ranks.size} parts)"
        )


def _expect_ranks(ranks: Any) -> None:
    if not isinstance(ranks, Ranks):
        raise ArgumentError(f"ranks is a {type(ranks).__name__}, expected Ranks (tendril.dist.connect)")


def expect_graph(graph: Any) -> None:
    """Checks that something is a graph in parts."""
    if not isinstance(graph, Graph):
        raise ArgumentError(f"graph is a {type(graph).__name__}, expected a tendril.dist.Graph")
