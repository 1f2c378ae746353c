"""What the tests of tendril.pyg share: data whose attributes are numbers of vertices and edges, and what every batch must
be, worked out edge by edge. Importing it skips a test file where Torch or PyG is missing."""

from __future__ import annotations

import warnings

import pytest

import tendril

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # theirs, when they are imported
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    import torch_geometric.loader
    import torch_geometric.nn
    import torch_geometric.sampler  # noqa: F401
    from torch_geometric.data import Data, HeteroData

PAPERS, AUTHORS = 60, 90
CITES, WRITES, WRITTEN = ("paper", "cites", "paper"), ("author", "writes", "paper"), ("paper", "rev_writes", "author")


def numbers(count):
    return torch.arange(count)


def homogeneous(num_nodes=100, num_edges=700, seed=3):
    """Every attribute is the number of its vertex or edge; edges are in no order, some parallel, some loops."""
    generator = torch.Generator().manual_seed(seed)
    edge_index = torch.randint(num_nodes, (2, num_edges), generator=generator)
    edge_index[1] = edge_index[1].clamp(max=num_nodes - 6)  # the last ones have no incoming edge
    return Data(
        x=numbers(num_nodes).view(-1, 1).float(),
        y=numbers(num_nodes),
        edge_index=edge_index,
        edge_attr=numbers(num_edges).view(-1, 1),
        name="kept as it is",
    )


def heterogeneous(seed=4):
    """Papers that cite papers, authors that write them, and the reverse of that; names of types as PyG has them."""
    generator = torch.Generator().manual_seed(seed)
    data = HeteroData()
    for name, count in (("paper", PAPERS), ("author", AUTHORS)):
        data[name].x = numbers(count).view(-1, 1)
        data[name].y = numbers(count)
    for key, count in ((CITES, 300), (WRITES, 400), (WRITTEN, 350)):
        many = {"paper": PAPERS, "author": AUTHORS}
        ends = [torch.randint(many[name], (count,), generator=generator) for name in (key[0], key[2])]
        data[key].edge_index = torch.stack(ends)
        data[key].edge_attr = numbers(count)
    return data


def check_nodes(store, batch, distinct=True):
    """Attributes are those of the batch's vertices, none of which is there twice (in one subgraph).

    distinct: not so for the two ends of a link, each with a subgraph, of one number.
    """
    assert batch.n_id.dtype == torch.int64
    assert torch.equal(batch.x, store.x[batch.n_id])
    assert torch.equal(batch.y, store.y[batch.n_id])
    if distinct:
        ids = batch.n_id if batch.get("batch") is None else torch.stack([batch.batch, batch.n_id])
        assert ids.unique(dim=-1).size(-1) == batch.n_id.numel()


def check_edges(store, batch, sources, targets):
    """Edges are the data's own: e_id leads to them, and their attributes are there."""
    assert batch.edge_index.dtype == batch.e_id.dtype == torch.int64
    assert torch.equal(batch.edge_attr, store.edge_attr[batch.e_id])
    ends = torch.stack([sources.n_id[batch.edge_index[0]], targets.n_id[batch.edge_index[1]]])
    assert torch.equal(ends, store.edge_index[:, batch.e_id])
    if sources.get("batch") is not None:
        assert torch.equal(sources.batch[batch.edge_index[0]], targets.batch[batch.edge_index[1]])


def degrees(edge_index, num_nodes):
    return torch.bincount(edge_index[1], minlength=num_nodes)


def check_fanout(edges, expanded, fanout, degree, replace=False):
    """Each of the vertices `expanded`, (tree, id) and place in the batch, has as many edges as the rule says.

    edges: [2, e], the edges of one hop; degree: of every vertex of the data.
    """
    per_place = dict(enumerate(torch.bincount(edges[1]).tolist()))
    for place, vertex in expanded:
        d = int(degree[vertex])
        want = d if fanout == -1 else (fanout if d else 0) if replace else min(fanout, d)
        assert per_place.get(place, 0) == want, (place, vertex)
    assert sum(per_place.values()) == edges.size(1)
    assert {place for place, many in per_place.items() if many} <= {place for place, _ in expanded}


def check_homogeneous(data, batch, fanouts, replace=False):
    """A directional batch, hop by hop: who is expanded, how often, in which order new vertices are numbered."""
    check_nodes(data, batch)
    check_edges(data, batch, batch, batch)
    degree = degrees(data.edge_index, data.num_nodes)
    assert len(batch.num_sampled_nodes) == len(fanouts) + 1 and len(batch.num_sampled_edges) == len(fanouts)
    assert sum(batch.num_sampled_nodes) == batch.num_nodes and sum(batch.num_sampled_edges) == batch.num_edges
    assert batch.num_sampled_nodes[0] == batch.batch_size
    first = edge = 0
    seen = batch.batch_size
    for hop, fanout in enumerate(fanouts):
        last = first + batch.num_sampled_nodes[hop]
        edges = batch.edge_index[:, edge : edge + batch.num_sampled_edges[hop]]
        ids = batch.e_id[edge : edge + batch.num_sampled_edges[hop]]
        check_fanout(edges, [(i, batch.n_id[i]) for i in range(first, last)], fanout, degree, replace)
        assert torch.equal(edges[1], edges[1].sort(stable=True).values)  # by expanded vertex
        for place in edges[0].tolist():  # numbered by first appearance
            assert place <= seen
            seen += place == seen
        if not replace:
            pairs = torch.stack([edges[1], ids])
            assert pairs.unique(dim=1).size(1) == ids.numel()
        first, edge = last, edge + batch.num_sampled_edges[hop]
    assert seen == batch.num_nodes


def same(one, other):
    """Two batches in everything they hold."""
    stores = zip(one.stores, other.stores, strict=True)
    for left, right in stores:
        assert sorted(left.keys()) == sorted(right.keys())
        for key in left.keys():  # noqa: SIM118: a store isn't a dict
            a, b = left[key], right[key]
            equal = torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b
            assert equal, key


def same_but_padding(padded, plain):
    """A padded batch holds the plain one, and padding besides, hop by hop. Padding leads among itself."""
    of_links = next((store.label_mask for store in padded.stores if "label_mask" in store), None)
    for own, store in zip(padded.stores, plain.stores, strict=True):
        added = {*own.keys()} - {*store.keys()}
        assert added <= {"node_mask", "edge_mask", "seed_mask", "label_mask"} and {*store.keys()} <= {*own.keys()}
        for name, expected in store.items():
            found = own[name]
            if name == "edge_index":
                key = own._key
                masks = [padded.node_mask] * 2 if key is None else [padded[end].node_mask for end in (key[0], key[2])]
                for mask, ends, wanted in zip(masks, found, expected, strict=True):
                    assert torch.equal((mask.cumsum(0) - 1)[ends[own.edge_mask]], wanted)
                    assert not mask[ends[~own.edge_mask]].any()
                continue
            if name in ("num_sampled_nodes", "num_sampled_edges"):
                mask = own.node_mask if name == "num_sampled_nodes" else own.edge_mask
                found = [int(one.sum()) for one in mask.split(found)]
            elif name == "batch_size":
                found = int(own.seed_mask.sum())
            elif name == "edge_label_index":
                found = found[:, of_links]
            elif name in ("edge_label", "src_index", "dst_pos_index", "dst_neg_index") and found is not None:
                found = found[of_links]
            elif name == "input_id":
                real = own.seed_mask if of_links is None else of_links[: found.numel()]
                assert (found[~real] == -1).all()
                found = found[real]
            elif isinstance(found, torch.Tensor):
                found = found[own.edge_mask if name.startswith(("e_id", "edge_")) else own.node_mask]
            equal = torch.equal(found, expected) if isinstance(found, torch.Tensor) else found == expected
            assert equal, (own._key, name)


def shapes_of(batch):
    """What is static if batches have one size: shapes of tensors, and numbers."""
    return repr([
        (store._key, {key: tuple(value.shape) if isinstance(value, torch.Tensor) else value for key, value in store.items()})
        for store in batch.stores
    ])


def check_refused(call, text):
    """The call raises ArgumentError, whose message is one line with that text."""
    with pytest.raises(tendril.ArgumentError) as error:
        call()
    assert text in str(error.value) and "\n" not in str(error.value)
