"""Every test that docs/pyg.md names is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.findall(r"`(\w+)::(test_\w+)(…?)`", (ROOT / "docs/pyg.md").read_text(encoding="utf-8"))


def test_there_are_some():
    assert len(NAMED) > 25


@pytest.mark.parametrize(("theme", "name", "more"), NAMED)
def test_the_test_exists(theme, name, more):
    text = (ROOT / f"python/tests/test_pyg_{theme}.py").read_text(encoding="utf-8")
    assert f"\ndef {name}{'' if more else '('}" in text
