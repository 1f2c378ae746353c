"""The summary tells reading, planning, sampling and writing apart, for people and as JSON."""

import json
import re

import pytest

ENRON = "data/email-enron.npz"
PARTS = ["read_seconds", "plan_seconds", "sample_seconds", "write_seconds"]
JOBS = {
    "walk": ["walk", ENRON, "-o", "out.npy", "--walks", 1],
    "multidim": ["walk", ENRON, "-o", "out.npy", "--app", "multidim"],
    "khop": ["sample", ENRON, "-o", "out.npz", "--num-seeds", 500],
    "all neighbours": ["sample", ENRON, "-o", "out.npz", "--num-seeds", 50, "--fanouts=-1,2"],
    "minibatch": ["sample", ENRON, "-o", "out.npz", "--app", "minibatch", "--num-seeds", 500],
    "ladies": ["sample", ENRON, "-o", "out.npz", "--app", "ladies", "--num-seeds", 500],
}


@pytest.mark.parametrize("job", JOBS)
def test_four_parts_that_are_no_more_than_the_whole(job, tendril):
    told = json.loads(tendril(*JOBS[job], "--json"))
    seconds = [told[part] for part in PARTS]
    assert all(part > 0 for part in seconds), seconds
    assert all(part <= told["seconds"] for part in seconds), told
    # Only writing goes on beside another part.
    assert sum(seconds[:3]) <= told["seconds"] * (1 + 1e-9), told


@pytest.mark.parametrize("job", JOBS)
def test_the_line_names_the_parts_and_the_rate_its_own(job, tendril):
    text = tendril(*JOBS[job])
    doing = "walking" if JOBS[job][0] == "walk" else "sampling"
    time = r"\d[\d.:]*(?: \w+)?"
    assert re.search(rf"^time    reading {time}, planning[\w ]* {time}, {doing}[\w ]* {time}, writing {time}$", text, re.M), text
    rate = re.search(rf"in ({time}) of {doing}: [\d.]+(?: \w)? (steps|edges|samples)/s$", text, re.M)
    assert rate, text
    assert f"{doing} {rate.group(1)}," in text or f"{doing} with its tables {rate.group(1)}," in text


def test_the_rate_is_of_walking_alone(tendril):
    told = json.loads(tendril(*JOBS["walk"], "--json"))
    assert told["steps_per_second"] == pytest.approx(told["steps"] / told["sample_seconds"])
