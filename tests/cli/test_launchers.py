"""The scripts of docs/launchers.md: tasks that never talk, one of which fails and runs again, make the bytes of one run."""

import importlib.util
import os
import subprocess
import sys

import pytest
from tendril_command import ROOT, TENDRIL

ENRON = "data/email-enron.npz"
SLURM = ROOT / "examples" / "slurm_walks.sh"
RAY = ROOT / "examples" / "ray_walks.py"


@pytest.fixture
def task(tendril):
    """Runs the body of a Slurm task, as the batch system would."""

    def run(*arguments, **variables):
        known = {name: value for name, value in os.environ.items() if name != "PARTS" and not name.startswith("SLURM_")}
        environment = {**known, "PATH": f"{TENDRIL.parent}:{os.environ['PATH']}", **variables}
        words = [str(SLURM), *map(str, arguments)]
        return subprocess.run(words, cwd=tendril.folder, env=environment, capture_output=True, text=True, timeout=120)

    return run


def of_array(i, count):
    return {"SLURM_ARRAY_TASK_ID": str(i), "SLURM_ARRAY_TASK_COUNT": str(count), "SLURM_CPUS_PER_TASK": "1"}


@pytest.mark.parametrize(
    "output, options",
    [
        ("walks.safetensors", ["--walks", 2]),
        ("walks.safetensors", ["--app", "ppr", "--order", "ragged"]),
        ("walks.npy", ["--app", "multidim", "--roots", 10]),
        ("walks.txt", ["--num-starts", 2]),
    ],
)
def test_an_array_with_a_task_that_fails(output, options, task, tendril):
    tendril("walk", ENRON, "-o", f"whole-{output}", *options, "--quiet")
    stem, extension = output.split(".")
    names = [f"{stem}.part-{i:05}-of-00003.{extension}" for i in range(3)]

    for i in (2, 0):
        done = task(ENRON, output, *options, **of_array(i, 3))
        assert (done.returncode, done.stdout + done.stderr) == (0, "")
    missing = task("gone.npz", output, *options, **of_array(1, 3))  # its node has not mounted the file system
    assert missing.returncode == 1 and missing.stderr.startswith("tendril: error: gone.npz: ")
    assert not tendril.path(names[1]).exists()
    done = tendril.try_run("join", *names, "-o", output)
    assert (done.returncode, done.stderr) == (
        1,
        f"tendril: error: {names[1]}: cannot open: No such file or directory\n",
    )

    first = tendril.bytes(names[0])
    for i in (1, 0):  # an array of these two tasks; the second had succeeded before
        variables = {**of_array(i, 2), "PARTS": "3"}
        assert task(ENRON, output, *options, **variables).returncode == 0
    assert tendril.bytes(names[0]) == first
    tendril("join", *sorted(path.name for path in tendril.folder.glob(f"{stem}.part-*")), "-o", output, "--quiet")
    assert tendril.bytes(output) == tendril.bytes(f"whole-{output}")


def test_a_task_outside_of_an_array(task, tendril):
    done = task(ENRON, "walks.npy")
    assert done.returncode != 0 and "SLURM_ARRAY_TASK_ID: expected a task of an array" in done.stderr
    done = task(ENRON, **of_array(0, 1))
    assert (done.returncode, done.stderr) == (2, "slurm_walks.sh: 1 arguments, expected GRAPH OUT [OPTIONS]\n")
    done = task(ENRON, "walks.npy", **of_array(3, 2))  # an array that counts from elsewhere
    assert done.returncode == 2 and done.stderr.startswith("tendril: error: --part: '3/2', expected I/N")
    assert [path.name for path in tendril.folder.iterdir()] == ["data"]


@pytest.fixture(scope="module")
def ray_environment():
    """The environment of a program that uses Ray; skips where Ray doesn't start, as where shared memory is small."""
    if importlib.util.find_spec("ray") is None:  # to import it would take memory of this process, and of those that it starts
        pytest.skip("no Ray")
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
    try:
        start = [sys.executable, "-c", "import ray; ray.init(); ray.shutdown()"]
        subprocess.run(start, env=environment, capture_output=True, check=True, timeout=100)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"Ray does not start here: {error}")
    return environment


def test_ray_repeats_a_task_that_fails(tendril, ray_environment):
    options = ["--walks", "2", "--seed", "5"]
    tendril("walk", ENRON, "-o", "whole.safetensors", *options, "--quiet")
    failing = tendril.path("bin")
    failing.mkdir()
    command = failing / "tendril"  # the second part fails once, and leaves a piece of its file behind
    command.write_text(
        f'#!/bin/sh\ncase "$*" in *" 1/3 "*) [ -e {failing}/failed ] || {{ touch {failing}/failed; echo x > "$4"; exit 1; }};; esac\n'
        f'exec {TENDRIL} "$@"\n'
    )
    command.chmod(0o755)
    done = subprocess.run(
        [sys.executable, str(RAY), ENRON, "walks.safetensors", "--parts", "3", *options],
        cwd=tendril.folder,
        env={**ray_environment, "PATH": f"{failing}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    assert (failing / "failed").exists()
    assert tendril.bytes("walks.safetensors") == tendril.bytes("whole.safetensors")
    assert not list(tendril.folder.glob("*.part-*"))
