"""What a loader's batches cost in the interpreter, which the loop that trains shares with the threads that make them.

Batches are tiny, so that little else is measured; what Python does for a batch doesn't depend on its size. Jobs:

  time a batch         all that the thread which makes batches does: Python, the library's and Torch's calls
  interpreter a batch  the part in which it holds the interpreter's lock: what another thread, which counts in plain Python,
                       loses. Waiting and calls that give the lock away don't count; handing it over does.

Cases: a Data with features, classes and a mask on the GPU, or in page-locked host memory without and with a cache, and types
of vertices as in ogbn-mag.
"""

from __future__ import annotations

import argparse
import sys
import threading
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
    parser.add_argument("--small", action="store_true", help="few batches: to see whether all is well")
    parser.add_argument("--json", type=Path, help="write the result file")
    args = parser.parse_args()
    if args.small:
        args.batches, args.rounds = 60, 2
    args.device = torch.device(args.device)
    return args


class Counter:
    """A thread that counts, as fast as it gets the interpreter."""

    def __init__(self):
        self.count, self._stop = 0, False

    def __enter__(self):
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop = True
        self._thread.join()

    def _run(self):
        while not self._stop:
            self.count += 1


def rate_alone():
    """Counts a second."""
    with Counter() as counter:
        time.sleep(0.05)
        first, begin = counter.count, time.perf_counter()
        time.sleep(0.3)
        return (counter.count - first) / (time.perf_counter() - begin)


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
    sys.setswitchinterval(1e-5)  # the counting thread gives the lock away soon
    for name, (data, options) in cases(args.device).items():
        nodes = options.get("input_nodes")
        kind_of = data[nodes] if nodes else data
        seeds = torch.arange(16 * args.batches) % kind_of.num_nodes
        options = {**options, "input_nodes": (nodes, seeds) if nodes else seeds}
        loader = NeighborLoader(data, [2, 2, 2], batch_size=16, device=args.device, prefetch=0, bulk=64, **options)
        epoch(loader)
        alone, held = [], []
        for _ in range(args.rounds):
            alone.append(epoch(loader))
            most = rate_alone()
            with Counter() as counter:
                first, begin = counter.count, time.perf_counter()
                each = epoch(loader)
                counted = (counter.count - first) / (time.perf_counter() - begin)
            held.append(max(0.0, 1 - counted / most) * each)
        report.add("time a batch", name, alone)
        report.add("interpreter a batch", name, held)


def main():
    args = parse()
    report = Report("random edges", args.device)
    measure(args, report)
    report.print()
    if args.json:
        report.write(args.json)


if __name__ == "__main__":
    main()
