"""Ranks of different builds: mpirun starts two versions of the command as one job, which one line names."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from mpi_ranks import MPIRUN, NEEDS_MPI, environment, files
from tendril_command import TENDRIL

GRAPH = "skewed.safetensors"
pytestmark = NEEDS_MPI


def version_of(program):
    said = subprocess.run([str(program), "--version"], capture_output=True, text=True, check=True).stdout
    return re.match(r"tendril (\S+)\n", said)[1]


@pytest.fixture(scope="module")
def versions(tmp_path_factory):
    """Copies of the command, of which the second takes itself for another version: paths by version."""
    folder = tmp_path_factory.mktemp("versions")
    shutil.copy(TENDRIL, folder / "own")
    own = version_of(TENDRIL)
    other = re.sub(r"\d", lambda digit: str((int(digit[0]) + 7) % 10), own)
    # Bounded, so that the same digits within a longer number stay what they are.
    text = re.compile(rb"(?<![\w.])" + re.escape(own.encode()) + rb"(?![\w.])")
    patched, count = text.subn(other.encode(), TENDRIL.read_bytes())
    assert count > 0 and len(patched) == TENDRIL.stat().st_size
    (folder / "other").write_bytes(patched)
    (folder / "other").chmod(0o755)
    assert version_of(folder / "other") == other != own
    return {own: folder / "own", other: folder / "other"}


def run_versions(tendril, programs, arguments):
    """What becomes of a job whose rank r is programs[r]. Returns once all of them have ended, or fails after two minutes."""
    job = [*MPIRUN]
    for program in programs:
        job += [*([":"] if len(job) > len(MPIRUN) else []), "-n", "1", str(program), *map(str, arguments)]
    return subprocess.run(job, cwd=tendril.folder, capture_output=True, text=True, timeout=120, env=environment())


def running(versions):
    """Which processes still run one of the copies. Those of others, which may not be looked at, run none."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            program = (process / "exe").readlink()
        except OSError:  # it has ended meanwhile, or belongs to somebody else
            continue
        if program in versions.values():
            found.append(process.name)
    return found


@pytest.mark.parametrize("other_rank", [0, 1])
@pytest.mark.parametrize("source", ["whole", "parts"])
@pytest.mark.parametrize("verb, output", [("walk", "w.npy"), ("sample", "s.npz")])
def test_two_versions_are_named(verb, output, source, other_rank, versions, tendril, graphs):
    tendril("partition", graphs[GRAPH], "-o", "parts", "--parts", 2, "--quiet")
    before = files(tendril)
    own, other = versions
    of_rank = [other, own] if other_rank == 0 else [own, other]
    graph = graphs[GRAPH] if source == "whole" else "parts"
    ran = run_versions(tendril, [versions[v] for v in of_rank], [verb, graph, "-o", output, "--quiet"])
    assert ran.returncode == 1
    assert [line for line in ran.stderr.splitlines() if line.startswith("tendril: ")] == [
        f"tendril: error: rank 1 of 2: the version is {of_rank[1]}, expected as on rank 0: {of_rank[0]}"
    ]
    assert ran.stdout == ""
    assert files(tendril) == before
    assert running(versions) == []


def test_two_ranks_of_the_other_version_agree(versions, tendril, graphs):
    """It is the versions that are compared, and not the files: the copy by itself works as the command does."""
    own, other = versions
    walk = ["walk", graphs[GRAPH], "-o", "w.npy", "--quiet"]
    assert run_versions(tendril, [versions[other]] * 2, walk).returncode == 0
    of_copies = tendril.bytes("w.npy")
    assert run_versions(tendril, [versions[own]] * 2, walk).returncode == 0
    assert tendril.bytes("w.npy") == of_copies


def test_three_ranks_name_the_first_that_differs(versions, tendril, graphs):
    own, other = versions
    programs = [versions[own], versions[own], versions[other]]
    ran = run_versions(tendril, programs, ["walk", graphs[GRAPH], "-o", "w.npy", "--quiet"])
    assert ran.returncode == 1
    assert [line for line in ran.stderr.splitlines() if line.startswith("tendril: ")] == [
        f"tendril: error: rank 2 of 3: the version is {other}, expected as on rank 0: {own}"
    ]
    assert files(tendril) == ["data"]
    assert running(versions) == []
