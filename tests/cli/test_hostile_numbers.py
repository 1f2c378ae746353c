"""Numbers that no memory holds, or whose products no integer holds: one line, exit code 1 or 2, and no file."""

import resource
import shutil

import pytest
from options import options, verbs

NUMBERS = [2**31, 2**62, 2**63 - 1, -1]
BEYOND_ANY_MEMORY = [2**60, 2**62, 2**63 - 1, -1]

WALK = ["walk", "graph.npz", "--length", "3"]
MULTIDIM = ["walk", "graph.npz", "--app", "multidim", "--length", "3", "--roots", "4"]
SAMPLE = ["sample", "graph.npz", "-o", "out.npz", "--app"]

# Options that say how much there will be, each with what else the command needs.
SIZES = [
    *(([*WALK, "-o", output], "--num-starts") for output in ("out.npy", "out.txt", "out.safetensors", "-")),
    *(([*MULTIDIM, "-o", output], "--num-starts") for output in ("out.npy", "out.txt", "out.safetensors", "-")),
    *(([*WALK, "-o", output], "--walks") for output in ("out.npy", "out.safetensors")),
    *(([*MULTIDIM, "-o", output], "--walks") for output in ("out.npy", "out.safetensors")),
    (["walk", "graph.npz", "-o", "out.npy"], "--length"),
    (["walk", "graph.npz", "-o", "out.npy", "--app", "metapath", "--metapath", "0,1"], "--length"),
    (["walk", "graph.npz", "-o", "out.npy", "--app", "multidim"], "--length"),
    (["walk", "graph.npz", "-o", "out.npy", "--app", "multidim"], "--roots"),
    (["plan", "graph.npz"], "--num-starts"),
    (["plan", "graph.npz"], "--length"),
    ([*SAMPLE, "khop"], "--fanouts"),
    ([*SAMPLE, "khop"], "--num-seeds"),
    ([*SAMPLE, "minibatch"], "--batch-size"),
    ([*SAMPLE, "minibatch"], "--num-seeds"),
    ([*SAMPLE, "layer"], "--layer-size"),
    ([*SAMPLE, "layer"], "--max-size"),
    ([*SAMPLE, "layer"], "--max-steps"),
    ([*SAMPLE, "fastgcn"], "--layers"),
    ([*SAMPLE, "fastgcn"], "--layer-size"),
    ([*SAMPLE, "fastgcn"], "--batch-size"),
    ([*SAMPLE, "ladies"], "--layers"),
    ([*SAMPLE, "ladies"], "--layer-size"),
    ([*SAMPLE, "mvs"], "--batch-size"),
    ([*SAMPLE, "mvs"], "--num-samples"),
    ([*SAMPLE, "cluster"], "--clusters"),
    ([*SAMPLE, "shadow"], "--depth"),
    ([*SAMPLE, "saint-node"], "--budget"),
    ([*SAMPLE, "saint-edge"], "--budget"),
    ([*SAMPLE, "saint-walk"], "--budget"),
    ([*SAMPLE, "saint-walk"], "--length"),
    ([*SAMPLE, "saint-node"], "--coefficients"),
    (["generate", "rmat", "out.npz"], "--scale"),
    (["generate", "er", "out.npz"], "--vertices"),
    (["generate", "er", "out.npz", "--scale", "4"], "--edge-factor"),
    (["generate", "powerlaw", "out.npz"], "--vertices"),
    (["generate", "web", "out.npz"], "--vertices"),
    (["generate", "web", "out.npz", "--scale", "4"], "--edge-factor"),
    (["generate", "star", "out.npz"], "--vertices"),
    (["generate", "ring", "out.npz"], "--vertices"),
    (["generate", "grid", "out.npz"], "--vertices"),
    (["generate", "complete", "out.npz"], "--vertices"),
    (["convert", "edges.txt", "out.npz"], "--num-vertices"),
]


def limits():
    """Less memory and shorter files than this machine has: a number that is large alone fails soon, too."""
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))


@pytest.fixture
def folder(tendril):
    tendril("generate", "rmat", "graph.npz", "--scale", 4, "--num-labels", 2, "--weights", "1,5", "--quiet")
    tendril.path("edges.txt").write_text("0 1\n1 2\n")
    tendril("walk", "graph.npz", "-o", "part.npy", "--num-starts", 2, "--quiet")
    return {path.name for path in tendril.folder.iterdir()}


def assert_one_line(done, arguments):
    assert done.returncode in (1, 2), (arguments, done)
    assert done.stdout == "", arguments
    assert done.stderr.startswith("tendril: error: ") and done.stderr.count("\n") == 1, (arguments, done.stderr)
    for internal in ("std::", "vector::", "basic_string", "array::"):
        assert internal not in done.stderr, arguments


@pytest.mark.parametrize("command, option", SIZES, ids=lambda value: " ".join(value) if isinstance(value, list) else value)
def test_a_size_beyond_any_memory_is_refused(command, option, tendril, folder):
    for number in BEYOND_ANY_MEMORY:
        if option == "--fanouts" and number == -1:  # all neighbours
            continue
        arguments = [*command, f"{option}={number}"]
        assert_one_line(tendril.try_run(*arguments, preexec_fn=limits), arguments)
        assert {path.name for path in tendril.folder.iterdir()} == folder, arguments


def test_what_was_reported(tendril, folder):
    for arguments, message in (
        (
            [*WALK, "-o", "w.npy", "--num-starts", 2**62],
            f"out of memory: bytes of an array: {2**62} * 4, expected less than 2^63",
        ),
        (
            [*MULTIDIM, "-o", "w.npy", "--num-starts", 2**60],
            f"out of memory: bytes of an array: {2**62} * 4, expected less than 2^63",
        ),
        (
            [*MULTIDIM, "-o", "w.npy", "--num-starts", 2**62],
            f"--num-starts: roots of all sets: {2**62} * 4, expected less than 2^63",
        ),
        (
            [*WALK, "-o", "w.npy", "--walks", 2**60],
            f"--walks: walks from all starts: 16 * {2**60}, expected less than 2^63",
        ),
        (
            [*WALK, "-o", "w.npy", "--first-walk", 2**63 - 1],
            f"--first-walk: ids of walks: {2**63 - 1} + 160, expected less than 2^63",
        ),
    ):
        done = tendril.try_run(*arguments, preexec_fn=limits)
        assert (done.returncode, done.stderr) == (1, f"tendril: error: {message}\n")


@pytest.mark.parametrize("verb", ["info", "convert", "generate", "walk", "join", "sample", "plan", "partition"])
def test_no_number_of_any_option_is_a_crash(verb, tendril, folder):
    """All options of all verbs, with the application that a verb has by default: done, or one line."""
    required = {
        "info": ["graph.npz"],
        "convert": ["edges.txt", "out.npz"],
        "generate": ["er", "out.npz"],
        "walk": ["graph.npz", "-o", "out.npy"],
        "join": ["part.npy", "-o", "out.npy"],
        "sample": ["graph.npz", "-o", "out.npz"],
        "plan": ["graph.npz"],
        "partition": ["graph.npz", "-o", "out.parts"],
    }[verb]
    assert verb in verbs(tendril)
    for option in options(tendril, verb):
        if option.positional or option.value in ("OUT", "FILE", "GRAPH") or option.name == "--walks":
            continue
        for number in NUMBERS:
            more = [] if verb != "partition" or option.name == "--parts" else ["--parts=2"]
            arguments = [verb, *required, *more, f"{option.name}={number}"]
            done = tendril.try_run(*arguments, preexec_fn=limits)
            if done.returncode != 0:
                assert_one_line(done, arguments)
            for path in tendril.folder.iterdir():
                if path.name not in folder:
                    assert done.returncode == 0 and path.name.startswith("out."), (arguments, path)
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
