"""LinkNeighborLoader and HGTLoader with padding: batches of one shape, which train a model as the plain ones do."""

from __future__ import annotations

import math
import pickle

import pytest
from pyg_checks import (
    CITES,
    WRITES,
    WRITTEN,
    check_refused,
    heterogeneous,
    homogeneous,
    numbers,
    same_but_padding,
    shapes_of,
    torch,
)
from pyg_digests import digest
from torch_geometric.nn import HGTConv, SAGEConv
from torch_geometric.sampler import NegativeSampling
from torch_geometric.utils import trim_to_layer

from tendril.pyg import HGTLoader, LinkNeighborLoader, NeighborLoader, NeighborSampler, Padding

NUM_LINKS = 90  # batches of 17: the last one has 5


def data():
    made = homogeneous(num_nodes=300, num_edges=2100)
    made.x = torch.randn(300, 6, generator=torch.Generator().manual_seed(1))
    made.y = numbers(300) % 5
    return made


DATA = data()
CLASSES = numbers(NUM_LINKS) % 3
TRIPLETS = NegativeSampling("triplet", 3)


def loader(given=DATA, **options):
    links = given.edge_index[:, 100 : 100 + NUM_LINKS]
    options = {"edge_label_index": links, "batch_size": 17, "shuffle": True, "seed": 5, "pad": "epoch", **options}
    return LinkNeighborLoader(given, [4, 3], **options)


def typed(kind=WRITES, **options):
    made = heterogeneous()
    for store in made.node_stores:
        store.x, store.y = torch.randn(store.num_nodes, 6, generator=torch.Generator().manual_seed(1)), store.y % 5
    links = made[kind].edge_index[:, 20:100]
    options = {"edge_label_index": (kind, links), "batch_size": 17, "shuffle": True, "pad": "epoch", **options}
    return LinkNeighborLoader(made, [4, 3], **options)


WAYS = {
    "no negatives": {},
    "classes": {"edge_label": CLASSES},
    "real labels": {"edge_label": torch.rand(NUM_LINKS, 2)},
    "binary": {"neg_sampling": "binary"},
    "binary of classes": {"neg_sampling": "binary", "edge_label": CLASSES},
    "more negatives": {"neg_sampling": NegativeSampling("binary", 2.3)},
    "fewer negatives": {"neg_sampling_ratio": 0.5},
    "triplets": {"neg_sampling": "triplet"},
    "wide triplets": {"neg_sampling": TRIPLETS},
    "labor": {"choice": "labor", "neg_sampling": "binary"},
    "replace": {"replace": True},
    "drop_last": {"drop_last": True, "neg_sampling": "binary"},
    "backward": {"neighbor_sampler": NeighborSampler(DATA, [3], sample_direction="backward", seed=5)},
}


AMOUNTS = {"binary": 1, "binary of classes": 1, "labor": 1, "drop_last": 1, "more negatives": 2.3, "fewer negatives": 0.5}


def check_links(batch, kind, num_negatives):
    """What padding of links is: the first link of its part, with a label that says that it doesn't count."""
    store = batch if kind is None else batch[kind]
    mask = store.label_mask
    assert mask.dtype == torch.bool and store.input_id.shape == (17,)
    if "edge_label_index" not in store:
        ends = [batch if kind is None else batch[end] for end in (kind or (None,))[:: max(len(kind or ()) - 1, 1)]]
        index = [ends[0].src_index, ends[-1].dst_pos_index, ends[-1].dst_neg_index]
        assert mask.shape == (17,) and {one.size(0) for one in index} == {17}
        for one in index:
            assert torch.equal(one[~mask], one[:1].expand(int((~mask).sum()), *one.shape[1:]))
        return
    assert store.edge_label_index.shape == (2, 17 + num_negatives) and mask.shape == (17 + num_negatives,)
    begin = 0
    for many in (17, num_negatives):
        of_part, index = mask[begin : begin + many], store.edge_label_index[:, begin : begin + many]
        real = int(of_part.sum())
        assert of_part[:real].all() and torch.equal(index[:, real:], index[:, :1].expand(2, many - real))
        begin += many
    if store.get("edge_label") is not None:
        assert (store.edge_label[~mask] == (-100 if store.edge_label.dtype == torch.int64 else 0)).all()


@pytest.mark.parametrize("way", WAYS)
def test_batches_have_one_shape_and_the_plain_ones_in_them(way):
    options = WAYS[way]
    padded, plain = loader(**options), loader(**options, pad=None)
    for _ in range(2):
        batches = list(padded)
        assert len({shapes_of(batch) for batch in batches}) == 1
        for batch, expected in zip(batches, plain, strict=True):
            same_but_padding(batch, expected)
            check_links(batch, None, math.ceil(17 * AMOUNTS.get(way, 0)))
            assert (batch.y[~batch.node_mask] == -100).all()
    short = batches[-1].label_mask
    assert bool(short.all()) == ("drop_last" in options) and len(batches) == 5 + (not short.all())


@pytest.mark.parametrize("kind", [WRITES, CITES], ids="-".join)
@pytest.mark.parametrize("negatives", [None, "binary", "triplet", TRIPLETS], ids=str)
def test_several_types_have_one_shape_and_the_plain_batches_in_them(kind, negatives):
    padded, plain = typed(kind, neg_sampling=negatives), typed(kind, neg_sampling=negatives, pad=None)
    batches = list(padded)
    assert len({shapes_of(batch) for batch in batches}) == 1 and len(batches) == 5
    for batch, expected in zip(batches, plain, strict=True):
        same_but_padding(batch, expected)
        check_links(batch, kind, 17 if negatives == "binary" else 0)
        assert all("label_mask" not in store for store in batch.stores if store._key != kind)
    again = typed(kind, neg_sampling=negatives, pad=padded.padding([0]))
    assert {shapes_of(batch) for batch in again} == {shapes_of(batches[0])}


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.convs = torch.nn.ModuleList([SAGEConv(6, 8), SAGEConv(8, 5)])

    def forward(self, batch, trimmed):
        x, edge_index = batch.x, batch.edge_index
        for i, conv in enumerate(self.convs):
            if trimmed:
                x, edge_index, _ = trim_to_layer(i, batch.num_sampled_nodes, batch.num_sampled_edges, x, edge_index)
            x = conv(x.relu() if i else x, edge_index)
        return x


def binary_loss(z, batch):
    source, target = z[batch.edge_label_index]
    each = torch.nn.functional.binary_cross_entropy_with_logits((source * target).sum(-1), batch.edge_label, reduction="none")
    return mean_of_real(each, batch)


def class_loss(z, batch):
    source, target = z[batch.edge_label_index]
    return torch.nn.functional.cross_entropy(source * target, batch.edge_label)  # leaves out -100


def triplet_loss(z, batch):
    positive = (z[batch.src_index] * z[batch.dst_pos_index]).sum(-1, keepdim=True)
    negative = (z[batch.src_index][:, None] * z[batch.dst_neg_index]).sum(-1)
    return mean_of_real(torch.nn.functional.softplus(negative - positive).mean(1), batch)


def mean_of_real(each, batch):
    mask = batch.label_mask if "label_mask" in batch else torch.ones_like(each, dtype=torch.bool)
    return (each * mask).sum() / mask.sum()


LOSSES = {
    "binary": (binary_loss, {"neg_sampling": "binary"}),
    "classes": (class_loss, {"edge_label": CLASSES, "neg_sampling": "binary"}),
    "triplets": (triplet_loss, {"neg_sampling": TRIPLETS}),
}


@pytest.mark.parametrize("trimmed", [False, True], ids=["plain", "trimmed"])
@pytest.mark.parametrize("name", LOSSES)
def test_a_model_learns_what_it_learns_without_padding(name, trimmed):
    loss_of, options = LOSSES[name]
    model = Model()

    def step(batch):
        model.zero_grad()
        loss = loss_of(model(batch, trimmed), batch)
        loss.backward()
        return loss.detach(), [one.grad.clone() for one in model.parameters()]

    for batch, plain in zip(loader(**options), loader(**options, pad=None), strict=True):
        (loss, slopes), (expected, expected_slopes) = step(batch), step(plain)
        torch.testing.assert_close(loss, expected)
        for one, other in zip(slopes, expected_slopes, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)
    batch.label_mask = torch.ones_like(batch.label_mask)  # the last batch: a loss that counts padding is another
    if loss_of is not class_loss:
        assert not torch.allclose(step(batch)[0], expected)


def test_maxima_are_exact():
    found = loader(neg_sampling="binary").padding(range(3))
    plain = loader(neg_sampling="binary", pad=None)
    batches = [batch for _ in range(3) for batch in plain]
    for sizes, name in ((found.num_nodes, "num_sampled_nodes"), (found.num_edges, "num_sampled_edges")):
        assert list(sizes) == [max(many) for many in zip(*(batch[name] for batch in batches), strict=True)]
    assert found.num_links == 17 and loader(drop_last=False, batch_size=200).padding().num_links == NUM_LINKS
    assert found.num_nodes[0] > 17  # the ends of links and of negatives


def test_a_padding_of_links():
    found = Padding([30, 200], [300], num_links=17)
    assert repr(found) == "Padding(num_nodes=(30, 200), num_edges=(300,), num_links=17)"
    assert pickle.loads(pickle.dumps(found)) == found and hash(found) == hash(Padding([30, 200], [300], 17))
    assert found != Padding([30, 200], [300]) and found != Padding([30, 200], [300], 18)
    assert found.with_room(0.1) == Padding([33, 220], [330], 17)  # there may be more different ends of as many links
    assert Padding([30, 200], [300]).with_room(0.1) == Padding([30, 220], [330]) and Padding([1], []).num_links is None


def test_one_padding_serves_several_epochs_and_any_order():
    wide = loader(neg_sampling="binary").padding(range(2)).with_room(1)
    generator = {"generator": torch.Generator().manual_seed(2)}
    lists = {"batch_sampler": [[1, 2, 3], [7], [9, 4]], "batch_size": 1, "shuffle": False}
    for options in ({}, generator, {"sampler": [4, 2, 9] * 9, "shuffle": False}, lists):
        made = loader(neg_sampling="binary", pad=wide, **options)
        shapes = {shapes_of(batch) for _ in range(2) for batch in made}
        assert len(shapes) == 1
        for batch in made:
            check_links(batch, None, 17)


@pytest.mark.parametrize("way", [{"bulk": 1}, {"bulk": 100}, {"prefetch": 0}, {"prefetch": 9}, {"num_threads": 1}], ids=str)
def test_how_batches_are_made_changes_nothing(way):
    made, expected = loader(neg_sampling="binary", **way), loader(neg_sampling="binary")
    assert [digest([batch]) for batch in made] == [digest([batch]) for batch in expected]


def test_ranks_and_resumed_epochs_have_the_same_batches():
    whole = [digest([batch]) for batch in loader(neg_sampling="triplet")]
    for rank in range(2):
        mine = [digest([batch]) for batch in loader(neg_sampling="triplet", rank=rank, world_size=2)]
        assert mine == whole[rank::2]
    interrupted, resumed = loader(neg_sampling="triplet"), loader(neg_sampling="triplet")
    for _, _ in zip(range(2), interrupted, strict=False):
        pass
    resumed.load_state_dict(interrupted.state_dict())
    assert [digest([batch]) for batch in resumed] == whole[2:]


def test_corner_cases():
    assert list(loader(edge_label_index=torch.empty(2, 0, dtype=torch.long))) == []
    bare = data()
    bare.edge_index, bare.edge_attr = torch.empty(2, 0, dtype=torch.long), None
    links = torch.tensor([[1, 2, 3], [4, 5, 1]])
    for batch in loader(bare, edge_label_index=links, batch_size=2, neg_sampling="binary"):
        assert batch.edge_index.shape == (2, 0) and batch.edge_label_index.shape == (2, 4)
    loops = torch.tensor([[3, 3, 8, 9], [3, 3, 8, 2]])  # batches of one end and of three
    made = list(loader(edge_label_index=loops, batch_size=2, shuffle=False))
    assert shapes_of(made[0]) == shapes_of(made[1]) and made[0].num_sampled_nodes[0] == 3
    assert made[0].node_mask[:3].tolist() == [True, False, False] and made[0].edge_label_index.tolist() == [[0, 0], [0, 0]]
    called = loader()([1, 2, 3])  # not part of an epoch
    assert "label_mask" not in called and called.edge_label_index.shape == (2, 3)


def hgt(**options):
    made = heterogeneous()
    for store in made.node_stores:
        store.x, store.y = torch.randn(store.num_nodes, 6, generator=torch.Generator().manual_seed(1)), store.y % 5
    options = {"batch_size": 8, "shuffle": True, "seed": 5, "pad": "epoch", **options}
    return HGTLoader(made, options.pop("num_samples", {"paper": [4, 3], "author": [6, 5]}), "paper", **options)


@pytest.mark.parametrize("options", [{}, {"num_samples": [2, 40]}, {"num_samples": {"author": [3]}}, {"bulk": 3}], ids=str)
def test_batches_of_hgsampling_have_one_shape_and_the_plain_ones_in_them(options):
    padded, plain = hgt(**options), hgt(**options, pad=None)
    batches = list(padded)
    assert len({shapes_of(batch) for batch in batches}) == 1 and len(batches) == 8
    for batch, expected in zip(batches, plain, strict=True):
        same_but_padding(batch, expected)
        assert batch["paper"].batch_size == 8 and (batch["author"].y[~batch["author"].node_mask] == -100).all()
        assert "num_sampled_nodes" not in batch["paper"]
    assert batches[-1]["paper"].seed_mask.tolist() == [True] * 4 + [False] * 4
    found = padded.padding([0])
    biggest = [max(int(batch[key].edge_mask.sum()) for batch in batches) for key in (CITES, WRITES, WRITTEN)]
    assert [found.num_edges[key] for key in (CITES, WRITES, WRITTEN)] == [(one,) for one in biggest]
    assert found.num_nodes["paper"][0] == 8 and found.num_nodes["author"][0] == 0 and found.num_links is None
    assert {shapes_of(batch) for batch in hgt(**options, pad=found)} == {shapes_of(batches[0])}


def test_a_transformer_gives_seeds_what_it_gives_without_padding():
    torch.manual_seed(0)
    metadata = heterogeneous().metadata()
    layers = torch.nn.ModuleList([HGTConv(6, 8, metadata, heads=2), HGTConv(8, 8, metadata, heads=2)])

    def step(batch):
        layers.zero_grad()
        x = batch.x_dict
        for layer in layers:
            x = layer(x, batch.edge_index_dict)
        out = x["paper"][: batch["paper"].batch_size]
        torch.nn.functional.cross_entropy(out, batch["paper"].y[: batch["paper"].batch_size]).backward()
        return out.detach(), [one.grad.clone() for one in layers.parameters() if one.grad is not None]

    for batch, plain in zip(hgt(), hgt(pad=None), strict=True):
        (out, slopes), (expected, expected_slopes) = step(batch), step(plain)
        torch.testing.assert_close(out[batch["paper"].seed_mask], expected, rtol=1e-4, atol=1e-5)
        for one, other in zip(slopes, expected_slopes, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)


def with_attribute(name):
    made = data()
    made[name] = numbers(300)
    return made


MISTAKES = {
    "name": (lambda: loader(pad="batch"), "pad is 'batch', expected None, 'epoch' or a Padding"),
    "no links": (
        lambda: loader(pad=Padding([9, 9, 9], [9, 9])),
        "pad has no num_links, expected the links of the largest batch",
    ),
    "links of vertices": (
        lambda: NeighborLoader(DATA, [2], pad=Padding([9, 9], [9], 4)),
        "pad has num_links 4, expected None: batches are around vertices",
    ),
    "hops": (lambda: loader(pad=Padding([9, 9], [9], 17)), "pad has 1 hops, expected 2: batches have so many"),
    "many links": (
        lambda: list(loader(pad=Padding([999] * 3, [999] * 2, 16))),
        "batch 0 has 17 links, expected at most 16: pad is too small",
    ),
    "many ends": (
        lambda: list(loader(pad=Padding([4, 999, 999], [999] * 2, 17))),
        "seeds, expected at most 4: pad is too small",
    ),
    "many vertices": (
        lambda: list(loader(pad=Padding([999, 3, 999], [999] * 2, 17))),
        "vertices in hop 1, expected at most 3: pad is too small",
    ),
    "negative": (lambda: Padding([4], [], -1), "num_links is -1, expected 0 to 2147483647"),
    "large": (lambda: Padding([4], [], 2**31), "num_links is 2147483648, expected 0 to 2147483647"),
    "half": (lambda: Padding([4], [], 1.5), "num_links is 1.5, expected an integer"),
    "mask": (lambda: loader(with_attribute("label_mask")), "pad: data has 'label_mask', expected another name"),
    "times": (
        lambda: loader(with_attribute("time"), time_attr="time", edge_label_time=numbers(NUM_LINKS)),
        "pad: time_attr is given, expected None",
    ),
    "disjoint": (lambda: loader(disjoint=True), "pad: disjoint is True, expected False"),
    "induced": (lambda: loader(subgraph_type="induced"), "pad: subgraph_type is 'induced', expected 'directional'"),
    "transform": (lambda: loader(transform_sampler_output=lambda out: out), "pad: transform_sampler_output is given"),
    "generator": (lambda: loader(generator=torch.Generator()), "pad is 'epoch', but generator decides the order"),
    "no batches": (
        lambda: loader(edge_label_index=torch.empty(2, 0, dtype=torch.long)).padding(),
        "epochs is None, which has no batches: expected one or more",
    ),
    "hops of HGSampling": (
        lambda: hgt(pad=Padding({"paper": [8, 9, 9], "author": [0, 9, 9]}, {key: [9, 9] for key in (CITES, WRITES, WRITTEN)})),
        "pad has 2 hops, expected 1: batches have so many",
    ),
    "few edges of HGSampling": (
        lambda: list(hgt(pad=Padding({"paper": [8, 99], "author": [0, 99]}, {CITES: [99], WRITES: [0], WRITTEN: [99]}))),
        "edges of ('author', 'writes', 'paper') in hop 1, expected at most 0: pad is too small",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_one_line(name):
    check_refused(*MISTAKES[name])


def test_data_of_links_may_have_a_seed_mask():
    """Only padded batches around vertices have one of their own."""
    for batch in loader(with_attribute("seed_mask")):
        assert torch.equal(batch.seed_mask[batch.node_mask], batch.n_id[batch.node_mask])
