#pragma once

#include <cstdint>
#include <span>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/subgraph.hpp>

// ClusterGCN (Chiang, Liu, Si, Li, Bengio and Hsieh, "Cluster-GCN: an efficient algorithm for training deep and large graph
// convolutional networks", KDD'19): the vertices are cut into clusters once; a batch is the subgraph that a few clusters
// induce, with the edges between them.

namespace tendril {

/// How vertices are cut into clusters.
enum class cluster_method {
  contiguous,  ///< Consecutive ids; vertex v of V is in cluster floor(v * num_clusters / V).
  random,      ///< A random order of all vertices cut the same way: sizes differ by one at most.
  metis,       ///< METIS' k-way partition of the graph, its directions, loops and parallel edges left out.
};

struct clustering_params {
  std::int64_t num_clusters = 1;  ///< In [1, num_vertices].
  cluster_method method = cluster_method::contiguous;
  std::uint64_t seed = 0;  ///< Of `random`. METIS has a fixed one of its own.
};

/// The cluster of each vertex: [num_vertices], each in [0, num_clusters). `contiguous` and `random` depend on the number of
/// vertices and the parameters alone; `metis` on the graph and the version of METIS, which is loaded when it is first
/// asked for (libmetis.so.5, in Debian's package libmetis5, with ids of 32 or 64 bits). Synchronous.
/// @throws argument_error  num_clusters out of range; a graph too large for the ids of the METIS that is there;
///         io_error        `metis`, and the library can't be loaded; memory_error.
[[nodiscard]] buffer<vertex_id> cluster_vertices(graph const& graph, clustering_params const& params,
                                                 cpu_exec const& exec = {});

/// The same in the memory of the graph's GPU, ordered on `exec.stream`. `metis` copies the graph to the host, where METIS
/// runs, and synchronises; the others don't.
/// @throws as above, and argument_error for a graph that is elsewhere; device_error.
[[nodiscard]] buffer<vertex_id> cluster_vertices(graph const& graph, clustering_params const& params,
                                                 gpu_exec const& exec);

/// The vertices, cluster by cluster: those of cluster c are vertices[offsets[c]] to vertices[offsets[c + 1] - 1], and
/// ascend. Made once from an assignment, used for any number of batches.
struct vertex_clusters {
  std::int64_t num_clusters = 0;
  buffer<vertex_id> vertices;    ///< [num_vertices]
  buffer<std::int64_t> offsets;  ///< [num_clusters + 1]
};

/// Groups vertices by cluster. A cluster may be empty. Synchronous.
/// @param cluster_of  [num_vertices], each below num_clusters, from cluster_vertices or anywhere else.
/// @throws argument_error  num_clusters below 0 or beyond 2^32 - 1; the first cluster out of range; memory_error.
[[nodiscard]] vertex_clusters group_clusters(std::span<vertex_id const> cluster_of, std::int64_t num_clusters,
                                             cpu_exec const& exec = {});

/// The same on a GPU, in whose memory span and result lie. Synchronises. @throws as above; device_error.
[[nodiscard]] vertex_clusters group_clusters(std::span<vertex_id const> cluster_of, std::int64_t num_clusters,
                                             gpu_exec const& exec);

struct cluster_params {
  std::int64_t clusters_per_sample = 20;  ///< At least 1.
  std::uint64_t seed = 0;
};

/// Samples of an epoch: num_clusters / clusters_per_sample, rounded up.
[[nodiscard]] inline std::int64_t samples_per_epoch(std::int64_t num_clusters, cluster_params const& params)
{
  return num_clusters / params.clusters_per_sample + (num_clusters % params.clusters_per_sample != 0 ? 1 : 0);
}

/// Batches of clusters. An epoch is a random order of all clusters, cut into samples of clusters_per_sample (the last one
/// may have fewer), so that every cluster is in one sample of it. With B = samples_per_epoch, the logical sample i is
/// sample i mod B of epoch floor(i / B); it depends on the graph, the clusters, the parameters and i alone. Its vertices are
/// those of its clusters, in the order in which these were drawn. The call returns the samples first_sample to
/// first_sample + num_samples - 1. Synchronous.
/// @throws argument_error  clusters_per_sample below 1, no clusters, clusters of another number of vertices, negative
///                         num_samples or first_sample; memory_error.
[[nodiscard]] subgraphs cluster_sample(graph const& graph, vertex_clusters const& clusters,
                                       cluster_params const& params, std::int64_t num_samples,
                                       cpu_exec const& exec = {}, std::int64_t first_sample = 0);

/// The same samples, to the bit, on a GPU, in whose memory graph, clusters and result lie. Synchronises twice: to learn
/// the number of vertices, and that of edges. @throws as above, argument_error for a graph that is elsewhere; device_error.
[[nodiscard]] subgraphs cluster_sample(graph const& graph, vertex_clusters const& clusters,
                                       cluster_params const& params, std::int64_t num_samples, gpu_exec const& exec,
                                       std::int64_t first_sample = 0);

/// Samples of clusters that the caller chooses: sample s is the subgraph of the vertices of the clusters
/// lists[list_offsets[s]] to lists[list_offsets[s + 1] - 1], in that order. Synchronous.
/// @param list_offsets  [num_samples + 1], from 0, ascending, to lists.size().
/// @throws argument_error  offsets that don't cut `lists`; a cluster out of range, or twice in a sample (said of a vertex
///                         of it); clusters of another number of vertices; memory_error.
[[nodiscard]] subgraphs cluster_subgraphs(graph const& graph, vertex_clusters const& clusters,
                                          std::span<vertex_id const> lists, std::span<std::int64_t const> list_offsets,
                                          cpu_exec const& exec = {});

/// The same on a GPU, in whose memory all arrays lie. Synchronises twice. @throws as above; device_error.
[[nodiscard]] subgraphs cluster_subgraphs(graph const& graph, vertex_clusters const& clusters,
                                          std::span<vertex_id const> lists, std::span<std::int64_t const> list_offsets,
                                          gpu_exec const& exec);

}  // namespace tendril
