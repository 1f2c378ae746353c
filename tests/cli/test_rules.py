"""A rule that is asked for is used or refused, by walk, sample and plan; --help names the rules that calls take."""

import json
import re

import pytest

RULES = ("uniform", "scan", "reject", "alias", "its")

# The options of a choice, what messages call it, and its rules beside auto.
WALKS = [
    ([], "unweighted walks", ("uniform", "scan")),
    (["--weighted"], "weighted walks", ("scan", "reject", "alias", "its")),
    (["--app", "node2vec", "--p", 2], "unweighted walks biased by p and q", ("scan", "reject")),
    (["--app", "node2vec", "--weighted"], "weighted walks biased by p and q", ("scan", "reject", "alias")),
]
TREES = [
    ([], "unweighted trees", ("uniform",)),
    (["--weighted"], "weighted trees without replacement", ("scan",)),
    (["--weighted", "--replace"], "weighted trees with replacement", ("alias", "its")),
]
TABLE = [("walk", "w.npy", *row) for row in WALKS] + [("sample", "s.npz", *row) for row in TREES]


def expected(rules):
    names = ("auto", *rules)
    return ", ".join(names[:-1]) + " or " + names[-1]


@pytest.mark.parametrize("verb, output, options, choice, usable", TABLE, ids=lambda value: str(value))
def test_a_rule_is_used_or_refused(verb, output, options, choice, usable, tendril, graphs):
    if verb == "sample":
        options = ["--app", "khop", "--fanouts", "3,2", *options]
    seen = set()
    for rule in RULES:
        command = [graphs["skewed.safetensors"], *options, "--rule", rule]
        if rule in usable:
            assert json.loads(tendril("plan", *command, "--json"))["plan"]["rule"] == rule
            done = json.loads(tendril(verb, *command, "-o", output, "--json"))
            assert done.get("rule", done.get("plan", {}).get("rule")) == rule
            seen.add(tendril.bytes(output))
            continue
        message = f"tendril: error: --rule {rule}: not for {choice}, expected {expected(usable)}\n"
        for refused in ([verb, *command, "-o", "refused-" + output], ["plan", *command]):
            done = tendril.try_run(*refused)
            assert (done.returncode, done.stdout, done.stderr) == (2, "", message)
    assert len(seen) == len(usable), "two rules gave the same samples"


@pytest.mark.parametrize("verb, rows", [("walk", WALKS), ("sample", TREES), ("plan", WALKS + TREES)])
def test_help_names_the_rules_that_some_call_takes(verb, rows, tendril):
    text = " ".join(tendril(verb, "--help").split())
    named = re.search(r"rule that chooses an edge: ([\w, ]+) or (\w+) \[auto\]", text, re.IGNORECASE)
    taken = {"auto"}.union(*(row[2] for row in rows))
    assert {*named[1].split(", "), named[2]} == taken
