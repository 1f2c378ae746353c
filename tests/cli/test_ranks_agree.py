"""What the ranks of mpirun must agree on: whatever decides the output, named in one line before any work."""

import re

import numpy as np
import pytest
from mpi_ranks import NEEDS_MPI, complaint, different_ranks, files, run_script
from tendril_command import ROOT, TENDRIL, Tendril
from tensors import read_safetensors, write_safetensors

GRAPH = "skewed.safetensors"
pytestmark = NEEDS_MPI

# Options with which a rank may differ, with a value, and those of them that need a GPU.
MAY_DIFFER = {
    "--threads": "3", "--json": "", "--quiet": "", "--progress": "", "--deadline": "30", "--device": "cpu", "--table-bytes": "0",
    "--gpu-memory": "1M", "--graph-memory": "1M", "--spread": "", "--executor": "auto",
}  # fmt: skip
NEED_A_GPU = {"--gpu-memory", "--graph-memory", "--spread", "--executor"}


def on_one_rank(tendril, rank, command, option, num_ranks):
    """What becomes of a command with one more option on one of the ranks."""
    own = f'O=; [ "$OMPI_COMM_WORLD_RANK" = {rank} ] && O="{option}"; exec {TENDRIL} {command} $O'
    return run_script(tendril, own, num_ranks=num_ranks)


@pytest.mark.parametrize("verb, output", [("walk", "w.npy"), ("sample", "s.npz")])
def test_ranks_may_differ_in_what_never_changes_the_file(verb, output, tendril, graphs):
    tendril("partition", graphs[GRAPH], "-o", "parts", "--parts", 2, "--quiet")
    tendril(verb, graphs[GRAPH], "-o", "whole" + output[1:], "--threads", 1, "--quiet")
    for name, value in MAY_DIFFER.items():
        if name == "--executor" and verb == "walk":
            continue
        ranks = on_one_rank(tendril, 1, f"{verb} parts -o {output}", f"{name}={value}" if value else name, 2)
        assert "expected as on rank 0" not in ranks.stderr
        assert (ranks.returncode == 0) != (name in NEED_A_GPU), (name, ranks.stderr)
        if ranks.returncode == 0:
            assert tendril.bytes(output) == tendril.bytes("whole" + output[1:]), name
            tendril.path(output).unlink()


def test_every_other_option_must_agree():
    """The command compares all options but for a list of exceptions, which is the list here and in the documentation."""
    exceptions = re.search(r"may_differ\{(.*?)\};", (ROOT / "cli/ranks.cpp").read_text(), re.DOTALL).group(1)
    assert set(re.findall(r'"(--[\w-]+)"', exceptions)) == set(MAY_DIFFER)
    documented = (ROOT / "docs/distributed.md").read_text(encoding="utf-8").split("### What ranks compare")[1].split("may differ as well")[0]
    assert set(re.findall(r"`(--[\w-]+)`", documented)) == set(MAY_DIFFER)


@pytest.mark.parametrize("num_ranks", [2, 3])
@pytest.mark.parametrize("graph", ["whole", "parts"])
def test_one_option_more_on_a_rank_is_named(graph, num_ranks, tendril, graphs):
    tendril("partition", graphs[GRAPH], "-o", "parts", "--parts", num_ranks, "--quiet")
    source = graphs[GRAPH] if graph == "whole" else "parts"
    last = num_ranks - 1
    for command, option, said in (
        ("walk -o w.npy", "--dtype int64", "--dtype is int64, expected as on rank 0: not given"),
        ("walk -o w.safetensors", "--dtype int64", "--dtype is int64, expected as on rank 0: not given"),
        ("walk -o w.npy", "--weighted", "--weighted is given, expected as on rank 0: not given"),
        ("walk -o w.npy --num-starts 3", "--length=3", "--length is 3, expected as on rank 0: not given"),
        ("walk -o w.npy", "--starts rank.sh", "--starts is a file, expected as on rank 0: not given"),
        ("walk -o w.npy", "--parts", "--parts is given, expected as on rank 0: not given"),
        ("walk -o w.npy", "--count visits", "--count is visits, expected as on rank 0: not given"),
        ("sample -o s.npz", "--dtype int64", "--dtype is int64, expected as on rank 0: not given"),
        ("sample -o s.npz", "--edges", "--edges is given, expected as on rank 0: not given"),
        ("sample -o s.npz", "--no-normalize-rows", "--no-normalize-rows is given, expected as on rank 0: not given"),
        ("sample -o s.npz", "--memory 1M", "--memory is 1M, expected as on rank 0: not given"),
    ):
        ranks = on_one_rank(tendril, last, f"{command} {source} --quiet", option, num_ranks)
        assert ranks.returncode == 1
        lines = [line for line in ranks.stderr.splitlines() if line.startswith("tendril: ")]
        assert lines == [f"tendril: error: rank {last} of {num_ranks}: {said}"]
    assert files(tendril) == ["data", "parts", "rank.sh"]


@pytest.mark.parametrize("num_ranks", [2, 3])
@pytest.mark.parametrize(
    "command",
    ["walk GRAPH -o w.npy --starts", "walk parts -o w.npy --starts", "sample parts -o s.npz --seeds",
     "walk GRAPH -o w.npy --app multidim --roots 2 --starts"],
)  # fmt: skip
def test_files_of_vertices_are_compared_by_content(command, num_ranks, tendril, graphs):
    tendril("partition", graphs[GRAPH], "-o", "parts", "--parts", num_ranks, "--quiet")
    command = command.replace("GRAPH", str(graphs[GRAPH]))
    name = command.split()[-1]
    tendril.path("a").write_text("1\n2\n3\n4\n")
    tendril.path("b").write_text("1\n2\n3\n4\n")  # the same content at another path
    tendril.path("c").write_text("1\n2\n4\n3\n")
    script = f'F=a; [ "$OMPI_COMM_WORLD_RANK" = 1 ] && F=OTHER; exec {TENDRIL} {command} "$F" --quiet'
    assert run_script(tendril, script.replace("OTHER", "b"), num_ranks=num_ranks).returncode == 0
    said = different_ranks(tendril, script.replace("OTHER", "c"), num_ranks=num_ranks)
    assert f"rank 1 of {num_ranks}: the content of {name} is 4 vertices with the hash " in said


def altered(tendril, source, change):
    """A copy of a graph, of which `change` alters the arrays."""
    arrays, metadata = read_safetensors(source)
    arrays = {name: np.array(values) for name, values in arrays.items()}
    change(arrays)
    write_safetensors(tendril.path("other.safetensors"), arrays, metadata)


def other_graph_on_a_rank(tendril, graph, num_ranks):
    script = f'G={graph}; [ "$OMPI_COMM_WORLD_RANK" = 1 ] && G=other.safetensors; '
    return run_script(tendril, f'{script}exec {TENDRIL} walk "$G" -o w.npy --num-starts 2 --length 2 --quiet', num_ranks=num_ranks)


def expect_named(ranks, num_ranks):
    assert ranks.returncode == 1
    assert f"tendril: error: rank 1 of {num_ranks}: the graph is " in ranks.stderr


@pytest.mark.parametrize("array", ["weights", "edge_labels", "node_types", "edge_ids", "original_ids", "indices"])
def test_every_entry_of_a_small_graph_is_compared(array, tendril, graphs):
    arrays, metadata = read_safetensors(graphs[GRAPH])
    num_edges = len(arrays["indices"])
    arrays["edge_ids"] = np.arange(num_edges, dtype=np.int64)
    arrays["original_ids"] = np.arange(1024, dtype=np.uint32)
    write_safetensors(tendril.path("graph.safetensors"), arrays, metadata)
    graph = tendril.path("graph.safetensors")
    altered(tendril, graph, lambda arrays: None)
    assert other_graph_on_a_rank(tendril, graph, 2).returncode == 0
    at = np.random.default_rng(1).integers(len(arrays[array]))

    def change(arrays):
        values = arrays[array]
        if array in ("edge_ids", "original_ids"):
            values[[at, at - 1]] = values[[at - 1, at]]
        elif array == "indices":
            values[np.flatnonzero(np.diff(values.astype(np.int64)) > 1)[7]] += 1
        else:
            values[at] = (values[at] + 1) % 2

    altered(tendril, graph, change)
    expect_named(other_graph_on_a_rank(tendril, graph, 2), 2)


@pytest.fixture(scope="module")
def large_graph(tmp_path_factory):
    command = Tendril(tmp_path_factory.mktemp("large"))
    command("generate", "er", "large.safetensors", "--vertices", 200000, "--edge-factor", 8, "--num-labels", 5, "--quiet")
    return command.path("large.safetensors")


def label_one_edge_of(lists):
    def change(arrays):
        first, last = arrays["indptr"][lists], arrays["indptr"][lists + 1]
        first = first[first < last]
        arrays["edge_labels"][first] = (arrays["edge_labels"][first] + 1) % 5

    return change


@pytest.mark.parametrize("num_ranks", [2, 3])
@pytest.mark.parametrize("which", ["0.1 % of lists", "every 1000th list", "lists that are not 195 apart", "an edge more"])
def test_differences_of_a_large_graph_are_noticed(which, num_ranks, tendril, large_graph):
    rng = np.random.default_rng(2)
    vertices = np.arange(200000)

    def one_edge_more(arrays):
        """A vertex has one neighbour more, and the first one behind it with two has one less."""
        degrees = np.diff(arrays["indptr"].astype(np.int64))
        v = 77777
        w = v + 101 + int(np.argmax(degrees[v + 101 :] > 1))
        arrays["indptr"][v + 1 : w + 1] += 1
        for u in range(v, w + 1):
            first, last = arrays["indptr"][u : u + 2].astype(np.int64)
            arrays["indices"][first:last] = np.arange(last - first)

    changes = {
        "0.1 % of lists": label_one_edge_of(np.sort(rng.choice(vertices, 200, replace=False))),
        "every 1000th list": label_one_edge_of(vertices[500::1000]),
        "lists that are not 195 apart": label_one_edge_of(vertices[vertices % 195 != 0]),
        "an edge more": one_edge_more,
    }
    altered(tendril, large_graph, changes[which])
    expect_named(other_graph_on_a_rank(tendril, large_graph, num_ranks), num_ranks)


@pytest.mark.parametrize("num_ranks", [2, 3])
def test_a_wrong_option_on_all_ranks_ends_with_2(num_ranks, tendril, graphs):
    tendril("partition", graphs[GRAPH], "-o", "parts", "--parts", num_ranks, "--quiet")
    for options in (
        ["--length", -1], ["--p", 2], ["--rule", "x"], ["--app", "metapath", "--metapath", "0,x"], ["--part", "0/2"],
        ["--no-such-option"], ["--count", "x"], ["--deadline", 0],
    ):  # fmt: skip
        for graph in (graphs[GRAPH], "parts"):
            complaint(tendril, num_ranks, "walk", graph, "-o", "w.npy", *options, "--quiet", codes=[2])
    for option in ("--from", "--columns"):
        said = complaint(tendril, num_ranks, "walk", "parts", "-o", "w.npy", option, "npz", "--quiet", codes=[2])
        assert f"{option}: npz, expected a file: parts is a cut graph" in said


def test_a_wrong_option_on_one_rank_ends_with_2(tendril, graphs):
    """The other rank ends with the code of the rank that fails, whichever mpirun hears first."""
    for rank in (0, 1):
        ranks = on_one_rank(tendril, rank, f"walk {graphs[GRAPH]} -o w.npy", "--no-such-option", 2)
        assert ranks.returncode == 2, ranks.stderr


def test_a_folder_without_graph_json_is_named(tendril):
    tendril.path("empty").mkdir()
    said = complaint(tendril, 2, "walk", "empty", "-o", "w.npy", "--quiet", codes=[1])
    assert "empty: is a directory without graph.json, expected a file or a folder of 'tendril partition'" in said
