"""The site's source can be laid out: every exported name has a page, and every link leads to a file that is there."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_source_of_the_site_is_complete(tmp_path):
    run = subprocess.run(
        [sys.executable, ROOT / "docs/site/stage.py", tmp_path / "site"], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    pages = {path.relative_to(tmp_path / "site").as_posix() for path in (tmp_path / "site").rglob("*") if path.is_file()}
    assert {"index.md", "features.md", "pyg.md", "cpp-api.md", "loader-timeline.svg"} <= pages
