"""The pictures of figures are what their scripts draw from the result files that are committed with them."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["gpu_chart:h200-walks", "minibatch_chart:h200-minibatch"])
def test_the_picture_is_of_its_results(name, tmp_path):
    script, picture = name.split(":")
    drawn = tmp_path / "drawn.svg"
    run = subprocess.run(
        [sys.executable, ROOT / f"scripts/{script}.py", "--output", drawn], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    kept = ROOT / f"docs/{picture}.svg"
    assert drawn.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8"), f"run scripts/{script}.py"
