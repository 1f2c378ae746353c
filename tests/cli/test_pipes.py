"""`-` is standard input, and pipes are read like files: for graphs and for lists of vertices."""

import gzip
import os
import subprocess
import threading

import pytest
from tendril_command import ROOT, TENDRIL

ENRON = "data/email-enron.npz"
EDGES = b"0 1\n1 2\n2 0\n"


def shell(tendril, line, **options):
    environment = {**os.environ, "PATH": f"{TENDRIL.parent}:{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "-c", line], cwd=tendril.folder, env=environment, capture_output=True, timeout=120, check=False, **options
    )


def output(tendril, line, **options):
    done = shell(tendril, line, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def edges(tendril):
    tendril.path("edges.txt").write_bytes(EDGES)
    tendril.path("edges.txt.gz").write_bytes(gzip.compress(EDGES))
    tendril("walk", "edges.txt", "-o", "expected.txt", "--length", 4, "--quiet")
    return tendril


@pytest.mark.parametrize(
    "line",
    [
        "cat edges.txt | tendril walk - -o - --length 4 --quiet",
        "tendril walk - -o - --length 4 --quiet < edges.txt",
        "(tail -c +1 edges.txt; sleep .1) | tendril walk - -o - --length 4 --quiet",
        "(head -c 0; cat) < edges.txt | tendril walk - -o - --length 4 --quiet",
        "zcat edges.txt.gz | tendril walk - -o - --length 4 --quiet",
        "cat edges.txt.gz | tendril walk - -o - --length 4 --quiet",
        "tendril walk <(zcat edges.txt.gz) -o - --length 4 --quiet",
        "cat edges.txt | tendril walk /dev/stdin -o - --length 4 --quiet",
        "tendril convert edges.txt e.npz --quiet; cat e.npz | tendril walk - -o - --length 4 --quiet",
        "tendril convert edges.txt e.mtx --quiet; cat e.mtx | tendril walk - -o - --length 4 --quiet",
        "tendril convert edges.txt e.safetensors --quiet; cat e.safetensors | tendril walk - -o - --length 4 --quiet",
        "tendril convert edges.txt e.sg --quiet; cat e.sg | tendril walk - --from gap -o - --length 4 --quiet",
        "cat edges.txt | tendril convert - c.safetensors --memory 2M --quiet; tendril walk c.safetensors -o - --length 4 --quiet",
    ],
)
def test_a_graph_from_a_pipe(line, edges):
    before = {path.name for path in edges.folder.iterdir()}
    assert output(edges, line) == edges.bytes("expected.txt")
    assert {path.name for path in edges.folder.iterdir()} - before <= {"e.npz", "e.mtx", "e.safetensors", "e.sg", "c.safetensors"}


def test_a_graph_from_a_named_pipe(edges):
    os.mkfifo(edges.path("pipe"))
    writer = threading.Thread(target=lambda: edges.path("pipe").write_bytes(EDGES))
    writer.start()
    assert edges("walk", "pipe", "-o", "-", "--length", 4, "--quiet").encode() == edges.bytes("expected.txt")
    writer.join()


def test_vertices_from_a_pipe(tendril):
    tendril.path("ids.txt").write_text("5\n7\n")
    tendril("walk", ENRON, "-o", "w.txt", "--length", 4, "--starts", "ids.txt", "--quiet")
    tendril("sample", ENRON, "-o", "s.npz", "--seeds", "ids.txt", "--quiet")
    for given in ("- < ids.txt", "<(cat ids.txt)"):
        assert output(tendril, f"tendril walk {ENRON} -o - --length 4 --quiet --starts {given}") == tendril.bytes("w.txt")
        output(tendril, f"tendril sample {ENRON} -o t.npz --quiet --seeds {given}")
        assert tendril.bytes("t.npz") == tendril.bytes("s.npz")


def test_larger_than_a_pipe_and_nothing_stays_behind(tendril, tmp_path_factory):
    kept = tmp_path_factory.mktemp("kept")
    tendril("convert", ENRON, "e.txt", "--quiet")
    tendril("walk", "e.txt", "-o", "a.npy", "--walks", 1, "--quiet")
    output(tendril, f"export TMPDIR='{kept}'; cat e.txt | tendril walk - -o b.npy --walks 1 --quiet")
    assert tendril.bytes("a.npy") == tendril.bytes("b.npy")
    assert list(kept.iterdir()) == []


def test_what_is_said_about_it(edges):
    def told(line, **options):
        done = shell(edges, line, **options)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    code, text, _ = told("cat edges.txt | tendril info -")
    assert code == 0 and "graph             standard input\nfile              standard input, edge-list, 12 B\n" in text
    code, text, _ = told("cat edges.txt | tendril info - --json")
    assert '"path": "standard input"' in text
    for line, message in (
        ("printf '0 1\\n1 x\\n' | tendril info -", "standard input:2: target 'x', expected an integer in [0, 16777215] "
         "(a file this small has larger ids only with 'tendril convert --compact')"),
        ("true | tendril info -", "standard input: empty file, expected a graph"),
        ("tendril info - < /dev/null", "standard input: empty file, expected a graph"),
        ("printf '\\1\\2\\3' | tendril info -", "standard input: neither content nor extension tells the format (--from names "
         "it), expected a graph as safetensors, edge-list, matrix-market, npz, gap, metis, webgraph, coo32, coo64 or npy"),
        ("TMPDIR=/none tendril info - < <(cat edges.txt)",
         "standard input: cannot keep in /none: No such file or directory"),
        (f"tendril walk {ENRON} -o w.npy --starts - < edges.txt", "standard input:1: '0 1', expected one vertex id"),
    ):
        assert told(line) == (1, "", f"tendril: error: {message}\n"), line
    assert told("tendril walk - -o w.npy --starts - < edges.txt") == (
        2, "", "tendril: error: --starts: - is standard input, which GRAPH takes, expected a file\n"
    )  # fmt: skip


def test_a_file_named_dash_can_be_read(edges):
    os.rename(edges.path("edges.txt"), edges.path("-"))
    assert edges("walk", "./-", "-o", "-", "--length", 4, "--quiet").encode() == edges.bytes("expected.txt")
    assert output(edges, "tendril walk - -o - --length 4 --quiet < ./-") == edges.bytes("expected.txt")


def test_a_folder_and_a_device_are_no_inputs(tendril):
    for path, message in ((".", ".: is a directory without graph.json, expected a file or a folder of 'tendril partition'"), ("/dev/zero", "/dev/zero: not a regular file")):
        assert tendril.try_run("info", path).stderr == f"tendril: error: {message}\n"


def test_the_help_tells(tendril):
    assert "-: standard input" in " ".join(tendril("walk", "--help").split())
    assert "is standard input" in (ROOT / "docs/cli.md").read_text(encoding="utf-8")
