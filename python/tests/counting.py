"""What rows of walks say of visits and ends."""

from __future__ import annotations

import numpy as np


def counted(walks, lengths, num_vertices):
    rows = np.arange(walks.shape[1]) <= lengths[:, None]
    ends = walks[np.arange(len(walks)), lengths]
    return {
        "visits": np.bincount(walks[rows], minlength=num_vertices),
        "ends": np.bincount(ends, minlength=num_vertices),
    }
