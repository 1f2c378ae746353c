"""Executors read a graph through its view: raw arrays stay in the rooms that build graphs and files.

`raw_arrays` is a function from a tree to a list of violations, as those of rules.py.
"""

import re
from pathlib import Path

import rules

# The rooms whose work are arrays: graphs are built, checked, copied, compressed, written and read there, and tables
# that are graphs themselves are made (rows cut by label, one row of all vertices). The extension shows arrays to users.
MAKERS = (
    "include/tendril/csr_arrays.hpp",
    "include/tendril/csr_view.hpp",
    "include/tendril/edge_arrays.hpp",
    "include/tendril/graph.hpp",
    "include/tendril/graph_view.hpp",
    "src/base/",
    "src/build/",
    "src/convert/",
    "src/formats/",
    "src/generate/",
    "src/graph/",
    "src/place/",
    "src/gpu/applications/stream.cpp",
    "src/gpu/graph/",
    "src/gpu/layers/layer_tables.cu",
    "src/gpu/place/",
    "src/plan/tables.hpp",
    "src/samplers/layers/layer_tables.cpp",
    "python/src/graph.cpp",
)
READERS = ("include/tendril/", "src/", "python/src/", "cli/", "examples/")

RAW = re.compile(
    r"\bcsr_arrays\b"  # the type
    r"|\braw_csr\(\)|(?:\.|->)csr\(\)"  # what gives it
    r"|arrays\(\)\s*\.\s*(?:indptr|indices|weights|edge_labels)\b"  # a graph's own arrays
)
COMMENT = re.compile(r"//.*$")


def raw_arrays(root):
    """No source but the makers' names a graph's raw arrays."""
    found = []
    for path in rules.sources(root):
        relative = path.relative_to(root).as_posix()
        if not relative.startswith(READERS) or relative.startswith(MAKERS):
            continue
        for number, line in rules.lines(path):
            raw = RAW.search(COMMENT.sub("", line))
            if raw:
                found.append(f"{relative}:{number}: '{raw.group()}', expected the graph's view")
    return found
