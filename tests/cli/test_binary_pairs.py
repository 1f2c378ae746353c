"""Edges as pairs of binary numbers: `convert --from coo32`, `coo64` and .npy files, in memory and in bounded memory."""

import numpy as np
import pytest

EDGES = np.random.default_rng(3).integers(0, 5000, (150_000, 2))


def write(path, layout):
    if layout == "coo32":
        EDGES.astype("<u4").tofile(path)
    elif layout == "coo64":
        EDGES.astype("<u8").tofile(path)
    elif layout == "npy":
        with open(path, "wb") as file:
            np.save(file, np.ascontiguousarray(EDGES.T))
    else:
        np.savetxt(path, EDGES, fmt="%d")


@pytest.mark.parametrize("memory", [(), ("--memory", "2M")], ids=["whole", "bounded"])
@pytest.mark.parametrize("layout", ["coo32", "coo64", "npy"])
def test_they_are_the_edges_of_a_text(layout, memory, tendril):
    steps = ["--symmetrize", "--drop-duplicates", "--compress", "auto", "--quiet"]
    write(tendril.path("edges.txt"), "text")
    write(tendril.path("edges.bin"), layout)
    tendril("convert", "edges.txt", "text.safetensors", *steps)
    tendril("convert", "edges.bin", "pairs.safetensors", "--from", layout, *steps, *memory)
    assert tendril.bytes("pairs.safetensors") == tendril.bytes("text.safetensors")


def test_names_and_content_tell_them(tendril):
    write(tendril.path("edges.coo32"), "coo32")
    write(tendril.path("edges"), "npy")
    for name in ("edges.coo32", "edges"):
        assert "edges             150,000" in tendril("info", name)


@pytest.mark.parametrize("memory", [(), ("--memory", "2M")], ids=["whole", "bounded"])
@pytest.mark.parametrize(
    "numbers, layout, complaint",
    [
        (np.zeros(7, "<u4"), "coo32", "28 bytes, expected a multiple of 8: two numbers of 4 bytes an edge"),
        (np.zeros(3, "<u4"), "coo64", "12 bytes, expected a multiple of 16: two numbers of 8 bytes an edge"),
        (np.array([0, 1, 2, 2**32], "<u8"), "coo64", "edge 1: target 4294967296, expected an id in [0, 4294967294]"),
        (np.array([0, 2**32 - 1], "<u4"), "coo32", "edge 0: target 4294967295, expected an id in [0, 4294967294]"),
        (np.array([[0, 1], [-1, 2]]), "npy", "edge 0: target -1, expected an id in [0, 4294967294]"),
        (np.zeros(4), "npy", "float64 in shape (4,), expected integers of 4 or 8 bytes in shape (2, E) or (E, 2)"),
        (np.zeros(0, "<u4"), "coo32", "empty file, expected a graph"),
    ],
    ids=["odd", "half an edge", "beyond 32 bits", "no vertex", "negative", "other shape", "empty"],
)
def test_what_holds_no_pairs_is_one_line(numbers, layout, complaint, memory, tendril):
    with open(tendril.path("g.bin"), "wb") as file:
        np.save(file, numbers) if layout == "npy" else numbers.tofile(file)
    done = tendril.try_run("convert", "g.bin", "o.safetensors", "--from", layout, "--compact", *memory)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"tendril: error: g.bin: {complaint}\n"
    assert sorted(path.name for path in tendril.folder.iterdir()) == ["data", "g.bin"]


def test_they_are_not_written(tendril):
    tendril("generate", "ring", "g.safetensors", "--vertices", 9, "--quiet")
    done = tendril.try_run("convert", "g.safetensors", "g.bin", "--to", "coo32")
    assert done.returncode == 2
    assert done.stderr == "tendril: error: g.bin: format coo32 can be read only, expected another to write\n"
