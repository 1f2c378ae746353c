"""Every verb that can take seconds shows progress, in each of its modes.

The lists below name a run of each verb, kind and application, and the stages that it must report. Names are compared with
those of --help: whoever adds a verb or an application adds a run of it here.
"""

import os
import pty
import re
import subprocess

import pytest
from tendril_command import TENDRIL, Tendril
from terminals import drained

GRAPH = "skewed.safetensors"
SYMMETRIC = "symmetric.safetensors"

# What is not measured here, and why.
WITHOUT = {"bench": "prints its rows as it measures"}

INFO = {
    "native": ([SYMMETRIC], {"checking", "symmetry", "measuring"}),
    "validate": ([SYMMETRIC, "--validate"], {"checking", "symmetry", "measuring"}),
    "compressed": (["packed.safetensors"], {"checking", "symmetry", "measuring"}),
    "text": (["edges.txt"], {"reading", "measuring"}),
    "metis": (["graph.metis"], {"reading", "building", "checking", "symmetry", "measuring"}),
}
CONVERT = {
    "reverse": ([GRAPH, "out.safetensors", "--reverse"], {"building", "writing"}),
    "symmetrize": ([GRAPH, "out.safetensors", "--symmetrize"], {"building", "writing"}),
    "to text": ([SYMMETRIC, "out.txt"], {"writing"}),
    "to npz": ([SYMMETRIC, "out.npz"], {"writing"}),
    "to metis": ([SYMMETRIC, "out.metis"], {"writing"}),
    "to mtx": ([SYMMETRIC, "out.mtx"], {"writing"}),
    "from text": (["edges.txt", "out.safetensors"], {"reading", "writing"}),
    "from metis": (["graph.metis", "out.safetensors"], {"reading", "building", "symmetry", "writing"}),
    "compress": ([SYMMETRIC, "out.safetensors", "--compress", "packed"], {"compressing", "writing"}),
}
GENERATE = {
    "rmat": (["--scale", 12], {"building", "writing"}),
    "er": (["--vertices", 5000], {"building", "writing"}),
    "powerlaw": (["--vertices", 5000], {"building", "writing"}),
    "web": (["--vertices", 5000], {"writing"}),
    "star": (["--vertices", 5000], {"generating", "writing"}),
    "ring": (["--vertices", 5000], {"generating", "writing"}),
    "grid": (["--vertices", 5000], {"generating", "writing"}),
    "complete": (["--vertices", 500], {"generating", "writing"}),
}
WALK = {
    "deepwalk": (["--weighted", "--rule", "alias"], {"tables", "walking"}),
    "ppr": (["--stop-prob", 0.2], {"walking"}),
    "restart": (["--restart-prob", 0.2], {"walking"}),
    "node2vec": (["--p", 2], {"walking"}),
    "metapath": (["--metapath", "0,1"], {"tables", "walking"}),
    "multidim": (["--roots", 3, "--num-starts", 300], {"walking"}),
}
SAMPLE = {
    "khop": ([], {"sampling"}),
    "minibatch": ([], {"sampling"}),
    "layer": ([], {"sampling"}),
    "fastgcn": ([], {"sampling"}),
    "ladies": ([], {"sampling"}),
    "mvs": ([], {"sampling"}),
    "labor": ([], {"sampling"}),
    "cluster": ([], {"sampling"}),
    "shadow": (["--num-seeds", 100], {"sampling"}),
    "saint-node": ([], {"sampling"}),
    "saint-edge": ([], {"sampling"}),
    "saint-walk": ([], {"sampling"}),
}


def arguments_of():
    """Every run: its name, its arguments, the stages that it must report."""
    runs = {f"info {name}": (["info", *given], stages) for name, (given, stages) in INFO.items()}
    runs |= {f"convert {name}": (["convert", *given], stages) for name, (given, stages) in CONVERT.items()}
    for kind, (given, stages) in GENERATE.items():
        runs[f"generate {kind}"] = (["generate", kind, "out.safetensors", *given], stages)
    for app, (given, stages) in WALK.items():
        runs[f"walk {app}"] = (["walk", GRAPH, "-o", "out.npy", "--app", app, *given], stages | {"checking"})
    for app, (given, stages) in SAMPLE.items():
        runs[f"sample {app}"] = (["sample", GRAPH, "-o", "out.npz", "--app", app, *given], stages | {"checking"})
    runs["join"] = (["join", "part-0.npy", "part-1.npy", "-o", "out.npy"], {"joining"})
    runs["partition"] = (["partition", GRAPH, "-o", "out.parts", "--parts", 3], {"checking", "cutting", "tables", "writing"})
    runs["info partition"] = (["info", "parts"], {"reading"})
    runs["plan"] = (["plan", GRAPH, "--app", "deepwalk", "--weighted"], {"checking", "tables"})
    return runs


RUNS = arguments_of()


@pytest.fixture(scope="module")
def inputs(graphs, tmp_path_factory):
    """The graphs that runs read: paths by name."""
    command = Tendril(tmp_path_factory.mktemp("progress"))
    command("generate", "rmat", "edges.txt", "--scale", 10)
    command("convert", "edges.txt", SYMMETRIC, "--symmetrize", "--dedup", "--no-self-loops")
    command("convert", SYMMETRIC, "graph.metis")
    command("convert", SYMMETRIC, "packed.safetensors", "--compress", "packed")
    for i in (0, 1):
        command("walk", SYMMETRIC, "-o", f"part-{i}.npy", "--part", f"{i}/2")
    command("partition", SYMMETRIC, "-o", "parts", "--parts", 3)
    names = ("edges.txt", SYMMETRIC, "parts", "graph.metis", "packed.safetensors", "part-0.npy", "part-1.npy")
    return {GRAPH: graphs[GRAPH]} | {name: command.path(name) for name in names}


def stages_of(text):
    """What was drawn: the first word of each line. Texts of pipes have a line feed for each carriage return."""
    return set(re.findall(r"[\r\n]\x1b\[K(\w+)", text))


@pytest.mark.parametrize("name", RUNS)
def test_every_stage_is_shown(name, inputs, tendril):
    given, stages = RUNS[name]
    run = tendril.try_run(*[inputs.get(argument, argument) for argument in given], "--progress")
    assert run.returncode == 0, run.stderr
    assert stages <= stages_of(run.stderr)


def test_every_verb_kind_and_application_is_in_the_lists(tendril):
    verbs = re.findall(r"^  ([a-z]+) {2,}", re.search(r"Verbs:\n(.*?)\n\n", tendril("--help"), re.DOTALL)[1], re.MULTILINE)
    assert {name.split()[0] for name in RUNS} | set(WITHOUT) == set(verbs) | set(WITHOUT)

    def named(verb, pattern):
        text = " ".join(tendril(verb, "--help").split())
        return set(re.findall(r"[a-z0-9]+(?:-[a-z]+)?", re.sub(r"\([^)]*\)|\bor\b", "", re.search(pattern, text)[1])))

    assert named("generate", r"KIND ((?:[a-z]+, )+[a-z]+ or [a-z]+)") == set(GENERATE)
    assert named("walk", r"--app APP (.*?) \[") == set(WALK)
    assert named("sample", r"--app APP (.*?) \[") == set(SAMPLE)


@pytest.mark.parametrize("given", [[], ["--quiet"]])
def test_a_pipe_gets_no_progress_unless_it_is_asked_for(given, inputs, tendril):
    run = tendril.try_run("convert", inputs[GRAPH], "out.safetensors", "--reverse", *given)
    assert run.returncode == 0
    assert stages_of(run.stderr) == set()


def test_a_terminal_gets_the_line_and_it_is_taken_off(inputs, tendril):
    reader, terminal = pty.openpty()
    subprocess.run(
        [str(TENDRIL), "convert", str(inputs[GRAPH]), "out.safetensors", "--reverse", "--progress"],
        cwd=tendril.folder,
        stdout=subprocess.DEVNULL,
        stderr=terminal,
        timeout=120,
        check=True,
    )
    os.close(terminal)
    text = drained(reader)
    assert "building" in stages_of(text)
    assert text.endswith("\r\x1b[K")
