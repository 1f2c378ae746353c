"""The pictures of figures are what their scripts draw from the result files that are committed with them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def draw(script, to, *options):
    """The picture that a script draws."""
    run = subprocess.run(
        [sys.executable, ROOT / f"scripts/{script}.py", "--output", to, *options],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    return to.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["gpu_chart:h200-walks", "minibatch_chart:h200-minibatch"])
def test_the_picture_is_of_its_results(name, tmp_path):
    script, picture = name.split(":")
    drawn = draw(script, tmp_path / "drawn.svg")
    kept = ROOT / f"docs/{picture}.svg"
    assert drawn == kept.read_text(encoding="utf-8"), f"run scripts/{script}.py"


def test_dynamic_walks_are_drawn_without_a_table(tmp_path):
    document = json.loads((ROOT / "bench/results/nvidia-h200-walks.json").read_text(encoding="utf-8"))
    dynamic = [row for row in document["rows"] if row["job"] == "dynamic weighted MetaPath"]
    assert dynamic
    for row in dynamic:
        document["rows"].append(row | {"job": f"{row['job']}, without a table"})
        row |= {"params": "scan, 277 MB of tables", "value": 2 * row["value"]}
    results = tmp_path / "results.json"
    results.write_text(json.dumps(document), encoding="utf-8")
    drawn = draw("gpu_chart", tmp_path / "drawn.svg", "--results", results)
    assert drawn == (ROOT / "docs/h200-walks.svg").read_text(encoding="utf-8")
