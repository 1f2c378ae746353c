"""The verbs and options that --help names: tests that go through all of them need no list of their own."""

import re
from dataclasses import dataclass

# What a verb needs beside the option under test: values that are fine.
REQUIRED = {"partition": {"--parts": "2"}}
POSITIONALS = {"GRAPH": "graph.txt", "FILE": "part.npy", "OUT": "out.npz", "KIND": "er", "SUITE": "ceilings"}


@dataclass(frozen=True)
class Option:
    """An option with a value, or a positional."""

    verb: str
    name: str  # "--length", "GRAPH"
    value: str  # what the help calls its value: "L", "FILE"; that of a positional is its name

    @property
    def positional(self):
        return not self.name.startswith("-")


def verbs(tendril):
    """The verbs, in the order of the help."""
    listed = tendril("--help").split("Verbs:\n")[1].split("\n\n")[0]
    return re.findall(r"^  (\w+)  ", listed, re.MULTILINE)


def options(tendril, verb):
    """The positionals and the options with values of a verb."""
    text = tendril(verb, "--help")
    usage = re.search(r"^Usage: tendril \w+ (.*)$", text, re.MULTILINE).group(1)
    positionals = [Option(verb, name, name) for name in re.findall(r"(?<!\S)([A-Z]+)(?= |$)", re.sub(r"--?\w+ [A-Z]+", "", usage))]
    named = re.findall(r"^  (?:-\w, )?(--[\w-]+) (?! )(\S+)", text, re.MULTILINE)
    return positionals + [Option(verb, name, value) for name, value in named]


def command(tendril, verb, changed, *more):
    """A call of a verb in which everything that it requires is fine, but for what `changed` says."""
    own = options(tendril, verb)
    words = [verb, *(changed.get(option.name, POSITIONALS[option.name]) for option in own if option.positional)]
    if any(option.name == "--output" for option in own) and "--output" not in changed:
        words += ["-o", "out.npz"]
    words += [f"{name}={value}" for name, value in REQUIRED.get(verb, {}).items() if name not in changed]
    return words + [f"{name}={value}" for name, value in changed.items() if name.startswith("-")] + list(more)
