"""The examples of README.md run as they stand there: shell commands in order, and each Python block."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)


def test_shell_examples_run(tmp_path):
    tendril = Path(os.environ.get("TENDRIL_BIN", ROOT / "build/bin/tendril"))
    commands = [line[2:] for block in blocks("console") for line in block.splitlines() if line.startswith("$ ")]
    assert len(commands) >= 4
    environment = {**os.environ, "PATH": f"{tendril.parent}:{os.environ['PATH']}"}
    for command in commands:
        run = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
        )
        assert run.returncode == 0, f"{command}\n{run.stdout}{run.stderr}"
    assert (tmp_path / "walks.npy").stat().st_size > 0


@pytest.mark.parametrize("code", blocks("python"), ids=lambda code: code.splitlines()[0])
def test_python_example_runs(code, tmp_path):
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr


def test_both_commands_exist():
    for name in re.findall(r"^\./(scripts/\w+)$", "\n".join(blocks("sh")), flags=re.MULTILINE):
        assert os.access(ROOT / name, os.X_OK), name


@pytest.mark.parametrize("page", sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]), ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
