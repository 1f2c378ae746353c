"""What a graph holds: its sizes, its arrays and what describes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _gpu, _tendril
from ._errors import ArgumentError
from ._params import threads

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class GraphArrays:
    """The properties of `Graph`."""

    __slots__ = ("_core",)

    _core: _tendril.Graph

    @property
    def device(self) -> str:
        """The memory that holds the graph: "cpu" or "cuda:0"."""
        return _gpu.name_of(self._core.device)

    @property
    def placement(self) -> dict[str, int | float] | None:
        """Where a graph that `Graph.place` made lies; None for any other graph. Bytes of lists of neighbours on the GPU
        ("gpu_bytes") and in host memory ("host_bytes"), of the directory ("directory_bytes", on the GPU), of weights,
        labels and ids of edges ("gpu_edge_bytes", "host_edge_bytes"), and the expected share of the reads of lists that
        stay on the GPU ("visits_on_gpu")."""
        placed: dict[str, int | float] | None = _tendril.placement(self._core)
        return placed

    @property
    def num_vertices(self) -> int:
        """Number of vertices; ids are below this number."""
        return self._core.num_vertices

    @property
    def num_edges(self) -> int:
        """Number of directed edges stored."""
        return self._core.num_edges

    @property
    def num_bytes(self) -> int:
        """Bytes of the graph's arrays, excluding derived tables."""
        return self._core.num_bytes

    @property
    def form(self) -> str:
        """How the neighbours are stored, as `Graph.compress` was told: "csr", "packed", "runs", "ef", "vbyte" or
        "auto"."""
        return self._core.form

    @property
    def bits_per_edge(self) -> float:
        """Bits that neighbours and their directory take per edge: those of `indptr` and `indices`; of a
        compressed graph those of its directory and its lists. 0 without edges."""
        return self._core.bits_per_edge

    @property
    def edge_array_bits(self) -> dict[str, float]:
        """Bits per edge of each of "weights", "edge_labels" and "edge_ids" that the graph has. `Graph.compress` puts
        them into fewer bits where that takes less memory; the arrays stay the same, bit for bit."""
        return self._core.edge_array_bits

    @property
    def has_weights(self) -> bool:
        """Whether edges have weights."""
        return self._core.has_weights

    @property
    def has_edge_labels(self) -> bool:
        """Whether edges have labels."""
        return self._core.has_edge_labels

    @property
    def has_node_types(self) -> bool:
        """Whether vertices have types."""
        return self._core.has_node_types

    @property
    def symmetric(self) -> bool:
        """Whether every edge is known to be stored in both directions, with the same weight and label."""
        return self._core.symmetric

    @property
    def metadata(self) -> dict[str, str]:
        """Name, origin and other information from the graph's file or creator; a copy."""
        return self._core.metadata

    @property
    def edge_label_names(self) -> list[str]:
        """Names of label 0, 1, …; empty without names."""
        return self._core.edge_label_names

    @property
    def node_type_names(self) -> list[str]:
        """Names of type 0, 1, …; empty without names."""
        return self._core.node_type_names

    @property
    def indptr(self) -> NDArray[np.int64]:
        """[V + 1] int64: the start of each vertex's edges. Needs the CSR form, as `indices` does."""
        return self._in_csr("indptr").indptr

    @property
    def indices(self) -> NDArray[np.uint32]:
        """[E] uint32: the target of each edge. Use ``.view(np.int32)`` for frameworks that need a signed type."""
        return self._in_csr("indices").indices

    @property
    def weights(self) -> NDArray[np.float32] | None:
        """[E] float32, or None. Of a compressed graph that has them in fewer bits each call makes a new array."""
        return self._on_host("weights").weights

    @property
    def edge_labels(self) -> NDArray[np.uint8] | NDArray[np.uint16] | None:
        """[E] uint8 or uint16, or None. As `weights`."""
        return self._on_host("edge_labels").edge_labels

    @property
    def node_types(self) -> NDArray[np.uint8] | NDArray[np.uint16] | None:
        """[V] uint8 or uint16, or None."""
        return self._on_host("node_types").node_types

    @property
    def edge_ids(self) -> NDArray[np.int64] | None:
        """[E] int64: the position of each edge in the input (``keep_edge_ids``), or None. As
        `weights`."""
        return self._on_host("edge_ids").edge_ids

    @property
    def original_ids(self) -> NDArray[np.uint32] | None:
        """[V] uint32: the id of each vertex before renumbering (``compact``, `renumber`), or None."""
        return self._on_host("original_ids").original_ids

    def degrees(self) -> NDArray[np.int64]:
        """[V] int64: out-degrees, computed at each call."""
        return self._on_host("degrees").degrees()

    def list_statistics(self, *, num_threads: int = 0) -> dict[str, Any]:
        """Count what the neighbours take, by the code that each list is written in.

        Parameters
        ----------
        num_threads : int
            Number of threads; 0: every core the process may use. Never changes the result.

        Returns
        -------
        dict
            "codes" has, for "csr", "fixed", "runs", "runs_elias_fano", "elias_fano" and "vbyte", the number of "lists",
            of their "edges", and the "bits" of the neighbours. "header_bits" and "padding_bits" are what lists take
            besides, "directory_bits" is what says where they are, and "csr_bits" what neighbours and directory would
            take in CSR form.

        Raises
        ------
        ArgumentError
            For a graph on a GPU.
        FormatError
            If the graph's content, not checked before, is wrong.
        """
        statistics: dict[str, Any] = self._on_host("list_statistics").list_statistics(threads(num_threads))
        return statistics

    def _on_host(self, what: str) -> _tendril.Graph:
        """The graph's core, for functions that only run on the CPU."""
        if self._core.device != _gpu.HOST:
            raise ArgumentError(f"{what}: the graph is on {self.device}, expected one in host memory: graph.to('cpu')")
        return self._core

    def _in_csr(self, what: str) -> _tendril.Graph:
        """The graph's core, for properties that are the arrays of CSR."""
        core = self._on_host(what)
        if core.form != "csr":
            raise ArgumentError(f"{what}: the graph's form is '{core.form}', expected 'csr': graph.to_csr()")
        return core

    def __repr__(self) -> str:
        facts = [f"num_vertices={self.num_vertices}", f"num_edges={self.num_edges}"]
        carried = ("weights", "edge_labels", "node_types")
        facts += [name for name in carried if getattr(self._core, f"has_{name}")]
        facts += ["symmetric"] if self.symmetric else []
        facts += [] if self.form == "csr" else [f"form='{self.form}'"]
        facts += [f"device='{self.device}'"] if self._core.device != _gpu.HOST else []
        return f"Graph({', '.join(facts)})"
