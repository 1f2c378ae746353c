"""Whatever a file of compressed lists holds, every verb ends with its result or with one line."""

import json

import numpy as np
import pytest
from tensors import write_safetensors
from test_corrupt_files import VERBS, leftovers
from test_gpu import gpu  # noqa: F401 (a fixture)

OWN, SHARED, WIDE = range(3)  # kinds of blocks
NEAR, FAR, RUNS_NEAR, RUNS_FAR, ELIAS_FANO, VBYTE, RUNS_ELIAS_FANO = range(7)  # codes of lists
BEYOND = 16  # words that lie behind the lists


def block(shares, kind=SHARED, code=FAR, width=1, base=0, middle_edge=None):
    """The words of a block. `shares` are the places, in bytes, and the degrees of its first vertices, up to six."""
    header = code << 5 | width - 1
    places = [place << 16 | degree for place, degree in shares]
    if middle_edge is None:
        middle_edge = sum(degree for _, degree in shares)
    first_half = [base, kind << 21 | 16 << 16 | header << 8, *places, *[0] * (6 - len(places))]
    return first_half + [0, 16 << 16, *[0] * 5, middle_edge]


def lists(words):
    return words + [0] * BEYOND


def one_list(words, code, width, degree):
    """What changes if vertex 0 has a list of that code, and vertex 1 has none."""
    return {
        "list_blocks": [block([(0, degree)], code=code, width=width)],
        "lists": lists(words),
        "weights": [1] * degree,
        "num_edges": degree,
    }


NO_WIDE = np.zeros((0, 4))

# Two vertices, 0 -> 0, 0 -> 1 and 1 -> 1: lists of one byte each, in bits.
GOOD = {
    "list_blocks": [block([(0, 2), (1, 1)])],
    "wide_lists": NO_WIDE,
    "lists": lists([0b10 | 1 << 8]),
    "weights": [1, 2, 3],
    "num_vertices": 2,
    "num_edges": 3,
}
WIDE_LISTS = [[0, FAR << 29, 2, 0], [1, FAR << 29, 1, 0], *[[0, 0, 0, 0]] * 4]
GOODS = {
    "shared headers": {},
    "own headers": {
        "list_blocks": [block([(0, 2), (2, 1)], kind=OWN)],
        "lists": lists([FAR << 5 | 0b10 << 8 | FAR << 21 | 1 << 24]),
    },
    "a wide block": {"list_blocks": [block([], kind=WIDE, middle_edge=3)], "wide_lists": WIDE_LISTS},
}

# What is wrong with lists, and the line that says so when they are first used.
CORRUPT = {
    "a block of no kind": (
        {"list_blocks": [block([(0, 2), (1, 1)], kind=3)]},
        "vertex 0: its block of the directory is of kind 3, expected at most 2",
    ),
    "wide entries elsewhere": (
        {"list_blocks": [block([], kind=WIDE, base=1)], "wide_lists": WIDE_LISTS},
        "vertex 0: its block of the directory has wide entries from 1, expected 6 below 6",
    ),
    "a wide entry that points elsewhere": (
        {"list_blocks": [block([], kind=WIDE, middle_edge=3)], "wide_lists": [[9, FAR << 29, 2, 0], *WIDE_LISTS[1:]]},
        "vertex 0: a list at byte 9 that ends outside of the lists' 4 bytes",
    ),
    "a list elsewhere": (
        {"list_blocks": [block([(0, 2), (100, 1)])]},
        "vertex 0: its block of the directory has a list at byte 100, expected at most 4",
    ),
    "a list at the end": (
        {"list_blocks": [block([(0, 2), (4, 1)])]},
        "vertex 1: a list at byte 4 that ends outside of the lists' 4 bytes",
    ),
    "a list across the end": (
        {"list_blocks": [block([(0, 2), (1, 1)], width=32)]},
        "vertex 0: a list at byte 0 that ends outside of the lists' 4 bytes",
    ),
    "another degree": (
        {"list_blocks": [block([(0, 1), (1, 1)])]},
        "vertex 0: it and those of its block have 2 edges, expected those of 0 to 3",
    ),
    "edges that begin late": (
        {"list_blocks": [block([(0, 2), (1, 1)], middle_edge=4)]},
        "vertex 0: its edges begin at 1, expected 0",
    ),
    "edges of two blocks that don't add up": (
        {"list_blocks": [GOOD["list_blocks"][0], block([], middle_edge=2)], "num_vertices": 11},
        "vertex 0: it and those of its block have 3 edges, expected those of 0 to 2",
    ),
    "a code of no list": (
        {"list_blocks": [block([(0, 2), (1, 1)], code=7)]},
        "vertex 0: a list of code 7, expected at most 6",
    ),
    "runs without a first one": (
        {"list_blocks": [block([(0, 2), (1, 1)], code=RUNS_FAR)]},
        "vertex 0: a list whose first edge begins no run",
    ),
    "runs that are miscounted": (
        one_list([0, 1, *[0] * 15], RUNS_FAR, 1, 225),
        "vertex 0: 1 runs before edge 224 of its list, which says 0",
    ),
    "too few marks of Elias-Fano": (
        one_list([0, 0b100], ELIAS_FANO, 1, 2),
        "vertex 0: 1 marks of upper bits in its list, expected one an edge: 2",
    ),
    "a block of Elias-Fano elsewhere": (
        one_list([0, 1000, 0, 1000], ELIAS_FANO, 1, 129),
        "vertex 0: a list at byte 0 that ends outside of the lists' 16 bytes",
    ),
    "gaps across the end": (
        one_list([0x0001000F], VBYTE, 1, 2),
        "vertex 0: a list at byte 0 that ends outside of the lists' 4 bytes",
    ),
    "runs and Elias-Fano without a first run": (
        one_list([0], RUNS_ELIAS_FANO, 1, 2),
        "vertex 0: a list whose first edge begins no run",
    ),
    "runs and Elias-Fano of too many edges": (
        one_list([1, *[0] * 15], RUNS_ELIAS_FANO, 1, 225),
        "vertex 0: 225 edges in a list of runs and Elias-Fano, expected at most 224",
    ),
    "runs and Elias-Fano of too many runs": (
        one_list([2**32 - 1] * 10, RUNS_ELIAS_FANO, 1, 130),
        "vertex 0: 130 runs in a list of runs and Elias-Fano, expected at most 129",
    ),
    "runs and Elias-Fano across the end": (
        one_list([0b11], RUNS_ELIAS_FANO, 32, 2),
        "vertex 0: a list at byte 0 that ends outside of the lists' 4 bytes",
    ),
    "too few marks of runs and Elias-Fano": (
        one_list([0b1_00000_11 | 1 << 7], RUNS_ELIAS_FANO, 1, 2),
        "vertex 0: 0 marks of upper bits in its list, expected one an edge: 1",
    ),
    "a block of gaps elsewhere": (
        one_list([0, 1000], VBYTE, 1, 33),
        "vertex 0: a list at byte 0 that ends outside of the lists' 8 bytes",
    ),
    "no order": ({"lists": lists([1])}, "vertex 0: neighbours not ascending at edge 1 (0 after 1)"),
    "no vertex": (
        {"list_blocks": [block([(0, 2), (1, 1)], width=2)], "lists": lists([0b0100 | 3 << 8])},
        "vertex 1: neighbour 3 at edge 2, expected an id below 2",
    ),
    "a difference that wraps": (
        one_list([0], NEAR, 2, 1),
        "vertex 0: neighbour 4294967294 at edge 0, expected an id below 2",
    ),
    "a negative weight": ({"weights": [1, 2, -3]}, "vertex 1: weight -3 at edge 2, expected a finite number >= 0"),
}

PARTS = "expected a compressed graph's list_blocks, wide_lists and lists"

# What is refused when the file is opened.
REFUSED = {
    "too many edges": ({"num_edges": 10**9}, f"{10**9} edges in {{}} bytes, expected at most 8 a byte"),
    "no number": ({"num_vertices": "two"}, "metadata 'num_vertices': 'two', expected a number from 0 to 4294967295"),
    "a negative number": ({"num_edges": -1}, f"metadata 'num_edges': '-1', expected a number from 0 to {2**63 - 1}"),
    "too many vertices": (
        {"num_vertices": 1 << 32},
        "metadata 'num_vertices': '4294967296', expected a number from 0 to 4294967295",
    ),
    "a block for each of three": (
        {"list_blocks": GOOD["list_blocks"] * 3},
        "array 'list_blocks': shape (3, 16), expected (1, 16): one block for 11 vertices",
    ),
    "wide entries of three words": (
        {"wide_lists": np.zeros((1, 3))},
        "array 'wide_lists': shape (1, 3), expected two dimensions, of 4 words an entry",
    ),
    "nothing behind the lists": (
        {"lists": [1] * 15},
        "array 'lists': shape (15,), expected one dimension and 16 words or more",
    ),
    "two weights": ({"weights": [1, 2]}, "array 'weights': shape (2,), expected (3,): one an edge"),
    "both forms": ({"indices": [0, 1, 1]}, "both 'indices' and compressed lists, expected one of them"),
    "no directory": ({"list_blocks": None}, f"no tensor 'list_blocks', {PARTS}"),
    "no wide entries": ({"wide_lists": None}, f"no tensor 'wide_lists', {PARTS}"),
    "no lists": ({"lists": None}, f"no tensor 'lists', {PARTS}"),
    "another version": ({"version": "3"}, "tendril-graph version '3', expected 1 or 4"),
    "another form": (
        {"form": "zipped"},
        "metadata 'form': 'zipped', expected one of packed, runs, ef, vbyte, auto in version 4",
    ),
}


def write_compressed(path, changes, cut=0):
    contents = {"version": "4", "form": "auto"} | GOOD | changes
    texts = ("version", "form", "num_vertices", "num_edges")
    write_safetensors(
        path,
        {
            name: np.array(values).astype(np.float32 if name == "weights" else np.uint32)
            for name, values in contents.items()
            if name not in texts and values is not None
        },
        {"format": "tendril-graph"} | {name: str(contents[name]) for name in texts},
        cut,
    )


def expect_one_line(done, tendril, message):
    size = tendril.path("g.safetensors").stat().st_size
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"tendril: error: g.safetensors: {message.format(size)}\n"
    assert leftovers(tendril) == []


@pytest.mark.parametrize("what", GOODS)
def test_the_good_file_is_good(what, tendril):
    write_compressed(tendril.path("g.safetensors"), GOODS[what])
    info = json.loads(tendril("info", "g.safetensors", "--json", "--validate"))
    assert (info["form"], info["num_edges"], info["self_loops"]) == ("auto", 3, 2)
    tendril("convert", "g.safetensors", "o.csv", "--quiet")
    assert tendril.path("o.csv").read_text() == "source,target,weight\n0,0,1\n0,1,2\n1,1,3\n"


@pytest.mark.parametrize("what", CORRUPT)
@pytest.mark.parametrize("verb", [verb for verb in VERBS if "metapath" not in verb], ids=" ".join)
def test_corrupt_lists_are_one_line(verb, what, tendril):
    changes, message = CORRUPT[what]
    write_compressed(tendril.path("g.safetensors"), changes)
    expect_one_line(tendril.try_run(verb[0], "g.safetensors", *verb[1:]), tendril, message)


@pytest.mark.parametrize("what", CORRUPT)
def test_corrupt_lists_are_one_line_on_a_gpu(what, gpu, tendril):  # noqa: F811
    changes, message = CORRUPT[what]
    write_compressed(tendril.path("g.safetensors"), changes)
    done = tendril.try_run("walk", "g.safetensors", "-o", "w.npy", "--device", "cuda:0")
    expect_one_line(done, tendril, message)


@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.parametrize("verb", [["info"], ["walk", "-o", "w.npy"], ["convert", "o.npz"]], ids=" ".join)
def test_files_that_cannot_be_are_one_line(verb, what, tendril):
    changes, message = REFUSED[what]
    write_compressed(tendril.path("g.safetensors"), changes)
    expect_one_line(tendril.try_run(verb[0], "g.safetensors", *verb[1:]), tendril, message)


@pytest.mark.parametrize("cut", [1, 3, 20, 60])
def test_a_file_that_was_cut_off_is_one_line(cut, tendril):
    write_compressed(tendril.path("g.safetensors"), {}, cut=cut)
    done = tendril.try_run("walk", "g.safetensors", "-o", "w.npy")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("tendril: error: g.safetensors: tensor ") and done.stderr.count("\n") == 1
    assert leftovers(tendril) == []
