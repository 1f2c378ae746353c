"""Converts mini-batches to PyG's sampler outputs, and adds the fields that its loaders expect beyond the engine's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
import torch.utils.dlpack
from torch import Tensor
from torch_geometric.sampler import HeteroSamplerOutput, SamplerOutput

from tendril._minibatch import Minibatch

from ._inputs import turned_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_NOTHING = np.empty(0, np.int64)


def _taker(array: Any) -> Callable[[Any], Tensor]:
    """A function that converts the engine's arrays to tensors in the same memory: this array, and the others of the
    same call. The current stream waits for the arrays; the function looks it up once, not for each array."""
    if isinstance(array, np.ndarray):
        return lambda one: torch.from_numpy(one)
    stream = torch.cuda.current_stream(array.__dlpack_device__()[1]).cuda_stream or 1  # DLPack's number of the default stream
    return lambda one: torch.utils.dlpack.from_dlpack(one.__dlpack__(stream=stream))


class Lasting:
    """An output's tensors in the library's memory, which isn't reused while a stream may read it, and which Torch's allocator
    doesn't know."""

    def __init__(self, values: Iterable[Any]) -> None:
        self._tensors = tuple(one for one in values if isinstance(one, Tensor))

    def add(self, tensors: tuple[Tensor, ...]) -> None:
        self._tensors += tensors

    def ids(self) -> frozenset[int]:
        return frozenset(map(id, self._tensors))


def lasting_of(out: Any) -> frozenset[int]:
    """The `id`s of those tensors. A function that replaces tensors of an output leaves it as it is."""
    known: Lasting | None = getattr(out, "lasting", None)
    return frozenset() if known is None else known.ids()


def output_of(made: Minibatch, keeps_counts: bool, num_hops: int) -> SamplerOutput | HeteroSamplerOutput:
    """The batch in PyG's terms: an edge leads from `row`, the neighbour, to `col`, the expanded vertex.

    keeps_counts: whether the edges are those sampled hop by hop. num_hops: of the batch; 0 if it is the seeds alone.
    """
    if not isinstance(made.node, dict):
        tensor = _taker(made.node)
        out = SamplerOutput(
            node=tensor(made.node),
            row=tensor(made.col),
            col=tensor(made.row),
            edge=tensor(made.edge),
            batch=None if made.batch is None else tensor(made.batch),
            num_sampled_nodes=list(made.num_sampled_nodes)[: num_hops + 1],
            num_sampled_edges=list(made.num_sampled_edges)[:num_hops] if keeps_counts else None,
        )
        if made.weights is not None:
            out.edge_labor_weight = tensor(made.weights)
        out.lasting = Lasting(vars(out).values())
        return out
    tensor = _taker(next(iter(made.node.values()), _NOTHING))
    out = HeteroSamplerOutput(
        node={key: tensor(one) for key, one in made.node.items()},
        row={key: tensor(one) for key, one in made.col.items()},
        col={key: tensor(one) for key, one in made.row.items()},
        edge={key: tensor(one) for key, one in made.edge.items()},
        batch=None if made.batch is None else {key: tensor(one) for key, one in made.batch.items()},
        num_sampled_nodes={key: list(one)[: num_hops + 1] for key, one in made.num_sampled_nodes.items()},
        num_sampled_edges=(
            {key: list(one)[:num_hops] for key, one in made.num_sampled_edges.items()} if keeps_counts else None
        ),
    )
    if made.weights is not None:
        out.edge_labor_weight = {key: tensor(one) for key, one in made.weights.items()}
    out.lasting = Lasting(one for many in vars(out).values() if isinstance(many, dict) for one in many.values())
    return out


def backward(out: Any) -> Any:
    """A sample of a graph whose edges are turned round, in terms of the data: `row` holds sources, `col` targets."""
    if isinstance(out, SamplerOutput):
        out.row, out.col = out.col, out.row
        return out
    out.row, out.col, out.edge = _turned(out.col), _turned(out.row), _turned(out.edge)
    if out.num_sampled_edges is not None:
        out.num_sampled_edges = _turned(out.num_sampled_edges)
    if labor_weights(out) is not None:
        out.edge_labor_weight = _turned(labor_weights(out))
    return out


def _turned(of_type: dict[Any, Any]) -> dict[Any, Any]:
    return {turned_type(key): value for key, value in of_type.items()}


def labor_weights(out: Any) -> Any:
    """The importance weights of a LABOR batch's edges; None of other batches."""
    return getattr(out, "edge_labor_weight", None)


def bidirectional(out: SamplerOutput, keep_orig_edges: bool) -> SamplerOutput:
    """Each edge in both directions, without duplicates, ordered by target, then source, as in PyG's `to_bidirectional`.
    One difference: if several edges of the graph become one edge, it has the id of the edge that was sampled first."""
    if keep_orig_edges:
        out.orig_row, out.orig_col = out.row, out.col
    else:
        out.num_sampled_nodes = out.num_sampled_edges = None
    row, col = torch.cat([out.row, out.col]), torch.cat([out.col, out.row])
    key, order = torch.sort(col * max(out.node.numel(), 1) + row, stable=True)
    first = torch.ones_like(key, dtype=torch.bool)
    first[1:] = key[1:] != key[:-1]
    picked = order[first]
    out.row, out.col = row[picked], col[picked]
    if out.edge is not None:
        out.edge = torch.cat([out.edge, out.edge])[picked]
    return out


def repeat_seeds(out: Any, seeds: dict[str | None, Tensor]) -> Any:
    """Repeat seeds that are given more than once. The engine has one vertex for such a seed, but PyG's loaders promise
    that the first vertices of a batch are the given seeds. Each repetition therefore becomes a vertex of its own, with
    a copy of the edges that lead to the seed: a model sees the same neighbourhood there."""
    for name, seed in seeds.items():
        counts = out.num_sampled_nodes if name is None else out.num_sampled_nodes[name]
        if counts[0] < seed.numel():
            _repeat(out, name, seed.to((out.node if name is None else out.node[name]).device))
    return out


def _repeat(out: Any, name: str | None, seed: Tensor) -> None:
    node = out.node if name is None else out.node[name]
    counts = out.num_sampled_nodes if name is None else out.num_sampled_nodes[name]
    distinct, given = counts[0], seed.numel()
    seed = seed.to(node.dtype)
    ascending, order = torch.sort(node[:distinct])
    number = order[torch.searchsorted(ascending, seed)]  # for each seed, in the engine's batch
    places = torch.arange(given, device=node.device)
    first = torch.full((distinct,), given, device=node.device).scatter_reduce(0, number, places, "amin")
    moved = torch.cat([first, torch.arange(given, given + node.numel() - distinct, device=node.device)])
    again = (first[number] != places).nonzero().view(-1)
    counts[0] = given
    whole = torch.cat([seed, node[distinct:]])
    if name is None:
        out.node = whole
        hops = out.num_sampled_edges
        of_edges = _Edges(out.row, out.col, out.edge, labor_weights(out))
        made, copies = _copy_edges(of_edges, moved, moved, number, again, hops)
        out.row, out.col, out.edge = made.row, made.col, made.edge
        if made.weights is not None:
            out.edge_labor_weight = made.weights
        if hops:
            hops[0] += copies
        return
    weights = labor_weights(out)
    out.node[name] = whole
    for key in out.row:
        hops = None if out.num_sampled_edges is None else out.num_sampled_edges[key]
        of_row = moved if key[0] == name else None
        if key[2] == name:
            of_edges = _Edges(out.row[key], out.col[key], out.edge[key], None if weights is None else weights[key])
            made, copies = _copy_edges(of_edges, of_row, moved, number, again, hops)
            out.row[key], out.col[key], out.edge[key] = made.row, made.col, made.edge
            if weights is not None:
                weights[key] = made.weights
            if hops:
                hops[0] += copies
        elif of_row is not None:
            out.row[key] = of_row[out.row[key]]


class _Edges(NamedTuple):
    """The edges of one type."""

    row: Tensor
    col: Tensor
    edge: Tensor
    weights: Tensor | None


def _copy_edges(
    edges: _Edges,
    of_row: Tensor | None,
    of_col: Tensor,
    number: Tensor,
    again: Tensor,
    hops: list[int] | None,
) -> tuple[_Edges, int]:
    """The edges with new numbers. The copies follow the edges of the first hop (all edges, if they aren't in hops): for
    each repetition in `again` the edges that lead to its seed."""
    row, col = edges.row, edges.col
    ascending, order = torch.sort(col, stable=True)
    begin = torch.searchsorted(ascending, number[again])
    count = torch.searchsorted(ascending, number[again], right=True) - begin
    total = int(count.sum())
    offset = torch.arange(total, device=row.device) - torch.repeat_interleave(count.cumsum(0) - count, count)
    source = order[torch.repeat_interleave(begin, count) + offset]
    row, to = (row if of_row is None else of_row[row]), of_col[col]
    cut = hops[0] if hops else row.numel()
    copied = torch.repeat_interleave(again, count)

    def with_copies(of: Tensor) -> Tensor:
        return torch.cat([of[:cut], of[source], of[cut:]])

    made = _Edges(
        with_copies(row),
        torch.cat([to[:cut], copied, to[cut:]]),
        with_copies(edges.edge),
        None if edges.weights is None else with_copies(edges.weights),
    )
    return made, total
