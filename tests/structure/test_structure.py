"""The source tree keeps its rules, and each rule finds the violation that is planted for it."""

from pathlib import Path

import pytest
import rules
from planting import plant

ROOT = Path(__file__).resolve().parents[2]
TREE_RULES = [
    rules.include_arrows,
    rules.short_files,
    rules.no_open_ends,
    rules.no_openmp_loops,
    rules.names_of_rooms,
    rules.guarded_headers,
    rules.documented_code_is_compiled,
]


@pytest.mark.parametrize("rule", TREE_RULES, ids=lambda rule: rule.__name__)
def test_repository_keeps(rule):
    assert rule(ROOT) == []


def test_there_are_sources_and_public_headers():
    assert len(list(rules.sources(ROOT))) > 30
    assert len(rules.public_headers(ROOT)) > 10


@pytest.mark.parametrize("header", rules.public_headers(ROOT), ids=lambda header: header.name)
def test_public_header_compiles_alone(header):
    complaint = rules.compiles_alone(header, ROOT / "include")
    assert complaint == "", complaint


@pytest.mark.parametrize(
    "path, include",
    [
        ("src/core/a.hpp", '"graph/check.hpp"'),
        ("src/core/a.hpp", "<omp.h>"),
        ("src/core/a.hpp", '"../cpu/b.hpp"'),
        ("src/formats/a.cpp", '"plan/statistics.hpp"'),
        ("src/plan/a.cpp", '"cpu/walk.hpp"'),
        ("src/cpu/a.cpp", '"gpu/device/launch.cuh"'),
        ("src/gpu/a.cu", '"cpu/walk.hpp"'),
        ("src/unknown/a.cpp", "<vector>"),
        ("include/tendril/a.hpp", '"core/philox.hpp"'),
        ("include/tendril/a.hpp", "<fmt/format.h>"),
        ("include/tendril/engine/a.hpp", '"base/parallel.hpp"'),
        ("cli/walk.cpp", '"base/expects.hpp"'),
        ("cli/walk.cpp", '"bench/machine.hpp"'),
        ("python/src/a.cpp", '"core/philox.hpp"'),
        ("examples/a.cpp", '"core/philox.hpp"'),
        ("bench/a.cpp", '"cli/common.hpp"'),
    ],
)
def test_planted_arrow_is_found(tmp_path, path, include):
    plant(tmp_path, "src/cpu/b.hpp", "#pragma once\n")
    plant(tmp_path, path, f"// a source\n#include {include}\n")
    found = rules.include_arrows(tmp_path)
    assert len(found) == 1 and found[0].startswith(path), found


@pytest.mark.parametrize(
    "path, include",
    [
        ("src/formats/a.cpp", '"core/philox.hpp"'),
        ("src/formats/a.cpp", '"base/expects.hpp"'),
        ("src/cpu/a.cpp", '"plan/statistics.hpp"'),
        ("src/gpu/a.cu", '"core/philox.hpp"'),
        ("include/tendril/engine/a.hpp", '"core/philox.hpp"'),
        ("cli/bench.cpp", '"bench/bench.hpp"'),
        ("cli/main.cpp", '"common.hpp"'),
        ("tests/cpu/a_test.cpp", '"cpu/walk.hpp"'),
        ("bench/a.cpp", '"core/philox.hpp"'),
    ],
)
def test_permitted_arrow_is_not_reported(tmp_path, path, include):
    plant(tmp_path, path, f"#include {include}\n#include <tendril/graph.hpp>\n#include <vector>\n")
    assert rules.include_arrows(tmp_path) == []


def test_planted_long_file_is_found(tmp_path):
    plant(tmp_path, "src/core/a.hpp", "// line\n" * 601)
    plant(tmp_path, "src/core/b.hpp", "// line\n" * 600)
    assert [line.split(":")[0] for line in rules.short_files(tmp_path)] == ["src/core/a.hpp"]


@pytest.mark.parametrize("note", ["TO" "DO", "FIX" "ME", "XX" "X", "HA" "CK"])
def test_planted_open_end_is_found(tmp_path, note):
    plant(tmp_path, "src/core/a.hpp", f"int a;\n// {note}: later\n")
    assert rules.no_open_ends(tmp_path) == [f"src/core/a.hpp:2: {note}"]


def test_planted_openmp_loop_is_found(tmp_path):
    plant(tmp_path, "src/cpu/a.cpp", "void f()\n{\n#pragma omp parallel for\n  for (;;) {}\n}\n")
    plant(tmp_path, "bench/a.cpp", "#pragma omp parallel\n")
    found = rules.no_openmp_loops(tmp_path)
    assert len(found) == 1 and found[0].startswith("src/cpu/a.cpp:3: "), found


def test_planted_name_of_two_files_is_found(tmp_path):
    own = "namespace tendril {{\nnamespace {{\n\n{}\n\n}}  // namespace\n\nconstexpr int width = 3;\n}}  // namespace tendril\n"
    plant(tmp_path, "src/cpu/a.cpp", own.format("constexpr std::int64_t grain = std::int64_t{1} << 4U;\n\nstruct maker {\n};"))
    plant(tmp_path, "src/cpu/walks/b.cpp", own.format("constexpr std::array<int, 2> grain{1, 2};"))
    plant(tmp_path, "src/plan/b.cpp", own.format("constexpr int grain = 1;"))
    plant(tmp_path, "src/dist/c.cpp", own.format("class maker {\n  constexpr int inner = 2;\n};"))
    plant(tmp_path, "src/dist/d.cpp", own.format("class maker final : public base {\n};\nclass other;"))
    for name in ("cpu/a_test.cpp", "cpu/walks/b_test.cpp", "formats/a_test.cpp", "formats/b_test.cpp"):
        plant(tmp_path, f"tests/{name}", own.format("constexpr int many = 100;"))
    assert rules.names_of_rooms(tmp_path) == [
        "src/cpu/walks/b.cpp:4: grain, which src/cpu/a.cpp has, too",
        "src/dist/d.cpp:4: maker, which src/dist/c.cpp has, too",
        "tests/cpu/walks/b_test.cpp:4: many, which tests/cpu/a_test.cpp has, too",
    ]


def test_the_rooms_that_have_names_of_build_folders_are_read(tmp_path):
    read = ["bench/build.cpp", "python/tendril/dist/a.cpp", "src/build/a.cpp", "src/dist/a.cpp", "tests/build/a.cpp"]
    for path in (*read, "build-x/a.cpp", "dist/a.cpp", "python/build/a.cpp", "examples/build-x/lib/a.cpp", ".hidden/a.cpp"):
        plant(tmp_path, path, "int a;\n")
    assert [path.relative_to(tmp_path).as_posix() for path in rules.sources(tmp_path)] == read


def test_planted_unguarded_header_is_found(tmp_path):
    plant(tmp_path, "src/core/a.hpp", "int a;\n")
    assert rules.guarded_headers(tmp_path) == ["src/core/a.hpp:1: no #pragma once"]


def test_planted_header_that_needs_another_is_found(tmp_path):
    plant(tmp_path, "tendril/a.hpp", "#pragma once\ninline std::vector<int> a;\n")
    assert "vector" in rules.compiles_alone(tmp_path / "tendril/a.hpp", tmp_path)


def test_planted_uncompiled_code_is_found(tmp_path):
    plant(tmp_path, "examples/a.cpp", "int main()\n{\n  int a = 1;\n\n  return a;\n}\n")
    plant(tmp_path, "README.md", "text\n```cpp\nint a = 1;\nreturn a;\n```\n\n```cpp\nint b = 1;\n```\n")
    assert rules.documented_code_is_compiled(tmp_path) == ["README.md:7: this C++ is not an excerpt of any source"]
