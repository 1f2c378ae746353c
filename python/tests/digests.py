"""What arrays hold, as a few letters."""

from __future__ import annotations

import hashlib

import numpy as np


def digest(*arrays):
    return hashlib.sha256(b"".join(np.asarray(one).tobytes() for one in arrays)).hexdigest()[:16]
