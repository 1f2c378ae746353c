"""`tendril bench`: its suites are documented, and small runs of those for compressed graphs make their rows."""

import json
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def rows_of(tendril, suite, graph, *options):
    tendril("bench", suite, "--graph", graph, "--repeats", 1, "--json", "rows.json", *options)
    return {row["job"]: row for row in json.loads(tendril.bytes("rows.json"))["rows"]}


def test_every_suite_is_documented(tendril):
    help_text = " ".join(tendril("bench", "--help").split())
    named = re.search(r"What to measure: ((?:[a-z-]+, )+[a-z-]+)", help_text)[1]
    table = re.findall(r"^\| `([a-z-]+)` \|", (DOCS / "benchmarks.md").read_text(), re.MULTILINE)
    assert sorted(named.split(", ")) == sorted(table)


@pytest.mark.parametrize("graph", ["rmat:9:16", "web:3000x20", "data/email-enron.npz"])
def test_lists_without_prefixes_make_the_same_trees(graph, tendril):
    """The suite compares the trees, and refuses to measure others."""
    rows = rows_of(tendril, "prefixes", graph)
    assert [job.split(", ")[-1] for job in rows] == ["with prefixes", "without prefixes"]
    assert all(row["value"] > 0 for row in rows.values())


def test_forms_are_compared_with_csr(tendril):
    rows = rows_of(tendril, "forms", "web:3000x20", "--only", "k-hop")
    assert rows["k-hop (25,10), ef"]["ceiling"] == rows["k-hop (25,10), csr"]["value"]
    assert "uniform walk, ef" not in rows


def test_a_compressed_graph_is_measured_in_its_form(tendril):
    rows = rows_of(tendril, "compressed", "web:3000x20:runs", "--only", "b")
    assert rows["bits an edge"]["value"] < 20
    assert list(rows) == ["bits an edge", "mini-batch (15,10,5)"]
