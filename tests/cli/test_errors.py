"""Exit codes and exact messages of what can't be done; nothing is left behind."""

import numpy as np
import pytest

ENRON = "data/email-enron.npz"
WALK = ["walk", ENRON, "-o", "out.npy"]
RAGGED = ["walk", ENRON, "-o", "out.safetensors", "--order", "ragged"]
SAMPLE = ["sample", ENRON, "-o", "out.npz"]
DEVICES = "cpu, cuda, cuda:N, cuda:N,M for several GPUs, or cuda:all"

USAGE = [
    ([], "no verb (try 'tendril --help')"),
    (["fly"], "'fly' is no verb (try 'tendril --help')"),
    (["walk", ENRON], "--output is required (try 'tendril walk --help')"),
    ([*WALK, "--nope"], "--nope: no option of 'tendril walk' (try 'tendril walk --help')"),
    ([*WALK, "--length", "abc"], "--length: 'abc', expected a number (try 'tendril walk --help')"),
    ([*WALK, "--seed", "-1"], "--seed: '-1', expected a number from 0 on (try 'tendril walk --help')"),
    ([*WALK, "--dead-end", "fly"], "--dead-end: 'fly', expected stop or repeat (try 'tendril walk --help')"),
    (
        ["walk", ENRON, "-o", "out.foo"],
        "out.foo: unknown extension, expected .npy, .safetensors or .txt, or - for text on standard output",
    ),
    (["walk", ENRON, "-o", "-", "--json"], "--json: standard output is taken by -o -, expected a file"),
    ([*WALK, "--length", "0"], "--length: 0, expected 1 to 2147483646 steps"),
    ([*WALK, "--length", "2147483648"], "--length: 2147483648, expected 1 to 2147483646 steps"),
    ([*WALK, "--app", "fly"], "--app: 'fly', expected one of deepwalk, ppr, restart, node2vec, metapath, multidim"),
    ([*WALK, "--p", "2"], "--p: --app is deepwalk, expected node2vec"),
    ([*WALK, "--app", "node2vec", "--p", "0"], "--p: 0, expected a number from 1e-9 to 1e9"),
    ([*WALK, "--app", "node2vec", "--q", "-1"], "--q: -1, expected a number from 1e-9 to 1e9"),
    ([*WALK, "--app", "node2vec", "--q", "nan"], "--q: nan, expected a number from 1e-9 to 1e9"),
    ([*WALK, "--app", "metapath"], "--app metapath: --metapath is missing, expected it"),
    (
        [*WALK, "--app", "metapath", "--metapath", "wrote"],
        "--metapath: 'wrote', expected a number from 0 to 65535 (this graph has no names)",
    ),
    ([*WALK, "--app", "metapath", "--metapath", "0,1"], "--metapath: the graph has no edge labels, expected one an edge"),
    ([*WALK, "--weighted"], "--weighted: the graph has no weights, expected one an edge"),
    ([*WALK, "--walks", "0"], "--walks: 0, expected 1 or more"),
    ([*WALK, "--num-starts", "0"], "--num-starts: 0, expected 1 or more"),
    ([*WALK, "--first-walk", "-1"], "--first-walk: -1, expected 0 or more"),
    ([*WALK, "--threads", "-1"], "--threads: -1, expected 0 (every core) or more"),
    ([*WALK, "--threads", "2147483647"], "--threads: 2147483647, expected at most 1024"),
    ([*WALK, "--device", "tpu"], "--device: 'tpu', expected " + DEVICES),
    ([*WALK, "--device", "cuda:"], "--device: 'cuda:', expected " + DEVICES),
    ([*WALK, "--device", "cuda:-1"], "--device: 'cuda:-1', expected " + DEVICES),
    ([*WALK, "--device", "cuda:1x"], "--device: 'cuda:1x', expected " + DEVICES),
    ([*WALK, "--device", "cuda:0,"], "--device: 'cuda:0,', expected " + DEVICES),
    ([*WALK, "--device", "cuda:0,x"], "--device: 'cuda:0,x', expected " + DEVICES),
    ([*WALK, "--device", "cuda:0,1,0"], "--device: devices: GPU 0 twice, expected different ones"),
    ([*SAMPLE, "--device", "cuda:1,1"], "--device: devices: GPU 1 twice, expected different ones"),
    (
        ["generate", "er", "out.npz", "--device", "cuda:0,1"],
        "--device: 2 GPUs, expected one: only walk and sample use several",
    ),
    ([*WALK, "--gpu-memory", "1G"], "--gpu-memory: --device is cpu, expected cuda"),
    ([*WALK, "--spread"], "--spread: expected several GPUs, as in --device cuda:all"),
    ([*SAMPLE, "--spread", "--device", "cuda:0"], "--spread: expected several GPUs, as in --device cuda:all"),
    (
        [*WALK, "--spread", "--graph-memory", "1G", "--device", "cuda:0,1"],
        "--spread: --graph-memory is given, expected one of both",
    ),
    ([*WALK, "--graph-memory", "1G"], "--graph-memory: --device is cpu, expected cuda"),
    ([*SAMPLE, "--graph-memory", "1G"], "--graph-memory: --device is cpu, expected cuda"),
    (["plan", "data/cora.npz", "--graph-memory", "1G"], "--graph-memory: --device is cpu, expected cuda"),
    (
        [*WALK, "--device", "cuda", "--graph-memory", "-3"],
        "--graph-memory: '-3', expected bytes as in 500000, 64M or 1.5G",
    ),
    ([*WALK, "--memory", "much"], "--memory: 'much', expected bytes as in 500000, 64M or 1.5G"),
    ([*WALK, "--device", "cuda", "--memory", "1G"], "--memory: --device is cuda, expected cpu"),
    ([*WALK, "--memory", "99"], "--memory: 99, expected at least 4096"),
    (
        [*WALK, "--app", "multidim", "--memory", "1G"],
        "--memory: --app is multidim, expected another application",
    ),
    (
        [*WALK, "--device", "cuda", "--gpu-memory", "much"],
        "--gpu-memory: 'much', expected bytes as in 500000, 64M or 1.5G",
    ),
    (
        [*WALK, "--device", "cuda", "--gpu-memory", "0"],
        "--gpu-memory: '0', expected bytes as in 500000, 64M or 1.5G",
    ),
    (
        [*SAMPLE, "--app", "minibatch", "--executor", "fast"],
        "--executor: 'fast', expected auto, hops, graph, fused or persistent",
    ),
    ([*SAMPLE, "--app", "minibatch", "--executor", "hops"], "--executor: --device is cpu, expected cuda"),
    (
        [*SAMPLE, "--seed", "18446744073709551616"],
        "--seed: '18446744073709551616', expected a number of 64 bits (try 'tendril sample --help')",
    ),
    (
        [*SAMPLE, "--app", "minibatch", "--first-batch", "99999999999999999999"],
        "--first-batch: '99999999999999999999', expected a number of 64 bits (try 'tendril sample --help')",
    ),
    ([*SAMPLE, "--app", "minibatch", "--fanouts=-2"],
     "--fanouts: -2 at hop 1, expected 0 to 2147483647, or -1 for all neighbours"),
    ([*SAMPLE, "--app", "minibatch", "--batch-size", "99999999999"],
     "--batch-size: 99999999999, expected 1 to 4294967294"),
    ([*SAMPLE, "--frontier", "all"], "--frontier: --app is khop, expected minibatch"),
    ([*WALK, "--order", "ragged"], "--order ragged: out.npy, expected a .safetensors file"),
    ([*WALK, "--order", "steps"], "--order: 'steps', expected rows or ragged (try 'tendril walk --help')"),
    ([*RAGGED, "--dead-end", "repeat"], "--order ragged: --dead-end is repeat, expected stop"),
    ([*RAGGED, "--app", "multidim"], "--order ragged: --app is multidim, expected another application"),
    ([*WALK, "--dtype", "int8"], "--dtype: 'int8', expected int32 or int64"),
    ([*WALK, "--num-starts", "5", "--starts", "a.txt"], "--starts excludes --num-starts (try 'tendril walk --help')"),
    ([*SAMPLE, "--fanouts", "0"], "--fanouts: 0 at hop 1, expected 1 or more, or -1 for all neighbours"),
    ([*SAMPLE, "--fanouts=5,-2"], "--fanouts: -2 at hop 2, expected 1 or more, or -1 for all neighbours"),
    ([*SAMPLE, "--fanouts", "25,x"], "--fanouts: 'x', expected neighbours of each hop as in 25,10, or -1 for all"),
    ([*SAMPLE, "--fanouts", "100000,100000"], "--fanouts: more than 2^31 slots a tree at hop 2"),
    ([*SAMPLE, "--num-seeds", "36693"], "--num-seeds: 36693, expected 1 to 36692, the vertices of the graph"),
    (
        [*SAMPLE, "--app", "fly"],
        "--app: 'fly', expected one of khop, minibatch, layer, fastgcn, ladies, mvs, labor, cluster, shadow, "
        "saint-node, saint-edge, saint-walk",
    ),
    ([*SAMPLE, "--app", "ppr"], "--app: ppr makes walks, expected 'tendril walk --app ppr'"),
    (
        [*SAMPLE, "--batch-size", "5"],
        "--batch-size: --app is khop, expected minibatch, fastgcn, ladies, mvs or labor",
    ),
    (
        [*SAMPLE, "--app", "minibatch", "--edges"],
        "--edges: --app is minibatch, expected khop, fastgcn, ladies or mvs",
    ),
    (["sample", ENRON, "-o", "out.npy"], "out.npy: unknown extension, expected .npz or .safetensors"),
    (
        ["plan", ENRON, "--app", "fly"],
        "--app: 'fly', expected one of deepwalk, ppr, restart, node2vec, metapath, khop, minibatch, layer, fastgcn, "
        "ladies, mvs, labor, cluster, shadow, saint-node, saint-edge, saint-walk",
    ),
    (
        ["generate", "cube", "out.npz"],
        "KIND: 'cube', expected rmat, er, powerlaw, web, star, ring, grid or complete " "(try 'tendril generate --help')",
    ),
    (["generate", "er", "out.npz", "--weights", "5"], "--weights: '5', expected the range of weights as in 1,5"),
    (["generate", "er", "out.npz", "--device", "tpu"], "--device: 'tpu', expected " + DEVICES),
    (
        ["generate", "star", "out.npz", "--device", "cuda"],
        "--device cuda: star graphs are made on the CPU, expected rmat, er, powerlaw or web",
    ),
    (
        ["generate", "web", "out.npz", "--vertices", "9", "--compress", "runs"],
        "--compress: compressed neighbours in out.npz, expected a .safetensors file as OUT",
    ),
    (
        ["generate", "web", "out.npz", "--vertices", "9", "--edge-factor", "300"],
        "--edge-factor: 300, expected 0 to 256",
    ),
    (["generate", "rmat", "out.npz", "--vertices", "5"], "--vertices: rmat has 2^scale vertices, expected --scale"),
]


@pytest.mark.parametrize(
    "arguments, message", USAGE, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_wrong_usage(arguments, message, tendril):
    done = tendril.try_run(*arguments)
    assert done.stderr == f"tendril: error: {message}\n"
    assert (done.returncode, done.stdout) == (2, "")
    assert [path.name for path in tendril.folder.iterdir()] == ["data"]


FILES = {
    "letters.txt": (b"0 1\n1 two\n", "info", "letters.txt:2: "),
    "negative.txt": (b"0 -1\n", "info", "negative.txt:1: "),
    "empty.npz": (b"", "info", "empty.npz: empty file, expected a graph"),
    "cut.npz": (b"PK\x03\x04 cut off", "info", "cut.npz: "),
    "huge.safetensors": (b"\xff" * 8 + b"{}", "info", "huge.safetensors: "),
}


@pytest.mark.parametrize("name", FILES)
def test_malformed_graph(name, tendril):
    content, verb, message = FILES[name]
    tendril.path(name).write_bytes(content)
    done = tendril.try_run(verb, name)
    assert done.returncode == 1
    assert done.stderr.startswith(f"tendril: error: {message}")
    assert done.stderr.count("\n") == 1


STARTS = {
    "word.txt": (b"0\n1\nx\n", "word.txt:3: 'x', expected one vertex id"),
    "two.txt": (b"# starts\n0 1\n", "two.txt:2: '0 1', expected one vertex id"),
    "large.txt": (b"3\n36692\n", "large.txt:2: vertex 36692, expected less than 36692, the vertices of the graph"),
    "huge.txt": (
        b"99999999999999999999999\n",
        "huge.txt:1: vertex 99999999999999999999999, expected less than 36692, the vertices of the graph",
    ),
    "comment.txt": (b"# nothing\n\n", "comment.txt: no vertex ids, expected at least one"),
    "empty.txt": (b"", "empty.txt: empty file, expected vertex ids"),
}


@pytest.mark.parametrize("name", STARTS)
def test_malformed_starts(name, tendril):
    content, message = STARTS[name]
    tendril.path(name).write_bytes(content)
    for verb, option, output in (("walk", "--starts", "out.npy"), ("sample", "--seeds", "out.npz")):
        done = tendril.try_run(verb, ENRON, "-o", output, option, name)
        assert done.stderr == f"tendril: error: {message}\n"
        assert done.returncode == 1
        assert not tendril.path(output).exists()


# Options that no graph makes right. With each, the graph does not exist.
OPTIONS_FIRST = [
    (["walk", "-o", "out.npy", "--length", "0"], "--length: 0, expected 1 to 2147483646 steps"),
    (["walk", "-o", "out.npy", "--stop-prob", "2"], "--stop-prob: 2, expected a probability in [0, 1]"),
    (
        ["walk", "-o", "out.npy", "--rule", "alias"],
        "--rule alias: not for unweighted walks, expected auto, uniform or scan",
    ),
    (
        ["walk", "-o", "out.npy", "--app", "metapath", "--metapath", "a,b", "--restart-prob", "nan"],
        "--restart-prob: nan, expected a probability in [0, 1]",
    ),
    (["walk", "-o", "out.npy", "--app", "multidim", "--length", "0"], "--length: 0, expected 1 to 2147483646 steps"),
    (
        ["walk", "-o", "out.npy", "--app", "multidim", "--roots", "65536"],
        "--roots: 65536, expected 1 to 65535 roots a sample",
    ),
    (
        ["sample", "-o", "out.npz", "--fanouts", "0"],
        "--fanouts: 0 at hop 1, expected 1 or more, or -1 for all neighbours",
    ),
    (
        ["sample", "-o", "out.npz", "--app", "minibatch", "--fanouts=-2"],
        "--fanouts: -2 at hop 1, expected 0 to 2147483647, or -1 for all neighbours",
    ),
    (
        ["sample", "-o", "out.npz", "--app-source", "none.cpp", "--param", "tries"],
        "--param: 'tries', expected NAME=VALUE, where VALUE is a number, or numbers as in 10,5",
    ),
    (["plan", "--app", "ladies", "--layers", "0"], "--layers: 0, expected 1 to 65535"),
    (["plan", "--app", "node2vec", "--p", "0"], "--p: 0, expected a number from 1e-9 to 1e9"),
    (
        ["plan", "--app", "khop", "--fanouts", "0"],
        "--fanouts: 0 at hop 1, expected 1 or more, or -1 for all neighbours",
    ),
]
# The same for `sample --app`.
CATALOGUE_OPTIONS_FIRST = [
    (["layer", "--layer-size", "0"], "--layer-size: 0, expected 1 to 2147483647 vertices"),
    (["fastgcn", "--layers", "0"], "--layers: 0, expected 1 to 65535"),
    (["fastgcn", "--batch-size", "20000"], "--batch-size: 20000, expected 1 to 16384 roots"),
    (["ladies", "--layer-size", "20000"], "--layer-size: 20000, expected 1 to 16384 vertices"),
    (["ladies", "--normalization", "col"], "--normalization: 'col', expected row, symmetric or weights"),
    (["mvs", "--batch-size", "20000"], "--batch-size: 20000, expected 1 to 16384 vertices"),
    (["labor", "--fanouts", "5,0"], "--fanouts: 0 at hop 2, expected 1 or more, or -1 for all neighbours"),
    (["cluster", "--partition", "kmeans"], "--partition: 'kmeans', expected contiguous, random or metis"),
    (["shadow", "--depth", "65"], "--depth: 65, expected 1 to 64 hops"),
    (["shadow", "--num-neighbors", "0"], "--num-neighbors: 0, expected 1 to 1024"),
    (["saint-node", "--budget", "0"], "--budget: 0, expected 1 to 2147483647"),
    (["saint-edge", "--budget", "2000000000"],
     "--budget: 2000000000 draws 4000000000 vertices, expected at most 2147483647"),
    (["saint-walk", "--length", "1001"], "--length: 1001, expected 0 to 1000 steps"),
]  # fmt: skip
OPTIONS_FIRST += [
    (["sample", "-o", "out.npz", "--app", *options], message) for options, message in CATALOGUE_OPTIONS_FIRST
]


@pytest.mark.parametrize("arguments, message", OPTIONS_FIRST)
def test_options_are_checked_before_the_graph_is_read(arguments, message, tendril):
    done = tendril.try_run(arguments[0], "none.npz", *arguments[1:])
    assert done.stderr == f"tendril: error: {message}\n"
    assert done.returncode == 2


def test_meanings_of_a_metapath_have_earlier_names_too(tendril, graphs):
    walk = ["walk", graphs["skewed.safetensors"], "--app", "metapath", "--metapath", "0,1", "--length", 9, "--quiet"]
    for name, earlier in (("edges", "edge"), ("vertices", "node")):
        tendril(*walk, "-o", "now.npy", "--metapath-of", name)
        tendril(*walk, "-o", "before.npy", "--metapath-of", earlier)
        assert tendril.path("now.npy").read_bytes() == tendril.path("before.npy").read_bytes()
    done = tendril.try_run(*walk, "-o", "out.npy", "--metapath-of", "nodes")
    assert done.stderr.startswith("tendril: error: --metapath-of: 'nodes', expected edges or vertices")
    assert done.returncode == 2


def test_starts_of_the_wrong_kind(tendril):
    np.save(tendril.path("float.npy"), np.zeros(3))
    np.save(tendril.path("large.npy"), np.array([1, 40000]))
    np.save(tendril.path("negative.npy"), np.array([1, -1]))
    for name in ("float.npy", "large.npy", "negative.npy"):
        done = tendril.try_run(*WALK, "--starts", name)
        assert done.returncode == 1
        assert done.stderr.startswith(f"tendril: error: {name}: ")


def test_what_cannot_be_opened(tendril):
    for arguments, message in (
        (["info", "none.npz"], "none.npz: cannot open: No such file or directory"),
        (["info", "data"], "data: is a directory without graph.json, expected a file or a folder of 'tendril partition'"),
        (["walk", ENRON, "-o", "none/out.npy"], "none/out.npy: cannot create: No such file or directory"),
        (["walk", ENRON, "-o", "out.npy", "--starts", "none.txt"], "none.txt: cannot open: No such file or directory"),
    ):
        done = tendril.try_run(*arguments)
        assert done.stderr == f"tendril: error: {message}\n"
        assert (done.returncode, done.stdout) == (1, "")


def test_graphs_without_edges_or_vertices(tendril, graphs):
    tendril("walk", graphs["empty.txt"], "-o", "none.npy", "--quiet")
    assert np.load(tendril.path("none.npy")).shape == (0, 81)
    tendril("sample", graphs["empty.txt"], "-o", "none.npz", "--quiet")
    done = tendril.try_run("walk", graphs["empty.txt"], "-o", "out.npy", "--num-starts", 3)
    assert done.stderr == "tendril: error: the graph has no vertices to draw 3 from\n"
    assert done.returncode == 2
    tendril("generate", "er", "bare.npz", "--vertices", 5, "--edge-factor", 0, "--quiet")
    tendril("walk", "bare.npz", "-o", "stay.npy", "--walks", 2, "--length", 3, "--quiet")
    assert np.load(tendril.path("stay.npy")).tolist() == [[v, -1, -1, -1] for v in range(5) for _ in range(2)]
