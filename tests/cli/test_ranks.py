"""mpirun tendril walk: ranks write the file of one process, byte for byte, or none, and say in one line what went wrong."""

import json
import os
import re
import signal
import subprocess
import time

import numpy as np
import pytest
from mpi_ranks import NEEDS_MPI, complaint, different_ranks, files, run, start
from tendril_command import TENDRIL

GRAPH = "skewed.safetensors"
pytestmark = NEEDS_MPI

JOBS = {
    "deepwalk": ["--walks", 2, "--length", 9],
    "weighted": ["--walks", 1, "--length", 9, "--weighted"],
    "scan": ["--walks", 1, "--length", 9, "--weighted", "--rule", "scan"],
    "ppr": ["--app", "ppr", "--walks", 1, "--length", 20],
    "restart": ["--app", "restart", "--walks", 1, "--length", 9, "--seed", 3],
    "node2vec": ["--app", "node2vec", "--p", 2, "--q", 0.5, "--walks", 1, "--length", 9, "--dead-end", "repeat"],
    "weighted node2vec": ["--app", "node2vec", "--p", 0.25, "--q", 4, "--weighted", "--walks", 1, "--length", 9],
    "metapath": ["--app", "metapath", "--metapath", "0,2,1", "--walks", 1, "--length", 9],
    "types": ["--app", "metapath", "--metapath", "0,1", "--metapath-of", "vertices", "--walks", 1, "--length", 9],
    "few": ["--num-starts", 3, "--length", 9, "--first-walk", 123456789012],
    "one": ["--num-starts", 1, "--length", 9],
    "wide": ["--num-starts", 300, "--length", 9, "--dtype", "int64"],
}


@pytest.mark.parametrize(
    "job, form", [(job, "safetensors") for job in JOBS] + [("deepwalk", "npy"), ("deepwalk", "txt"), ("wide", "npy")]
)
def test_ranks_write_the_file_of_one_process(job, form, tendril, graphs):
    tendril("partition", graphs[GRAPH], "-o", "parts", "--parts", 3, "--quiet")
    tendril("partition", graphs[GRAPH], "-o", "compressed", "--parts", 3, "--compress", "auto", "--quiet")
    tendril("walk", graphs[GRAPH], "-o", f"whole.{form}", *JOBS[job], "--quiet")
    before = files(tendril)
    for graph in (graphs[GRAPH], "parts", "compressed"):
        run(tendril, 3, "walk", graph, "-o", f"ranks.{form}", *JOBS[job], "--threads", 1, "--quiet")
        assert tendril.bytes(f"ranks.{form}") == tendril.bytes(f"whole.{form}"), graph
        tendril.path(f"ranks.{form}").unlink()
    assert files(tendril) == before


@pytest.mark.parametrize("num_ranks", [1, 2, 4, 7])
def test_any_number_of_ranks(num_ranks, tendril, graphs):
    job = JOBS["node2vec"]
    tendril("partition", graphs[GRAPH], "-o", "parts", "--parts", num_ranks, "--quiet")
    tendril("walk", graphs[GRAPH], "-o", "whole.npy", *job, "--quiet")
    for graph in (graphs[GRAPH], "parts"):
        run(tendril, num_ranks, "walk", graph, "-o", "ranks.npy", *job, "--threads", 1, "--quiet")
        assert tendril.bytes("ranks.npy") == tendril.bytes("whole.npy")


def test_ragged_walks_and_sets_of_roots(tendril, graphs):
    ragged, before = ["--order", "ragged", "--app", "ppr", "--length", 50], None
    for num_ranks, options in (
        (3, ragged),
        (2, [*ragged, "--dtype", "int64", "--first-walk", 1000]),
        (5, [*ragged, "--num-starts", 3]),  # some ranks have no walk
        (3, ["--app", "multidim", "--roots", 5]),
    ):
        tendril("walk", graphs[GRAPH], "-o", "whole.safetensors", *options, "--quiet")
        before = before or files(tendril)
        run(tendril, num_ranks, "walk", graphs[GRAPH], "-o", "ranks.safetensors", *options, "--threads", 1, "--quiet")
        assert tendril.bytes("ranks.safetensors") == tendril.bytes("whole.safetensors")
        tendril.path("ranks.safetensors").unlink()
        assert files(tendril) == before


def test_a_file_a_rank(tendril, graphs):
    tendril("walk", graphs[GRAPH], "-o", "whole.safetensors", *JOBS["deepwalk"], "--quiet")
    run(tendril, 3, "walk", graphs[GRAPH], "-o", "w.safetensors", *JOBS["deepwalk"], "--parts", "--threads", 1, "--quiet")
    parts = [f"w.part-0000{k}-of-00003.safetensors" for k in range(3)]
    assert not tendril.path("w.safetensors").exists()
    tendril("join", *parts, "-o", "joined.safetensors", "--quiet")
    assert tendril.bytes("joined.safetensors") == tendril.bytes("whole.safetensors")


def test_files_of_an_earlier_job_stay(tendril, graphs):
    tendril.path("w.part-00000-of-00002.txt").write_text("mine\n")
    run(tendril, 2, "walk", graphs[GRAPH], "-o", "w.txt", *JOBS["few"], "--quiet")
    assert files(tendril) == ["data", "w.part-00000-of-00002.txt", "w.txt"]
    assert tendril.path("w.part-00000-of-00002.txt").read_text() == "mine\n"


def test_the_summary_tells_of_all_ranks(tendril, graphs):
    tendril("partition", graphs[GRAPH], "-o", "parts", "--parts", 2, "--quiet")
    alone = json.loads(tendril("walk", graphs[GRAPH], "-o", "a.npy", *JOBS["deepwalk"], "--json"))
    told = json.loads(run(tendril, 2, "walk", "parts", "-o", "b.npy", *JOBS["deepwalk"], "--json"))
    assert (told["steps"], told["num_walks"]) == (alone["steps"], alone["num_walks"])
    ranks = told["ranks"]
    assert (ranks["size"], ranks["sharded"]) == (2, True)
    assert 0 < ranks["moved"] <= told["steps"]
    assert ranks["moved_bytes"] <= 16 * ranks["moved"]
    assert ranks["sent_bytes"] >= ranks["moved_bytes"]
    text = run(tendril, 2, "walk", "parts", "-o", "b.npy", *JOBS["deepwalk"])
    assert "ranks   2, each with a part of the graph; " in text
    assert "moved (8 bytes each)" in text
    assert "ranks   2, each with the whole graph" in run(tendril, 2, "walk", graphs[GRAPH], "-o", "b.npy")


def test_rank_0_shows_one_bar(tendril, graphs):
    ranks = start(tendril, 2, "walk", graphs[GRAPH], "-o", "a.npy", "--walks", 50, "--progress", "--threads", 1)
    _, shown = ranks.communicate(timeout=120)
    assert ranks.returncode == 0
    assert "walking" in shown


def test_what_ranks_refuse(tendril, graphs):
    tendril("partition", graphs[GRAPH], "-o", "parts", "--parts", 3, "--quiet")
    for arguments, expected in (
        (["walk", "parts", "-o", "w.npy"], ": parts: 3 parts, expected one a rank: mpirun started 2"),
        (["walk", graphs[GRAPH], "-o", "-"], "--output -: started by mpirun as 2 ranks, expected a file that all can open"),
        (["walk", "-", "-o", "w.npy"], "GRAPH -: started by mpirun as 2 ranks"),
        (["walk", graphs[GRAPH], "-o", "w.npy", "--part", "0/2"], "--part: started by mpirun as 2 ranks"),
        (["walk", graphs[GRAPH], "-o", "w.npy", "--deadline", "0"], "--deadline: 0, expected more than 0 seconds"),
        (["info", graphs[GRAPH]], "info: started by mpirun as 2 ranks, expected one process"),
        (["walk", "absent.npz", "-o", "w.npy"], "absent.npz: "),
        (["walk", graphs[GRAPH], "-o", "w.npy", "--app", "ppr", "--p", "2"], "--p: "),
        (["walk", graphs[GRAPH], "-o", "nowhere/w.npy"], "nowhere/w.npy: cannot create"),
        (["walk", graphs[GRAPH], "-o", "nowhere/w.txt"], "nowhere/w.txt: cannot create"),
        (["walk", graphs[GRAPH], "-o", "nowhere/w.safetensors", "--order", "ragged"], "nowhere/w.safetensors: cannot create"),
        (["walk", graphs[GRAPH], "-o", "w.npy", "--no-such-option"], "--no-such-option"),
    ):
        assert expected in complaint(tendril, 2, *arguments)
    assert "--parts: one process" in tendril.try_run("walk", graphs[GRAPH], "-o", "w.npy", "--parts").stderr
    for options in (["--app", "multidim"], ["--memory", "1M"], ["--device", "cuda:0,1"], ["--order", "ragged"]):
        name = "w.safetensors" if "ragged" in options else "w.npy"
        assert "a graph in parts" in complaint(tendril, 3, "walk", "parts", "-o", name, *options)
    absent = complaint(tendril, 3, "walk", "parts", "-o", "w.npy", "--device", "cuda:15")
    assert "no GPU" in absent or "GPU 15" in absent
    assert files(tendril) == ["data", "parts"]


# Steps that take long, of rows that are short.
SLOW = ["--app", "node2vec", "--p", 2, "--weighted", "--rule", "scan", "--walks", 4000, "--length", 30]


def test_other_graphs_and_options_on_a_rank_are_named(tendril, graphs):
    tendril("generate", "star", "other.npz", "--vertices", 1024)
    mine = f'G={graphs[GRAPH]}; S=0; [ "$OMPI_COMM_WORLD_RANK" = 2 ] && '
    walk = f'; exec {TENDRIL} walk "$G" -o w.npy --seed $S --quiet'
    assert "rank 2 of 3: the graph is 1024 vertices" in different_ranks(tendril, mine + "G=other.npz" + walk)
    assert "rank 2 of 3: --seed is 1, expected as on rank 0: 0" in different_ranks(tendril, mine + "S=1" + walk)
    assert not tendril.path("w.npy").exists()


# Rank 1 has the middle third. A part of text or of ragged walks is written first, and then copied into the whole.
@pytest.mark.parametrize(
    "output, share, file",
    [
        ("w.npy", 0.2, "w.npy"),
        ("w.txt", 0.2, "w.txt.partial"),
        ("w.txt", 0.5, "w.txt"),
        ("w.safetensors", 0.2, "w.safetensors.partial"),
        ("w.safetensors", 0.5, "w.safetensors"),
    ],
)
def test_a_full_disk_on_a_rank_ends_all(output, share, file, tendril, graphs):
    options = "--order ragged --app ppr" if output == "w.safetensors" else ""
    tendril("walk", graphs[GRAPH], "-o", output, "--quiet", *options.split())
    blocks = int(share * tendril.path(output).stat().st_size / 512)
    tendril.path(output).unlink()
    # Shared memory is files, too: the ranks talk by TCP.
    limit = f'[ "$OMPI_COMM_WORLD_RANK" = 1 ] && ulimit -f {blocks}; '
    said = different_ranks(tendril, f"{limit}exec {TENDRIL} walk {graphs[GRAPH]} -o {output} --quiet {options}", "tcp")
    assert re.search(rf"rank 1 of 3: {re.escape(file)}(-\S*)?: ", said), said
    assert not [name for name in files(tendril) if name.startswith("w.")]


def test_text_may_go_to_a_pipe(tendril, graphs):
    tendril("walk", graphs[GRAPH], "-o", "whole.txt", *JOBS["deepwalk"], "--quiet")
    os.mkfifo(tendril.path("w.txt"))
    with subprocess.Popen(["cat", "w.txt"], cwd=tendril.folder, stdout=subprocess.PIPE) as reader:
        ranks = start(tendril, 3, "walk", graphs[GRAPH], "-o", "w.txt", *JOBS["deepwalk"], "--quiet")
        assert reader.stdout.read() == tendril.path("whole.txt").read_bytes()
        _, complaints = ranks.communicate(timeout=60)
    assert ranks.returncode == 0, complaints
    assert files(tendril) == ["data", "w.txt", "whole.txt"]


def ranks_at_work(tendril, ranks, count):
    """Process numbers of the ranks, once the output has been begun."""
    for _ in range(600):
        if any(".partial-" in name for name in files(tendril)):
            found = subprocess.run(["pgrep", "-P", str(ranks.pid)], capture_output=True, text=True).stdout.split()
            if len(found) == count:
                return sorted(map(int, found))
        time.sleep(0.05)
    ranks.kill()
    raise AssertionError("the ranks did not begin to write")


@pytest.mark.parametrize(
    "what, output, options",
    [
        ("whole", "w.npy", []),
        ("parts", "w.npy", []),
        ("whole", "w.txt", []),
        ("parts", "w.txt", []),
        ("whole", "w.safetensors", ["--order", "ragged"]),
    ],
)
def test_a_killed_rank_ends_all(what, output, options, tendril, graphs):
    tendril("partition", graphs[GRAPH], "-o", "parts", "--parts", 3, "--quiet")
    graph = graphs[GRAPH] if what == "whole" else "parts"
    ranks = start(tendril, 3, "walk", graph, "-o", output, *SLOW, *options, "--threads", 1, "--quiet")
    os.kill(ranks_at_work(tendril, ranks, 3)[1], signal.SIGKILL)
    _, complaints = ranks.communicate(timeout=60)
    assert ranks.returncode != 0
    assert "rank 1" in complaints
    assert files(tendril) == ["data", "parts"]


def test_a_silent_rank_ends_all_after_the_deadline(tendril, graphs):
    tendril("partition", graphs[GRAPH], "-o", "parts", "--parts", 3, "--quiet")
    ranks = start(tendril, 3, "walk", "parts", "-o", "w.npy", *SLOW, "--threads", 1, "--quiet", "--deadline", 2)
    os.kill(ranks_at_work(tendril, ranks, 3)[2], signal.SIGSTOP)
    _, complaints = ranks.communicate(timeout=60)
    assert ranks.returncode != 0
    lines = [line for line in complaints.splitlines() if line.startswith("tendril: ")]
    assert len(lines) == 1, complaints
    assert "rank 2 of 3: nothing was heard of it for " in lines[0]
    assert files(tendril) == ["data", "parts"]


def test_rows_of_ranks_can_be_read(tendril, graphs):
    run(tendril, 2, "walk", graphs[GRAPH], "-o", "w.npy", "--walks", 1, "--length", 4, "--quiet")
    walks = np.load(tendril.path("w.npy"))
    assert walks.shape == (1024, 5)
    assert np.array_equal(walks[:, 0], np.arange(1024))


def test_the_benchmark_measures_ranks_that_mpirun_started(tendril):
    job = ["bench", "dist", "--graph", "rmat:10", "--repeats", 1, "--threads", 1, "--json", "dist.json"]
    table = run(tendril, 3, *job)
    assert table.count("uniform, sharded, 3 ranks") == 1
    rows = {row["job"]: row for row in json.loads((tendril.folder / "dist.json").read_text())["rows"]}
    for kind in ("uniform", "node2vec"):
        for way in ("sharded", "replicated"):
            assert rows[f"{kind}, {way}, 1 rank"]["value"] > 0
            assert rows[f"{kind}, {way}, 3 ranks"]["ceiling_name"] == f"{kind}, {way}, 1 rank"
        assert 0 < rows[f"{kind}, walkers moved a step, 3 ranks"]["value"] < 1
    refused = complaint(tendril, 2, "bench", "walks", "--graph", "rmat:10")
    assert refused.endswith("bench walks: started by mpirun as 2 ranks, expected one process: only dist on CPUs measures ranks")
    refused = complaint(tendril, 2, "bench", "dist", "--graph", "rmat:10", "--simulate", 4)
    assert refused.endswith("--simulate: started by mpirun, expected one process, which plans from what it measures")
