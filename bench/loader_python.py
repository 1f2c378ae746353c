"""What a loader's batches cost in the interpreter, which the loop that trains shares with the threads that make them.

Batches are tiny, so that little else is measured; what Python does for a batch doesn't depend on its size. Jobs:

  time a batch         all that the thread which makes batches does: Python, the library's and Torch's calls
  interpreter a batch  the part in which it holds the interpreter's lock, by samples of py-spy (on PyPI; without it the job
                       is left out): waiting and calls that give the lock away don't count. --stacks FILE writes them, for a
                       flame graph.

Cases: a Data with features, classes and a mask on the GPU, or in page-locked host memory without and with a cache, and types
of vertices as in ogbn-mag.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from torch_geometric.data import Data, HeteroData
from training_report import Report

from tendril import FeatureCache
from tendril.pyg import NeighborLoader

EXAMPLES = """examples:
  python bench/loader_python.py --json bench/results/nvidia-h200-loader-python.json
  python bench/loader_python.py --device cpu --small
"""


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--batches", type=int, default=500, help="of an epoch; default: 500")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5, help="of each round of samples; default: 5")
    parser.add_argument("--stacks", type=Path, help="write the stacks that held the interpreter, and their samples")
    parser.add_argument("--small", action="store_true", help="few batches: to see whether all is well")
    parser.add_argument("--json", type=Path, help="write the result file")
    args = parser.parse_args()
    if args.small:
        args.batches, args.rounds, args.seconds = 60, 2, 2
    args.device = torch.device(args.device)
    return args


# --- The interpreter's lock ------------------------------------------------------------------------------------------

_RATE = 500  # samples a second


class Sampler:
    """py-spy, which looks from outside which thread holds the interpreter's lock, without stopping it.

    Parameters
    ----------
    seconds : int
        How long it looks.
    """

    def __init__(self, seconds):
        path = os.pathsep.join([os.environ.get("PATH", ""), str(Path(sys.executable).parent)])
        self.seconds, self._program, self._most = seconds, shutil.which("py-spy", path=path), None

    def is_there(self):
        return self._program is not None

    def _samples(self, work):
        """The stacks that held the lock while `work` was called again and again, and how often each was seen."""
        with tempfile.NamedTemporaryFile(suffix=".txt") as out:
            options = ["--gil", "--nonblocking", "--format", "raw", "--rate", str(_RATE), "--duration", str(self.seconds)]
            command = [self._program, "record", *options, "--output", out.name, "--pid", str(os.getpid())]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
                while process.poll() is None:
                    work()
                said = process.stdout.read()
            stacks = [line.rsplit(" ", 1) for line in Path(out.name).read_text().splitlines()]
        if process.returncode:
            raise SystemExit(f"py-spy: {said.strip()}")
        return [(stack, int(count)) for stack, count in stacks]

    def calibrate(self):
        """Looks where the answer is known: a thread that counts holds the lock always, one that sleeps never."""
        self._most = sum(count for _, count in self._samples(lambda: sum(range(10_000))))
        asleep = sum(count for _, count in self._samples(lambda: time.sleep(0.001)))
        if asleep > 0.05 * self._most:
            raise SystemExit(f"py-spy: {self._most} samples hold the lock in a loop that counts, and {asleep} asleep")

    def share(self, work):
        """The share of time in which some thread held the lock, and the stacks.

        A share of p is known to sqrt(p (1 - p) / samples): .01 of 2,500 samples.
        """
        stacks = self._samples(work)
        return sum(count for _, count in stacks) / self._most, stacks


# --- Data ------------------------------------------------------------------------------------------------------------


def one_type():
    """As ogbn-products', but small."""
    count, draws = 20_000, torch.Generator().manual_seed(0)
    return Data(
        x=torch.randn(count, 100, generator=draws),
        y=torch.randint(47, (count,), generator=draws),
        train_mask=torch.rand(count, generator=draws) < 0.1,
        edge_index=torch.randint(count, (2, 400_000), generator=draws),
    )


def types():
    """The types of ogbn-mag."""
    count, draws, data = 5000, torch.Generator().manual_seed(0), HeteroData()
    for name in ("paper", "author", "institution", "field_of_study"):
        data[name].x = torch.randn(count, 128, generator=draws)
    data["paper"].y = torch.randint(349, (count,), generator=draws)
    relations = [("author", "writes", "paper"), ("paper", "cites", "paper"), ("paper", "has_topic", "field_of_study")]
    for key in (*relations, ("author", "affiliated_with", "institution")):
        for one in {key, (key[2], f"rev_{key[1]}", key[0])}:
            data[one].edge_index = torch.randint(count, (2, 50_000), generator=draws)
    return data


def cases(device):
    if device.type == "cpu":
        return {"features in host memory": (one_type(), {}), "types": (types(), {"input_nodes": "paper"})}
    return {
        "features on the GPU": (one_type().to(device), {}),
        "features in host memory": (one_type().pin_memory(), {}),
        "features in host memory, lookahead 20%": (one_type().pin_memory(), {"cache": FeatureCache(0.2)}),
        "types, features on the GPU": (types().to(device), {"input_nodes": "paper"}),
    }


# --- Measuring -------------------------------------------------------------------------------------------------------


def epoch(loader):
    """Seconds a batch."""
    begin, count = time.perf_counter(), 0
    for _ in loader:
        count += 1
    return (time.perf_counter() - begin) / count


def measure(args, report):
    sampler, stacks = Sampler(args.seconds), []
    if sampler.is_there():
        sampler.calibrate()
    else:
        print("py-spy is not installed: no shares of the interpreter (pip install py-spy)")
    for name, (data, options) in cases(args.device).items():
        nodes = options.get("input_nodes")
        kind_of = data[nodes] if nodes else data
        seeds = torch.arange(16 * args.batches) % kind_of.num_nodes
        options = {**options, "input_nodes": (nodes, seeds) if nodes else seeds}
        loader = NeighborLoader(data, [2, 2, 2], batch_size=16, device=args.device, prefetch=0, bulk=64, **options)
        epoch(loader)
        report.add("time a batch", name, [epoch(loader) for _ in range(args.rounds)])
        if sampler.is_there():
            held = []
            for _ in range(args.rounds):
                times = []
                share, seen = sampler.share(lambda loader=loader, times=times: times.append(epoch(loader)))
                held.append(share * sum(times) / len(times))
                stacks += [f"{name};{stack} {count}" for stack, count in seen]
            report.add("interpreter a batch", name, held)
    if args.stacks:
        args.stacks.write_text("\n".join(stacks) + "\n")


def main():
    args = parse()
    report = Report("random edges", args.device)
    measure(args, report)
    report.print()
    if args.json:
        report.write(args.json)


if __name__ == "__main__":
    main()
