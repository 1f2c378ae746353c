"""Where the time of an epoch goes: sums of stages, a Chrome trace, a picture."""

from __future__ import annotations

import itertools
import json
from xml.etree import ElementTree

import pytest
from pyg_checks import homogeneous

import tendril._timeline
from tendril.pyg import GraphSAINTEdgeSampler, NeighborLoader, ShaDowKHopSampler


@pytest.fixture
def ticks(monkeypatch):
    """A clock that goes on by a millisecond whenever it is read."""
    clock = itertools.count(0, 1_000_000)
    monkeypatch.setattr(tendril._timeline, "perf_counter_ns", lambda: next(clock))


def loader(**options):
    return NeighborLoader(homogeneous(), [3, 2], **{"batch_size": 10, "prefetch": 0, "bulk": 4, **options})


def test_stages_add_up(ticks):
    """Each group of 4, 4 and 2 batches is sampled at once, in the wait for its first batch."""
    made = loader()
    for batch in made:
        assert batch.batch_size == 10
    found = made.stats()
    assert (found.epoch, found.batches) == (0, 10)
    # A span that nothing interrupts takes one tick. A wait has a gathering in it (2 ticks more), or also a sampling (4).
    assert found.sample == pytest.approx(3e-3) and found.gather == pytest.approx(10e-3)
    assert found.train == pytest.approx(10e-3) and found.transform == 0
    assert found.wait == pytest.approx(1e-3 * (10 + 2 * 10 + 2 * 3 + 1))  # and the wait that finds the end
    assert found.seconds == pytest.approx(found.wait + found.train)
    assert str(found).splitlines() == [
        "epoch 0: 10 batches in 0.047 s",
        "  sample         0.300 ms a batch    6.4%  making batches",
        "  gather         1.000 ms a batch   21.3%  making batches",
        "  wait           3.700 ms a batch   78.7%  loop",
        "  train          1.000 ms a batch   21.3%  loop",
    ]


def test_functions_of_the_user_are_told_apart(ticks):
    for options in ({"transform": lambda batch: batch}, {"transform_sampler_output": lambda out: out}):
        made = loader(**options)
        assert len(list(made)) == 10
        assert made.stats().transform == pytest.approx(10e-3)
        assert "  transform      1.000 ms a batch" in str(made.stats()) and "within wait" in str(made.stats())


def test_an_iteration_at_work_and_one_left_early(ticks):
    made = loader()
    assert str(made.stats()).startswith("epoch 0: 0 batches in 0 s\n")
    list(made)
    for i, _ in enumerate(made):
        during = made.stats()  # reads the clock, once
        assert (during.epoch, during.batches) == (1, i + 1) and during.train == pytest.approx(1e-3 * (1 + 2 * i))
        if i == 2:
            break
    assert made.stats().train == pytest.approx(1e-3 * 6) and made.stats().batches == 3


def test_other_loaders_tell_it_too():
    data = homogeneous()
    for made, with_gather in (
        (loader(prefetch=3), True),
        (ShaDowKHopSampler(data, 1, 2, batch_size=30), False),
        (GraphSAINTEdgeSampler(data, batch_size=9, num_steps=11), True),
    ):
        count = len(list(made))
        found = made.stats()
        assert found.batches == count == len(made) and found.sample > 0 and (found.gather > 0) == with_gather


def test_a_chrome_trace(tmp_path):
    made = loader(prefetch=2)
    for _ in range(2):
        list(made)
    path = tmp_path / "trace.json"
    made.write_timeline(path, last=100)
    told = json.loads(path.read_text())["traceEvents"]
    assert {event["args"]["name"] for event in told if event["ph"] == "M"} == {"sampling", "gathering", "the loop"}
    spans = [event for event in told if event["ph"] == "X"]
    by_stage = {}
    for span in spans:
        by_stage.setdefault(span["name"], []).append((span["args"]["batch"], span["args"]["batches"]))
        assert span["tid"] == {"sample": 2, "gather": 3}.get(span["name"], 1) and span["dur"] > 0
    assert by_stage == {
        "sample": [(0, 4), (4, 4), (8, 2)],
        "gather": [(i, 1) for i in range(10)],
        "wait": [(i, 1) for i in range(11)],
        "train": [(i, 1) for i in range(10)],
    }
    for thread in (1, 2, 3):
        own = sorted((span["ts"], span["ts"] + span["dur"]) for span in spans if span["tid"] == thread)
        assert all(one[1] <= other[0] + 1e-3 for one, other in itertools.pairwise(own))  # nothing at the same time
    assert [path.name for path in tmp_path.iterdir()] == ["trace.json"]


def test_a_picture_of_the_last_batches(tmp_path):
    made = loader(transform=lambda batch: batch)
    list(made)
    path = tmp_path / "picture.svg"
    made.write_timeline(path, last=3)
    picture = ElementTree.fromstring(path.read_text())
    texts = [one.text for one in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert "Epoch 0, batches 7 to 9" in texts and "milliseconds" in texts
    told = [one.text for one in picture.iter("{http://www.w3.org/2000/svg}title")][1:]
    assert [one.split(":")[0] for one in told if one.startswith("train")] == [f"train, batch {i}" for i in (7, 8, 9)]
    assert any(one.startswith("sample, 2 batches from 8: ") for one in told)
    for one in picture.iter("{http://www.w3.org/2000/svg}rect"):
        if one.get("class") != "page":
            assert 0 <= float(one.get("x")) and float(one.get("x")) + float(one.get("width")) <= 940.5


def test_a_picture_of_nothing(tmp_path):
    loader().write_timeline(tmp_path / "a.svg")
    loader().write_timeline(tmp_path / "a.json")
    assert "no batches" in (tmp_path / "a.svg").read_text()
    assert json.loads((tmp_path / "a.json").read_text())["displayTimeUnit"] == "ms"


def test_what_is_kept_is_bounded(monkeypatch, tmp_path):
    monkeypatch.setattr(tendril._timeline, "_MOST", 8)
    made = loader(batch_size=1)
    list(made)
    assert made.stats().batches == 100 and made.stats().gather > 0
    made.write_timeline(tmp_path / "a.json", last=1000)
    assert len(json.loads((tmp_path / "a.json").read_text())["traceEvents"]) <= 3 + 8


def test_what_cannot_be_written(tmp_path):
    made = loader()
    list(made)
    for path, last, message in (
        ("a.png", 5, "a.png', expected a file with the extension .json or .svg"),
        ("a.svg", 0, "last is 0, expected 1 or more batches"),
        ("a.svg", "3", "last"),
    ):
        with pytest.raises(ValueError, match=message):
            made.write_timeline(tmp_path / path, last)
    with pytest.raises(FileNotFoundError):
        made.write_timeline(tmp_path / "none" / "a.svg")
    assert list(tmp_path.iterdir()) == []
