"""`tendril convert --memory`: graphs of any size, in steps that a killed run does not lose."""

import json
import os
import resource
import signal
import subprocess
import time

import pytest
from tendril_command import TENDRIL


@pytest.fixture(scope="module")
def edges(tmp_path_factory):
    """Half a million edges as text, and the native file that the way through memory makes of them."""
    folder = tmp_path_factory.mktemp("edges")

    def run(*arguments):
        subprocess.run([str(TENDRIL), *arguments, "--quiet"], cwd=folder, check=True, timeout=120)

    run("generate", "rmat", "graph.safetensors", "--scale", "15", "--weights", "1,5", "--seed", "3")
    run("convert", "graph.safetensors", "edges.txt")
    run("convert", "edges.txt", "whole.safetensors", "--symmetrize", "--drop-duplicates", "--compress", "auto")
    return folder


STEPS = ("--symmetrize", "--drop-duplicates", "--compress", "auto", "--memory", "2M")


def summary(tendril, *arguments):
    return json.loads(tendril("convert", *arguments, "--json"))


def same(edges, tendril, name):
    return tendril.bytes(name) == (edges / "whole.safetensors").read_bytes()


def names(tendril):
    return sorted(path.name for path in tendril.folder.iterdir() if path.name != "data")


def record(tendril):
    try:
        return json.loads(tendril.path("out.safetensors.unfinished/record.json").read_text())
    except FileNotFoundError:
        return {"runs": [], "parts": []}


def kill_when(tendril, arguments, ready):
    """Runs the command until ready(record), then kills it at once."""
    running = subprocess.Popen([str(TENDRIL), "convert", *map(str, arguments), "--quiet"], cwd=tendril.folder)
    deadline = time.monotonic() + 100
    while not ready(record(tendril)):
        assert running.poll() is None, "ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.002)
    running.send_signal(signal.SIGKILL)
    assert running.wait(timeout=30) == -signal.SIGKILL


def test_a_killed_conversion_goes_on(edges, tendril):
    arguments = [edges / "edges.txt", "out.safetensors", *STEPS]
    kill_when(tendril, arguments, lambda record: len(record["runs"]) >= 3)
    assert names(tendril) == ["out.safetensors.unfinished"]
    kill_when(tendril, arguments, lambda record: len(record["runs"]) >= 7)
    told = summary(tendril, *arguments)
    assert told["runs"] > told["resumed_runs"] >= 7
    assert same(edges, tendril, "out.safetensors")
    assert names(tendril) == ["out.safetensors"]


def test_the_memory_and_the_threads_may_change_on_the_way(edges, tendril):
    arguments = [edges / "edges.txt", "out.safetensors", *STEPS]
    kill_when(tendril, arguments, lambda record: len(record["runs"]) >= 2)
    told = summary(tendril, *arguments[:-1], "30M", "--threads", 1)
    assert told["resumed_runs"] >= 2
    assert same(edges, tendril, "out.safetensors")


def test_what_the_disk_lost_is_made_again(edges, tendril):
    arguments = [edges / "edges.txt", "out.safetensors", *STEPS]
    kill_when(tendril, arguments, lambda record: len(record["runs"]) >= 5)
    with open(tendril.path("out.safetensors.unfinished/run-2"), "r+b") as run:
        run.seek(1000)
        run.write(b"\xff\xff\xff\xff")
    assert summary(tendril, *arguments)["resumed_runs"] == 2
    assert same(edges, tendril, "out.safetensors")


def test_restart_and_a_changed_input_begin_anew(edges, tendril):
    arguments = [edges / "edges.txt", "out.safetensors", *STEPS]
    kill_when(tendril, arguments, lambda record: len(record["runs"]) >= 2)
    assert summary(tendril, *arguments, "--restart")["resumed_runs"] == 0
    assert same(edges, tendril, "out.safetensors")

    own = tendril.path("own.txt")
    own.write_bytes((edges / "edges.txt").read_bytes())
    kill_when(tendril, [own, *arguments[1:]], lambda record: len(record["runs"]) >= 2)
    os.utime(own, (1, 1))
    assert summary(tendril, own, *arguments[1:])["resumed_runs"] == 0

    kill_when(tendril, arguments, lambda record: len(record["runs"]) >= 2)
    told = summary(tendril, *arguments[:2], "--symmetrize", "--compress", "auto", "--memory", "2M")
    assert told["resumed_runs"] == 0


@pytest.mark.parametrize("stop, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_keeps_what_is_complete(stop, code, edges, tendril):
    arguments = [edges / "edges.txt", "out.safetensors", *STEPS]
    running = subprocess.Popen(
        [str(TENDRIL), "convert", *map(str, arguments), "--quiet"],
        cwd=tendril.folder,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 100
    while len(record(tendril)["runs"]) < 2:
        assert running.poll() is None and time.monotonic() < deadline
        time.sleep(0.002)
    running.send_signal(stop)
    assert running.wait(timeout=30) == code
    assert summary(tendril, *arguments)["resumed_runs"] >= 2
    assert names(tendril) == ["out.safetensors"]


def test_a_full_disk_leaves_no_output_and_the_next_run_goes_on(edges, tendril):
    arguments = [edges / "edges.txt", "out.safetensors", *STEPS]

    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # as a shell starts programs
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, 1 << 19))

    done = tendril.try_run("convert", *arguments, preexec_fn=small_files)
    assert done.returncode == 1
    folder = "out.safetensors.unfinished"
    assert done.stderr.startswith(f"tendril: error: {folder}/part-weights: cannot write: ")
    assert done.stderr.endswith("expected at most the 512.0 KiB that 'ulimit -f' allows a file\n")
    assert names(tendril) == [folder]
    kept = json.loads(tendril.path(f"{folder}/record.json").read_text())["encoded"]
    assert kept["vertex"] > 0 and len(kept["parts"]) == 4
    told = summary(tendril, *arguments)
    assert told["resumed_runs"] == told["runs"] > 4
    assert same(edges, tendril, "out.safetensors")
    assert names(tendril) == ["out.safetensors"]


def test_an_old_output_stays_until_the_new_one_is_complete(edges, tendril):
    tendril.path("out.safetensors").write_text("the old one")
    arguments = [edges / "edges.txt", "out.safetensors", *STEPS]
    kill_when(tendril, arguments, lambda record: len(record["runs"]) >= 2)
    assert tendril.path("out.safetensors").read_text() == "the old one"
    summary(tendril, *arguments)
    assert same(edges, tendril, "out.safetensors")


def test_a_wrong_line_far_inside_is_named(edges, tendril):
    text = (edges / "edges.txt").read_text().splitlines()
    wrong = 400_000
    text[wrong - 1] = "12 x 1"
    tendril.path("wrong.txt").write_text("\n".join(text))
    whole = tendril.try_run("convert", "wrong.txt", "out.safetensors")
    for threads in (1, 2):
        bounded = tendril.try_run(
            "convert", "wrong.txt", "out.safetensors", "--memory", "2M", "--threads", threads
        )
        assert bounded.returncode == whole.returncode == 1
        assert bounded.stderr == whole.stderr
        assert bounded.stderr.startswith(f"tendril: error: wrong.txt:{wrong}: target 'x'")
        assert names(tendril) == ["wrong.txt"]


def test_memory_stays_below_the_limit(edges, tendril):
    small = summary(tendril, edges / "graph.safetensors", "s.safetensors", "--memory", "1M", "--compress", "packed")
    program = small["peak_memory_bytes"]  # with next to nothing in memory
    tendril("generate", "rmat", "g.safetensors", "--scale", 18, "--quiet")
    tendril("convert", "g.safetensors", "g.txt", "--quiet")
    for source, steps in (("g.txt", ["--symmetrize"]), ("g.safetensors", ["--reverse"]), ("g.safetensors", [])):
        told = summary(tendril, source, "b.safetensors", "--compress", "auto", "--memory", "24M", *steps)
        whole = summary(tendril, source, "w.safetensors", "--compress", "auto", *steps)
        assert told["peak_memory_bytes"] < program + (24 << 20)
        if steps:
            assert whole["peak_memory_bytes"] > 3 * (24 << 20)
        assert tendril.bytes("b.safetensors") == tendril.bytes("w.safetensors")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["line.txt", "o.safetensors", "--order", "bfs", "--memory", "1G"],
         "--memory: not with --order bfs, which needs the whole graph in memory"),
        (["line.txt", "o.txt", "--memory", "1G"], "--memory: OUT is o.txt, expected a .safetensors file"),
        (["line.txt", "o.safetensors", "--memory", "10K"], "--memory: 10240 bytes, expected at least 1048576"),
        (["line.txt", "o.safetensors", "--memory", "much"],
         "--memory: 'much', expected bytes as in 500000, 64M or 1.5G"),
        (["line.txt", "o.safetensors", "--restart"], "--restart: expected --memory with it"),
        (["star.npz", "o.safetensors", "--memory", "1G"],
         "{}: npz files are read as a whole, expected an edge list, a Matrix Market, WebGraph, COO or native file to "
         "convert in bounded memory"),
    ],
    ids=["order", "text", "little", "word", "restart", "npz"],
)  # fmt: skip
def test_what_cannot_be_done_is_one_line(arguments, message, graphs, tendril):
    source = graphs[arguments[0]]
    done = tendril.try_run("convert", source, *arguments[1:])
    assert done.returncode == 2
    assert done.stderr == f"tendril: error: {message.format(source)}\n"
    assert names(tendril) == []


def test_two_conversions_to_one_output(edges, tendril):
    arguments = [edges / "edges.txt", "out.safetensors", *STEPS]
    running = subprocess.Popen([str(TENDRIL), "convert", *map(str, arguments), "--quiet"], cwd=tendril.folder)
    while not record(tendril)["runs"]:
        assert running.poll() is None
        time.sleep(0.002)
    done = tendril.try_run("convert", *arguments)
    assert done.returncode == 1
    assert done.stderr == (
        "tendril: error: out.safetensors.unfinished: another process works there, expected one conversion to "
        "out.safetensors at a time\n"
    )
    assert running.wait(timeout=100) == 0
    assert same(edges, tendril, "out.safetensors")


def test_a_graph_that_does_not_fit_is_converted_in_bounded_memory(tendril):
    with open(tendril.path("huge.safetensors"), "wb") as huge:
        huge.truncate(1 << 42)  # a sparse file of 4 TB, whose header says that it is 0 bytes long
    done = tendril.try_run("convert", "huge.safetensors", "o.safetensors", "--from", "safetensors")
    assert done.returncode == 1
    notice, problem = done.stderr.splitlines()
    assert notice.startswith("tendril: huge.safetensors would take some 4.40 TB in memory, and ")
    assert notice.endswith(" are free: converting in bounded memory (--memory sets how much)")
    assert problem.startswith("tendril: error: huge.safetensors: ")
    assert names(tendril) == ["huge.safetensors"]
