"""The rule that modules of the Python package don't import each other in circles."""

import ast
from pathlib import Path

from rules import sources

PACKAGE = Path("python/tendril")


def _module(relative):
    """("tendril", "pyg", "_edges") for pyg/_edges.py; an __init__.py is the module of its folder."""
    parts = (PACKAGE.name, *relative.with_suffix("").parts)
    return parts[:-1] if parts[-1] == "__init__" else parts


def _imports(path, package):
    """What a file imports, anywhere in it: at its top, in functions, and for type checkers alone. Pairs of the module
    that an import names and the name that it takes from there, "" if it takes the module itself."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((tuple(alias.name.split(".")), "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            yield from ((base, alias.name) for alias in node.names)


def import_graph(root):
    """Which modules of the package each of them imports. Importing tendril._a runs tendril/__init__.py first; only an
    import that takes something from tendril itself counts as one of it."""
    folder = Path(root) / PACKAGE
    # The stub stands for the compiled module.
    files = {_module(path.relative_to(folder)): path for path in sources(folder, {".py", ".pyi"})} if folder.exists() else {}
    graph = {}
    for module, path in files.items():
        package = module if path.name == "__init__.py" else module[:-1]
        named = {(*base, name) if (*base, name) in files else base for base, name in _imports(path, package)}
        graph[module] = sorted((named & files.keys()) - {module})
    return graph


def _circle(graph, start):
    """The shortest way from a module back to it, or nothing."""
    ways = [[start]]
    seen = set()
    for way in ways:
        for module in graph[way[-1]]:
            if module == start:
                return [*way, module]
            if module not in seen:
                seen.add(module)
                ways.append([*way, module])
    return []


def import_circles(root):
    """No module imports another that imports it, directly or through others, not even under TYPE_CHECKING."""
    graph = import_graph(root)
    found, known = [], set()
    for start in sorted(graph):
        circle = _circle(graph, start)
        if circle and frozenset(circle) not in known:
            known.add(frozenset(circle))
            names = " -> ".join(".".join(module) for module in circle)
            found.append(f"{PACKAGE}: modules import each other in a circle: {names}")
    return found
