"""Native files are only mapped when they are opened. Whatever they hold, every verb ends with its result or with one line."""

import json
import os
import signal
import subprocess

import numpy as np
import pytest
from tendril_command import TENDRIL
from tensors import write_safetensors
from test_atomicity import wait_for_partial

ORDER = "expected an indptr that never decreases"
GOOD = {"indptr": [0, 1, 2], "indices": [1, 0], "weights": [1, 2], "edge_labels": [0, 0], "node_types": [0, 0]}

# What is wrong, and the line that says so.
CORRUPT = {
    "offsets that fall": ({"indptr": [0, 5, 2]}, f"vertex 1: its edges end at 2 but begin at 5, {ORDER}"),
    "a negative offset": ({"indptr": [0, -5, 2]}, f"vertex 0: its edges end at -5 but begin at 0, {ORDER}"),
    "an offset far away": ({"indptr": [0, 1 << 62, 2]}, f"vertex 0: {1 << 62} edges, expected at most 4294967295"),
    "no vertex": ({"indices": [9, 9]}, "vertex 0: neighbour 9 at edge 0, expected an id below 2"),
    "no vertex at the end": ({"indices": [1, 2]}, "vertex 1: neighbour 2 at edge 1, expected an id below 2"),
    "a huge vertex": ({"indices": [4_000_000_000] * 2}, "vertex 0: neighbour 4000000000 at edge 0, expected an id below 2"),
    "no order": ({"indptr": [0, 2, 2], "indices": [1, 0]}, "vertex 0: neighbours not ascending at edge 1 (0 after 1)"),
    "a negative weight": ({"weights": [1, -2]}, "vertex 1: weight -2 at edge 1, expected a finite number >= 0"),
    "no weight": ({"weights": [np.nan, 1]}, "vertex 0: weight nan at edge 0, expected a finite number >= 0"),
    "an infinite weight": ({"weights": [1, np.inf]}, "vertex 1: weight inf at edge 1, expected a finite number >= 0"),
    "offsets that end early": ({"indptr": [0, 1, 1]}, "graph: indptr ends with 1, expected the number of indices, 2"),
    "offsets that begin late": ({"indptr": [1, 1, 2]}, "graph: indptr starts with 1, expected 0"),
}

VERBS = [
    *(["walk", "-o", out] for out in ("w.npy", "w.txt", "w.safetensors", "-")),
    *(["walk", "-o", "w.npy", "--app", app] for app in ("ppr", "restart", "node2vec", "multidim")),
    ["walk", "-o", "w.npy", "--app", "node2vec", "--p", "2", "--weighted"],
    ["walk", "-o", "w.npy", "--app", "metapath", "--metapath", "0,0"],
    ["walk", "-o", "w.npy", "--weighted", "--rule", "its"],
    *(
        ["sample", "-o", "s.npz", "--app", app]
        for app in ("khop", "minibatch", "layer", "fastgcn", "ladies", "mvs", "labor", "shadow")
    ),
    ["sample", "-o", "s.safetensors", "--app", "khop", "--fanouts=-1,2", "--weighted"],
    ["sample", "-o", "s.safetensors", "--app", "minibatch", "--subgraph", "induced", "--weighted"],
    ["sample", "-o", "s.npz", "--app", "cluster", "--clusters", "2", "--num-samples", "1", "--clusters-per-sample", "1"],
    *(
        ["sample", "-o", "s.npz", "--app", app, "--num-samples", "2"]
        for app in ("saint-node", "saint-edge", "saint-walk")
    ),
    ["sample", "-o", "s.npz", "--app", "saint-walk", "--num-samples", "2", "--coefficients", "2"],
    *(["plan", "--app", app] for app in ("deepwalk", "node2vec", "khop", "layer", "ladies", "shadow")),
    *(["convert", "o" + ending] for ending in (".txt", ".mtx", ".npz", ".wsg", ".metis", ".safetensors")),
    ["convert", "o.safetensors", "--symmetrize"],
    ["convert", "o.safetensors", "--reverse", "--drop-duplicates"],
    ["convert", "o.safetensors", "--order", "rcm"],
    ["info"],
    ["info", "--json"],
    ["info", "--validate"],
]
PLAIN = {".txt", ".mtx", ".wsg", ".metis"}  # formats that don't hold every array


def write_graph(path, changes, leave_out=(), cut=0):
    types = {"indptr": np.int64, "indices": np.uint32, "weights": np.float32}
    arrays = {name: values for name, values in (GOOD | changes).items() if name not in leave_out}
    write_safetensors(
        path,
        {name: np.array(values).astype(types.get(name, np.uint8)) for name, values in arrays.items()},
        {"format": "tendril-graph", "version": "1", "symmetric": "false"},
        cut,
    )


def left_out(verb):
    """What the verb's output can't hold: it would be refused for that."""
    ending = os.path.splitext(verb[1])[1] if verb[0] == "convert" else ""
    return ("node_types", "edge_labels") if ending in PLAIN else ()


def run(tendril, verb, name, environment=None):
    return tendril.try_run(verb[0], name, *verb[1:], env=environment)


def leftovers(tendril):
    return sorted(path.name for path in tendril.folder.iterdir() if path.name not in ("data", "g.safetensors"))


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_good_file_is_taken(verb, tendril):
    # Symmetric as it stands, as METIS files have to be.
    changes = {"weights": [2, 2]}
    write_graph(tendril.path("g.safetensors"), changes, left_out(verb))
    if verb[0] == "convert" and verb[1] == "o.metis":
        content = tendril.bytes("g.safetensors").replace(b'"symmetric": "false"', b'"symmetric": "true" ')
        tendril.path("g.safetensors").write_bytes(content)
    done = run(tendril, verb, "g.safetensors")
    assert (done.returncode, done.stderr if "-" not in verb else "") == (0, "")


@pytest.mark.parametrize("what", CORRUPT)
@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_corrupt_file_is_one_line(verb, what, tendril):
    changes, message = CORRUPT[what]
    write_graph(tendril.path("g.safetensors"), changes, left_out(verb))
    done = run(tendril, verb, "g.safetensors")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"tendril: error: g.safetensors: {message}\n"
    assert leftovers(tendril) == []


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_file_that_was_cut_off_is_one_line(verb, tendril):
    write_graph(tendril.path("g.safetensors"), {}, cut=3)
    done = run(tendril, verb, "g.safetensors")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("tendril: error: g.safetensors: tensor ") and done.stderr.count("\n") == 1
    assert leftovers(tendril) == []


def test_labels_and_types_may_be_any_number(tendril):
    """They name nothing that is looked up, so the largest ones are as good as others."""
    write_graph(tendril.path("g.safetensors"), {"edge_labels": [255, 0], "node_types": [255, 255]})
    tendril("walk", "g.safetensors", "-o", "w.npy", "--app", "metapath", "--metapath", "255,0", "--length", 3, "--quiet")
    assert np.load(tendril.path("w.npy"))[0].tolist() == [0, 1, 0, 1]
    info = json.loads(tendril("info", "g.safetensors", "--json"))
    assert (info["labels"][255]["count"], info["types"][255]["count"]) == (1, 2)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_one_bad_neighbour_at_the_end_of_a_large_graph(threads, tendril):
    tendril("generate", "rmat", "big.safetensors", "--scale", 15, "--edge-factor", 16, "--seed", 1, "--quiet")
    good = tendril.bytes("big.safetensors")
    tendril.path("g.safetensors").write_bytes(good[:-4] + b"\xff" * 4)
    done = tendril.try_run("walk", "g.safetensors", "-o", "w.npy", "--num-starts", 1, "--threads", threads)
    assert done.returncode == 1
    assert "neighbour 4294967295 at edge 524287, expected an id below 32768" in done.stderr
    assert done.stderr.count("\n") == 1
    tendril.path("big.safetensors").unlink()
    assert leftovers(tendril) == []


@pytest.mark.parametrize("keep", [0, 1 << 20], ids=["emptied", "cut"])
@pytest.mark.parametrize(
    "verb",
    [
        ["walk", "-o", "w.npy"],
        ["walk", "-o", "w.txt"],
        ["walk", "-o", "w.safetensors"],
        ["walk", "-o", "w.npy", "--memory", "1M"],
    ],
    ids=" ".join,
)
def test_a_file_that_is_truncated_while_it_is_read_is_one_line(verb, keep, tendril):
    tendril("generate", "rmat", "g.safetensors", "--scale", 15, "--edge-factor", 16, "--seed", 1, "--quiet")
    running = subprocess.Popen(
        [str(TENDRIL), verb[0], "g.safetensors", *verb[1:], "--walks", "500", "--quiet"],
        cwd=tendril.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for_partial(tendril.folder, running)
    os.truncate(tendril.path("g.safetensors"), keep)
    out, errors = running.communicate(timeout=60)
    assert (running.returncode, out) == (1, "")
    assert errors == "tendril: error: g.safetensors: the file was truncated while it was read\n"
    assert leftovers(tendril) == []


def test_a_file_that_is_replaced_by_another_may_be_in_use(tendril):
    """Tendril's own outputs appear by rename: whoever reads the old file goes on with it."""
    tendril("generate", "ring", "g.safetensors", "--vertices", 20000, "--quiet")
    running = subprocess.Popen(
        [str(TENDRIL), "walk", "g.safetensors", "-o", "w.npy", "--walks", "20", "--quiet"],
        cwd=tendril.folder,
        stderr=subprocess.PIPE,
    )
    wait_for_partial(tendril.folder, running)
    tendril("generate", "star", "g.safetensors", "--vertices", 3, "--quiet")
    assert running.communicate(timeout=60) == (None, b"") and running.returncode == 0
    walks = np.load(tendril.path("w.npy"), mmap_mode="r")
    assert walks.shape == (20000 * 20, 81)
    steps = np.abs(np.diff(walks[-1000:].astype(np.int64)))
    assert np.isin(steps, [1, 19999]).all()


def test_a_bus_error_elsewhere_stays_one(tendril):
    """A signal that no mapped file has raised ends the command as it always did."""
    tendril("generate", "ring", "g.safetensors", "--vertices", 20000, "--quiet")
    running = subprocess.Popen(
        [str(TENDRIL), "walk", "g.safetensors", "-o", "w.npy", "--walks", "500", "--quiet"], cwd=tendril.folder
    )
    wait_for_partial(tendril.folder, running)
    running.send_signal(signal.SIGBUS)
    assert running.wait(timeout=60) == -signal.SIGBUS


def test_what_is_written_is_valid(tendril):
    """A file that says that it is symmetric and isn't is not copied into another."""
    write_graph(tendril.path("g.safetensors"), {"indptr": [0, 2, 2], "indices": [0, 1], "weights": [1, 1]})
    lies = tendril.bytes("g.safetensors").replace(b'"symmetric": "false"', b'"symmetric": "true" ')
    tendril.path("g.safetensors").write_bytes(lies)
    done = tendril.try_run("convert", "g.safetensors", "o.safetensors")
    assert done.returncode == 1
    assert done.stderr == (
        "tendril: error: g.safetensors: vertex 0: 1 edges to 1 at edge 1 but 0 back, "
        "expected as many in a symmetric graph\n"
    )
    assert leftovers(tendril) == []
