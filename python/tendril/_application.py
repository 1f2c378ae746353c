"""Sampling applications that come as C++ text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _arrays, _gpu, _place, _tendril
from ._custom_code import CustomCode
from ._device_array import DeviceArray
from ._errors import ArgumentError
from ._params import fill, integer, threads

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from ._graph import Graph


class SampledEdges(NamedTuple):
    """Edges that one step recorded; NumPy's arrays, or DeviceArrays."""

    offsets: Any
    """[n + 1] int64: those of sample ``i`` are ``offsets[i]`` to ``offsets[i + 1]``, in the order of the calls."""
    sources: Any
    targets: Any


@dataclass(frozen=True)
class SampledStep:
    """What one step added to the samples."""

    vertices: Any
    """[n, slots]: slot ``t * sample_size + j`` of a row holds call ``j`` for transit ``t``; -1 in slots that stay
    empty. Of a collective application [n, sample_size]."""
    num_transits: int
    """Vertices of each sample whose neighbours the step chose from."""
    sample_size: int
    """Calls for each transit; of a collective application for each sample."""
    sizes: Any
    """[n] int32: the vertices that the step added. None unless the application is collective, unique, or runs until
    done, and None where there are no samples."""
    edges: SampledEdges | None
    """The edges that the step recorded. None for an application that records none."""


@dataclass(frozen=True)
class Samples:
    """Samples of an application, in NumPy's arrays, or, from a GPU, in DeviceArrays."""

    steps: list[SampledStep]
    vertices: Any
    """With ``order="samples"`` [n, slots of all steps], which the vertices of the steps are a part of; else None."""
    roots: Any
    """[n, num_roots] as the application left them, if it has ``end_step`` or ``step_transits``; else None: as given."""


class Application(CustomCode):
    """A sampling application: a C++ struct that says how samples grow.

    The text is compiled when it is first used: by the system's C++ compiler for the CPU, by NVRTC for GPUs. What was
    compiled stays in ``~/.cache/tendril`` (or in ``$XDG_CACHE_HOME``), for later processes too. Samples are those of
    the same struct compiled ahead of time, and the same on CPU and GPU, whatever executor runs it there.

    Text runs as code of this process, with all that this process may do: never compile what strangers wrote.

    Parameters
    ----------
    source : str
        The struct. It needs ``steps``, ``sample_size`` and ``next``: docs/applications.md says what they are told, what
        else there may be, and what is promised. No includes are needed.
    name : str, optional
        The struct's name. Default: the only one that the source defines.
    compiler : str, optional
        The C++ compiler, one that takes the options of g++. Default: ``$CXX``, or c++, g++ or clang++.
    cache_folder : path, optional
        Where to keep what was compiled.
    **parameters
        Values of the struct's fields: numbers, or sequences of numbers for arrays. Other fields keep the values that
        the struct gives them, or are zero.

    Raises
    ------
    ArgumentError
        If the source defines no such struct, as far as can be seen without a compiler.

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
        """Grow a sample from each root, or from each row of roots.

        Sample ``i`` is a function of the graph, the application, its parameters, the seed, its roots and its logical
        number ``first_sample + i`` alone. The GIL is released, and Ctrl-C ends a call on the CPU.

        Parameters
        ----------
        graph : Graph
        roots : array_like of int, shape [n] or [n, num_roots]
            What each sample begins with. On a GPU also an array in its memory.
        seed : int
            In [0, 2^64).
        max_steps : int, optional
            Steps that the result has room for, if the application runs until a step adds nothing. Else the most steps
            that it may ask for.
        order : str
            "steps": an array a step; "samples": one array in which all steps of a sample lie together.
        executor : str
            What a GPU runs: "sample" (threads belong to samples), "transit" (threads belong to transits), or "auto". No
            sample depends on it.
        checked : bool
            Whether a sample that still grows after ``max_steps`` steps is an error; else it is cut.
        first_sample : int
            Logical number of the first sample.
        dtype : dtype
            Of vertices: int64, or int32 for the library's own memory without a conversion (graphs of at most 2^31
            vertices).
        device, stream : optional
            As for `random_walk`.
        num_threads : int
            On the CPU; 0: every core the process may use.

        Returns
        -------
        Samples

        Raises
        ------
        ArgumentError
            For roots out of range, a step that adds or follows a vertex that is not in the graph, sizes out of range,
            ``max_steps`` missing or too small; as `compile`.
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
        core = graph._core_on(place)
        first = integer(first_sample, "first_sample")
        as_int32 = _arrays.is_int32(dtype)
        if place != _gpu.HOST:
            handle = _gpu.stream_handle(stream, place)
            ids = _gpu.ids(roots, "roots", _dimensions(roots), place, handle, threads(num_threads))
            made = _tendril.run_application_gpu(core, ids, self._core, params, as_int32, first, handle)
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
    """1 or 2, of an array that may lie on a GPU."""
    told = getattr(roots, "__cuda_array_interface__", None) if not hasattr(roots, "shape") else None
    if told is not None:
        shape = tuple(told["shape"])
    else:
        shape = tuple(roots.shape) if hasattr(roots, "shape") else _arrays.as_array(roots, "roots").shape
    if len(shape) not in (1, 2):
        raise ArgumentError(_wrong_shape(shape))
    return len(shape)


def _samples(made: Any, wrap: Any) -> Samples:
    """What the core returned, each of its arrays wrapped."""
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
