"""The rules that the source tree itself keeps, each a function from a tree to a list of violations.

A violation is one line, "path:line: what". tests/structure/test_structure.py runs the rules on this repository, and on
small trees with a planted violation each.
"""

import re
import subprocess
from pathlib import Path

# Who may include whom (docs/architecture.md): the rooms whose headers each room may name, besides its own and the
# public ones in include/tendril.
LIBRARY = {
    "base", "core", "graph", "build", "generate", "formats", "features", "plan", "place", "convert", "samplers", "jit", "cpu",
    "gpu", "dist", "mpi",
}  # fmt: skip
ARROWS = {
    "include/tendril/engine": {"core"},  # engines that users' own kernels are compiled with; they need src/ too
    "include": set(),
    "src/base": set(),
    "src/core": {"base"},
    "src/graph": {"base", "core"},
    "src/build": {"base", "core", "graph"},
    "src/generate": {"base", "core", "graph", "place"},
    "src/formats": {"base", "core", "graph"},
    "src/features": {"base", "core", "formats"},
    "src/plan": {"base", "core", "graph"},
    "src/place": {"base", "core", "graph"},
    "src/convert": {"base", "core", "graph", "build", "formats", "place"},
    "src/samplers": {"base", "core", "graph", "build", "plan"},
    "src/jit": {"base", "core", "graph", "plan", "samplers"},
    "src/cpu": LIBRARY - {"gpu", "dist", "mpi"},
    "src/gpu": LIBRARY - {"cpu", "dist", "mpi"},
    "src/dist": LIBRARY - {"gpu", "jit", "generate", "convert", "mpi"},
    "src/mpi": set(),
    "cli": set(),
    "python": set(),
    "examples": set(),
    "bench": LIBRARY,
    "tests": LIBRARY,
}
ROOMS = LIBRARY

# Single headers that a room may include although they belong to another: the commands that benchmarks offer, a
# model that benchmarks print, the examples' walks and applications.
EXCEPTIONS = {
    "cli": {"bench/bench.hpp"},
    "tests": {
        "bench/dist_model.hpp", "examples/time_decay_walk.hpp", "examples/metapath2vec_walk.hpp", "examples/quiet_hops.hpp",
    },  # fmt: skip
}

# What `core` and the public headers may use of the standard library is free; of other libraries, nothing.
FOREIGN = re.compile(r"^(omp\.h|zlib\.h|fmt/|nlohmann/|CLI/|gtest/|benchmark/|nanobind/|Python\.h|torch/)")

CODE = {".hpp", ".cpp", ".cuh", ".cu"}
MAX_LINES = 600
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# Written in two parts so that this file does not break the rule itself.
OPEN_ENDS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")


# Threads of the library are those of src/base/team.hpp, which sleep when they wait. Those of OpenMP spin.
OPENMP_LOOP = re.compile(r"^\s*#\s*pragma\s+omp\s+parallel\b")


def sources(root, suffixes=CODE):
    """Every source below `root`, but for build folders, hidden folders and fuzzing seeds."""
    for path in sorted(Path(root).rglob("*")):
        parts = path.relative_to(root).parts
        if path.suffix not in suffixes or not path.is_file():
            continue
        if any(p.startswith(".") or p in ("corpus", "_skbuild") for p in parts[:-1]):
            continue
        folders = parts[:1] if parts[0] in ("src", "tests") else parts[:2]  # there are rooms called build and dist
        if any(p.startswith(("build", "dist")) for p in folders if p != path.name):
            continue
        yield path


def lines(path):
    """Pairs of line number and line, whatever the encoding."""
    return enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)


def room_of(relative):
    """The room a source belongs to, as a key of ARROWS, or None."""
    parts = relative.parts
    return next((room for room in ARROWS if parts[: room.count("/") + 1] == tuple(room.split("/"))), None)


def include_arrows(root):
    """Each include names a public header, the own room, or a room that the arrows lead to."""
    root = Path(root)
    found = []
    for path in sources(root):
        relative = path.relative_to(root)
        room = room_of(relative)
        if room is None:
            if relative.parts[0] == "src":
                found.append(f"{relative}:1: lies in no known room of src/")
            continue
        for number, line in lines(path):
            match = INCLUDE.match(line)
            if match is None:
                continue
            why = forbidden(root, path, room, match.group(2))
            if why:
                found.append(f"{relative}:{number}: {room} may not include {match.group(2)} ({why})")
    return found


def forbidden(root, path, room, header):
    """Why `path` in `room` may not include `header`; None if it may."""
    if header in EXCEPTIONS.get(room, ()):
        return None
    if header.startswith("tendril/"):
        return None
    if FOREIGN.match(header):
        alone = ("include", "include/tendril/engine", "src/core")
        return "the vocabulary uses the standard library alone" if room in alone else None
    target = header
    if (path.parent / header).exists():  # relative to the file: name it from the top
        resolved = (path.parent / header).resolve()
        target = str(resolved.relative_to(root.resolve())) if resolved.is_relative_to(root.resolve()) else header
        target = target.removeprefix("src/")
    first = target.split("/")[0]
    if first == ".." or "/../" in header:
        return "a path out of the folder"
    if first in ROOMS:
        own = room.removeprefix("src/") == first
        return None if own or first in ARROWS[room] else f"no arrow to {first}"
    if first in ("cli", "bench", "tests", "examples", "python") and "/" in target and first != room:
        return f"no arrow to {first}"
    return None


def short_files(root):
    """No source is longer than MAX_LINES lines."""
    root = Path(root)
    found = []
    for path in sources(root, CODE | {".py", ".cmake"}):
        count = len(path.read_text(encoding="utf-8", errors="replace").splitlines())
        if count > MAX_LINES:
            found.append(f"{path.relative_to(root)}:{count}: {count} lines, at most {MAX_LINES}")
    return found


def no_open_ends(root):
    """No source carries a note of work left open: that belongs into an issue."""
    root = Path(root)
    found = []
    for path in sources(root, CODE | {".py", ".cmake", ".sh"}):
        for number, line in lines(path):
            match = OPEN_ENDS.search(line)
            if match:
                found.append(f"{path.relative_to(root)}:{number}: {match.group(1)}")
    return found


def no_openmp_loops(root):
    """Parallel loops run on the library's own threads (src/base/parallel.hpp, <tendril/ranges.hpp>), which pass exceptions
    on. Exceptions that leave a loop of OpenMP end the process."""
    root = Path(root)
    return [
        f"{path.relative_to(root)}:{number}: a parallel region of OpenMP, expected base::parallel_ranges, run_team or for_each_range"
        for path in sources(root)
        if path.relative_to(root).parts[0] in {"src", "include", "python", "cli"}
        for number, line in lines(path)
        if OPENMP_LOOP.match(line)
    ]


# The sanitizers' builds compile several files of a room as one (src/CMakeLists.txt), scripts/test those of tests, too
# (tests/CMakeLists.txt), but for these rooms.
TESTS_APART = {"build", "formats"}
OWN_NAME = re.compile(r"^(?:(?:inline )?constexpr [^=({]*?\b(\w+)(?:\[\w*\])?\s*[={]|(?:class|struct|enum class) (\w+)\s*(?:final\s*)?(?::[^:;]*)?\{?$)")
RESERVED = re.compile(r"^namespace \{")


def names_of_rooms(root):
    """A constant or a type that files of a room have for themselves (namespace {) has a name that no other of its files has."""
    root = Path(root)
    found, first = [], {}
    for path in sources(root, {".cpp"}):
        relative = path.relative_to(root)
        if relative.parts[0] == "tests" and len(relative.parts) > 2 and relative.parts[1] not in TESTS_APART:
            room = "/".join(relative.parts[:2])
        elif relative.parts[0] == "src" and room_of(relative) not in (None, "src/gpu"):
            room = room_of(relative)
        else:
            continue
        inside = False
        for number, line in lines(path):
            inside = inside or RESERVED.match(line) is not None
            match = OWN_NAME.match(line)
            if line.rstrip() == "}  // namespace":
                inside = False
            if inside and match:
                name = match.group(1) or match.group(2)
                other = first.setdefault((room, name), relative)
                if other != relative:
                    found.append(f"{relative}:{number}: {name}, which {other} has, too")
    return found


def guarded_headers(root):
    """Every header starts with #pragma once, but for those that are meant to be read twice (none today)."""
    root = Path(root)
    found = []
    for path in sources(root, {".hpp", ".cuh"}):
        if not any(line.strip() == "#pragma once" for _, line in lines(path)):
            found.append(f"{path.relative_to(root)}:1: no #pragma once")
    return found


def public_headers(root):
    """The headers that users include with a plain C++ compiler."""
    return sorted((Path(root) / "include/tendril").glob("**/*.hpp"))


def compiles_alone(header, include):
    """Compiles a header by itself with g++, nothing but `include` on the path, for engines the rules of src/ too;
    returns the complaint or ""."""
    command = ["g++", "-std=c++20", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-fsyntax-only", "-x", "c++"]
    if "engine" in header.relative_to(include).parts:
        command += ["-I", Path(include).parent / "src"]
    text = f"#include <{header.relative_to(include)}>\n#include <{header.relative_to(include)}>\n"
    run = subprocess.run(command + ["-I", include, "-"], input=text, capture_output=True, text=True)
    if run.returncode == 0:
        return ""
    return run.stderr or f"g++ exited with {run.returncode}"


def _fenced(path, language):
    """Pairs of line number and text of the fenced code blocks of one language in a Markdown file."""
    blocks, start, body = [], 0, []
    for number, line in lines(path):
        if start and line.strip() == "```":
            blocks.append((start, "\n".join(body)))
            start, body = 0, []
        elif start:
            body.append(line)
        elif line.strip() == f"```{language}":
            start = number
    return blocks


def _squeezed(text):
    """A text without indentation and blank lines: how an excerpt is compared with its source."""
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def documented_code_is_compiled(root):
    """Each ```cpp block of README.md and docs/ is an excerpt, line by line, of a source that is compiled."""
    root = Path(root)
    compiled = [_squeezed(path.read_text(encoding="utf-8")) for path in sources(root)]
    found = []
    for page in [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]:
        if not page.exists():
            continue
        for number, block in _fenced(page, "cpp"):
            if not any(_squeezed(block) in text for text in compiled):
                found.append(f"{page.relative_to(root)}:{number}: this C++ is not an excerpt of any source")
    return found
