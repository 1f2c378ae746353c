"""Graph sampling for graph machine learning: random walks, neighbourhoods and mini-batches, on all CPU cores
and on GPUs.

>>> import tendril
>>> graph = tendril.generate.ring(8)
>>> walks, lengths = tendril.random_walk(graph, starts=[0, 4], length=5, seed=1)
>>> walks.shape
(2, 6)

Every sample depends only on the graph, the parameters, the seed and its own number: threads, batches and devices never
change it.
"""

from importlib.metadata import PackageNotFoundError as _PackageNotFoundError
from importlib.metadata import version as _version

from . import _build_info, _cpu

_cpu.check(_build_info.MARCH)

from . import _calls, _processes, generate
from ._application import Application, SampledEdges, SampledStep, Samples
from ._apps import sample
from ._cache import FeatureCache, LoaderCache
from ._clusters import Clusters, cluster_sample, cluster_subgraphs, cluster_vertices, group_clusters
from ._custom_walk import CustomWalk, dynamic_walk
from ._device_array import DeviceArray
from ._features import FeatureTable, gather, read_features
from ._gather_tables import gather_tables
from ._files import convert, detect_format, partition, read_graph, read_partition
from ._gpu import GpuInfo, gpu_info, num_gpus
from ._graph import Graph
from ._hetero_graph import HeteroGraph
from ._hgt import HGTSampler
from ._labor import LaborBatch, LaborHop, labor_sample
from ._layer_sampling import layer_sample
from ._layers import Layer, LayerSamples, fastgcn_sample, ladies_sample
from ._minibatch import Block, Minibatch, MinibatchSampler, plan_minibatch
from ._multidim import MultidimWalks, multidim_walk
from ._mvs import MvsBatch, MvsBatches, mvs_sample
from ._negatives import NegativeSampler, num_negatives
from ._padding import Padding
from ._pass import PassBatch, pass_sample
from ._pipeline import Pipeline, PipelineBatch
from ._saint import SaintCoefficients, saint_coefficients, saint_edge_sample, saint_node_sample, saint_walk_sample
from ._sampling import KHop, NeighborSample, khop_sample, neighbor_sample, plan_khop
from ._segments import segment_multinomial
from ._subgraphs import Subgraph, Subgraphs, induced_subgraphs, shadow_sample
from ._errors import ArgumentError, DeviceError, FormatError, IoError, OutOfMemoryError, RankError, TendrilError
from ._timeline import LoaderStats
from ._visits import count_visits
from ._walk_counts import count_walks
from ._walks import Plan, metapath_walk, node2vec_walk, plan_walk, random_walk

from . import dist

try:
    __version__ = _version("tendril")
except _PackageNotFoundError:  # when run from a build folder
    __version__ = "0+unknown"

__all__ = [
    "Application",
    "ArgumentError",
    "Block",
    "Clusters",
    "CustomWalk",
    "DeviceArray",
    "DeviceError",
    "FeatureCache",
    "FeatureTable",
    "FormatError",
    "GpuInfo",
    "Graph",
    "HGTSampler",
    "HeteroGraph",
    "IoError",
    "KHop",
    "LaborBatch",
    "LaborHop",
    "Layer",
    "LayerSamples",
    "LoaderCache",
    "LoaderStats",
    "Minibatch",
    "MinibatchSampler",
    "MultidimWalks",
    "MvsBatch",
    "MvsBatches",
    "NegativeSampler",
    "NeighborSample",
    "OutOfMemoryError",
    "Padding",
    "PassBatch",
    "Pipeline",
    "PipelineBatch",
    "Plan",
    "RankError",
    "SaintCoefficients",
    "SampledEdges",
    "SampledStep",
    "Samples",
    "Subgraph",
    "Subgraphs",
    "TendrilError",
    "__version__",
    "cluster_sample",
    "cluster_subgraphs",
    "cluster_vertices",
    "convert",
    "count_visits",
    "count_walks",
    "detect_format",
    "dist",
    "dynamic_walk",
    "fastgcn_sample",
    "gather",
    "gather_tables",
    "generate",
    "gpu_info",
    "group_clusters",
    "induced_subgraphs",
    "khop_sample",
    "labor_sample",
    "ladies_sample",
    "layer_sample",
    "metapath_walk",
    "multidim_walk",
    "mvs_sample",
    "neighbor_sample",
    "node2vec_walk",
    "num_gpus",
    "num_negatives",
    "partition",
    "pass_sample",
    "plan_khop",
    "plan_minibatch",
    "plan_walk",
    "random_walk",
    "read_features",
    "read_graph",
    "read_partition",
    "saint_coefficients",
    "saint_edge_sample",
    "saint_node_sample",
    "saint_walk_sample",
    "sample",
    "segment_multinomial",
    "shadow_sample",
]

_calls.guard(vars(generate), generate.__all__, "generate.")
_calls.guard(vars(dist), dist.__all__, "dist.")
_calls.guard(globals(), __all__)
