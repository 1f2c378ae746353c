"""Built-in applications by their names: the function that each name stands for."""

from __future__ import annotations

import numpy as np
import pytest

import tendril
from tendril._apps import _APPS

SEEDS = [1, 2, 3]
CALLS = {
    "deepwalk": ({"starts": SEEDS, "length": 6}, lambda g, **p: tendril.random_walk(g, **p)),
    "ppr": ({"starts": SEEDS, "length": 60}, lambda g, **p: tendril.random_walk(g, stop_prob=0.15, **p)),
    "restart": ({"starts": SEEDS, "length": 60}, lambda g, **p: tendril.random_walk(g, restart_prob=0.15, **p)),
    "node2vec": ({"starts": SEEDS, "p": 4.0, "q": 0.5}, lambda g, **p: tendril.node2vec_walk(g, **p)),
    "metapath": ({"starts": SEEDS, "metapath": ["likes", 0]}, lambda g, **p: tendril.metapath_walk(g, **p)),
    "multidim": ({"roots": [SEEDS], "length": 9}, lambda g, **p: tendril.multidim_walk(g, **p)),
    "khop": ({"seeds": SEEDS, "fanouts": [3, 2]}, lambda g, **p: tendril.khop_sample(g, **p)),
    "minibatch": ({"seeds": SEEDS, "num_neighbors": [3, 2]}, lambda g, **p: tendril.neighbor_sample(g, **p)),
    "layer": ({"roots": SEEDS, "layer_size": 9}, lambda g, **p: tendril.layer_sample(g, **p)),
    "fastgcn": ({"seeds": SEEDS, "layer_size": 9}, lambda g, **p: tendril.fastgcn_sample(g, **p)),
    "ladies": ({"seeds": SEEDS, "layer_size": 9}, lambda g, **p: tendril.ladies_sample(g, **p)),
    "mvs": ({"batch_size": 9}, lambda g, **p: tendril.mvs_sample(g, **p)),
    "labor": ({"seeds": SEEDS, "fanouts": [3]}, lambda g, **p: tendril.labor_sample(g, **p)),
    "cluster": (
        {"clusters": np.arange(60) % 6, "clusters_per_sample": 2},
        lambda g, **p: tendril.cluster_sample(g, **p),
    ),
    "shadow": ({"seeds": SEEDS}, lambda g, **p: tendril.shadow_sample(g, **p)),
    "saint-node": ({"budget": 9}, lambda g, **p: tendril.saint_node_sample(g, **p)),
    "saint-edge": ({"budget": 9}, lambda g, **p: tendril.saint_edge_sample(g, **p)),
    "saint-walk": ({"budget": 9}, lambda g, **p: tendril.saint_walk_sample(g, **p)),
}


def arrays(result):
    """Every array of a result, in order."""
    if isinstance(result, np.ndarray):
        return [result]
    held = vars(result).values() if hasattr(result, "__dict__") else []
    parts = result if isinstance(result, (list, tuple)) else held
    return [array for part in parts for array in arrays(part)]


def same(one, other):
    return len(one) == len(other) > 0 and all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_every_name_is_tried():
    assert list(CALLS) == list(_APPS)
    assert all(f"\n    {name} " in tendril.sample.__doc__ or f"  {name} " in tendril.sample.__doc__ for name in _APPS)


@pytest.mark.parametrize("app", CALLS)
def test_names_stand_for_functions(graph, app):
    parameters, call = CALLS[app]
    named = arrays(tendril.sample(graph, app=app.replace("-", "_"), seed=7, **parameters))
    assert same(named, arrays(call(graph, seed=7, **parameters)))
    assert not same(named, arrays(call(graph, seed=8, **parameters)))


def test_arguments_by_place(graph):
    assert tendril.sample(graph, "ladies", SEEDS, 2, 4).vertices.shape == (1, 2, 4)
    walks, _ = tendril.sample(graph, "ppr", SEEDS, 60, stop_prob=0.0)
    np.testing.assert_array_equal(walks, tendril.random_walk(graph, SEEDS, 60)[0])


@pytest.mark.parametrize("app", ["graphsage", "", None, 3])
def test_other_names(graph, app):
    with pytest.raises(ValueError, match="expected one of deepwalk, ppr, .*, ladies, ") as info:
        tendril.sample(graph, app)
    assert str(info.value).startswith(f"app is {app!r}, ")
    assert "\n" not in str(info.value)


def test_other_parameters(graph):
    with pytest.raises(TypeError, match="fanout"):
        tendril.sample(graph, "ladies", SEEDS, fanout=3)
