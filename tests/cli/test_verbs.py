"""info, convert, generate and plan: what they say and make; summaries for programs."""

import json
import os
import pty
import re
import subprocess

import numpy as np
import pytest
from tendril_command import TENDRIL

ENRON = "data/email-enron.npz"


def test_info(tendril, graphs):
    info = json.loads(tendril("info", ENRON, "--json", "--validate"))
    assert info["num_vertices"] == 36692 and info["num_edges"] == 367662
    assert info["symmetric"] and info["valid"] and not info["weights"]
    assert info["degree"]["max"] == 1383 and info["self_loops"] == 0

    tendril.path("g.txt").write_text("0 0 1.5\n0 1 2\n0 1 0.25\n4 0 3\n")
    info = json.loads(tendril("info", "g.txt", "--json"))
    assert info["num_vertices"] == 5 and info["num_edges"] == 4
    assert info["degree"] == {
        "min": 0,
        "mean": 0.8,
        "max": 3,
        "percentiles": {"p5": 0, "p25": 0, "p50": 0, "p75": 1, "p95": 1, "p99": 1},
    }
    assert (info["dead_ends"], info["isolated"], info["self_loops"], info["parallel_edges"]) == (3, 2, 1, 1)
    assert info["weight"] == {"min": 0.25, "max": 3.0, "sum": 6.75}

    info = json.loads(tendril("info", graphs["skewed.safetensors"], "--json", "--threads", 2))
    assert sum(entry["count"] for entry in info["labels"]) == info["num_edges"] and len(info["labels"]) == 3
    assert sum(entry["count"] for entry in info["types"]) == 1024


def test_info_of_forms(tendril):
    csr = json.loads(tendril("info", ENRON, "--json"))
    assert csr["forms"] == {"csr": {"lists": 36692, "edges": 367662, "bits_per_edge": 32}}
    assert "csr_bits_per_edge" not in csr and "elias" not in tendril("info", ENRON)

    codes = {"packed": {"fixed"}, "vbyte": {"vbyte"}, "auto": {"fixed", "runs", "runs_elias_fano", "elias_fano"}}
    for form, expected in codes.items():
        tendril("convert", ENRON, "small.safetensors", "--compress", form, "--quiet")
        info = json.loads(tendril("info", "small.safetensors", "--json"))
        assert (info["form"], info["csr_bits_per_edge"]) == (form, csr["bits_per_edge"])
        assert info["directory_bits_per_vertex"] == 512 * (36692 // 11 + 1) / 36692
        forms = info["forms"]
        assert list(forms) == ["fixed", "runs", "runs_elias_fano", "elias_fano", "vbyte"]
        assert {code for code in forms if forms[code]["lists"] > 0} == expected
        assert sum(share["lists"] for share in forms.values()) == 36692
        assert sum(share["edges"] for share in forms.values()) == 367662
        # What is left are headers of a byte and less than 5 bytes of padding a list, and 64 bytes behind the lists.
        neighbours = sum(share["edges"] * share["bits_per_edge"] for share in forms.values())
        rest = info["bits_per_edge"] * 367662 - neighbours - info["directory_bits_per_vertex"] * 36692
        assert 512 <= rest <= 512 + 48 * 36692
        assert json.loads(tendril("info", "small.safetensors", "--json", "--threads", 1)) == info

        line = re.compile(r"^  (\S+) +([\d,]+) lists, ([\d,]+) edges, ([\d.]+) bits each$", re.MULTILINE)
        assert line.findall(tendril("info", "small.safetensors")) == [
            (code, f"{share['lists']:,}", f"{share['edges']:,}", f"{share['bits_per_edge']:.1f}")
            for code, share in forms.items()
            if share["lists"] > 0
        ]


def test_info_of_empty_compressed_graphs(tendril):
    tendril("generate", "er", "none.safetensors", "--vertices", 5, "--edge-factor", 0, "--quiet")
    tendril("convert", "none.safetensors", "bare.safetensors", "--compress", "auto", "--quiet")
    info = json.loads(tendril("info", "bare.safetensors", "--json"))
    assert info["forms"]["fixed"] == {"lists": 0, "edges": 0, "bits_per_edge": 0}
    assert (info["directory_bits_per_vertex"], info["csr_bits_per_edge"]) == (512 / 5, 0)


def test_info_looks_before_it_counts(tendril, graphs):
    """A native file opens without a look at its arrays; info must not follow a target out of the graph."""
    content = bytearray(graphs["skewed.safetensors"].read_bytes())
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    first, last = (8 + length + offset for offset in header["indices"]["data_offsets"])
    content[last - 4 : last] = b"\xfe\xff\xff\xff"
    tendril.path("bad.safetensors").write_bytes(content)
    done = tendril.try_run("info", "bad.safetensors")
    assert done.returncode == 1 and done.stderr.startswith("tendril: error: ") and "4294967294" in done.stderr


@pytest.mark.parametrize("name", ["g.safetensors", "g.npz", "g.txt", "g.tsv.gz", "g.mtx", "g.sg", "g.metis"])
def test_conversions_come_back(name, tendril):
    tendril("convert", ENRON, name, "--quiet")
    tendril("convert", name, "back.npz", "--quiet")
    with np.load(tendril.path(ENRON)) as before, np.load(tendril.path("back.npz")) as after:
        assert np.array_equal(before["indptr"], after["indptr"])
        assert np.array_equal(before["indices"], after["indices"])


def test_convert_builds(tendril):
    tendril.path("g.csv").write_text("5,7,2,a\n7,5,9,b\n5,5,1,c\n5,7,4,d\n")
    columns = ["--columns", "source,target,weight,-"]
    summary = json.loads(
        tendril(
            "convert", "g.csv", "out.npz", *columns, "--symmetrize", "--drop-self-loops", "--drop-duplicates", "--compact", "--json"
        )
    )
    assert summary["graph"]["num_vertices"] == 2 and summary["graph"]["num_edges"] == 2
    with np.load(tendril.path("out.npz")) as out:
        assert out["indices"].tolist() == [1, 0]
        assert out["data"].tolist() == [2, 2]  # the first of the input, both ways
        assert out["original_ids"].tolist() == [5, 7]


@pytest.mark.parametrize(
    "kind, vertices, edges", [("star", 10, 18), ("ring", 10, 20), ("grid", 12, 34), ("complete", 7, 42)]
)
def test_generate_regular(kind, vertices, edges, tendril):
    summary = json.loads(tendril("generate", kind, "g.npz", "--vertices", vertices, "--json"))
    assert (summary["graph"]["num_vertices"], summary["graph"]["num_edges"]) == (vertices, edges)


@pytest.mark.parametrize(
    "options",
    [
        ["rmat", "--scale", 9],
        ["er", "--vertices", 700, "--num-labels", 4],
        ["powerlaw", "--vertices", 900, "--exponent", 2.3, "--weight-sigma", 2],
        ["web", "--vertices", 5000, "--edge-factor", 8, "--weights", "1,5", "--num-labels", 3],
    ],
    ids=lambda o: o[0],
)
def test_generate_depends_on_the_seed_alone(options, tendril):
    kind, *rest = options
    for name, more in (("a", ["--threads", 1]), ("b", ["--threads", 3]), ("c", ["--seed", 1])):
        tendril("generate", kind, f"{name}.safetensors", *rest, *more, "--name", "same", "--quiet")
    assert tendril.bytes("a.safetensors") == tendril.bytes("b.safetensors") != tendril.bytes("c.safetensors")


def test_plan_takes_the_options_of_walk_and_sample(tendril, graphs):
    for options in (
        ["--app", "node2vec", "--p", 2, "--weighted", "--walks", 5, "-o", "w.npy", "--dtype", "int64"],
        ["--app", "khop", "--fanouts", "5,5", "--replace", "--weighted", "-o", "s.npz"],
        ["--rule", "alias", "--weighted"],
    ):
        plan = json.loads(tendril("plan", graphs["skewed.safetensors"], *options, "--json"))["plan"]
        assert plan["reasons"] and plan["rule"] in ("uniform", "scan", "reject", "alias", "its")
    assert plan["rule"] == "alias"
    assert sorted(path.name for path in tendril.folder.iterdir()) == ["data"]


def test_summaries_for_programs(tendril, graphs):
    walk = json.loads(tendril("walk", graphs["star.npz"], "-o", "w.npy", "--length", 4, "--json"))
    assert walk["num_walks"] == 500 and walk["steps"] == 2000
    assert walk["output_bytes"] == tendril.path("w.npy").stat().st_size
    assert walk["params"]["length"] == 4 and walk["plan"]["rule"] == "uniform"
    assert walk["steps_per_second"] > 0 and walk["peak_memory_bytes"] > 0
    sample = json.loads(tendril("sample", graphs["star.npz"], "-o", "s.npz", "--fanouts", "3", "--json"))
    assert sample["num_seeds"] == 50 and sample["sampled_edges"] == 3 + 49
    assert tendril("walk", graphs["star.npz"], "-o", "w.npy", "--quiet") == ""


def test_version(tendril):
    version, cuda = tendril("--version").splitlines()
    assert re.fullmatch(r"tendril \d+\.\d+\.\d+", version)
    how = re.escape("no (configure with -DTENDRIL_CUDA=ON, or ./scripts/setup --cuda)")
    assert re.fullmatch(rf"CUDA: ({how}|compute capabilities \d+\.\d.*)", cuda)


def test_progress_on_a_terminal_only(tendril):
    job = [
        str(TENDRIL),
        "walk",
        ENRON,
        "-o",
        "w.npy",
        "--walks",
        "6",
        "--app",
        "node2vec",
        "--p",
        "0.3",
        "--threads",
        "1",
    ]
    assert subprocess.run(job, cwd=tendril.folder, capture_output=True, text=True, check=True).stderr == ""
    terminal, inside = pty.openpty()
    running = subprocess.Popen(
        job, cwd=tendril.folder, stdout=subprocess.DEVNULL, stderr=inside, env={**os.environ, "TERM": "xterm"}
    )
    os.close(inside)
    drawn = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        drawn += part
    os.close(terminal)
    assert running.wait() == 0
    text = drawn.decode()
    assert "walking" in text and "steps/s" in text and "ETA" in text and "%" in text
    assert text.endswith("\r\x1b[K")
