"""The console examples of docs/cli.md, launchers.md, distributed.md and planning.md run, in order, and print what the page
says; … stands for anything."""

import os
import re
import subprocess

import pytest
from options import verbs
from tendril_command import ROOT, TENDRIL, Tendril

PAGE = ROOT / "docs" / "cli.md"
LAUNCHERS = ROOT / "docs" / "launchers.md"
DISTRIBUTED = ROOT / "docs" / "distributed.md"
PLANNING = ROOT / "docs" / "planning.md"


def examples(page):
    """(command, expected output) of every `$ ` line in a console block."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


def fits(output, expected):
    pattern = ".*".join(re.escape(part) for part in expected.split("…"))
    return re.fullmatch(pattern, output, re.DOTALL) is not None


@pytest.mark.parametrize(
    "page, least, needed",
    [
        (PAGE, 15, {"info", "convert", "generate", "walk", "join", "sample", "plan", "partition"}),
        (LAUNCHERS, 5, {"convert", "walk", "join"}),
        (DISTRIBUTED, 4, {"partition", "walk"}),
        (PLANNING, 1, set()),
    ],
    ids=lambda value: value.stem if hasattr(value, "stem") else "",
)
def test_console_examples(page, least, needed, tmp_path):
    has_bench = "bench" in verbs(Tendril(tmp_path))  # which makes tmp_path / "data"
    environment = {
        **os.environ,
        "PATH": f"{TENDRIL.parent}:{os.environ['PATH']}",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    assert len(examples(page)) >= least
    run = set()
    for command, expected in examples(page):
        if command.startswith("tendril bench") and not has_bench:
            continue
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        failing = expected.startswith("tendril: error:")
        assert (done.returncode != 0) == failing, f"{command}\n{done.stderr}"
        assert fits(done.stdout + done.stderr, expected), f"{command}\nprinted\n{done.stdout}{done.stderr}"
        run.add(command.split()[1])
    assert run >= needed


@pytest.mark.parametrize("verb", ["info", "convert", "generate", "walk", "join", "sample", "plan", "partition"])
def test_help_tells_every_option_and_examples(verb, tendril):
    text = tendril(verb, "--help")
    assert text.startswith(text.splitlines()[0] + "\n\nUsage: tendril " + verb)
    assert "Examples:\n  tendril " + verb in text
    for option in ("--threads", "--json"):
        assert option in text
    assert max(map(len, text.splitlines())) <= 120
    options = text.split("General:\n")[1].split("\n\nExamples:")[0].split("\n\n")
    for group in options[:-1]:  # the last one is prose, where there is any
        title, *lines = ("General:\n" + group if group is options[0] else group).split("\n")
        assert title.endswith(":") and all(line.startswith("  ") for line in lines), group


def test_every_documented_option_exists(tendril):
    help_texts = {
        verb: tendril(verb, "--help")
        for verb in ("info", "convert", "generate", "walk", "join", "sample", "plan", "partition")
    }
    sections = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    for section in sections:
        verb = section.split()[0]
        for option in re.findall(r"`(--[a-z-]+)", section):
            known = help_texts[verb] + (help_texts["walk"] if verb == "sample" else "")
            assert option in known, f"{verb} {option}"
