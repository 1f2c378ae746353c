"""Multi-dimensional random walks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _arrays, _gpu, _place, _tendril
from ._device_array import DeviceArray
from ._errors import ArgumentError
from ._params import fill, integer, threads
from ._several import shared

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from ._graph import Graph


class MultidimWalks(NamedTuple):
    """Samples of walks from sets of roots; row ``i`` of each array is sample ``i``.

    In NumPy arrays or, from a GPU, in DeviceArrays.
    """

    walks: Any
    """[n, m + length]: the given roots, then the vertex that each step reached; -1 after the end."""
    lengths: Any
    """[n] int32: number of steps taken."""
    slots: Any
    """[n, length] int32: the root, in [0, m), that each step left and replaced; -1 after the end."""


@shared("roots", "first_walk")
def multidim_walk(
    graph: Graph,
    roots: ArrayLike,
    length: int = 100,
    *,
    root_choice: str = "degree",
    seed: int = 0,
    dtype: DTypeLike = np.int64,
    first_walk: int = 0,
    device: Any = None,
    stream: Any = None,
    num_threads: int = 0,
) -> MultidimWalks:
    """Walk from sets of roots: multi-dimensional random walks, also called frontier sampling.

    A sample has a set of ``m`` roots. Each step chooses one root and one of its out-edges, uniformly; the vertex
    reached replaces the root in the set. Sample ``i`` depends only on the graph, the parameters, the seed, its roots
    and its logical number ``first_walk + i``: neither threads, nor a split into batches, nor the device change it. The
    call releases the GIL. Ctrl-C interrupts a call on the CPU.

    Parameters
    ----------
    graph : Graph
    roots : array_like of int, shape [n, m]
        One set of roots per row, m from 1 to 65535. A vertex that appears twice is two roots. On a GPU also an array in
        its memory.
    length : int
        Steps per sample, in [1, 2^31 - 1).
    root_choice : str
        "degree": a root is chosen in proportion to its out-degree, so that each out-edge of the set is equally likely;
        a sample ends when no root has an out-edge. "uniform": each root is equally likely; a sample ends when the
        chosen root has no out-edge.
    seed : int
        In [0, 2^64).
    dtype : dtype
        Type of vertex ids: int64, or int32, which returns the library's own memory without a conversion (graphs of at
        most 2^31 vertices).
    first_walk : int
        Logical number of the first sample. Use it to continue after an earlier call.
    device, stream : optional
        As for `random_walk`.
    num_threads : int
        Number of threads on the CPU; 0: every core the process may use.

    Returns
    -------
    MultidimWalks
        ``walks`` [n, m + length], ``lengths`` [n] and ``slots`` [n, length], in this order.

    Raises
    ------
    ArgumentError
        For a root that is not a vertex, roots of another shape, a parameter out of range.
    DeviceError
        If the GPU can't be used; the message gives the reason.
    OutOfMemoryError
        If the result doesn't fit.

    References
    ----------
    Ribeiro and Towsley, Estimating and sampling graphs with multidimensional random walks, IMC 2010.

    Examples
    --------
    >>> walks, lengths, slots = tendril.multidim_walk(tendril.generate.ring(9), [[0, 3, 6], [1, 4, 7]], length=5)
    >>> walks.shape, lengths.tolist(), slots.shape
    ((2, 8), [5, 5], (2, 5))
    """
    params = fill(_tendril.MultidimParams(), length=length, root_choice=root_choice, seed=seed)
    place = _place.of_call(graph, device, "rows", stream)
    core = graph._core_on(place)
    if place != _gpu.HOST:
        handle = _gpu.stream_handle(stream, place)
        made = _tendril.multidim_walk_gpu(
            core,
            _gpu.ids(roots, "roots", 2, place, handle, threads(num_threads)),
            params,
            _arrays.is_int32(dtype),
            integer(first_walk, "first_walk"),
            handle,
        )
        return MultidimWalks(*map(DeviceArray, made))
    sets = _arrays.as_array(roots, "roots")
    if sets.ndim != 2:
        raise ArgumentError(f"roots has shape {sets.shape}, expected two dimensions: samples, roots of each")
    walks, lengths, slots = _tendril.multidim_walk(
        core,
        _arrays.ids(sets.reshape(-1), "roots"),
        sets.shape[1],
        params,
        _arrays.is_int32(dtype),
        integer(first_walk, "first_walk"),
        threads(num_threads),
    )
    return MultidimWalks(walks, lengths, slots)
