"""C++ structs from source text: the common part of dynamic walks and sampling applications."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from . import _gpu, _pickles, _tendril
from ._errors import ArgumentError, shown
from ._params import file_name, integer, string


class CustomCode:
    """A C++ struct that is compiled at first use, and the values of its fields."""

    _core_type: ClassVar[type[_tendril.CustomWalk | _tendril.CustomApplication]]

    def __init__(
        self,
        source: str,
        name: str | None = None,
        *,
        compiler: str | None = None,
        cache_folder: Any = None,
        **parameters: Any,
    ) -> None:
        string(source, "source")
        struct = "" if name is None else string(name, "name")
        program = "" if compiler is None else string(compiler, "compiler")
        sent = [_parameter(key, value) for key, value in parameters.items()]
        folder = "" if cache_folder is None else str(Path(file_name(cache_folder, "cache_folder")).absolute())
        self._core: Any = self._core_type(source, struct, sent, program, _nvrtc_folders(), folder)
        self._parameters = dict(parameters)
        self._made_of = (source, name), {"compiler": compiler, "cache_folder": cache_folder, **parameters}

    def __reduce__(self) -> Any:
        return _pickles.made_by, (type(self), *self._made_of)

    @property
    def name(self) -> str:
        """The struct's name."""
        return str(self._core.struct_name)

    def compile(self, device: Any = "cpu") -> None:
        """Compile now what the first use would compile.

        Parameters
        ----------
        device : str
            "cpu", "cuda" or "cuda:1".

        Raises
        ------
        ArgumentError
            If the source doesn't compile: the message says what is wrong and continues with the compiler's messages,
            which call the source ``walk.cpp`` or ``application.cpp``. If the struct lacks a required member, or has no
            field for a parameter.
        IoError
            If there is no compiler.
        DeviceError
            If there is no NVRTC, or no such GPU.
        """
        place = _gpu.parse(device)
        if place == _gpu.HOST:
            self._core.compile()
        else:
            self._core.compile_gpu(place)

    def __repr__(self) -> str:
        fields = (f"{key}={value!r}" for key, value in self._parameters.items())
        return f"{type(self).__name__}(" + ", ".join([self.name, *fields]) + ")"


def _parameter(name: str, value: Any) -> tuple[str, bool, list[float], list[int]]:
    """A field's value in the core's form: its name, whether it is an array, its fractions or its integers."""
    array = np.asarray(value)
    if array.ndim > 1 or array.dtype.kind not in "biuf":
        raise ArgumentError(f"parameter '{name}' is {shown(value)}, expected a number or a sequence of numbers")
    numbers = array.reshape(-1)
    if array.dtype.kind == "f":
        return name, array.ndim == 1, [float(x) for x in numbers], []
    return name, array.ndim == 1, [], [integer(int(x), f"parameter '{name}'") for x in numbers]


def _nvrtc_folders() -> list[str]:
    """The folders of NVRTC in the NVIDIA packages that Torch and CuPy depend on."""
    places = (Path(entry or ".") / "nvidia" for entry in sys.path)
    return sorted({str(found.parent.absolute()) for place in places for found in place.glob("*/lib/libnvrtc.so.*")})
