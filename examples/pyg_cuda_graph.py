"""GraphSAGE on Cora whose whole training step is one CUDA graph: python examples/pyg_cuda_graph.py --device cuda

A CUDA graph records the kernels of a step once; later one call launches all of them. It needs arrays of the same size at
the same place in every step. `pad` gives all batches the same size, and each batch is copied to arrays that stay where
they are. On a CPU the same step runs without a graph.
"""

from __future__ import annotations

import copy
import statistics

import torch
import torch.nn.functional as F  # noqa: N812: so do all
from cora import CORA
from pyg_sage import Model, argument_parser, load, test
from torch_geometric.nn import SAGEConv

from tendril.pyg import NeighborLoader


class Step:
    """Forward, backward and optimizer, on arrays that stay where they are."""

    def __init__(self, model, optimizer, batch):
        self.model, self.optimizer, self.batch_size = model, optimizer, batch.batch_size
        self.arrays = {name: batch[name].clone() for name in ("x", "edge_index", "y")}
        self.graph = None

    def eager(self):
        self.optimizer.zero_grad(set_to_none=True)
        out = self.model(self.arrays["x"], self.arrays["edge_index"])[: self.batch_size]
        F.cross_entropy(out, self.arrays["y"][: self.batch_size]).backward()  # leaves out y = -100: padding
        self.optimizer.step()

    def capture(self):
        """Record the step. No other thread may use the GPU meanwhile: no loader is at work."""
        initial = copy.deepcopy(self.model.state_dict())
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):  # libraries allocate their memory before the recording
                self.eager()
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.eager()
        # Undo those steps, in place: the graph knows the addresses.
        self.model.load_state_dict(initial)
        for state in self.optimizer.state.values():
            for value in state.values():
                value.zero_()

    def __call__(self, batch):
        for name, array in self.arrays.items():
            array.copy_(batch[name])
        if self.graph is None:
            self.eager()
        else:
            self.graph.replay()


def milliseconds(work, repeats=100):
    """Of one call; the median."""
    times = []
    for _ in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def main():
    args = argument_parser(CORA, [10, 10], 50).parse_args()
    torch.manual_seed(0)
    data, on_gpu = load(args.data), torch.device(args.device).type == "cuda"
    options = {"num_neighbors": args.fanouts, "device": args.device}
    loader = NeighborLoader(data, input_nodes=data.train_mask, batch_size=args.batch_size, shuffle=True, **options)
    loader.pad = loader.padding(range(args.epochs))  # the largest batch of all epochs
    testing = NeighborLoader(data, input_nodes=data.test_mask, batch_size=512, **options)
    model = Model(SAGEConv, data.num_features, args.hidden, int(data.y.max()) + 1, len(args.fanouts)).to(args.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005, weight_decay=5e-4, capturable=on_gpu)
    first = next(iter(loader))
    loader.set_epoch(0)
    step = Step(model, optimizer, first)
    model.train()
    if on_gpu:
        step.capture()
    for _ in range(args.epochs):
        for batch in loader:
            step(batch)
    print(f"test accuracy {test(model, testing, args.device):.4f}")
    if on_gpu:
        model.train()
        graph, eager = milliseconds(step.graph.replay), milliseconds(step.eager)
        print(f"a step takes {eager:.3f} ms, as a CUDA graph {graph:.3f} ms")


if __name__ == "__main__":
    main()
