"""ShaDow's subgraphs, as PyG hands them over."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from tendril._errors import ArgumentError
from tendril._params import fill, integer
from tendril import _tendril
from tendril._subgraphs import shadow_sample

from . import _graph, _inputs, _tables
from ._numbered import NumberedLoader


class ShaDowKHopSampler(NumberedLoader):
    """Loads ShaDow's subgraphs: `torch_geometric.loader.ShaDowKHopSampler` with Tendril's engine, on the CPU.

    It takes PyG's arguments and yields the same fields: a Batch with a subgraph for each root, its vertices in
    ascending order; `edge_index`, or `adj_t` if the data has it; `batch`, `ptr`, `root_n_id`, and the attributes of the
    vertices and edges; `y` of the roots alone. Batch i of epoch e has the number ``e * n + i``, for n batches an epoch.
    This number, the place in the batch and ``seed`` determine the draws of a root; the number of threads doesn't. See
    `tendril.shadow_sample`.

    Parameters
    ----------
    data : Data
        With `edge_index` or `adj_t`. The constructor converts the graph once.
    depth : int
        Hops, in [1, 64].
    num_neighbors : int
        Draws per vertex, in [1, 1024].
    node_idx : tensor, optional
        The roots: vertices or a mask. Default: all vertices.
    replace : bool
        Draw with replacement.
    seed : int, optional
        In [0, 2^64). None: the constructor draws it once from Torch's generator.
    num_threads : int
        Number of threads; 0: every core the process may use.
    **loader
        ``batch_size``, ``shuffle`` and the other arguments of `torch.utils.data.DataLoader`. Arguments of worker
        processes are accepted, without effect.

    Raises
    ------
    ArgumentError
        A ValueError: for roots that are not vertices, a parameter out of range, data without edges.
    """

    def __init__(
        self,
        data: Data,
        depth: int,
        num_neighbors: int,
        node_idx: Tensor | None = None,
        replace: bool = False,
        *,
        seed: int | None = 0,
        num_threads: int = 0,
        **loader: Any,
    ) -> None:
        if not isinstance(data, Data):
            raise ArgumentError(f"data is a {type(data).__name__}, expected Data")
        if data.get("edge_index") is None and data.get("adj_t") is None:
            raise ArgumentError("data has neither edge_index nor adj_t, expected one of them")
        fill(_tendril.ShadowParams(), depth=depth, num_neighbors=num_neighbors, replace=replace)  # reports problems here
        _tables.expect_none(data, type(self).__name__)
        self.data = copy.copy(data)
        self.depth, self.num_neighbors, self.replace = depth, num_neighbors, replace
        self.num_threads = integer(num_threads, "num_threads", 32)
        self.is_sparse_tensor = data.get("edge_index") is None
        source = _graph.from_data(data, None, None, num_threads)
        self._graph: Any = source.graph
        self._permutation: Any = source.permutation
        self._count = int(source.num_nodes)  # type: ignore[arg-type]
        _, nodes, _ = _inputs.nodes_of(data, node_idx, None)
        self.node_idx = nodes
        super().__init__(nodes.tolist(), seed, **loader)

    def _make(self, items: list[int], number: int) -> Batch:
        made = shadow_sample(
            self._graph,
            items,
            self.depth,
            self.num_neighbors,
            replace=self.replace,
            seed=self.seed,
            first_sample=number << 24,
            num_threads=self.num_threads,
        )
        nodes, offsets = torch.from_numpy(made.nodes), torch.from_numpy(made.node_offsets)
        batch = torch.repeat_interleave(torch.arange(len(items)), offsets.diff())
        order = torch.argsort(batch * self._count + nodes)  # each subgraph's vertices ascend
        place = torch.empty_like(order)
        place[order] = torch.arange(order.numel())
        n_id = nodes[order]
        tree = torch.repeat_interleave(torch.arange(len(items)), torch.from_numpy(made.edge_offsets).diff())
        target, source = (place[torch.from_numpy(ends) + offsets[tree]] for ends in (made.row, made.col))
        e_id = torch.from_numpy(made.edges)
        e_id = e_id if self._permutation is None else self._permutation[e_id]
        first, second = (target, source) if self.is_sparse_tensor else (source, target)
        by = torch.argsort(first * max(n_id.numel(), 1) + second, stable=True)
        source, target, e_id = source[by], target[by], e_id[by]

        out = Batch(batch=batch, ptr=offsets)
        out.root_n_id = place[offsets[:-1]]  # the engine has the root first
        if self.is_sparse_tensor:
            given = self.data.adj_t
            _, _, value = given.coo()
            out.adj_t = type(given)(
                row=target,
                col=source,
                value=None if value is None else value[e_id],
                sparse_sizes=(n_id.numel(), n_id.numel()),
                is_sorted=True,
                trust_data=True,
            )
        else:
            out.edge_index = torch.stack([source, target])
        num_edges = self.data.num_edges
        for name, value in self.data:
            if name in ("edge_index", "adj_t", "num_nodes", "batch", "ptr"):
                continue
            rows = value.size(0) if isinstance(value, Tensor) and value.dim() > 0 else -1
            if rows == self._count:
                out[name] = value[n_id][out.root_n_id] if name == "y" else value[n_id]
            else:
                out[name] = value[e_id] if rows == num_edges else value
        return out
