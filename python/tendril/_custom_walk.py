"""Dynamic walks from C++ source text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _gpu, _place, _tendril
from ._custom_code import CustomCode
from ._device_array import DeviceArray
from ._errors import ArgumentError, shown
from ._params import fill, integer, string, threads
from ._several import shared

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from ._graph import Graph
    from ._walks import Walks


class CustomWalk(CustomCode):
    """A dynamic walk: a C++ struct that computes the weight of an edge from the walker's state.

    The text is compiled at first use: by the system's C++ compiler for the CPU, by NVRTC for GPUs. The compiled code
    stays in ``~/.cache/tendril`` (or in ``$XDG_CACHE_HOME``), also for later processes. The walks equal those of the
    same struct compiled ahead of time. CPU and GPU give the same walks.

    The compiled text runs in this process, with all rights of this process: never compile text from strangers.

    Parameters
    ----------
    source : str
        Source of the struct. It must define ``float weight(walk_state const&, walk_edge const&) const``, and may define
        ``bound``, ``floor``, ``stop`` and ``may_start``; docs/dynamic_walks.md describes their arguments and
        guarantees. The source needs no includes.
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
    >>> walk = tendril.CustomWalk(
    ...     '''
    ...     struct uphill {
    ...       float back;
    ...       float weight(walk_state const& s, walk_edge const& e) const { return e.target() > s.vertex ? 1 : back; }
    ...     };
    ...     ''',
    ...     back=0.0,
    ... )
    >>> tendril.dynamic_walk(tendril.generate.ring(6), [1, 3], 9, walk)[1].tolist()
    [4, 2]
    """

    _core_type = _tendril.CustomWalk


@shared("starts", "first_walk", each="walks_per_vertex")
def dynamic_walk(
    graph: Graph,
    starts: ArrayLike | None,
    length: int,
    walk: CustomWalk,
    *,
    rule: str = "auto",
    stop_prob: float = 0.0,
    restart_prob: float = 0.0,
    walks_per_vertex: int = 1,
    seed: int = 0,
    dead_end: str = "stop",
    dtype: DTypeLike = np.int64,
    first_walk: int = 0,
    device: Any = None,
    order: str = "rows",
    stream: Any = None,
    num_threads: int = 0,
) -> Walks:
    """Walk along out-edges whose weights are computed from the walker's state at every step.

    The call stores no part of a neighbourhood, for any degree: memory use is little more than the result.

    Parameters
    ----------
    graph : Graph
    starts : array_like of int, shape [n], optional
        Vertices to start from. None: every vertex.
    length : int
        Steps per walk, in [1, 2^31 - 1).
    walk : CustomWalk
    rule : str
        "reject" (the walk must have ``bound(state)``), "scan" (each step reads the whole neighbourhood), or "auto":
        reject where the walk allows it. Different rules give different walks of the same distribution.
    order : str
        "rows" or "ragged", as for `random_walk`.
    stop_prob, restart_prob, walks_per_vertex, seed, dead_end, dtype, first_walk, device, stream, num_threads
        As for `random_walk`.

    Returns
    -------
    walks : ndarray or DeviceArray, shape [n * walks_per_vertex, length + 1]
    lengths : ndarray or DeviceArray of int32, shape [n * walks_per_vertex]
        Both as for `random_walk`, as are `offsets` and `vertices` with ``order="ragged"``. A walk is at a
        dead end if all its candidates have weight 0.

    Raises
    ------
    ArgumentError
        For a weight that is NaN, infinite or negative, or above its bound, naming walk, step, vertex and edge; also as
        `CustomWalk.compile` and `random_walk`.
    IoError, DeviceError
        As `CustomWalk.compile`.
    """
    params = dynamic_params(walk, length, stop_prob, restart_prob, seed, dead_end, rule)
    repeats = integer(walks_per_vertex, "walks_per_vertex")
    if repeats < 0:
        raise ArgumentError(f"walks_per_vertex is {repeats}, expected 0 or more")
    if string(order, "order") == "steps":
        raise ArgumentError("order is 'steps', expected 'rows' or 'ragged' for a dynamic walk")
    place = _place.of_call(graph, device, order, stream)
    ragged = order == "ragged"
    core = graph._core_on(place)
    first_number = integer(first_walk, "first_walk")
    if place != _gpu.HOST:
        handle = _gpu.stream_handle(stream, place)
        ids = None if starts is None else _gpu.ids(starts, "starts", 1, place, handle, threads(num_threads))
        run_gpu = _tendril.ragged_dynamic_walk_gpu if ragged else _tendril.dynamic_walk_gpu
        pair = run_gpu(core, ids, repeats, walk._core, params, _arrays.is_int32(dtype), first_number, handle)
        return DeviceArray(pair[0]), DeviceArray(pair[1])
    first = np.arange(graph.num_vertices, dtype=np.uint32) if starts is None else _arrays.ids(starts, "starts")
    run = _tendril.ragged_dynamic_walk if ragged else _tendril.dynamic_walk
    return run(
        core,
        first if repeats == 1 else _arrays.repeated(first, repeats, "starts"),
        walk._core,
        params,
        _arrays.is_int32(dtype),
        first_number,
        threads(num_threads),
    )


def dynamic_params(
    walk: CustomWalk, length: int, stop_prob: float, restart_prob: float, seed: int, dead_end: str, rule: str
) -> _tendril.DynamicWalkParams:
    """The parameters of a dynamic walk, for the core."""
    if not isinstance(walk, CustomWalk):
        raise ArgumentError(f"walk is {shown(walk)}, expected a CustomWalk")
    return fill(
        _tendril.DynamicWalkParams(),
        length=length,
        stop_prob=stop_prob,
        restart_prob=restart_prob,
        seed=seed,
        dead_end=dead_end,
        rule=rule,
    )
