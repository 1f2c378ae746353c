"""The processes of one job, and how they find each other."""

from __future__ import annotations

import atexit
import os
import secrets
import socket
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from .. import _tendril
from .._epochs import rank_of_process
from .._errors import ArgumentError, TendrilError, shown
from .._params import integer, string

if TYPE_CHECKING:
    from types import TracebackType

Exchange = Callable[[str], list[str]]
"""Gives what each rank gives, in the order of ranks."""

_open: weakref.WeakSet[Ranks] = weakref.WeakSet()
_jobs = 0  # of this process, so far: every rank counts alike


class Ranks:
    """The processes of one job, as one of them sees them; made by `connect`.

    A thread answers the other ranks at any time, so ranks may sample unequally often, and one that has nothing left to do
    goes on answering in `close`. What all ranks must do together says so: constructors, walks, `barrier`.

    As a context manager it closes at the end; after an exception it tells the other ranks, whose calls then raise
    `RankError`, instead of waiting for them. Ranks that are still open when the interpreter ends are closed likewise.
    """

    def __init__(self, core: _tendril.Ranks) -> None:
        self._core = core
        _open.add(self)

    @property
    def rank(self) -> int:
        """The number of this rank, from 0 on."""
        return self._core.rank

    @property
    def size(self) -> int:
        """The number of ranks."""
        return self._core.size

    @property
    def sent_bytes(self) -> int:
        """Bytes that this rank has sent to others."""
        return self._core.sent_bytes

    def barrier(self) -> None:
        """Wait until every rank is here. A call of all ranks.

        Raises
        ------
        RankError
            If a rank has failed or fallen silent, or makes another call.
        """
        self._core.all_gather(b"")

    def all_gather(self, given: bytes) -> list[bytes]:
        """What each rank gives, in the order of ranks. A call of all ranks; the same errors as `barrier`."""
        return list(self._core.all_gather(given))

    def fail(self, why: str) -> None:
        """Tell the other ranks that this one can't go on. Their calls raise `RankError` with these words."""
        self._core.fail(" ".join(string(why, "why").split()))

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """For checks of what a call of all ranks is given. Where one raises, the call ends on all ranks: the others raise
        `RankError` with its words, and all may go on."""
        try:
            yield
        except Exception as error:
            self._core.refuse(str(error) if isinstance(error, TendrilError) else _line_of(error))
            raise

    def close(self) -> None:
        """Say that this rank asks no more, and answer the others until all have closed, or one has failed."""
        try:
            self._core.close()
        except BaseException as error:  # Ctrl-C
            self._core.fail(_line_of(error))
            self._core.close()
            raise
        finally:
            _open.discard(self)

    def __enter__(self) -> Ranks:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.fail(_line_of(error))
        self.close()

    def __repr__(self) -> str:
        return f"Ranks(rank={self.rank}, size={self.size})"


def _line_of(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


@atexit.register
def _close_all() -> None:
    """Closes ranks at the end of the program: after an error that nobody caught, the others are told."""
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    for ranks in list(_open):
        if isinstance(error, BaseException):
            ranks.fail(_line_of(error))
        ranks.close()


def connect(
    *,
    rank: int | None = None,
    size: int | None = None,
    exchange: Exchange | None = None,
    host: str | None = None,
    patience: float = 300.0,
    deadline: float = 300.0,
) -> Ranks:
    """Connect the processes of a job. A call of all ranks.

    Under torchrun, and wherever `torch.distributed` finds its environment (``RANK``, ``WORLD_SIZE``, ``MASTER_ADDR``,
    ``MASTER_PORT``) or is initialised, no argument is needed: ranks tell each other their addresses through Torch's store.
    A process of its own is rank 0 of 1.

    Parameters
    ----------
    rank, size : int, optional
        The number of this rank and of all ranks. Default: `torch.distributed`'s, or the launcher's.
    exchange : callable, optional
        For launchers without Torch: gets a text, and returns the texts of all ranks, in their order.
    host : str, optional
        A name or number of this machine that the other ranks reach. Default: the one that leads to ``MASTER_ADDR``.
    patience : float
        Seconds to wait for the other ranks to connect.
    deadline : float
        Seconds of silence after which a rank that is waited for counts as lost.

    Returns
    -------
    Ranks

    Raises
    ------
    ArgumentError
        If it is not known how many ranks there are, or how to find them.
    IoError
        If this machine does not have such a host.
    RankError
        If a rank can't be reached.

    Examples
    --------
    >>> with tendril.dist.connect(rank=0, size=1) as ranks:
    ...     ranks
    Ranks(rank=0, size=1)
    """
    global _jobs
    if (rank is None) != (size is None):
        raise ArgumentError(f"rank is {rank} and size is {size}, expected both or none")
    own, count = rank_of_process() if rank is None or size is None else (integer(rank, "rank"), integer(size, "size"))
    if count < 1 or not 0 <= own < count:
        raise ArgumentError(f"rank is {own} of {count}, expected 0 to {count - 1}")
    for value, what in ((patience, "patience"), (deadline, "deadline")):
        if not isinstance(value, (int, float)) or not value > 0:
            raise ArgumentError(f"{what} is {shown(value)}, expected seconds, more than 0")
    number, _jobs = _jobs, _jobs + 1
    if count == 1:
        listener = _tendril.TcpListener("127.0.0.1")
        return Ranks(listener.connect(0, [listener.address], "", float(patience), float(deadline)))
    ask = exchange if exchange is not None else _exchange_of_torch(own, count, number, float(patience))
    listener = _tendril.TcpListener(_own_host() if host is None else string(host, "host"))
    told = ask(f"{listener.address} {secrets.token_hex(16)}")
    if len(told) != count:
        raise ArgumentError(f"exchange returns {len(told)} texts, expected one of each rank: {count}")
    addresses, words = zip(*(text.split(" ", 1) for text in told), strict=True)
    return Ranks(listener.connect(own, list(addresses), words[0], float(patience), float(deadline)))


def _own_host() -> str:
    """This machine's address on the way to the master."""
    master = os.environ.get("MASTER_ADDR", "127.0.0.1")
    found = _address_towards(master) or "127.0.0.1"
    if found.startswith("127.") and not (master == "localhost" or master.startswith("127.")):
        # The master itself, whose name /etc/hosts gives to loopback, as Debian does: others reach it from outside.
        return _address_towards("192.0.2.1") or found  # of no machine
    return found


def _address_towards(host: str) -> str | None:
    """This machine's address on the way to a host; None where no way leads there."""
    try:
        found = socket.getaddrinfo(host, 1, type=socket.SOCK_DGRAM)[0]
        with socket.socket(found[0], socket.SOCK_DGRAM) as probe:
            probe.connect(found[4])  # sends nothing
            return str(probe.getsockname()[0])
    except OSError:
        return None


def _exchange_of_torch(rank: int, size: int, number: int, patience: float) -> Exchange:
    """The ranks' texts by way of Torch's store, which lives as long as the function: that of rank 0 may serve the others."""
    kept: list[Any] = []
    try:
        import torch.distributed as dist
    except ImportError:
        raise ArgumentError(
            "exchange is None, and there is no torch.distributed, expected a function that exchanges the ranks' addresses"
        ) from None

    def by_objects(given: str) -> list[str]:
        texts: list[Any] = [None] * size
        dist.all_gather_object(texts, given)
        return [str(text) for text in texts]

    def by_store(given: str) -> list[str]:
        store, _, _ = next(dist.rendezvous("env://", rank, size, timeout=timedelta(seconds=patience)))
        kept.append(store)
        names = dist.PrefixStore(f"tendril.dist/{number}", store)
        names.set(str(rank), given)
        return [names.get(str(other)).decode() for other in range(size)]

    if dist.is_available() and "MASTER_ADDR" in os.environ and "MASTER_PORT" in os.environ:
        return by_store
    if dist.is_available() and dist.is_initialized():
        return by_objects
    raise ArgumentError(
        f"rank {rank} of {size} does not know how to find the others, expected MASTER_ADDR and MASTER_PORT as torchrun sets "
        "them, an initialised torch.distributed, or exchange"
    )
