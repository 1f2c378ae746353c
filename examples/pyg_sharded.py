"""GraphSAGE on a graph that no process holds as a whole.

python examples/pyg_sharded.py --prepare parts --num-parts 2         cuts the graph, and writes the features
torchrun --nproc-per-node 2 examples/pyg_sharded.py --parts parts    trains; with --device cuda on a GPU of each process

Each process reads its part of the edges and the rows of its own vertices, and asks the others for the rest, batch by batch. The
batches are those of one process with the whole graph, so the model is the same, up to rounding, as that of pyg_ddp.py.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
import torch
import torch.distributed as torch_dist
import torch.nn.functional as F  # noqa: N812: so do all
from pyg_sage import load
from torch.nn.parallel import DistributedDataParallel
from torch_geometric.nn import GraphSAGE

import tendril
from tendril.pyg import NeighborLoader, sharded_data


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=Path(__file__).parents[1] / "data" / "cora.npz", help="the graph's file")
    parser.add_argument("--prepare", type=Path, help="write parts and features into this new folder")
    parser.add_argument("--num-parts", type=int, default=2)
    parser.add_argument("--parts", type=Path, help="train on what --prepare wrote")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where each process has its part, and trains")
    parser.add_argument("--fanouts", type=int, nargs="+", default=[10, 10])
    parser.add_argument("--batch-size", type=int, default=16, help="of each process")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--save", type=Path, help="write the model's weights")
    return parser.parse_args()


def prepare(args):
    data = load(args.data)
    source, target = data.edge_index.numpy()
    graph = tendril.Graph.from_coo(source, target, num_vertices=data.num_nodes, reverse=True)
    tendril.partition(graph, args.prepare, args.num_parts)
    for name in ("x", "y", "train_mask", "test_mask"):
        np.save(args.prepare / f"{name}.npy", data[name].numpy())
    print(f"{args.num_parts} parts in {args.prepare}")


def train(args, ranks):
    device = f"cuda:{os.environ['LOCAL_RANK']}" if args.device == "cuda" else "cpu"
    place = device if args.device == "cuda" else None
    graph = tendril.dist.Graph(ranks, args.parts)
    tables = {name: tendril.dist.FeatureTable(graph, args.parts / f"{name}.npy", device=place) for name in ("x", "y")}
    data = sharded_data(graph, device=place, **tables)
    train_mask, test_mask = (np.load(args.parts / f"{name}_mask.npy") for name in ("train", "test"))
    classes = int(np.load(args.parts / "y.npy", mmap_mode="r").max()) + 1
    torch.manual_seed(0)  # the same weights in each process
    model = GraphSAGE(tables["x"].shape[1], 64, len(args.fanouts), classes).to(device)
    trained = DistributedDataParallel(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    how = {"batch_size": args.batch_size, "rank": "auto"}
    seeds = torch.from_numpy(np.flatnonzero(train_mask))
    for batch in epochs(NeighborLoader(data, args.fanouts, seeds, shuffle=True, uneven="drop", **how), args.epochs):
        optimizer.zero_grad()
        out = trained(batch.x, batch.edge_index)[: batch.batch_size]
        F.cross_entropy(out, batch.y[: batch.batch_size]).backward()
        optimizer.step()
    right, count = torch.zeros(1, device=device), torch.zeros(1, device=device)
    with torch.no_grad():  # by whole neighbourhoods; processes needn't have equally many batches
        for batch in NeighborLoader(data, [-1] * len(args.fanouts), torch.from_numpy(np.flatnonzero(test_mask)), **how):
            found = model(batch.x, batch.edge_index)[: batch.batch_size].argmax(dim=-1)
            right += (found == batch.y[: batch.batch_size]).sum()
            count += batch.batch_size
    torch_dist.all_reduce(right)
    torch_dist.all_reduce(count)
    if ranks.rank == 0:
        away = tables["x"].report()
        print(
            f"{ranks.size} processes: test accuracy {(right / count).item():.4f}; "
            f"{100 * away.rows_away / away.rows:.0f} % of the rows came from other processes"
        )
        if args.save:
            torch.save(model.state_dict(), args.save)


def epochs(loader, count):
    for _ in range(count):
        yield from loader


def main():
    args = parse()
    if args.prepare:
        prepare(args)
        return
    if args.device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch_dist.init_process_group("nccl" if args.device == "cuda" else "gloo")
    with tendril.dist.connect() as ranks:
        train(args, ranks)
    time.sleep(0.5)  # as in pyg_ddp.py
    torch_dist.destroy_process_group()


if __name__ == "__main__":
    main()
