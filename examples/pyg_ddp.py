"""GraphSAGE on several processes: torchrun --nproc-per-node 2 examples/pyg_ddp.py

Each process has the graph, makes its share of the batches, and trains on the GPU of its number, or on the CPU where there are
not enough. Beside what DistributedDataParallel asks for, one line differs from training in one process: rank="auto". Batches
are those that one process would make, so the model is the same, up to rounding, as that of one process which takes several
batches a step: python examples/pyg_ddp.py --batches-a-step 2
"""

from __future__ import annotations

import argparse
import os
import time
from itertools import islice
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F  # noqa: N812: so do all
from pyg_sage import load
from torch.nn.parallel import DistributedDataParallel
from torch_geometric.nn import GraphSAGE

from tendril.pyg import NeighborLoader


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=Path(__file__).parents[1] / "data" / "cora.npz", help="the graph's file")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="default: cuda, if there is a GPU for each process")
    parser.add_argument("--fanouts", type=int, nargs="+", default=[10, 10])
    parser.add_argument("--batch-size", type=int, default=16, help="of each process")
    parser.add_argument("--batches-a-step", type=int, help="of all processes; default: one each")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--save", type=Path, help="write the model's weights")
    return parser.parse_args()


def set_up(args):
    """This process's device, and the number of processes. torchrun tells each its rank."""
    if "RANK" not in os.environ:
        return torch.device(args.device or ("cuda" if torch.cuda.is_available() else "cpu")), 1
    local, count = int(os.environ["LOCAL_RANK"]), int(os.environ["LOCAL_WORLD_SIZE"])
    kind = args.device or ("cuda" if torch.cuda.device_count() >= count else "cpu")
    device = torch.device(kind, local) if kind == "cuda" else torch.device("cpu")
    dist.init_process_group("nccl" if kind == "cuda" else "gloo")
    return device, dist.get_world_size()


def main():
    args = parse()
    device, num_ranks = set_up(args)
    data = load(args.data)
    torch.manual_seed(0)  # the same weights in each process
    model = GraphSAGE(data.num_features, 64, len(args.fanouts), int(data.y.max()) + 1).to(device)
    trained = DistributedDataParallel(model) if dist.is_initialized() else model
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    loader = NeighborLoader(
        data,
        args.fanouts,
        input_nodes=data.train_mask,
        batch_size=args.batch_size,
        shuffle=True,
        device=device,
        rank="auto",  # with world_size: this process's share of each epoch
        uneven="drop",  # processes wait for each other: all make equally many batches
    )
    each = (args.batches_a_step or num_ranks) // num_ranks
    for _ in range(args.epochs):
        batches = iter(loader)
        while len(group := list(islice(batches, each))) == each:
            optimizer.zero_grad()
            for batch in group:
                out = trained(batch.x, batch.edge_index)[: batch.batch_size]
                (F.cross_entropy(out, batch.y[: batch.batch_size]) / each).backward()
            optimizer.step()
    if not dist.is_initialized() or dist.get_rank() == 0:
        with torch.no_grad():
            found = model(data.x.to(device), data.edge_index.to(device)).argmax(dim=-1).cpu()
        right = (found == data.y)[data.test_mask].float().mean()
        print(f"{num_ranks} processes on {device.type}: test accuracy {right:.4f}")
        if args.save:
            torch.save(model.state_dict(), args.save)
    if dist.is_initialized():
        # gloo's thread needs the interpreter to put its last work away; Torch 2.13 waits for that thread without letting go of
        # the interpreter, so a process that ends too soon hangs.
        time.sleep(0.5)
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
