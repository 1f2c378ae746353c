"""Sampling applications from C++ source text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _arrays, _gpu, _place, _tendril
from ._custom_code import CustomCode
from ._device_array import DeviceArray
from ._errors import ArgumentError
from ._params import fill, integer, threads
from ._several import shared

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from ._graph import Graph


class SampledEdges(NamedTuple):
    """The edges that one step recorded, in NumPy arrays or DeviceArrays."""

    offsets: Any
    """[n + 1] int64: sample ``i`` has the edges ``offsets[i]`` to ``offsets[i + 1]``, in the order of the calls."""
    sources: Any
    targets: Any


@dataclass(frozen=True)
class SampledStep:
    """The vertices and edges that one step added to the samples."""

    vertices: Any
    """[n, slots]: slot ``t * sample_size + j`` of a row holds call ``j`` for transit ``t``; -1 in slots that stay
    empty. For a collective application: [n, sample_size]."""
    num_transits: int
    """Number of transits per sample: the vertices whose neighbours the step chose from."""
    sample_size: int
    """Calls per transit; for a collective application, per sample."""
    sizes: Any
    """[n] int32: number of vertices that the step added. None unless the application is collective, unique, or runs
    until done; None also if there are no samples."""
    edges: SampledEdges | None
    """The edges that the step recorded; None if the application records no edges."""


@dataclass(frozen=True)
class Samples:
    """The samples of an application, in NumPy arrays or, from a GPU, in DeviceArrays."""

    steps: list[SampledStep]
    vertices: Any
    """With ``order="samples"``: [n, slots of all steps]; the vertices of the steps are views of this array. Else
    None."""
    roots: Any
    """[n, num_roots] roots as the application left them, if it has ``end_step`` or ``step_transits``; else None."""


class Application(CustomCode):
    """A sampling application: a C++ struct that defines how samples grow.

    The text is compiled at first use: by the system's C++ compiler for the CPU, by NVRTC for GPUs. The compiled code
    stays in ``~/.cache/tendril`` (or in ``$XDG_CACHE_HOME``), also for later processes. The samples equal those of the
    same struct compiled ahead of time. CPU and GPU give the same samples with any executor.

    The compiled text runs in this process, with all rights of this process: never compile text from strangers.

    Parameters
    ----------
    source : str
        Source of the struct. It must define ``steps``, ``sample_size`` and ``next``; docs/applications.md describes
        their arguments, the optional members, and the guarantees. The source needs no includes.
    name : str, optional
        Name of the struct. Default: the only struct that the source defines.
    compiler : str, optional
        C++ compiler that accepts the options of g++. Default: ``$CXX``, or c++, g++ or clang++.
    cache_folder : path, optional
        Folder for the compiled code.
    **parameters
        Values of the struct's fields: numbers, or sequences of numbers for arrays. Other fields keep the struct's own
        default values, or are zero.

    Raises
    ------
    ArgumentError
        If the source doesn't define this struct, as far as this is visible without a compiler.

    Examples
    --------
    >>> pairs = tendril.Application(
    ...     '''
    ...     struct pairs {
    ...       int hops = 2;
    ...       int steps() const { return hops; }
    ...       std::int64_t sample_size(int step) const { return 2; }
    ...       vertex_id next(sample_view& sample, transit_list const& transits, edge_list const& edges, int step,
    ...                      random_stream& rng) const
    ...       {
    ...         return edges.empty() ? no_vertex : edges[rng.bounded(edges.size())];
    ...       }
    ...     };
    ...     ''',
    ...     hops=3,
    ... )
    >>> samples = pairs.sample(tendril.generate.ring(6), roots=[0, 3])
    >>> [step.vertices.shape for step in samples.steps]
    [(2, 2), (2, 4), (2, 8)]
    >>> samples.steps[0].vertices.tolist()
    [[5, 1], [2, 2]]
    """

    _core_type = _tendril.CustomApplication

    @shared("roots", "first_sample")
    def sample(
        self,
        graph: Graph,
        roots: ArrayLike,
        *,
        seed: int = 0,
        max_steps: int | None = None,
        order: str = "steps",
        executor: str = "auto",
        checked: bool = False,
        first_sample: int = 0,
        dtype: DTypeLike = np.int64,
        device: Any = None,
        stream: Any = None,
        num_threads: int = 0,
    ) -> Samples:
        """Grow one sample from each root, or from each row of roots.

        Sample ``i`` depends only on the graph, the application, its parameters, the seed, its roots and its logical
        number ``first_sample + i``. The call releases the GIL. Ctrl-C interrupts a call on the CPU.

        Parameters
        ----------
        graph : Graph
        roots : array_like of int, shape [n] or [n, num_roots]
            The initial vertices of each sample. On a GPU also an array in its memory.
        seed : int
            In [0, 2^64).
        max_steps : int, optional
            For an application that runs until a step adds nothing: the number of steps that the result holds. For other
            applications: the maximum number of steps that they may ask for.
        order : str
            "steps": one array per step; "samples": one array in which all steps of a sample are contiguous.
        executor : str
            Executor on a GPU: "sample" (threads belong to samples), "transit" (threads belong to transits), or "auto".
            It never changes a sample.
        checked : bool
            If true, a sample that still grows after ``max_steps`` steps is an error; if false, the sample is cut.
        first_sample : int
            Logical number of the first sample.
        dtype : dtype
            Type of vertex ids: int64, or int32, which returns the library's own memory without a conversion (graphs of
            at most 2^31 vertices).
        device, stream : optional
            As for `random_walk`.
        num_threads : int
            Number of threads on the CPU; 0: every core the process may use.

        Returns
        -------
        Samples

        Raises
        ------
        ArgumentError
            For roots out of range, a step that adds or follows a vertex that is not in the graph, sizes out of range,
            ``max_steps`` missing or too small; also as `compile`.
        IoError, DeviceError
            As `compile`.
        OutOfMemoryError
            If the result doesn't fit.
        """
        params = fill(
            _tendril.ApplicationParams(),
            seed=seed,
            max_steps=0 if max_steps is None else max_steps,
            order=order,
            executor=executor,
            checked=checked,
        )
        place = _place.of_call(graph, device, "rows", stream)
        core = graph._core_or_host(place)
        first = integer(first_sample, "first_sample")
        as_int32 = _arrays.is_int32(dtype)
        if place != _gpu.HOST:
            handle = _gpu.stream_handle(stream, place)
            ids = _gpu.ids(roots, "roots", _dimensions(roots), place, handle, threads(num_threads))
            params.gpu_memory = _gpu.graph_room()
            made = _tendril.run_application_gpu(core, ids, self._core, params, as_int32, first, place, handle)
            return _samples(made, DeviceArray)
        sets = _arrays.as_array(roots, "roots")
        if sets.ndim not in (1, 2):
            raise ArgumentError(_wrong_shape(sets.shape))
        return _samples(
            _tendril.run_application(
                core,
                _arrays.ids(sets.reshape(-1), "roots"),
                1 if sets.ndim == 1 else sets.shape[1],
                self._core,
                params,
                as_int32,
                first,
                threads(num_threads),
            ),
            lambda array: array,
        )


def _wrong_shape(shape: tuple[int, ...]) -> str:
    return f"roots has shape {shape}, expected one dimension, or two: samples, roots of each"


def _dimensions(roots: Any) -> int:
    """The number of dimensions (1 or 2) of an array, which may be on a GPU."""
    told = getattr(roots, "__cuda_array_interface__", None) if not hasattr(roots, "shape") else None
    if told is not None:
        shape = tuple(told["shape"])
    else:
        shape = tuple(roots.shape) if hasattr(roots, "shape") else _arrays.as_array(roots, "roots").shape
    if len(shape) not in (1, 2):
        raise ArgumentError(_wrong_shape(shape))
    return len(shape)


def _samples(made: Any, wrap: Any) -> Samples:
    """The core's result, with each of its arrays wrapped."""
    steps, vertices, roots = made
    every: Any = None if vertices is None else wrap(vertices)
    out = []
    for (num_transits, sample_size, first_slot, num_slots), own, sizes, edges in steps:
        out.append(
            SampledStep(
                vertices=every[:, first_slot : first_slot + num_slots] if own is None else wrap(own),
                num_transits=num_transits,
                sample_size=sample_size,
                sizes=None if sizes is None else wrap(sizes),
                edges=None if edges is None else SampledEdges(*map(wrap, edges)),
            )
        )
    return Samples(out, every, None if roots is None else wrap(roots))
