"""Epochs of tendril.pyg whose digests are known: whatever makes their batches, CPUs (test_pyg_reproducible.py) and GPUs
(test_pyg_gpu.py) are held to the same constants. No library's random numbers take part in the data."""

from __future__ import annotations

import hashlib

from pyg_checks import Data, HeteroData, numbers, torch

from tendril.pyg import LinkNeighborLoader, NeighborLoader


def digest(loader):
    """SHA-256 of everything that the batches hold."""
    told = hashlib.sha256()
    for batch in loader:
        for store in batch.stores:
            for key in sorted(store.keys()):
                value = store[key]
                told.update(
                    value.cpu().numpy().tobytes() if isinstance(value, torch.Tensor) else repr(value).encode()
                )
    return told.hexdigest()


def _ends(sources, targets, count, state):
    """Edges from a linear congruential generator."""
    ends = [[], []]
    for _ in range(count):
        for side, many in zip(ends, (sources, targets), strict=True):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            side.append((state >> 33) % many)
    return torch.tensor(ends)


def homogeneous():
    """100 vertices; the last ones have no incoming edge."""
    return Data(x=numbers(100).view(-1, 1).float(), y=numbers(100), edge_index=_ends(100, 94, 900, 1),
                edge_attr=numbers(900).view(-1, 1), made=(numbers(900) * 13) % 50)  # fmt: skip


def heterogeneous():
    data = HeteroData()
    for name, count in (("paper", 60), ("author", 90)):
        data[name].x = numbers(count).view(-1, 1)
    types = ("paper", "cites", "paper"), ("author", "writes", "paper"), ("paper", "by", "author")
    for state, key in enumerate(types):
        data[key].edge_index = _ends(data[key[0]].x.size(0), data[key[2]].x.size(0), 400, state)
    return data


_EPOCH = {"batch_size": 8, "shuffle": True, "seed": 7}

EPOCHS = {
    "plain": (
        homogeneous,
        lambda data, **way: NeighborLoader(data, [5, 3], **_EPOCH, **way),
        "27873b1aca1c2071db8cf9b7acabf7baa0f8219dd60fa8ada74dada5b2f5cd6a",
    ),
    "disjoint": (
        homogeneous,
        lambda data, **way: NeighborLoader(data, [5, 3], disjoint=True, **_EPOCH, **way),
        "528f6d260591c07ab9feed729e4ad3a293c380c19f0214a7b5ecec0527d0b57b",
    ),
    "times": (
        homogeneous,
        lambda data, **way: NeighborLoader(
            data, [4, 3], time_attr="made", input_time=numbers(100) % 50, **_EPOCH, **way
        ),
        "eff798efbcc770422e5090d899a341a671121f7d654dad7dd6c55e7ae3855ce4",
    ),
    "several types": (
        heterogeneous,
        lambda data, **way: NeighborLoader(data, [4, 3], "paper", **_EPOCH, **way),
        "2f23e348fb36c18a06679923ff3c9e6e3baf6980da88d0033e54ff33cb56e76e",
    ),
    "links and negatives": (
        homogeneous,
        lambda data, **way: LinkNeighborLoader(
            data, [3, 2], neg_sampling="binary", **{**_EPOCH, "batch_size": 100}, **way
        ),
        "2bb84e0b32c7825742aa0d06dd5b2633cc9b21b7bc48fb2608296212407cd0d9",
    ),
}
"""Of each its data, the loader (`way`: of what must not matter), and the digest of its first epoch."""


def check_digest(name, move=lambda data: data, **way):
    """Prints the digest, for readers to compare runs on machines of theirs (pytest -s), and holds it to the known one."""
    make_data, make_loader, known = EPOCHS[name]
    found = digest(make_loader(move(make_data()), **way))
    print(found, name, way)
    assert found == known
