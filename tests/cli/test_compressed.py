"""Compressed graphs on the command line: every application writes the bytes that it writes for the graph in CSR form, on
the CPU and on a GPU; files of any form turn into any other."""

import json
import re

import numpy as np
import pytest
import test_gpu
import test_gpu_minibatch
import test_gpu_sample_apps
from test_corrupt_files import leftovers
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


FORMS = ["packed", "runs", "ef", "vbyte", "auto"]


@pytest.fixture(scope="session")
def forms(graphs, tmp_path_factory):
    """The skewed graph in every form."""
    from tendril_command import Tendril

    command = Tendril(tmp_path_factory.mktemp("forms"))
    for form in FORMS:
        command("convert", graphs["skewed.safetensors"], f"{form}.safetensors", "--compress", form, "--quiet")
    return {"csr": graphs["skewed.safetensors"]} | {form: command.path(f"{form}.safetensors") for form in FORMS}


@pytest.fixture(scope="session")
def stars(tmp_path_factory):
    """A star in every form: one list is so long that it has parts, and its block of the directory is a wide one."""
    from tendril_command import Tendril

    command = Tendril(tmp_path_factory.mktemp("stars"))
    command("generate", "star", "csr.safetensors", "--vertices", 400_000, "--weights", "1,5", "--quiet")
    for form in FORMS:
        command("convert", "csr.safetensors", f"{form}.safetensors", "--compress", form, "--quiet")
    return {form: command.path(f"{form}.safetensors") for form in ("csr", *FORMS)}


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
    assert output_of(tendril, EVERYTHING[job], forms["auto"]) == expected
    assert output_of(tendril, EVERYTHING[job], forms["vbyte"], "--threads", 3) == expected


@pytest.mark.parametrize("job", EVERYTHING)
def test_every_application_writes_the_same_bytes_on_a_gpu(job, gpu, tendril, forms, inputs):  # noqa: F811
    if job in METIS and not has_metis():
        pytest.skip("no libmetis5")
    expected = output_of(tendril, EVERYTHING[job], forms["csr"])
    for form in ("auto", "vbyte"):
        assert output_of(tendril, EVERYTHING[job], forms[form], "--device", "cuda:0") == expected


LIMITED = [name for name, job in (WALKS | TREES | BATCHES).items() if "multidim" not in job]


@pytest.mark.parametrize("job", LIMITED)
def test_no_limit_of_tables_changes_a_byte(job, tendril, forms):
    expected = output_of(tendril, EVERYTHING[job], forms["csr"])
    for form, limit in (("csr", 0), ("csr", "100K"), ("auto", 0), ("auto", "1G")):
        assert output_of(tendril, EVERYTHING[job], forms[form], "--table-bytes", limit) == expected


@pytest.mark.parametrize("job", LIMITED)
def test_no_limit_of_tables_changes_a_byte_on_a_gpu(job, gpu, tendril, forms):  # noqa: F811
    expected = output_of(tendril, EVERYTHING[job], forms["csr"])
    for form in ("csr", "auto"):
        made = output_of(tendril, EVERYTHING[job], forms[form], "--table-bytes", 0, "--device", "cuda:0")
        assert made == expected


def test_plans_of_mini_batches_say_what_is_taken(tendril, forms):
    def plan(form, *options):
        return json.loads(tendril("plan", forms[form], "--app", "minibatch", "--json", *options))["plan"]

    edges = json.loads(tendril("info", forms["csr"], "--json"))["num_edges"]
    drawn = ["--weighted", "--replace"]
    assert plan("csr", *drawn)["table_bytes"] == 16 * edges
    sums = plan("auto", *drawn)
    assert sums["weight_sums"] and 0 < sums["table_bytes"] < 8 * edges and sums["table_bytes_refused"] == 16 * edges
    assert plan("auto", *drawn, "--table-bytes", 0)["table_bytes"] == 0
    assert plan("csr", "--weighted")["rule"] == "scan" and plan("csr", "--weighted")["table_bytes"] == 0
    assert plan("csr")["rule"] == plan("csr", "--choice", "labor")["rule"] == "uniform"


LONG_LISTS = {
    "walk": ["walk", "-o", "w.npy", "--length", 9, "--num-starts", 2000],
    "node2vec": ["walk", "-o", "w.npy", "--app", "node2vec", "--p", 2, "--weighted", "--length", 9, "--num-starts", 500],
    "khop": ["sample", "-o", "s.npz", "--app", "khop", "--fanouts", "5,3", "--num-seeds", 500],
    "minibatch": ["sample", "-o", "s.npz", "--app", "minibatch", "--fanouts", "5,3", "--weighted", "--num-seeds", 500],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("job", LONG_LISTS)
def test_long_lists_give_the_same_bytes(job, form, tendril, stars):
    expected = output_of(tendril, LONG_LISTS[job], stars["csr"])
    assert output_of(tendril, LONG_LISTS[job], stars[form]) == expected


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("job", LONG_LISTS)
def test_long_lists_give_the_same_bytes_on_a_gpu(job, form, gpu, tendril, stars):  # noqa: F811
    expected = output_of(tendril, LONG_LISTS[job], stars["csr"])
    assert output_of(tendril, LONG_LISTS[job], stars[form], "--device", "cuda:0") == expected


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
    plans = [json.loads(tendril("plan", forms[form], "--app", app, "--json"))["plan"] for form in ("csr", "auto", "ef")]
    for plan in plans:
        plan.pop("table_bytes_built", None)
    assert plans[0] == plans[1] == plans[2]


@pytest.mark.parametrize("form", FORMS)
def test_the_way_there_and_back(form, tendril, forms, stars):
    for of in (forms, stars):
        for back in ("none", "csr"):
            tendril("convert", of[form], "back.safetensors", "--compress", back, "--quiet")
            assert tendril.bytes("back.safetensors") == of["csr"].read_bytes()
        tendril("convert", of[form], "again.safetensors", "--quiet")  # as it is
        assert tendril.bytes("again.safetensors") == of[form].read_bytes()
        for source, threads in (("csr", 1), ("csr", 3), ("vbyte", 2), ("auto", 2)):
            tendril("convert", of[source], "p.safetensors", "--compress", form, "--threads", threads, "--quiet")
            assert tendril.bytes("p.safetensors") == of[form].read_bytes(), f"from {source}"


@pytest.mark.parametrize("name", ["o.txt", "o.csv", "o.npz", "o.mtx", "o.wsg", "o.metis"])
def test_other_formats_are_the_same_files(name, tendril):
    lines = [f"{v},{(v * 7 + 1) % 100},{v % 5 + 1}" for v in range(100)]
    tendril.path("g.csv").write_text("\n".join(["source,target,weight", *lines, ""]))
    tendril("convert", "g.csv", "g.safetensors", "--symmetrize", "--drop-duplicates", "--quiet")
    written = []
    for form in ("csr", "auto", "vbyte"):
        tendril("convert", "g.safetensors", "p.safetensors", "--compress", form, "--quiet")
        tendril("convert", "p.safetensors", name, "--quiet")
        written.append(tendril.bytes(name))
    assert written[0] == written[1] == written[2]


def test_building_steps_take_compressed_graphs(tendril, forms):
    for form in ("csr", "auto"):
        tendril("convert", forms[form], f"{form}.safetensors", "--symmetrize", "--drop-duplicates", "--quiet")
        tendril("convert", forms[form], f"{form}2.safetensors", "--reverse", "--compress", "ef", "--quiet")
    assert tendril.bytes("auto.safetensors") == tendril.bytes("csr.safetensors"), "a built graph is in CSR form"
    assert tendril.bytes("auto2.safetensors") == tendril.bytes("csr2.safetensors")
    assert json.loads(tendril("info", "auto2.safetensors", "--json"))["form"] == "ef"


def test_info(tendril, forms):
    told = {form: json.loads(tendril("info", forms[form], "--json", "--validate")) for form in forms}
    plain = told.pop("csr")
    vertices, edges = plain["num_vertices"], plain["num_edges"]
    assert plain["form"] == "csr"
    assert plain["bits_per_edge"] == pytest.approx(32 + 64 * (vertices + 1) / edges)
    other = {"path", "bytes", "file_bytes", "form", "forms", "bits_per_edge"}
    other |= {"csr_bits_per_edge", "directory_bits_per_vertex", "edge_arrays"}

    def all_bits(facts):  # of an edge: its target, weight and label
        return facts["bits_per_edge"] + sum(array["bits_per_edge"] for array in facts["edge_arrays"].values())

    for form, facts in told.items():
        assert facts["form"] == form
        assert facts["edge_arrays"]["edge_labels"]["form"] == "narrow"
        assert {k: v for k, v in facts.items() if k not in other} == {k: v for k, v in plain.items() if k not in other}
        saved = (all_bits(plain) - all_bits(facts)) * edges / 8
        assert 0 < saved == pytest.approx(plain["bytes"] - facts["bytes"])
        text = tendril("info", forms[form])
        assert re.search(rf"^form +{form}, {facts['bits_per_edge']:.1f} bits an edge$", text, re.MULTILINE)
    bits = {form: facts["bits_per_edge"] for form, facts in told.items()}
    assert bits["auto"] <= min(bits["packed"], bits["runs"], bits["ef"])
    tendril("generate", "er", "none.safetensors", "--vertices", 5, "--edge-factor", 0, "--quiet")
    tendril("convert", "none.safetensors", "bare.safetensors", "--compress", "auto", "--quiet")
    assert json.loads(tendril("info", "bare.safetensors", "--json"))["bits_per_edge"] == 0


@pytest.mark.parametrize("form", FORMS)
def test_convert_tells_the_form(form, tendril, forms):
    done = json.loads(tendril("convert", forms["csr"], "p.safetensors", "--compress", form, "--json"))
    info = json.loads(tendril("info", "p.safetensors", "--json"))
    assert (done["form"], done["bits_per_edge"]) == (form, info["bits_per_edge"])


@pytest.mark.parametrize("output", [["o.npz"], ["o.txt"], ["o.safetensors", "--to", "npz"], ["o.dat", "--to", "gap"]])
def test_only_native_files_hold_compressed_graphs(output, tendril, graphs):
    for form in FORMS:
        done = tendril.try_run("convert", graphs["line.txt"], *output, "--compress", form)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            f"tendril: error: --compress: compressed neighbours in {output[0]}, expected a .safetensors file as OUT\n"
        )
    assert leftovers(tendril) == []
    tendril("convert", graphs["line.txt"], *output, "--compress", "none", "--quiet")


def test_other_forms_are_refused(tendril, forms):
    done = tendril.try_run("convert", forms["csr"], "o.safetensors", "--compress", "zip")
    assert (done.returncode, done.stderr) == (
        2,
        "tendril: error: --compress: 'zip', expected auto, packed, runs, ef, vbyte, none or csr "
        "(try 'tendril convert --help')\n",
    )


@pytest.mark.parametrize("kind", ["web", "rmat", "ring"])
def test_generated_graphs_are_compressed(kind, tendril):
    size = ["--scale", 10]
    tendril("generate", kind, "g.safetensors", *size)
    for form in FORMS:
        tendril("generate", kind, "direct.safetensors", *size, "--compress", form)
        tendril("convert", "g.safetensors", "converted.safetensors", "--compress", form)
        assert tendril.path("direct.safetensors").read_bytes() == tendril.path("converted.safetensors").read_bytes()
