"""An output appears when it is complete: a run that ends early leaves what was there before, and nothing else."""

import os
import re
import resource
import signal
import subprocess
import tempfile
import time

import pytest
from tendril_command import TENDRIL

ENRON = "data/email-enron.npz"


def hear_interrupts():
    """A runner in the background may have been told to ignore SIGINT; its children would inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def wait_for_partial(folder, running):
    deadline = time.monotonic() + 60
    while not any(path.stat().st_size > 0 for path in folder.glob("*.partial-*")):
        assert running.poll() is None, "ended before it could be stopped"
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.parametrize("stop, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("output", ["w.npy", "w.safetensors", "w.txt"])
def test_signals_leave_nothing(output, stop, code, tendril):
    running = subprocess.Popen(
        [str(TENDRIL), "walk", ENRON, "-o", output, "--walks", "500", "--quiet"],
        cwd=tendril.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=hear_interrupts,
    )
    wait_for_partial(tendril.folder, running)
    running.send_signal(stop)
    assert running.wait(timeout=30) == code
    assert running.communicate() == (b"", b"")
    assert [path.name for path in tendril.folder.iterdir()] == ["data"]


def test_an_old_result_stays_until_the_new_one_is_complete(tendril):
    tendril.path("w.npy").write_text("the old one")
    running = subprocess.Popen(
        [str(TENDRIL), "walk", ENRON, "-o", "w.npy", "--walks", "500", "--quiet"],
        cwd=tendril.folder,
        preexec_fn=hear_interrupts,
    )
    wait_for_partial(tendril.folder, running)
    assert tendril.path("w.npy").read_text() == "the old one"
    running.send_signal(signal.SIGINT)
    assert running.wait(timeout=30) == 130
    assert tendril.path("w.npy").read_text() == "the old one"
    tendril("walk", ENRON, "-o", "w.npy", "--walks", 1, "--quiet")
    assert tendril.bytes("w.npy").startswith(b"\x93NUMPY")


@pytest.mark.parametrize(
    "arguments",
    [
        ["walk", ENRON, "-o", "w.npy"],
        ["walk", ENRON, "-o", "w.txt"],
        ["walk", ENRON, "--order", "ragged", "-o", "w.safetensors"],
        ["sample", ENRON, "-o", "s.npz"],
        ["convert", ENRON, "g.txt"],
    ],
    ids=lambda arguments: arguments[-1],
)
def test_a_full_disk_leaves_nothing(arguments, tendril):
    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # as a shell starts programs
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    done = tendril.try_run(*arguments, preexec_fn=small_files)
    assert done.returncode == 1
    assert re.fullmatch(
        rf"tendril: error: {re.escape(arguments[-1])}: cannot write: [\d.]+ MiB, expected at most the 1.0 MiB that "
        r"'ulimit -f' allows a file\n",
        done.stderr,
    )
    assert [path.name for path in tendril.folder.iterdir()] == ["data"]


@pytest.mark.parametrize("target", ["kept/w.npy", "kept/none.npy"])
def test_a_link_stays_and_its_file_is_replaced(target, tendril):
    (tendril.folder / "kept").mkdir()
    tendril.path("kept/w.npy").write_text("an older file")
    tendril.path("first").symlink_to(target)
    tendril.path("second.npy").symlink_to("first")
    tendril("walk", ENRON, "-o", "second.npy", "--walks", 1, "--length", 2, "--quiet")
    assert tendril.path("second.npy").is_symlink() and tendril.path("first").is_symlink()
    assert tendril.bytes(target).startswith(b"\x93NUMPY")
    assert {path.name for path in tendril.path("kept").iterdir()} == {"w.npy", target.partition("/")[2]}


def test_links_that_go_in_a_circle(tendril):
    tendril.path("a.npy").symlink_to("b.npy")
    tendril.path("b.npy").symlink_to("a.npy")
    done = tendril.try_run("walk", ENRON, "-o", "a.npy", "--walks", 1, "--length", 2, "--quiet")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "tendril: error: a.npy: cannot create: Too many levels of symbolic links\n"


def test_devices_and_pipes_are_written_in_place(tendril):
    job = ["walk", ENRON, "--walks", 1, "--length", 2, "--num-starts", 100, "--quiet", "-o"]
    tendril(*job, "w.txt")
    os.mkfifo(tendril.path("pipe.txt"))
    with subprocess.Popen(["cat", "pipe.txt"], cwd=tendril.folder, stdout=subprocess.PIPE) as reader:
        tendril(*job, "pipe.txt")
        assert reader.communicate(timeout=60)[0] == tendril.bytes("w.txt")
    assert tendril.path("pipe.txt").is_fifo()
    tendril.path("null.txt").symlink_to("/dev/null")
    tendril(*job, "null.txt")
    assert tendril.path("null.txt").is_symlink() and tendril.path("null.txt").is_char_device()
    tendril.path("full.txt").symlink_to("/dev/full")
    done = tendril.try_run(*job, "full.txt")
    assert (done.returncode, done.stderr) == (1, "tendril: error: full.txt: cannot write: No space left on device\n")
    assert tendril.path("full.txt").is_char_device()
    assert {path.name for path in tendril.folder.iterdir()} == {"data", "w.txt", "pipe.txt", "null.txt", "full.txt"}


def test_a_reader_that_leaves_ends_the_walk(tendril):
    job = f"'{TENDRIL}' walk {ENRON} -o - --quiet | head -n 1"
    done = subprocess.run(
        ["bash", "-c", job], cwd=tendril.folder, capture_output=True, text=True, timeout=60, check=True
    )
    assert len(done.stdout.split()) == 81 and done.stderr == ""


def written_to_pipe(tendril, name, *arguments):
    """What a reader of a named pipe gets, and the call."""
    os.mkfifo(tendril.path(name))
    with tempfile.TemporaryFile() as copy:
        with subprocess.Popen(["cat", name], cwd=tendril.folder, stdout=copy) as reader:
            done = tendril.try_run(*arguments)
            reader.wait(timeout=60)
        copy.seek(0)
        return copy.read(), done


@pytest.mark.parametrize("name", ["g.txt", "g.csv", "g.mtx", "g.sg", "g.metis", "g.safetensors"])
def test_every_graph_format_that_is_written_in_order_fits_a_pipe(name, tendril):
    (tendril.folder / "file").mkdir()
    tendril("convert", ENRON, f"file/{name}", "--quiet")
    content, done = written_to_pipe(tendril, name, "convert", ENRON, name, "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert content == tendril.bytes(f"file/{name}")
    assert tendril.path(name).is_fifo()


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("w.npy", ["walk", ENRON, "--walks", 1, "-o"]),
        ("w.safetensors", ["walk", ENRON, "--walks", 1, "-o"]),
        ("s.npz", ["sample", ENRON, "--num-seeds", 9, "-o"]),
        ("s.safetensors", ["sample", ENRON, "--num-seeds", 9, "-o"]),
        ("c.safetensors", ["convert", ENRON.replace(".npz", ".txt"), "--memory", "2M"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_format_that_is_not_written_in_order_refuses_a_pipe(name, arguments, tendril):
    if arguments[0] == "convert":
        tendril("convert", ENRON, "list.txt", "--quiet")
        arguments = ["convert", "list.txt", name, *arguments[2:]]
    else:
        arguments = [*arguments, name]
    content, done = written_to_pipe(tendril, name, *arguments, "--quiet")
    message = f"tendril: error: {name}: a pipe, expected a file: this format is not written from front to back\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", message)
    assert len(content) < 1024  # a header at most, and no data
    assert tendril.path(name).is_fifo()
    assert {path.name for path in tendril.folder.iterdir()} <= {"data", "list.txt", name}


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("g.npz", ["convert", ENRON]),
        ("g.safetensors", ["convert", ENRON]),
        ("b.safetensors", ["convert", "list.txt", "--memory", "2M"]),
        ("r.safetensors", ["generate", "er", "--scale", 5]),
        ("w.safetensors", ["walk", ENRON, "--num-starts", 9, "-o"]),
        ("s.npz", ["sample", ENRON, "--num-seeds", 9, "-o"]),
        ("l.npz", ["sample", ENRON, "--app", "layer", "--num-seeds", 9, "-o"]),
        ("page.html", ["info", ENRON, "--html"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_writer_follows_links(name, arguments, tendril):
    tendril("convert", ENRON, "list.txt", "--quiet")
    split = arguments.index("--memory") if "--memory" in arguments else len(arguments)
    split = 2 if arguments[0] == "generate" else split
    before = [*arguments[:split], name, *arguments[split:]]
    (tendril.folder / "kept").mkdir()
    tendril.path(name).symlink_to(f"kept/{name}")
    for _ in range(2):  # first the link leads nowhere
        tendril(*before)
        assert tendril.path(name).is_symlink()
        assert tendril.path(f"kept/{name}").is_file() and not tendril.path(f"kept/{name}").is_symlink()
    assert [path.name for path in (tendril.folder / "kept").iterdir()] == [name]
