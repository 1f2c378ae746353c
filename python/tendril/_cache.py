"""A cache of rows of features in the memory of a GPU: what users ask for, and what a loader does with it."""

from __future__ import annotations

import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from . import _tendril
from ._errors import ArgumentError, OutOfMemoryError, shown
from ._features import FeatureTable
from ._host_way import Way
from ._params import integer

T = TypeVar("T")

POLICIES = ("lookahead", "exact", "presample", "pagerank", "degree", "lru")
_RESERVE_SHARE = 16  # of the GPU's memory, that a cache which sizes itself leaves free
_BYTES_A_ROW = 12  # of the bookkeeping, at most, beside the rows themselves
_PRESAMPLED_EPOCH = 1 << 31  # whose batches `presample` counts: no loader comes so far
_HALVINGS = 6
_OF_ARRAYS = ("__array__", "__array_interface__", "__cuda_array_interface__", "__dlpack__")


class FeatureCache:
    """Asks a loader to keep rows of features in the memory of its GPU, beside those in host memory.

    Loaders whose batches lie on a GPU take it as ``cache=``. It never changes a batch. `LoaderCache`, the loader's
    ``cache``, tells how it does.

    Parameters
    ----------
    ratio : float, optional
        Share of the rows of each table that the cache holds, in (0, 1].
    bytes : int, optional
        Bytes of all rows that it holds; tables take the same share of their rows. Without ``ratio`` and ``bytes`` it
        takes the memory that the first batches leave, but a sixteenth of the GPU's, as TurboGNN does.
    policy : str, callable or array
        Which rows it holds:

        - "lookahead": of the rows that it has and those that a batch brings, those that the next batches use soonest
          (Belady's rule). Batches are sampled ahead for it; they stay in the GPU's memory meanwhile.
        - "exact": those that the epoch uses most. Each epoch is sampled once more before it begins.
        - "presample": those that another epoch of as many batches uses most (GNNLab), counted once.
        - "pagerank", "degree": those of the greatest PageRank, or that are most often a neighbour (PaGraph).
        - "lru": those that were used last; for comparison.
        - an array, one score for each vertex, or a mapping of vertex types to such: those of the greatest scores.
        - a function of the loader's graph (PyG: its data), which returns such scores. Called once.
    window : int
        Of "lookahead": batches that are known at a time, the one that is made among them; 1 to 32.

    Raises
    ------
    ArgumentError
        For both ratio and bytes, for values out of range, and for an unknown policy, or one that is no array.

    References
    ----------
    Belady, A study of replacement algorithms for a virtual-storage computer, IBM Systems Journal 1966. Lin et al.,
    PaGraph, SoCC 2020. Yang et al., GNNLab, EuroSys 2022.
    """

    def __init__(
        self, ratio: float | None = None, *, bytes: int | None = None, policy: Any = "lookahead", window: int = 16
    ) -> None:
        if ratio is not None and bytes is not None:
            raise ArgumentError("ratio and bytes are given, expected one of them, or none")
        known = isinstance(ratio, (int, float, np.integer, np.floating)) and not isinstance(ratio, bool)
        if ratio is not None and not (known and 0 < ratio <= 1):
            raise ArgumentError(f"ratio is {shown(ratio)}, expected a number in (0, 1]")
        if bytes is not None and integer(bytes, "bytes") < 0:
            raise ArgumentError(f"bytes is {bytes}, expected 0 or more")
        if isinstance(policy, str) and policy not in POLICIES:
            expected = ", ".join(f"'{one}'" for one in POLICIES)
            raise ArgumentError(f"policy is {shown(policy)}, expected {expected}, an array of scores or a function")
        if not (isinstance(policy, (str, Mapping)) or callable(policy) or _is_array(policy)):
            raise ArgumentError(f"policy is {shown(policy)}, expected a name, an array of scores or a function")
        for kind, scores in policy.items() if isinstance(policy, Mapping) else ():
            if not _is_array(scores):
                raise ArgumentError(f"policy[{kind!r}] is {shown(scores)}, expected an array of scores")
        if not 1 <= integer(window, "window") <= 32:
            raise ArgumentError(f"window is {window}, expected 1 to 32")
        self.ratio = None if ratio is None else float(ratio)
        self.bytes = None if bytes is None else int(bytes)
        self.policy = policy
        self.window = int(window)

    @property
    def policy_name(self) -> str:
        """The policy's name; "scores" for an array or a function."""
        return self.policy if isinstance(self.policy, str) else "scores"

    def __repr__(self) -> str:
        size = "" if self.ratio is None else f"ratio={self.ratio}, "
        size += "" if self.bytes is None else f"bytes={self.bytes}, "
        return f"FeatureCache({size}policy={self.policy_name!r}, window={self.window})"


def _is_array(given: Any) -> bool:
    """Whether a value may hold scores, as far as its type tells: nothing is copied."""
    if isinstance(given, (str, bytes, bytearray)) or getattr(given, "ndim", 1) == 0:
        return False
    return isinstance(given, Sequence) or any(hasattr(given, name) for name in _OF_ARRAYS)


@dataclass
class CacheSource:
    """What a cache needs of its loader."""

    device: int
    tables: Callable[[], dict[Any, dict[str, tuple[Any, FeatureTable]]]]
    """By vertex type and name: what holds the rows, and its table; those that the cache takes."""
    mark: Callable[[Any], Any]
    """Changes when what holds the rows has been written to, as far as that can be known."""
    graph: Callable[[], tuple[_tendril.HeteroGraph, list[Any]]]
    """The graph, and its vertex types in its order."""
    subject: Any
    """What a function that is a policy gets."""
    epoch: Callable[[int], Iterator[Mapping[Any, Any]]]
    """The ids of an epoch's batches, by vertex type, as `see` takes them."""
    see: Callable[[Any, Any, int], None]
    """Tells a `CachedTables` the ids of a batch, on a stream."""
    count: Callable[[Any, Any, int], None]
    """Adds the ids of a batch to a `GpuRowCounts`, on a stream."""
    stream: Callable[[], int]
    """The stream of the caller's thread."""
    free_bytes: Callable[[], int]
    total_bytes: Callable[[], int]


class _OfType:
    """The tables of one vertex type and their cache."""

    def __init__(self, tables: dict[str, tuple[Any, FeatureTable]], num_slots: int, settings: FeatureCache, source: CacheSource):
        first = next(iter(tables.values()))[1]
        self.num_rows, self.num_slots = len(first), num_slots
        policy = settings.policy_name if settings.policy_name in ("lookahead", "lru") else "fixed"
        window = settings.window if policy == "lookahead" else 1
        stream = source.stream()
        self.core = _tendril.CachedTables(self.num_rows, num_slots, policy, window, source.device, stream)
        self.tables = tables
        self.places = {name: place for place, name in enumerate(tables)}
        for _, table in tables.values():
            self.core.add(table._on_gpu(source.device), stream)


class ServedBatch:
    """What a cache has of one batch, and the gather of its rows."""

    def __init__(self, cache: LoaderCache, steps: dict[Any, Any]) -> None:
        self._cache, self._steps, self._of = cache, steps, cache._types
        self._counted: set[Any] = set()

    def has(self, kind: Any, name: str) -> bool:
        """Whether the cache takes that table."""
        return kind in self._steps and name in self._of[kind].places

    def tables(self, kind: Any) -> dict[str, tuple[Any, FeatureTable]]:
        """The tables of a vertex type that the cache takes, each behind what the user holds of it."""
        return self._of[kind].tables if kind in self._steps else {}

    def gather_at(self, kind: Any, name: str, out: int, stream: int, way: Way) -> None:
        """Gathers the batch's rows of a table to an address of the GPU's. way: of the missed ones."""
        of = self._of[kind]
        of.core.gather_at(of.places[name], self._steps[kind], out, stream, *way)
        self._count(kind)

    def gather_new(self, kind: Any, name: str, stream: int, way: Way) -> _tendril.GpuArray:
        of = self._of[kind]
        made = of.core.gather_new(of.places[name], self._steps[kind], stream, *way)
        self._count(kind)
        return made

    def _count(self, kind: Any) -> None:
        if kind not in self._counted:
            self._counted.add(kind)
            num_ids, missed, _ = self._steps[kind].counts()
            self._cache._add(num_ids - missed, missed)


class LoaderCache:
    """The cache of a loader: what it holds, and how often it had the rows that batches asked for.

    One iteration at a time uses it; others of the same loader that run meanwhile do without.
    """

    def __init__(self, settings: FeatureCache, source: CacheSource) -> None:
        self._settings, self._source = settings, source
        self._types: dict[Any, _OfType] = {}
        self._key: Any = None
        self._scores: dict[Any, Any] | None = None
        self._at_work = threading.Lock()
        self._is_clean = False
        self._hits = self._misses = 0

    @property
    def policy(self) -> str:
        """The policy's name; "scores" for those of the user."""
        return self._settings.policy_name

    @property
    def hits(self) -> int:
        """Rows that batches found in the cache, since the loader was made."""
        return self._hits

    @property
    def misses(self) -> int:
        """Rows that came from host memory."""
        return self._misses

    @property
    def miss_rate(self) -> float:
        """Share of the rows that came from host memory; 1 if there were none."""
        return self._misses / (self._hits + self._misses) if self._hits + self._misses else 1.0

    @property
    def nbytes(self) -> int:
        """Bytes of the rows that the cache has room for. 0 until the first batch is made."""
        return sum(of.core.num_bytes for of in self._types.values())

    @property
    def num_rows(self) -> int:
        """Rows that the cache has room for, of all vertex types. 0 until the first batch is made."""
        return sum(of.num_slots for of in self._types.values())

    def content(self, node_type: Any = None) -> np.ndarray[Any, Any]:
        """The vertex whose row is in each place of the cache, -1 for an empty one: [rows] int64. Waits for the GPU. During
        an iteration that is ahead of the batches which the loop has."""
        if node_type not in self._types:
            raise ArgumentError(f"node_type is {shown(node_type)}, expected one of {[*self._types]}")
        rows: np.ndarray[Any, Any] = self._types[node_type].core.content(self._source.stream())
        return rows.view(np.int32).astype(np.int64) if len(rows) else rows.astype(np.int64)

    def __repr__(self) -> str:
        return f"LoaderCache(policy={self.policy!r}, num_rows={self.num_rows}, nbytes={self.nbytes}, miss_rate={self.miss_rate:.3f})"

    def _add(self, hits: int, misses: int) -> None:
        self._hits += hits
        self._misses += misses

    # One iteration

    def served(
        self, items: Iterable[T], ids_of: Callable[[T], Mapping[Any, Any]], epoch: int, first_steps: int
    ) -> Iterator[tuple[T, ServedBatch | None]]:
        """The batches, each with what the cache has of it. The gathers of a batch are called before the next is asked for.

        ids_of: the vertices of a batch by type. first_steps: batches after which the footprint of training is known, for
        a cache that sizes itself.
        """
        if not self._at_work.acquire(blocking=False):
            yield from ((item, None) for item in items)
            return
        try:
            left = iter(items)
            if self._settings.ratio is None and self._settings.bytes is None and not self._types:
                yield from ((item, None) for item in islice(left, first_steps))
            self._prepare(epoch)
            self._is_clean = False
            yield from self._in_order(left, ids_of)
            self._is_clean = True
        finally:
            self._at_work.release()

    def _in_order(
        self, items: Iterator[T], ids_of: Callable[[T], Mapping[Any, Any]]
    ) -> Iterator[tuple[T, ServedBatch | None]]:
        """Serves one batch ahead: the GPU has then counted its missed rows when the host asks."""
        window = self._settings.window if self.policy == "lookahead" else 1
        known: deque[T] = deque()
        ready: deque[tuple[T, ServedBatch]] = deque()

        def serve(stream: int) -> Iterator[tuple[T, ServedBatch]]:
            steps = {kind: of.core.serve(stream) for kind, of in self._types.items()}
            ready.append((known.popleft(), ServedBatch(self, steps)))
            if len(ready) > 1:
                yield ready.popleft()

        for item in items:
            ids, stream = ids_of(item), self._source.stream()
            for kind, of in self._types.items():
                self._source.see(of.core, ids[kind], stream)
            known.append(item)
            if len(known) == window:
                yield from serve(stream)
        while known:
            yield from serve(self._source.stream())
        yield from ready

    # What it holds

    def _prepare(self, epoch: int) -> None:
        tables = {kind: many for kind, many in self._source.tables().items() if many}
        key = [
            (kind, name, id(held), self._source.mark(held))
            for kind, many in tables.items()
            for name, (held, _) in many.items()
        ]
        is_new = key != self._key
        if is_new:
            self._key = None  # until all is there
            self._make(tables)
        if self.policy == "exact":
            self._fill_counted(epoch)
        elif self.policy in ("lookahead", "lru"):
            if not self._is_clean and not is_new:
                for of in self._types.values():
                    of.core.empty(self._source.stream())
        elif is_new and self.policy == "presample":
            self._fill_counted(_PRESAMPLED_EPOCH)
        elif is_new:
            self._fill_scored()
        self._key = key

    def _make(self, tables: dict[Any, dict[str, tuple[Any, FeatureTable]]]) -> None:
        wanted = self._ratio(tables)
        by_itself = self._settings.ratio is None and self._settings.bytes is None
        for ratio in [wanted / 2**i for i in range(_HALVINGS)] + [0.0] if by_itself else [wanted]:
            self._types = {}
            try:
                for kind, many in tables.items():
                    slots = int(ratio * len(next(iter(many.values()))[1]))
                    self._types[kind] = _OfType(many, slots, self._settings, self._source)
            except OutOfMemoryError:
                self._types = {}
                if ratio == 0 or not by_itself:
                    raise
                continue
            if ratio < wanted:
                told = f"{ratio:.1%} of the rows, {wanted:.1%} were to fit"
                warnings.warn(f"the GPU's memory has less room than it said: the cache takes {told}", stacklevel=2)
            return

    def _ratio(self, tables: dict[Any, dict[str, tuple[Any, FeatureTable]]]) -> float:
        """The share of the rows that the cache holds."""
        if self._settings.ratio is not None:
            return self._settings.ratio
        every = [table for many in tables.values() for _, table in many.values()]
        whole = sum(table.nbytes for table in every)
        room = self._settings.bytes
        if room is None:
            rows = sum(len(next(iter(many.values()))[1]) for many in tables.values())
            room = self._source.free_bytes() - self._source.total_bytes() // _RESERVE_SHARE - _BYTES_A_ROW * rows
        return min(1.0, max(0, room) / whole) if whole else 1.0

    def _fill_counted(self, epoch: int) -> None:
        """With the rows that the batches of an epoch use most."""
        stream = self._source.stream()
        counts = {kind: _tendril.GpuRowCounts(of.num_rows, self._source.device, stream) for kind, of in self._types.items()}
        for ids in self._source.epoch(epoch):
            for kind, one in counts.items():
                self._source.count(one, ids[kind], stream)
        for kind, one in counts.items():
            self._types[kind].core.fill_best(one, stream)

    def _fill_scored(self) -> None:
        stream = self._source.stream()
        for kind, scores in self._scores_by_type().items():
            of = self._types[kind]
            of.core.fill(_tendril.best_rows(scores, of.num_slots), stream)

    def _scores_by_type(self) -> dict[Any, np.ndarray[Any, Any]]:
        if self._scores is not None:
            return self._scores
        policy = self._settings.policy
        if policy in ("degree", "pagerank") if isinstance(policy, str) else False:
            graph, types = self._source.graph()
            made = _tendril.neighbor_counts(graph, 0) if policy == "degree" else _tendril.pageranks(graph, 20, 0)
            given: Any = dict(zip(types, made, strict=True))
        else:
            given = policy(self._source.subject) if callable(policy) else policy
            given = given if isinstance(given, Mapping) else {kind: given for kind in self._types}
        self._scores = {kind: self._expect_scores(given, kind, of.num_rows) for kind, of in self._types.items()}
        return self._scores

    def _expect_scores(self, given: Mapping[Any, Any], kind: Any, count: int) -> np.ndarray[Any, Any]:
        what = "policy" if kind is None else f"policy[{kind!r}]"
        if kind not in given:
            raise ArgumentError(f"policy has no scores of vertex type {kind!r}, expected {count}")
        try:
            scores = np.ascontiguousarray(given[kind], np.float64)
        except (TypeError, ValueError):
            raise ArgumentError(f"{what} is {shown(given[kind])}, expected an array of {count} scores") from None
        if scores.shape != (count,):
            raise ArgumentError(f"{what} has shape {scores.shape}, expected ({count},): a score for each vertex")
        wrong = np.flatnonzero(np.isnan(scores))
        if wrong.size:
            raise ArgumentError(f"{what}[{wrong[0]}] is NaN, expected a number")
        return scores
