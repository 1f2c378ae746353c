"""Lays out what the site is built from: `stage.py FOLDER` writes the pages of docs/ and the README, the pages that list
the Python package, and a page for each file of the repository that one of them links to.

Links between files of the repository become links between pages. A link to something that is not there ends the build.
"""

import ast
import os
import re
import shutil
import sys
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
# Pages that lie elsewhere, or would be called like the start page.
MOVED = {"README.md": "index.md", "docs/README.md": "guides.md", "data/README.md": "data.md"}
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".cuh": "cuda", ".cu": "cuda", ".py": "python", ".sh": "bash"}

# The Python package by subject. Every name that it exports is on one of these pages.
PYTHON = {
    "graphs": ("Graphs", "tendril", ["Graph", "HeteroGraph", "read_graph", "detect_format", "convert", "partition", "read_partition"]),
    "generate": ("Synthetic graphs", "tendril.generate", None),
    "walks": (
        "Random walks",
        "tendril",
        ["random_walk", "node2vec_walk", "metapath_walk", "multidim_walk", "MultidimWalks", "dynamic_walk"]
        + ["CustomWalk", "plan_walk", "Plan", "count_walks", "count_visits"],
    ),
    "neighbourhoods": (
        "Neighbourhoods and mini-batches",
        "tendril",
        ["khop_sample", "KHop", "plan_khop", "neighbor_sample", "NeighborSample", "MinibatchSampler", "Minibatch"]
        + ["Block", "plan_minibatch", "HGTSampler", "NegativeSampler", "num_negatives"],
    ),
    "layers": (
        "Layers",
        "tendril",
        ["fastgcn_sample", "ladies_sample", "LayerSamples", "Layer", "layer_sample", "labor_sample", "LaborBatch"]
        + ["LaborHop", "mvs_sample", "MvsBatches", "MvsBatch", "pass_sample", "PassBatch", "segment_multinomial"],
    ),
    "subgraphs": (
        "Subgraphs",
        "tendril",
        ["cluster_vertices", "group_clusters", "cluster_sample", "cluster_subgraphs", "Clusters", "shadow_sample"]
        + ["saint_node_sample", "saint_edge_sample", "saint_walk_sample", "saint_coefficients", "SaintCoefficients"]
        + ["induced_subgraphs", "Subgraphs", "Subgraph"],
    ),
    "features": (
        "Features",
        "tendril",
        ["gather", "gather_tables", "read_features", "FeatureTable", "FeatureCache", "LoaderCache", "Pipeline", "PipelineBatch", "Padding", "LoaderStats"],
    ),
    "applications": ("Applications", "tendril", ["sample", "Application", "Samples", "SampledStep", "SampledEdges"]),
    "devices": (
        "Devices and errors",
        "tendril",
        ["num_gpus", "gpu_info", "GpuInfo", "DeviceArray", "TendrilError", "ArgumentError", "DeviceError"]
        + ["FormatError", "IoError", "OutOfMemoryError", "RankError"],
    ),
    "dist": ("Several processes", "tendril.dist", None),
    "pyg": ("PyTorch Geometric", "tendril.pyg", None),
}

LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s]+)(\))")
FENCE = re.compile(r"^ *(```+|~~~+)")


def exported(module):
    """The names in a module's __all__."""
    path = ROOT / "python" / Path(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return ast.literal_eval(node.value)
    raise SystemExit(f"docs: {path.relative_to(ROOT)}: no __all__")


def in_namespace(text, wanted):
    """The lines of a header that lie in one namespace, not in one inside it."""
    inside = []
    kept = []
    for line in text.splitlines():
        if opened := re.match(r"namespace ([\w:]+) {", line):
            inside.append(opened[1])
        elif line.startswith("}  // namespace"):
            inside.pop()
        elif inside == [wanted]:
            kept.append(line)
    return "\n".join(kept)


class Stage:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.placed = {}  # path in the repository to path in the site's source

    def write(self, place, text):
        target = self.folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def place_of(self, source):
        """Where a file of the repository goes; it is copied there if nothing linked to it before."""
        if source in self.placed:
            return self.placed[source]
        path = ROOT / source
        suffix = PurePosixPath(source).suffix
        if source in MOVED:
            place = MOVED[source]
        elif suffix in (".md", ".svg") and (source.startswith("docs/") or "/" not in source):
            place = PurePosixPath(source).name if suffix == ".svg" else PurePosixPath(source).name.lower()
        elif source == "include/tendril":
            place = "cpp-api.md"
        elif path.is_dir() or suffix not in (".json", ".svg", ".png"):
            place = f"files/{source}.md"
        else:
            place = f"files/{source}"
        self.placed[source] = place
        if place != "cpp-api.md":
            self.fill(source, path, place)
        return place

    def fill(self, source, path, place):
        if path.is_dir():
            files = sorted(p.relative_to(ROOT).as_posix() for p in path.iterdir() if p.is_file())
            entries = [f"- [{PurePosixPath(f).name}]({self.relative(place, self.place_of(f))})" for f in files]
            self.write(place, f"# {source}\n\n" + "\n".join(entries) + "\n")
        elif path.suffix == ".md":
            self.write(place, self.rewritten(source, path.read_text(encoding="utf-8"), place))
        elif place.endswith(".md"):
            language = LANGUAGES.get(path.suffix, "text")
            self.write(place, f"# {source}\n\n````{language}\n{path.read_text(encoding='utf-8')}````\n")
        else:
            (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, self.folder / place)

    @staticmethod
    def relative(place, target):
        return os.path.relpath(target, PurePosixPath(place).parent).replace(os.sep, "/")

    def rewritten(self, source, text, place):
        """A page with its links turned; code blocks stay as they are."""
        lines = []
        fence = None
        for line in text.splitlines():
            mark = FENCE.match(line)
            if mark and fence is None:
                fence = mark[1]
            elif mark and mark[1].startswith(fence) and line.strip() == mark[1]:
                fence = None
            elif fence is None:
                line = LINK.sub(lambda m: m[1] + self.target(source, m[2], place) + m[3], line)
            lines.append(line)
        return "\n".join(lines) + "\n"

    def target(self, source, link, place):
        if re.match(r"[a-z]+:|#", link):
            return link
        path, mark, anchor = link.partition("#")
        named = os.path.normpath(os.path.join(os.path.dirname(source), path)).replace(os.sep, "/")
        if named.startswith("..") or not (ROOT / named).exists():
            raise SystemExit(f"docs: {source}: link to '{link}', expected a file of the repository")
        return self.relative(place, self.place_of(named)) + mark + anchor

    def cpp_page(self):
        """The start page of the C++ reference; mkdoxy makes the pages that it links to."""
        rows = []
        for header in sorted((ROOT / "include/tendril").glob("*.hpp")):
            text = in_namespace(header.read_text(encoding="utf-8"), "tendril")
            types = re.findall(r"^(struct|class) (\w+)(?= |$)[^;]*$", text, re.M)
            links = [f"[`{name}`](cpp/{kind}tendril_1_1{name.replace('_', '__')}.md)" for kind, name in types]
            functions = re.findall(
                r"^(?!using |static|#|template|requires|struct|class| )[\w:<>,&*\[\] ]*?\b(\w+)\(", text, re.M
            )
            links += [f"[`{name}`](cpp/namespacetendril.md#function-{name})" for name in dict.fromkeys(functions)]
            page = header.stem.replace("_", "__") + "_8hpp.md"
            rows.append(f"| [`{header.name}`](cpp/{page}) | {', '.join(links)} |")
        self.write(
            "cpp-api.md",
            "# C++ API\n\n"
            "Link `tendril::tendril` ([install](install.md)) and include what you use. The [functions and constants]"
            "(cpp/namespacetendril.md) and the [classes](cpp/annotated.md) are listed in full. The headers in "
            "`tendril/engine/` run structs of your own: link `tendril::engine`.\n\n"
            "| header in `tendril/` | classes, functions |\n| --- | --- |\n" + "\n".join(rows) + "\n",
        )

    def python_pages(self):
        """One page a subject, and the page that lists them."""
        listed = [name for _, module, names in PYTHON.values() if module == "tendril" for name in names]
        public = set(exported("tendril")) - {"__version__", "dist", "generate"}
        if set(listed) != public or len(listed) != len(set(listed)):
            wrong = sorted(set(listed) ^ public) or sorted(n for n in set(listed) if listed.count(n) > 1)
            raise SystemExit(f"docs: docs/site/stage.py: PYTHON: {', '.join(wrong)}: expected each public name once")
        index = ["# Python API", "", "| page | names |", "| --- | --- |"]
        for page, (title, module, names) in PYTHON.items():
            names = names or exported(module)
            links = ", ".join(f"[`{n}`]({page}.md#{module}.{n})" for n in names)
            index.append(f"| [{title}]({page}.md) | {links} |")
            body = "\n".join(f"::: {module}.{name}\n" for name in names)
            note = f"`import {module}`\n\n" if module == "tendril" else f"`from {module} import …`\n\n"
            self.write(f"python-api/{page}.md", f"# {title}\n\n{note}{body}")
        self.write("python-api/index.md", "\n".join(index) + "\n")


def main():
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    stage = Stage(folder)
    for page in ["README.md", "CHANGELOG.md", *sorted(p.relative_to(ROOT).as_posix() for p in ROOT.glob("docs/*.md"))]:
        stage.place_of(page)
    stage.cpp_page()
    stage.python_pages()
    shutil.copyfile(ROOT / "docs/site/extra.css", folder / "extra.css")


if __name__ == "__main__":
    main()
