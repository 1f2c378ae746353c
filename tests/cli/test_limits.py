"""Memory, disk space, file sizes and threads that the system does not give: one line, or fewer threads; nothing stays."""

import json
import os
import re
import resource
import signal

import numpy as np
import pytest

ENRON = "data/email-enron.npz"
SAMPLE = ["sample", "graph.npz", "-o", "out.npz", "--app"]


@pytest.fixture
def folder(tendril):
    tendril("generate", "rmat", "graph.npz", "--scale", 4, "--weights", "1,5", "--quiet")
    return {path.name for path in tendril.folder.iterdir()}


def address_space(megabytes):
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))


def file_size(size):
    """As a shell sets it: the signal of a write beyond it ends a process that does not expect it."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def refusal(done):
    assert done.returncode == 1 and done.stdout == "", done
    assert done.stderr.startswith("tendril: error: ") and done.stderr.count("\n") == 1, done.stderr
    return done.stderr.removeprefix("tendril: error: ").rstrip("\n")


def test_samples_that_no_memory_holds(tendril, folder):
    done = tendril.try_run(*SAMPLE, "khop", "--fanouts", 50_000_000, "--num-seeds", 2, preexec_fn=address_space(700))
    assert re.fullmatch(
        r"fanouts: 50000000 slots in hops 1 to 1 \(seeds in one call: 1\): 762\.9 MiB of memory, "
        r"expected at most the \d+\.\d MiB that can be had",
        refusal(done),
    )
    # The first hop would fit: it is the second that is refused, before there is any.
    done = tendril.try_run(*SAMPLE, "khop", "--fanouts", "1000,200000", "--num-seeds", 2, preexec_fn=address_space(700))
    assert refusal(done).startswith("fanouts: 200001000 slots in hops 1 to 2 (seeds in one call: 1): ")
    assert {path.name for path in tendril.folder.iterdir()} == folder


def test_a_graph_that_memory_does_not_hold(tendril, folder):
    for kind in (["rmat", "--scale", 26], ["er", "--vertices", 2**30], ["complete", "--vertices", 200_000]):
        done = tendril.try_run("generate", kind[0], "out.npz", *kind[1:], preexec_fn=address_space(4000))
        assert re.search(r"building the graph: \d+\.\d GiB of memory, expected at most the \d\.\d GiB", refusal(done))
    assert {path.name for path in tendril.folder.iterdir()} == folder


@pytest.mark.parametrize("number", [100_000_000, 2**32 - 1, 16])
@pytest.mark.parametrize("name", ["clusters.txt", "clusters.npy"])
def test_more_clusters_than_vertices(name, number, tendril):
    tendril("generate", "ring", "graph.npz", "--vertices", 16, "--quiet")
    numbers = [3] * 15 + [number]
    tendril.path("clusters.txt").write_text("".join(f"{n}\n" for n in numbers))
    np.save(tendril.path("clusters.npy"), np.array(numbers))
    place = f"{name}:16" if name.endswith("txt") else f"{name}: element 15"
    message = refusal(tendril.try_run(*SAMPLE, "cluster", "--clusters-from", name))
    if number == 2**32 - 1 and name.endswith("npy"):
        assert message.endswith("element 15 is 4294967295, expected a cluster in [0, 4294967294]")
    else:
        assert message == f"{place}: cluster {number}, expected less than 16, the vertices of the graph"
    assert not tendril.path("out.npz").exists()


@pytest.mark.parametrize("app", [["cluster"], ["saint-node", "--budget", 2], ["saint-edge", "--budget", 2]])
def test_subgraphs_of_which_memory_does_not_hold_the_offsets(app, tendril, folder):
    message = refusal(tendril.try_run(*SAMPLE, *app, "--num-samples", 10**12))
    assert re.fullmatch(
        r"1000000000000 samples: out of memory: an array: 7\.3 TiB of memory, expected at most the [\d.]+ \w+ that can be had",
        message,
    )
    assert {path.name for path in tendril.folder.iterdir()} == folder


@pytest.mark.parametrize("output", ["w.npy", "w.safetensors", "w.txt"])
def test_walks_that_no_disk_holds_are_refused_at_once(output, tendril, folder):
    message = refusal(tendril.try_run("walk", "graph.npz", "-o", output, "--walks", 2**46, "--length", 8))
    assert re.fullmatch(
        re.escape(output) + r": cannot write: \d+\.\d PiB, expected at most the [\d.]+ \w+ that are free there", message
    )
    assert {path.name for path in tendril.folder.iterdir()} == folder


@pytest.mark.parametrize(
    "arguments",
    [
        ["walk", ENRON, "-o", "w.npy"],
        ["walk", ENRON, "-o", "w.txt"],
        ["walk", ENRON, "--order", "ragged", "-o", "w.safetensors"],
        ["sample", ENRON, "-o", "s.npz"],
        ["convert", ENRON, "g.txt"],
        ["convert", ENRON, "g.npz"],
        ["convert", ENRON, "g.sg"],
        ["convert", ENRON, "g.safetensors"],
        ["convert", ENRON, "g.safetensors", "--compress", "auto"],
        ["generate", "rmat", "r.npz"],
    ],
    ids=lambda arguments: " ".join(arguments),
)
def test_files_longer_than_the_limit(arguments, tendril):
    output = next(a for a in arguments if re.fullmatch(r"\w\.\w+", a))
    message = refusal(tendril.try_run(*arguments, preexec_fn=file_size(1 << 18)))
    assert re.search(
        re.escape(output) + r".*: cannot write: [\d.]+ [KM]iB, expected at most the 256.0 KiB that 'ulimit -f' allows a file",
        message,
    )
    assert [path.name for path in tendril.folder.iterdir()] == ["data"]


def test_standard_output_longer_than_the_limit(tendril):
    with open(tendril.path("w.txt"), "w") as file:
        done = tendril.try_run("walk", ENRON, "-o", "-", preexec_fn=lambda: (file_size(1 << 18)(), os.dup2(file.fileno(), 1)))
    assert refusal(done) == "standard output: cannot write: File too large"


def test_a_full_device(tendril):
    for output in ("w.npy", "w.txt"):
        tendril.path(output).symlink_to("/dev/full")
        message = refusal(tendril.try_run("walk", ENRON, "-o", output))
        assert message == f"{output}: cannot write: No space left on device"
        tendril.path(output).unlink()


def no_more_threads():
    """One process of this user: threads count as such. The limit does not hold for root, so a root becomes another user."""
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)


VERBS = [
    (["walk", ENRON, "-o", "out.npy", "--weighted"], "out.npy"),
    (["walk", ENRON, "-o", "out.txt", "--app", "ppr"], "out.txt"),
    (["sample", ENRON, "-o", "out.npz", "--fanouts", "5,5"], "out.npz"),
    (["sample", ENRON, "-o", "out.npz", "--app", "minibatch", "--num-seeds", 3000], "out.npz"),
    (["convert", "edges.txt", "out.safetensors"], "out.safetensors"),
    (["generate", "rmat", "out.npz", "--scale", 12], "out.npz"),
    (["info", ENRON], None),
]


@pytest.mark.parametrize("limit", ["addresses", "threads"])
@pytest.mark.parametrize("verb, output", VERBS, ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "")
def test_fewer_threads_than_asked_for(verb, output, limit, tendril):
    if limit == "threads" and os.getuid() == 0 and not os.access(tendril.folder.parent, os.X_OK):
        pytest.skip("the folder is closed to other users")
    tendril("convert", ENRON, "edges.txt", "--quiet")
    if "--weighted" in verb:
        verb = [v for v in verb if v != "--weighted"]
    tendril(*verb)
    expected = tendril.bytes(output) if output else None
    if output:
        tendril.path(output).unlink()
    folder = tendril.folder
    if limit == "threads":
        folder.chmod(0o777)
        while folder != folder.parent:
            if not folder.stat().st_mode & 0o001:
                folder.chmod(folder.stat().st_mode | 0o011)
            folder = folder.parent
    # 256 threads with stacks of 8 MiB take 2 GiB of addresses.
    done = tendril.try_run(
        *verb, "--threads", 256, preexec_fn=no_more_threads if limit == "threads" else address_space(600)
    )
    assert done.returncode == 0, done.stderr
    assert "libgomp" not in done.stderr
    if output:
        assert tendril.bytes(output) == expected


def test_text_is_read_in_little_more_than_the_graph(tendril):
    """Peak memory from one size of a file to another, so that what every run takes does not count."""
    peaks, sizes = [], []
    for factor in (8, 40):
        tendril("generate", "rmat", "g.safetensors", "--scale", 17, "--edge-factor", factor, "--quiet")
        tendril("convert", "g.safetensors", "g.txt", "--quiet")
        told = json.loads(tendril("convert", "g.txt", "out.safetensors", "--json", "--threads", 2))
        peaks.append(told["peak_memory_bytes"])
        sizes.append(told["graph"]["bytes"])
    assert sizes[1] - sizes[0] == 4 * 32 * 2**17
    assert peaks[1] - peaks[0] < 2.5 * (sizes[1] - sizes[0])
