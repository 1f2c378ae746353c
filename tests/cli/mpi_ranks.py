"""Commands that mpirun starts as several ranks."""

import atexit
import functools
import os
import shutil
import subprocess
import tempfile

import pytest
from tendril_command import TENDRIL

MPIRUN = [
    "mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "btl", "self,vader",
]  # fmt: skip



def can_run_ranks():
    linked = subprocess.run(["ldd", str(TENDRIL)], capture_output=True).stdout
    return shutil.which("mpirun") is not None and b"libmpi" in linked


NEEDS_MPI = pytest.mark.skipif(not can_run_ranks(), reason="needs mpirun and a build with MPI")


@functools.cache
def mpirun_folder():
    """A folder of this process for what mpirun keeps: several that share one take it away from each other."""
    folder = tempfile.mkdtemp(prefix="mpi")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def environment():
    return {**os.environ, "OMPI_MCA_orte_tmpdir_base": mpirun_folder()}


def start(tendril, num_ranks, *arguments, **options):
    return subprocess.Popen(
        [*MPIRUN, "-n", str(num_ranks), str(TENDRIL), *map(str, arguments)],
        cwd=tendril.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        **options,
    )


def run(tendril, num_ranks, *arguments, **options):
    """What a run of all ranks prints; it has to succeed."""
    ranks = start(tendril, num_ranks, *arguments, **options)
    out, complaints = ranks.communicate(timeout=120)
    assert ranks.returncode == 0, complaints
    return out


def complaint(tendril, num_ranks, *arguments, codes=(1, 2), **options):
    """The one line that the ranks print; mpirun's own words follow."""
    ranks = start(tendril, num_ranks, *arguments, **options)
    out, complaints = ranks.communicate(timeout=120)
    assert ranks.returncode in codes, complaints
    lines = [line for line in complaints.splitlines() if line.startswith("tendril: ")]
    assert len(lines) == 1, complaints
    assert not out.startswith("graph")
    return lines[0]


def files(tendril):
    return sorted(entry.name for entry in tendril.folder.iterdir())


def run_script(tendril, script, through="vader", num_ranks=3):
    """What becomes of a command that every rank runs, with $OMPI_COMM_WORLD_RANK to tell them apart."""
    tendril.path("rank.sh").write_text(f"#!/bin/sh\n{script}\n")
    tendril.path("rank.sh").chmod(0o755)
    return subprocess.run(
        [*MPIRUN[:-1], f"self,{through}", "-n", str(num_ranks), "./rank.sh"],
        cwd=tendril.folder,
        capture_output=True,
        text=True,
        timeout=120,
        env=environment(),
    )


def different_ranks(tendril, script, through="vader", num_ranks=3):
    """The one line that the ranks of such a command print."""
    ranks = run_script(tendril, script, through, num_ranks)
    assert ranks.returncode != 0
    lines = [line for line in ranks.stderr.splitlines() if line.startswith("tendril: ")]
    assert len(lines) == 1, ranks.stderr
    return lines[0]
