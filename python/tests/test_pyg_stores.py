"""Graphs in a FeatureStore and a GraphStore with times and weights, and as sparse matrices."""

from __future__ import annotations

import pytest
from pyg_checks import CITES, WRITES, heterogeneous, homogeneous, numbers, torch
from torch_geometric.data import Data
from torch_geometric.testing import MyFeatureStore, MyGraphStore

from tendril.pyg import NeighborLoader, NeighborSampler


def stored(data, layout="coo"):
    """The same graph in stores, without types. Edges of CSR and CSC are in that order, and so are their attributes."""
    features, graphs = MyFeatureStore(), MyGraphStore()
    row, col = data.edge_index
    order = torch.arange(row.numel())
    if layout != "coo":
        outer, inner = (row, col) if layout == "csr" else (col, row)
        order = torch.argsort(outer * 1000 + inner, stable=True)
        count = torch.bincount(outer, minlength=data.num_nodes)
        pointers = torch.cat([torch.zeros(1, dtype=torch.int64), count.cumsum(0)])
        pair = (pointers, inner[order]) if layout == "csr" else (inner[order], pointers)
    else:
        pair = (row, col)
    graphs.put_edge_index(pair, edge_type=None, layout=layout, size=(data.num_nodes, data.num_nodes))
    for name in data.keys():
        if name not in ("edge_index", "num_nodes", "name"):
            value = data[name][order] if data.is_edge_attr(name) else data[name]
            features.put_tensor(value, group_name="default", attr_name=name, index=None)
    return (features, graphs), order


@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
def test_edge_times_and_weights_without_types(layout):
    data = homogeneous()
    del data.edge_attr
    data.w = torch.rand(700, generator=torch.Generator().manual_seed(2))
    given, order = stored(data, layout)
    same_edges = data.clone()
    same_edges.edge_index, same_edges.w = data.edge_index[:, order], data.w[order]
    for one, other in zip(NeighborLoader(given, [3, 2], numbers(100), weight_attr="w", batch_size=20),
                          NeighborLoader(same_edges, [3, 2], weight_attr="w", batch_size=20), strict=True):  # fmt: skip
        assert torch.equal(one.n_id, other.n_id) and torch.equal(one.edge_index, other.edge_index)
        assert torch.equal(one.w, other.w) and torch.equal(one.x, other.x) and torch.equal(one.e_id, other.e_id)
    data.w = torch.arange(700) % 90
    given, order = stored(data, layout)
    same_edges.edge_index, same_edges.w = data.edge_index[:, order], data.w[order]
    options = {"time_attr": "w", "input_time": torch.full((100,), 30), "batch_size": 20}
    found = 0
    for one, other in zip(NeighborLoader(given, [-1, 2], numbers(100), **options),
                          NeighborLoader(same_edges, [-1, 2], **options), strict=True):  # fmt: skip
        assert torch.equal(one.n_id, other.n_id) and torch.equal(one.w, other.w) and (one.w <= 30).all()
        assert torch.equal(one.e_id, other.e_id)
        found += one.num_edges
    assert found > 200


def test_node_times_without_types():
    data = homogeneous()
    del data.edge_attr
    data.when = torch.arange(100) % 40
    given, _ = stored(data)
    options = {"time_attr": "when", "batch_size": 20}
    of_stores = NeighborLoader(given, [3, 2], numbers(100), **options)
    for one, other in zip(of_stores, NeighborLoader(data, [3, 2], **options), strict=True):
        assert torch.equal(one.n_id, other.n_id) and torch.equal(one.when, other.when)
        assert (one.when <= one.when[: one.batch_size][one.batch]).all()


def test_where_sizes_do_not_tell_the_name_does():
    data = Data(edge_index=torch.tensor([[1, 2, 0], [0, 0, 1]]), time=numbers(3), late=numbers(3), num_nodes=3)
    features, graphs = MyFeatureStore(), MyGraphStore()
    for name in ("time", "late"):
        features.put_tensor(data[name], group_name=None, attr_name=name, index=None)
    graphs.put_edge_index(data.edge_index, edge_type=None, layout="coo", size=(3, 3))
    sampler = NeighborSampler((features, graphs), [2], time_attr="time")
    assert sampler.node_time is not None and sampler.edge_time is None
    sampler = NeighborSampler((features, graphs), [2], time_attr="late")
    assert sampler.node_time is None and sampler.edge_time is not None


def typed_stores(hetero):
    features, graphs = MyFeatureStore(), MyGraphStore()
    for name in hetero.node_types:
        features.put_tensor(hetero[name].x, group_name=name, attr_name="x", index=None)
    for key in hetero.edge_types:
        size = tuple(hetero[name].num_nodes for name in (key[0], key[2]))
        graphs.put_edge_index(hetero[key].edge_index, edge_type=key, layout="coo", size=size)
        for name in hetero[key].keys():
            if name != "edge_index":
                features.put_tensor(hetero[key][name], group_name=key, attr_name=name, index=None)
    return features, graphs


@pytest.mark.parametrize("option", ["weight_attr", "time_attr"])
def test_edge_times_and_weights_of_several_types(option):
    hetero = heterogeneous()
    hetero[CITES].w = numbers(300) % 50
    hetero[WRITES].w = numbers(400) % 50
    options = {option: "w", "batch_size": 20, "input_nodes": "paper"}
    if option == "time_attr":
        options["input_time"] = torch.full((60,), 20)
    for one, other in zip(NeighborLoader(typed_stores(hetero), [4, 3], **options),
                          NeighborLoader(hetero, [4, 3], **options), strict=True):  # fmt: skip
        for key in hetero.edge_types:
            assert torch.equal(one[key].edge_index, other[key].edge_index)
            assert torch.equal(one[key].edge_attr, other[key].edge_attr)
        assert one[CITES].num_edges > 0 and torch.equal(one[CITES].w, other[CITES].w)
        assert option == "weight_attr" or (one[WRITES].w <= 20).all()


def test_attributes_that_stores_lack():
    given, _ = stored(homogeneous())
    typed = typed_stores(heterogeneous())
    for stores in (given, typed):
        for option in ("weight_attr", "time_attr"):
            with pytest.raises(ValueError, match=f"^{option} is 'w', but the FeatureStore has no such attribute"):
                NeighborSampler(stores, [2], **{option: "w"})
    given[0].put_tensor(numbers(5), group_name="default", attr_name="w", index=None)
    with pytest.raises(ValueError, match=r"^w has shape \(5,\), expected \(100,\) or \(700,\)"):
        NeighborSampler(given, [2], time_attr="w")
    with pytest.raises(ValueError, match=r"^w has shape \(5,\), expected \(700,\)"):
        NeighborSampler(given, [2], weight_attr="w")
    given[0].put_tensor(numbers(700), group_name="other", attr_name="w", index=None)
    with pytest.raises(ValueError, match="^the FeatureStore has 'w' in 2 groups, expected one"):
        NeighborSampler(given, [2], weight_attr="w")


@pytest.mark.filterwarnings("ignore:Sparse CS")  # Torch's own
@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_adjacency_as_torchs_sparse_matrix(layout):
    data = homogeneous()
    row, col = data.edge_index
    keep = torch.unique(col * 100 + row)  # Torch adds up parallel edges in some conversions
    col, row = keep // 100, keep % 100
    values = torch.arange(row.numel()).float()
    matrix = torch.sparse_coo_tensor(torch.stack([col, row]), values, (100, 100)).coalesce()
    if layout != "coo":
        matrix = matrix.to_sparse_csr() if layout == "csr" else matrix.to_sparse_csc()
    of_edge = values if layout != "csc" else matrix.values()
    ends = torch.stack([row, col]) if layout != "csc" else torch.stack([row, col])[:, of_edge.long()]
    own = Data(x=data.x, adj_t=matrix, num_nodes=100)
    plain = Data(x=data.x, edge_index=ends, edge_attr=of_edge, num_nodes=100)
    for one, other in zip(NeighborLoader(own, [3, 2], batch_size=30), NeighborLoader(plain, [3, 2], batch_size=30),
                          strict=True):  # fmt: skip
        assert one.adj_t.layout == matrix.layout and one.adj_t.shape == (one.num_nodes, one.num_nodes)
        assert torch.equal(one.n_id, other.n_id) and torch.equal(one.e_id, other.e_id)
        expected = torch.zeros(one.num_nodes, one.num_nodes)
        expected[other.edge_index[1], other.edge_index[0]] = other.edge_attr
        assert torch.equal(one.adj_t.to_dense(), expected)
    own.adj_t = matrix.to_dense()
    with pytest.raises(ValueError, match="^adj_t is a tensor of the layout torch.strided, expected a sparse matrix"):
        NeighborLoader(own, [2])


def by_target(edges, by_source=True):
    return edges[:, torch.argsort(edges[1] * 1000 + edges[0] * by_source, stable=True)]


def expect_equal(some, others):
    for one, other in zip(some, others, strict=True):
        assert torch.equal(one.n_id, other.n_id) and torch.equal(one.e_id, other.e_id)
        assert torch.equal(one.edge_index, other.edge_index)


def expect_equal_types(some, others, edge_types):
    for one, other in zip(some, others, strict=True):
        for key in edge_types:
            assert torch.equal(one[key].e_id, other[key].e_id)
            assert torch.equal(one[key].edge_index, other[key].edge_index)


@pytest.fixture
def sort_always(monkeypatch):
    """After a call of it, edges are sorted even if they are in order."""
    return lambda: monkeypatch.setattr("tendril.pyg._graph._Build._in_order", lambda *_: None)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_edges_in_order_are_not_sorted(sort_always, dtype):
    data = homogeneous()
    weights = torch.rand(700, generator=torch.Generator().manual_seed(2))
    by_both = Data(x=data.x, edge_index=by_target(data.edge_index).to(dtype), w=weights, num_nodes=100)
    half = Data(x=data.x, edge_index=by_target(data.edge_index, by_source=False).to(dtype), num_nodes=100)
    turned = Data(x=data.x, edge_index=by_both.edge_index.flip(0), num_nodes=100)
    no_edges = Data(edge_index=torch.empty(2, 0, dtype=dtype), num_nodes=5)
    cases = [  # the last: whether edges are in order
        (by_both, {}, True),
        (by_both, {"weight_attr": "w"}, True),
        (by_both, {"time_attr": "w", "input_time": torch.full((100,), 50)}, True),
        (turned, {"sample_direction": "backward"}, True),
        (by_both, {"sample_direction": "backward"}, False),
        (half, {}, False),
        (data, {}, False),
        (no_edges, {}, False),
    ]

    def batches(given, options, word):
        if "time_attr" in options:
            given = given.clone()
            given.w = torch.arange(700) % 90
        if "sample_direction" not in options:
            return list(NeighborLoader(given, [3, 2], batch_size=30, is_sorted=word, **options))
        sampler = NeighborSampler(given, [3, 2], is_sorted=word, **options)
        return list(NeighborLoader(given, [3, 2], neighbor_sampler=sampler, batch_size=30))

    def permutation(given, options):
        kept = {name: value for name, value in options.items() if name in ("weight_attr", "sample_direction")}
        return NeighborSampler(given, [2], **kept).edge_permutation

    made = [[batches(given, options, word) for given, options, _ in cases] for word in (False, True)]
    for given, options, ordered in cases:
        assert (permutation(given, options) is None) == ordered or given is no_edges
    sort_always()
    for (given, options, _), one, other in zip(cases, *made, strict=True):
        expected = batches(given, options, False)
        expect_equal(one, expected)
        expect_equal(other, expected)
        assert permutation(given, options) is not None or given is no_edges


def test_edges_in_order_of_several_types_are_not_sorted(sort_always):
    hetero = heterogeneous()
    for key in hetero.edge_types:
        hetero[key].edge_index = by_target(hetero[key].edge_index)
        hetero[key].w = torch.arange(hetero[key].num_edges) % 40
    shuffled = torch.randperm(400, generator=torch.Generator().manual_seed(0))
    hetero[WRITES].edge_index = hetero[WRITES].edge_index[:, shuffled]  # the word of the caller is wrong here
    cases = ({}, {"weight_attr": "w"}, {"time_attr": "w", "input_time": torch.full((60,), 20)})

    def batches(options, word):
        return list(NeighborLoader(hetero, [3, 2], "paper", batch_size=20, is_sorted=word, **options))

    made = [[batches(options, word) for options in cases] for word in (False, True)]
    ids = NeighborSampler(hetero, [2]).edge_permutation
    assert ids[CITES] is None and ids[WRITES] is not None
    sort_always()
    assert NeighborSampler(hetero, [2]).edge_permutation[CITES] is not None
    for options, one, other in zip(cases, *made, strict=True):
        expected = batches(options, False)
        expect_equal_types(one, expected, hetero.edge_types)
        expect_equal_types(other, expected, hetero.edge_types)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_samplers_keep_edges_in_order_as_they_were(dtype):
    data = homogeneous()
    data = Data(edge_index=by_target(data.edge_index).to(dtype), w=torch.rand(700), num_nodes=100)
    sampler = NeighborSampler(data, [3], weight_attr="w")
    assert sampler.edge_permutation is None
    first = list(NeighborLoader(data, [3], neighbor_sampler=sampler, batch_size=30))
    data.edge_index.fill_(0)
    data.w.fill_(float("nan"))
    expect_equal(first, NeighborLoader(data, [3], neighbor_sampler=sampler, batch_size=30))


def test_sorted_edges_are_checked_too():
    for ends, weights, what in (
        ([[0, 9], [1, 1]], [1.0, 1.0], r"edge_index\[0\]\[1\] is 9"),
        ([[0, 1], [1, 1]], [1.0, float("nan")], "nan"),
        ([[0, 1], [1, 1]], [1.0, -2.0], "-2"),
    ):
        data = Data(edge_index=torch.tensor(ends), w=torch.tensor(weights), num_nodes=3)
        for word in (False, True):
            with pytest.raises(ValueError, match=what):
                NeighborSampler(data, [2], weight_attr="w", is_sorted=word)


def test_tables_have_a_limit():
    data = homogeneous()
    data.w = torch.rand(700, generator=torch.Generator().manual_seed(2))
    made = [list(NeighborLoader(data, [3], weight_attr="w", replace=True, batch_size=50, table_bytes=limit))
            for limit in (None, 0)]  # fmt: skip
    for one, other in zip(*made, strict=True):
        assert torch.equal(one.e_id, other.e_id)
    with pytest.raises(ValueError, match="table_bytes"):
        NeighborSampler(data, [3], weight_attr="w", table_bytes=-1)
