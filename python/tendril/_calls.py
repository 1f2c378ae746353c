"""What every public function does with arguments that it doesn't have: one line, with the nearest name."""

from __future__ import annotations

import difflib
import functools
import inspect
import re
import warnings
from typing import TYPE_CHECKING, Any, TypeVar

from ._errors import ArgumentError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Call = TypeVar("Call", bound=Callable[..., Any])


def accepts(
    *, also: Iterable[str] = (), renamed: Mapping[str, str] | None = None
) -> Callable[[Call], Call]:
    """A function that also takes the keywords ``also`` through its ``**keywords``, and the earlier names of those that
    were renamed, with a DeprecationWarning."""

    def mark(function: Call) -> Call:
        target: Any = function
        target._also, target._renamed = tuple(also), dict(renamed or {})
        return function

    return mark


def guarded(function: Any, name: str) -> Any:
    """The function with our own line for a misspelt keyword, or a value of a type that the library can't take."""
    signature = inspect.signature(function)
    renamed = getattr(function, "_renamed", {})

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        if renamed:
            keywords = _with_new_names(name, keywords, renamed)
        try:
            return function(*arguments, **keywords)
        except TypeError as error:
            expect_keywords(function, keywords, name)
            bound = _bound(signature, arguments, keywords)
            if bound is None:  # too many arguments, or too few: Python's own line
                raise
            problem = _wrong_type(str(error), bound)
            if problem is None:
                raise
            raise ArgumentError(f"{name}: {problem}") from error

    return call


def expect_keywords(function: Any, keywords: Mapping[str, Any], name: str) -> None:
    """Checks that a function has these keywords."""
    parameters = inspect.signature(function).parameters.values()
    known = {p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    also = getattr(function, "_also", ())
    if any(p.kind == p.VAR_KEYWORD for p in parameters) and not also:
        return
    known |= {*also, *getattr(function, "_renamed", ())}
    for keyword in keywords:
        if keyword not in known:
            near = difflib.get_close_matches(keyword, sorted(known - {"self"}), 1)
            hint = f". Did you mean '{near[0]}'?" if near else f", expected {', '.join(sorted(known - {'self'}))}"
            raise TypeError(f"{name}() got an unexpected keyword argument '{keyword}'{hint}") from None


def guard(names: dict[str, Any], public: Iterable[str], prefix: str = "") -> None:
    """Guards every public function of a module, and the methods of its classes."""
    for name in public:
        value = names[name]
        if inspect.isfunction(value):
            names[name] = guarded(value, prefix + name)
        elif inspect.isclass(value):
            for base in value.__mro__:  # what it inherits goes by its name, too
                if base.__module__.partition(".")[0] == __package__ and "_guarded" not in vars(base):
                    _guard_methods(base, prefix + name)


def _guard_methods(kind: Any, name: str) -> None:
    kind._guarded = True
    generated = hasattr(kind, "_fields") or getattr(getattr(kind, "__dataclass_params__", None), "init", False)
    for key, value in list(vars(kind).items()):
        if key == "__init__" and not generated and not issubclass(kind, BaseException):
            setattr(kind, key, guarded(value, name))
        elif key.startswith("_"):
            continue
        elif inspect.isfunction(value):
            setattr(kind, key, guarded(value, f"{name}.{key}"))
        elif isinstance(value, (classmethod, staticmethod)):
            setattr(kind, key, type(value)(guarded(value.__func__, f"{name}.{key}")))


def _with_new_names(name: str, keywords: dict[str, Any], renamed: Mapping[str, str]) -> dict[str, Any]:
    out = dict(keywords)
    for old, new in renamed.items():
        if old in out:
            if new in out:
                raise TypeError(f"{name}() got '{new}' and its earlier name '{old}', expected '{new}' alone")
            warnings.warn(f"{name}: '{old}' is now called '{new}'", DeprecationWarning, stacklevel=3)
            out[new] = out.pop(old)
    return out


def _bound(signature: inspect.Signature, arguments: Any, keywords: Any) -> Mapping[str, Any] | None:
    try:
        return signature.bind(*arguments, **keywords).arguments
    except TypeError:
        return None


def _wrong_type(text: str, given: Mapping[str, Any]) -> str | None:
    """What the compiled half said about types, in one line that names the caller's parameter; None for other errors."""
    listed = re.search(r"incompatible function arguments.*?\n\s*1\. \w+\((.*?)\) -> .*?\n\s*Invoked with types: (.*)", text, re.DOTALL)
    if listed is None:
        return None
    wanted = re.split(r", (?=\w+: )", listed[1])
    found_types = re.split(r", (?:kwargs = \{ )?", listed[2].strip(" }\n"))
    for part, found in zip(wanted, found_types, strict=False):
        name, _, kind = part.partition(": ")
        if name in given and kind.split(".")[-1] != found.split(".")[-1] and found not in kind:
            return f"{name} is {shown(given[name])}, expected {_plain(kind)}"
    return "an argument has a type that the call can't take"


def _plain(kind: str) -> str:
    names = {"str": "a string", "int": "an integer that fits the parameter", "float": "a number", "bool": "True or False"}
    return names.get(kind, kind)
