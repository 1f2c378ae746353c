"""Ctrl-C that comes while the library asks another one for the memory of an array ends the call, as anywhere else.

Python raises KeyboardInterrupt between two lines of Python: those of `__dlpack__` are some.
"""

from __future__ import annotations

import numpy as np
import pytest
from both_loaders import neighbor_loader

import tendril

ROWS = np.arange(12, dtype=np.float32).reshape(4, 3)


class Interrupted:
    """An array of another library. Ctrl-C comes when it is asked for its memory for the first time."""

    def __init__(self, array):
        self.array, self.asked = array, 0
        self.dtype, self.shape, self.device = array.dtype, array.shape, "cpu"

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **options):
        self.asked += 1
        if self.asked == 1:
            raise KeyboardInterrupt
        return self.array.__dlpack__(**options)


CALLS = {
    "table": lambda: tendril.gather(Interrupted(ROWS), [1, 2]),
    "table that is kept": lambda: tendril.FeatureTable(Interrupted(ROWS)),
    "ids": lambda: tendril.gather(ROWS, Interrupted(np.array([1, 2]))),
    "out": lambda: tendril.gather(ROWS, [1, 2], out=Interrupted(np.zeros((2, 3), np.float32))),
    "graph": lambda: tendril.Graph.from_csr(Interrupted(np.array([0, 1])), [0]),
}


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_amid_an_export_ends_the_call(name):
    with pytest.raises(KeyboardInterrupt):
        CALLS[name]()


def test_ctrl_c_amid_any_export_ends_a_loop(monkeypatch):
    """Without threads that work ahead: the loop's own thread, which Ctrl-C interrupts, makes the batches."""
    loader = neighbor_loader(prefetch=0)
    from pyg_checks import torch

    export, asked, interrupted_at = torch.Tensor.__dlpack__, 0, None

    def counted(tensor, *arguments, **options):
        nonlocal asked
        asked += 1
        if asked == interrupted_at:
            raise KeyboardInterrupt
        return export(tensor, *arguments, **options)

    monkeypatch.setattr(torch.Tensor, "__dlpack__", counted)
    list(loader)
    every, lost = asked, []
    assert every >= len(loader)
    for interrupted_at in range(1, every + 1):
        asked = 0
        try:
            list(loader)
            lost.append(interrupted_at)
        except KeyboardInterrupt:
            pass
    assert lost == []
