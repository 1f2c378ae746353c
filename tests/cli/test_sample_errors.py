"""The catalogue of `tendril sample` and `plan`: exact messages of what can't be done, nothing left behind, and plans."""

import json
import re
import resource
import signal

import numpy as np
import pytest
from test_sample_apps import QUIET

ENRON = "data/email-enron.npz"
SAMPLE = ["sample", ENRON, "-o", "out.npz", "--app"]

USAGE = [
    ([*SAMPLE, "ladies", "--depth", "2"], "--depth: --app is ladies, expected shadow"),
    ([*SAMPLE, "mvs", "--num-seeds", "2"],
     "--num-seeds: --app is mvs, expected khop, minibatch, layer, fastgcn, ladies, labor, shadow or --app-source"),
    ([*SAMPLE, "saint-node", "--roots", "2"], "--roots: --app is saint-node, expected layer or --app-source"),
    ([*SAMPLE, "ladies", "--fanouts", "5"], "--fanouts: --app is ladies, expected khop, minibatch or labor"),
    ([*SAMPLE, "ladies", "--weighted"], "--weighted: --app is ladies, expected khop or minibatch"),
    ([*SAMPLE, "layer", "--param", "a=1"], "--param: --app is layer, expected --app-source"),
    ([*SAMPLE, "layer", "--executor", "sample"], "--executor: --device is cpu, expected cuda"),
    ([*SAMPLE, "layer", "--gpu-memory", "1M"], "--gpu-memory: --device is cpu, expected cuda"),
    ([*SAMPLE, "layer", "--device", "cuda", "--gpu-memory", "1M", "--graph-memory", "1M"],
     "--gpu-memory: --graph-memory is given, expected one of both"),
    ([*SAMPLE, "layer", "--executor", "fast"], "--executor: 'fast', expected auto, sample or transit"),
    ([*SAMPLE, "layer", "--layer-size", "0"], "--layer-size: 0, expected 1 to 2147483647 vertices"),
    ([*SAMPLE, "layer", "--roots", "7"], "--roots: 36692 seeds, expected a multiple of 7"),
    ([*SAMPLE, "layer", "--roots", "0"], "--roots: 0, expected 1 or more"),
    ([*SAMPLE, "ladies", "--layers", "0"], "--layers: 0, expected 1 to 65535"),
    ([*SAMPLE, "ladies", "--layer-size", "20000"], "--layer-size: 20000, expected 1 to 16384 vertices"),
    ([*SAMPLE, "fastgcn", "--batch-size", "0"], "--batch-size: 0, expected 1 or more"),
    ([*SAMPLE, "fastgcn", "--batch-size", "20000"], "--batch-size: 20000, expected 1 to 16384 roots"),
    ([*SAMPLE, "ladies", "--normalization", "col"],
     "--normalization: 'col', expected row, symmetric or weights"),
    ([*SAMPLE, "ladies", "--normalization", "weights"], "--normalization: the graph has no weights, expected one an edge"),
    ([*SAMPLE, "labor", "--fanouts", "0"], None),
    ([*SAMPLE, "khop", "--choice", "labor"], "--choice: --app is khop, expected minibatch"),
    ([*SAMPLE, "minibatch", "--choice", "best"], None),
    ([*SAMPLE, "minibatch", "--choice", "labor", "--replace"],
     "--replace: true, but choice labor takes each edge at most once, expected false"),
    ([*SAMPLE, "minibatch", "--batch-dependency", "4"], "--batch-dependency: 4, expected 1, or choice labor"),
    ([*SAMPLE, "minibatch", "--choice", "labor", "--batch-dependency", "0"],
     "--batch-dependency: 0, expected 1 to 4294967295 batches"),
    ([*SAMPLE, "minibatch", "--no-normalize-rows"], "--no-normalize-rows: --choice is independent, expected labor"),
    ([*SAMPLE, "cluster", "--partition", "kmeans"], "--partition: 'kmeans', expected contiguous, random or metis"),
    ([*SAMPLE, "cluster", "--clusters", "0"], "--clusters: 0, expected 1 to 36692, the vertices of the graph"),
    ([*SAMPLE, "cluster", "--clusters-per-sample", "0"], "--clusters-per-sample: 0, expected 1 or more"),
    ([*SAMPLE, "cluster", "--clusters", "5", "--clusters-from", "a.txt"],
     "--clusters-from: --clusters is given, expected one of both"),
    ([*SAMPLE, "shadow", "--depth", "0"], None),
    ([*SAMPLE, "saint-walk", "--budget", "3000000000"], "--budget: 3000000000, expected 1 to 2147483647"),
    ([*SAMPLE, "saint-node", "--coefficients", "0"], "--coefficients: 0, expected 1 or more"),
    ([*SAMPLE, "saint-node", "--num-samples", "0"], "--num-samples: 0, expected 1 or more"),
    ([*SAMPLE, "mvs", "--first-sample", "-1"], "--first-sample: -1, expected 0 or more"),
    ([*SAMPLE, "node2vec"], "--app: node2vec makes walks, expected 'tendril walk --app node2vec'"),
    ([*SAMPLE, "multidim"], "--app: multidim makes walks, expected 'tendril walk --app multidim'"),
    (["plan", ENRON, "--app", "ladies", "--depth", "2"], "--depth: --app is ladies, expected shadow"),
    (["plan", ENRON, "--app", "ladies", "--normalization", "weights"],
     "--normalization: the graph has no weights, expected one an edge"),
]  # fmt: skip


@pytest.mark.parametrize(
    "arguments, message", USAGE, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_wrong_usage(arguments, message, tendril):
    done = tendril.try_run(*arguments)
    assert done.stderr.startswith("tendril: error: ") and done.stderr.count("\n") == 1
    if message is not None:  # else the library's own, which its tests know
        assert done.stderr == f"tendril: error: {message}\n"
    assert (done.returncode, done.stdout) == (2, "")
    assert [path.name for path in tendril.folder.iterdir()] == ["data"]


def test_files_that_do_not_fit(tendril):
    tendril.path("short.txt").write_text("1\n2\n")
    tendril.path("much.txt").write_text("much\n")
    tendril.path("large.txt").write_text("3\n36692\n")
    for arguments, code, message in (
        (["mvs", "--importance", "short.txt"], 1, "short.txt: 2 numbers, expected 36692, one a vertex"),
        (["mvs", "--importance", "much.txt"], 1, "much.txt:1: 'much', expected one finite number of at least 0"),
        (["mvs", "--importance", "none.txt"], 1, "none.txt: cannot open: No such file or directory"),
        (["cluster", "--clusters-from", "short.txt"], 2,
         "--clusters-from: short.txt: 2 clusters, expected 36692, one a vertex"),
        (["ladies", "--seeds", "large.txt"], 1,
         "large.txt:2: vertex 36692, expected less than 36692, the vertices of the graph"),
    ):  # fmt: skip
        done = tendril.try_run(*SAMPLE, *arguments)
        assert (done.returncode, done.stderr) == (code, f"tendril: error: {message}\n")
        assert not tendril.path("out.npz").exists()


@pytest.fixture
def own(tendril, monkeypatch, tmp_path_factory):
    """Tries a source: (exit code, standard error)."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "compiled"))

    def run(source, *options):
        tendril.path("own.cpp").write_text(source)
        done = tendril.try_run(
            "sample", ENRON, "-o", "out.npz", "--app-source", "own.cpp", "--num-seeds", 50, *options
        )
        assert not tendril.path("out.npz").exists() and done.stdout == ""
        return done.returncode, done.stderr

    return run


def test_sources_that_do_not_compile_show_their_lines(own):
    code, complaint = own(QUIET.replace("pick = other;", "pick = othr;"))
    assert code == 1
    assert complaint.startswith("tendril: error: application: struct 'quiet_hops' doesn't compile")
    line = 1 + QUIET[: QUIET.index("pick = other;")].count("\n")
    assert f"\nown.cpp:{line}:" in complaint and "othr" in complaint


def test_sources_with_one_line_of_complaint(own):
    for source, options, message in (
        ("int x;", [], None),
        (QUIET, ["--struct", "loud_hops"], None),
        (QUIET, ["--param", "tries"],
         "--param: 'tries', expected NAME=VALUE, where VALUE is a number, or numbers as in 10,5"),
        (QUIET, ["--param", "tries=many"],
         "--param: 'tries=many', expected NAME=VALUE, where VALUE is a number, or numbers as in 10,5"),
        (QUIET, ["--param", "times=3"], "parameter 'times': struct 'quiet_hops' has no public field of that name"),
        (QUIET, ["--param", "tries=0.5"], "parameter 'tries': a field of integers takes no fractions"),
        (QUIET, ["--app", "khop"], None),
        (QUIET, ["--fanouts", "3"], "--fanouts: --app-source is given, expected khop, minibatch or labor"),
    ):  # fmt: skip
        code, complaint = own(source, *options)
        assert code == 2 and complaint.startswith("tendril: error: ") and complaint.count("\n") == 1
        if message is not None:
            assert complaint == f"tendril: error: {message}\n"


def test_a_sample_that_does_wrong_is_named(own):
    code, complaint = own(QUIET.replace("return pick;", "return pick + (sample.id == 31 ? 100000 : 0);"))
    assert code == 2 and "sample 31" in complaint and complaint.count("\n") == 1


def test_an_old_result_stays_where_sampling_fails(tendril):
    tendril.path("out.npz").write_text("the old one")
    tendril.path("zeros.txt").write_text("0\n" * 36692)
    done = tendril.try_run(*SAMPLE, "mvs", "--importance", "zeros.txt", "--num-samples", "-5")
    assert done.returncode == 2 and tendril.path("out.npz").read_text() == "the old one"
    tendril(*SAMPLE, "mvs", "--importance", "zeros.txt", "--num-samples", 2, "--quiet")
    with np.load(tendril.path("out.npz")) as arrays:
        assert (arrays["vertices"] == -1).all() and not arrays["weights"].any()


@pytest.mark.parametrize("app", ["ladies", "layer"])
def test_a_full_disk_leaves_nothing(app, tendril):
    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # as a shell starts programs
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    done = tendril.try_run(*SAMPLE, app, preexec_fn=small_files)
    assert done.returncode == 1
    assert re.fullmatch(
        r"tendril: error: out\.npz: cannot write: [\d.]+ [MG]iB, expected at most the 1\.0 MiB that 'ulimit -f' allows a file\n",
        done.stderr,
    )
    assert [path.name for path in tendril.folder.iterdir()] == ["data"]


def test_plans_of_steps(tendril):
    plan = json.loads(tendril("plan", ENRON, "--app", "layer", "--num-seeds", 100, "--json"))
    assert (plan["app"], plan["num_samples"], plan["device"]) == ("layer", 100, "cpu")
    steps = plan["plan"]["steps"]
    assert [(step["num_transits"], step["num_slots"]) for step in steps] == [(1, 1000), (1000, 1000)]
    assert all(step["executor"] == "sample" and step["reason"] for step in steps)
    assert "steps   0: 1 transit, 1,000 slots each: sample-parallel\n" in tendril("plan", ENRON, "--app", "layer")


def test_plans_of_an_application_of_ones_own(tendril, monkeypatch, tmp_path_factory):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "compiled"))
    tendril.path("own.cpp").write_text(QUIET)
    plan = json.loads(tendril("plan", ENRON, "--app-source", "own.cpp", "--roots", 2, "--json"))
    assert plan["app"] == "quiet_hops" and plan["num_samples"] == 18346
    assert [(step["num_transits"], step["num_slots"]) for step in plan["plan"]["steps"]] == [(2, 20), (20, 100)]


@pytest.mark.parametrize(
    "app, options, table_bytes",
    [
        ("fastgcn", [], 36692 * 20),
        ("ladies", [], 0),
        ("ladies", ["--normalization", "symmetric"], 367662 * 8 + 36692 * 4),
        ("mvs", [], 0),
        ("labor", [], 0),
        ("cluster", ["--clusters", 100], 36692 * 4 + 101 * 8),
        ("shadow", ["--num-seeds", 5], 0),
        ("saint-node", [], 36692 * 20),
        ("saint-edge", [], 0),
        ("saint-walk", ["--budget", 50, "--length", 4], 0),
    ],
)
def test_plans_of_tables(app, options, table_bytes, tendril):
    plan = json.loads(tendril("plan", ENRON, "--app", app, "--json", *options))["plan"]
    assert plan["table_bytes"] == table_bytes and (plan["tables"] == "none") == (table_bytes == 0)
    assert plan["reasons"] and all(plan["reasons"])
    text = tendril("plan", ENRON, "--app", app, *options)
    assert f"\ntables  {plan['tables']}" in text and f"\nwhy     {plan['reasons'][0]}" in text
