"""FeatureTables as attributes of Data and HeteroData: batches are those of the same rows in tensors."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from pyg_checks import CITES, Data, HeteroData, check_refused, heterogeneous, homogeneous, numbers, torch
from pyg_digests import digest

import tendril
from tendril.pyg import (
    ClusterData,
    GraphSAINTNodeSampler,
    HGTLoader,
    LinkNeighborLoader,
    NeighborLoader,
    NeighborSampler,
    ShaDowKHopSampler,
    _gather,
    _tables,
)

HAS_GPU = tendril.num_gpus() > 0 and torch.cuda.is_available()
ON_GPU = [pytest.mark.gpu, pytest.mark.skipif(not HAS_GPU, reason="no GPU, or Torch sees none")]


def rows(count=300, width=200, dtype=torch.float32):
    """So wide that the library gathers a batch."""
    return torch.randn(count, width, generator=torch.Generator().manual_seed(1)).to(dtype)


def plain(**attributes):
    made = homogeneous(num_nodes=300, num_edges=2100)
    made.x, made.y = rows(), numbers(300) % 5
    for name, value in attributes.items():
        made[name] = value
    return made


def tabled(table, **attributes):
    made = plain(**attributes)
    made.x = table
    return made


def batches(given, kind=NeighborLoader, **options):
    options = {"batch_size": 40, "shuffle": True, "seed": 5, **options}
    return [digest([batch]) for batch in kind(given, [4, 3], **options)]


def mapped(path, values):
    np.save(path / "x.npy", values.numpy())
    return tendril.read_features(path / "x.npy")


@pytest.mark.parametrize("kind", [NeighborLoader, LinkNeighborLoader])
def test_batches_are_those_of_a_tensor(tmp_path, kind):
    expected = batches(plain(), kind)
    made = tabled(tendril.FeatureTable(rows().numpy()))
    assert batches(made, kind) == expected and isinstance(made.x, tendril.FeatureTable)  # the data stays as it is
    assert batches(tabled(mapped(tmp_path, rows())), kind) == expected
    assert batches(tabled(tendril.FeatureTable(rows())), kind) == expected
    assert batches(tabled(pickle.loads(pickle.dumps(mapped(tmp_path, rows())))), kind) == expected
    assert batches(copy.copy(made), kind) == expected == batches(copy.deepcopy(made), kind)
    with_gaps = torch.cat([rows(), rows()], dim=1)[:, :200]
    assert not with_gaps.is_contiguous() and batches(tabled(tendril.FeatureTable(with_gaps)), kind) == expected
    for options in ({"prefetch": 0}, {"bulk": 1}, {"pad": None, "num_threads": 1}):
        assert batches(made, kind, **options) == expected


DTYPES = [torch.bfloat16, torch.float16, torch.float64, torch.uint8, torch.int32, torch.int64, torch.bool]


@pytest.mark.parametrize("width", [1, 200])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_all_types_of_rows(dtype, width):
    values = rows(width=width, dtype=dtype)
    found = next(iter(NeighborLoader(tabled(tendril.FeatureTable(values)), [4], batch_size=300))).x
    assert found.dtype == dtype and torch.equal(found, values)


def test_the_table_itself_gathers(tmp_path):
    """So a mapped file is read as one, and page-locked memory as such."""
    for table in (mapped(tmp_path, rows()), tendril.FeatureTable(rows(dtype=torch.bfloat16))):
        loader = NeighborLoader(tabled(table), [4], batch_size=300)
        assert _gather.table_over(loader.data.x) is table
        assert _tables.table_of(loader.data.x[:10]) is None and _tables.table_of(loader.data.y) is None


def test_tables_of_labels_masks_edges_and_weights():
    edges, weights, mask = rows(2100, 3), torch.rand(2100), numbers(300) % 3 > 0
    given = {"edge_attr": edges, "weight": weights, "y": numbers(300) % 5, "train_mask": mask}
    tables = {name: tendril.FeatureTable(value) for name, value in given.items()}
    options = {"weight_attr": "weight", "pad": "epoch"}
    assert batches(plain(**tables), **options) == batches(plain(**given), **options)
    batch = list(NeighborLoader(plain(**tables), [2], batch_size=40, pad="epoch"))[-1]
    assert (batch.y[~batch.node_mask] == -100).all() and not batch.train_mask[~batch.node_mask].any()
    times = numbers(300)
    of_times = [plain(time=value) for value in (times, tendril.FeatureTable(times))]
    assert batches(of_times[0], time_attr="time") == batches(of_times[1], time_attr="time")


def typed(with_tables):
    made = heterogeneous()
    for store in made.node_stores:
        store.x = rows(store.num_nodes)
    made[CITES].edge_attr = rows(300, 4)
    if with_tables:
        for store in (*made.node_stores, made[CITES]):
            name = "edge_attr" if "edge_attr" in store else "x"
            store[name] = tendril.FeatureTable(store[name])
    return made


def test_several_types():
    for options in ({}, {"pad": "epoch"}):
        assert batches(typed(True), input_nodes="paper", **options) == batches(typed(False), input_nodes="paper", **options)
    links = {"edge_label_index": CITES, "neg_sampling": "binary"}
    assert batches(typed(True), LinkNeighborLoader, **links) == batches(typed(False), LinkNeighborLoader, **links)
    assert batches(typed(True), HGTLoader, input_nodes="paper") == batches(typed(False), HGTLoader, input_nodes="paper")


def test_rows_tell_how_many_vertices_there_are():
    """PyG counts the vertices by `x`, of a table, too, where loaders and samplers read it."""
    edges = torch.tensor([[0, 1], [1, 2]])
    made = Data(x=tendril.FeatureTable(rows(9, 2)), edge_index=edges)
    assert NeighborSampler(made, [2]).num_nodes == 9
    assert next(iter(NeighborLoader(made, [2], batch_size=99))).n_id.tolist() == [*range(9)]
    of_types = HeteroData()
    of_types["a"].x, of_types["a", "to", "a"].edge_index = tendril.FeatureTable(rows(9, 2)), edges
    assert next(iter(NeighborLoader(of_types, [2], "a", batch_size=99)))["a"].n_id.tolist() == [*range(9)]


def wrong_type():
    made = typed(False)
    made["author"].z = tendril.FeatureTable(rows(5))
    return made


def wrong_edges():
    made = typed(False)
    made[CITES].z = tendril.FeatureTable(rows(5))
    return made


def uncounted():
    return Data(emb=tendril.FeatureTable(rows(9, 2)), edge_index=torch.tensor([[0, 1], [1, 2]]))


TABLE = tendril.FeatureTable(rows())
MISTAKES = {
    "rows": (
        lambda: NeighborLoader(plain(z=tendril.FeatureTable(rows(7))), [2]),
        "data.z is a FeatureTable of 7 rows, expected one for each of 300 vertices or 2100 edges; num_nodes is not set",
    ),
    "set number": (
        lambda: NeighborLoader(plain(num_nodes=300, z=tendril.FeatureTable(rows(7))), [2]),
        "data.z is a FeatureTable of 7 rows, expected one for each of 300 vertices or 2100 edges",
    ),
    "of a type": (
        lambda: NeighborLoader(wrong_type(), [2], "paper"),
        "data['author'].z is a FeatureTable of 5 rows, expected one for each of 90 vertices",
    ),
    "of an edge type": (
        lambda: LinkNeighborLoader(wrong_edges(), [2], CITES),
        "data[('paper', 'cites', 'paper')].z is a FeatureTable of 5 rows, expected one for each of 300 edges",
    ),
    "hgt": (lambda: HGTLoader(wrong_type(), [2], "paper"), "data['author'].z is a FeatureTable of 5 rows"),
    "sampler": (lambda: NeighborSampler(wrong_type(), [2]), "data['author'].z is a FeatureTable of 5 rows"),
    "uncounted": (
        lambda: NeighborLoader(uncounted(), [2]),
        "data.emb is a FeatureTable of 9 rows, expected one for each of 3 vertices or 2 edges; num_nodes is not set",
    ),
    "shadow": (
        lambda: ShaDowKHopSampler(tabled(TABLE), 2, 3),
        "data.x is a FeatureTable, which a ShaDowKHopSampler can't gather: expected a tensor",
    ),
    "saint": (
        lambda: GraphSAINTNodeSampler(tabled(TABLE), 20),
        "data.x is a FeatureTable, which a GraphSAINTNodeSampler can't gather: expected a tensor",
    ),
    "clusters": (
        lambda: ClusterData(tabled(TABLE), 4, log=False),
        "data.x is a FeatureTable, which a ClusterData can't gather: expected a tensor",
    ),
}


@pytest.mark.filterwarnings("ignore:Unable to accurately infer 'num_nodes'")
@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_one_line(name):
    check_refused(*MISTAKES[name])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("place", ["host", "page-locked", "mapped", "GPU"])
@pytest.mark.parametrize("cached", [False, True], ids=["", "cache"])
@pytest.mark.parametrize("_", [pytest.param(0, marks=ON_GPU)], ids=[""])
def test_batches_on_a_gpu_are_those_of_a_tensor(tmp_path, dtype, place, cached, _):
    values = rows(dtype=dtype)
    table = tendril.FeatureTable(values)
    if place == "mapped" and dtype == torch.float32:
        table = mapped(tmp_path, values)
    table = table.to("cuda") if place == "GPU" else table.pin_memory() if place == "page-locked" else table
    options = {"device": "cuda", "batch_size": 40, "shuffle": True, "pad": "epoch"}
    cache = tendril.FeatureCache(0.2, policy="exact") if cached else None
    made = NeighborLoader(tabled(table), [4, 3], cache=cache, **options)
    expected = NeighborLoader(plain(x=values), [4, 3], **options)
    for _ in range(2):
        for batch, other in zip(made, expected, strict=True):
            assert batch.x.is_cuda and torch.equal(batch.x, other.x) and torch.equal(batch.n_id, other.n_id)


@pytest.mark.parametrize("_", [pytest.param(0, marks=ON_GPU)], ids=[""])
def test_a_table_on_a_gpu_stays_there_for_batches_of_the_cpu(_):
    for batch in NeighborLoader(tabled(tendril.FeatureTable(rows()).to("cuda")), [4, 3], batch_size=40):
        assert batch.x.is_cuda and torch.equal(batch.x.cpu(), rows()[batch.n_id])


@pytest.mark.gpu
@pytest.mark.skipif(tendril.num_gpus() < 2, reason="fewer than two GPUs")
@pytest.mark.parametrize("device", ["cuda:0", "cuda:1"])
def test_loaders_of_each_gpu_take_a_table_over_several(device):
    data = plain()
    expected = data.x.numpy()
    data.x = tendril.FeatureTable(expected).to("cuda:0,1", hot=np.arange(0, 300, 7))
    seen = 0
    for batch in NeighborLoader(data, num_neighbors=[5, 3], batch_size=64, device=device):
        assert batch.x.device == torch.device(device)
        assert np.array_equal(batch.x.cpu().numpy(), expected[batch.n_id.cpu().numpy()])
        seen += batch.batch_size
    assert seen == 300
