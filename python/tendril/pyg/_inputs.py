"""The inputs of a loader, in all forms that PyG's loaders take."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData, remote_backend_utils
from torch_geometric.loader.utils import get_edge_label_index
from torch_geometric.sampler import NodeSamplerInput

from tendril._errors import ArgumentError


class Unsupported(ArgumentError, NotImplementedError):
    """What PyG refuses with a NotImplementedError or a RuntimeError."""


def turned_type(key: tuple[str, str, str]) -> tuple[str, str, str]:
    """The type of an edge type's edges when they are turned round."""
    return key[2], key[1], key[0]


def as_tensor(value: Any, what: str) -> Tensor:
    """A tensor with one contiguous block of elements, on any device, or a value that can be converted to one."""
    if not isinstance(value, Tensor):
        try:
            value = torch.as_tensor(value)
        except (TypeError, ValueError, RuntimeError) as error:
            raise ArgumentError(f"{what} can't be a tensor: {str(error).splitlines()[0]}") from None
    if hasattr(value, "as_tensor"):  # PyG's EdgeIndex and Index wrap a tensor, and have no elements themselves
        value = value.as_tensor()
    if value.layout != torch.strided or value.is_meta:
        kind = "on the device 'meta'" if value.is_meta else f"of the layout {value.layout}"
        raise ArgumentError(f"{what} is a tensor {kind}, expected a dense one with elements")
    return value


def expect_integers(tensor: Tensor, what: str, expected: str = "integers") -> Tensor:
    """The same numbers as int64."""
    if tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.bool:
        raise ArgumentError(f"{what} has dtype {tensor.dtype}, expected {expected}")
    return tensor.to(torch.int64)


def positions(value: Any, what: str, count: int) -> Tensor:
    """Positions in the input of a loader."""
    places = as_tensor(value, what).reshape(-1)
    if places.numel() == 0:
        return places.to(torch.int64)
    places = expect_integers(places, what)
    expect_below(places, count, what, "a position")
    return places


def nodes_of(data: Any, input_nodes: Any, input_id: Tensor | None) -> tuple[str | None, Tensor, Tensor | None]:
    """The type of the seeds, the seeds, and their ids if these aren't their positions."""
    name: str | None = None
    if isinstance(data, HeteroData):
        name, input_nodes = _typed(input_nodes, data.node_types)
        count = int(data[name].num_nodes or 0)
    elif isinstance(data, Data):
        count = int(data.num_nodes or 0)
    else:
        features, graphs = data
        if isinstance(input_nodes, str) or (isinstance(input_nodes, (tuple, list)) and _is_name(input_nodes)):
            known = [attr.group_name for attr in features.get_all_tensor_attrs()]
            name, input_nodes = _typed(input_nodes, list(dict.fromkeys(known)))
            count = int(remote_backend_utils.num_nodes(features, graphs, name))
        else:
            count = max(graphs.get_all_edge_attrs()[0].size)
    if input_nodes is None:
        return name, torch.arange(count), one_each(input_id, "input_id", count, "seed")
    return (name, *_seeds(input_nodes, input_id, count))


def _is_name(given: Any) -> bool:
    return len(given) > 0 and isinstance(given[0], str)


def _typed(given: Any, known: list[str]) -> tuple[str, Any]:
    if isinstance(given, str):
        name, nodes = given, None
    elif isinstance(given, (tuple, list)) and len(given) == 2 and isinstance(given[0], str):
        name, nodes = given
    else:
        what = "None" if given is None else f"a {type(given).__name__}"
        raise ArgumentError(f"input_nodes is {what}, expected a vertex type or a pair of one and its vertices")
    if name not in known:
        raise ArgumentError(f"input_nodes has the vertex type '{name}', expected one of {known}")
    return name, nodes


def _seeds(given: Any, input_id: Tensor | None, count: int) -> tuple[Tensor, Tensor | None]:
    nodes = as_tensor(given, "input_nodes").detach().cpu()
    if nodes.dim() != 1:
        raise ArgumentError(f"input_nodes has shape {tuple(nodes.shape)}, expected one dimension")
    if nodes.dtype == torch.bool:
        if nodes.numel() != count:
            raise ArgumentError(f"input_nodes is a mask of {nodes.numel()} vertices, expected {count}")
        nodes = nodes.nonzero().view(-1)
        input_id = nodes if input_id is None else input_id
    elif nodes.numel() == 0:  # an empty list becomes a tensor of floats
        nodes = nodes.to(torch.int64)
    else:
        nodes = expect_integers(nodes, "input_nodes", "integers or a mask")
    expect_below(nodes, count, "input_nodes", "a vertex")
    return nodes, one_each(input_id, "input_id", nodes.numel(), "seed")


def expect_below(ids: Tensor, count: int, what: str, of: str) -> None:
    """Checks that all ids are in [0, count); the error names the first that isn't."""
    if ids.numel() == 0:
        return
    low, high = (int(one) for one in torch.aminmax(ids))
    if low < 0 or high >= count:
        place = int(((ids < 0) | (ids >= count)).nonzero()[0])
        raise ArgumentError(f"{what}[{place}] is {int(ids[place])}, expected {of} in [0, {count})")


def links_of(data: Any, edge_label_index: Any, num_nodes: Any) -> tuple[Any, Tensor]:
    """The type of the links (None for data without types), and the links."""
    if isinstance(data, HeteroData):
        _expect_edge_type(edge_label_index, data)
    elif not isinstance(data, Data) and edge_label_index is None:
        raise ArgumentError("edge_label_index is None, expected an edge type or links")
    if isinstance(data, Data) and edge_label_index is not None:
        edge_label_index = as_tensor(edge_label_index, "edge_label_index")
    try:
        plain = isinstance(edge_label_index, Tensor) and isinstance(num_nodes, int)
        kind, links = (None, edge_label_index) if plain else get_edge_label_index(data, edge_label_index)
    except AssertionError:
        raise ArgumentError("edge_label_index names no edge type, expected one, or a pair of one and links") from None
    if links is None:
        links = torch.empty(2, 0, dtype=torch.int64)
    what = "edge_label_index"
    links = as_tensor(links, what)
    if links.dim() != 2 or links.size(0) != 2:
        raise ArgumentError(f"{what} has shape {tuple(links.shape)}, expected (2, number of links)")
    links = links.detach().cpu()
    links = links.to(torch.int64) if links.numel() == 0 else expect_integers(links, what)
    for side in (0, 1):
        count = num_nodes if kind is None else num_nodes.get(kind[-side], 0)
        expect_below(links[side], count, f"{what}[{side}]", "a vertex")
    return kind, links


def _expect_edge_type(given: Any, data: HeteroData) -> None:
    pair = isinstance(given, (tuple, list)) and len(given) > 0
    kind = (given if isinstance(given[0], str) else given[0]) if pair else None
    if not isinstance(kind, (tuple, list)) or not all(isinstance(one, str) for one in kind):
        raise ArgumentError("edge_label_index names no edge type, expected one, or a pair of one and links")
    for name in (kind[0], kind[-1]):
        if name not in data.node_types:
            raise ArgumentError(f"edge_label_index has the vertex type '{name}', expected one of {data.node_types}")
    if kind is given and tuple(data._to_canonical(*kind)) not in data.edge_types:
        raise ArgumentError(f"edge_label_index is the edge type {tuple(kind)}, expected one of {data.edge_types}")


def one_each(value: Any, what: str, count: int, of: str) -> Tensor | None:
    """A tensor with one element of its first dimension per seed or link; None is passed through."""
    if value is None:
        return None
    tensor = as_tensor(value, what)
    if tensor.dim() == 0 or tensor.size(0) != count:
        raise ArgumentError(f"{what} has shape {tuple(tensor.shape)}, expected ({count}, …): one of each {of}")
    return tensor


def times(value: Any, what: str, count: int, of: str) -> Tensor | None:
    """A time for each seed or link; None is passed through."""
    tensor = one_each(value, what, count, of)
    if tensor is not None and (tensor.dim() != 1 or tensor.is_floating_point() or tensor.dtype == torch.bool):
        raise ArgumentError(f"{what} has dtype {tensor.dtype} and shape {tuple(tensor.shape)}, expected int64 ({count},)")
    return tensor


def split_nodes(index: NodeSamplerInput, size: int) -> list[NodeSamplerInput]:
    """Parts of `size` vertices, the last of fewer, as `index[...]` gives them."""
    nodes = index.node.split(size) if index.node.numel() else ()
    ids = (torch.arange(index.node.numel()) if index.input_id is None else index.input_id).split(size)
    times: Any = [None] * len(nodes) if index.time is None else index.time.split(size)
    kind = index.input_type
    return [
        NodeSamplerInput(input_id=one, node=node, time=time, input_type=kind)
        for one, node, time in zip(ids, nodes, times, strict=False)
    ]
