"""What tendril raises on purpose. Each error is the built-in kind that fits too, so that callers may catch either."""


class TendrilError(Exception):
    """Base of everything that tendril raises on purpose; its text is one line: what, where, which value, what else."""

    __module__ = "tendril"


class ArgumentError(TendrilError, ValueError):
    """An argument that no call could satisfy: out of range, missing, contradictory."""

    __module__ = "tendril"


class FormatError(TendrilError, ValueError):
    """A file or an array whose content is malformed: "file:line: what, expected what"."""

    __module__ = "tendril"


class IoError(TendrilError, OSError):
    """A file that could not be opened, read, mapped, written or renamed."""

    __module__ = "tendril"


class OutOfMemoryError(TendrilError, MemoryError):
    """Memory that could not be had; says how much was asked for and for what."""

    __module__ = "tendril"


class DeviceError(TendrilError, RuntimeError):
    """A GPU that is not there or can't be used, or a CUDA call that failed."""

    __module__ = "tendril"
