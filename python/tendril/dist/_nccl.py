"""Where NCCL is: the package that PyTorch depends on brings it, in a folder that the system's loader doesn't search."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path


def find_nccl() -> None:
    """Name NCCL's file in TENDRIL_NCCL, unless the user has, or there is no such package."""
    if "TENDRIL_NCCL" in os.environ:
        return
    try:
        spec = find_spec("nvidia.nccl")
    except ModuleNotFoundError:  # no package "nvidia" at all
        return
    for folder in (spec.submodule_search_locations or []) if spec else []:
        library = Path(folder) / "lib" / "libnccl.so.2"
        if library.exists():
            os.environ["TENDRIL_NCCL"] = str(library)
            return
