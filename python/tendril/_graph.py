"""The graph: construction and conversion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _arrays, _gpu, _interop, _pickles, _placement, _tendril
from ._calls import accepts
from ._errors import ArgumentError, shown
from ._graph_arrays import GraphArrays
from ._params import BUILDING, FROM_COO, build_options, file_name, flag, string, strings, threads, unsigned

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import networkx
    import scipy.sparse
    from numpy.typing import ArrayLike
    from typing_extensions import Self, Unpack

    from ._params import BuildKeywords


class Graph(GraphArrays, _pickles.Unchanging):
    """An immutable directed graph, in host memory or, if made by `to`, in the memory of a GPU.

    The out-edges of vertex ``v`` are the positions ``indptr[v]`` to ``indptr[v + 1]`` of `indices`, in ascending order
    of target; an undirected graph holds both directions of each edge. Make a graph with `from_coo`, `from_edge_index`,
    `from_csr`, `from_scipy`, `from_networkx`, `load` or the functions of `tendril.generate`. These arrays are the CSR
    form. `compress` stores the neighbours in fewer bits; no sample depends on the form.

    All properties that return arrays return read-only NumPy views of the graph's own memory, without a copy. A view
    stays valid as long as you hold it, even after the graph is deleted. These properties need a graph in host memory.
    """

    __slots__ = ("__weakref__", "_copies", "_file")

    def __init__(self, core: _tendril.Graph) -> None:
        if not isinstance(core, _tendril.Graph):
            raise ArgumentError(f"Graph({shown(core)}): expected one of Graph.from_coo, from_csr, from_scipy, load, …")
        self._core = core
        self._copies: dict[int, _tendril.Graph] = {}
        self._file: _pickles.MappedFile | None = None

    def __reduce__(self) -> Any:
        return _pickles.of_graph(self)

    # Making graphs

    @classmethod
    @accepts(also=BUILDING)
    def from_coo(
        cls,
        source: ArrayLike,
        target: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        node_types: ArrayLike | None = None,
        edge_label_names: Sequence[str] = (),
        node_type_names: Sequence[str] = (),
        metadata: Mapping[str, str] | None = None,
        num_threads: int = 0,
        **build: Unpack[BuildKeywords],
    ) -> Self:
        """Build a graph from edges in any order.

        The steps run in this order: reverse, symmetrize, drop self loops, drop duplicates, compact. Neighbours are
        sorted; equal neighbours keep their input order. The number of threads doesn't change the result.

        Parameters
        ----------
        source, target : array_like of int, shape [E]
            Ends of each edge, in any form that NumPy or DLPack (CPU) can read. uint32 and int32 are read in place;
            other integers are converted first.
        weights : array_like of float, shape [E], optional
            Finite and >= 0; stored as float32.
        labels : array_like of int, shape [E], optional
            Edge labels in [0, 65535]; stored as uint8 or uint16.
        node_types : array_like of int, shape [V], optional
            Vertex types in [0, 65535]. With ``compact``, the types of the vertices before renumbering.
        edge_label_names, node_type_names : sequence of str, optional
            Names of label 0, 1, … and type 0, 1, …, for use in `metapath_walk`.
        metadata : mapping of str to str, optional
            Stored with the graph and in its native file format.
        num_threads : int
            Number of threads; 0: every core the process may use.
        num_vertices : int, optional
            Default: the largest id plus one (or the length of ``node_types``).
        reverse : bool
            Reverse every edge.
        symmetrize : bool
            Add each edge's reverse; a self loop is not doubled.
        drop_self_loops : bool
        drop_duplicates : bool
            Of edges with equal source, target and label, keep the first.
        compact : bool
            Renumber the vertices that have an edge 0, 1, … in id order; `original_ids` holds their original ids.
        keep_edge_ids : bool
            Keep `edge_ids`: the position of each edge in the input.

        Returns
        -------
        Graph

        Raises
        ------
        ArgumentError
            For arrays of different lengths, an id that is negative or not below ``num_vertices``.
        FormatError
            For a weight that is NaN, infinite or negative.
        OutOfMemoryError
            If memory is not available; building peaks at 2.2 times the sum of input and result.
        """
        types = _arrays.labels(node_types, "node_types")
        if types is not None and build.get("num_vertices") is None:
            build["num_vertices"] = len(types)
        core = _tendril.Graph.from_coo(
            _arrays.ids(source, "source"),
            _arrays.ids(target, "target"),
            _arrays.weights(weights, "weights"),
            _arrays.labels(labels, "labels"),
            build_options(**build),
            threads(num_threads),
        )
        if types is not None and build.get("compact"):
            types = types[core.original_ids] if core.original_ids is not None else types[:0]
        return cls(_arrays.with_attributes(core, types, edge_label_names, node_type_names, metadata))

    @classmethod
    @accepts(also=(*FROM_COO, *BUILDING))
    def from_edge_index(cls, edge_index: ArrayLike, **options: Any) -> Self:
        """Build a graph from an edge index in PyTorch Geometric's form.

        Edge ``k`` leads from ``edge_index[0, k]`` to ``edge_index[1, k]`` and is an out-edge of the former. PyG's own
        sampler follows edges backwards, from target to source: for this behaviour, pass ``reverse=True``.

        Parameters
        ----------
        edge_index : array_like of int, shape [2, E]
        **options
            The keyword arguments of `from_coo`.

        Returns
        -------
        Graph

        Raises
        ------
        ArgumentError
            For another shape; also as `from_coo`.
        """
        edges = _arrays.as_array(edge_index, "edge_index")
        if edges.ndim != 2 or edges.shape[0] != 2:
            raise ArgumentError(f"edge_index has shape {edges.shape}, expected (2, number of edges)")
        return cls.from_coo(edges[0], edges[1], **options)

    @classmethod
    def from_csr(
        cls,
        indptr: ArrayLike,
        indices: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        node_types: ArrayLike | None = None,
        edge_label_names: Sequence[str] = (),
        node_type_names: Sequence[str] = (),
        metadata: Mapping[str, str] | None = None,
        symmetric: bool = False,
        validate: bool = True,
        num_threads: int = 0,
    ) -> Self:
        """Make a graph from arrays that are already in CSR form.

        Arrays whose types fit are not copied: the graph refers to the caller's arrays and keeps them alive. The caller
        must not change these arrays any more.

        Parameters
        ----------
        indptr : array_like of int, shape [V + 1]
            Used in place if int64.
        indices : array_like of int, shape [E]
            Ascending within each vertex. Used in place if uint32 or int32.
        weights : array_like of float, shape [E], optional
            Used in place if float32.
        labels, node_types : array_like of int, shapes [E] and [V], optional
            Used in place if uint8 or uint16.
        edge_label_names, node_type_names, metadata, num_threads
            As for `from_coo`.
        symmetric : bool
            The caller's assertion that every edge is stored in both directions.
        validate : bool
            Read everything now and check it. With False the first use checks what samplers rely on, once and at the
            speed of memory; only ``symmetric`` is taken on trust. Arrays that are changed later are not checked again:
            sampling may then crash or give wrong results.

        Returns
        -------
        Graph

        Raises
        ------
        ArgumentError
            For arrays whose lengths don't match each other.
        FormatError
            For content that is not CSR, naming the first violation; without ``validate`` at the first use.
        """
        core = _tendril.Graph.from_csr(
            _arrays.offsets(indptr, "indptr"),
            _arrays.ids(indices, "indices"),
            _arrays.weights(weights, "weights"),
            _arrays.labels(labels, "labels"),
            flag(symmetric, "symmetric"),
            flag(validate, "validate"),
            threads(num_threads),
        )
        types = _arrays.labels(node_types, "node_types")
        return cls(_arrays.with_attributes(core, types, edge_label_names, node_type_names, metadata))

    @classmethod
    def from_scipy(
        cls, matrix: Any, *, weights: bool = True, symmetric: bool | None = None, num_threads: int = 0
    ) -> Self:
        """Make a graph from a square SciPy sparse matrix or array: entry (i, j) is an edge from i to j.

        A CSR matrix with sorted indices is used in place where `from_csr` allows it; other matrices are converted.
        Stored zeros are edges of weight zero.

        Parameters
        ----------
        matrix : scipy.sparse matrix or array, shape [V, V]
        weights : bool
            Keep the values as float32 weights. A boolean matrix has no weights.
        symmetric : bool, optional
            The caller's assertion that every edge is stored in both directions, or not. Default: the call finds out.
        num_threads : int

        Returns
        -------
        Graph

        Raises
        ------
        ArgumentError
            If the matrix isn't sparse or square; also as `from_csr`.
        """
        arrays = _interop.csr_of_scipy(matrix, weights)
        graph = cls.from_csr(**arrays, symmetric=flag(symmetric, "symmetric"), num_threads=num_threads)
        return graph if symmetric is not None else cls(graph._core.with_symmetry(threads(num_threads)))

    @classmethod
    def from_networkx(
        cls,
        graph: networkx.Graph[Any],
        *,
        weight: str | None = None,
        label: str | None = None,
        node_type: str | None = None,
        num_threads: int = 0,
    ) -> Self:
        """Convert a NetworkX graph; an undirected graph gets both directions of each edge.

        Nodes that are the integers 0 to n - 1 keep their numbers; other nodes are numbered in the order of
        ``list(graph)``.

        Parameters
        ----------
        graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        weight : str, optional
            The edge attribute that holds weights; edges without it have weight 1.
        label, node_type : str, optional
            The attribute of edges (nodes) that holds labels (types): integers, or strings, which become
            `edge_label_names` (`node_type_names`) in sorted order. Every edge (node) must have the attribute.
        num_threads : int

        Returns
        -------
        Graph

        Raises
        ------
        ArgumentError
            For a missing attribute, or labels that are neither all integers nor all strings.
        """
        return cls.from_coo(**_interop.coo_of_networkx(graph, weight, label, node_type), num_threads=num_threads)

    @classmethod
    @accepts(also=BUILDING)
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        format: str = "auto",
        columns: Sequence[str] = (),
        num_threads: int = 0,
        **build: Unpack[BuildKeywords],
    ) -> Self:
        """Read a graph from a file.

        Parameters
        ----------
        path : path
            A .safetensors file is mapped, not read: it opens in milliseconds whatever its size. Its content is checked
            when the graph is first used, once and at the speed of memory; the arrays of the graph (`indptr`, …) show
            the file as it is. The file must not be overwritten or made shorter while the graph lives: a process
            that reads beyond the end of a mapped file ends, with the line "tendril: error: FILE: the file was
            truncated while it was read" on stderr and code 1: no exception can be raised there. To replace the file,
            rename another one over it, as `save` does.
        format : str
            "auto" (by content, then by name), "safetensors", "edge-list", "matrix-market", "npz", "gap", "metis",
            "webgraph", "coo32", "coo64" or "npy".
        columns : sequence of str
            Edge lists: the meaning of each column: "source", "target", "weight", "label" or "-" (ignore). Default:
            source, target, weight, label, as many as the first line has.
        num_threads : int
            Number of threads; 0: every core the process may use.
        **build
            num_vertices, reverse, symmetrize, drop_self_loops, drop_duplicates, compact, keep_edge_ids: see
            `from_coo`.

        Returns
        -------
        Graph

        Raises
        ------
        IoError
            If the file can't be read.
        FormatError
            If it is malformed: "file:line: what, expected what". For the content of a .safetensors file: when the
            graph is first used.
        """
        name, names = file_name(path, "path"), strings(columns, "columns")
        core = _tendril.read_graph(name, string(format, "format"), names, build_options(**build), threads(num_threads))
        graph = cls(core)
        if core.source and not build:  # else it is another graph than the file's
            graph._file = _pickles.MappedFile.of(name, format)
        return graph

    def save(self, path: str | os.PathLike[str], *, format: str = "auto", num_threads: int = 0) -> None:
        """Write the graph into a file. The file appears under its name only when it is complete. A .safetensors file
        keeps the form of the neighbours; other formats have one of their own.

        Parameters
        ----------
        path : path
        format : str
            As for `load`; "auto" selects the format by the name's extension. .safetensors keeps everything.
        num_threads : int

        Raises
        ------
        ArgumentError
            If the format is unknown or can't hold all data of the graph.
        IoError
            If the file can't be written.
        """
        core, name = self._on_host("save"), file_name(path, "path")
        _tendril.write_graph(core, name, string(format, "format"), threads(num_threads))

    @accepts(also=BUILDING)
    def rebuild(self, *, num_threads: int = 0, **build: Unpack[BuildKeywords]) -> Self:
        """Build a new graph from this graph with other options: ``graph.rebuild(reverse=True)`` is the transpose.

        Parameters
        ----------
        num_threads : int
        **build
            num_vertices, reverse, symmetrize, drop_self_loops, drop_duplicates, compact, keep_edge_ids: see
            `from_coo`. Edge ids refer to this graph's edges.

        Returns
        -------
        Graph
        """
        return type(self)(self._on_host("rebuild").rebuild(build_options(**build), threads(num_threads)))

    def renumber(self, order: str | ArrayLike, *, seed: int = 0, num_threads: int = 0) -> Self:
        """Give the vertices other numbers: neighbours with near numbers take fewer bits, and fewer cache misses.

        The result is another graph, whose samples differ. Weights, labels, edge ids and types stay with their edges
        and vertices. `original_ids` holds the id that each vertex had at first.

        Parameters
        ----------
        order : str or array_like of int, shape [V]
            "degree": falling degree. "bfs": breadth first from the vertex of largest degree of each component. "rcm":
            reverse Cuthill-McKee. "llp": layered label propagation, for the fewest bits. These orders ignore the
            directions of edges. Or each vertex once: the vertex at position i gets number i.
        seed : int
            Of "llp"; the other orders draw nothing.
        num_threads : int
            Number of threads; 0: every core the process may use. Never changes the result.

        Returns
        -------
        Graph
            In CSR form.

        Raises
        ------
        ArgumentError
            For another name, another length, a vertex out of range or twice, or a graph on a GPU.
        """
        core, number = self._on_host("renumber"), unsigned(seed, "seed")
        if isinstance(order, str):
            return type(self)(core.renumber_by(order, number, threads(num_threads)))
        return type(self)(core.renumber_as(_arrays.ids(order, "order"), threads(num_threads)))

    def compress(self, form: str = "auto", *, num_threads: int = 0) -> Self:
        """Get the same graph with its neighbours in another form. All samples stay the same, and so do the properties
        of edges and vertices; only `indptr` and `indices` need the CSR form.

        Parameters
        ----------
        form : str
            "auto": each list of neighbours as the smallest of "packed", "runs" and "ef". Reading a neighbour is O(1).
            "packed": numbers of a fixed width: the differences from the vertex, or the neighbours themselves, whichever
            take fewer bits. The quickest to read.
            "runs": runs of consecutive ids, or a fixed width, whichever is smaller for a list.
            "ef": Elias-Fano lists, or a fixed width, whichever is smaller for a list.
            "vbyte": gaps of 1 to 4 bytes. Slow to read; for comparison with other systems.
            "csr": 4 bytes a neighbour.
        num_threads : int
            Number of threads; 0: every core the process may use. Never changes the result. A graph on a GPU is compressed
            there, to the same bytes, and stays there.

        Returns
        -------
        Graph
            This graph, if it has that form.

        Raises
        ------
        ArgumentError
            For another form.
        FormatError
            If the graph's content, not checked before, is wrong.
        """
        core = self._core.in_form(string(form, "form"), threads(num_threads))
        return self if core.form == self.form else type(self)(core)

    def to_csr(self, *, num_threads: int = 0) -> Self:
        """Get the same graph in CSR form, 4 bytes a neighbour: this graph, if it has that form."""
        return self if self.form == "csr" else self.compress("csr", num_threads=num_threads)

    def to(self, device: Any) -> Self:
        """Get the same graph in the memory of a GPU, or in host memory.

        A call with ``device=`` does the same automatically. In both cases the copy is made once and stays with this
        graph until `drop_tables`. A graph that has no room in the GPU's free memory is placed in three quarters of it,
        as `place` does, by the visits of walks.

        Parameters
        ----------
        device : str
            "cuda" (the first GPU), "cuda:1", "cpu"; or a ``torch.device``. Several GPUs, as in "cuda:0,1", ["cuda:0",
            "cuda:1"] or "cuda:all": one graph over the memory of all, for graphs that one of them can't hold. Calls run
            on the first, or on those that their ``device`` names; walks in large numbers keep all of them busy.

        Returns
        -------
        Graph
            This graph, if it already is in that memory.

        Raises
        ------
        DeviceError
            If that GPU can't be used; the message gives the reason.
        OutOfMemoryError
            If not even the graph's directory fits; the message gives the bytes needed and free.
        """
        several = _gpu.parse_several(device)
        if several is not None:
            first, *others = self._core_on(_gpu.HOST).spread(several)
            made = type(self)(first)
            made._copies.update(zip(several[1:], others, strict=True))
            return made
        core = self._core_on(_gpu.parse(device))
        return self if core is self._core else type(self)(core)

    def place(
        self,
        gpu_bytes: int | str | None = None,
        policy: str | ArrayLike = "visits",
        *,
        share: str = "auto",
        app: str = "walks",
        length: int = 80,
        fanouts: Sequence[int] = (15, 10, 5),
        replace: bool = False,
        weighted: bool = False,
        starts: ArrayLike | None = None,
        num_samples: int = 0,
        batch_size: int = 1024,
        seed: int = 0,
        device: Any = "cuda",
    ) -> Self:
        """Get the same graph on a GPU as far as it has room there; other lists of neighbours lie in host memory, where
        kernels read them over the bus. All samples stay the same.

        Parameters
        ----------
        gpu_bytes : int or str, optional
            GPU memory for the graph: bytes, or text as in "8G". Default: nine tenths of the free memory.
        policy : str or array_like of float, shape [V]
            "visits": the lists that a job reads most per byte lie on the GPU, as `count_visits` finds out of `app`.
            "degree": the longest. Or the caller's expected reads of each list, finite and >= 0.
        share : str
            Who makes the samples of calls: "auto" (whichever was measured to be the fastest), "gpu", "cpu" or "both".
        app, length, fanouts, replace, weighted, starts, num_samples, batch_size, seed
            The job whose visits are counted: see `count_visits`. Any other can run, too.
        device : str

        Returns
        -------
        Graph
            In compressed form ("packed" of a CSR), with `device` and `placement`.

        Raises
        ------
        ArgumentError
            For a parameter out of range, or a graph that lies on a GPU as a whole.
        OutOfMemoryError
            If ``gpu_bytes`` doesn't hold the graph's directory, or memory runs out.
        DeviceError
            If that GPU can't be used, or has no concurrent access to managed memory.
        """
        what = _placement.job(app, length, fanouts, replace, weighted)
        return type(self)(
            _placement.place(
                self._core, gpu_bytes, policy, share, what, starts, num_samples, batch_size, seed, device
            )
        )

    # Looking at graphs

    def validate(self, *, num_threads: int = 0) -> None:
        """Read all arrays once and check them.

        Raises
        ------
        FormatError
            Naming the first violation: "vertex 7: neighbours not ascending at edge 31 (5 after 9)".
        """
        self._on_host("validate").validate(threads(num_threads))

    def drop_tables(self) -> None:
        """Free the tables and the copies on other devices that earlier calls made for this graph. Results never depend
        on them."""
        self._copies.clear()
        self._core.drop_derived()

    def info(self) -> dict[str, Any]:
        """A summary of the graph: sizes, degrees, and the attributes of edges and vertices."""
        return _interop.summary(self._on_host("info"))

    def to_scipy(self) -> scipy.sparse.csr_array:
        """The adjacency matrix as float32: the weights, or ones.

        Returns
        -------
        scipy.sparse.csr_array, shape [V, V]
            Shares the graph's weights. SciPy stores both index arrays in one type, so it copies at least one of them.
        """
        return _interop.to_scipy(self._on_host("to_scipy").in_form("csr", 0))

    def to_networkx(self) -> networkx.DiGraph[int]:
        """A NetworkX DiGraph (MultiDiGraph if there are parallel edges) on the vertices 0 to V - 1.

        Where the graph has labels, weights or types, edges have the attributes "label" and "weight", and nodes "type".
        Labels and types are given by name if the graph has names.
        """
        return _interop.to_networkx(self._on_host("to_networkx").in_form("csr", 0))

    def _core_on(self, place: int) -> _tendril.Graph:
        """The graph's core in the memory that a call runs on. The first request makes a copy, which stays with the
        graph."""
        here = self._core.device
        if place == here:
            return self._core
        core = self._copies.get(place)
        if core is None:
            host = self._core if here == _gpu.HOST else self._core.to_host()
            made = host if place == _gpu.HOST else host.fit_on_gpu(_gpu.graph_room(), place)
            _gpu.note_use()
            core = self._copies.setdefault(place, made)  # if two threads race, the first copy stays
        return core

    def _core_or_host(self, place: int) -> _tendril.Graph:
        """The same for calls that also take a graph in host memory: it stays there if a GPU has no room for it."""
        asks = self._core.device == _gpu.HOST and place not in (_gpu.HOST, *self._copies)
        stays = asks and not self._core.fits_on_gpu(_gpu.graph_room(), place)
        return self._core if stays else self._core_on(place)
