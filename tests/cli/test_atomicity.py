"""An output appears when it is complete: a run that ends early leaves what was there before, and nothing else."""

import os
import resource
import signal
import subprocess
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
        [str(TENDRIL), "walk", ENRON, "-o", output, "--walks", "2000", "--quiet"],
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
        [str(TENDRIL), "walk", ENRON, "-o", "w.npy", "--walks", "2000", "--quiet"],
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
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond the limit then fails, as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    done = tendril.try_run(*arguments, preexec_fn=small_files)
    assert done.returncode == 1
    assert done.stderr == f"tendril: error: {arguments[-1]}: cannot write: File too large\n"
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
