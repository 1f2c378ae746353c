"""An empty value is refused, of every option of every verb: `--starts "$UNSET"` must not walk from everywhere."""

import pytest
from options import POSITIONALS, command, options, verbs


def refused(tendril, arguments, name):
    done = tendril.try_run(*arguments)
    assert done.returncode == 2, (arguments, done)
    assert done.stdout == ""
    assert done.stderr.startswith(f"tendril: error: {name}: '', expected "), done.stderr
    assert done.stderr.count("\n") == 1
    assert {path.name for path in tendril.folder.iterdir()} == {"data", "graph.txt"}


def test_every_verb_and_option_is_gone_through(tendril):
    found = {verb: options(tendril, verb) for verb in verbs(tendril)}
    assert {"info", "convert", "generate", "walk", "join", "sample", "plan", "partition"} <= set(found)
    names = {verb: {option.name for option in own} for verb, own in found.items()}
    assert {"GRAPH", "--output", "--starts", "--length", "--seed", "--app", "--device"} <= names["walk"]
    assert {"--seeds", "--app-source", "--param", "--fanouts", "--clusters-from"} <= names["sample"]
    assert {"GRAPH", "OUT", "--num-vertices", "--columns"} <= names["convert"]
    assert {"FILE", "--output"} <= names["join"]
    assert {"GRAPH", "--output", "--parts", "--method"} <= names["partition"]
    assert {"KIND", "OUT", "--weights", "--name"} <= names["generate"]
    assert sum(len(own) for own in found.values()) > 130
    assert {o.name for own in found.values() for o in own if o.positional} <= set(POSITIONALS)


@pytest.mark.parametrize("form", ["two words", "one word"])
@pytest.mark.parametrize("verb", ["info", "convert", "generate", "walk", "join", "sample", "plan", "partition", "bench"])
def test_an_empty_value_is_refused(verb, form, tendril):
    if verb not in verbs(tendril):
        pytest.skip(f"this build has no {verb}")
    tendril.path("graph.txt").write_text("0 1\n1 0\n")
    for option in options(tendril, verb):
        if option.positional:
            if form == "two words":
                refused(tendril, command(tendril, verb, {option.name: ""}), option.name)
            continue
        arguments = command(tendril, verb, {option.name: ""})
        if form == "two words":
            arguments[-1:] = [option.name, ""]
        refused(tendril, arguments, option.name)


def test_the_verbs_of_this_file_are_all_there_are(tendril):
    assert set(verbs(tendril)) <= {"info", "convert", "generate", "walk", "join", "sample", "plan", "partition", "bench"}


def test_a_flag_takes_no_empty_value(tendril):
    tendril.path("graph.txt").write_text("0 1\n1 0\n")
    refused(tendril, ["walk", "graph.txt", "-o", "out.npy", "--json="], "--json")


def test_an_empty_value_does_not_take_the_next_argument(tendril):
    """The parser alone would take --quiet for the value of --name."""
    tendril.path("graph.txt").write_text("0 1\n1 0\n")
    refused(tendril, ["generate", "ring", "out.npz", "--vertices", "9", "--name=", "--quiet"], "--name")


def test_what_follows_two_dashes_is_no_option(tendril):
    tendril.path("--graph=").write_text("0 1\n1 0\n")
    assert '"num_vertices": 2' in tendril("info", "--json", "--", "--graph=")
