"""Each Python block of a page runs alone, in a fresh interpreter, as a reader would paste it. docs/python.md is one
session, which python/tests/test_package.py runs; blocks that need a GPU are fragments."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEED_A_GPU = {"placement"}
PAGES = [page for page in sorted(ROOT.glob("docs/*.md")) if page.stem not in NEED_A_GPU | {"python"}]
BLOCKS = [
    pytest.param(code, id=f"{page.stem}-{i}")
    for page in PAGES
    for i, code in enumerate(re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S))
]


def test_there_are_some():
    assert len(BLOCKS) >= 3


@pytest.mark.parametrize("code", BLOCKS)
def test_a_block_runs_alone(code, tmp_path):
    if code.startswith(">>> "):
        (tmp_path / "page.txt").write_text(code, encoding="utf-8")
        command = [sys.executable, "-m", "doctest", "page.txt"]
    else:
        command = [sys.executable, "-c", code]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
