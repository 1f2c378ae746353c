"""Trains a model several times with Tendril's loader and with PyG's, and tells whether they reach the same accuracy.

PyG's loader samples with pyg-lib or torch-sparse. Where neither is installed, a sampler in plain Python takes their place,
by PyG's definition: distinct neighbours at random, hop by hop, of the vertices that the hop before saw first.
"""

from __future__ import annotations

import datetime
import json
import platform
import statistics
import subprocess
import warnings
from pathlib import Path

import torch
import torch_geometric
from torch_geometric.data import HeteroData
from torch_geometric.loader import NeighborLoader, NodeLoader
from torch_geometric.sampler import BaseSampler, HeteroSamplerOutput, SamplerOutput

from tendril import pyg


class PlainSampler(BaseSampler):
    """PyG's neighbour sampling, written for reading."""

    def __init__(self, data, num_neighbors):
        self.hetero = isinstance(data, HeteroData)
        self.fanouts = num_neighbors
        stores = {key: data[key].edge_index for key in data.edge_types} if self.hetero else {None: data.edge_index}
        self.incoming = {key: self._lists(edges) for key, edges in stores.items()}

    @staticmethod
    def _lists(edge_index):
        found = {}
        for edge, (source, target) in enumerate(edge_index.t().tolist()):
            found.setdefault(target, []).append((source, edge))
        return found

    def sample_from_nodes(self, index, **kwargs):
        names = {name for key in self.incoming for name in (key[0], key[2])} if self.hetero else {None}
        node = {name: [] for name in names}
        node[index.input_type] = index.node.tolist()
        place = {name: {v: i for i, v in enumerate(many)} for name, many in node.items()}
        edges = {key: ([], [], []) for key in self.incoming}
        first = dict.fromkeys(names, 0)
        for fanout in self.fanouts:
            last = {name: len(node[name]) for name in names}
            for key, incoming in self.incoming.items():
                source_type, target_type = (key[0], key[2]) if self.hetero else (None, None)
                for to in range(first[target_type], last[target_type]):
                    known = incoming.get(node[target_type][to], [])
                    picked = torch.randperm(len(known))[:fanout].tolist() if fanout >= 0 else range(len(known))
                    for pick in picked:
                        source, edge = known[pick]
                        if source not in place[source_type]:
                            place[source_type][source] = len(node[source_type])
                            node[source_type].append(source)
                        for many, one in zip(edges[key], (place[source_type][source], to, edge), strict=True):
                            many.append(one)
            first = last
        node = {name: torch.tensor(many, dtype=torch.long) for name, many in node.items()}
        edges = {key: [torch.tensor(many, dtype=torch.long) for many in three] for key, three in edges.items()}
        told = (index.input_id, index.time)
        if not self.hetero:
            return SamplerOutput(node[None], *edges[None], metadata=told)
        parts = [{key: three[i] for key, three in edges.items()} for i in range(3)]
        return HeteroSamplerOutput(node, *parts, metadata=told)

    def sample_from_edges(self, index, neg_sampling=None):
        raise NotImplementedError


def pygs():
    """PyG's loader, and what samples for it."""
    for name, there in (("pyg-lib", "WITH_PYG_LIB"), ("torch-sparse", "WITH_TORCH_SPARSE")):
        if getattr(torch_geometric.typing, there):
            return NeighborLoader, f"PyG {torch_geometric.__version__}, {name}"
    samplers = {}

    def loader(data, num_neighbors, **options):
        if id(data) not in samplers:
            samplers[id(data)] = PlainSampler(data, num_neighbors)
        return NodeLoader(data, samplers[id(data)], **options)

    return loader, f"PyG {torch_geometric.__version__}, a sampler in plain Python"


def compare(job, data, args, run):
    theirs, name = pygs()
    results = {}
    for seed in range(args.seeds):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyG's, of samplers other than pyg-lib
            results.setdefault(name, []).append(run(data, args, seed, theirs))
        found = run(data, args, seed, pyg.NeighborLoader, seed=seed, device=args.device)
        results.setdefault("tendril", []).append(found)
        print(f"seed {seed}: {name} {results[name][-1]:.4f}, tendril {found:.4f}", flush=True)
    path = Path(args.data)
    graph = path.parent.name if path.stem == "graph" else path.stem
    fanouts = ",".join(map(str, args.fanouts))
    rows = []
    for sampler, values in results.items():
        mean = statistics.mean(values)
        deviation = statistics.stdev(values) if len(values) > 1 else 0.0
        print(f"{job} on {graph}, {sampler}: {mean:.4f} ± {deviation:.4f} over {len(values)} runs")
        rows.append(
            {
                "job": f"{job}, test accuracy",
                "graph": graph,
                "params": f"{sampler}; fan-outs {fanouts}, batch {args.batch_size}, {args.epochs} epochs, {args.device}",
                "value": mean,
                "unit": "of 1",
                "deviation": deviation,
                "repeats": len(values),
                "min": min(values),
                "max": max(values),
            }
        )
    if args.json:
        write(Path(args.json), rows)


def processor():
    try:
        told = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        told = []
    names = [line.partition(":")[2].strip() for line in told if line.startswith("model name")]
    return names[0] if names else platform.machine()


def write(path, rows):
    """Adds rows to a result file, in place of older ones of the same job."""

    def key(row):
        return row["job"], row["graph"], row["params"]

    new = {key(row) for row in rows}
    old = json.loads(path.read_text())["rows"] if path.exists() else []
    git = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    machine = {"processor": processor(), "torch": torch.__version__, "torch_geometric": torch_geometric.__version__}
    told = {
        "machine": machine,
        "commit": git.stdout.strip(),
        "date": datetime.date.today().isoformat(),
        "rows": [row for row in old if key(row) not in new] + rows,
    }
    path.write_text(json.dumps(told, indent=1) + "\n")
