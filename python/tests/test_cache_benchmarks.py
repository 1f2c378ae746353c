"""bench/feature_cache.py and bench/training_cache.py run, and their result files have the shape of the others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from pyg_checks import torch  # noqa: F401: skips where Torch is missing

ROOT = Path(__file__).parents[2]


def run(script, *arguments):
    command = [sys.executable, "-W", "ignore", str(ROOT / "bench" / script), *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TENDRIL_COMMIT": "abc1234"}
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)
    assert result.returncode == 0, result.stderr
    return result.stdout


def expect_shape(told):
    other = json.loads((ROOT / "bench" / "results" / "cpu-pyg-accuracy.json").read_text())
    assert set(other) == set(told) and set(other["machine"]) <= set(told["machine"])
    assert told["commit"] == "abc1234"
    for row in told["rows"]:
        assert row["min"] <= row["value"] <= row["max"] and row["repeats"] == len(row["raw_rounds"])


def test_hit_rates_are_told_by_policy(tmp_path):
    run("feature_cache.py", "--small", "--graph", "communities", "--json", str(tmp_path / "hits.json"))
    told = json.loads((tmp_path / "hits.json").read_text())
    expect_shape(told)
    found = {(row["job"], row["params"]): row["value"] for row in told["rows"] if row["unit"] == "ratio"}
    names = {job for job, _ in found}
    assert {"hits, degree", "hits, exact", "hits, lru", "hits, lookahead, window 16"} <= names
    for job, params in found:
        assert 0 <= found[job, params] <= 1
        if job in ("hits, degree", "hits, pagerank", "hits, presample"):  # exact counts are the best fixed content
            assert found[job, params] <= found["hits, exact", params]


def test_epochs_are_measured_beside_training(tmp_path):
    file = tmp_path / "cache.json"
    run("training_cache.py", "--small", "--device", "cpu", "--cache", "0", "--steps", "5", "--json", str(file))
    told = json.loads(file.read_text())
    expect_shape(told)
    jobs = [row["job"] for row in told["rows"]]
    assert jobs.count("epoch / training alone") == 2  # features in both places, which are one on the CPU

