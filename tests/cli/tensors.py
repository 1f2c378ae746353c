"""Reads what the command writes, by the definition of the formats."""

import json
import struct

import numpy as np

TYPES = {"I32": np.int32, "I64": np.int64, "F32": np.float32, "U8": np.uint8, "U32": np.uint32}


def read_safetensors(path):
    """(arrays, metadata) of a file, by the format's definition."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    arrays, end = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        first, last = entry["data_offsets"]
        assert first == end, "tensors follow each other without gaps"
        end = last
        dtype = np.dtype(TYPES[entry["dtype"]])
        data = np.frombuffer(content, dtype, (last - first) // dtype.itemsize, 8 + length + first)
        arrays[name] = data.reshape(entry["shape"])
    assert 8 + length + end == len(content)
    return arrays, metadata


def write_safetensors(path, arrays, metadata=None, cut=0):
    """Writes a file by the format's definition, its last `cut` bytes missing."""
    names = {"int32": "I32", "int64": "I64", "uint32": "U32", "float32": "F32", "uint8": "U8"}
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, values in arrays.items():
        begin = len(data)
        data += values.tobytes()
        header[name] = {"dtype": names[values.dtype.name], "shape": list(values.shape), "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % 64)  # the tensors are aligned, so that they are mapped and not copied
    content = struct.pack("<Q", len(text)) + text + data
    path.write_bytes(content[: len(content) - cut])


class Csr:
    """A graph as the command sees it, by way of a sparse matrix."""

    def __init__(self, tendril, graph):
        tendril("convert", graph, "csr.npz", "--quiet")
        with np.load(tendril.path("csr.npz")) as matrix:
            self.indptr = matrix["indptr"].astype(np.int64)
            self.targets = matrix["indices"].astype(np.int64)
        self.num_vertices = len(self.indptr) - 1
        self.degrees = np.diff(self.indptr)
        self.sources = np.repeat(np.arange(self.num_vertices), self.degrees)
        self.edges = set(zip(self.sources.tolist(), self.targets.tolist()))

    def neighbors(self, v):
        return self.targets[self.indptr[v] : self.indptr[v + 1]]

    def induced(self, nodes):
        """Positions of the edges whose two ends are among `nodes`."""
        inside = np.zeros(self.num_vertices, bool)
        inside[nodes] = True
        return np.flatnonzero(inside[self.sources] & inside[self.targets])
