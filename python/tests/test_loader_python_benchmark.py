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

# As py-spy, for a moment: it has seen as many samples as its call's number says.
SAMPLES = """#!/bin/sh
told="$0.told"
echo >> "$told"
while [ "$1" != --output ]; do shift; done
set -- "$2" $(wc -l < "$told")
case $2 in {cases} esac >> "$1"
sleep 0.1
"""


def run(tmp_path, cases):
    """A run of the script with a sampler that finds, in its first call, its second, and so on, what the cases say."""
    sampler = tmp_path / "py-spy"
    sampler.write_text(SAMPLES.format(cases=cases))
    sampler.chmod(0o755)
    command = [sys.executable, "-W", "ignore", str(ROOT / "bench" / "loader_python.py"), "--small", "--device", "cpu"]
    command += ["--json", str(tmp_path / "there" / "loader-python.json"), "--stacks", str(tmp_path / "stacks.txt")]
    path = os.pathsep.join([str(tmp_path), os.environ.get("PATH", "")])
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TENDRIL_COMMIT": "abc1234", "PATH": path}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)


def test_the_file_has_what_others_have(tmp_path):
    """A loop that counts is seen 100 times, one that sleeps never, and loaders 50 times: half of a batch's time."""
    result = run(tmp_path, "1) echo 'main;count (a.py:1) 60'; echo 'main;x y 40';; 2) ;; *) echo 'main;epoch (b.py:2) 50';;")
    assert result.returncode == 0, result.stderr
    told = json.loads((tmp_path / "there" / "loader-python.json").read_text())
    assert set(told) == set(json.loads((ROOT / "bench" / "results" / "cpu-pyg-accuracy.json").read_text()))
    rows = {(row["job"], row["params"]): row for row in told["rows"]}
    assert len(rows) == len(told["rows"]) == 4
    for case in ("features in host memory", "types"):
        whole, held = rows["time a batch", case], rows["interpreter a batch", case]
        assert whole["unit"] == held["unit"] == "ms"
        assert whole["repeats"] == held["repeats"] == 2
        assert whole["min"] > 0 and held["min"] > 0
    stacks = (tmp_path / "stacks.txt").read_text().splitlines()
    assert stacks == ["features in host memory;main;epoch (b.py:2) 50"] * 2 + ["types;main;epoch (b.py:2) 50"] * 2


def test_a_sampler_that_sees_what_is_not_there_is_named(tmp_path):
    result = run(tmp_path, "*) echo 'main 100';;")
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == "py-spy: 100 samples hold the lock in a loop that counts, and 100 asleep"
    assert not (tmp_path / "there").exists()
