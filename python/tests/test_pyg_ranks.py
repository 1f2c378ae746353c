"""Which share of an epoch a process makes, if it is to find out by itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import tendril
from tendril._epochs import rank_of_process

ROOT = Path(__file__).parents[2]
NAMES = ("RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE")


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """A process that no launcher started."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


def started(monkeypatch, names, rank, size):
    monkeypatch.setenv(names[0], rank)
    monkeypatch.setenv(names[1], size)


def pipeline(**options):
    sampler = tendril.MinibatchSampler(tendril.generate.ring(100), [2])
    return tendril.Pipeline(sampler, np.arange(70), batch_size=10, **options)


def numbers(**options):
    return [batch.number for batch in pipeline(**options)]


@pytest.mark.parametrize("names", [NAMES[:2], NAMES[2:4], NAMES[4:]], ids=["torchrun", "Open MPI", "MPICH"])
def test_the_launcher_tells(monkeypatch, names):
    assert rank_of_process() == (0, 1) and numbers(rank="auto") == [*range(7)]
    started(monkeypatch, names, "1", "3")
    assert numbers(rank="auto") == [1, 4] == numbers(rank=1, world_size=3)
    assert numbers(rank="auto", uneven="repeat") == numbers(rank=1, world_size=3, uneven="repeat")
    assert numbers() == [*range(7)]  # only who asks for it


def test_the_program_knows_better(monkeypatch):
    started(monkeypatch, NAMES[:2], "1", "3")
    known = SimpleNamespace(
        is_available=lambda: True, is_initialized=lambda: True, get_rank=lambda: 0, get_world_size=lambda: 2
    )
    monkeypatch.setitem(sys.modules, "torch.distributed", known)
    assert rank_of_process() == (0, 2)
    known.is_initialized = lambda: False
    assert rank_of_process() == (1, 3)


def test_wrong_ranks(monkeypatch):
    def line(**options):
        with pytest.raises(tendril.ArgumentError) as error:
            pipeline(**options)
        assert "\n" not in str(error.value)
        return str(error.value)

    assert line(rank="first") == "rank is 'first', expected an integer or 'auto'"
    assert "world_size is 2 with rank 'auto', which tells both" in line(rank="auto", world_size=2)
    for given in (("0", ""), ("one", "2"), ("0", "2.5")):
        started(monkeypatch, NAMES[:2], *given)
        assert f"the environment has RANK={given[0]} and WORLD_SIZE={given[1]}" in line(rank="auto")
    monkeypatch.delenv("WORLD_SIZE")
    assert "WORLD_SIZE=None: expected a rank and their number" in line(rank="auto")
    started(monkeypatch, NAMES[:2], "2", "2")
    assert line(rank="auto") == "rank is 2, expected 0 to 1"


def in_two_processes(*command):
    """Runs an example under torchrun. Returns what it prints."""
    launcher = [sys.executable, "-W", "ignore", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    return printed([*launcher, *command])


def printed(command):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_two_processes_train_the_model_of_one(tmp_path):
    """Batch by batch the same gradients: the weights differ by rounding at most. Where each process has a part of the graph
    and of the features, batches are the same."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    examples = ROOT / "examples"
    whole = [str(examples / "pyg_ddp.py"), "--device", "cpu", "--epochs", "3", "--save"]
    here = [sys.executable, "-W", "ignore"]
    assert "2 processes on cpu: test accuracy" in in_two_processes(*whole, str(tmp_path / "two"))
    assert "1 processes on cpu" in printed([*here, *whole, str(tmp_path / "one"), "--batches-a-step", "2"])
    assert "1 processes on cpu" in printed([*here, *whole, str(tmp_path / "other")])
    parts = str(tmp_path / "parts")
    sharded = str(examples / "pyg_sharded.py")
    assert printed([*here, sharded, "--prepare", parts]).startswith("2 parts in")
    said = in_two_processes(sharded, "--parts", parts, "--epochs", "3", "--save", str(tmp_path / "parted"))
    assert "2 processes: test accuracy" in said and "of the rows came from other processes" in said
    found = {name: torch.load(tmp_path / name) for name in ("two", "one", "other", "parted")}
    assert found["two"].keys() == found["one"].keys() == found["parted"].keys()

    def difference(name, of="one"):
        return max(float((found[name][key] - found[of][key]).abs().max()) for key in found[of])

    assert difference("two") < 1e-5
    assert difference("parted", "two") < 1e-6
    assert difference("other") > 1e-2  # one batch a step is another training
