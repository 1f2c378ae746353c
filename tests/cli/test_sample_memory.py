"""`tendril sample --memory`: trees in the order of a file that memory does not hold, with the bytes of the other way."""

import json

import pytest


@pytest.fixture(scope="module")
def forms(tmp_path_factory):
    """A graph with weights, in CSR form and compressed."""
    from tendril_command import Tendril

    command = Tendril(tmp_path_factory.mktemp("forms"))
    command("generate", "rmat", "csr.safetensors", "--scale", 14, "--weights", "1,5", "--seed", 3, "--quiet")
    command("convert", "csr.safetensors", "auto.safetensors", "--compress", "auto", "--quiet")
    return command


@pytest.mark.parametrize("form", ["csr", "auto"])
@pytest.mark.parametrize(
    "options",
    [[], ["--edges", "--first-root", 5], ["--weighted"], ["--weighted", "--replace"], ["--num-seeds", 3]],
    ids=lambda options: " ".join(map(str, options)) or "plain",
)
def test_the_bytes_are_those_of_the_other_way(forms, form, options):
    arguments = ["sample", f"{form}.safetensors", "--fanouts", "5,3", "--seed", 9, *options]
    forms(*arguments, "-o", "whole.npz", "--quiet")
    for memory in ("400K", "3M"):
        forms(*arguments, "-o", "parts.npz", "--memory", memory, "--quiet")
        assert forms.bytes("parts.npz") == forms.bytes("whole.npz")


def test_a_batch_reads_the_file_once_a_hop(forms):
    arguments = ["sample", "csr.safetensors", "-o", "t.npz", "--fanouts", "5,3"]
    told = json.loads(forms(*arguments, "--memory", "64M", "--json"))
    size = forms.path("csr.safetensors").stat().st_size
    assert size < told["read_bytes"] < 2.2 * size
    assert "read_bytes" not in json.loads(forms(*arguments, "--json"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--memory", "much"], "--memory: 'much', expected bytes as in 500000, 64M or 1.5G"),
        (["--memory", "8M", "--device", "cuda"], "--memory: --device is cuda, expected cpu"),
        (["--memory", "8M", "--fanouts", "5,-1"], "--memory: --fanouts has -1, expected numbers of neighbours"),
        (["--memory", "8M", "--app", "minibatch"], "--memory: --app is minibatch, expected khop"),
    ],
    ids=str,
)
def test_what_it_cannot_do_is_one_line(forms, options, message):
    run = forms.try_run("sample", "csr.safetensors", "-o", "none.npz", *options)
    assert run.returncode != 0
    assert message in run.stderr
    assert run.stderr.count("\n") == 1
    assert not forms.path("none.npz").exists()
