"""Access to every built-in application by its name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ._calls import expect_keywords
from ._clusters import cluster_sample
from ._errors import ArgumentError, shown
from ._labor import labor_sample
from ._layer_sampling import layer_sample
from ._layers import fastgcn_sample, ladies_sample
from ._multidim import multidim_walk
from ._mvs import mvs_sample
from ._saint import saint_edge_sample, saint_node_sample, saint_walk_sample
from ._sampling import khop_sample, neighbor_sample
from ._subgraphs import shadow_sample
from ._walks import metapath_walk, node2vec_walk, random_walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._graph import Graph

_APPS: dict[str, Callable[..., Any]] = {
    "deepwalk": random_walk,
    "ppr": partial(random_walk, stop_prob=0.15),  # PageRank's damping of 0.85
    "restart": partial(random_walk, restart_prob=0.15),
    "node2vec": node2vec_walk,
    "metapath": metapath_walk,
    "multidim": multidim_walk,
    "khop": khop_sample,
    "minibatch": neighbor_sample,
    "layer": layer_sample,
    "fastgcn": fastgcn_sample,
    "ladies": ladies_sample,
    "mvs": mvs_sample,
    "labor": labor_sample,
    "cluster": cluster_sample,
    "shadow": shadow_sample,
    "saint-node": saint_node_sample,
    "saint-edge": saint_edge_sample,
    "saint-walk": saint_walk_sample,
}


def sample(graph: Graph, app: str, *arguments: Any, **parameters: Any) -> Any:
    """Run a built-in application by its name.

    Parameters
    ----------
    graph : Graph
    app : str
        One of the names below; "-" and "_" are equivalent.
    *arguments, **parameters
        The arguments of the application's function after the graph.

    Returns
    -------
    The result of the application's function:

    ========== ========================================= ========== ==================
    deepwalk   random_walk                               fastgcn    fastgcn_sample
    ppr        random_walk, ``stop_prob=0.15``           ladies     ladies_sample
    restart    random_walk, ``restart_prob=0.15``        mvs        mvs_sample
    node2vec   node2vec_walk                             labor      labor_sample
    metapath   metapath_walk                             cluster    cluster_sample
    multidim   multidim_walk                             shadow     shadow_sample
    khop       khop_sample                               saint-node saint_node_sample
    minibatch  neighbor_sample                           saint-edge saint_edge_sample
    layer      layer_sample                              saint-walk saint_walk_sample
    ========== ========================================= ========== ==================

    Raises
    ------
    ArgumentError
        For an unknown name; also as the application's function.
    TypeError
        For a parameter that the application doesn't have.

    Examples
    --------
    >>> ring = tendril.generate.ring(8)
    >>> tendril.sample(ring, "ladies", [[0, 4]], num_layers=2, layer_size=3).vertices.shape
    (1, 2, 3)
    >>> walks, lengths = tendril.sample(ring, app="deepwalk", starts=[0, 4], length=5)
    >>> walks.shape
    (2, 6)
    """
    run = _APPS.get(app.replace("_", "-")) if isinstance(app, str) else None
    if run is None:
        raise ArgumentError(f"app is {shown(app)}, expected one of {', '.join(_APPS)}")
    expect_keywords(run, parameters, f"sample(app={shown(app)})")
    return run(graph, *arguments, **parameters)
