"""NeighborLoader with padding: batches of one shape, on which every model gives the seeds what it gives on plain ones."""

from __future__ import annotations

import copy
import pickle

import pytest
from pyg_checks import Data, check_refused, heterogeneous, homogeneous, numbers, same, torch
from pyg_digests import digest
from torch_geometric.loader import NeighborLoader as Theirs
from torch_geometric.nn import GATConv, GCNConv, HeteroConv, SAGEConv
from torch_geometric.utils import trim_to_layer

import tendril
from tendril.pyg import (
    BidirectionalNeighborSampler,
    NeighborLoader,
    NeighborSampler,
    Padding,
)

FANOUTS = [4, 3, 2]


def data():
    made = homogeneous(num_nodes=300, num_edges=2100)
    generator = torch.Generator().manual_seed(1)
    made.x = torch.randn(300, 6, generator=generator)
    made.y = torch.randint(5, (300,), generator=generator)
    made.edge_weight = torch.rand(2100, generator=generator)
    made.train_mask = numbers(300) % 3 > 0
    return made


DATA = data()


def loader(given=DATA, fanouts=FANOUTS, **options):
    options = {"batch_size": 17, "shuffle": True, "seed": 5, "input_nodes": given.get("train_mask"), **options}
    return NeighborLoader(given, fanouts, **{"pad": "epoch", **options})


def shapes(batch):
    sizes = {key: tuple(value.shape) for key, value in batch.to_dict().items() if isinstance(value, torch.Tensor)}
    return repr((sizes, batch.num_sampled_nodes, batch.num_sampled_edges, batch.batch_size, batch.num_nodes))


def real(batch):
    """A padded batch without its padding: what the plain batch holds."""
    made = copy.copy(batch)
    position = batch.node_mask.cumsum(0) - 1
    for key, value in batch.to_dict().items():
        if key in ("node_mask", "edge_mask", "seed_mask") or not isinstance(value, torch.Tensor):
            continue
        if key == "edge_index":
            made[key] = position[value[:, batch.edge_mask]]
        elif key == "input_id":
            made[key] = value[batch.seed_mask]
        else:
            made[key] = value[batch.edge_mask if key.startswith(("e_id", "edge_")) else batch.node_mask]
    for key in ("node_mask", "edge_mask", "seed_mask"):
        del made[key]
    parts = zip(("node_mask", "edge_mask"), (batch.num_sampled_nodes, batch.num_sampled_edges), strict=True)
    counts = [[int(one.sum()) for one in batch[name].split(sizes)] for name, sizes in parts]
    made.num_sampled_nodes, made.num_sampled_edges = counts
    made.batch_size = int(batch.seed_mask.sum())
    return made


def check_padding(batch):
    """Padding leads among itself, within a hop; and nothing there counts."""
    ends = batch.edge_index[:, ~batch.edge_mask]
    assert not batch.node_mask[ends].any() and (ends[0] != ends[1]).all()
    assert torch.equal(batch.seed_mask, batch.node_mask[: batch.batch_size])
    assert (batch.y[~batch.node_mask] == -100).all()
    assert (batch.input_id[~batch.seed_mask] == -1).all()
    assert not batch.train_mask[~batch.node_mask].any()
    assert torch.equal(batch.x[~batch.node_mask], batch.x[:1].expand(int((~batch.node_mask).sum()), -1))
    node = edge = 0
    for hop, many in enumerate(batch.num_sampled_edges, 1):
        node += batch.num_sampled_nodes[hop - 1]
        mine = ~batch.edge_mask[edge : edge + many]
        of_hop = batch.edge_index[:, edge : edge + many][:, mine]
        assert ((node <= of_hop) & (of_hop < node + batch.num_sampled_nodes[hop])).all()
        edge += many


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"choice": "labor"},
        {"replace": True},
        {"input_nodes": [5, 9, 5, 5, 8, 290, 299] * 5},
        {"fanouts": [3]},
        {"fanouts": [-1]},
    ],
    ids=str,
)
def test_batches_have_one_shape_and_the_plain_ones_in_them(options):
    padded, plain = loader(**options), loader(**options, pad=None)
    for _ in range(2):
        batches = list(padded)
        assert len({shapes(batch) for batch in batches}) == 1
        for batch, expected in zip(batches, plain, strict=True):
            check_padding(batch)
            same(real(batch), expected)
            if "edge_labor_weight" in batch:
                assert not batch.edge_labor_weight[~batch.edge_mask].any()
    assert batches[-1].seed_mask.sum() < batches[-1].batch_size == 17  # the last one is small
    assert isinstance(padded, Theirs) and "node_mask" not in next(iter(plain))


class Model(torch.nn.Module):
    def __init__(self, kind, trimmed):
        super().__init__()
        torch.manual_seed(0)
        self.convs = torch.nn.ModuleList(kind(a, b) for a, b in ((6, 8), (8, 8), (8, 5)))
        self.trimmed = trimmed

    def forward(self, batch):
        x, edge_index, weight = batch.x, batch.edge_index, batch.edge_weight
        for i, conv in enumerate(self.convs):
            if self.trimmed:
                x, edge_index, weight = trim_to_layer(
                    i, batch.num_sampled_nodes, batch.num_sampled_edges, x, edge_index, weight
                )
            x = conv(x.relu() if i else x, edge_index, *[weight] * isinstance(conv, GCNConv))
        return x[: batch.batch_size]


MODELS = {
    "sage": SAGEConv,
    "sage of maxima": lambda a, b: SAGEConv(a, b, aggr="max", normalize=True),
    "gat": lambda a, b: GATConv(a, b, heads=1),
    "gcn": GCNConv,
    "gcn without loops": lambda a, b: GCNConv(a, b, add_self_loops=False),
}


@pytest.mark.parametrize("trimmed", [False, True], ids=["plain", "trimmed"])
@pytest.mark.parametrize("kind", MODELS)
def test_a_model_gives_seeds_what_it_gives_without_padding(kind, trimmed):
    model = Model(MODELS[kind], trimmed)

    def step(batch):
        model.zero_grad()
        out = model(batch)
        loss = torch.nn.functional.cross_entropy(out, batch.y[: batch.batch_size])
        loss.backward()
        return out.detach(), loss.detach(), [one.grad.clone() for one in model.parameters()]

    for batch, plain in zip(loader(), loader(pad=None), strict=True):
        (out, loss, slopes), (expected, expected_loss, expected_slopes) = step(batch), step(plain)
        torch.testing.assert_close(out[batch.seed_mask], expected)
        torch.testing.assert_close(loss, expected_loss)
        for one, other in zip(slopes, expected_slopes, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)


def test_a_wrong_edge_would_be_seen():
    """The comparison of models fails as soon as one padding edge leads to a seed."""
    model = Model(SAGEConv, False)
    batch = next(iter(loader()))
    before = model(batch)
    batch.edge_index[1, int((~batch.edge_mask).nonzero()[0])] = 0
    assert not torch.allclose(model(batch)[0], before[0])


def test_a_compiler_sees_one_shape():
    def compilations(made):
        seen, model = [], Model(SAGEConv, True)

        def backend(graph, inputs):
            seen.append([tuple(one.shape) for one in inputs if isinstance(one, torch.Tensor)])
            return graph.forward

        torch._dynamo.reset()
        compiled = torch.compile(model, backend=backend, dynamic=False)
        with torch.no_grad():
            for _, batch in zip(range(6), made, strict=False):
                torch.testing.assert_close(compiled(batch), model(batch))
        return len(seen)

    once = compilations(list(loader())[:1] * 2)
    assert once >= 1 and compilations(loader()) == once
    assert compilations(loader(pad=None)) > once


def test_maxima_are_exact():
    wide = loader().padding(range(3))
    plain = loader(pad=None)
    batches = [batch for _ in range(3) for batch in plain]
    for found, name in ((wide.num_nodes, "num_sampled_nodes"), (wide.num_edges, "num_sampled_edges")):
        assert list(found) == [max(many) for many in zip(*(batch[name] for batch in batches), strict=True)]
    made = loader()
    assert made.padding() == made.padding([0]) and made.padding([0]) != made.padding([1])
    shape = {shapes(batch) for batch in made}
    assert shape == {shapes(batch) for batch in loader(pad=made.padding([0]))}


def test_one_padding_serves_several_epochs():
    wide = pickle.loads(pickle.dumps(loader().padding(range(3))))
    made, plain = loader(pad=wide), loader(pad=None)
    found = [batch for _ in range(3) for batch in made]
    assert len({shapes(batch) for batch in found}) == 1
    for batch, expected in zip(found, [batch for _ in range(3) for batch in plain], strict=True):
        check_padding(batch)
        same(real(batch), expected)


def test_a_padding_goes_with_any_order():
    wide = loader().padding(range(2)).with_room(1)
    generator = {"generator": torch.Generator().manual_seed(2)}
    lists = {"batch_sampler": [[1, 2, 3], [7], [9, 4]], "batch_size": 1, "shuffle": False}
    for options in (generator, {"sampler": [4, 2, 9] * 9, "shuffle": False}, lists):
        made = list(loader(pad=wide, **options))
        assert len({shapes(batch) for batch in made}) == 1 and len(made) > 1
        for batch in made:
            check_padding(batch)


WAYS = [{"bulk": 1}, {"bulk": 3}, {"bulk": 100}, {"prefetch": 0}, {"prefetch": 9}, {"num_threads": 1}]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_how_batches_are_made_changes_nothing(way):
    assert [digest([batch]) for batch in loader(**way)] == [digest([batch]) for batch in loader()]


def test_ranks_have_the_batches_of_one():
    whole = [digest([batch]) for batch in loader()]
    for uneven in ("keep", "drop", "repeat"):
        for rank in range(2):
            mine = [digest([batch]) for batch in loader(rank=rank, world_size=2, uneven=uneven)]
            assert mine[:5] == whole[rank::2][:5] and set(mine) <= set(whole)


def test_an_epoch_goes_on_with_the_same_sizes():
    made = loader()
    whole = [[digest([batch]) for batch in made] for _ in range(2)]
    for done in (1, 7, len(whole[0]) - 1):
        interrupted, resumed = loader(), loader()
        for _, _ in zip(range(done), interrupted, strict=False):
            pass
        resumed.load_state_dict(interrupted.state_dict())
        assert [digest([batch]) for batch in resumed] == whole[0][done:]
        assert [digest([batch]) for batch in resumed] == whole[1]


def test_transforms_get_the_padded_batch():
    for batch in loader(transform=lambda batch: batch.put_tensor(batch.x + 1, attr_name="more", index=None) and batch):
        assert torch.equal(batch.more, batch.x + 1) and batch.more.size(0) == batch.node_mask.size(0)


def test_classes_in_a_column_and_other_types_of_y():
    column, real_y = data(), data()
    column.y = column.y.view(-1, 1)
    real_y.y = real_y.y.float()
    for batch in loader(column):
        assert (batch.y[~batch.node_mask] == -100).all() and batch.y.size(1) == 1
    for batch in loader(real_y):
        assert torch.equal(batch.y, real_y.y[batch.n_id])


def test_corner_cases():
    assert list(loader(input_nodes=[])) == []
    bare = data()
    bare.edge_index, bare.edge_attr, bare.edge_weight = torch.empty(2, 0, dtype=torch.long), None, None
    for batch in loader(bare):
        assert batch.num_sampled_nodes == [17, 0, 0, 0] and batch.edge_index.shape == (2, 0)
    lonely = list(loader(input_nodes=[299, 3], batch_size=1, shuffle=False))  # the first one has no edges
    assert shapes(lonely[0]) == shapes(lonely[1]) and not lonely[0].edge_mask.any() and lonely[0].edge_mask.numel()
    for batch in loader(fanouts=[]):
        assert batch.num_sampled_nodes == [17] and batch.num_sampled_edges == []
    called = loader()([1, 2, 3])  # not part of an epoch
    assert "node_mask" not in called and called.batch_size == 3


def typed(**options):
    made = heterogeneous()
    generator = torch.Generator().manual_seed(1)
    for store in made.node_stores:
        store.x, store.y = torch.randn(store.num_nodes, 6, generator=generator), store.y % 5
    options = {"batch_size": 7, "shuffle": True, "pad": "epoch", **options}
    return NeighborLoader(made, [4, 3], "paper", **options)


def shapes_of_types(batch):
    return repr([(shapes_of(store), store.get("batch_size")) for store in batch.stores])


def shapes_of(store):
    return {key: tuple(value.shape) if isinstance(value, torch.Tensor) else value for key, value in store.items()}


@pytest.mark.parametrize("options", [{}, {"choice": "labor"}, {"prefetch": 0, "bulk": 3}], ids=str)
def test_several_types_have_one_shape_and_the_plain_batches_in_them(options):
    padded, plain = typed(**options), typed(**options, pad=None)
    batches = list(padded)
    assert len({shapes_of_types(batch) for batch in batches}) == 1 and len(batches) == 9
    for batch, expected in zip(batches, plain, strict=True):
        for name in batch.node_types:
            store, own = batch[name], expected[name]
            assert torch.equal(store.n_id[store.node_mask], own.n_id) and torch.equal(store.x[store.node_mask], own.x)
            assert torch.equal(store.y[store.node_mask], own.y) and (store.y[~store.node_mask] == -100).all()
            counts = [int(one.sum()) for one in store.node_mask.split(store.num_sampled_nodes)]
            assert counts == own.num_sampled_nodes
        for key in batch.edge_types:
            store, own = batch[key], expected[key]
            masks = batch[key[0]].node_mask, batch[key[2]].node_mask
            ends = [(mask.cumsum(0) - 1)[end] for mask, end in zip(masks, store.edge_index, strict=True)]
            assert torch.equal(torch.stack(ends)[:, store.edge_mask], own.edge_index)
            assert torch.equal(store.e_id[store.edge_mask], own.e_id)
            for mask, end in zip(masks, store.edge_index, strict=True):
                assert not mask[end[~store.edge_mask]].any()
            assert [int(one.sum()) for one in store.edge_mask.split(store.num_sampled_edges)] == own.num_sampled_edges
            if "labor" in options.values():
                assert torch.equal(store.edge_labor_weight[store.edge_mask], own.edge_labor_weight)
        paper = batch["paper"]
        assert torch.equal(paper.input_id[paper.seed_mask], expected["paper"].input_id)
        assert paper.seed_mask.numel() == paper.batch_size == 7 and "seed_mask" not in batch["author"]
    sizes = padded.padding([0])
    assert pickle.loads(pickle.dumps(sizes)) == sizes and hash(sizes) == hash(typed(**options).padding([0]))
    assert {shapes_of_types(batch) for batch in typed(**options, pad=sizes)} == {shapes_of_types(batches[0])}


@pytest.mark.parametrize("trimmed", [False, True], ids=["plain", "trimmed"])
def test_a_model_of_several_types_gives_seeds_what_it_gives_without_padding(trimmed):
    torch.manual_seed(0)
    types = heterogeneous().edge_types
    layers = torch.nn.ModuleList(
        HeteroConv({key: SAGEConv((a, a), b) for key in types}) for a, b in ((6, 8), (8, 5))
    )

    def step(batch):
        layers.zero_grad()
        x, edges = batch.x_dict, batch.edge_index_dict
        for i, layer in enumerate(layers):
            if trimmed:
                x, edges, _ = trim_to_layer(i, batch.num_sampled_nodes_dict, batch.num_sampled_edges_dict, x, edges)
            x = layer(x, edges)
        out = x["paper"][: batch["paper"].batch_size]
        torch.nn.functional.cross_entropy(out, batch["paper"].y[: batch["paper"].batch_size]).backward()
        return out.detach(), [one.grad.clone() for one in layers.parameters() if one.grad is not None]

    for batch, plain in zip(typed(), typed(pad=None), strict=True):
        (out, slopes), (expected, expected_slopes) = step(batch), step(plain)
        torch.testing.assert_close(out[batch["paper"].seed_mask], expected)
        for one, other in zip(slopes, expected_slopes, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)


class Changed(NeighborLoader):
    def filter_fn(self, out):
        return super().filter_fn(out)


class Foreign:
    edge_permutation = None

    def sample_from_nodes(self, index):
        raise AssertionError


def with_attribute(name):
    made = data()
    made[name] = numbers(300)
    return made


def stores():
    made = Data(x=DATA.x)
    made.put_edge_index(DATA.edge_index, layout="coo", size=(300, 300))
    return made, made


TIMED = with_attribute("time")
MISTAKES = {
    "name": (lambda: loader(pad="batch"), "pad is 'batch', expected None, 'epoch' or a Padding"),
    "flag": (lambda: loader(pad=True), "pad is True, expected None, 'epoch' or a Padding"),
    "list": (lambda: loader(pad=[1, 2]), "pad is [1, 2], expected None, 'epoch' or a Padding"),
    "hops": (lambda: loader(pad=Padding([9, 9], [9])), "pad has 1 hops, expected 3: batches have so many"),
    "no types": (
        lambda: NeighborLoader(heterogeneous(), [2], "paper", pad=Padding([9, 9], [9])),
        "pad has one type, expected ['paper', 'author'], as the data has",
    ),
    "stores": (lambda: NeighborLoader(stores(), [2], pad="epoch"), "pad: data is a tuple, expected Data or HeteroData"),
    "foreign": (lambda: loader(neighbor_sampler=Foreign()), "pad: neighbor_sampler is a Foreign, expected a NeighborSampler"),
    "both directions": (
        lambda: loader(neighbor_sampler=BidirectionalNeighborSampler(DATA, [2])),
        "pad: neighbor_sampler is a BidirectionalNeighborSampler",
    ),
    "disjoint": (lambda: loader(disjoint=True), "pad: disjoint is True, expected False"),
    "times": (lambda: loader(TIMED, time_attr="time"), "pad: time_attr is given, expected None"),
    "induced": (lambda: loader(subgraph_type="induced"), "pad: subgraph_type is 'induced', expected 'directional'"),
    "bidirectional": (lambda: loader(subgraph_type="bidirectional"), "pad: subgraph_type is 'bidirectional'"),
    "transform": (lambda: loader(transform_sampler_output=lambda out: out), "pad: transform_sampler_output is given"),
    "subclass": (lambda: Changed(DATA, [2], pad="epoch"), "pad: Changed overrides collate_fn or filter_fn"),
    "mask": (lambda: loader(with_attribute("node_mask")), "pad: data has 'node_mask', expected another name"),
    "sampler": (
        lambda: loader(sampler=[1, 2], shuffle=False),
        "pad is 'epoch', but sampler decides the order: expected an order that follows from the seed",
    ),
    "batch sampler": (
        lambda: loader(batch_sampler=[[1]], batch_size=1, shuffle=False),
        "pad is 'epoch', but batch_sampler decides the order",
    ),
    "generator": (lambda: loader(generator=torch.Generator()), "pad is 'epoch', but generator decides the order"),
    "generator ahead": (
        lambda: loader(generator=torch.Generator(), pad=None).padding(),
        "padding() samples epochs ahead, but generator decides the order",
    ),
    "too small of a type": (
        lambda: list(typed(pad=Padding(
            {"paper": [7, 999, 999], "author": [0, 2, 999]}, {key: [999] * 2 for key in heterogeneous().edge_types}
        ))),
        "vertices of 'author' in hop 1, expected at most 2: pad is too small",
    ),
    "epochs": (lambda: loader().padding("0"), "epochs is '0', expected numbers of epochs"),
    "too small": (
        lambda: list(loader(pad=Padding([17, 3, 999, 999], [999] * 3))),
        "vertices in hop 1, expected at most 3: pad is too small",
    ),
    "too few edges": (
        lambda: list(loader(pad=Padding([17, 999, 999, 999], [999, 999, 0]))),
        "edges in hop 3, expected at most 0: pad is too small",
    ),
    "too many seeds": (
        lambda: list(loader(pad=Padding([16, 999, 999, 999], [999] * 3))),
        "batch 0 has 17 seeds, expected at most 16: pad is too small",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_one_line(name):
    check_refused(*MISTAKES[name])


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
def test_matrices_are_refused():
    made = data()
    made.adj_t = torch.eye(300).to_sparse_csr()
    del made.edge_index
    with pytest.raises(tendril.ArgumentError, match="pad: data has 'adj_t', expected edge_index alone"):
        loader(made)


def test_samplers_with_other_fanouts_are_refused_in_time():
    sampler = NeighborSampler(DATA, FANOUTS)
    made = loader(neighbor_sampler=sampler, pad=loader().padding())
    sampler.num_neighbors = [2]
    with pytest.raises(tendril.ArgumentError, match="batch 0 has 1 hops, pad has 3"):
        next(iter(made))
