"""tendril partition: the folder is the graph again, for every verb; an output is complete or not there."""

import json
import os
import re
import signal
import subprocess
import time

import numpy as np
import pytest
from tendril_command import TENDRIL
from tensors import read_safetensors
from test_atomicity import hear_interrupts
from test_sample_apps import has_metis

ENRON = "data/email-enron.npz"
SKEWED = "skewed.safetensors"
JOBS = {
    "deepwalk": ["--app", "deepwalk"],
    "weighted": ["--app", "deepwalk", "--weighted"],
    "node2vec": ["--app", "node2vec", "--weighted", "--p", "0.5", "--q", "2"],
    "metapath": ["--app", "metapath", "--metapath", "0,1,2"],
}


@pytest.fixture
def cut(tendril, graphs):
    """Cuts the skewed graph: options of the verb to the name of the folder."""

    def run(*options, output="parts", parts=3):
        tendril("partition", graphs[SKEWED], "-o", output, "--parts", parts, *options, "--quiet")
        return output

    return run


@pytest.mark.parametrize("method", ["range", "degree"])
@pytest.mark.parametrize("job", JOBS)
def test_walks_on_parts_are_those_on_the_graph(job, method, cut, tendril, graphs):
    folder = cut("--method", method)
    for source, output in ((graphs[SKEWED], "whole.npy"), (folder, "cut.npy")):
        tendril("walk", source, "-o", output, "--length", 9, *JOBS[job], "--quiet")
    assert tendril.bytes("cut.npy") == tendril.bytes("whole.npy")
    assert np.load(tendril.path("whole.npy")).size > 10000


@pytest.mark.parametrize("verb", [["sample", "-o"], ["convert"]], ids=lambda verb: verb[0])
def test_other_verbs_read_parts(verb, cut, tendril, graphs):
    folder = cut(parts=4)
    for source, output in ((graphs[SKEWED], "whole.npz"), (folder, "cut.npz")):
        tendril(verb[0], source, *verb[1:], output, "--quiet")
    whole, other = (np.load(tendril.path(name)) for name in ("whole.npz", "cut.npz"))
    assert set(whole) == set(other)
    assert all(np.array_equal(whole[name], other[name]) for name in whole if whole[name].dtype.kind != "U")


def test_building_steps_apply(cut, tendril, graphs):
    folder = cut()
    for source, output in ((graphs[SKEWED], "whole.npz"), (folder, "cut.npz")):
        tendril("convert", source, output, "--reverse", "--drop-self-loops", "--quiet")
    assert tendril.bytes("cut.npz") == tendril.bytes("whole.npz")


def test_the_files_are_as_documented(cut, tendril, graphs):
    folder = tendril.path(cut())
    names = [f"part-0000{p}-of-00003.safetensors" for p in range(3)]
    assert sorted(path.name for path in folder.iterdir()) == ["graph.json", *names, "vertices.safetensors"]
    told = json.loads((folder / "graph.json").read_text())
    whole = load_file(graphs[SKEWED])
    for p, name in enumerate(names):
        rows = load_file(folder / name)
        first, last = told["bounds"][p : p + 2]
        begin, end = whole["indptr"][first], whole["indptr"][last]
        assert set(rows) == {"indptr", "indices", "weights", "edge_labels"}
        assert np.array_equal(rows["indptr"], whole["indptr"][first : last + 1] - begin)
        for array in ("indices", "weights", "edge_labels"):
            assert np.array_equal(rows[array], whole[array][begin:end]), array
        targets = rows["indices"]
        assert told["crossing_edges"][p] == np.count_nonzero((targets < first) | (targets >= last))
        assert told["part_edges"][p] == end - begin
    assert np.array_equal(load_file(folder / "vertices.safetensors")["node_types"], whole["node_types"])


def test_info_tells_the_parts(cut, tendril):
    folder = cut("--method", "range", parts=5)
    told = json.loads(tendril("info", folder, "--json"))
    assert told["format"] == "partition"
    parts = told["partition"]["parts"]
    assert (told["partition"]["num_parts"], told["partition"]["method"], len(parts)) == (5, "range", 5)
    assert sum(part["num_vertices"] for part in parts) == told["num_vertices"] == 1024
    assert sum(part["num_edges"] for part in parts) == told["num_edges"]
    crossing = sum(part["crossing_edges"] for part in parts)
    assert told["partition"]["crossing_share"] == crossing / told["num_edges"] > 0
    assert all(part["file_bytes"] == tendril.path(folder).joinpath(f"part-{p:05}-of-00005.safetensors").stat().st_size
               for p, part in enumerate(parts))  # fmt: skip
    text = tendril("info", folder + "/")
    assert f"5 parts by range, {100 * crossing / told['num_edges']:.1f} % of the edges lead to another part" in text
    assert len(re.findall(r"^ +\d +[\d,]+ +[\d,]+ +[\d.]+ % +[\d.]+ kB$", text, re.MULTILINE)) == 5


def test_parts_have_the_form_that_is_asked_for(cut, tendril, graphs):
    tendril("convert", graphs[SKEWED], "packed.safetensors", "--compress", "packed", "--quiet")
    tendril("partition", "packed.safetensors", "-o", "kept", "--parts", 3, "--quiet")
    tendril("partition", "packed.safetensors", "-o", "plain", "--parts", 3, "--compress", "none", "--quiet")
    folders = {"kept": "packed", "plain": "csr", cut(output="csr"): "csr", cut("--compress", "auto", output="auto"): "auto"}
    sizes, digests = {}, set()
    for folder, form in folders.items():
        told = json.loads(tendril("info", folder, "--json"))["partition"]
        assert told["form"] == form
        assert (f" in form {form}," in tendril("info", folder)) == (form != "csr")
        sizes[folder] = sum(part["file_bytes"] for part in told["parts"])
        digests.add(told["digest"])
        tendril("convert", folder, f"{folder}.safetensors", "--quiet")
        tendril("convert", graphs[SKEWED], "expected.safetensors", "--compress", form, "--quiet")
        assert tendril.bytes(f"{folder}.safetensors") == tendril.bytes("expected.safetensors")
    assert len(digests) == 1
    assert sizes["auto"] <= sizes["kept"] < sizes["csr"] == sizes["plain"]


def test_a_long_list_of_parts_is_cut_short(cut, tendril):
    text = tendril("info", cut(parts=100))
    assert "and 68 more\n" in text
    assert len(re.findall(r"^ +\d+ +[\d,]+ +[\d,]+ +[\d.]+ % ", text, re.MULTILINE)) == 32


def test_the_summary(tendril, graphs):
    told = json.loads(tendril("partition", graphs[SKEWED], "-o", "a", "--parts", 2, "--json"))
    assert told["graph"]["num_vertices"] == sum(part["num_vertices"] for part in told["parts"])
    assert told["output_bytes"] == sum(path.stat().st_size for path in tendril.path("a").iterdir())
    assert tendril("partition", graphs[SKEWED], "-o", "b", "--parts", 2, "--quiet") == ""
    text = tendril("partition", graphs[SKEWED], "-o", "c", "--parts", 2)
    assert [line.split()[0] for line in text.splitlines()] == ["graph", "cut", "part", "0", "1", "output", "total"]


def test_threads_do_not_matter(cut, tendril):
    folders = [cut("--threads", threads, output=f"by-{threads}") for threads in (1, 2, 5)]
    first = {path.name: path.read_bytes() for path in tendril.path(folders[0]).iterdir()}
    for folder in folders[1:]:
        assert {path.name: path.read_bytes() for path in tendril.path(folder).iterdir()} == first


def test_metis_renumbers(cut, tendril, graphs):
    if not has_metis():
        pytest.skip("no libmetis5")
    tendril("convert", graphs[SKEWED], "symmetric.safetensors", "--symmetrize", "--quiet")
    tendril("partition", "symmetric.safetensors", "-o", "parts", "--parts", 4, "--method", "metis", "--quiet")
    tendril("convert", "parts", "renumbered.safetensors", "--quiet")
    for source in ("parts", "renumbered.safetensors"):
        tendril("walk", source, "-o", f"{source}.npy", "--length", 5, "--quiet")
    assert tendril.bytes("parts.npy") == tendril.bytes("renumbered.safetensors.npy")
    ids = load_file(tendril.path("renumbered.safetensors"))["original_ids"]
    bounds = json.loads(tendril.path("parts/graph.json").read_text())["bounds"]
    assert sorted(ids) == list(range(1024))
    assert all(np.all(np.diff(ids[a:b].astype(np.int64)) > 0) for a, b in zip(bounds, bounds[1:], strict=False))


def load_file(path):
    return read_safetensors(path)[0]


def refused(tendril, *arguments):
    done = tendril.try_run(*arguments)
    assert done.stdout == ""
    assert done.stderr.startswith("tendril: error: ") and done.stderr.count("\n") == 1
    return done.returncode, done.stderr.removeprefix("tendril: error: ").removesuffix("\n")


def test_a_folder_that_is_not_empty_is_kept(cut, tendril, graphs):
    folder = tendril.path(cut())
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    # Noticed before the graph is read.
    for graph in (graphs[SKEWED], "no-such-graph.npz"):
        arguments = ["partition", graph, "-o", "parts", "--parts", 2]
        assert refused(tendril, *arguments) == (2, "'parts': the folder is not empty, expected a new or an empty one")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert refused(tendril, "partition", "parts", "-o", "parts/", "--parts", 2)[0] == 2
    tendril.path("empty").mkdir()
    cut(output="empty")
    assert tendril.path("empty/graph.json").exists()


@pytest.mark.parametrize(
    "options, message",
    [
        (["--parts", 0], "--parts: 0, expected a number from 1 to 1024"),
        (["--parts", 1025], "--parts: 1025, expected a number from 1 to 1024"),
        (["--parts", -1], "--parts: '-1', expected a number from 0 on (try 'tendril partition --help')"),
        ([], "--parts is required (try 'tendril partition --help')"),
        (["--parts", 2, "--method", "luck"],
         "--method: 'luck', expected range, degree or metis (try 'tendril partition --help')"),
    ],
)  # fmt: skip
def test_wrong_usage(options, message, tendril):
    assert refused(tendril, "partition", ENRON, "-o", "parts", *options) == (2, message)
    assert [path.name for path in tendril.folder.iterdir()] == ["data"]


def test_a_file_format_does_not_fit_a_folder(cut, tendril):
    folder = cut()
    for options in (["--from", "npz"], ["--columns", "source,target"]):
        code, message = refused(tendril, "info", folder, *options)
        assert (code, message) == (2, f"{options[0]}: {options[1]}, expected a file: parts is a cut graph")
    assert refused(tendril, "convert", folder, "out.safetensors", "--memory", "1G") == (
        2, "--memory: expected a file: parts is a cut graph")  # fmt: skip


def test_damaged_parts_are_one_line(cut, tendril):
    folder = tendril.path(cut())
    part = folder / "part-00001-of-00003.safetensors"
    name = "parts/part-00001-of-00003.safetensors"
    good = part.read_bytes()
    part.write_bytes(good[:-100])
    for verb in (["info", "parts"], ["walk", "parts", "-o", "w.npy"], ["convert", "parts", "g.npz"]):
        code, message = refused(tendril, *verb)
        assert code == 1 and message.startswith(name + ": "), message
    part.unlink()
    assert refused(tendril, "info", "parts") == (1, f"{name}: cannot open: No such file or directory")
    part.write_bytes(good)
    description = folder / "graph.json"
    description.write_text(description.read_text().replace('"version": 1', '"version": 7'))
    assert refused(tendril, "info", "parts") == (1, "parts/graph.json: version 7, expected 1 or 2")
    assert refused(tendril, "info", name) == (1, f"{name}: a part of a cut graph, expected the folder that it is in")
    assert {path.name for path in tendril.folder.iterdir()} == {"data", "parts"}


@pytest.mark.parametrize("stop, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_leave_nothing(stop, code, tendril):
    tendril("generate", "rmat", "large.safetensors", "--scale", 17, "--edge-factor", 16, "--quiet")
    running = subprocess.Popen(
        [str(TENDRIL), "partition", "large.safetensors", "-o", "parts", "--parts", "1000", "--quiet"],
        cwd=tendril.folder,
        preexec_fn=hear_interrupts,
    )
    deadline = time.monotonic() + 60
    while not any(len(os.listdir(path)) > 100 for path in tendril.folder.glob("parts.partial-*")):
        assert running.poll() is None, "ended before it could be stopped"
        assert time.monotonic() < deadline
        time.sleep(0.002)
    running.send_signal(stop)
    assert running.wait(timeout=30) == code
    assert {path.name for path in tendril.folder.iterdir()} == {"data", "large.safetensors"}


def test_a_full_disk_leaves_nothing(tendril):
    def small_files():
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, 1 << 19))

    done = tendril.try_run("partition", ENRON, "-o", "parts", "--parts", 2, preexec_fn=small_files)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert re.match(r"tendril: error: parts/part-00000-of-00002\.safetensors: cannot write: ", done.stderr), done.stderr
    assert [path.name for path in tendril.folder.iterdir()] == ["data"]


def test_the_examples_of_the_help_run(tendril, graphs):
    examples = re.findall(r"^  (tendril .*)$", tendril("partition", "--help").split("Examples:\n")[1], re.MULTILINE)
    assert len(examples) == 4
    tendril.path("graph.safetensors").symlink_to(graphs[SKEWED])
    for number, example in enumerate(examples):
        if "metis" in example and not has_metis():
            continue
        words = example.split()[1:]
        if words[0] == "partition" and tendril.path("parts").exists():
            words[words.index("parts")] = f"parts-{number}"
        tendril(*words)
    assert tendril.path("parts/graph.json").exists()
