"""bench/loader_python.py runs, and its result file has the shape of the others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch_geometric")

ROOT = Path(__file__).parents[2]


def test_the_file_has_what_others_have(tmp_path):
    file = tmp_path / "there" / "loader-python.json"
    command = [sys.executable, "-W", "ignore", str(ROOT / "bench" / "loader_python.py")]
    command += ["--small", "--device", "cpu", "--json", str(file)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TENDRIL_COMMIT": "abc1234"}
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)
    assert result.returncode == 0, result.stderr
    told = json.loads(file.read_text())
    assert set(told) == set(json.loads((ROOT / "bench" / "results" / "cpu-pyg-accuracy.json").read_text()))
    rows = {(row["job"], row["params"]): row for row in told["rows"]}
    assert len(rows) == len(told["rows"]) == 4
    for case in ("features in host memory", "types"):
        whole, held = rows["time a batch", case], rows["interpreter a batch", case]
        assert whole["unit"] == held["unit"] == "ms"
        assert whole["repeats"] == held["repeats"] == 2
        assert whole["min"] > 0 and held["min"] >= 0
