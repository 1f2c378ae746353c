"""walk --part and join: the parts are the rows of the whole, and joined they are its file, byte for byte."""

import json
import resource

import numpy as np
import pytest

ENRON = "data/email-enron.npz"
GRAPH = "skewed.safetensors"

# Options of a job, and how many rows it has.
JOBS = {
    "deepwalk": (["--walks", 2, "--length", 9], 2048),
    "weighted": (["--walks", 1, "--length", 9, "--weighted"], 1024),
    "ppr": (["--app", "ppr", "--walks", 1, "--length", 20], 1024),
    "restart": (["--app", "restart", "--walks", 1, "--length", 9, "--seed", 3], 1024),
    "node2vec": (["--app", "node2vec", "--p", 2, "--q", 0.5, "--walks", 1, "--length", 9], 1024),
    "metapath": (["--app", "metapath", "--metapath", "0,2,1", "--walks", 1, "--length", 9], 1024),
    "multidim": (["--app", "multidim", "--roots", 7, "--length", 9], 147),
    "multidim of few sets": (["--app", "multidim", "--roots", 7, "--num-starts", 5, "--walks", 2], 10),
    "starts": (["--starts", "starts.txt", "--walks", 3, "--length", 9], 12),
    "drawn starts": (["--num-starts", 100, "--walks", 3, "--length", 9], 300),
    "one row": (["--num-starts", 1, "--length", 9], 1),
    "later ids": (["--num-starts", 11, "--length", 9, "--first-walk", 123456789012], 11),
    "wide ids": (["--num-starts", 11, "--length", 9, "--dtype", "int64"], 11),
    "in regions": (["--walks", 1, "--length", 9, "--memory", "1M"], 1024),
}
FORMATS = {"npy": [], "safetensors": [], "txt": [], "ragged": ["--order", "ragged"]}


def extension(form):
    return "safetensors" if form == "ragged" else form


def make_parts(tendril, graph, form, options, num_parts, stem="part"):
    """The names of the files, in order."""
    names = [f"{stem}-{i:02}.{extension(form)}" for i in range(num_parts)]
    for i, name in enumerate(names):
        tendril("walk", graph, "-o", name, "--part", f"{i}/{num_parts}", *options, *FORMATS[form], "--quiet")
    return names


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("job", JOBS)
def test_joined_parts_are_the_whole(job, form, tendril, graphs):
    options, num_rows = JOBS[job]
    if form == "ragged" and ("multidim" in options or "--memory" in options):
        pytest.skip("such walks are rows")
    if form == "txt" and "--dtype" in options:
        options = options[:-2]
    tendril.path("starts.txt").write_text("5\n900\n5\n17\n")
    whole, joined = f"whole.{extension(form)}", f"joined.{extension(form)}"
    tendril("walk", graphs[GRAPH], "-o", whole, *options, *FORMATS[form], "--quiet")
    for num_parts in (1, 2, 3, 7):
        names = make_parts(tendril, graphs[GRAPH], form, options, num_parts)
        told = json.loads(tendril("join", *names, "-o", joined, "--json"))
        assert tendril.bytes(joined) == tendril.bytes(whole)
        assert (told["num_parts"], told["num_walks"]) == (num_parts, num_rows)
        assert told["output_bytes"] == len(tendril.bytes(whole))


def test_parts_are_contiguous_and_nearly_equal(tendril, graphs):
    job = ["--num-starts", 10, "--length", 4]
    tendril("walk", graphs[GRAPH], "-o", "whole.npy", *job, "--quiet")
    whole = np.load(tendril.path("whole.npy"))
    for num_parts, sizes in ((3, [4, 3, 3]), (4, [3, 3, 2, 2]), (10, [1] * 10), (12, [1] * 10 + [0, 0])):
        names = make_parts(tendril, graphs[GRAPH], "npy", job, num_parts)
        parts = [np.load(tendril.path(name)) for name in names]
        assert [len(part) for part in parts] == sizes
        assert {(part.shape[1], part.dtype) for part in parts} == {(5, np.dtype(np.int32))}
        for part, expected in zip(parts, np.array_split(whole, num_parts), strict=True):
            assert np.array_equal(part, expected)


def test_a_part_tells_which_it_is(tendril, graphs):
    job = ["walk", graphs[GRAPH], "-o", "p.safetensors", "--num-starts", 10, "--first-walk", 100]
    told = json.loads(tendril(*job, "--part", "1/3", "--json"))
    assert (told["part"], told["first_walk"], told["num_walks"]) == ("1/3", 104, 3)
    assert "job     part 1/3: 3 walks, deepwalk" in tendril(*job, "--part", "1/3")
    assert "part" not in json.loads(tendril(*job, "--json"))


def test_the_most_parts_there_can_be(tendril, graphs):
    most = 2**63 - 1
    job = ["walk", graphs[GRAPH], "--num-starts", 3, "--length", 2, "--quiet"]
    for i, lines in ((0, 1), (2, 1), (3, 0), (most - 1, 0)):
        assert tendril(*job, "-o", "-", "--part", f"{i}/{most}").count("\n") == lines


def test_a_graph_without_edges_or_walks(tendril, graphs):
    for num_parts in (1, 3):
        for form in FORMATS:
            names = make_parts(tendril, graphs["empty.txt"], form, ["--length", 3], num_parts)
            whole, joined = f"whole.{extension(form)}", f"joined.{extension(form)}"
            tendril("walk", graphs["empty.txt"], "-o", whole, "--length", 3, *FORMATS[form], "--quiet")
            tendril("join", *names, "-o", joined, "--quiet")
            assert tendril.bytes(joined) == tendril.bytes(whole)


@pytest.mark.parametrize(
    "value", ["-1/3", "3/3", "1/0", "0/0", "a/b", "1/", "/3", "1", "1/3/3", "1/3 ", "+1/3", f"1/{2**63}"]
)
def test_a_wrong_part_is_one_line(value, tendril):
    done = tendril.try_run("walk", ENRON, "-o", "w.npy", f"--part={value}")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"tendril: error: --part: '{value}', expected I/N with I from 0 to N - 1\n"


def test_memory_does_not_grow_with_the_parts(tendril):
    few = make_parts(tendril, ENRON, "npy", ["--num-starts", 2], 2)
    program = json.loads(tendril("join", *few, "-o", "few.npy", "--threads", 1, "--json"))["peak_memory_bytes"]
    for form in ("npy", "txt", "ragged"):
        names = make_parts(tendril, ENRON, form, ["--walks", 10], 2)
        told = json.loads(tendril("join", *names, "-o", f"joined.{extension(form)}", "--threads", 1, "--json"))
        assert told["output_bytes"] > 100e6
        assert told["peak_memory_bytes"] < program + (24 << 20), form


def test_an_output_that_is_a_part_is_refused(tendril, graphs):
    names = make_parts(tendril, graphs[GRAPH], "npy", ["--walks", 1], 2)
    before = tendril.bytes(names[1])
    done = tendril.try_run("join", *names, "-o", names[1])
    assert done.returncode == 2 and "name the same file" in done.stderr
    assert tendril.bytes(names[1]) == before


def test_more_parts_than_a_process_may_open(tendril, graphs):
    def few_files():
        resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))

    names = make_parts(tendril, graphs[GRAPH], "npy", ["--num-starts", 40, "--length", 3], 30)
    done = tendril.try_run("join", *names, "-o", "joined.npy", preexec_fn=few_files)
    assert done.returncode == 0, done.stderr
    assert np.load(tendril.path("joined.npy")).shape == (40, 4)
