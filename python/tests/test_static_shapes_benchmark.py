"""bench/static_shapes.py runs, and its result file has the shape of the others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyg_checks import torch

ROOT = Path(__file__).parents[2]


def run(*arguments, **variables):
    command = [sys.executable, "-W", "ignore", str(ROOT / "bench" / "static_shapes.py"), *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **variables}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    file = tmp_path_factory.mktemp("results") / "there" / "static-shapes.json"
    result = run("--small", "--device", "cpu", "--json", str(file), TENDRIL_COMMIT="abc1234")
    assert result.returncode == 0, result.stderr
    return json.loads(file.read_text())


def test_the_file_has_what_others_have(told):
    other = json.loads((ROOT / "bench" / "results" / "cpu-pyg-accuracy.json").read_text())
    assert set(other) == set(told) and set(other["machine"]) <= set(told["machine"])
    assert told["commit"] == "abc1234" and told["machine"]["torch"] == torch.__version__
    common = set.intersection(*(set(row) for row in other["rows"])) - {"deviation"}
    for row in told["rows"]:
        assert common <= set(row)
        assert row["value"] > 0 and row["min"] <= row["value"] <= row["max"]
        assert row["repeats"] == len(row["raw_rounds"]) and row.get("steps", 0) == len(row.get("raw_steps", []))


def test_every_job_is_there_once_and_has_all_steps(told):
    rows = {row["job"]: row for row in told["rows"]}
    assert len(rows) == len(told["rows"])
    ways = ("eager, plain batches", "eager, padded", "torch.compile, padded", "static arrays, padded")
    for job in (f"training: {way}" for way in ways):
        assert rows[job]["steps"] == 2 * 6
    for job in ("epoch: eager, plain batches", "epoch: static arrays, padded", "loader: plain", "loader: padded"):
        assert rows[job]["steps"] == 2 * 26  # batches of 64 of 1,606 seeds
    for what in ("vertices", "edges"):
        assert rows[f"padded / plain: {what}"]["value"] >= 1


def test_ratios_are_of_the_same_rounds(told):
    rows = {row["job"]: row for row in told["rows"]}
    ratios = [job for job in rows if rows[job]["unit"] == "ratio" and not job.startswith("padded")]
    assert len(ratios) == 4
    for job in ratios:
        one, other = (rows[name]["raw_rounds"] for name in job.split(" / "))
        expected = [a / b for a, b in zip(one, other, strict=True)]
        assert rows[job]["raw_rounds"] == pytest.approx(expected, rel=1e-6)


def test_a_wrong_setting_is_one_line():
    result = run("--setting", "1024")
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1].endswith("--setting: '1024', expected one like 1024:15,10,5")
