"""`scripts/setup --link` links the command into ~/.local/bin, and overwrites nothing but a link."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def link(tmp_path):
    """Runs the step alone, with a home of its own, in a folder that stands for the checkout."""
    checkout, home = tmp_path / "checkout", tmp_path / "home"
    (checkout / "build/bin").mkdir(parents=True)
    home.mkdir()
    command = checkout / "build/bin/tendril"
    command.write_text("#!/bin/sh\necho linked\n")
    command.chmod(0o755)
    setup = (ROOT / "scripts/setup").read_text(encoding="utf-8")
    parts = [setup[setup.index(start) :].split(end)[0] + end for start, end in (("say()", "\n"), ("fail()", "\n}\n"), ("link_command()", "\n}\n"))]

    def run(path="/usr/bin:/bin"):
        script = "set -euo pipefail\n" + "".join(parts) + "link_command\n"
        environment = {**os.environ, "HOME": str(home), "PATH": path}
        return subprocess.run(
            ["bash", "-c", script], cwd=checkout, env=environment, capture_output=True, text=True, check=False
        )

    run.link, run.command = home / ".local/bin/tendril", command
    return run


def test_the_link_runs_the_command_and_may_be_made_again(link):
    for _ in range(2):
        done = link()
        assert done.returncode == 0, done.stderr
        assert f"linked {link.link}" in done.stderr and "not on the PATH" in done.stderr
        assert link.link.readlink() == link.command
        assert subprocess.run([link.link], capture_output=True, text=True, check=True).stdout == "linked\n"
    assert "not on the PATH" not in link(f"{link.link.parent}:/usr/bin:/bin").stderr


def test_a_file_of_that_name_stays(link):
    link.link.parent.mkdir(parents=True)
    link.link.write_text("another command")
    done = link()
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert f"{link.link} is a file" in done.stderr
    assert link.link.read_text() == "another command"


def test_the_option_is_there():
    done = subprocess.run([ROOT / "scripts/setup", "--help"], capture_output=True, text=True, check=True)
    assert "--link" in done.stdout
