"""The exceptions that tendril raises on purpose. Each also derives from a matching built-in exception, so that callers
may catch either."""


class TendrilError(Exception):
    """Base class of all exceptions that tendril raises on purpose. The text is one line: what, where, which value, what
    was expected."""

    __module__ = "tendril"


class ArgumentError(TendrilError, ValueError):
    """An invalid argument: out of range, missing, or contradictory."""

    __module__ = "tendril"


class FormatError(TendrilError, ValueError):
    """A file or an array with malformed content: "file:line: what, expected what"."""

    __module__ = "tendril"


class IoError(TendrilError, OSError):
    """A file that could not be opened, read, mapped, written or renamed."""

    __module__ = "tendril"


class OutOfMemoryError(TendrilError, MemoryError):
    """Memory that is not available; the message says how much was requested and for what."""

    __module__ = "tendril"


class DeviceError(TendrilError, RuntimeError):
    """A GPU that is missing or unusable, or a CUDA call that failed."""

    __module__ = "tendril"


class RankError(TendrilError, RuntimeError):
    """A process of a job of several that failed, fell silent, or does something else than the others; the message names
    its rank."""

    __module__ = "tendril"


def shown(value: object) -> str:
    """A caller's value for a message: its repr on one line, shortened."""
    most = 80
    text = " ".join(repr(value).split())
    return text if len(text) <= most else text[: most - 1] + "…"
