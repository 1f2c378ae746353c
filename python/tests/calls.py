"""One valid call of each public function: what tests of all of them start from."""

from __future__ import annotations

import functools
import shutil

import numpy as np

import tendril

WALK = """
struct anywhere {
  float bonus;
  float weight(walk_state const& s, walk_edge const& e) const { return e.target() > s.vertex ? 1 + bonus : 1; }
};
"""

APPLICATION = """
struct one_hop {
  int fanout;
  int steps() const { return 1; }
  std::int64_t sample_size(int step) const { return fanout; }
  vertex_id next(sample_view& sample, transit_list const& transits, edge_list const& edges, int step,
                 random_stream& rng) const
  {
    return edges.empty() ? no_vertex : edges[rng.bounded(edges.size())];
  }
};
"""


def samplers(graph):
    """By name: a function that samples, and arguments. The graph has weights, labels of edges, and types of vertices."""
    some = [0, 1, 2]
    return {
        "random_walk": (tendril.random_walk, {"graph": graph, "starts": some, "length": 4}),
        "node2vec_walk": (tendril.node2vec_walk, {"graph": graph, "starts": some, "length": 4, "p": 2.0, "q": 0.5}),
        "metapath_walk": (tendril.metapath_walk, {"graph": graph, "starts": some, "metapath": [0, 1]}),
        "count_walks": (tendril.count_walks, {"graph": graph, "starts": some, "length": 4, "what": "ends"}),
        "multidim_walk": (tendril.multidim_walk, {"graph": graph, "roots": [some, some], "length": 4}),
        "dynamic_walk": (
            tendril.dynamic_walk,
            {"graph": graph, "starts": some, "length": 3, "walk": tendril.CustomWalk(WALK, bonus=1.0)},
        ),
        "khop_sample": (tendril.khop_sample, {"graph": graph, "seeds": some, "fanouts": [2, 2]}),
        "neighbor_sample": (tendril.neighbor_sample, {"graph": graph, "seeds": some, "num_neighbors": [2, 2]}),
        "pass_sample": (
            tendril.pass_sample,
            {"graph": graph, "seeds": some, "fanouts": [2], "score": lambda found, hop: np.ones(len(found.col), np.float32)},
        ),
        "segment_multinomial": (
            tendril.segment_multinomial,
            {"offsets": [0, 2, 4], "scores": [0, 3, 0, 1], "vertices": [7, 8], "num_picks": 2},
        ),
        "layer_sample": (tendril.layer_sample, {"graph": graph, "roots": some, "layer_size": 4, "max_size": 8}),
        "fastgcn_sample": (tendril.fastgcn_sample, {"graph": graph, "seeds": [some], "num_layers": 2, "layer_size": 4}),
        "ladies_sample": (tendril.ladies_sample, {"graph": graph, "seeds": [some], "num_layers": 2, "layer_size": 4}),
        "mvs_sample": (
            tendril.mvs_sample,
            {"graph": graph, "importances": np.ones(graph.num_vertices, np.float32), "num_samples": 2, "batch_size": 4},
        ),
        "labor_sample": (tendril.labor_sample, {"graph": graph, "seeds": some, "fanouts": [2, 2]}),
        "induced_subgraphs": (tendril.induced_subgraphs, {"graph": graph, "nodes": some}),
        "shadow_sample": (tendril.shadow_sample, {"graph": graph, "seeds": some, "depth": 2, "num_neighbors": 3}),
        "saint_node_sample": (tendril.saint_node_sample, {"graph": graph, "num_samples": 2, "budget": 9}),
        "saint_edge_sample": (tendril.saint_edge_sample, {"graph": graph, "num_samples": 2, "budget": 9}),
        "saint_walk_sample": (tendril.saint_walk_sample, {"graph": graph, "num_samples": 2, "budget": 9, "length": 2}),
        "saint_coefficients": (tendril.saint_coefficients, {"graph": graph, "num_samples": 3, "budget": 9}),
        "cluster_vertices": (
            tendril.cluster_vertices,
            {"graph": graph, "num_clusters": 3, "method": "random"},
        ),
        "group_clusters": (
            tendril.group_clusters,
            {"graph": graph, "cluster_of": np.arange(graph.num_vertices) % 3, "num_clusters": 3},
        ),
        "cluster_sample": (
            tendril.cluster_sample,
            {"graph": graph, "clusters": np.arange(graph.num_vertices) % 3, "clusters_per_sample": 2},
        ),
        "cluster_subgraphs": (
            tendril.cluster_subgraphs,
            {"graph": graph, "clusters": np.arange(graph.num_vertices) % 3, "lists": [[0, 1]]},
        ),
        "count_visits": (
            tendril.count_visits,
            {"graph": graph, "length": 4, "starts": some, "num_samples": 3, "batch_size": 2},
        ),
        "plan_walk": (tendril.plan_walk, {"graph": graph, "length": 4}),
        "plan_khop": (tendril.plan_khop, {"graph": graph, "fanouts": [2, 2]}),
        "plan_minibatch": (tendril.plan_minibatch, {"graph": graph}),
        "sample": (tendril.sample, {"graph": graph, "app": "deepwalk"}),
        "gather": (tendril.gather, {"table": np.ones((3, 2)), "ids": [2, 0]}),
        "gather_tables": (tendril.gather_tables, {"tables": {"x": np.ones((3, 2))}, "ids": [2, 0]}),
        "num_negatives": (tendril.num_negatives, {"num_links": 5, "amount": 1.5}),
    }


def pipeline_of(graph):
    return tendril.Pipeline(tendril.MinibatchSampler(graph, [2, 2]), [0, 1, 2])


def methods(graph):
    """The same for constructors and methods."""
    source, target = np.array([0, 0, 1, 2]), np.array([1, 2, 2, 0])
    sampler = tendril.MinibatchSampler(graph, [2, 2])
    typed = tendril.HeteroGraph({"a": 3}, {("a", "to", "a"): (source, target)})
    pipeline = pipeline_of(graph)
    of_types = tendril.HGTSampler(typed, [2, 2])
    timed = tendril.NegativeSampler(3, node_times=[7, 5, 9])
    application = tendril.Application(APPLICATION, fanout=2)
    return {
        "Graph": (tendril.Graph, {"core": graph._core}),
        "Graph.from_coo": (tendril.Graph.from_coo, {"source": source, "target": target}),
        "Graph.from_edge_index": (tendril.Graph.from_edge_index, {"edge_index": np.stack([source, target])}),
        "Graph.from_csr": (tendril.Graph.from_csr, {"indptr": [0, 2, 3, 4], "indices": [1, 2, 2, 0]}),
        "Graph.renumber": (graph.renumber, {"order": "degree"}),
        "Graph.compress": (graph.compress, {"form": "runs"}),
        "Graph.to_csr": (graph.to_csr, {}),
        "Graph.to": (graph.to, {"device": "cpu"}),
        "Graph.rebuild": (graph.rebuild, {"reverse": True}),
        "Graph.validate": (graph.validate, {}),
        "Graph.list_statistics": (graph.list_statistics, {}),
        "HeteroGraph": (
            tendril.HeteroGraph,
            {"num_nodes": {"a": 3}, "edges": {("a", "to", "a"): (source, target)}},
        ),
        "HGTSampler": (tendril.HGTSampler, {"graph": typed, "num_samples": [2, 2]}),
        "HGTSampler.sample": (of_types.sample, {"seeds": {"a": [0, 1]}}),
        "HGTSampler.sample_batches": (
            of_types.sample_batches,
            {"seeds": [0, 1, 2], "batch_size": 2, "node_type": "a"},
        ),
        "MinibatchSampler": (tendril.MinibatchSampler, {"graph": graph, "num_neighbors": [2, 2]}),
        "MinibatchSampler.sample": (sampler.sample, {"seeds": [0, 1]}),
        "MinibatchSampler.sample_batches": (sampler.sample_batches, {"seeds": [0, 1, 2], "batch_size": 2}),
        "NegativeSampler": (tendril.NegativeSampler, {"num_nodes": 3}),
        "FeatureCache": (tendril.FeatureCache, {"ratio": 0.1, "policy": "lru", "window": 3}),
        "Pipeline": (tendril.Pipeline, {"sampler": sampler, "seeds": [0, 1, 2], "batch_size": 2}),
        "Padding": (tendril.Padding, {"num_nodes": [3, 6], "num_edges": [6]}),
        "Padding.with_room": (tendril.Padding([3, 6], [6]).with_room, {"share": 0.5}),
        "Pipeline.padding": (pipeline.padding, {"epochs": [0, 1]}),
        "Pipeline.load_state_dict": (pipeline.load_state_dict, {"state": pipeline.state_dict()}),
        "Pipeline.set_epoch": (pipeline.set_epoch, {"epoch": 2}),
        "NegativeSampler.draw": (timed.draw, {"count": 4, "until": [6, 9]}),
        "Clusters": (tendril.Clusters, {"core": tendril.group_clusters(graph, np.zeros(graph.num_vertices, int))._core}),
        "Application.sample": (application.sample, {"graph": graph, "roots": [0, 1]}),
        "CustomWalk": (tendril.CustomWalk, {"source": WALK}),
        "Application": (tendril.Application, {"source": APPLICATION}),
        "FeatureTable": (tendril.FeatureTable, {"array": np.ones((3, 2))}),
        "FeatureTable.gather": (tendril.FeatureTable(np.ones((3, 2))).gather, {"ids": [2, 0]}),
        "FeatureTable.to": (tendril.FeatureTable(np.ones((3, 2))).to, {"device": "cpu"}),
        "DeviceArray": (tendril.DeviceArray, {"core": None}),
    }


def partition_anew(folder):
    """tendril.partition, which writes into this folder again and again."""

    @functools.wraps(tendril.partition)
    def call(*positional, **named):
        if named.get("folder") is folder:
            shutil.rmtree(folder, ignore_errors=True)
        return tendril.partition(*positional, **named)

    return call


def files(graph, folder):
    """The same for files, in a folder of the test's own."""
    path = str(folder / "graph.txt")
    (folder / "graph.txt").write_text("0 1\n1 2\n2 0\n")
    native = str(folder / "graph.safetensors")
    graph.save(native)
    np.save(folder / "features.npy", np.ones((3, 2)))
    cut, parts = str(folder / "cut"), str(folder / "parts")
    partition_anew(cut)(graph, folder=cut, num_parts=2)
    return {
        "Pipeline.write_timeline": (pipeline_of(graph).write_timeline, {"path": folder / "epoch.svg"}),
        "read_features": (tendril.read_features, {"path": str(folder / "features.npy")}),
        "read_graph": (tendril.read_graph, {"path": path}),
        "Graph.load": (tendril.Graph.load, {"path": native}),
        "Graph.save": (graph.save, {"path": str(folder / "saved.safetensors")}),
        "detect_format": (tendril.detect_format, {"path": path}),
        "partition": (partition_anew(parts), {"graph": graph, "folder": parts, "num_parts": 3}),
        "read_partition": (tendril.read_partition, {"folder": cut}),
        "convert": (tendril.convert, {"input": path, "output": str(folder / "converted.safetensors")}),
    }


def generators():
    return {
        "generate.rmat": (tendril.generate.rmat, {"scale": 4, "edge_factor": 2.0}),
        "generate.er": (tendril.generate.er, {"num_vertices": 9, "num_edges": 20}),
        "generate.powerlaw": (tendril.generate.powerlaw, {"num_vertices": 9}),
        "generate.web": (tendril.generate.web, {"num_vertices": 9, "edge_factor": 2.0}),
        **{
            f"generate.{kind}": (getattr(tendril.generate, kind), {"num_vertices": 9})
            for kind in ("star", "ring", "grid", "complete")
        },
    }


def every(graph, folder):
    return {**samplers(graph), **methods(graph), **files(graph, folder), **generators()}
