"""A loop that is quicker than its GPU waits for it, as a part of its steps. On the CPU, with events that note what is done."""

from __future__ import annotations

from types import SimpleNamespace

from pyg_checks import homogeneous, torch

from tendril.pyg import NeighborLoader, _loader


def test_a_step_waits_for_that_before_the_last_few(monkeypatch):
    done = []

    class Event:
        step = None

        def __init__(self, blocking):
            assert blocking, "the host sleeps meanwhile"

        def record(self, stream):
            self.step = stream.step
            done.append(("recorded", self.step))

        def synchronize(self):
            done.append(("waited for", self.step))

    stream = SimpleNamespace(step=0)
    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: stream)
    monkeypatch.setattr(_loader, "_AHEAD_OF_GPU", 2)
    pace = _loader._Pace(torch.device("cuda", 0))
    for stream.step in range(5):
        pace()
    first = [("recorded", 0), ("recorded", 1)]
    assert done == first + [(what, i + 2 * (what == "recorded")) for i in range(3) for what in ("waited for", "recorded")]


def test_the_wait_is_a_part_of_the_step(monkeypatch):
    """It comes behind the loop's body, and counts as training."""
    loader, done = NeighborLoader(homogeneous(), [2], batch_size=50), []
    counted = loader._counted
    monkeypatch.setattr(loader, "_counted", lambda *given: counted(*given, lambda: done.append("pace")))
    for _ in loader:
        done.append("body")
    assert done == ["body", "pace"] * len(loader)
