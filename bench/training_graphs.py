"""Graphs that training is measured on: of the size and skew of ogbn-products and Reddit, and of the types and sizes of
ogbn-mag, made in memory; and features, in memory or in a mapped file."""

from __future__ import annotations

import copy
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch_geometric.data import Data, HeteroData

import tendril


class Shape(NamedTuple):
    """A graph with degrees by a power law, and what its vertices have."""

    num_vertices: int
    exponent: float
    min_degree: int
    max_degree: int
    num_features: int
    num_classes: int
    num_seeds: int


SHAPES = {
    "products": Shape(2_449_029, 2.5855, 10, 8_970, 100, 47, 196_615),  # its graph is that of bench/gpu_graphs.cpp
    "reddit": Shape(232_965, 2.3, 75, 11_500, 602, 41, 153_431),
}
SMALL = {
    "products": Shape(20_000, 2.5855, 10, 500, 100, 47, 1_606),
    "reddit": Shape(2_000, 2.3, 10, 120, 602, 41, 1_317),
}
NUM_FEATURES, NUM_CLASSES = SHAPES["products"].num_features, SHAPES["products"].num_classes


def shape(name, small):
    return (SMALL if small else SHAPES)[name]


def made_name(name, small):
    return f"{name}, small" if small else name


def make_graph(name, small):
    """Its name in results, and a graph whose vertices sample from their stored edges. name: of a shape, or a file."""
    if name not in SHAPES:
        return Path(name).name, tendril.read_graph(name)
    of = shape(name, small)
    graph = tendril.generate.powerlaw(
        of.num_vertices,
        of.exponent,
        of.min_degree,
        of.max_degree,
        symmetrize=True,
        drop_self_loops=True,
        drop_duplicates=True,
    )
    return made_name(name, small), graph


def make_data(graph, of=SHAPES["products"], x=None):
    """Data in host memory, and the seeds of an epoch, as large a share of the vertices as the shape has. x: the features;
    default: random ones."""
    draws = torch.Generator().manual_seed(0)
    count = graph.num_vertices
    target = torch.repeat_interleave(torch.arange(count), torch.from_numpy(graph.degrees()))
    edge_index = torch.stack([torch.from_numpy(graph.indices.astype("int64")), target])
    y = torch.randint(of.num_classes, (count,), generator=draws)
    x = torch.randn(count, of.num_features, generator=draws) if x is None else x
    data = Data(x=x, y=y, edge_index=edge_index, num_nodes=count)
    seeds = torch.randperm(count, generator=draws)[: round(count * of.num_seeds / of.num_vertices)]
    return data, seeds


# --- Several types ---------------------------------------------------------------------------------------------------

MAG_TYPES = {"paper": 736_389, "author": 1_134_649, "field_of_study": 59_965, "institution": 8_740}
MAG_EDGES = {
    ("author", "affiliated_with", "institution"): 1_043_998,
    ("author", "writes", "paper"): 7_145_660,
    ("paper", "cites", "paper"): 5_416_271,
    ("paper", "has_topic", "field_of_study"): 7_505_078,
}
MAG = Shape(MAG_TYPES["paper"], 0, 0, 0, 128, 349, 629_571)  # of papers
_POPULARITY = 3  # a target is the vertex at n u^3 of a random order, u uniform: few are chosen often


def make_mag(small):
    """HeteroData with ogbn-mag's types, relations and numbers, each relation with its inverse; features are random, those of
    types that have none in ogbn-mag, too. And the papers that are an epoch's seeds."""
    draws, random = np.random.default_rng(0), torch.Generator().manual_seed(0)
    share = 100 if small else 1
    data = HeteroData()
    for kind, count in MAG_TYPES.items():
        data[kind].num_nodes = count // share
        data[kind].x = torch.randn(count // share, MAG.num_features, generator=random)
    for (a, name, b), count in MAG_EDGES.items():
        source = draws.integers(data[a].num_nodes, size=count // share)
        place = (data[b].num_nodes * draws.random(count // share) ** _POPULARITY).astype(np.int64)
        target = draws.permutation(data[b].num_nodes)[place]
        data[a, name, b].edge_index = torch.from_numpy(np.stack([source, target]))
        data[b, f"rev_{name}", a].edge_index = torch.from_numpy(np.stack([target, source]))
    papers = data["paper"].num_nodes
    data["paper"].y = torch.randint(MAG.num_classes, (papers,), generator=random)
    return data, torch.randperm(papers, generator=random)[: MAG.num_seeds // share]


# --- Where features are ----------------------------------------------------------------------------------------------


def with_features(data, place, device):
    """The same data whose features and classes are where `place` says: "device", or "host" for page-locked memory, where
    the rows of a mapped file stay in the file."""

    def moved(value):
        if place == "device":
            return value.to(device)
        return value if isinstance(value, tendril.FeatureTable) else value.pin_memory()

    made = copy.copy(data)
    for store in made.stores:
        for name in ("x", "y"):
            if name in store:
                store[name] = moved(store[name])
    return made


_ROWS_AT_ONCE = 1 << 14


def write_features(path, count, width):
    """A .npy of [count, width] random float32, written part by part, unless the file has that shape already."""
    if path.exists():
        found = np.lib.format.open_memmap(path, mode="r")
        if found.shape != (count, width) or found.dtype != np.float32:
            raise SystemExit(f"--features: {path} holds {found.dtype} {found.shape}, expected float32 {(count, width)}")
        return
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    draws = np.random.default_rng(0)
    try:
        with part.open("wb") as file:
            header = {"descr": "<f4", "fortran_order": False, "shape": (count, width)}
            np.lib.format.write_array_header_1_0(file, header)
            for first in range(0, count, _ROWS_AT_ONCE):
                rows = min(_ROWS_AT_ONCE, count - first)
                file.write(draws.standard_normal((rows, width), dtype=np.float32))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
