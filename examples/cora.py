"""Cora (data/README.md) for the examples that need no PyG."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import tendril

CORA = Path(__file__).parents[1] / "data" / "cora.npz"


def load(path):
    """The graph, whose vertices sample from their incoming edges, and a table of features, of classes, and the masks."""
    file = np.load(path, allow_pickle=False)
    count = len(file["y"])
    graph = tendril.Graph.from_csr(file["indptr"], file["indices"])
    x = np.zeros((count, file["features_indices"].max() + 1), np.float32)
    x[np.repeat(np.arange(count), np.diff(file["features_indptr"])), file["features_indices"]] = 1
    x /= np.maximum(x.sum(axis=1, keepdims=True), 1)
    masks = {name: np.flatnonzero(file[f"{name}_mask"]) for name in ("train", "val", "test")}
    return graph, x, file["y"].astype(np.int64), masks
