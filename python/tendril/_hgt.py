"""HGSampling: mini-batches of several types of vertices, with as many of each as asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _arrays, _gpu, _pickles, _tendril
from ._errors import ArgumentError
from ._hetero_graph import HeteroGraph
from ._minibatch import Minibatch, by_type, hetero_minibatch
from ._params import counts, fill, integer, string, threads, unsigned

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class HGTSampler(_pickles.Unchanging):
    """Makes mini-batches by HGSampling, the sampler of the Heterogeneous Graph Transformer: similar numbers of vertices
    of every type, densely connected.

    Every vertex outside of the batch has a budget: each edge from a vertex v of the batch to it adds ``1 / d``, where d
    is the number of v's edges of that type. A hop draws vertices of each type one after another, without replacement,
    in proportion to the squares of their budgets; they join the batch and add to the budgets for the next hop. A batch
    has all edges of the graph between its vertices.

    A vertex samples from its stored edges; for message flow towards the seeds build the graph with ``reverse=True``. A
    batch depends only on the graph, the parameters, the seed, the number of the batch and its seeds. Calls run on the
    CPU, release the GIL, and may come from several threads.

    Parameters
    ----------
    graph : HeteroGraph
        In host memory, without times. Weights have no effect.
    num_samples : sequence of int, or mapping of vertex types to such
        The vertices that each hop adds, >= 0: of each type, or one list for all types. Types that are missing in a
        mapping get none.
    seed : int
        In [0, 2^64).
    num_threads : int
        Number of threads; 0: every core the process may use.

    Raises
    ------
    ArgumentError
        For negative numbers, lists of different lengths, an unknown type, a graph that is on a GPU or has times.

    References
    ----------
    Hu, Dong, Wang and Sun, Heterogeneous graph transformer, WWW 2020.

    Examples
    --------
    >>> graph = tendril.HeteroGraph(
    ...     {"paper": 3, "author": 4},
    ...     {("author", "writes", "paper"): ([0, 1, 1, 2, 3], [0, 0, 1, 1, 2])},
    ...     reverse=True,
    ... )
    >>> batch = tendril.HGTSampler(graph, {"author": [1, 1]}, seed=1).sample({"paper": [0, 1]})
    >>> len(batch.node["paper"]), len(batch.node["author"])
    (2, 2)
    """

    def __init__(self, graph: HeteroGraph, num_samples: Any, *, seed: int = 0, num_threads: int = 0) -> None:
        if not isinstance(graph, HeteroGraph):
            raise ArgumentError(f"graph is a {type(graph).__name__}, expected a HeteroGraph")
        if graph._core.device != _gpu.HOST:
            raise ArgumentError(f"the graph is on {graph.device}, but HGSampling runs on the CPU: expected graph.to('cpu')")
        if graph.has_times:
            raise ArgumentError("the graph has times, expected one without: HGSampling reads none")
        self._made_of = (graph, num_samples), {"seed": seed, "num_threads": num_threads}
        self._graph = graph._core
        self._types = list(graph.num_nodes)
        self._ends = {key: (key[0], key[2]) for key in graph.edges}
        self._num_threads = threads(num_threads)
        self._params = fill(_tendril.HgtParams(), num_samples=self._lists(num_samples), seed=unsigned(seed, "seed"))

    def __reduce__(self) -> Any:
        return _pickles.made_by, (type(self), *self._made_of)

    def _lists(self, num_samples: Any) -> list[list[int]]:
        if not isinstance(num_samples, Mapping):
            return [counts(num_samples, "num_samples") for _ in self._types]
        for name in num_samples:
            if name not in self._types:
                raise ArgumentError(f"num_samples has the vertex type {name!r}, expected one of {self._types}")
        given = {name: counts(value, f"num_samples[{name!r}]") for name, value in num_samples.items()}
        hops = {len(value) for value in given.values()}
        if len(hops) != 1:
            lengths = {name: len(value) for name, value in given.items()}
            raise ArgumentError(f"num_samples has lists of {lengths} hops, expected one number of hops, of one type or more")
        return [given.get(name, [0] * next(iter(hops))) for name in self._types]

    def sample(self, seeds: Mapping[str, ArrayLike], *, batch: int = 0) -> Minibatch:
        """Make one batch.

        Parameters
        ----------
        seeds : mapping of vertex types to array_like of int
            Vertices. A seed that is given twice is one vertex.
        batch : int
            Number of the batch, in [0, 2^64). Different numbers give different draws.

        Returns
        -------
        Minibatch
            The vertices of each type: the seeds, then hop by hop in the order of the draws.

        Raises
        ------
        ArgumentError
            For a seed that is not a vertex, an unknown type.
        OutOfMemoryError
            If the result doesn't fit.
        """
        ids = [_arrays.ids(value, f"seeds[{name!r}]") for name, value in by_type(seeds, "seeds", self._types).items()]
        number = unsigned(batch, "batch")
        return self._given(_tendril.hgt_sample(self._graph, self._params, ids, number, self._num_threads))

    def sample_batches(
        self, seeds: ArrayLike, batch_size: int, *, node_type: str, first_batch: int = 0, batch_step: int = 1
    ) -> list[Minibatch]:
        """Make batches ``first_batch``, ``first_batch + batch_step``, … of ``batch_size`` consecutive seeds each. The
        result equals that of one call per batch, and is faster.

        Parameters
        ----------
        seeds : array_like of int, shape [n]
            The last batch may have fewer.
        batch_size : int
            >= 1.
        node_type : str
            Type of the seeds.
        first_batch : int
            Number of the first batch.
        batch_step : int
            From the number of a batch to the next one's, >= 0: the number of ranks, if ranks make an epoch's batches in
            turn. Numbers wrap at 2^64.

        Returns
        -------
        list of Minibatch

        Raises
        ------
        ArgumentError, OutOfMemoryError
            As `sample`.
        """
        if string(node_type, "node_type") not in self._types:
            raise ArgumentError(f"node_type is {node_type!r}, expected one of {self._types}")
        ids = _arrays.ids(seeds, f"seeds[{node_type!r}]")
        size, first = integer(batch_size, "batch_size"), unsigned(first_batch, "first_batch")
        step, kind = unsigned(batch_step, "batch_step"), self._types.index(node_type)
        made = _tendril.hgt_sample_batches(self._graph, self._params, kind, ids, size, first, step, self._num_threads)
        return [self._given(one) for one in made]

    def _given(self, made: Any) -> Minibatch:
        return hetero_minibatch(made, self._types, self._ends, "new")
