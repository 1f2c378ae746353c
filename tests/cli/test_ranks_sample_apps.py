"""mpirun tendril sample of layers, subgraphs and applications as text: ranks write the file of one process, or none."""

import json
import os
import signal

import numpy as np
import pytest
from mpi_ranks import NEEDS_MPI, complaint, different_ranks, files, run, start
from tendril_command import TENDRIL
from tensors import read_safetensors
from test_ranks import ranks_at_work
from test_sample_apps import PAIRS

pytestmark = NEEDS_MPI

GRAPH = "skewed.safetensors"
JOBS = {
    "layer": ["--layer-size", 20, "--max-size", 50, "--num-seeds", 100],
    "layer of sets": ["--app", "layer", "--layer-size", 8, "--max-size", 24, "--unique", "--roots", 4, "--num-seeds", 60],
    "fastgcn": ["--layer-size", 16, "--batch-size", 32, "--num-seeds", 250, "--edges"],
    "ladies": ["--batch-size", 32, "--normalization", "symmetric", "--num-seeds", 300, "--first-sample", 2**33],
    "mvs": ["--batch-size", 16, "--importance", "norms.npy", "--num-samples", 9, "--edges"],
    "labor": ["--fanouts", "5,5", "--batch-size", 32, "--num-seeds", 500],
    "cluster": ["--clusters", 40, "--clusters-per-sample", 5, "--partition", "random"],
    "clusters of a file": ["--app", "cluster", "--clusters-from", "clusters.npy", "--clusters-per-sample", 2],
    "shadow": ["--num-neighbors", 4, "--seeds", "seeds.txt"],
    "saint-node": ["--budget", 50, "--normalization", "symmetric", "--num-samples", 8],
    "saint-edge": ["--budget", 50, "--first-sample", 7, "--num-samples", 5],
    "saint-walk": ["--budget", 20, "--coefficients", 20],
}
JOBS = {name: options if "--app" in options else ["--app", name, *options] for name, options in JOBS.items()}
SEEDS_EACH = {"layer": 1, "layer of sets": 4, "fastgcn": 32, "ladies": 32, "labor": 32, "shadow": 1}

WIDE = """
struct wide {
  int steps() const { return 1; }
  std::int64_t sample_size(int) const { return 40000; }
  vertex_id next(sample_view&, transit_list const&, edge_list const& edges, int, random_stream& rng) const
  {
    return edges.empty() ? no_vertex : edges[rng.bounded(edges.size())];
  }
};
"""


@pytest.fixture(autouse=True)
def inputs(tendril, monkeypatch, tmp_path_factory):
    """Applications that come as text are compiled once for all tests of this session."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "compiled"))
    random = np.random.default_rng(1)
    np.save(tendril.path("norms.npy"), random.random(1024))
    np.save(tendril.path("clusters.npy"), random.permutation(1024) % 11)
    tendril.path("seeds.txt").write_text("\n".join(map(str, random.permutation(1024)[:50])))


def without(options, *names):
    """Options without some of them and their values."""
    return [option for name, option in zip([None, *options], options) if option not in names and name not in names]


def expect_the_file_of_one_process(tendril, numbers_of_ranks, form, arguments):
    tendril("sample", *arguments, "-o", f"whole.{form}", "--quiet")
    before = files(tendril)
    for num_ranks in numbers_of_ranks:
        run(tendril, num_ranks, "sample", *arguments, "-o", f"ranks.{form}", "--threads", 1, "--quiet")
        assert tendril.bytes(f"ranks.{form}") == tendril.bytes(f"whole.{form}"), num_ranks
        tendril.path(f"ranks.{form}").unlink()
        assert files(tendril) == before


@pytest.mark.parametrize("job", JOBS)
def test_ranks_write_the_file_of_one_process(job, tendril, graphs):
    expect_the_file_of_one_process(tendril, [1, 2, 3, 7], "safetensors", [graphs[GRAPH], *JOBS[job]])
    expect_the_file_of_one_process(tendril, [3], "npz", [graphs[GRAPH], *JOBS[job], "--dtype", "int64"])


@pytest.mark.parametrize("app", ["layer", "ladies", "labor"])
def test_a_graph_without_vertices(app, tendril, graphs):
    expect_the_file_of_one_process(tendril, [3], "npz", [graphs["empty.txt"], "--app", app])


def test_applications_that_come_as_text(tendril, graphs):
    tendril.path("pairs.cpp").write_text(PAIRS)
    tendril.path("wide.cpp").write_text(WIDE)
    pairs = [graphs[GRAPH], "--app-source", "pairs.cpp", "--num-seeds", 500]
    expect_the_file_of_one_process(tendril, [1, 3, 7], "safetensors", pairs)
    # A rank writes what it has made while it makes more: 64 MB are one piece.
    expect_the_file_of_one_process(tendril, [2], "npz", [graphs[GRAPH], "--app-source", "wide.cpp"])


@pytest.mark.parametrize("job", JOBS)
def test_a_file_a_rank(job, tendril, graphs):
    """Each has what one process makes of the samples of the rank."""
    num_ranks, options = 3, [*JOBS[job], "--seed", 5, "--quiet"]
    tendril("sample", graphs[GRAPH], "-o", "whole.safetensors", *options)
    run(tendril, num_ranks, "sample", graphs[GRAPH], "-o", "s.safetensors", *options, "--threads", 1, "--parts")
    assert not tendril.path("s.safetensors").exists()
    whole, about = read_safetensors(tendril.path("whole.safetensors"))
    first_sample, each = int(about["first_sample"]), SEEDS_EACH.get(job)
    for rank, mine in enumerate(np.array_split(np.arange(int(about["num_samples"])), num_ranks)):
        arrays, told = read_safetensors(tendril.path(f"s.part-0000{rank}-of-00003.safetensors"))
        assert told.pop("part") == f"{rank}/3"
        first = int(mine[0]) if len(mine) else 0
        again = [*without(options, "--first-sample", "--num-samples", "--num-seeds", "--seeds")]
        again += ["--first-sample", first_sample + first]
        if each:
            seeds = whole["seeds"].ravel()[first * each : (int(mine[-1]) + 1) * each]
            tendril.path("mine.txt").write_text("\n".join(map(str, seeds.tolist())))
            again += ["--seeds", "mine.txt"]
        else:
            again += ["--num-samples", len(mine)]
        tendril("sample", graphs[GRAPH], "-o", "one.safetensors", *again)
        expected, expected_about = read_safetensors(tendril.path("one.safetensors"))
        assert told == expected_about
        assert list(arrays) == list(expected)
        assert all(np.array_equal(arrays[name], expected[name]) for name in arrays)


@pytest.mark.parametrize("job", ["layer of sets", "ladies", "labor", "saint-edge"])
def test_a_file_of_a_rank_without_samples(job, tendril, graphs):
    number = ["--num-seeds", SEEDS_EACH[job]] if job in SEEDS_EACH else ["--num-samples", 1]
    options = [*without(JOBS[job], "--num-samples", "--num-seeds", "--seeds"), *number]
    run(tendril, 2, "sample", graphs[GRAPH], "-o", "s.npz", *options, "--threads", 1, "--parts", "--quiet")
    with np.load(tendril.path("s.part-00000-of-00002.npz")) as one, np.load(tendril.path("s.part-00001-of-00002.npz")) as none:
        assert list(one) == list(none)
        for name in one:
            assert one[name].dtype == none[name].dtype and one[name].shape[1:] == none[name].shape[1:]
            assert none[name].tolist() == ([0] if name.endswith("offsets") else [])


def test_the_summary_tells_of_all_ranks(tendril, graphs):
    for job in ("layer", "labor"):
        alone = json.loads(tendril("sample", graphs[GRAPH], "-o", "a.npz", *JOBS[job], "--json"))
        told = json.loads(run(tendril, 3, "sample", graphs[GRAPH], "-o", "b.npz", *JOBS[job], "--json"))
        for name in ("app", "params", "num_samples", "sampled_vertices", "sampled_edges", "output_bytes"):
            assert told[name] == alone[name], name
        assert (told["ranks"]["size"], told["ranks"]["sharded"]) == (3, False)
        assert told["ranks"]["sent_bytes"] > 0 and "ranks" not in alone
    shown = start(tendril, 2, "sample", graphs[GRAPH], "-o", "b.npz", *JOBS["labor"], "--progress")
    out, bar = shown.communicate(timeout=120)
    assert shown.returncode == 0 and "sampling" in bar
    assert out.count("ranks   2, each with the whole graph; ") == out.count("samples 16: ") == 1


def test_a_rank_at_work_is_no_silent_one(tendril, graphs):
    """Rank 0 alone counts GraphSAINT's coefficients."""
    slow = ["--app", "saint-walk", "--budget", 2000, "--num-samples", 4, "--coefficients", 2000, "--threads", 1]
    seconds = json.loads(tendril("sample", graphs[GRAPH], "-o", "a.npz", *slow, "--json"))["seconds"]
    run(tendril, 2, "sample", graphs[GRAPH], "-o", "b.npz", *slow, "--quiet", "--deadline", max(seconds / 4, 0.2))
    assert tendril.bytes("a.npz") == tendril.bytes("b.npz")


def test_what_ranks_refuse(tendril, graphs):
    tendril("partition", graphs[GRAPH], "-o", "cut", "--parts", 2, "--quiet")
    tendril.path("pairs.cpp").write_text(PAIRS)
    before = files(tendril)
    whole = "a graph in parts, expected one that each rank has as a whole"
    for arguments, expected in (
        (["cut", "--app", "ladies"], f"--app ladies: {whole}"),
        (["cut", "--app-source", "pairs.cpp"], f"--app-source: {whole}"),
        ([graphs[GRAPH], "--app", "shadow", "--fanouts", "3"], "--fanouts: --app is shadow, expected "),
        ([graphs[GRAPH], "--app", "shadow", "--num-seeds", 2000], "--num-seeds: 2000, expected 1 to 1024"),
    ):
        assert expected in complaint(tendril, 2, "sample", *arguments, "-o", "s.npz", codes=[2])
    for app in ("layer", "labor"):
        refused = complaint(tendril, 2, "sample", graphs[GRAPH], "--app", app, "-o", "nowhere/s.npz", codes=[1])
        assert "nowhere/s.npz: cannot create" in refused
    assert "--parts: one process, expected ranks" in tendril.try_run("sample", graphs[GRAPH], "-o", "s.npz", "--app", "ladies", "--parts").stderr
    assert files(tendril) == before


@pytest.mark.parametrize(
    "option, app, mine, other, expected",
    [
        ("--seeds", "shadow", "1\n2", "1\n3", "the content of --seeds is 2 vertices with the hash "),
        ("--importance", "mvs", "1\n" * 1024, "2\n" * 1024, "the content of --importance is 1,024 numbers with the hash "),
        ("--clusters-from", "cluster", "0\n" * 1024, "1\n" * 1024, "the content of --clusters-from is 1,024 vertices"),
        ("--app-source", None, WIDE, WIDE.replace("1;", "1 ;"), "the content of --app-source is 297 bytes with the hash "),
        ("--seeds", "labor", "1\n2", "1\n2000", "b:2: vertex 2000, expected less than 1024"),
        ("--seed", "ladies", None, None, "--seed is b, expected as on rank 0: a"),
    ],
)
def test_a_rank_that_differs_is_named(option, app, mine, other, expected, tendril, graphs):
    before = files(tendril)
    values = "V=a; O=b"
    if mine is None:
        values, expected = "V=1; O=2", expected.replace("is b", "is 2").replace("0: a", "0: 1")
    else:
        tendril.path("a").write_text(mine)
        tendril.path("b").write_text(other)
    of_app = f"--app {app}" if app else ""
    sample = f"exec {TENDRIL} sample {graphs[GRAPH]} -o s.npz --quiet {of_app} {option}"
    said = different_ranks(tendril, f'{values}; [ "$OMPI_COMM_WORLD_RANK" = 1 ] && V=$O; {sample} $V')
    assert "rank 1 of 3: " in said and expected in said
    assert set(files(tendril)) - set(before) <= {"a", "b", "rank.sh"}


def test_a_killed_rank_ends_all(tendril, graphs):
    before = files(tendril)
    job = ["--app", "layer", "--layer-size", 2000, "--max-size", 100000, "--threads", 1, "--quiet"]
    ranks = start(tendril, 3, "sample", graphs[GRAPH], "-o", "s.npz", *job)
    os.kill(ranks_at_work(tendril, ranks, 3)[1], signal.SIGKILL)
    _, complaints = ranks.communicate(timeout=60)
    assert ranks.returncode != 0 and "rank 1" in complaints
    assert files(tendril) == before
