"""tendril.Pipeline with padding: every batch has the sizes of the largest one, and its real part is the plain batch."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import tendril
from tendril import Padding, _tendril
from tendril._padder import Padder, Sampled, _NumPy, _OnGpu, sizes_of

COUNT, EDGES = 200, 1500
X = np.arange(1, COUNT * 3 + 1, dtype=np.float32).reshape(COUNT, 3)
Y = np.arange(COUNT, dtype=np.int64) * 7


def graph():
    rng = np.random.RandomState(1)
    source, target = rng.randint(COUNT, size=EDGES), rng.randint(COUNT, size=EDGES)
    return tendril.Graph.from_coo(source, target % 150, num_vertices=COUNT, reverse=True)  # 50 without neighbours


def sampler(**options):
    return tendril.MinibatchSampler(graph(), **{"num_neighbors": [4, 3, 2], "seed": 5, **options})


def pipeline(sampler_=None, seeds=None, **options):
    weights = np.arange(EDGES, dtype=np.float32)
    tables = {"features": {"x": X}, "edge_features": {"w": weights}, "labels": {"y": Y}}
    options = {"batch_size": 9, "shuffle": True, "pad": "epoch", **tables, **options}
    return tendril.Pipeline(sampler() if sampler_ is None else sampler_, np.arange(0, COUNT, 2) if seeds is None else seeds, **options)


def hops(sizes):
    """The slice of each hop."""
    ends = np.cumsum([0, *sizes])
    return [slice(a, b) for a, b in zip(ends, ends[1:], strict=False)]


def check_real_part(batch, plain):
    """The real part of a padded batch is the plain one, and its padding is among itself; hop by hop."""
    small, expected = batch.minibatch, plain.minibatch
    new = np.flatnonzero(batch.node_mask)  # for each vertex of the plain batch, its position
    for field in ("row", "col"):
        found = getattr(small, field)
        assert np.array_equal(found[batch.edge_mask], new[getattr(expected, field)])
        assert not batch.node_mask[found[~batch.edge_mask]].any()
    assert (small.row != small.col)[~batch.edge_mask].all()
    assert np.array_equal(small.node[batch.node_mask], expected.node)
    assert np.array_equal(small.edge[batch.edge_mask], expected.edge)
    for own, mask, of in (("num_sampled_nodes", "node_mask", expected), ("num_sampled_edges", "edge_mask", expected)):
        many = [int(getattr(batch, mask)[hop].sum()) for hop in hops(getattr(small, own))]
        assert many == list(getattr(of, own))
        for hop, real in zip(hops(getattr(small, own)), many, strict=True):
            assert getattr(batch, mask)[hop][:real].all()  # real ones come first
    for hop, inside in zip(hops(small.num_sampled_edges), hops(small.num_sampled_nodes)[1:], strict=True):
        for end in (small.row, small.col):
            padding = end[hop][~batch.edge_mask[hop]]
            assert ((inside.start <= padding) & (padding < inside.stop)).all()
    seeds = len(plain.index)
    assert batch.seed_mask.tolist() == [True] * seeds + [False] * (len(batch.seed_mask) - seeds)
    assert batch.index.tolist() == plain.index.tolist() + [-1] * (len(batch.index) - seeds)
    for padded, real, mask in (
        (batch.features["x"], plain.features["x"], batch.node_mask),
        (batch.edge_features["w"], plain.edge_features["w"], batch.edge_mask),
        (batch.labels["y"], plain.labels["y"], batch.seed_mask),
    ):
        assert padded.dtype == real.dtype and np.array_equal(padded[mask], real)
        if len(real):
            assert (padded[~mask] == real[0]).all()


def shapes(batch):
    small = batch.minibatch
    arrays = (small.node, small.row, small.col, small.edge, batch.index, *batch.features.values(), *batch.labels.values())
    sizes = (small.num_sampled_nodes, small.num_sampled_edges, batch.node_mask, batch.edge_mask, batch.seed_mask)
    return repr([one.shape for one in (*arrays, *batch.edge_features.values(), *sizes[2:])]) + repr(sizes[:2])


def told(batch):
    small = batch.minibatch
    arrays = (small.node, small.row, small.col, small.edge, batch.index, batch.node_mask, batch.edge_mask, batch.seed_mask)
    return [one.tobytes() for one in (*arrays, batch.features["x"], batch.labels["y"])] + [batch.number]


@pytest.mark.parametrize("options", [{}, {"dtype": np.int32}, {"replace": True}, {"num_neighbors": [3]}], ids=str)
def test_batches_have_one_shape_and_the_plain_ones_in_them(options):
    of = sampler(**options)
    padded, plain = pipeline(of), pipeline(of, pad=None)
    for _ in range(2):
        batches = list(padded)
        assert len({shapes(batch) for batch in batches}) == 1
        for batch, expected in zip(batches, plain, strict=True):
            assert batch.number == expected.number and batch.minibatch.node.dtype == expected.minibatch.node.dtype
            check_real_part(batch, expected)
    assert len({len(batch.minibatch.node) for batch in plain}) > 1  # else there was nothing to do
    assert next(iter(plain)).node_mask is None


def test_weights_of_labor_are_zero_at_padding():
    of = sampler(choice="labor")
    for batch, expected in zip(pipeline(of), pipeline(of, pad=None), strict=True):
        weights = batch.minibatch.weights
        assert weights.dtype == np.float32 and len(weights) == len(batch.edge_mask)
        assert np.array_equal(weights[batch.edge_mask], expected.minibatch.weights)
        assert not weights[~batch.edge_mask].any()


def test_maxima_are_exact():
    of = sampler()
    for epochs in ([0], [3, 1], range(4)):
        found = pipeline(of).padding(epochs)
        sizes = []
        for epoch in epochs:
            plain = pipeline(of, pad=None)
            plain.set_epoch(epoch)
            sizes += [(list(b.minibatch.num_sampled_nodes), list(b.minibatch.num_sampled_edges)) for b in plain]
        assert found == Padding(*(np.max(many, axis=0) for many in zip(*sizes, strict=True)))
    ahead = pipeline(of)
    ahead.set_epoch(3)
    assert ahead.padding() == ahead.padding([3]) != ahead.padding([0])
    assert ahead.epoch == 3  # counting isn't iterating


def test_one_padding_serves_several_epochs():
    of = sampler()
    wide = pipeline(of).padding(range(3))
    made = pipeline(of, pad=wide)
    batches = [batch for _ in range(3) for batch in made]
    assert len({shapes(batch) for batch in batches}) == 1
    assert batches[0].minibatch.num_sampled_nodes == wide.num_sampled_nodes
    plain = pipeline(of, pad=None)
    for batch, expected in zip(batches, [one for _ in range(3) for one in plain], strict=True):
        check_real_part(batch, expected)
    made.pad = wide.with_room(0.3)
    made.set_epoch(0)
    check_real_part(next(iter(made)), next(iter(plain.set_epoch(0) or plain)))


class Bare:
    """An array that can do no more than a DeviceArray: tell its size and type, and have slices."""

    def __init__(self, values):
        self.values, self.dtype = values, values.dtype

    def __len__(self):
        return len(self.values)

    def __getitem__(self, key):
        assert isinstance(key, slice)
        return Bare(self.values[key])


class BareLibrary(_OnGpu):
    """The library of a GPU's arrays, of bare ones."""

    def concatenate(self, parts):
        assert parts
        return Bare(np.concatenate([part.values for part in parts]))

    def take(self, array, index):
        assert not len(index) or (index.values.min() >= 0 and index.values.max() < len(array))
        return Bare(array.values[index.values])

    def _there(self, values):
        return Bare(values)


@pytest.mark.parametrize("options", [{}, {"dtype": np.int32}, {"choice": "labor"}, {"num_neighbors": [0, 2]}], ids=str)
def test_padding_needs_no_more_of_arrays_than_a_gpu_has(options):
    of = sampler(**options)
    for seeds in (None, [180], [180, 3, 5]):
        padding, plain = pipeline(of, seeds).padding(), list(pipeline(of, seeds, pad=None))
        on_cpu, on_gpu = Padder(padding, _NumPy()), Padder(padding, BareLibrary(0, 0))
        for one in plain:
            small = one.minibatch
            weights = None if small.weights is None else {None: small.weights}
            arrays = {None: small.node}, {None: small.col}, {None: small.row}, {None: small.edge}, weights
            given = Sampled(sizes_of(small, True), *arrays)
            bare = Sampled(given.sizes, *(None if of is None else {None: Bare(of[None])} for of in arrays))
            expected, found = (pad(batch, one.number) for pad, batch in ((on_cpu, given), (on_gpu, bare)))
            for a, b in zip([*expected[0][1:], *expected[1]], [*found[0][1:], *found[1]], strict=True):
                if a is not None:
                    assert a[None].dtype == b[None].dtype and np.array_equal(a[None], b[None].values)
            assert expected[0].sizes == found[0].sizes


def test_arrays_of_a_gpu_are_joined_by_the_extension():
    with pytest.raises(tendril.ArgumentError, match="parts has no arrays, expected one or more"):
        _tendril.concatenate_gpu([], 0)


WAYS = [{"bulk": 1}, {"bulk": 100}, {"prefetch": 0}, {"prefetch": 9}, {"num_threads": 1}]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_how_batches_are_made_changes_nothing(way):
    assert [told(batch) for batch in pipeline(**way)] == [told(batch) for batch in pipeline()]


@pytest.mark.parametrize("uneven", ["keep", "drop", "repeat"])
def test_ranks_have_the_batches_of_one(uneven):
    whole = [told(batch) for batch in pipeline()]
    for world in (2, 5):
        for rank in range(world):
            mine = [told(batch) for batch in pipeline(rank=rank, world_size=world, uneven=uneven)]
            assert all(batch in whole for batch in mine)
            assert mine[:2] == whole[rank::world][:2]


def test_an_epoch_goes_on_with_the_same_sizes():
    whole = [[told(batch) for batch in epoch] for epoch in [pipeline()] * 2]
    for done in (1, 7, 11):
        interrupted = pipeline()
        for _, _ in zip(range(done), interrupted, strict=False):
            pass
        resumed = pipeline()
        resumed.load_state_dict(interrupted.state_dict())
        assert [told(batch) for batch in resumed] == whole[0][done:]
        assert [told(batch) for batch in resumed] == whole[1]


def test_corner_cases():
    assert list(pipeline(seeds=[])) == []
    (one,) = pipeline(seeds=[180], batch_size=4)  # a vertex without neighbours
    assert one.minibatch.num_sampled_nodes == [1, 0, 0, 0] and len(one.minibatch.row) == 0
    lonely, other = list(pipeline(seeds=[180, 3], batch_size=1, shuffle=False))
    assert shapes(lonely) == shapes(other) and not lonely.edge_mask.any() and len(lonely.edge_mask)
    none = pipeline(sampler(num_neighbors=[0, 0]))
    assert {shapes(batch) for batch in none} == {shapes(next(iter(none)))}
    sizes = [len(batch.index) for batch in pipeline(drop_last=True)]
    assert sizes == [9] * 11
    huge = pipeline(pad=Padding([9, 4000, 30, 30], [3000, 200, 200]))  # more padding than any table goes round
    plain = pipeline(pad=None, bulk=1)
    with pytest.raises(tendril.ArgumentError, match="batch 0 has"):
        list(huge)
    huge.pad = Padding([9, 4000, 400, 400], [5000, 2000, 2000])
    huge.set_epoch(0)
    for batch, expected in zip(huge, plain, strict=True):
        check_real_part(batch, expected)


def test_a_padding_is_a_value():
    one = Padding([4, 9], np.array([7]))
    assert one == Padding((4, 9), (7,)) and hash(one) == hash(Padding((4, 9), (7,)))
    assert pickle.loads(pickle.dumps(one)) == one and repr(one) == "Padding(num_nodes=(4, 9), num_edges=(7,))"
    assert (one.num_sampled_nodes, one.num_sampled_edges) == ([4, 11], [7])
    assert Padding([4, 9], [0]).num_sampled_nodes == [4, 9]  # no edge needs an end
    assert one.with_room(0) == one and one.with_room(0.5) == Padding([4, 14], [11])
    with pytest.raises(AttributeError):
        one.num_nodes = (1,)


@pytest.mark.parametrize("kind", [tendril.MinibatchSampler, tendril.HGTSampler])
def test_graphs_of_several_types(kind):
    rng = np.random.RandomState(3)
    ends = {("author", "writes", "paper"): (40, 60), ("paper", "cites", "paper"): (60, 60)}
    edges = {key: (rng.randint(a, size=300), rng.randint(b, size=300)) for key, (a, b) in ends.items()}
    library = tendril.HeteroGraph({"author": 40, "paper": 60}, edges, reverse=True)
    of = kind(library, [3, 2])
    tables = {"author": {"a": np.arange(40)}, "paper": {"x": X[:60]}}

    def made(**options):
        options = {"batch_size": 9, "node_type": "paper", "features": tables, "labels": {"y": Y[:60]}, **options}
        return tendril.Pipeline(of, np.arange(40), **options)

    shapes_found = set()
    for batch, plain in zip(made(pad="epoch"), made(), strict=True):
        small, expected = batch.minibatch, plain.minibatch
        new = {name: np.flatnonzero(mask) for name, mask in batch.node_mask.items()}
        for name in library.num_nodes:
            assert np.array_equal(small.node[name][batch.node_mask[name]], expected.node[name])
        for key, mask in batch.edge_mask.items():
            for found, own, end in ((small.row, expected.row, key[2]), (small.col, expected.col, key[0])):
                assert np.array_equal(found[key][mask], new[end][own[key]])
                assert not batch.node_mask[end][found[key][~mask]].any()
            assert np.array_equal(small.edge[key][mask], expected.edge[key])
        assert np.array_equal(batch.features["paper"]["x"], X[small.node["paper"]])
        assert np.array_equal(batch.labels["y"][batch.seed_mask], plain.labels["y"])
        sizes = [one.shape for of_type in (small.node, small.row, batch.edge_mask) for one in of_type.values()]
        shapes_found.add(repr((sizes, batch.index.shape, small.num_sampled_nodes, small.num_sampled_edges)))
    assert len(shapes_found) == 1 and plain.index.shape != batch.index.shape


MISTAKES = {
    "name": (lambda: pipeline(pad="epochs"), "pad is 'epochs', expected None, 'epoch' or a Padding"),
    "number": (lambda: pipeline(pad=5), "pad is 5, expected None, 'epoch' or a Padding"),
    "hops": (lambda: pipeline(pad=Padding([9, 9], [9])), "pad has 1 hops, expected 3: batches have so many"),
    "disjoint": (lambda: pipeline(sampler(disjoint=True)), "pad: the sampler has disjoint True, expected False"),
    "induced": (
        lambda: pipeline(sampler(subgraph_type="induced")),
        "pad: the sampler has subgraph_type 'induced', expected 'directional'",
    ),
    "frontier": (lambda: pipeline(sampler(frontier="all")), "pad: the sampler has frontier 'all', expected 'new'"),
    "seeds": (lambda: pipeline(seeds=[4, 2, 4]), "pad: seeds has 4 more than once, expected different vertices"),
    "hops of HGSampling": (
        lambda: tendril.Pipeline(
            tendril.HGTSampler(tendril.HeteroGraph({"a": 5}, {("a", "b", "a"): ([0], [1])}), [2, 2]),
            [0],
            node_type="a",
            pad=Padding({"a": [4, 1, 1]}, {("a", "b", "a"): [1, 1]}),
        ),
        "pad has 2 hops, expected 1: batches have so many",
    ),
    "epochs": (lambda: pipeline().padding(3), "epochs is 3, expected numbers of epochs"),
    "epoch": (lambda: pipeline().padding([0, -1]), "epochs is -1, expected 0 or more"),
    "no epochs": (lambda: pipeline().padding([]), r"epochs is \[\], which has no batches: expected one or more"),
    "no seeds": (lambda: pipeline(seeds=[]).padding([0]), r"epochs is \[0\], which has no batches: expected one or more"),
    "vertices": (
        lambda: list(pipeline(pad=Padding([9, 9999, 1, 9999], [9999] * 3))),
        r"batch \d+ has \d+ vertices in hop 2, expected at most 1: pad is too small",
    ),
    "edges": (
        lambda: list(pipeline(pad=Padding([9, 9999, 9999, 9999], [3, 9999, 9999]))),
        r"batch \d+ has \d+ edges in hop 1, expected at most 3: pad is too small",
    ),
    "too many seeds": (
        lambda: list(pipeline(pad=Padding([8, 9999, 9999, 9999], [9999] * 3))),
        "batch 0 has 9 seeds, expected at most 8: pad is too small",
    ),
    "negative": (lambda: Padding([4, -1], [3]), r"num_nodes\[1\] is -1, expected 0 to 2147483647"),
    "large": (lambda: Padding([4, 1], [2**31]), r"num_edges\[0\] is 2147483648, expected 0 to 2147483647"),
    "float": (lambda: Padding([4.5], []), r"num_nodes\[0\] is 4.5, expected an integer"),
    "lengths": (lambda: Padding([4], [3]), "num_edges has 1 elements, expected 0: num_nodes has 1, the seeds and 0 hops"),
    "empty": (lambda: Padding([], []), r"num_nodes is \[\], expected the seeds, and the vertices of each hop"),
    "one mapping": (lambda: Padding({"a": [4]}, []), "num_nodes or num_edges is a mapping of types, and the other isn't"),
    "no types": (lambda: Padding({}, {}), "num_nodes is {}, expected the seeds, and the vertices of each hop"),
    "hops of a type": (lambda: Padding({"a": [4, 1], "b": [1]}, {}), r"num_nodes\['b'\] has 1 elements, expected 2"),
    "unknown ends": (
        lambda: Padding({"a": [4, 1]}, {("a", "to", "b"): [1]}),
        r"num_edges has the edge type \('a', 'to', 'b'\), expected types of num_nodes at its ends",
    ),
    "no edge type": (lambda: Padding({"a": [4, 1]}, {"a to a": [1]}), "num_edges has the edge type 'a to a', expected types"),
    "types of a graph": (
        lambda: pipeline(pad=Padding({"a": [4, 1]}, {("a", "to", "a"): [1]})),
        r"pad has \['a'\], expected one type, as the data has",
    ),
    "nothing": (lambda: Padding(None, []), "num_nodes is None, expected a sequence of integers"),
    "room": (lambda: Padding([4], []).with_room(-0.5), "share is -0.5, expected a number from 0"),
    "not a number": (lambda: Padding([4], []).with_room(float("nan")), "share is nan, expected a number from 0"),
    "much room": (lambda: Padding([4, 2**30], [1]).with_room(1.5), "share is 1.5, which makes more than 2147483647"),
    "endless room": (lambda: Padding([4, 5], [1]).with_room(1e308), "share is 1e[+]308, which makes more than"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_one_line(name):
    call, text = MISTAKES[name]
    with pytest.raises(tendril.ArgumentError, match=text) as error:
        call()
    assert "\n" not in str(error.value)


def test_a_refused_pad_changes_nothing():
    made = pipeline(pad=None)
    with pytest.raises(tendril.ArgumentError):
        made.pad = Padding([9], [])
    assert made.pad is None and next(iter(made)).node_mask is None
