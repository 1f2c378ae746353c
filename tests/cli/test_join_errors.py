"""join refuses parts that don't belong together, and damaged ones: one line that names the file, and no output."""

import resource
import signal

import numpy as np
import pytest
from tensors import read_safetensors, write_safetensors
from test_parts import GRAPH, extension, make_parts

JOB = ["--num-starts", 10, "--length", 4]


def refused(tendril, names, output, message, code=1):
    """The output that was there before stays, and nothing else is left."""
    tendril.path(output).write_text("the old one")
    before = {path.name for path in tendril.folder.iterdir()}
    done = tendril.try_run("join", *names, "-o", output)
    assert (done.returncode, done.stdout) == (code, ""), done
    assert done.stderr == f"tendril: error: {message}\n"
    assert tendril.path(output).read_text() == "the old one"
    assert {path.name for path in tendril.folder.iterdir()} == before


@pytest.fixture
def parts(tendril, graphs):
    """Makes three parts of a job in a format, whose names begin with `stem`."""
    return lambda form, *more, stem="part": make_parts(
        tendril, graphs[GRAPH], form, [*JOB, *more] if "--length" not in more else [*JOB[:2], *more], 3, stem
    )


@pytest.mark.parametrize("form", ["npy", "safetensors", "txt", "ragged"])
def test_a_missing_file(form, tendril, parts):
    names = parts(form)
    tendril.path(names[1]).unlink()
    refused(tendril, names, f"out.{extension(form)}", f"{names[1]}: cannot open: No such file or directory")


@pytest.mark.parametrize("form", ["npy", "safetensors", "txt", "ragged"])
def test_a_truncated_file(form, tendril, parts):
    names = parts(form)
    content = tendril.bytes(names[1])
    for size in (0, 1, 9, 100, len(content) // 2, len(content) - 1):
        if size >= len(content) or (form == "txt" and content[:size].endswith((b"", b"\n")[size > 0])):
            continue  # of text, a part may be empty, and any line may be the last
        tendril.path(names[1]).write_bytes(content[:size])
        done = tendril.try_run("join", *names, "-o", f"out.{extension(form)}")
        assert done.returncode == 1 and done.stderr.startswith(f"tendril: error: {names[1]}: "), done
        assert done.stderr.count("\n") == 1
        assert not tendril.path(f"out.{extension(form)}").exists()
    if form == "txt":
        message = f"{names[1]}: the last line has no end, expected a complete file"
        refused(tendril, names, "out.txt", message)


def test_what_differs_is_named(tendril, parts):
    first, *_ = parts("npy")
    wide, wrong = parts("npy", "--dtype", "int64", stem="wide"), parts("npy", "--length", 6, stem="long")
    refused(tendril, [first, wide[1]], "out.npy", f"{wide[1]}: walks is int64, expected int32 as in {first}")
    refused(tendril, [first, wrong[1]], "out.npy", f"{wrong[1]}: rows of 7 vertices, expected 5 as in {first}")

    first, *others = parts("safetensors")
    seeds, ragged = parts("safetensors", "--seed", 4, stem="seed"), parts("ragged", stem="ragged")
    out = "out.safetensors"
    refused(tendril, [first, seeds[1]], out, f"{seeds[1]}: seed is '4', expected '0' as in {first}")
    refused(tendril, [first, ragged[1]], out, f"{ragged[1]}: ragged walks, expected rows as in {first}")
    refused(tendril, [ragged[0], others[0]], out, f"{others[0]}: rows, expected ragged walks as in {ragged[0]}")
    refused(tendril, [first, "part-01.npy"], out, "part-01.npy: expected .safetensors, the format of the output")


def test_parts_that_are_missing_twice_or_out_of_order(tendril, parts, graphs):
    a, b, c = parts("safetensors")
    out = "out.safetensors"
    refused(tendril, [a, c], out, f"{c}: part 2/3, expected part 1/3")
    refused(tendril, [a, a, b], out, f"{a}: part 0/3, expected part 1/3")
    refused(tendril, [b, c], out, f"{b}: part 1/3, expected part 0/3")
    refused(tendril, [a, b], out, f"{b}: part 1/3 is the last one given, expected 2/3 after it")
    refused(tendril, [a, b, c, c], out, f"{c}: part 2/3, expected nothing after part 2/3")
    other = make_parts(tendril, graphs[GRAPH], "safetensors", JOB, 4, "other")
    refused(tendril, [a, other[1], c], out, f"{other[1]}: part 1/4, expected part 1/3")
    tendril("walk", graphs[GRAPH], "-o", "whole.safetensors", *JOB, "--quiet")
    refused(tendril, [a, "whole.safetensors"], out, "whole.safetensors: no part of a run, expected part 1/3")
    refused(tendril, ["whole.safetensors", b], out, f"{b}: part 1/3, expected no part of a run")


def test_parts_by_first_walk_follow_each_other(tendril, graphs):
    tendril.path("all.txt").write_text("\n".join(map(str, range(30))))
    tendril("walk", graphs[GRAPH], "-o", "whole.safetensors", "--starts", "all.txt", "--first-walk", 7, "--quiet")
    names = []
    for first in (0, 10, 20):
        tendril.path("some.txt").write_text("\n".join(map(str, range(first, first + 10))))
        names.append(f"from-{first}.safetensors")
        tendril("walk", graphs[GRAPH], "-o", names[-1], "--starts", "some.txt", "--first-walk", 7 + first, "--quiet")
    tendril("join", *names, "-o", "joined.safetensors", "--quiet")
    assert tendril.bytes("joined.safetensors") == tendril.bytes("whole.safetensors")
    refused(tendril, [names[0], names[2]], "out.safetensors", f"{names[2]}: its first walk has id 27, expected 17")


def damage(tendril, name, change):
    """Writes the file again with other arrays or metadata."""
    arrays, metadata = read_safetensors(tendril.path(name))
    arrays = {key: array.copy() for key, array in arrays.items()}
    change(arrays, metadata)
    write_safetensors(tendril.path(name), arrays, metadata)


def put(array, index, value):
    return lambda arrays, metadata: arrays[array].__setitem__(index, value)


HOSTILE = {
    "no offset 0": ("ragged", put("offsets", 0, 1), "offset 0 is 1, expected 0"),
    "an offset that falls": ("ragged", put("offsets", 2, 4), "offset 2 is 4, expected 6 to 15"),
    "an offset below 0": ("ragged", put("offsets", 1, -(2**63)), f"offset 1 is -{2**63}, expected 1 to 15"),
    "an offset beyond the end": ("ragged", put("offsets", 1, 2**62), f"offset 1 is {2**62}, expected 1 to 15"),
    "a last offset too small": ("ragged", put("offsets", -1, 14), "the last offset is 14, expected 15"),
    "no vertices": ("ragged", lambda a, m: a.pop("vertices"), "no array 'vertices', expected a file of walks"),
    "no lengths": ("safetensors", lambda a, m: a.pop("lengths"), "no array 'lengths', expected a file of walks"),
    "one more array": (
        "safetensors",
        lambda a, m: a.update(more=np.zeros(3, np.int32)),
        "3 arrays, expected walks and lengths alone",
    ),
    "floats": (
        "safetensors",
        lambda a, m: a.update(walks=a["walks"].astype(np.float32)),
        "array 'walks' is float32, expected int32 or int64",
    ),
    "fewer lengths": (
        "safetensors",
        lambda a, m: a.update(lengths=a["lengths"][:2]),
        "2 lengths of 3 walks, expected as many",
    ),
    "flat rows": (
        "safetensors",
        lambda a, m: a.update(walks=a["walks"].reshape(-1)),
        "array 'walks' has 1 dimensions, expected 2 as of walks",
    ),
    "a part of words": (
        "safetensors",
        lambda a, m: m.update(part="one"),
        "part: 'one', expected I/N with I from 0 to N - 1",
    ),
    "an id of words": (
        "safetensors",
        lambda a, m: m.update(first_walk="one"),
        "first_walk is 'one', expected a number from 0 on",
    ),
    "no id": (
        "safetensors",
        lambda a, m: m.pop("first_walk"),
        "first_walk is missing, expected it in every part or in none",
    ),
    "no app": (
        "safetensors",
        lambda a, m: m.pop("app"),
        "app is missing, expected 'deepwalk' as in part-00.safetensors",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_safetensors(case, tendril, parts):
    form, change, message = HOSTILE[case]
    names = parts(form)
    damage(tendril, names[1], change)
    refused(tendril, names, "out.safetensors", f"{names[1]}: {message}")


def test_hostile_npy(tendril, parts):
    names = parts("npy")
    content = tendril.bytes(names[1])
    tendril.path(names[1]).write_bytes(content + b"!")
    refused(
        tendril,
        names,
        "out.npy",
        f"{names[1]}: array 'walks': 61 bytes of data, expected 15 elements of 4 bytes in shape (3, 5)",
    )
    np.save(tendril.path(names[1]), np.zeros(5, np.int32))
    refused(tendril, names, "out.npy", f"{names[1]}: array 'walks' has 1 dimensions, expected 2 as of walks")
    np.save(tendril.path(names[1]), np.zeros((3, 5), np.float64))
    refused(tendril, names, "out.npy", f"{names[1]}: array 'walks' is float64, expected int32 or int64")


@pytest.mark.parametrize("byte", [b"-", b"\0", b"\r", b"\xff", b"x"])
def test_hostile_text(byte, tendril, parts):
    names = parts("txt")
    content = tendril.bytes(names[1])
    tendril.path(names[1]).write_bytes(content[:7] + byte + content[8:])
    message = f"{names[1]}: byte 7: 0x{byte[0]:02x}, expected digits, spaces and ends of lines"
    refused(tendril, names, "out.txt", message)


def test_wrong_usage(tendril, parts):
    names = parts("txt")
    for arguments, message in (
        (["-o", "out.txt"], "FILE is required (try 'tendril join --help')"),
        (
            [*names, "-o", "out.bin"],
            "out.bin: unknown extension, expected .npy, .safetensors or .txt, or - for text on standard output",
        ),
        ([*names, "-o", "-"], "-: standard output, expected a file"),
    ):
        done = tendril.try_run("join", *arguments)
        assert (done.returncode, done.stderr) == (2, f"tendril: error: {message}\n")


def test_a_full_disk_leaves_nothing(tendril, graphs):
    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 14, 1 << 14))

    for form in ("npy", "txt", "ragged"):
        names = make_parts(tendril, graphs[GRAPH], form, ["--walks", 1], 3)
        before = {path.name for path in tendril.folder.iterdir()}
        done = tendril.try_run("join", *names, "-o", f"out.{extension(form)}", preexec_fn=small_files)
        assert done.returncode == 1 and done.stderr.startswith(f"tendril: error: out.{extension(form)}: cannot write: ")
        assert {path.name for path in tendril.folder.iterdir()} == before
