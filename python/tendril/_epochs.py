"""Which batches of which epoch a loader makes next: the epoch's number, the batches that are done, the ranks of a
distributed training that share an epoch, and the time that it takes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from ._errors import ArgumentError, shown
from ._params import integer, string, unsigned
from ._timeline import LoaderStats, Timeline

T = TypeVar("T")

_VERSION = 1
_UNEVEN = ("keep", "drop", "repeat")


@dataclass(frozen=True)
class Ranks:
    """The processes that share the batches of an epoch, in turn: rank r makes batches r, r + world_size, …"""

    rank: int
    world_size: int
    uneven: str

    @staticmethod
    def of(rank: Any, world_size: Any, uneven: Any) -> Ranks:
        """The arguments of a loader, checked. rank: "auto" takes both of the process."""
        if isinstance(rank, str) and rank == "auto":
            if integer(world_size, "world_size") != 1:
                raise ArgumentError(f"world_size is {world_size} with rank 'auto', which tells both: expected it left out")
            rank, world_size = rank_of_process()
        elif isinstance(rank, str):
            raise ArgumentError(f"rank is {shown(rank)}, expected an integer or 'auto'")
        made = Ranks(integer(rank, "rank"), integer(world_size, "world_size"), string(uneven, "uneven"))
        if made.world_size < 1:
            raise ArgumentError(f"world_size is {world_size}, expected 1 or more")
        if not 0 <= made.rank < made.world_size:
            raise ArgumentError(f"rank is {rank}, expected 0 to {made.world_size - 1}")
        if uneven not in _UNEVEN:
            raise ArgumentError(f"uneven is {uneven!r}, expected 'keep', 'drop' or 'repeat'")
        return made

    def count(self, total: int) -> int:
        """The batches of this rank, of an epoch of `total`."""
        if self.uneven == "drop":
            return total // self.world_size
        others = 0 if self.uneven == "repeat" else self.rank
        return -(-max(total - others, 0) // self.world_size)

    def most(self, total: int) -> int:
        """The batches of the rank that has most."""
        return total // self.world_size if self.uneven == "drop" else -(-total // self.world_size)

    def deal(self, batches: Iterable[T], begin: int) -> Iterator[tuple[int, T]]:
        """This rank's batches from batch `begin` on, each behind its number in the epoch."""
        first: list[tuple[int, T]] = []  # stand in for those that the last round lacks
        numbered = self._keeping(enumerate(batches), first)
        for _ in islice(numbered, begin):
            pass
        while turn := list(islice(numbered, self.world_size)):
            if len(turn) < self.world_size and self.uneven == "drop":
                return
            if self.rank < len(turn):
                yield turn[self.rank]
            elif self.uneven == "repeat":
                yield first[(self.rank - len(turn)) % len(first)]

    def _keeping(self, numbered: Iterator[tuple[int, T]], first: list[tuple[int, T]]) -> Iterator[tuple[int, T]]:
        for one in numbered:
            if len(first) < self.world_size and self.uneven == "repeat":
                first.append(one)
            yield one


_LAUNCHERS = (("RANK", "WORLD_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"))


def rank_of_process() -> tuple[int, int]:
    """The rank of this process and the number of processes: `torch.distributed`'s, if the program has set that up, else the
    launcher's, torchrun's or mpirun's. A process of its own is rank 0 of 1."""
    torch = sys.modules.get("torch.distributed")  # not imported for this
    if torch is not None and torch.is_available() and torch.is_initialized():
        return int(torch.get_rank()), int(torch.get_world_size())
    for names in _LAUNCHERS:
        given = [os.environ.get(name) for name in names]
        if given == [None, None]:
            continue
        try:
            rank, size = (int(value) for value in given if value is not None)
        except ValueError:
            told = " and ".join(f"{name}={value}" for name, value in zip(names, given, strict=True))
            raise ArgumentError(f"rank is 'auto', and the environment has {told}: expected a rank and their number") from None
        return rank, size
    return 0, 1


def runs(numbered: Iterable[tuple[int, T]], most: int, step: int = 1) -> Iterator[tuple[int, int, list[T]]]:
    """Groups of up to `most` items, from whose numbers to the next ones it is `step`: the first number, `step`, and the
    items. A rank's batches have the step of its `Ranks`."""
    first, group = 0, list[T]()
    for number, item in numbered:
        if group and number != first + step * len(group):
            yield first, step, group
            group = []
        if not group:
            first = number
        group.append(item)
        if len(group) == most:
            yield first, step, group
            group = []
    if group:
        yield first, step, group


@dataclass
class Progress:
    """How far an iteration has come."""

    epoch: int
    batch: int = 0  # of the whole epoch: what all ranks together have done
    order: dict[str, Any] = field(default_factory=dict)  # what decided the order, if that is not seed and epoch


class Epochs:
    """The part of a loader that counts its epochs and their batches."""

    generator: Any = None  # decides the order, if it isn't None: a torch.Generator
    _ranks: Ranks
    _next = Progress(0)  # where the next iteration begins
    _latest: Progress | None = None  # of the iteration that began last
    _timeline = Timeline(0)  # of the same

    @property
    def epoch(self) -> int:
        """Number of the epoch that the next iteration makes, from 0."""
        return self._next.epoch

    def set_epoch(self, epoch: int) -> None:
        """Set the number of the epoch that the next iteration makes, from its first batch.

        Parameters
        ----------
        epoch : int
        """
        self._next, self._latest = Progress(unsigned(epoch, "epoch")), None

    def state_dict(self) -> dict[str, Any]:
        """Tell how far the loader has come, for `load_state_dict` of a loader with the same arguments, in any process.

        Batches that were made ahead, but not handed over, are not done. Of several iterations the one that began last
        counts. When an iteration has ended, the state is the beginning of the next epoch.

        Returns
        -------
        dict
            ``seed``, ``epoch``, ``batch`` (the batches of this epoch that are done, those of all ranks together),
            ``batches`` (of an epoch, or None) and ``version``; with a ``generator``, or a ``sampler`` that has a state
            or an epoch, also what that was when the epoch began.
        """
        at = self._latest or self._next
        return {
            "version": _VERSION,
            "seed": self._seed_of_order(),
            "epoch": at.epoch,
            "batch": at.batch,
            "batches": self._total(),
            **self._order_state(),
            **at.order,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Let the next iteration go on where another loader was: it makes the rest of that epoch, batch by batch equal.

        The number of ranks may be another one. The batches that are done are not sampled again. An order of the
        user's own (``sampler``, ``batch_sampler``) must be the same again: its first batches are left out.

        Parameters
        ----------
        state : dict
            Of `state_dict`.

        Raises
        ------
        ArgumentError
            A ValueError: for another seed, another number of batches an epoch, or what is no state. The loader stays
            as it was.
        """
        known = isinstance(state, Mapping) and {"version", "seed", "epoch", "batch"} <= {*state}
        if not known or state["version"] != _VERSION:
            raise ArgumentError(f"state is not what state_dict() of a loader gives: expected one of version {_VERSION}")
        for name, own in (("seed", self._seed_of_order()), ("batches", self._total())):
            if state.get(name) != own:
                found = state.get(name)
                raise ArgumentError(f"state has {name} {found}, this loader {own}: expected the same arguments")
        epoch, batch = unsigned(state["epoch"], "epoch"), unsigned(state["batch"], "batch")
        order = {name: state[name] for name in ("generator", "sampler", "sampler_epoch") if name in state}
        self._next, self._latest = Progress(epoch, batch, order), None

    def stats(self) -> LoaderStats:
        """Tell where the time of the latest iteration goes, during it or after it.

        Returns
        -------
        LoaderStats
            Seconds of sampling, gathering, waiting and training, and who brings rows of host memory; ``print`` shows them as
            a table.
        """
        return self._timeline.stats(self._host_rows())

    def _host_rows(self) -> str:
        """As of LoaderStats: nothing comes from host memory."""
        return ""

    def write_timeline(self, path: str | os.PathLike[str], last: int = 40) -> None:
        """Write what the loader and the loop did when, during the latest iteration.

        Parameters
        ----------
        path : path
            A .json file gets a Chrome trace (chrome://tracing, https://ui.perfetto.dev), an .svg file a picture.
        last : int
            The number of batches, from the last one back.

        Raises
        ------
        ArgumentError
            A ValueError: for another extension, ``last`` below 1.
        OSError
            If the file can't be written.
        """
        self._timeline.write(path, last)

    def _begin_epoch(self) -> Progress:
        """The iteration that begins now."""
        now = self._next
        self._restore_order(now.order)
        now = self._latest = Progress(now.epoch, now.batch, self._order_state())
        self._next = Progress(now.epoch + 1)
        self._timeline = Timeline(now.epoch, self._first_number(now.epoch))
        return now

    def _counted(
        self, made: Iterator[Any], progress: Progress, timeline: Timeline, pace: Callable[[], None] = lambda: None
    ) -> Iterator[Any]:
        """The same batches, counted as they are handed over. pace: called behind each step of the loop, as a part of it."""
        first = self._first_number(progress.epoch)
        while True:
            number = first + progress.batch + self._ranks.rank
            try:
                with timeline.span("wait", number):
                    one = next(made)
            except StopIteration:
                break
            progress.batch += self._ranks.world_size
            with timeline.training(number):
                yield one
                pace()
        progress.epoch, progress.batch, progress.order = progress.epoch + 1, 0, {}

    # What decides the order beside seed and epoch

    def _orders(self) -> Iterator[Any]:
        """The user's own sampler and batch sampler."""
        return iter(())

    def _order_state(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self.generator is not None:
            found["generator"] = self.generator.get_state()
        for order in self._orders():
            # Of samplers that have both, as torchdata's, the state says how far the epoch before went.
            if hasattr(order, "set_epoch") and isinstance(getattr(order, "epoch", None), int):
                found["sampler_epoch"] = order.epoch
            elif hasattr(order, "state_dict"):
                found["sampler"] = order.state_dict()
        return found

    def _restore_order(self, state: dict[str, Any]) -> None:
        if "generator" in state and self.generator is not None:
            self.generator.set_state(state["generator"])
        for order in self._orders():
            if "sampler" in state and hasattr(order, "load_state_dict"):
                order.load_state_dict(state["sampler"])
            elif "sampler_epoch" in state and hasattr(order, "set_epoch"):
                order.set_epoch(state["sampler_epoch"])

    def _first_number(self, epoch: int) -> int:
        """The number of an epoch's first batch."""
        total = self._total()
        return epoch << 32 if total is None else epoch * total

    def _seed_of_order(self) -> int:
        raise NotImplementedError

    def _total(self) -> int | None:
        """The batches of a whole epoch, of all ranks; None if only the user's sampler knows."""
        raise NotImplementedError
