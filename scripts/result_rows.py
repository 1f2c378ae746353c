"""Rows of the result files in bench/results, for pictures of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

RESULTS = Path(__file__).resolve().parent.parent / "bench" / "results"


class Key(NamedTuple):
    graph: str
    job: str
    params: str


def rows_of(path: Path, bench: str) -> dict[Key, float]:
    """Values of the rows. Of a file that compares builds those of the newer one: "bench: job: after" is job."""
    found = {}
    for row in json.loads(path.read_text(encoding="utf-8"))["rows"]:
        job = row["job"]
        if job.endswith((": before", ": after")):
            if not (job.startswith(f"{bench}: ") and job.endswith(": after")):
                continue
            job = job.removeprefix(f"{bench}: ").removesuffix(": after")
        found[Key(row["graph"], job, row["params"])] = row["value"]
    return found
