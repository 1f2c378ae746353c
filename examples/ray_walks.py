"""A corpus of walks, made in parts by tasks of Ray: python examples/ray_walks.py GRAPH OUT [--parts N] [--cpus C] [OPTIONS]

OPTIONS are those of `tendril walk`. GRAPH and OUT lie on a file system that all nodes share, and `tendril` is on the PATH
of each. A task that fails, or whose node is lost, runs again and writes the same bytes.
"""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

import ray


@ray.remote(max_retries=3, retry_exceptions=[subprocess.CalledProcessError])
def make_part(graph: str, output: str, part: str, threads: int, options: list[str]) -> str:
    """Writes one part, and returns the name of its file."""
    words = ["tendril", "walk", graph, "-o", output, "--part", part, "--threads", str(threads), "--quiet"]
    subprocess.run([*words, *options], check=True)
    return output


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("graph", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--cpus", type=int, default=1, help="cores of a task")
    arguments, options = parser.parse_known_args()

    ray.init()
    graph, out = arguments.graph.resolve(), arguments.out.resolve()  # a task has a working folder of its own
    task = make_part.options(num_cpus=arguments.cpus)
    running = []
    for i in range(arguments.parts):
        name = out.with_name(f"{out.stem}.part-{i:05}-of-{arguments.parts:05}{out.suffix}")
        running.append(task.remote(str(graph), str(name), f"{i}/{arguments.parts}", arguments.cpus, options))
    made = ray.get(running)
    subprocess.run(["tendril", "join", *made, "-o", str(out)], check=True)
    for path in made:
        Path(path).unlink()


if __name__ == "__main__":
    main()
