"""Messages speak of options, not of the library's parameters and functions, and name what was probably meant."""

import re

import pytest
from options import command, options, verbs
from test_hostile_numbers import limits

ENRON = "data/email-enron.npz"
WALK = ["walk", ENRON, "-o", "out.npy"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([*WALK, "--lenght", "5"], "--lenght: no option of 'tendril walk', did you mean --length? (try 'tendril walk --help')"),
        ([*WALK, "--lenght=5"], "--lenght: no option of 'tendril walk', did you mean --length? (try 'tendril walk --help')"),
        ([*WALK, "-length", "5"], "-length: no option of 'tendril walk', did you mean --length? (try 'tendril walk --help')"),
        (["walk", ENRON, "--ouput", "w"], "--ouput: no option of 'tendril walk', did you mean --output? (try 'tendril walk --help')"),
        (["generate", "er", "g.npz", "--vertexes", "5"],
         "--vertexes: no option of 'tendril generate', did you mean --vertices? (try 'tendril generate --help')"),
        ([*WALK, "--nonsense"], "--nonsense: no option of 'tendril walk' (try 'tendril walk --help')"),
        (["--verison"], "--verison: no option of 'tendril', did you mean --version? (try 'tendril --help')"),
        (["wlak", ENRON], "'wlak' is no verb, did you mean walk? (try 'tendril --help')"),
        (["fly"], "'fly' is no verb (try 'tendril --help')"),
        ([*WALK, "more.npz"], "'more.npz': one argument too many (try 'tendril walk --help')"),
        ([*WALK, "-" + "x" * 5000], f"-{'x' * 5000}: no option of 'tendril walk' (try 'tendril walk --help')"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)  # fmt: skip
def test_the_nearest_name(arguments, message, tendril):
    done = tendril.try_run(*arguments)
    assert (done.returncode, done.stderr) == (2, f"tendril: error: {message}\n")


def test_what_follows_two_dashes_is_no_option(tendril):
    tendril.path("--lenght").write_text("0 1\n1 2\n")
    assert "3" in tendril("info", "--", "--lenght")


# (words, the name before, the name now): the old name works, and a note tells the new one.
RENAMED = [
    (["generate", "er", "out.npz", "--scale", "5"], ["--dedup"], ["--drop-duplicates"]),
    (["generate", "er", "out.npz", "--scale", "5"], ["--no-self-loops"], ["--drop-self-loops"]),
    (["generate", "er", "out.npz", "--scale", "5"], ["--labels", "3"], ["--num-labels", "3"]),
    (["generate", "er", "out.npz", "--scale", "5"], ["--labels=3"], ["--num-labels=3"]),
    (["generate", "er", "out.npz", "--scale", "5"], ["--node-types", "3"], ["--num-node-types", "3"]),
    (["generate", "er", "out.npz", "--scale", "5"], ["--lognormal", "2"], ["--weight-sigma", "2"]),
    (["convert", ENRON, "out.npz"], ["--dedup"], ["--drop-duplicates"]),
    (["sample", ENRON, "-o", "out.npz", "--app", "saint-walk", "--num-samples", "2"], ["--roots", "9"], ["--budget", "9"]),
    (["sample", ENRON, "-o", "out.npz", "--app=saint-walk", "--num-samples", "2"], ["--roots", "9"], ["--budget", "9"]),
]


@pytest.mark.parametrize("words, before, now", RENAMED, ids=lambda value: " ".join(value))
def test_earlier_names_of_options(words, before, now, tendril):
    tendril(*words, *now, "--quiet")
    expected = tendril.bytes("out.npz")
    tendril.path("out.npz").unlink()
    done = tendril.try_run(*words, *before)
    old, new = (name[0].partition("=")[0] for name in (before, now))
    assert (done.returncode, done.stderr) == (0, f"tendril: {old} is now {new}\n")
    assert tendril.bytes("out.npz") == expected
    assert tendril.try_run(*words, *before, "--quiet").stderr == ""


def test_help_names_no_earlier_option(tendril):
    shown = {option for verb in verbs(tendril) for option in re.findall(r"--[\w-]+", tendril(verb, "--help"))}
    assert shown >= {new[0].partition("=")[0] for _, _, new in RENAMED}
    assert not shown & {"--dedup", "--no-self-loops", "--labels", "--node-types", "--lognormal"}


def test_roots_of_other_applications_stay(tendril):
    done = tendril.try_run("sample", ENRON, "-o", "out.npz", "--app", "layer", "--roots", "2", "--num-seeds", "4", "--json")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([*WALK, "--length", "0"], "--length: 0, expected 1 to 2147483646 steps"),
        ([*WALK, "--stop-prob", "2"], "--stop-prob: 2, expected a probability in [0, 1]"),
        ([*WALK, "--weighted"], "--weighted: the graph has no weights, expected one an edge"),
        ([*WALK, "--dtype", "int8"], "--dtype: 'int8', expected int32 or int64"),
        ([*WALK, "--columns", "source,to"],
         "data/email-enron.npz: columns are named, but the format is npz, expected edge-list or matrix-market"),
        (["info", "list.txt", "--columns", "source,to"],
         "--columns: 'to', expected source, target, weight, label or - (ignore)"),
        (["sample", ENRON, "-o", "out.npz", "--app", "minibatch", "--fanouts=-2"],
         "--fanouts: -2 at hop 1, expected 0 to 2147483647, or -1 for all neighbours"),
        (["sample", ENRON, "-o", "out.npz", "--app", "shadow", "--num-neighbors", "0"],
         "--num-neighbors: 0, expected 1 to 1024"),
        (["generate", "web", "out.npz", "--vertices", "9", "--edge-factor", "300"],
         "--edge-factor: 300, expected 0 to 256"),
        (["generate", "rmat", "out.npz", "--scale", "32"], "--scale: 32, expected 1 to 31"),
        (["generate", "rmat", "out.npz", "--a", "0.9"],
         "--a, --b, --c: 0.9, 0.19, 0.19, expected numbers >= 0 with a sum of at most 1"),
        (["generate", "star", "out.npz", "--vertices", "-1"], "--vertices: -1, expected 0 to 4294967295"),
        (["generate", "er", "out.npz", "--scale", "4", "--weights", "1,1"], "--weights: from 1 to 1, expected 0 <= min < max"),
        (["generate", "er", "out.npz", "--scale", "4", "--num-labels", "65537"],
         "--num-labels: 65537, expected 0 (no labels) to 65536"),
        (["generate", "powerlaw", "out.npz", "--min-degree", "9", "--max-degree", "8"],
         "--max-degree: 8, expected --min-degree, 9, to 4294967295"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_options_instead_of_parameters(arguments, message, tendril):
    tendril.path("list.txt").write_text("0 1\n")
    done = tendril.try_run(*arguments)
    assert (done.returncode, done.stderr) == (2, f"tendril: error: {message}\n")


def test_names_of_files_stay(tendril):
    for name in ("num_vertices", "length", "build_graph", "stop_prob.txt"):
        tendril.path(name).write_text("0 one\n")
        for arguments in (["info", name], ["walk", name, "-o", "out.npy"]):
            assert tendril.try_run(*arguments).stderr.startswith(f"tendril: error: {name}:1: target 'one', expected"), name
        missing = "none/" + name
        assert tendril.try_run("info", missing).stderr == f"tendril: error: {missing}: cannot open: No such file or directory\n"


# What numbers and words no option takes; the texts that look like a parameter of the library are the user's own.
WRONG = ["-1", "0", "nan", "1e300", str(2**63 - 1), "word"]
APPS = ["ppr", "node2vec", "metapath", "multidim", "khop", "minibatch", "layer", "fastgcn", "ladies", "mvs", "labor",
        "cluster", "shadow", "saint-node", "saint-edge", "saint-walk"]  # fmt: skip
INNER = re.compile(r"\b[a-z]+_[a-z0-9_]+\b|\w+::|\bstd\b|\w\(\)")


@pytest.fixture
def folder(tendril):
    tendril("generate", "rmat", "graph.npz", "--scale", 4, "--num-labels", 2, "--weights", "1,5", "--quiet")
    return tendril


@pytest.mark.parametrize("verb", ["info", "convert", "generate", "walk", "sample", "plan"])
def test_no_message_has_an_inner_name(verb, folder):
    """Every option of the verb with every wrong value; where the verb has applications, with each that takes it."""
    tried = 0
    for option in options(folder, verb):
        if option.positional or option.name in ("--threads", "--output", "--html", "--device"):
            continue
        for value in WRONG:
            words = command(folder, verb, {"GRAPH": "graph.npz", option.name: value})
            done = folder.try_run(*words, preexec_fn=limits)
            app = re.search(r"expected (\S+?)(?:,| or |$)", done.stderr.strip()) if "--app is" in done.stderr else None
            if app and app.group(1) in APPS:
                done = folder.try_run(*words, "--app", app.group(1), preexec_fn=limits)
            if done.returncode == 0:
                continue
            tried += 1
            assert done.stderr.startswith("tendril: error: ") and done.stderr.count("\n") == 1, (words, done)
            assert not INNER.search(done.stderr), (words, done.stderr)
    assert tried >= (5 if verb == "info" else 20)


@pytest.mark.parametrize("app", APPS)
def test_no_application_has_a_message_with_an_inner_name(app, folder):
    verb = "sample" if APPS.index(app) >= 4 else "walk"
    output = "out.npz" if verb == "sample" else "out.npy"
    for option in options(folder, verb):
        if option.positional or option.name in ("--threads", "--output", "--device", "--app", "--app-source"):
            continue
        for value in ("-1", str(2**63 - 1)):
            words = [verb, "graph.npz", "-o", output, "--app", app, f"{option.name}={value}"]
            done = folder.try_run(*words, preexec_fn=limits)
            assert not INNER.search(done.stderr), (words, done.stderr)
            if "--app is" in done.stderr:  # whatever the value
                break
