"""An output that is also an input is refused, by whatever path or link, in every verb that writes a file."""

import os

import pytest
from options import command, options, verbs

SOURCE = "struct one { int steps() const { return 1; } };\n"


def files(tendril):
    """A graph and lists that any verb can read, and what is in them."""
    tendril("generate", "ring", "graph.npz", "--vertices", 12, "--quiet")
    (tendril.folder / "folder").mkdir()
    return tendril.bytes("graph.npz")


def refused(tendril, arguments, output, option, given):
    before = {path: path.read_bytes() for path in tendril.folder.iterdir() if path.is_file()}
    done = tendril.try_run(*arguments)
    assert (done.returncode, done.stdout) == (2, ""), done
    assert done.stderr == (
        f"tendril: error: {given}: {output} and {option} name the same file, expected an output that is no input\n"
    )
    assert {path: path.read_bytes() for path in tendril.folder.iterdir() if path.is_file()} == before


PATHS = {
    "the same path": lambda folder, name: name,
    "another path": lambda folder, name: f"./folder/../{name}",
    "an absolute path": lambda folder, name: str(folder / name),
    "a symbolic link": lambda folder, name: (os.symlink(name, folder / f"soft-{name}"), f"soft-{name}")[1],
    "a hard link": lambda folder, name: (os.link(folder / name, folder / f"hard-{name}"), f"hard-{name}")[1],
    "a link to a link": lambda folder, name: (
        os.symlink(name, folder / f"first-{name}"),
        os.symlink(f"first-{name}", folder / f"second-{name}"),
        f"second-{name}",
    )[2],
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("verb", ["walk", "sample", "convert"])
def test_the_graph_is_kept(verb, path, tendril):
    files(tendril)
    if verb == "walk":
        tendril("convert", "graph.npz", "graph.safetensors", "--quiet")
    graph = "graph.safetensors" if verb == "walk" else "graph.npz"
    given = PATHS[path](tendril.folder, graph)
    output = ["OUT"] if verb == "convert" else ["--output"]
    arguments = ["convert", graph, given] if verb == "convert" else [verb, graph, "-o", given]
    refused(tendril, arguments, output[0], "GRAPH", given)


def test_the_issue_as_it_was_reported(tendril):
    files(tendril)
    tendril("convert", "graph.npz", "io.safetensors", "--quiet")
    before = tendril.bytes("io.safetensors")
    done = tendril.try_run("walk", "io.safetensors", "-o", "io.safetensors")
    assert done.returncode == 2
    assert tendril.bytes("io.safetensors") == before
    assert '"num_vertices": 12' in tendril("info", "io.safetensors", "--json")


def test_other_files_that_are_read_are_kept(tendril):
    """Every option of a verb with an output whose value --help calls FILE or GRAPH, but for the graph itself."""
    files(tendril)
    seen = []
    for verb in verbs(tendril):
        own = options(tendril, verb)
        outputs = [option for option in own if option.value == "OUT"]
        for option in own:
            if not outputs or option.value not in ("FILE", "GRAPH") or option.positional:
                continue
            seen.append(option.name)
            tendril.path("list.npz").write_text("0\n1\n")
            name = outputs[0].name
            arguments = command(tendril, verb, {"GRAPH": "graph.npz", name: "list.npz", option.name: "./list.npz"})
            refused(tendril, arguments, name, option.name, "list.npz")
    assert {"--starts", "--seeds", "--clusters-from", "--importance", "--app-source"} <= set(seen)


def test_every_option_that_reads_a_file_says_so(tendril):
    """The check goes by what --help calls a value: a text that names FILE must be called FILE, and an output OUT."""
    for verb in verbs(tendril):
        for line in tendril(verb, "--help").splitlines():
            if line.startswith("  --") and "FILE" in line[26:]:
                assert " FILE " in line[:26] or line.split()[1] == "FILE", line
    called = {option.name for verb in verbs(tendril) for option in options(tendril, verb) if option.value == "OUT"}
    assert {"OUT", "--output"} <= called


@pytest.mark.parametrize("companion", ["web.properties", "web.offsets"])
def test_the_companions_of_a_webgraph_are_kept(companion, tendril):
    for name in ("web.graph", "web.properties", "web.offsets"):
        tendril.path(name).write_text("what it holds does not matter here")
    refused(tendril, ["convert", "web.graph", companion, "--to", "npz"], "OUT", "GRAPH", companion)


def test_a_file_that_was_there_before_is_replaced(tendril):
    graph = files(tendril)
    tendril.path("walks.npy").write_text("an older file")
    tendril("walk", "graph.npz", "-o", "walks.npy", "--length", 2, "--quiet")
    assert tendril.bytes("walks.npy").startswith(b"\x93NUMPY")
    tendril("generate", "ring", "graph.npz", "--vertices", 12, "--quiet", "--name", "graph.npz")
    tendril("convert", "graph.npz", "copy.npz", "--quiet")
    tendril("convert", "graph.npz", "copy.npz", "--quiet")
    assert tendril.bytes("graph.npz") != graph  # of another name


def test_an_output_in_a_folder_that_is_not_there(tendril):
    files(tendril)
    done = tendril.try_run("walk", "graph.npz", "-o", "none/graph.npy")
    assert done.stderr == "tendril: error: none/graph.npy: cannot create: No such file or directory\n"
