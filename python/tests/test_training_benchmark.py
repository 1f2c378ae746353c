"""bench/training.py runs, and its result file has the shape of the others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyg_checks import torch

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "bench" / "results"


def run(*arguments, **variables):
    command = [sys.executable, "-W", "ignore", str(ROOT / "bench" / "training.py"), *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **variables}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    file = tmp_path_factory.mktemp("results") / "there" / "training.json"
    result = run("--small", "--device", "cpu", "--json", str(file), TENDRIL_COMMIT="abc1234")
    assert result.returncode == 0, result.stderr
    return json.loads(file.read_text())


def test_the_file_has_what_others_have(told):
    other = json.loads((RESULTS / "cpu-pyg-accuracy.json").read_text())
    assert set(other) == set(told)
    assert set(other["machine"]) <= set(told["machine"]) and told["machine"]["torch"] == torch.__version__
    assert told["commit"] == "abc1234"
    common = set.intersection(*(set(row) for row in other["rows"])) - {"deviation"}
    for row in told["rows"]:
        assert common <= set(row)
        assert row["value"] > 0 and row["min"] <= row["value"] <= row["max"]
        assert row["repeats"] == len(row["raw_rounds"])
        assert row.get("steps", 0) == len(row.get("raw_steps", []))


def test_every_job_is_there_and_once(told):
    found = {}
    for row in told["rows"]:
        found.setdefault(row["job"], []).append(row["params"])
    for job in ("epoch", "training alone", "in turn: next(loader)", "in turn, one by one: training"):
        assert sorted(params.split(", ")[-1] for params in found[job]) == ["plain model", "trimmed model"]
    once = ["loader alone", "loader without features", "engine", "engine, one by one", "gather, index_select"]
    assert all(len(found[job]) == 1 for job in once)


def test_shares_are_of_the_same_rounds_and_have_the_goal(told):
    rows = {(row["job"], row["params"]): row for row in told["rows"]}
    shares = [row for row in told["rows"] if row["job"].endswith("share of next(loader) in a step")]
    assert len(shares) == 4
    for row in shares:
        way = row["job"].partition(":")[0]
        waits, works = (rows[f"{way}: {what}", row["params"]] for what in ("next(loader)", "training"))
        assert row["ceiling_name"] == "goal" and row["ceiling"] == 0.15 and 0 < row["value"] < 1
        expected = [a / (a + b) for a, b in zip(waits["raw_rounds"], works["raw_rounds"], strict=True)]
        assert row["raw_rounds"] == pytest.approx(expected)
        assert waits["steps"] == works["steps"] == waits["repeats"] * 26  # batches of 64 of 1,606 seeds


def test_a_wrong_setting_is_one_line():
    result = run("--setting", "1024")
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1].endswith("--setting: '1024', expected one like 1024:15,10,5")
    assert "examples:" in run("--help").stdout
