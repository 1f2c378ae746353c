"""GraphSAGE on Cora with torch.compile: python examples/pyg_compile.py --device cuda

torch.compile compiles again for arrays of new sizes, and the sizes of sampled batches differ. `pad` gives all batches the
same sizes, so one compilation serves the whole training. It takes up to a minute on a CPU; Torch caches the compiled code.
Needs Torch 2.6 or later.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812: so do all
from cora import CORA
from pyg_sage import Model, argument_parser, load, test
from torch_geometric.nn import SAGEConv

from tendril.pyg import NeighborLoader


def main():
    args = argument_parser(CORA, [10, 10], 50).parse_args()
    torch.manual_seed(0)
    data = load(args.data)
    sampling = {"num_neighbors": args.fanouts, "device": args.device}
    loader = NeighborLoader(data, input_nodes=data.train_mask, batch_size=args.batch_size, shuffle=True, **sampling)
    loader.pad = loader.padding(range(args.epochs))  # the largest batch of all epochs
    testing = NeighborLoader(data, input_nodes=data.test_mask, batch_size=512, **sampling)
    model = Model(SAGEConv, data.num_features, args.hidden, int(data.y.max()) + 1, len(args.fanouts)).to(args.device)
    compiled = torch.compile(model, dynamic=False)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005, weight_decay=5e-4)
    model.train()
    for _ in range(args.epochs):
        for batch in loader:
            optimizer.zero_grad()
            out = compiled(batch.x, batch.edge_index)[: batch.batch_size]
            F.cross_entropy(out, batch.y[: batch.batch_size]).backward()  # leaves out y = -100: padding
            optimizer.step()
            torch.compiler.set_stance("fail_on_recompile")  # an error if a later batch needs another compilation
    # The test batches have other sizes: `model` has the same weights, and is not compiled.
    print(f"test accuracy {test(model, testing, args.device):.4f}")


if __name__ == "__main__":
    main()
