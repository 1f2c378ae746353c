"""Samples along edges and against them."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor
from torch_geometric.sampler import NodeSamplerInput, NumNeighbors, SamplerOutput
from torch_geometric.sampler.base import SubgraphType

from ._inputs import Unsupported
from ._sampler import NeighborSampler


class BidirectionalNeighborSampler(NeighborSampler):
    """Samples neighbours in both directions: `torch_geometric.sampler.BidirectionalNeighborSampler` with reproducible
    draws. Each hop expands the vertices that the hop before reached first: it samples from their incoming edges, and
    then as many from their outgoing edges.

    In the output, `edge` holds the data's own numbers of edges, and each edge occurs once (once per seed, if disjoint).
    `num_sampled_nodes` has two numbers for each hop and direction: 0 (in the first place the seeds), and the vertices
    that are new; `num_sampled_edges` has one.

    Parameters
    ----------
    data : Data or (FeatureStore, GraphStore)
        With one type of vertices, and without times.
    num_neighbors : list of int, or NumNeighbors
        Neighbours per vertex and direction, for each hop: >= 0, or -1 for all.
    subgraph_type : SubgraphType or str
        "directional" or "bidirectional".
    replace, disjoint, weight_attr, is_sorted
        As for `NeighborSampler`.
    temporal_strategy, time_attr, share_memory, directed
        As in PyG, which takes no times here.
    **options
        seed, device, executor, num_threads and table_bytes, as for `NeighborSampler`.

    Raises
    ------
    ArgumentError
        As for `NeighborSampler`.
    NotImplementedError
        For times, several types, or a dict of fan-outs, as in PyG; for the subgraph type "induced". It is an
        ArgumentError, too.
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
        **options: Any,
    ) -> None:
        if time_attr is not None:
            raise Unsupported("time_attr is given, expected None: times are not for samples in both directions")
        if isinstance(getattr(num_neighbors, "values", None), dict) or isinstance(num_neighbors, dict):
            raise Unsupported("num_neighbors is a dict, expected a list of integers: one for each hop")
        given = (data, num_neighbors, subgraph_type, replace, disjoint, temporal_strategy, None, weight_attr, is_sorted)
        super().__init__(*given, share_memory, directed, **options)
        if self.is_hetero:
            raise Unsupported("the data has several types, expected one for samples in both directions")
        if self.subgraph_type == SubgraphType.induced:
            raise Unsupported("subgraph_type is 'induced', expected 'directional' or 'bidirectional'")
        self.backward_sampler = NeighborSampler(*given, sample_direction="backward", **options)
        self._of_fanout: dict[tuple[int, bool], NeighborSampler] = {}

    @property
    def edge_permutation(self) -> None:
        """None: the output holds the data's own numbers of edges."""

    def sample_batches(
        self, index: NodeSamplerInput, batch_size: int, first_batch: int, batch_step: int = 1
    ) -> list[Any]:
        """As for `NeighborSampler`; the batches are made one by one."""
        parts = torch.arange(index.node.numel()).split(batch_size)
        numbers = [(first_batch + i * batch_step) % 2**64 for i in range(len(parts))]
        return [self.sample_from_nodes(index[part], number) for part, number in zip(parts, numbers, strict=True)]

    def _hop(self, fanout: int, backward: bool) -> NeighborSampler:
        """What samples one hop in one direction: it shares the graph."""
        made = self._of_fanout.get((fanout, backward))
        if made is None or made.disjoint != self.disjoint or made.num_threads != self.num_threads:
            made = copy.copy(self.backward_sampler if backward else self)
            made._disjoint, made._num_threads = self._disjoint, self._num_threads
            made.num_neighbors = NumNeighbors([fanout])
            self._of_fanout[fanout, backward] = made
        return made

    def _sample(self, seeds: dict[str | None, Tensor], times: Any, batch: int) -> SamplerOutput:
        self._expect_untyped(seeds)
        node = seeds[None].to(self.device, torch.int64)
        tree = torch.arange(node.numel(), device=node.device) if self.disjoint else torch.zeros_like(node)
        assert isinstance(self.num_nodes, int)
        merged = _Union(self.num_nodes, self._source.num_edges)
        fanouts = self.num_neighbors.values
        for hop, fanout in enumerate(fanouts):
            known = merged.nodes.numel() if hop else 0
            for backward in (False, True):
                number = ((batch * len(fanouts) + hop) * 2 + backward) % 2**64  # its own draws
                sampler = self._hop(fanout, backward)
                out = NeighborSampler._sample(sampler, {None: node}, None, number)
                edge = out.edge if sampler._permutation is None else sampler._permutation[out.edge]
                ends = (out.col, out.row) if backward else (out.row, out.col)
                merged.add(out.node, tree[out.batch] if self.disjoint else torch.zeros_like(out.node), *ends, edge,
                           out.num_sampled_nodes[0])  # fmt: skip
            if hop == 0:
                known = merged.num_nodes[0]  # the seeds
            node, tree = merged.nodes[known:], merged.trees[known:]
        if not fanouts:
            empty = torch.empty(0, dtype=torch.int64, device=node.device)
            merged.add(node, tree, empty, empty, empty, node.numel())
            merged.num_nodes, merged.num_edges = merged.num_nodes[:1], []
        return SamplerOutput(
            node=merged.nodes,
            row=merged.row,
            col=merged.col,
            edge=merged.edge,
            batch=merged.trees if self.disjoint else None,
            num_sampled_nodes=merged.num_nodes,
            num_sampled_edges=merged.num_edges,
        )


class _Union:
    """Vertices and edges of several samples, each once, in the order of their first appearance."""

    def __init__(self, num_nodes: int, num_edges: int) -> None:
        self._of_node, self._of_edge = num_nodes, num_edges
        none = torch.empty(0, dtype=torch.int64)
        self.nodes = self.trees = self.row = self.col = self.edge = self._edge_trees = none
        self.num_nodes: list[int] = []
        self.num_edges: list[int] = []

    def add(self, node: Tensor, tree: Tensor, row: Tensor, col: Tensor, edge: Tensor, num_seeds: int) -> None:
        """A sample: its vertices, each of which belongs to a tree; seeds come first."""
        place, fresh = _placed(self.trees * self._of_node + self.nodes, tree * self._of_node + node.long())
        self.num_nodes += [int(fresh[:num_seeds].sum()), int(fresh[num_seeds:].sum())]
        self.nodes = torch.cat([self.nodes.to(node.device), node.long()[fresh]])
        edge_tree = tree[row]
        self.trees = torch.cat([self.trees.to(node.device), tree[fresh]])
        _, fresh = _placed(self._edge_trees * self._of_edge + self.edge, edge_tree * self._of_edge + edge.long())
        self.num_edges.append(int(fresh.sum()))
        self.row = torch.cat([self.row.to(node.device), place[row][fresh]])
        self.col = torch.cat([self.col.to(node.device), place[col][fresh]])
        self.edge = torch.cat([self.edge.to(node.device), edge.long()[fresh]])
        self._edge_trees = torch.cat([self._edge_trees.to(node.device), edge_tree[fresh]])


def _placed(known: Tensor, given: Tensor) -> tuple[Tensor, Tensor]:
    """The place of each given key behind the known ones, which differ, and whether it is there first appears."""
    every = torch.cat([known.to(given.device), given])
    keys, number = every.unique(return_inverse=True)
    places = torch.arange(every.numel(), device=every.device)
    first = torch.full((keys.numel(),), every.numel(), device=every.device).scatter_reduce(0, number, places, "amin")
    fresh = (first[number] == places)[known.numel() :]
    rank = known.numel() + fresh.cumsum(0) - 1
    first = first[number[known.numel() :]]
    behind = (first - known.numel()).clamp(min=0)
    return torch.where(first < known.numel(), first, rank[behind]), fresh
