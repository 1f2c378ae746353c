"""PyG's data modules for PyTorch Lightning, with this package's loaders."""

from __future__ import annotations

from typing import Any

from torch.utils.data import DataLoader
from torch_geometric.data.lightning import datamodule as theirs

from ._link_loader import LinkNeighborLoader
from ._node_loader import NeighborLoader
from ._sampler import NeighborSampler


class _OurSampler:
    """Gives PyG's data module a `NeighborSampler` of this package. Comes before the PyG class in the order of bases.

    PyG's class takes any sampler, but then calls the loader "custom", and warns of the sampler's arguments; so these
    are set aside, and put back afterwards."""

    _given = ""  # the argument that holds the user's own sampler
    kwargs: dict[str, Any]

    def __init__(self, data: Any, *inputs: Any, loader: str = "neighbor", **kwargs: Any) -> None:
        if loader not in ("neighbor", "link_neighbor") or kwargs.get(self._given) is not None:
            super().__init__(data, *inputs, loader=loader, **kwargs)  # type: ignore[call-arg]
            return
        inputs_of_theirs = {name: kwargs.pop(name) for name in [*kwargs] if name.startswith("input_")}
        evaluation = kwargs.pop("eval_loader_kwargs", None)
        of_sampler, of_loader = theirs.split_kwargs(kwargs, NeighborSampler)
        sampler = NeighborSampler(data, **of_sampler)
        super().__init__(  # type: ignore[call-arg]
            data,
            *inputs,
            loader=loader,
            **{self._given: sampler},
            eval_loader_kwargs=evaluation,
            **inputs_of_theirs,
            **of_loader,
        )
        self.loader = loader
        self.kwargs = {**self.kwargs, **of_sampler}
        of_evaluation, _ = theirs.split_kwargs(evaluation or {}, NeighborSampler)
        if of_evaluation.keys() - {"num_neighbors"}:  # PyG sets attributes of a copy, which is enough for these alone
            self.eval_graph_sampler = NeighborSampler(data, **{**of_sampler, **of_evaluation})


class LightningNodeData(_OurSampler, theirs.LightningNodeData):  # type: ignore[misc]
    """A data module of PyTorch Lightning with mini-batches around vertices: `torch_geometric.data.LightningNodeData`
    with this package's `NeighborLoader`.

    Parameters
    ----------
    data, input_train_nodes, input_train_time, …, input_pred_time, loader, node_sampler, eval_loader_kwargs
        As in PyG.
    **kwargs
        Arguments of `NeighborLoader`, those beyond PyG's too (``seed``, ``device``, …).

    Raises
    ------
    ModuleNotFoundError
        If PyTorch Lightning isn't installed.
    """

    _given = "node_sampler"

    def dataloader(
        self,
        input_nodes: Any,
        input_time: Any = None,
        input_id: Any = None,
        node_sampler: Any = None,
        **kwargs: Any,
    ) -> DataLoader | NeighborLoader:
        """The loader of some vertices."""
        if not isinstance(node_sampler, NeighborSampler):
            return super().dataloader(input_nodes, input_time, input_id, node_sampler, **kwargs)
        return NeighborLoader(
            self.data,
            [],
            input_nodes,
            input_time,
            neighbor_sampler=node_sampler,
            input_id=input_id,
            **kwargs,
        )


class LightningLinkData(_OurSampler, theirs.LightningLinkData):  # type: ignore[misc]
    """A data module of PyTorch Lightning with mini-batches around links: `torch_geometric.data.LightningLinkData` with
    this package's `LinkNeighborLoader`.

    Parameters
    ----------
    data, input_train_edges, input_train_labels, input_train_time, …, input_pred_time, loader, link_sampler,
    eval_loader_kwargs
        As in PyG.
    **kwargs
        Arguments of `LinkNeighborLoader`, those beyond PyG's too (``seed``, ``device``, …).

    Raises
    ------
    ModuleNotFoundError
        If PyTorch Lightning isn't installed.
    """

    _given = "link_sampler"

    def dataloader(
        self,
        input_edges: Any,
        input_labels: Any = None,
        input_time: Any = None,
        input_id: Any = None,
        link_sampler: Any = None,
        **kwargs: Any,
    ) -> DataLoader | LinkNeighborLoader:
        """The loader of some links."""
        if not isinstance(link_sampler, NeighborSampler):
            return super().dataloader(
                input_edges, input_labels, input_time, input_id, link_sampler, **kwargs
            )
        return LinkNeighborLoader(
            self.data,
            [],
            edge_label_index=input_edges,
            edge_label=input_labels,
            edge_label_time=input_time,
            neighbor_sampler=link_sampler,
            input_id=input_id,
            **kwargs,
        )
