"""Checks, before the compiled library is loaded, that this processor can run it."""

from __future__ import annotations

import platform
from pathlib import Path

# The features that each level of x86-64 adds, named as in /proc/cpuinfo (System V psABI, x86-64 supplement, section
# 3.1.1).
_V2 = frozenset({"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"})
_V3 = _V2 | {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}
_V4 = _V3 | {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}
_LEVELS = {"x86-64-v2": _V2, "x86-64-v3": _V3, "x86-64-v4": _V4}


def missing_features(march: str, cpuinfo: str) -> list[str]:
    """Features that code compiled for ``march`` needs and that the text of /proc/cpuinfo doesn't list."""
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "flags":
            return sorted(_LEVELS.get(march, frozenset()) - set(value.split()))
    return []  # no features are listed: let the library try


def check(march: str) -> None:
    """Raise a one-line ImportError if this processor lacks a feature that the library was compiled for."""
    if platform.system() != "Linux" or platform.machine() not in ("x86_64", "AMD64"):
        return
    try:
        cpuinfo = Path("/proc/cpuinfo").read_text()
    except OSError:
        return
    missing = missing_features(march, cpuinfo)
    if missing:
        raise ImportError(
            f"tendril was compiled for {march} processors and this one lacks {', '.join(missing)}: "
            "build it from source with TENDRIL_MARCH=x86-64"
        )
