"""GraphSAINT's subgraphs, as PyG hands them over, with the norms that correct the sampler's bias."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from tendril import _saint
from tendril._epochs import runs
from tendril._errors import ArgumentError
from tendril._graph import Graph
from tendril._params import integer
from tendril._subgraphs import Subgraph, Subgraphs
from tendril._timeline import Timeline

from . import _inputs, _tables
from ._numbered import NumberedLoader

_COUNTED = 1 << 61  # logical number of the first sample that is counted: no batch has it
_TOGETHER = 8  # samples that are made in one call, so that every thread has some
_MOST_DRAWS = 1 << 22  # of samples that are counted together


class GraphSAINTSampler(NumberedLoader):
    """The common part of GraphSAINT's samplers: `torch_geometric.loader.GraphSAINTSampler` with Tendril's engine, on
    the CPU. Use `GraphSAINTNodeSampler`, `GraphSAINTEdgeSampler` or `GraphSAINTRandomWalkSampler`.

    Batches have PyG's fields: the vertices in ascending order, all edges between them by source, then target, the
    attributes of both, and with ``sample_coverage`` also `node_norm` and `edge_norm`. Batch i of epoch e has the number
    ``e * num_steps + i``; this number and ``seed`` determine its draws.

    Parameters
    ----------
    data : Data
        With `edge_index`, on the CPU. The constructor converts the graph once.
    batch_size : int
        Draws per batch, with replacement.
    num_steps : int
        Batches per epoch.
    sample_coverage : int
        The norms are counted over so many samples that they hold so many vertices for each vertex of the data; 0: no
        norms.
    save_dir : str, optional
        The norms are saved there, and loaded from there if the arguments are the same.
    log : bool
        Accepted, without effect.
    seed : int, optional
        In [0, 2^64). None: the constructor draws it once from Torch's generator.
    num_threads : int
        Number of threads; 0: every core the process may use.
    **loader
        Arguments of `torch.utils.data.DataLoader`. Those of worker processes are accepted, without effect.

    Raises
    ------
    ArgumentError
        A ValueError: for a parameter out of range, data that has norms already or no `edge_index` on the CPU, norms of
        a graph where nothing can be drawn.
    """

    _sampler = ""

    def __init__(
        self,
        data: Data,
        batch_size: int,
        num_steps: int = 1,
        sample_coverage: int = 0,
        save_dir: str | None = None,
        log: bool = True,
        *,
        seed: int | None = 0,
        num_threads: int = 0,
        **loader: Any,
    ) -> None:
        if not isinstance(data, Data) or not isinstance(data.get("edge_index"), Tensor):
            raise ArgumentError(f"data is a {type(data).__name__} without edge_index, expected Data with edges")
        if data.edge_index.is_cuda:
            raise ArgumentError(f"edge_index is on {data.edge_index.device}, expected the CPU")
        _tables.expect_none(data, type(self).__name__)
        for name in ("node_norm", "edge_norm"):
            if name in data:
                raise ArgumentError(f"data has the attribute {name}, expected none: the sampler adds it")
        self.num_steps = integer(num_steps, "num_steps")
        self.sample_coverage = integer(sample_coverage, "sample_coverage")
        self._budget = integer(batch_size, "batch_size")
        for value, least, name in (
            (self.num_steps, 1, "num_steps"),
            (self.sample_coverage, 0, "sample_coverage"),
            (self._budget, 1, "batch_size"),
        ):
            if value < least:
                raise ArgumentError(f"{name} is {value}, expected {least} or more")
        del log
        self.data = data
        self.num_threads = integer(num_threads, "num_threads", 32)
        self.N, self.E = int(data.num_nodes or 0), int(data.num_edges)
        source, target = data.edge_index
        for side, ends in enumerate((source, target)):
            _inputs.expect_below(ends, self.N, f"edge_index[{side}]", "a vertex")
        self._graph = Graph.from_coo(source, target, num_vertices=self.N, keep_edge_ids=True, num_threads=num_threads)
        ids = self._graph.edge_ids
        self._edge_ids = torch.arange(self.E) if ids is None else torch.from_numpy(ids.copy())
        super().__init__(range(self.num_steps), seed, **{"batch_size": 1, **loader})
        self._samples(0, 0)  # reports problems here
        if self.sample_coverage > 0:
            self.node_norm, self.edge_norm = self._norms(save_dir)

    def _samples(self, count: int, first: int, step: int = 1) -> Subgraphs:
        draw: Any = getattr(_saint, f"saint_{self._sampler}_sample")
        made: Subgraphs = draw(
            self._graph,
            count,
            self._budget,
            seed=self.seed,
            first_sample=first,
            sample_step=step,
            num_threads=self.num_threads,
            **self._length(),
        )
        return made

    def _length(self) -> dict[str, int]:
        return {}

    def _made(self, numbered: Any, timeline: Timeline) -> Any:
        for first, step, steps in runs(numbered, _TOGETHER, self._ranks.world_size):
            with timeline.span("sample", first, len(steps)):
                samples = self._samples(len(steps), first, step)
            for number, sample in zip(itertools.count(first, step), samples):
                with timeline.span("gather", number):
                    made = self._data_of(sample)
                yield self._pinned(made)

    def _make(self, items: list[int], number: int) -> Data:
        return self._data_of(self._samples(1, number).sample(0))

    def _data_of(self, sample: Subgraph) -> Data:
        node = torch.from_numpy(sample.nodes.copy())
        edge = self._edge_ids[torch.from_numpy(sample.edges)]
        out = self.data.__class__()
        out.num_nodes = node.numel()
        out.edge_index = torch.from_numpy(sample.edge_index.copy())
        for name, value in self.data:
            if name in ("edge_index", "num_nodes"):
                continue
            rows = value.size(0) if isinstance(value, Tensor) and value.dim() > 0 else -1
            out[name] = value[node] if rows == self.N else value[edge] if rows == self.E else value
        if self.sample_coverage > 0:
            out.node_norm, out.edge_norm = self.node_norm[node], self.edge_norm[edge]
        return out

    # Norms

    @property
    def _filename(self) -> str:
        parts = [type(self).__name__.lower(), *self._length().values(), self._budget, self.num_steps, self.seed]
        return f"tendril_{'_'.join(map(str, parts))}_{self.sample_coverage}.pt"

    def _norms(self, save_dir: str | None) -> tuple[Tensor, Tensor]:
        path = None if save_dir is None else Path(save_dir) / self._filename
        if path is not None and path.exists():
            node_norm, edge_norm = torch.load(path)
            if node_norm.numel() != self.N or edge_norm.numel() != self.E:
                raise ArgumentError(
                    f"{path} has norms of {node_norm.numel()} vertices and {edge_norm.numel()} edges, expected {self.N} and "
                    f"{self.E}: remove it"
                )
            return node_norm, edge_norm
        norms = self._count_norms()
        if path is not None:
            part = path.with_name(f"{path.name}.{os.getpid()}.part")
            torch.save(norms, part)
            part.replace(path)
        return norms

    def _count_norms(self) -> tuple[Tensor, Tensor]:
        """PyG's formulas, over as many whole epochs as PyG takes."""
        nodes, edges = np.zeros(self.N, np.int64), np.zeros(self.E, np.int64)
        wanted, total, num_samples = self.N * self.sample_coverage, 0, 0
        at_once = max(1, _MOST_DRAWS // (self._budget * self.num_steps)) * self.num_steps
        while total < wanted:
            made = self._samples(at_once, _COUNTED + num_samples)
            cuts = made.node_offsets[self.num_steps :: self.num_steps]  # after each epoch
            if cuts[-1] == 0:
                raise ArgumentError("sample_coverage is given, but nothing can be drawn: the graph has no edges")
            epochs = min(int(np.searchsorted(cuts, wanted - total)) + 1, len(cuts))
            last = epochs * self.num_steps
            nodes += np.bincount(made.nodes[: made.node_offsets[last]], minlength=self.N)
            edges += np.bincount(made.edges[: made.edge_offsets[last]], minlength=self.E)
            total += int(cuts[epochs - 1])
            num_samples += last
        node_count = torch.from_numpy(nodes).float()
        edge_count = torch.zeros(self.E)
        edge_count[self._edge_ids] = torch.from_numpy(edges).float()
        edge_norm = (node_count[self.data.edge_index[0].long()] / edge_count).clamp_(0, 1e4)
        edge_norm[torch.isnan(edge_norm)] = 0.1
        node_count[node_count == 0] = 0.1
        return num_samples / node_count / self.N, edge_norm


class GraphSAINTNodeSampler(GraphSAINTSampler):
    """GraphSAINT's node sampler: a draw is a vertex in proportion to the squared norm of its column of D^-1 A, as in
    the paper (`tendril.saint_node_sample`). The parameters are those of `GraphSAINTSampler`."""

    _sampler = "node"


class GraphSAINTEdgeSampler(GraphSAINTSampler):
    """GraphSAINT's edge sampler: a draw is an edge (u, v) in proportion to 1 / deg(u), as in the paper
    (`tendril.saint_edge_sample`). The parameters are those of `GraphSAINTSampler`."""

    _sampler = "edge"


class GraphSAINTRandomWalkSampler(GraphSAINTSampler):
    """GraphSAINT's random walk sampler: a draw is a root, with a walk from it (`tendril.saint_walk_sample`).

    Parameters
    ----------
    walk_length : int
        Steps per walk, in [0, 1000].
    data, batch_size, num_steps, sample_coverage, save_dir, log, seed, num_threads, **loader
        As for `GraphSAINTSampler`; ``batch_size`` is the number of roots.
    """

    _sampler = "walk"

    def __init__(
        self,
        data: Data,
        batch_size: int,
        walk_length: int,
        num_steps: int = 1,
        sample_coverage: int = 0,
        save_dir: str | None = None,
        log: bool = True,
        **loader: Any,
    ) -> None:
        self.walk_length = integer(walk_length, "walk_length")
        super().__init__(data, batch_size, num_steps, sample_coverage, save_dir, log, **loader)

    def _length(self) -> dict[str, int]:
        return {"length": self.walk_length}
