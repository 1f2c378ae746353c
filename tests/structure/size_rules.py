"""The rules that sizes are computed by helpers alone: include/tendril/checked.hpp, python/tendril/_arrays.py.

In C++ a product that wraps around asks for too little memory, and what is written then goes past its end. So no size of
memory or of a file may be a product of run-time values. Constants and sizeof may be factors: the owner of the memory
(`buffer`) checks its number of bytes itself. In Python the helpers turn what NumPy says into the package's own error.
"""

import re
from pathlib import Path

from rules import CODE, sources

# Where the library, the command line and the Python extension lie.
ROOMS_WITH_SIZES = ("include", "src", "cli", "python/src")
# Users' options and arrays arrive here: every integer that is initialised by a product counts as a size.
SURFACES = ("cli", "python/src")

OWNERS = r"(?:buffer|vector|shared_array)<[^;(){}]*>"
SINKS = re.compile(
    rf"""(?x)
      \b{OWNERS}(?:\s+\w+)?\s*[({{]                                    # buffer<T>(size), std::vector<T> name(size)
    | \bmake_(?:shared|unique)<[^;(){{}}]*>\(
    | (?:\.|->)(?:resize|reserve|allocate|assign|skip|emplace)\(
    | \bnew\s[\w:]+(?:<[^>]*>)?\[
    | \b(?:cudaMalloc|cudaHostAlloc)\w*\(
    | \b(?:mmap|ftruncate|posix_fallocate|malloc|calloc|realloc|aligned_alloc|posix_memalign)\(
    | \bchecked_(?:product|sum)\(                                       # the helper takes factors, not their products
    """
)
MEMBERS = re.compile(r"\b(?:buffer|vector)<[^;(){}=]*>\s+(\w+(?:\s*,\s*\w+)*)\s*;")
# clang-format puts blanks on both sides of a product's sign, and never before that of a pointer.
PRODUCT = re.compile(r"(?<=[\w)\]>])\s+\*\s+(?=[\w(:])")
NEARBY = 8000  # characters between a size and its definition
CONSTANT = r"(?:\d[\d'.a-zA-Z]*|sizeof\b.*)"
ROUNDED_UP = re.compile(r"/\s+(\w+)\s+\*\s+\1\b")  # (size + unit - 1) / unit * unit
NAME = re.compile(r"(?<![\w.:])(?<!->)[a-z_]\w*(?![\w(<:.]|\[|->)")
PARAMETERS = re.compile(r"\b(?:const[&*]|const\s+\w+|_t\s+\w+|_id\s+const)|\w[*&]\s\w+\s*,")
SURFACE = re.compile(r"\bstd::(?:int64_t|size_t|uint64_t)\s+(?:const\s+)?(\w+)\s*(?:=|\{)([^;]*);")


PYTHON_PACKAGE = "python/tendril"
PYTHON_HELPERS = "python/tendril/_arrays.py"
NUMPY_REPEATS = re.compile(r"\bnp\.(?:repeat|tile)\(")
NUMPY_MAKES = re.compile(r"\bnp\.(?:empty|zeros|ones|full|arange)\(")


def _code(text):
    """The text with comments and the content of strings blanked, of the same length."""
    text = re.sub(r"//[^\n]*", lambda m: " " * len(m.group()), text)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', lambda m: '"' + "_" * (len(m.group()) - 2) + '"', text)


def _argument(text, begin):
    """What lies between the bracket before `begin` and the one that closes it."""
    depth, end = 1, begin
    while depth and end < len(text):
        depth += (text[end] in "([{") - (text[end] in ")]}")
        end += 1
    return text[begin : end - 1]


def _has_product(expression):
    """Whether an expression multiplies two run-time values; what lies in [] is an index."""
    expression = ROUNDED_UP.sub("/ 1", re.sub(r"\[[^\[\]]*\]", "[]", expression))
    for match in PRODUCT.finditer(expression):
        left = re.search(r"[\w.:']+$", expression[: match.start()])
        right = re.match(r"[\w.:']+", expression[match.end() :])
        if not any(side and re.fullmatch(CONSTANT, side.group()) for side in (left, right)):
            return True
    return False


def _definition(name, before):
    """The expression that the nearest definition of an integer `name` in the text before its use gives it."""
    before = before[-NEARBY:]
    pattern = rf"(?:\bauto|\bint|_t|\bunsigned|\blong)\s(?:const\s)?{re.escape(name)}\s*(?:=|\{{)([^;]*);"
    found = list(re.finditer(pattern, before))
    return re.split(r",\s\w+\s=", found[-1].group(1))[0] if found else ""


def _sizes(text):
    """Pairs of position and argument of everything that takes a size."""
    members = {name.strip() for match in MEMBERS.finditer(text) for name in match.group(1).split(",")}
    found = [(match.start(), match.end()) for match in SINKS.finditer(text)]
    if members:
        constructed = rf"(?<![\w.>:])(?:{'|'.join(sorted(members))})[({{](?=[^)])"
        found += [(match.start(), match.end()) for match in re.finditer(constructed, text)]
    for begin, end in sorted(found):
        argument = _argument(text, end)
        if not PARAMETERS.search(argument):  # a function that returns such an array
            yield begin, argument


def _unchecked(text, surface):
    """Pairs of position and what is wrong there."""
    for begin, argument in _sizes(text):
        if _has_product(argument):
            yield begin, f"a size is a product: {' '.join(argument.split())}"
        for name in sorted(set(NAME.findall(argument))):
            if _has_product(_definition(name, text[:begin])):
                yield begin, f"a size is a product: {name} is {' '.join(_definition(name, text[:begin]).split())}"
    for match in SURFACE.finditer(text) if surface else ():
        if _has_product(match.group(2)) and "double" not in match.group(2):
            yield match.start(), f"a number is a product: {match.group(1)} is {' '.join(match.group(2).split())}"


def checked_sizes(root):
    """Every size that is a product comes from checked_product."""
    root = Path(root)
    found = []
    for path in sources(root, CODE):
        relative = path.relative_to(root)
        if not any(relative.is_relative_to(room) for room in ROOMS_WITH_SIZES):
            continue
        text = _code(path.read_text(encoding="utf-8", errors="replace"))
        surface = any(relative.is_relative_to(room) for room in SURFACES)
        by_line = {text.count("\n", 0, begin) + 1: what for begin, what in reversed(list(_unchecked(text, surface)))}
        found += [f"{relative}:{n}: {what}, expected checked_product" for n, what in sorted(by_line.items())]
    return found


def repeated_arrays(root):
    """Arrays that NumPy repeats, and those whose size is a product, come from the helpers of _arrays.py."""
    root = Path(root)
    found = []
    for path in sources(root / PYTHON_PACKAGE, {".py"}) if (root / PYTHON_PACKAGE).exists() else ():
        relative = path.relative_to(root)
        if str(relative) == PYTHON_HELPERS:
            continue
        text = re.sub(r"#[^\n]*", lambda m: " " * len(m.group()), path.read_text(encoding="utf-8"))
        repeats = [match.start() for match in NUMPY_REPEATS.finditer(text)]
        makes = [match.start() for match in NUMPY_MAKES.finditer(text) if _has_product(_argument(text, match.end()))]
        for begin in sorted(repeats + makes):
            line = text.count("\n", 0, begin) + 1
            found.append(f"{relative}:{line}: NumPy makes an array whose size is a product, expected a helper of _arrays")
    return found
