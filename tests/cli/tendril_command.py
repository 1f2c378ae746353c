"""The command under test: $TENDRIL_BIN, or build/bin/tendril."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TENDRIL = Path(os.environ.get("TENDRIL_BIN", ROOT / "build" / "bin" / "tendril")).resolve()


class Tendril:
    """Runs the command in a folder of the test's own, where `data` is the repository's."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "data").symlink_to(ROOT / "data")

    def try_run(self, *arguments, **options):
        return subprocess.run(
            [str(TENDRIL), *map(str, arguments)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
            **options,
        )

    def __call__(self, *arguments):
        """Standard output of a run that has to succeed and has nothing to complain about."""
        done = self.try_run(*arguments)
        assert done.returncode == 0, done.stderr
        assert "error" not in done.stderr
        return done.stdout

    def path(self, name):
        return self.folder / name

    def bytes(self, name):
        return self.path(name).read_bytes()
