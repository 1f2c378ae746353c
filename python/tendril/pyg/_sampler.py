"""Tendril's engine behind PyG's sampler interface."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch_geometric.sampler import (
    BaseSampler,
    EdgeSamplerInput,
    NegativeSampling,
    NodeSamplerInput,
    NumNeighbors,
    SamplerOutput,
)
from torch_geometric.sampler.base import DataType, SubgraphType

from tendril import _gpu, dist
from tendril._errors import ArgumentError
from tendril._hetero_graph import HeteroGraph
from tendril._minibatch import Minibatch, MinibatchSampler
from tendril._order import mixed
from tendril._params import counts, threads

from . import _edges, _graph, _groups, _inputs, _outputs
from ._inputs import Unsupported
from ._negatives import Negatives
from ._sharded import ShardedEngine

if TYPE_CHECKING:
    from collections.abc import Sequence


class NeighborSampler(BaseSampler):  # type: ignore[misc]
    """Samples neighbours for PyG: `torch_geometric.sampler.NeighborSampler` with reproducible draws, for PyG's loaders,
    for those of this package, and for the user's own loaders.

    A batch depends only on the data, the parameters, ``seed`` and the number of the batch. `sample_from_nodes` and
    `sample_from_edges` take the number as ``batch``; without it they count their calls.

    Parameters
    ----------
    data : Data, HeteroData or (FeatureStore, GraphStore)
        The constructor converts the graph once; later changes of its edges, times or weights have no effect. With
        `sharded_data`, a graph that several processes share: then the constructor is a call of all of them, and so is a
        change of a parameter.
    num_neighbors : list of int, dict of edge types to such, or NumNeighbors
        Neighbours per vertex, for each hop: >= 0, or -1 for all.
    subgraph_type : SubgraphType or str
        "directional", "bidirectional" or "induced".
    replace, disjoint, temporal_strategy, time_attr, weight_attr
        As in PyG. With ``time_attr`` batches are disjoint.
    is_sorted, share_memory : bool
        Accepted, without effect: the constructor finds out itself whether edges are in order, by target and then by
        source, and doesn't sort them then; there are no worker processes.
    directed : bool
        Deprecated by PyG: False means subgraph_type "induced".
    sample_direction : str
        "forward": from the incoming edges of a vertex, as loaders do. "backward": from its outgoing edges; `row` and
        `col` are still the source and target of an edge. Not with times, as in PyG.
    choice, normalize, layer_dependency, batch_dependency
        As for `tendril.MinibatchSampler`. With the choice "labor" the edges of a directional batch have importance
        weights: `edge_labor_weight` of the output, and of the batches of this package's loaders.
    seed : int
        In [0, 2^64).
    device : str or torch.device, optional
        Device for sampling: "cpu", "cuda", "cuda:1". Default: the device that holds the data's edges. A graph in parts is
        sampled on the CPU; loaders then move its batches there.
    executor : str
        On a GPU, as for `tendril.MinibatchSampler`.
    table_bytes : int, optional
        The most bytes of tables of weights, as for `tendril.MinibatchSampler`. It never changes a batch.
    num_threads : int
        Number of threads on the CPU; 0: every core the process may use.

    Raises
    ------
    ArgumentError
        A ValueError: for data that doesn't fit together, a missing attribute, fan-outs of different lengths or for an
        unknown edge type.
    DeviceError
        If the GPU can't be used; the message gives the reason.
    """

    def __init__(
        self,
        data: Any,
        num_neighbors: Any,
        subgraph_type: SubgraphType | str = "directional",
        replace: bool = False,
        disjoint: bool = False,
        temporal_strategy: str = "uniform",
        time_attr: str | None = None,
        weight_attr: str | None = None,
        is_sorted: bool = False,
        share_memory: bool = False,
        directed: bool = True,
        sample_direction: str = "forward",
        *,
        choice: str = "independent",
        normalize: bool = True,
        layer_dependency: bool = False,
        batch_dependency: int = 1,
        seed: int = 0,
        device: Any = None,
        executor: str = "auto",
        num_threads: int = 0,
        table_bytes: int | None = None,
    ) -> None:
        del is_sorted, share_memory
        if not directed:
            subgraph_type = SubgraphType.induced
            warnings.warn("directed=False is deprecated, use subgraph_type='induced'", DeprecationWarning, stacklevel=2)
        try:
            self.subgraph_type = SubgraphType(subgraph_type)
        except ValueError:
            raise ArgumentError(
                f"subgraph_type is {subgraph_type!r}, expected 'directional', 'bidirectional' or 'induced'"
            ) from None
        if temporal_strategy not in ("uniform", "last"):
            raise ArgumentError(f"temporal_strategy is {temporal_strategy!r}, expected 'uniform' or 'last'")
        if sample_direction not in ("forward", "backward"):
            raise ArgumentError(f"sample_direction is {sample_direction!r}, expected 'forward' or 'backward'")
        if sample_direction == "backward" and time_attr is not None:
            raise Unsupported("time_attr is given, expected None: times are not for the sample_direction 'backward'")
        self.sample_direction = sample_direction
        self.data_type = _type_of(data)
        self._source = _graph.from_data(
            data, time_attr, weight_attr, num_threads, backward=sample_direction == "backward", in_parts=True
        )
        if self._source.is_temporal and weight_attr is not None:
            raise ArgumentError("weight_attr and time_attr are given, expected one of them: weights don't go with times")
        self.device = self._source.device
        if device is not None:
            number = _gpu.parse(device)
            self.device = torch.device("cpu") if number == _gpu.HOST else torch.device("cuda", number)
        self.num_nodes = self._source.num_nodes
        self.node_time, self.edge_time = self._source.node_time, self._source.edge_time
        self.node_types, self.edge_types = self._source.node_types, self._source.edge_types
        self.replace = replace
        self.temporal_strategy = temporal_strategy
        self.keep_orig_edges = False
        self.seed = seed
        self._disjoint = disjoint
        self._weighted = weight_attr is not None
        self._choice: dict[str, Any] = {
            "choice": choice,
            "normalize": normalize,
            "layer_dependency": layer_dependency,
            "batch_dependency": batch_dependency,
        }
        self._executor, self._num_threads, self._table_bytes = executor, num_threads, table_bytes
        self.negatives = Negatives(self.num_nodes, self.node_time, seed, num_threads)
        self.batches_on = self.device
        given = self._source.graph
        if isinstance(given, dist.Graph):
            self.device = self._source.device
        self._graph: Any = given if isinstance(given, dist.Graph) else given.to(self.device)
        self._permutation = self._on_device(self._source.permutation)
        self._calls = itertools.count()
        # A batch takes many short kernels in sequence; each of them could wait behind a long kernel of a model.
        on_gpu = self.device.type == "cuda"
        self._stream: Any = torch.cuda.Stream(self.device, priority=-1) if on_gpu and not self._is_in_parts else None
        self._sampler: Any = None
        self.num_neighbors = num_neighbors
        if on_gpu and self._is_in_parts:  # whose batches have streams of their own, and are complete when they come
            self._stream = torch.cuda.default_stream(self.device)

    @property
    def _is_in_parts(self) -> bool:
        return isinstance(self._source.graph, dist.Graph)

    def _on_device(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._on_device(one) for key, one in value.items()}
        return None if value is None else value.to(self.device)

    @property
    def num_neighbors(self) -> NumNeighbors:
        """The fan-outs. They may be changed."""
        return self._num_neighbors

    @num_neighbors.setter
    def num_neighbors(self, value: Any) -> None:
        self._num_neighbors = value if isinstance(value, NumNeighbors) else _num_neighbors(value)
        self._fanouts = _fanouts(self._num_neighbors, self.edge_types if self.is_hetero else None)
        self._sampler = None
        self._engine()  # reports problems here

    @property
    def takes_all(self) -> bool:
        """Whether any fan-out is -1."""
        given = self._fanouts
        return any(-1 in one for one in given.values()) if isinstance(given, dict) else -1 in given

    @property
    def is_hetero(self) -> bool:
        """Whether there are types of vertices and edges."""
        return self._source.is_hetero

    @property
    def is_temporal(self) -> bool:
        """Whether vertices or edges have times."""
        return self._source.is_temporal

    @property
    def disjoint(self) -> bool:
        """Whether each seed has its own subgraph."""
        return self._disjoint or self.is_temporal

    @disjoint.setter
    def disjoint(self, value: bool) -> None:
        self._disjoint = value
        self._sampler = None

    @property
    def num_threads(self) -> int:
        """Number of threads on the CPU; 0: every core the process may use. It may be changed."""
        return self._num_threads

    @num_threads.setter
    def num_threads(self, value: int) -> None:
        self._num_threads = threads(value)
        self._sampler = None

    @property
    def edge_permutation(self) -> Any:
        """The data's edge for each edge of the sampler's graph."""
        return self._permutation

    @property
    def attributes_of_edges(self) -> frozenset[str]:
        """The names in a FeatureStore without types that are known to be of edges: those that the sampler uses."""
        return self._source.attributes_of_edges

    def sample_from_nodes(self, index: NodeSamplerInput, batch: int | None = None, **kwargs: Any) -> Any:
        """Sample the batch of some vertices, which come first in it.

        Parameters
        ----------
        index : NodeSamplerInput
        batch : int, optional
            Number of the batch. Default: the number of earlier calls.

        Returns
        -------
        SamplerOutput or HeteroSamplerOutput
        """
        number = self._next_number() if batch is None else batch
        seeds = {index.input_type: index.node}
        times = self._seed_times(seeds, None if index.time is None else {index.input_type: index.time})
        return self._finished(self._sample(seeds, times, number), index)

    def sample_batches(
        self, index: NodeSamplerInput, batch_size: int, first_batch: int, batch_step: int = 1
    ) -> list[Any]:
        """Make batches `first_batch`, `first_batch` + `batch_step`, … of consecutive vertices together. The result equals
        single calls.

        Parameters
        ----------
        index : NodeSamplerInput
            The vertices of all batches.
        batch_size : int
            Vertices per batch; the last batch may have fewer.
        first_batch : int
            Number of the first batch.
        batch_step : int
            From the number of a batch to the next one's, >= 0. Numbers wrap at 2^64.

        Returns
        -------
        list of SamplerOutput or HeteroSamplerOutput
        """
        seeds = {index.input_type: index.node}
        times = self._seed_times(seeds, None if index.time is None else {index.input_type: index.time})
        engine, of_nodes = self._engine(), index.node
        options = {
            "node_type": index.input_type,
            "first_batch": first_batch,
            "batch_step": batch_step,
            "times": None if times is None else times[index.input_type],
        }
        outs: Iterable[Any]
        if isinstance(engine, MinibatchSampler) and engine._is_on_one_gpu:
            outs = self._outputs_of(engine._sample_group(of_nodes, batch_size, **options), engine)
        else:
            outs = map(self._output, engine.sample_batches(of_nodes, batch_size, **options))
        parts = _inputs.split_nodes(index, batch_size)
        return [self._finished(one, part) for one, part in zip(outs, parts, strict=True)]

    def sample_from_edges(
        self,
        index: EdgeSamplerInput,
        neg_sampling: NegativeSampling | None = None,
        batch: int | None = None,
        **kwargs: Any,
    ) -> Any:
        """Sample the batch of the ends of some links, and of negative links.

        Parameters
        ----------
        index : EdgeSamplerInput
        neg_sampling : NegativeSampling, optional
        batch : int, optional
            Number of the batch. Default: the number of earlier calls.

        Returns
        -------
        SamplerOutput or HeteroSamplerOutput
            With PyG's `metadata`: the ids of the input, the positions of the links in the batch, labels, times.
        """
        number = self._next_number() if batch is None else batch
        out = _edges.edge_sample(
            index,
            neg_sampling,
            number,
            negatives=self.negatives,
            node_types=self.node_types,
            disjoint=self.disjoint,
            sample=lambda seeds, times: self._sample(seeds, self._seed_times(seeds, times), number),
        )
        return self._converted(out)

    def _next_number(self) -> int:
        """The number of a batch that got none. Worker processes of a DataLoader count apart, from the seeds that
        DataLoader gives them for each epoch."""
        worker = torch.utils.data.get_worker_info()
        first = 0 if worker is None else mixed(worker.seed)
        return (first + next(self._calls)) % 2**64

    def _sample(self, seeds: dict[str | None, Tensor], times: dict[str | None, Tensor] | None, batch: int) -> Any:
        engine = self._engine()
        if not self.is_hetero:
            self._expect_untyped(seeds)
            return self._output(engine.sample(seeds[None], batch=batch, times=None if times is None else times[None]))
        return self._output(engine.sample(seeds, batch=batch, times=times))

    @staticmethod
    def _expect_untyped(seeds: dict[str | None, Tensor]) -> None:
        if list(seeds) != [None]:
            raise ArgumentError(f"input_type is {next(iter(seeds))!r}, expected None: the data has one type of vertices")

    def _output(self, made: Minibatch) -> Any:
        return _outputs.output_of(made, self._keeps_counts, self._num_neighbors.num_hops)

    def _outputs_of(self, made: Any, engine: MinibatchSampler) -> Iterator[Any]:
        """The batches of a call on a GPU."""
        types = engine._types, None if engine._ends is None else list(engine._ends)
        of_batches = self.disjoint, self._keeps_counts, self._num_neighbors.num_hops
        return _groups.outputs_of(made, self.device, *types, *of_batches)

    @property
    def _keeps_counts(self) -> bool:
        """Whether a batch's edges are those that were sampled hop by hop."""
        return bool(self.subgraph_type != SubgraphType.induced)

    def _finished(self, out: Any, index: NodeSamplerInput) -> Any:
        if not self.disjoint:
            out = _outputs.repeat_seeds(out, {index.input_type: index.node})
        out.metadata = (index.input_id, index.time)
        return self._converted(out)

    def _converted(self, out: Any) -> Any:
        if self.sample_direction == "backward":
            out = _outputs.backward(out)
        if self.subgraph_type != SubgraphType.bidirectional:
            return out
        if _outputs.labor_weights(out) is not None:  # they belong to the sampled edges alone
            del out.edge_labor_weight
        if isinstance(out, SamplerOutput):
            return _outputs.bidirectional(out, self.keep_orig_edges)
        return out.to_bidirectional(keep_orig_edges=self.keep_orig_edges)

    def _seed_times(
        self, seeds: dict[str | None, Tensor], times: dict[str | None, Tensor] | None
    ) -> dict[str | None, Tensor] | None:
        """The times of the seeds: the given times, else those of the vertices."""
        if not self.is_temporal:
            return None
        out: dict[str | None, Tensor] = {}
        for name, seed in seeds.items():
            if times is not None:
                out[name] = times[name].to(torch.int64)
                continue
            of_type: Any = self.node_time
            known = of_type.get(name) if isinstance(of_type, dict) else of_type
            if known is None:
                of = "edges" if self.node_time is None else f"other vertices than '{name}'"
                raise ArgumentError(f"seeds have no time: time_attr is one of {of}, expected times with the seeds")
            out[name] = known[seed]
        return out

    def _of_engine(self, fanouts: Any) -> Any:
        """The fan-outs by the engine's edge types; without hops one that samples nothing: the engine expects one."""
        if isinstance(fanouts, dict):
            return {self._source.stored_type(key): many or [0] for key, many in fanouts.items()}
        return fanouts or [0]

    def _engine(self) -> Any:
        if self._sampler is None:
            induced = self.subgraph_type == SubgraphType.induced
            more: dict[str, Any] = {}
            if not self._is_in_parts:
                more = {
                    "temporal_strategy": self.temporal_strategy,
                    "executor": self._executor,
                    "stream": self._stream,
                }
                if not isinstance(self._graph, HeteroGraph):
                    more |= {"edge_times": self.edge_time, "node_times": self.node_time}
            elif self._executor != "auto":
                raise ArgumentError(f"executor is {self._executor!r}, expected 'auto' on the CPU")
            elif self.device.type == "cuda":
                more = {"device": self.device}
            self._sampler = (ShardedEngine if self._is_in_parts else MinibatchSampler)(
                self._graph,
                self._of_engine(self._fanouts),
                replace=self.replace,
                weighted=self._weighted,
                # Reverse edges are added afterwards, without duplicates and in PyG's order.
                subgraph_type="induced" if induced else "directional",
                disjoint=self.disjoint,
                **self._choice,
                seed=self.seed,
                table_bytes=self._table_bytes,
                num_threads=self.num_threads,
                **more,
            )
        return self._sampler

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def _type_of(data: Any) -> Any:
    try:
        return DataType.from_data(data)
    except ValueError:
        raise ArgumentError(
            f"data is a {type(data).__name__}, expected Data, HeteroData or (FeatureStore, GraphStore)"
        ) from None


def _num_neighbors(value: Any) -> NumNeighbors:
    if isinstance(value, Mapping):
        try:
            return NumNeighbors(dict(value))
        except ValueError as error:
            raise ArgumentError(f"num_neighbors: {error}") from None
    try:
        return NumNeighbors([int(one) for one in counts(value, "num_neighbors")])
    except TypeError:
        raise ArgumentError(f"num_neighbors is {value!r}, expected integers, or a dict of edge types to such") from None


def _fanouts(given: NumNeighbors, edge_types: Sequence[Any] | None) -> Any:
    """The fan-outs in the engine's form: one list, or one list per edge type."""
    values = given.values
    if not isinstance(values, dict):
        return values
    if edge_types is None:
        raise ArgumentError("num_neighbors is a dict, expected a list of integers: the data has one type of edges")
    named = {key.to_tuple(): value for key, value in values.items()}
    for key in named:
        if key not in edge_types:
            raise ArgumentError(f"num_neighbors has the edge type {key}, expected one of {list(edge_types)}")
    for key in edge_types:
        if key not in named:
            if given.default is None:
                raise ArgumentError(f"num_neighbors has no edge type {key}, expected fan-outs of every edge type")
            named[key] = given.default
    return {key: named[key] for key in edge_types}
