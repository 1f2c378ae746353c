"""`tendril info --forms`, `--graph-memory` and `--html`: numbers that agree with the files of each form, and a page that
needs nothing else."""

import json
import re
import xml.etree.ElementTree as ET

import pytest
from test_compressed import FORMS, forms  # noqa: F401 (a fixture)
from test_corrupt_files import leftovers

GRAPHS = {
    "no vertices": ["er", "--vertices", 0, "--edge-factor", 0],
    "one vertex": ["er", "--vertices", 1, "--edge-factor", 0],
    "no edges": ["er", "--vertices", 30, "--edge-factor", 0],
    "a hub": ["star", "--vertices", 300_000, "--weights", "1,5"],
    "a grid": ["ring", "--vertices", 1000],
    "a web": ["web", "--vertices", 20_000, "--edge-factor", 10],
    "skewed": ["rmat", "--scale", 10, "--edge-factor", 8, "--num-labels", 3, "--num-node-types", 2],
}


def page_of(tendril, graph, *more):
    """The words of the page, and its tree, which must be well-formed."""
    tendril("info", graph, "--html", "page.html", *more)
    text = tendril.path("page.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>\n<html")
    tree = ET.fromstring(text)
    outside = [element.get(name, "") for element in tree.iter() for name in ("src", "href")]
    assert not any(outside) and "url(" not in text and "@import" not in text and "<script" not in text
    assert "nan" not in re.findall(r'[\s"](-?nan|inf)\b', text) and not re.search(r'"-?(nan|inf)', text)
    return " ".join(" ".join(tree.itertext()).split()), tree


def test_sizes_are_those_of_the_files(tendril, forms):  # noqa: F811
    # What edges carry besides is told as it is stored, and compressing may store it in fewer bits.
    other_bytes = {form: json.loads(tendril("info", forms[form], "--forms", "--json"))["other_bytes"] for form in forms}
    for of in forms.values():
        told = json.loads(tendril("info", of, "--forms", "--json"))
        assert list(told["sizes"]) == ["csr", *FORMS]
        for form, size in told["sizes"].items():
            facts = json.loads(tendril("info", forms[form], "--json"))
            assert size["bytes"] + other_bytes[form] == facts["bytes"]
            assert size["bits_per_edge"] == pytest.approx(facts["bits_per_edge"])
        assert sum(told["gaps"]) <= told["num_edges"]
        assert told["gaps"][0] == told["parallel_edges"]
        classes = told["degree_classes"]
        assert sum(c["vertices"] for c in classes) == told["num_vertices"]
        assert sum(c["edges"] for c in classes) == told["num_edges"]
        assert sum(c["list_bits"]["csr"] for c in classes) == 32 * told["num_edges"]
        assert classes[0]["vertices"] == told["dead_ends"] and classes[-1]["last"] >= told["degree"]["max"]


def test_nothing_more_is_told_without_being_asked(tendril, forms):  # noqa: F811
    told = json.loads(tendril("info", forms["auto"], "--json"))
    assert not {"sizes", "other_bytes", "gaps", "degree_classes", "gpu"} & set(told)


def test_lines_for_people(tendril, forms):  # noqa: F811
    text = tendril("info", forms["csr"], "--forms")
    for form in ["csr", *FORMS]:
        bits = json.loads(tendril("info", forms[form], "--json"))["bits_per_edge"]
        assert re.search(rf"^  {form} +\S+ k?B, {bits:.1f} bits an edge$", text, re.MULTILINE)
    assert "gpu memory" not in text


def test_gpu_memory(tendril, forms):  # noqa: F811
    facts = json.loads(tendril("info", forms["auto"], "--forms", "--json"))
    everything = facts["bytes"]
    directory = facts["sizes"]["auto"]["directory_bytes"]
    seen = []
    for memory in (directory, (directory + everything) // 2, everything, 10 * everything):
        gpu = json.loads(tendril("info", forms["auto"], "--graph-memory", memory, "--json"))["gpu"]
        assert (gpu["memory"], gpu["form"], gpu["has_directory"]) == (memory, "auto", True)
        seen.append((gpu["lists"], gpu["walk_reads"], gpu["minibatch_reads"]))
    assert seen[0] == (0, 0, 0) and seen[2] == seen[3] == (1, 1, 1)
    assert seen[1][0] == pytest.approx(0.5, abs=1e-3)
    assert seen[1][1] > 0.5 and seen[1][2] > 0.5, "lists that are read most per byte come first"
    gpu = json.loads(tendril("info", forms["auto"], "--graph-memory", 1, "--json"))["gpu"]
    assert (gpu["has_directory"], gpu["lists"]) == (False, 0)
    assert "too little for the directory" in tendril("info", forms["auto"], "--graph-memory", 1)
    assert "100% of the lists in the form packed" in tendril("info", forms["csr"], "--graph-memory", "1G")


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("form", ["none", "auto"])
def test_every_graph_has_a_page(graph, form, tendril):
    tendril("generate", *GRAPHS[graph][:1], "g.safetensors", *GRAPHS[graph][1:], "--quiet")
    tendril("convert", "g.safetensors", "c.safetensors", "--compress", form, "--quiet")
    facts = json.loads(tendril("info", "c.safetensors", "--forms", "--json"))
    words, tree = page_of(tendril, "c.safetensors", "--graph-memory", "64K")
    assert f"{facts['num_vertices']:,} vertices" in words
    assert f"{facts['num_edges']:,} edges" in words
    assert f"{facts['degree']['max']:,} neighbours at most" in words
    for name, size in facts["sizes"].items():
        row = f"{name} (this file)" if name == facts["form"] else name
        assert f"{row} {size['bits_per_edge']:.1f}" in words or facts["num_edges"] == 0
    pictures = tree.findall(".//{http://www.w3.org/2000/svg}svg")
    assert len(pictures) >= (1 if facts["num_edges"] == 0 else 4)
    assert all(picture.get("aria-label") for picture in pictures)
    assert ("Lists by code" in words) == (form == "auto")
    advice = re.search(r"The smallest form: tendril (convert c.safetensors OUT.safetensors --compress \w+) ", words)
    assert bool(advice) != ("The file has the smallest form." in words)
    if advice:
        tendril(*advice[1].split(), "--quiet")
        assert "The file has the smallest form." in page_of(tendril, "OUT.safetensors")[0]


def test_the_page_tells_the_codes_and_the_part_on_a_gpu(tendril, forms):  # noqa: F811
    facts = json.loads(tendril("info", forms["auto"], "--graph-memory", "10K", "--json"))
    words, _ = page_of(tendril, forms["auto"], "--graph-memory", "10K")
    for code, share in facts["forms"].items():
        line = f"{code} {share['lists']:,} {share['edges']:,}"
        assert (line in words) == (share["lists"] > 0)
    gpu = facts["gpu"]
    assert f"With 10.2 kB: {gpu['lists']:.0%} of the lists, {gpu['walk_reads']:.0%} of what walks read" in words


def test_names_are_text(tendril):
    name = "<script>alert('x')</script> & \x01 \"q\""
    tendril("generate", "ring", "a&b<c>.npz", "--vertices", 9, "--name", name, "--quiet")
    words, _ = page_of(tendril, "a&b<c>.npz")
    assert "<script>alert('x')</script>" in words and "a&b<c>.npz" in words


def test_a_name_that_is_not_utf8(tendril):
    name = tendril.folder / b"gr\xffph.txt".decode("utf-8", "surrogateescape")
    name.write_text("0 1\n1 2\n")
    done = tendril.try_run("info", name, "--html", "page.html", errors="surrogateescape")
    assert (done.returncode, done.stderr) == (0, "")
    page = tendril.path("page.html").read_text(encoding="utf-8")
    ET.fromstring(page)
    assert "gr\N{REPLACEMENT CHARACTER}ph.txt" in page
    told = json.loads(tendril.try_run("info", name, "--json").stdout)
    assert told["path"].endswith("gr\N{REPLACEMENT CHARACTER}ph.txt")


def test_the_page_is_the_same_each_time(tendril, forms):  # noqa: F811
    page_of(tendril, forms["auto"])
    before = tendril.bytes("page.html")
    page_of(tendril, forms["auto"], "--threads", 3)
    assert tendril.bytes("page.html") == before


def test_json_and_a_page(tendril, graphs):
    told = json.loads(tendril("info", graphs["star.npz"], "--html", "page.html", "--json"))
    assert told["sizes"] and told["page"] == "page.html"
    assert tendril.path("page.html").exists()


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--html", "none/page.html"], 1, "none/page.html: cannot create: No such file or directory"),
        (["--html", "folder"], 1, "folder: is a directory, expected a file name to write"),
        (["--html", "-"], 2, "--html: '-', expected the name of a file"),
        (["--html", "g.txt"], 2, "g.txt: --html and GRAPH name the same file, expected an output that is no input"),
        (["--graph-memory", "much"], 2, "--graph-memory: 'much', expected bytes as in 500000, 64M or 1.5G"),
        (["--graph-memory", "-1"], 2, "--graph-memory: '-1', expected bytes as in 500000, 64M or 1.5G"),
    ],
)
def test_what_is_refused(options, code, message, tendril):
    tendril.path("g.txt").write_text("0 1\n")
    tendril.path("folder").mkdir()
    done = tendril.try_run("info", "g.txt", *options)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.splitlines()[0].removesuffix(" (try 'tendril info --help')") == f"tendril: error: {message}"
    assert set(leftovers(tendril)) <= {"g.txt", "folder"}
    assert tendril.path("g.txt").read_text() == "0 1\n"


def test_an_older_page_stays_if_the_graph_is_damaged(tendril):
    tendril.path("page.html").write_text("older")
    tendril.path("bad.txt").write_text("0 x\n")
    assert tendril.try_run("info", "bad.txt", "--html", "page.html").returncode == 1
    assert tendril.path("page.html").read_text() == "older"
