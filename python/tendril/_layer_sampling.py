"""Layer sampling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _place, _tendril
from ._application import SampledStep, Samples
from ._params import fill, integer
from ._several import shared

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from ._graph import Graph


@shared("roots", "first_sample")
def layer_sample(
    graph: Graph,
    roots: ArrayLike,
    layer_size: int = 1000,
    max_size: int = 2000,
    *,
    max_steps: int = 0,
    unique: bool = False,
    executor: str = "auto",
    seed: int = 0,
    first_sample: int = 0,
    dtype: DTypeLike = np.int64,
    device: Any = None,
    stream: Any = None,
    num_threads: int = 0,
) -> Samples:
    """Grow samples by layers: a step draws vertices from all neighbours of the vertices that the previous step added.

    Each edge is equally likely. A sample ends at its maximum size. Sample ``i`` depends only on the graph, the
    parameters, the seed, its roots and its logical number ``first_sample + i``. The call releases the GIL. Ctrl-C
    interrupts a call on the CPU.

    Parameters
    ----------
    graph : Graph
    roots : array_like of int, shape [n] or [n, num_roots]
        The initial vertices of each sample. On a GPU also an array in its memory.
    layer_size : int
        Vertices drawn per step: at least 1.
    max_size : int
        Maximum number of vertices of a sample, not counting its roots: at least 1.
    max_steps : int
        Steps of the result; 0: ``max_size / layer_size``, rounded up.
    unique : bool
        A step adds each vertex at most once; it may then add fewer vertices.
    executor : str
        As for `Application.sample`. It never changes a sample.
    seed : int
        In [0, 2^64).
    first_sample : int
        Logical number of the first sample.
    dtype : dtype
        Type of vertex ids: int64, or int32, which returns the library's own memory without a conversion.
    device, stream : optional
        As for `random_walk`. On a GPU the result stays in its memory.
    num_threads : int
        Number of threads on the CPU; 0: every core the process may use.

    Returns
    -------
    Samples
        Each step has ``vertices`` [n, layer_size], with -1 in slots that stay empty, and ``sizes``.

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
    Gao, Wang and Ji, Large-scale learnable graph convolutional networks, KDD 2018; in the form of Jangda et al.,
    Accelerating graph sampling for graph machine learning using GPUs, EuroSys 2021.

    Examples
    --------
    >>> samples = tendril.layer_sample(tendril.generate.complete(9), [2, 5], layer_size=4, max_size=6)
    >>> [step.vertices.shape for step in samples.steps], [step.sizes.tolist() for step in samples.steps]
    ([(2, 4), (2, 4)], [[4, 4], [2, 2]])
    """
    options = {
        "layer_size": layer_size,
        "max_size": max_size,
        "max_steps": max_steps,
        "unique": unique,
        "executor": executor,
        "seed": seed,
    }
    params = fill(_tendril.LayerParams(), **options)
    first, as_int32 = integer(first_sample, "first_sample"), _arrays.is_int32(dtype)
    shape = _place.batches(roots, "roots")
    num_roots = shape[1] if len(shape) == 2 else 1
    place = _place.of(graph, device, stream, num_threads)
    run: Any = _tendril.layer_sample_gpu if place.on_gpu else _tendril.layer_sample
    steps = []
    ids = place.ids(roots, "roots", len(shape))
    for num_transits, size, vertices, sizes in run(place.core, ids, num_roots, params, as_int32, first, place.how):
        steps.append(SampledStep(place.give(vertices), num_transits, size, place.give(sizes), None))
    return Samples(steps, None, None)
