"""The rows of bench/training.py and bench/pyg_sampling.py: a table, and a result file in the shape that bench/report.cpp
gives its own."""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import statistics
import subprocess
from pathlib import Path

import torch
import torch_geometric


def megabytes(batch):
    """Of a batch's tensors."""
    return sum(one.numel() * one.element_size() for one in batch.to_dict().values() if isinstance(one, torch.Tensor)) / 1e6


class Report:
    """Rows about one graph on one device."""

    def __init__(self, graph, device):
        self._graph, self._device, self._rows = graph, device, []

    def add(self, job, params, figures, steps=(), unit="ms"):
        """A row whose value is the median of the rounds' figures: seconds, edges a second, or edges each, as the unit says;
        `steps` are those of every step."""
        scale = {"ms": 1000, "s": 1, "M edges/s": 1e-6, "edges": 1}[unit]
        row = self._row(job, params, [scale * one for one in figures], unit)
        if len(steps) >= 2:
            row["steps"] = len(steps)
            row["quartiles"] = [round(scale * one, 5) for one in statistics.quantiles(steps, n=4)]
            row["raw_steps"] = [round(scale * one, 4) for one in steps]
        self._rows.append(row)

    def add_ratio(self, job, params, ratios, goal=None):
        """A row that is a ratio; where there is a goal, its share of that."""
        row = self._row(job, params, ratios, "ratio")
        if goal is not None:
            row |= {"ceiling_name": "goal", "ceiling": goal, "share": row["value"] / goal}
        self._rows.append(row)

    def set_ceiling(self, job, params, name, figures):
        """What a job's time is held against: the share is that of the ceiling's speed."""
        row = next(one for one in self._rows if one["job"] == job and one["params"] == params)
        ceiling = 1000 * statistics.median(figures)
        row |= {"ceiling_name": name, "ceiling": ceiling, "share": ceiling / row["value"]}

    def _row(self, job, params, values, unit):
        return {
            "job": job,
            "graph": self._graph,
            "params": params,
            "value": statistics.median(values),
            "unit": unit,
            "repeats": len(values),
            "min": min(values),
            "max": max(values),
            "raw_rounds": values,
        }

    def print(self):
        widest = max(len(row["job"]) for row in self._rows)
        params = None
        for row in self._rows:
            if row["params"] != params:
                params = row["params"]
                print(f"\n{row['graph']}: {params}")
            quartiles = row.get("quartiles")
            told = "" if quartiles is None else "  quartiles {:.3f} {:.3f} {:.3f}".format(*quartiles)
            if "ceiling" in row:
                told += f"  {row['share']:.2f} of {row['ceiling_name']} {row['ceiling']:.3f}"
            print(f"{row['job']:<{widest}}  {row['value']:>10.3f} {row['unit']:<5}{told}")

    def write(self, path):
        told = {
            "machine": self._machine(),
            "commit": _commit(),
            "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
            "rows": self._rows,
        }
        text = json.dumps(told, indent=1)
        # Lists of numbers in one line each.
        text = re.sub(r"\[[\s\d.,eE+-]*\]", lambda found: re.sub(r"\s+", " ", found[0]), text)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")

    def _machine(self):
        machine = {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "threads": torch.get_num_threads(),
            "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
            "torch": torch.__version__,
            "torch_geometric": torch_geometric.__version__,
        }
        if self._device.type == "cuda":
            machine = {"gpu": torch.cuda.get_device_name(self._device), **machine}
        return machine


def _processor():
    try:
        told = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        told = []
    names = [line.partition(":")[2].strip() for line in told if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _commit():
    if given := os.environ.get("TENDRIL_COMMIT"):
        return given
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() or "unknown"
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
