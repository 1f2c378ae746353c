"""The tutorial of docs/applications.md runs as it stands, and prints what the page says it does."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/applications.md").read_text(encoding="utf-8")


def test_the_tutorial_runs(tmp_path):
    (code,) = re.findall(r"^```python\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 30
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    found = re.findall(r"\((\d+), (\d+)\) mean degree (\d+)", run.stdout)
    shape, number = r"\((\d+), (\d+)\)", r"about (\d+)"
    (said,) = re.findall(rf"{shape} with a mean\s+degree of {number}, and {shape} with {number}", TEXT)
    assert len(found) == 2
    assert [f[:2] for f in found] == [said[:2], said[3:5]]
    for here, there in zip((found[0][2], found[1][2]), (said[2], said[5]), strict=True):
        assert abs(int(here) - int(there)) <= 0.1 * int(there), run.stdout
