"""What `cmake --install` puts into a prefix is enough for a user's project: tests/install/consumer builds against it."""

import json
import os
import platform
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TENDRIL = Path(os.environ.get("TENDRIL_BIN", ROOT / "build" / "bin" / "tendril")).resolve()
BUILD = TENDRIL.parents[1]
CONSUMER = Path(__file__).parent / "consumer"
# The walks of consumer/engine.cpp as the project's own flags compile them.
ENGINE_DIGEST = "d6926762d5da6c7a"
MPIRUN = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "btl", "self,vader"]


def run(*command, cwd=None):
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", BUILD, "--prefix", folder)
    return folder


@pytest.fixture(scope="session")
def consumer(prefix, tmp_path_factory):
    """The user's project, built. Its flags would contract products and sums if Tendril's did not forbid it."""
    folder = tmp_path_factory.mktemp("consumer")
    flags = "-march=x86-64-v3" if platform.machine() == "x86_64" else ""
    configure = ["cmake", "-S", CONSUMER, "-B", folder, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}"]
    run(*configure, "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CXX_FLAGS={flags}")
    run("cmake", "--build", folder)
    return folder


def test_command(prefix):
    assert run(prefix / "bin" / "tendril", "--version") == run(TENDRIL, "--version")


def test_headers_are_complete(prefix):
    """Each header of ours that an installed header includes is installed, too."""
    include = prefix / "include"
    checked = 0
    for header in sorted(p for p in include.rglob("*") if p.is_file()):
        for name in re.findall(r'^\s*#\s*include\s*[<"]((?:tendril|core|base)/[^>"]+)[>"]', header.read_text(), re.M):
            folder = include if name.startswith("tendril/") else include / "tendril-engine"
            assert (folder / name).is_file(), f"{header.relative_to(include)} includes {name}"
            checked += 1
    assert checked > 100


def test_nothing_of_the_checkout_is_left(prefix):
    """The package works where the checkout is gone."""
    for file in sorted((prefix / "lib").rglob("*.cmake")):
        assert str(ROOT) not in file.read_text(), file


def test_plain_program(consumer, tmp_path):
    """The same walks as the command's."""
    rmat = ["generate", "rmat", "g.safetensors", "--scale", "8", "--symmetrize", "--drop-duplicates", "--seed", "1", "--quiet"]
    run(TENDRIL, *rmat, cwd=tmp_path)
    walk = ["walk", "g.safetensors", "-o", "w.txt", "--app", "node2vec", "--p", "2", "--q", "0.5", "--length", "10"]
    run(TENDRIL, *walk, "--walks", "1", "--seed", "42", "--quiet", cwd=tmp_path)
    walks = run(consumer / "plain")
    assert len(walks.splitlines()) == 256
    assert walks == (tmp_path / "w.txt").read_text()


def test_engine_program(consumer):
    """Contraction is off in code that is compiled with the engine, so its walks are those of any other compilation."""
    assert run(consumer / "engine").strip() == ENGINE_DIGEST
    gpu = consumer / "engine_gpu"
    if gpu.exists():
        done = subprocess.run([gpu], capture_output=True, text=True, timeout=120)
        assert done.returncode == 77 or (done.returncode == 0 and done.stdout.strip() == ENGINE_DIGEST), done.stderr


def test_ranks_of_mpi(consumer):
    """The library of ranks is a component of its own; however many there are, they walk alike."""
    if not (consumer / "ranks").exists():
        pytest.skip("an installation without MPI")
    said = [run("mpirun", *MPIRUN, "-n", count, consumer / "ranks") for count in (1, 3)]
    assert said[0].startswith("1 ranks: ") and said[1] == said[0].replace("1 ranks", "3 ranks")


def test_flags(consumer):
    """Users keep their own warnings and processor; only code of the engine gets the flag that its results depend on."""
    commands = {
        Path(entry["file"]).name: entry["command"]
        for entry in json.loads((consumer / "compile_commands.json").read_text())
    }
    assert "-ffp-contract=off" in commands["engine.cpp"]
    assert "-ffp-contract" not in commands["plain.cpp"]
    for command in commands.values():
        assert "-Wall" not in command


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [
        ("tendril 99 REQUIRED", 'compatible with requested version "99"'),
        ("tendril REQUIRED COMPONENTS nonsense", "component 'nonsense' is not in this installation of Tendril"),
    ],
)
def test_refusals(prefix, tmp_path, wanted, problem):
    """CMake's own message with our line in it."""
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.25)\nproject(refused LANGUAGES NONE)\nfind_package({wanted})\n"
    )
    command = ["cmake", "-S", tmp_path, "-B", tmp_path / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}"]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert problem in re.sub(r"\s+", " ", done.stderr)
