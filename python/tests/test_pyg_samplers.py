"""Our sampler in PyG's loaders, PyG's samplers in ours, and other places where data may come from."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from pyg_checks import CITES, check_edges, check_homogeneous, check_nodes, heterogeneous, homogeneous, numbers, same, torch
from torch_geometric import EdgeIndex
from torch_geometric.data import Data
from torch_geometric.loader import LinkLoader, NodeLoader
from torch_geometric.sampler import BaseSampler, EdgeSamplerInput, NodeSamplerInput, NumNeighbors, SamplerOutput

from tendril.pyg import LinkNeighborLoader, NeighborLoader, NeighborSampler


@pytest.fixture(scope="module")
def data():
    return homogeneous()


def test_our_sampler_in_pygs_node_loader(data):
    sampler = NeighborSampler(data, [4, 3], seed=5)
    assert isinstance(sampler, BaseSampler)
    theirs = list(NodeLoader(data, sampler, batch_size=20))
    ours = list(NeighborLoader(data, [4, 3], batch_size=20, seed=5))
    for one, other in zip(theirs, ours, strict=True):  # calls are counted, as batches are
        check_homogeneous(data, one, [4, 3])
        same(one, other)


def test_our_sampler_in_pygs_loaders_of_several_types():
    data = heterogeneous()
    theirs = list(NodeLoader(data, NeighborSampler(data, [4, 3]), "paper", batch_size=20))
    ours = list(NeighborLoader(data, [4, 3], "paper", batch_size=20))
    for one, other in zip(theirs, ours, strict=True):
        same(one, other)
    theirs = list(LinkLoader(data, NeighborSampler(data, [4, 3]), CITES, batch_size=100))
    ours = list(LinkNeighborLoader(data, [4, 3], CITES, batch_size=100))
    for one, other in zip(theirs, ours, strict=True):
        same(one, other)


def test_a_sampler_by_itself(data):
    sampler = NeighborSampler(data, [-1], seed=1)
    out = sampler.sample_from_nodes(NodeSamplerInput(None, torch.tensor([3, 50])))
    assert isinstance(out, SamplerOutput) and out.node[:2].tolist() == [3, 50]
    edge = sampler.edge_permutation[out.edge]
    assert torch.equal(data.edge_index[:, edge], torch.stack([out.node[out.row], out.node[out.col]]))
    sampler.num_neighbors = NumNeighbors([0])
    assert sampler.sample_from_nodes(NodeSamplerInput(None, torch.tensor([3, 50]))).row.numel() == 0
    with pytest.raises(ValueError, match="below -1|-2"):
        sampler.num_neighbors = [-2]
    links = EdgeSamplerInput(None, torch.tensor([5, 1]), torch.tensor([1, 7]))
    sampler.num_neighbors = [2]
    out = sampler.sample_from_edges(links)
    assert out.node[:3].tolist() == [1, 5, 7] and out.metadata[1].tolist() == [[1, 0], [0, 2]]


def test_a_foreign_sampler_in_our_loader(data):
    class Nothing(BaseSampler):
        num_nodes = 100

        def sample_from_nodes(self, index, **kwargs):
            none = torch.empty(0, dtype=torch.int64)
            return SamplerOutput(index.node, none, none, none, metadata=(index.input_id, index.time))

        def sample_from_edges(self, index, neg_sampling=None):
            raise NotImplementedError

    batches = list(NeighborLoader(data, [4], neighbor_sampler=Nothing(), batch_size=40))
    assert [batch.num_nodes for batch in batches] == [40, 40, 20]
    check_nodes(data, batches[1])


def test_where_everything_is_taken_the_batch_is_pygs(data):
    """Fan-out -1 leaves nothing to chance: PyG's own loader gives the same subgraph."""
    torch_geometric = pytest.importorskip("torch_geometric")
    if not (torch_geometric.typing.WITH_PYG_LIB or torch_geometric.typing.WITH_TORCH_SPARSE):
        pytest.skip("neither pyg-lib nor torch-sparse is installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = list(torch_geometric.loader.NeighborLoader(data, [-1, -1], batch_size=20))
        hetero = heterogeneous()
        hetero_theirs = list(torch_geometric.loader.NeighborLoader(hetero, [-1, -1], input_nodes="paper", batch_size=9))
        links = list(torch_geometric.loader.LinkNeighborLoader(data, [-1, -1], batch_size=50))
    for one, other in zip(theirs, NeighborLoader(data, [-1, -1], batch_size=20), strict=True):
        assert one.n_id.sort().values.tolist() == other.n_id.sort().values.tolist()
        assert one.e_id.sort().values.tolist() == other.e_id.sort().values.tolist()
        assert torch.equal(one.n_id[:20], other.n_id[:20]) and torch.equal(one.input_id, other.input_id)
    for one, other in zip(hetero_theirs, NeighborLoader(hetero, [-1, -1], "paper", batch_size=9), strict=True):
        for name in ("paper", "author"):
            assert one[name].n_id.sort().values.tolist() == other[name].n_id.sort().values.tolist()
        for key in hetero.edge_types:
            assert one[key].e_id.sort().values.tolist() == other[key].e_id.sort().values.tolist()
    for one, other in zip(links, LinkNeighborLoader(data, [-1, -1], batch_size=50), strict=True):
        assert torch.equal(one.edge_label_index, other.edge_label_index)
        assert one.e_id.sort().values.tolist() == other.e_id.sort().values.tolist()
        count = int(other.edge_label_index.max()) + 1
        assert torch.equal(one.n_id[:count], other.n_id[:count])


def test_stores_give_what_data_gives(data):
    from torch_geometric.testing import MyFeatureStore, MyGraphStore

    features, graphs = MyFeatureStore(), MyGraphStore()
    features.put_tensor(data.x, group_name=None, attr_name="x", index=None)
    graphs.put_edge_index(data.edge_index, edge_type=None, layout="coo", size=(100, 100))
    ours = NeighborLoader((features, graphs), [4, 3], input_nodes=numbers(50), batch_size=20)
    for one, other in zip(ours, NeighborLoader(data, [4, 3], numbers(50), batch_size=20), strict=True):
        assert torch.equal(one.x, other.x) and torch.equal(one.edge_index, other.edge_index)
        assert torch.equal(one.n_id, other.n_id) and one.batch_size == other.batch_size
    hetero = heterogeneous()
    features, graphs = MyFeatureStore(), MyGraphStore()
    for name in hetero.node_types:
        features.put_tensor(hetero[name].x, group_name=name, attr_name="x", index=None)
    for key in hetero.edge_types:
        size = tuple(hetero[name].num_nodes for name in (key[0], key[2]))
        graphs.put_edge_index(hetero[key].edge_index, edge_type=key, layout="coo", size=size)
    ours = NeighborLoader((features, graphs), [4, 3], input_nodes="paper", batch_size=20)
    for one, other in zip(ours, NeighborLoader(hetero, [4, 3], "paper", batch_size=20), strict=True):
        for name in hetero.node_types:
            assert torch.equal(one[name].x, other[name].x) and torch.equal(one[name].n_id, other[name].n_id)
        for key in hetero.edge_types:
            assert torch.equal(one[key].edge_index, other[key].edge_index)


def test_stores_give_what_data_gives_around_links_and_with_times(data):
    from torch_geometric.testing import MyFeatureStore, MyGraphStore

    hetero = heterogeneous()
    features, graphs = MyFeatureStore(), MyGraphStore()
    for name in hetero.node_types:
        hetero[name].time = numbers(hetero[name].num_nodes) % 40
        for attribute in ("x", "time"):
            features.put_tensor(hetero[name][attribute], group_name=name, attr_name=attribute, index=None)
    for key in hetero.edge_types:
        size = tuple(hetero[name].num_nodes for name in (key[0], key[2]))
        graphs.put_edge_index(hetero[key].edge_index, edge_type=key, layout="coo", size=size)
    links = {"edge_label_index": CITES, "batch_size": 50, "neg_sampling": "binary"}
    times = {"edge_label_time": numbers(300) % 40, "time_attr": "time"}
    for make in (
        lambda data: NeighborLoader(data, [4, 3], "paper", time_attr="time", batch_size=20),
        lambda data: LinkNeighborLoader(data, [4, 3], **links),
        lambda data: LinkNeighborLoader(data, [4, 3], **links, **times),
    ):
        for one, other in zip(make((features, graphs)), make(hetero), strict=True):
            for name in hetero.node_types:
                assert torch.equal(one[name].time, other[name].time) and torch.equal(one[name].n_id, other[name].n_id)
            for key in hetero.edge_types:
                assert torch.equal(one[key].edge_index, other[key].edge_index)
            if "edge_label" in other[CITES]:
                assert torch.equal(one[CITES].edge_label_index, other[CITES].edge_label_index)
                assert torch.equal(one[CITES].edge_label, other[CITES].edge_label)
    features, graphs = MyFeatureStore(), MyGraphStore()
    features.put_tensor(data.x, group_name=None, attr_name="x", index=None)
    graphs.put_edge_index(data.edge_index, edge_type=None, layout="coo", size=(100, 100))
    links = {"edge_label_index": data.edge_index[:, :90], "batch_size": 30}
    ours, theirs = (LinkNeighborLoader(given, [3], **links) for given in ((features, graphs), data))
    for one, other in zip(ours, theirs, strict=True):
        assert torch.equal(one.n_id, other.n_id) and torch.equal(one.edge_label_index, other.edge_label_index)


def test_edges_and_links_may_be_an_edge_index(data):
    own = homogeneous()
    own.edge_index = EdgeIndex(own.edge_index, sparse_size=(100, 100))
    for make in (
        lambda data: NeighborLoader(data, [4, 3], batch_size=20),
        lambda data: LinkNeighborLoader(data, [4, 3], batch_size=90),
        lambda data: LinkNeighborLoader(data, [4], edge_label_index=data.edge_index, batch_size=90),
    ):
        for one, other in zip(make(own), make(data), strict=True):
            same(one, other)


def test_features_may_lie_in_a_mapped_file(data, tmp_path):
    mapped = np.memmap(tmp_path / "x.npy", dtype=np.float32, mode="w+", shape=(100, 3))
    mapped[:] = np.random.default_rng(0).random((100, 3))
    own = Data(x=mapped, edge_index=data.edge_index)
    batch = next(iter(NeighborLoader(own, [4], batch_size=30)))
    assert isinstance(batch.x, torch.Tensor) and torch.equal(batch.x, torch.from_numpy(mapped[batch.n_id.numpy()]))


def test_adjacency_as_a_sparse_tensor(data):
    sparse = pytest.importorskip("torch_sparse")
    own = Data(x=data.x, y=data.y)
    row, col = data.edge_index
    own.adj_t = sparse.SparseTensor(row=col, col=row, value=numbers(700), sparse_sizes=(100, 100))
    batch = next(iter(NeighborLoader(own, [4, 3], batch_size=30)))
    to, frm, value = batch.adj_t.coo()
    ends = torch.stack([batch.n_id[frm], batch.n_id[to]])
    assert torch.equal(data.edge_index[:, value], ends) and batch.adj_t.sparse_sizes() == (batch.num_nodes,) * 2


def test_attributes_without_a_place_are_kept(data):
    own = homogeneous()
    own.edge_weight = torch.rand(700)
    own.constant = torch.rand(3, 4)
    batch = next(iter(NeighborLoader(own, [4], batch_size=30)))
    assert torch.equal(batch.edge_weight, own.edge_weight[batch.e_id]) and torch.equal(batch.constant, own.constant)
    check_edges(own, batch, batch, batch)
