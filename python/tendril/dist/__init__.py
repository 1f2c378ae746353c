"""Graphs and features that several processes share: each holds a part, and asks the others for the rest.

The processes, the ranks, are started by torchrun or another launcher, on one machine or several, and talk over TCP. Walks,
mini-batches and rows are those of the whole graph in one process, bit for bit, whatever the number of ranks. See
docs/distributed.md.
"""

from ._features import FeatureTable
from ._graph import Graph
from ._ranks import Ranks, connect
from ._sampler import MinibatchSampler
from ._trees import KHopSampler
from ._walker import DynamicWalker, Walker

__all__ = ["DynamicWalker", "FeatureTable", "Graph", "KHopSampler", "MinibatchSampler", "Ranks", "Walker", "connect"]
