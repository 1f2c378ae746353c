"""Packed graphs on the command line: every application writes the bytes that it writes for the graph in CSR form, on the
CPU and on a GPU; files of either form turn into the other; whatever a packed file holds, it is a result or one line."""

import json
import re

import numpy as np
import pytest
import test_gpu
import test_gpu_minibatch
import test_gpu_sample_apps
from tensors import write_safetensors
from test_corrupt_files import VERBS, leftovers
from test_gpu import gpu  # noqa: F401 (a fixture)
from test_sample_apps import JOBS, PAIRS, QUIET, compiled_once, has_metis  # noqa: F401 (a fixture)

SEEDS = ["--num-seeds", 300]
WALKS = {f"walk {name}": ["walk", "-o", name, *options] for name, options in test_gpu.JOBS.items()}
TREES = {f"khop {name}": ["sample", "-o", name, *options] for name, options in test_gpu.TREES.items()}
BATCHES = {
    f"minibatch, {name}": ["sample", "-o", "m.npz", "--app", "minibatch", "--batch-size", 100, *SEEDS, *options]
    for name, options in test_gpu_minibatch.JOBS.items()
}
CATALOGUE = {app: ["sample", "-o", "s.safetensors", "--app", app, *options] for app, options in JOBS.items()}
MORE = {
    name: ["sample", "-o", "s.safetensors", "--app", *options] for name, options in test_gpu_sample_apps.MORE.items()
}
OWN = {
    "own, hops": ["sample", "-o", "own.safetensors", "--app-source", "quiet.txt", *SEEDS],
    "own, edges": ["sample", "-o", "own.safetensors", "--app-source", "pairs.txt", *SEEDS],
}
METIS = {"cluster, metis": ["sample", "-o", "s.npz", "--app", "cluster", "--partition", "metis", "--clusters", 20]}
EVERYTHING = WALKS | TREES | BATCHES | CATALOGUE | MORE | OWN | METIS


@pytest.fixture(scope="session")
def forms(graphs, tmp_path_factory):
    """The skewed graph in both forms."""
    from tendril_command import Tendril

    command = Tendril(tmp_path_factory.mktemp("forms"))
    command("convert", graphs["skewed.safetensors"], "packed.safetensors", "--compress", "packed", "--quiet")
    return {"csr": graphs["skewed.safetensors"], "packed": command.path("packed.safetensors")}


@pytest.fixture
def inputs(tendril):
    np.save(tendril.path("norms.npy"), np.random.default_rng(1).random(1024))
    tendril.path("quiet.txt").write_text(QUIET)
    tendril.path("pairs.txt").write_text(PAIRS)


def output_of(tendril, job, graph, *more):
    verb, _, name, *options = job
    tendril(verb, graph, "-o", name, *options, "--seed", 6, "--quiet", *more)
    return tendril.bytes(name)


@pytest.mark.parametrize("job", EVERYTHING)
def test_every_application_writes_the_same_bytes(job, tendril, forms, inputs):
    if job in METIS and not has_metis():
        pytest.skip("no libmetis5")
    expected = output_of(tendril, EVERYTHING[job], forms["csr"])
    assert output_of(tendril, EVERYTHING[job], forms["packed"]) == expected
    assert output_of(tendril, EVERYTHING[job], forms["packed"], "--threads", 3) == expected


@pytest.mark.parametrize("job", EVERYTHING)
def test_every_application_writes_the_same_bytes_on_a_gpu(job, gpu, tendril, forms, inputs):  # noqa: F811
    if job in METIS and not has_metis():
        pytest.skip("no libmetis5")
    expected = output_of(tendril, EVERYTHING[job], forms["csr"])
    assert output_of(tendril, EVERYTHING[job], forms["packed"], "--device", "cuda:0") == expected


@pytest.mark.parametrize("verb", ["walk", "sample"])
def test_no_application_is_left_out(verb, tendril):
    text = " ".join(tendril(verb, "--help").split())
    listed = re.search(r"--app APP (.*?) \[", text).group(1)
    apps = set(re.findall(r"[a-z][a-z0-9-]+", re.sub(r"\([^)]*\)", "", listed))) - {"or"}
    default = {"walk": "deepwalk", "sample": "khop"}[verb]
    swept = {
        job[job.index("--app") + 1] if "--app" in job else default for job in EVERYTHING.values() if job[0] == verb
    }
    assert len(apps) >= 6 and swept >= apps


@pytest.mark.parametrize("app", ["deepwalk", "node2vec", "khop", "layer", "ladies", "shadow", "saint-edge"])
def test_plans_do_not_depend_on_the_form(app, tendril, forms):
    plans = [json.loads(tendril("plan", forms[form], "--app", app, "--json"))["plan"] for form in ("csr", "packed")]
    for plan in plans:
        plan.pop("table_bytes_built", None)
    assert plans[0] == plans[1]


def test_the_way_there_and_back(tendril, forms):
    for back in ("none", "csr"):
        tendril("convert", forms["packed"], "back.safetensors", "--compress", back, "--quiet")
        assert tendril.bytes("back.safetensors") == forms["csr"].read_bytes()
    tendril("convert", forms["packed"], "again.safetensors", "--quiet")  # as it is
    assert tendril.bytes("again.safetensors") == forms["packed"].read_bytes()
    for threads in (1, 3):
        tendril("convert", forms["csr"], "p.safetensors", "--compress", "packed", "--threads", threads, "--quiet")
        assert tendril.bytes("p.safetensors") == forms["packed"].read_bytes()


@pytest.mark.parametrize("name", ["o.txt", "o.csv", "o.npz", "o.mtx", "o.wsg", "o.metis"])
def test_other_formats_are_the_same_files(name, tendril):
    lines = [f"{v},{(v * 7 + 1) % 100},{v % 5 + 1}" for v in range(100)]
    tendril.path("g.csv").write_text("\n".join(["source,target,weight", *lines, ""]))
    tendril("convert", "g.csv", "g.safetensors", "--symmetrize", "--dedup", "--quiet")
    tendril("convert", "g.safetensors", "p.safetensors", "--compress", "packed", "--quiet")
    written = []
    for graph in ("g.safetensors", "p.safetensors"):
        tendril("convert", graph, name, "--quiet")
        written.append(tendril.bytes(name))
    assert written[0] == written[1]


def test_building_steps_take_packed_graphs(tendril, forms):
    for form in ("csr", "packed"):
        tendril("convert", forms[form], f"{form}.safetensors", "--symmetrize", "--dedup", "--quiet")
        tendril("convert", forms[form], f"{form}2.safetensors", "--reverse", "--compress", "packed", "--quiet")
    assert tendril.bytes("packed.safetensors") == tendril.bytes("csr.safetensors"), "a built graph is in CSR form"
    assert tendril.bytes("packed2.safetensors") == tendril.bytes("csr2.safetensors")
    assert json.loads(tendril("info", "packed2.safetensors", "--json"))["form"] == "packed"


def test_info(tendril, forms):
    told = {form: json.loads(tendril("info", forms[form], "--json", "--validate")) for form in forms}
    vertices, edges = told["csr"]["num_vertices"], told["csr"]["num_edges"]
    assert told["csr"]["form"] == "csr" and told["packed"]["form"] == "packed"
    assert told["csr"]["bits_per_edge"] == pytest.approx(32 + 64 * (vertices + 1) / edges)
    other = {"path", "form", "bits_per_edge", "bytes", "file_bytes"}
    assert {k: v for k, v in told["packed"].items() if k not in other} == {
        k: v for k, v in told["csr"].items() if k not in other
    }
    # 32 bits less what words save, and a record a vertex: in bytes, what the graph takes in memory.
    saved = (told["csr"]["bits_per_edge"] - told["packed"]["bits_per_edge"]) * edges / 8
    assert saved == pytest.approx(told["csr"]["bytes"] - told["packed"]["bytes"])
    assert re.search(r"^form +packed, \d+\.\d bits an edge$", tendril("info", forms["packed"]), re.MULTILINE)
    tendril("generate", "er", "none.safetensors", "--vertices", 5, "--edge-factor", 0, "--quiet")
    tendril("convert", "none.safetensors", "bare.safetensors", "--compress", "packed", "--quiet")
    assert json.loads(tendril("info", "bare.safetensors", "--json"))["bits_per_edge"] == 0


def test_convert_tells_the_form(tendril, forms):
    done = json.loads(tendril("convert", forms["csr"], "p.safetensors", "--compress", "packed", "--json"))
    assert done["form"] == "packed" and 0 < done["bits_per_edge"] < 64


@pytest.mark.parametrize("output", [["o.npz"], ["o.txt"], ["o.safetensors", "--to", "npz"], ["o.dat", "--to", "gap"]])
def test_only_native_files_hold_packed_graphs(output, tendril, graphs):
    done = tendril.try_run("convert", graphs["line.txt"], *output, "--compress", "packed")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"tendril: error: --compress: packed neighbours in {output[0]}, expected a .safetensors file as OUT\n"
    )
    assert leftovers(tendril) == []
    tendril("convert", graphs["line.txt"], *output, "--compress", "none", "--quiet")


def test_other_forms_are_refused(tendril, forms):
    done = tendril.try_run("convert", forms["csr"], "o.safetensors", "--compress", "zip")
    assert (done.returncode, done.stderr) == (
        2,
        "tendril: error: --compress: 'zip', expected packed, none or csr (try 'tendril convert --help')\n",
    )


# What is wrong in a file of two vertices, 0 -> 0, 0 -> 1 and 1 -> 1, and the line that says so.
GOOD = {
    "packed_records": [[1, 0, 2, 0], [2 << 6, 0, 1, 1]],
    "indptr": [0, 2, 3],
    "packed_words": [2, 0],
    "weights": [1, 2, 3],
}
CORRUPT = {
    "a record that points elsewhere": (
        {"packed_records": [[1, 1 << 20, 2, 0], [2 << 6, 0, 1, 1]]},
        f"vertex 0: packed neighbours end at bit {(1 << 46) + 2}, expected a bit below 32",
    ),
    "a record at the end": (
        {"packed_records": [[1, 0, 2, 0], [32 << 6, 0, 1, 1]]},
        "vertex 1: packed neighbours end at bit 32, expected a bit below 32",
    ),
    "a width that is none": (
        {"packed_records": [[63, 0, 2, 0], [2 << 6, 0, 1, 1]]},
        "vertex 0: packed neighbours of 63 bits, expected at most 32",
    ),
    "another degree": (
        {"packed_records": [[1, 0, 1, 0], [2 << 6, 0, 1, 1]]},
        "vertex 0: a record of 1 packed neighbours, expected one an edge: 2",
    ),
    "no vertex": (
        {"packed_records": [[1, 0, 2, 0], [2 << 6, 0, 1, 9]]},
        "vertex 1: neighbour 9 at edge 2, expected an id below 2",
    ),
    "a sum of 33 bits": (
        {"packed_records": [[32, 0, 2, 1], [96 << 6, 0, 1, 1]], "packed_words": [0, 0xFFFFFFFF, 0, 0, 0]},
        "vertex 0: neighbour 4294967296 at edge 1, expected an id below 2",
    ),
    "offsets that fall": (
        {"indptr": [0, 5, 3]},
        "vertex 1: its edges end at 3 but begin at 5, expected an indptr that never decreases",
    ),
    "no order": (
        {"packed_words": [1, 0]},
        "vertex 0: first packed neighbour 1, expected 0 as its record says",
    ),
    "a negative weight": ({"weights": [1, 2, -3]}, "vertex 1: weight -3 at edge 2, expected a finite number >= 0"),
    "too many edges": (
        {"indptr": [0, 2, 1 << 50]},
        f"{1 << 50} packed neighbours in {{}} bytes, expected 0 to 256 a byte",
    ),
    "a record for each of three": (
        {"packed_records": [[1, 0, 2, 0]] * 3},
        "array 'packed_records': shape (3, 4), expected (2, 4): one record a vertex",
    ),
    "both forms": ({"indices": [0, 1, 1]}, "both 'indices' and packed neighbours, expected one of them"),
    "no words": (
        {"packed_words": None},
        "no tensor 'packed_words', expected a packed graph's indptr, packed_records and packed_words",
    ),
}


def write_packed(path, changes, cut=0, metadata=()):
    types = {"indptr": np.int64, "weights": np.float32}
    arrays = {name: values for name, values in (GOOD | changes).items() if values is not None}
    write_safetensors(
        path,
        {name: np.array(values).astype(types.get(name, np.uint32)) for name, values in arrays.items()},
        {"format": "tendril-graph", "version": "2", "form": "packed", **dict(metadata)},
        cut,
    )


def test_the_good_file_is_good(tendril):
    write_packed(tendril.path("g.safetensors"), {})
    info = json.loads(tendril("info", "g.safetensors", "--json", "--validate"))
    assert (info["form"], info["num_edges"], info["self_loops"]) == ("packed", 3, 2)
    tendril("convert", "g.safetensors", "o.csv", "--quiet")
    assert tendril.path("o.csv").read_text() == "source,target,weight\n0,0,1\n0,1,2\n1,1,3\n"


@pytest.mark.parametrize("what", CORRUPT)
@pytest.mark.parametrize("verb", [verb for verb in VERBS if "metapath" not in verb], ids=" ".join)
def test_a_corrupt_file_is_one_line(verb, what, tendril):
    changes, message = CORRUPT[what]
    path = tendril.path("g.safetensors")
    write_packed(path, changes)
    done = tendril.try_run(verb[0], "g.safetensors", *verb[1:])
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"tendril: error: g.safetensors: {message.format(path.stat().st_size)}\n"
    assert leftovers(tendril) == []


@pytest.mark.parametrize("cut", [1, 3, 20, 60])
def test_a_file_that_was_cut_off_is_one_line(cut, tendril):
    write_packed(tendril.path("g.safetensors"), {}, cut=cut)
    done = tendril.try_run("walk", "g.safetensors", "-o", "w.npy")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("tendril: error: g.safetensors: tensor ") and done.stderr.count("\n") == 1
    assert leftovers(tendril) == []


def test_another_version_or_form_is_one_line(tendril):
    for metadata, message in (
        ({"version": "3"}, "tendril-graph version '3', expected 1 or 2"),
        ({"form": "zipped"}, "metadata 'form': 'zipped', expected 'packed' in version 2"),
    ):
        write_packed(tendril.path("g.safetensors"), {}, metadata=metadata.items())
        done = tendril.try_run("info", "g.safetensors")
        assert (done.returncode, done.stderr) == (1, f"tendril: error: g.safetensors: {message}\n")
