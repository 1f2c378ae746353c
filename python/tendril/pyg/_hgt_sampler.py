"""HGSampling behind PyG's sampler interface."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch_geometric.sampler import BaseSampler, HeteroSamplerOutput, NodeSamplerInput

from tendril import _hgt
from tendril._errors import ArgumentError
from tendril._minibatch import Minibatch

from . import _graph, _inputs, _outputs


class HGTSampler(BaseSampler):  # type: ignore[misc]
    """Samples vertices of several types by HGSampling: `torch_geometric.sampler.HGTSampler` with reproducible draws,
    for `HGTLoader` and for the user's own loaders.

    A batch depends only on the data, ``num_samples``, ``seed`` and the number of the batch. `sample_from_nodes` takes
    the number as ``batch``; without it, it counts its calls. Sampling runs on the CPU.

    Parameters
    ----------
    data : HeteroData or (FeatureStore, GraphStore)
        The constructor converts the graph once; later changes of its edges have no effect.
    num_samples : list of int, or dict of vertex types to such
        The vertices that each hop adds: of each type, or one list for all types. Types that are missing in a dict get
        none.
    is_sorted, share_memory : bool
        Accepted, without effect, as for `NeighborSampler`.
    seed : int
        In [0, 2^64).
    num_threads : int
        Number of threads; 0: every core the process may use.

    Raises
    ------
    ArgumentError
        A ValueError: for data of one type, an unknown type, negative numbers, lists of different lengths.
    """

    device = torch.device("cpu")
    takes_all = False  # a batch has a known size
    attributes_of_edges: frozenset[str] = frozenset()  # a batch uses none
    _stream = None

    def __init__(
        self,
        data: Any,
        num_samples: Any,
        is_sorted: bool = False,
        share_memory: bool = False,
        *,
        seed: int = 0,
        num_threads: int = 0,
    ) -> None:
        del is_sorted, share_memory
        source = _graph.from_data(data, None, None, num_threads)
        if not source.is_hetero:
            raise ArgumentError(f"data is a {type(data).__name__} of one type of vertices, expected HeteroData")
        self.num_nodes = source.num_nodes
        self.node_types, self.edge_types = source.node_types, source.edge_types
        self.num_samples = num_samples
        self.seed = seed
        self._permutation = source.permutation
        self._engine = _hgt.HGTSampler(source.graph, num_samples, seed=seed, num_threads=num_threads)  # type: ignore[arg-type]
        self._calls = itertools.count()

    @property
    def edge_permutation(self) -> Any:
        """The data's edge for each edge of the sampler's graph."""
        return self._permutation

    def sample_from_nodes(self, index: NodeSamplerInput, batch: int | None = None, **kwargs: Any) -> HeteroSamplerOutput:
        """Sample the batch of some vertices, which come first in it.

        Parameters
        ----------
        index : NodeSamplerInput
        batch : int, optional
            Number of the batch. Default: the number of earlier calls.

        Returns
        -------
        HeteroSamplerOutput
        """
        number = next(self._calls) if batch is None else batch
        return _finished(self._engine.sample({index.input_type: index.node}, batch=number), index)

    def sample_batches(
        self, index: NodeSamplerInput, batch_size: int, first_batch: int, batch_step: int = 1
    ) -> list[HeteroSamplerOutput]:
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
        list of HeteroSamplerOutput
        """
        made = self._engine.sample_batches(
            index.node, batch_size, node_type=index.input_type, first_batch=first_batch, batch_step=batch_step
        )
        parts = _inputs.split_nodes(index, batch_size)
        return [_finished(one, part) for one, part in zip(made, parts, strict=True)]

    def sample_from_edges(self, *args: Any, **kwargs: Any) -> Any:
        """Not available: HGSampling starts from vertices.

        Raises
        ------
        NotImplementedError
        """
        raise NotImplementedError("HGTSampler samples from vertices, it has no batches around links")

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def _finished(made: Minibatch, index: NodeSamplerInput) -> HeteroSamplerOutput:
    num_hops = max(len(counts) for counts in made.num_sampled_nodes.values()) - 1
    out = _outputs.repeat_seeds(_outputs.output_of(made, False, num_hops), {index.input_type: index.node})
    out.num_sampled_nodes = None  # as in PyG: a hop's vertices may have edges to those of any other hop
    out.metadata = (index.input_id, index.time)
    return out
