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


def test_ranks_are_measured_with_the_walks_that_are_named(tendril):
    rows = rows_of(tendril, "dist", "rmat:8", "--only", "node2vec", "--threads", 1)
    assert "node2vec, sharded, 2 ranks" in rows
    assert all(job.startswith("node2vec") for job in rows)
    failed = tendril.try_run("bench", "dist", "--graph", "rmat:8", "--only", "deepwalk")
    assert failed.stderr == "tendril: error: --only: 'deepwalk', expected a part of uniform or node2vec\n"


def test_a_plan_for_more_hosts(tendril):
    rows = rows_of(tendril, "dist", "rmat:10", "--simulate", "1,2,1000", "--threads", 1)
    for app in ("uniform", "node2vec"):
        one = rows[f"{app}, sharded, 1 rank"]
        assert one["ceiling_name"] == f"{app}, whole graph, 1 thread"
        assert rows[f"{app}, sharded, 2 ranks"]["ceiling"] == one["value"]
        assert rows[f"{app}, replicated, 2 ranks"]["ceiling"] == rows[f"{app}, replicated, 1 rank"]["value"]
        assert 0.3 < rows[f"{app}, walkers moved a step, 2 ranks"]["value"] < 0.7
        assert rows[f"{app}, sent a step, 2 ranks"]["value"] > 0
        # One host has the rate that was measured, and no number of hosts is better than so many times that rate.
        assert rows[f"{app}, planned, 1 host"]["value"] == pytest.approx(one["value"])
        assert 0 < rows[f"{app}, planned, 1000 hosts"]["share"] <= rows[f"{app}, planned, 2 hosts"]["share"] <= 1
        # Bytes are known but for the ends of chunks, which are much of a graph as small as this one.
        assert 0.5 < rows[f"{app}, bytes a step, model / measured, 2 ranks"]["value"] < 2
    assert rows["uniform, bytes a moved walker, 2 ranks"]["value"] == 8
    assert rows["node2vec, bytes a moved walker, 2 ranks"]["value"] == 16


def test_a_plan_for_a_graph_in_parts_uses_its_cut(tendril):
    tendril("generate", "grid", "grid.safetensors", "--vertices", 900, "--quiet")
    tendril("partition", "grid.safetensors", "-o", "parts", "--parts", 3, "--method", "range", "--quiet")
    crossing = json.loads(tendril.bytes("parts/graph.json"))["crossing_edges"]
    num_edges = json.loads(tendril.bytes("parts/graph.json"))["num_edges"]
    row = rows_of(tendril, "dist", "parts", "--simulate", "3", "--threads", 1)["uniform, planned, 3 hosts"]
    assert f"{100 * sum(crossing) / num_edges:.1f} % of edges cross" in row["params"]


def test_walks_on_parts_are_measured_without_a_plan(tendril):
    rows = rows_of(tendril, "dist", "rmat:10")
    assert "uniform, sharded, 2 ranks" in rows
    assert not [job for job in rows if "planned" in job or "model" in job]


def test_a_plan_belongs_to_one_suite(tendril):
    done = tendril.try_run("bench", "walks", "--graph", "rmat:4", "--simulate", 2)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "tendril: error: --simulate: suite walks, expected dist\n")


@pytest.mark.parametrize(
    "options, message",
    [
        (["--simulate", "0"], "--simulate: 0, expected numbers of hosts from 1 to 1024"),
        (["--simulate", "2,1025"], "--simulate: 1025, expected numbers of hosts from 1 to 1024"),
        (["--simulate", "-2"], "--simulate: -2, expected numbers of hosts from 1 to 1024"),
        (["--simulate", "x"], "--simulate: 'x', expected numbers of hosts, as in 2,16,1000"),
        (["--simulate", "2,,4"], "--simulate: '', expected numbers of hosts, as in 2,16,1000"),
        (["--bandwidth", "-1"], "--bandwidth: -1, expected GB/s above 0"),
        (["--bandwidth", "0"], "--bandwidth: 0, expected GB/s above 0"),
        (["--bandwidth", "nan"], "--bandwidth: nan, expected GB/s above 0"),
        (["--latency", "-1"], "--latency: -1, expected microseconds, 0 or more"),
        (["--latency", "inf"], "--latency: inf, expected microseconds, 0 or more"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_plan_refuses(options, message, tendril):
    done = tendril.try_run("bench", "dist", "--graph", "rmat:4", *options)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"tendril: error: {message}\n")
