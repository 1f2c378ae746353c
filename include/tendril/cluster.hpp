#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/names.hpp>
#include <tendril/subgraph.hpp>

// ClusterGCN (Chiang, Liu, Si, Li, Bengio and Hsieh, "Cluster-GCN: an efficient algorithm for training deep and large
// graph convolutional networks", KDD'19): the vertices are partitioned into clusters once; a batch is the subgraph that
// a few clusters induce, including the edges between those clusters.

namespace tendril {

/// The method that partitions the vertices into clusters.
enum class cluster_method {
  contiguous,  ///< Consecutive ids: vertex v of V is in cluster floor(v * num_clusters / V).
  random,      ///< A random order of all vertices, cut the same way: cluster sizes differ by at most one.
  metis,       ///< METIS' k-way partition of the graph, ignoring directions, loops and parallel edges.
};

template <>
inline constexpr std::array<named<cluster_method>, 3> enum_names<cluster_method>{
    {{cluster_method::contiguous, "contiguous"}, {cluster_method::random, "random"}, {cluster_method::metis, "metis"}}};

struct clustering_params {
  std::int64_t num_clusters = 1;  ///< In [1, num_vertices].
  cluster_method method = cluster_method::contiguous;
  std::uint64_t seed = 0;  ///< Seed of `random`. METIS uses a fixed seed of its own.
};

/// Computes the cluster of each vertex: [num_vertices], each in [0, num_clusters). `contiguous` and `random` depend
/// only on the number of vertices and the parameters; `metis` depends on the graph and the version of METIS. The first
/// call with `metis` loads METIS (libmetis.so.5, in Debian's package libmetis5, with ids of 32 or 64 bits).
/// Synchronous.
/// @throws argument_error  num_clusters out of range; a graph too large for the ids of the installed METIS;
///         io_error        `metis`, and the library can't be loaded; memory_error.
[[nodiscard]] buffer<vertex_id> cluster_vertices(graph const& graph, clustering_params const& params,
                                                 cpu_exec const& exec = {});

/// Computes the same clusters in the memory of the graph's GPU, ordered on `exec.stream`. `metis` copies the graph to
/// the host, runs METIS there, and synchronises; the other methods don't synchronise.
/// @throws as above, and argument_error for a graph that is elsewhere; device_error.
[[nodiscard]] buffer<vertex_id> cluster_vertices(graph const& graph, clustering_params const& params,
                                                 gpu_exec const& exec);

/// Reads the cluster of each vertex, one per element or line: a file as `read_vertices` takes it. Cluster numbers are
/// below `num_vertices`, as there are no more clusters than vertices.
/// @return The numbers of the file, however many; [num_vertices] of them are an assignment.
/// @throws io_error; format_error "file:line: what, expected what".
[[nodiscard]] buffer<vertex_id> read_clusters(std::string const& path, std::int64_t num_vertices,
                                              cpu_exec const& exec = {});

/// The vertices grouped by cluster: cluster c holds vertices[offsets[c]] to vertices[offsets[c + 1] - 1], ascending. It
/// is built once from an assignment and serves any number of batches.
struct vertex_clusters {
  std::int64_t num_clusters = 0;
  buffer<vertex_id> vertices;    ///< [num_vertices]
  buffer<std::int64_t> offsets;  ///< [num_clusters + 1]
};

/// Groups vertices by cluster. A cluster may be empty. Synchronous.
/// @param cluster_of  [num_vertices], each below num_clusters, from cluster_vertices or any other source.
/// @throws argument_error  num_clusters below 0 or above 2^32 - 1; the first cluster out of range; memory_error.
[[nodiscard]] vertex_clusters group_clusters(std::span<vertex_id const> cluster_of, std::int64_t num_clusters,
                                             cpu_exec const& exec = {});

/// Groups vertices on a GPU; the span and the result are in its memory. Synchronises. @throws as above; device_error.
[[nodiscard]] vertex_clusters group_clusters(std::span<vertex_id const> cluster_of, std::int64_t num_clusters,
                                             gpu_exec const& exec);

struct cluster_params {
  std::int64_t clusters_per_sample = 20;  ///< At least 1.
  std::uint64_t seed = 0;
};

/// The number of samples of an epoch: num_clusters / clusters_per_sample, rounded up.
[[nodiscard]] inline std::int64_t samples_per_epoch(std::int64_t num_clusters, cluster_params const& params)
{
  return num_clusters / params.clusters_per_sample + (num_clusters % params.clusters_per_sample != 0 ? 1 : 0);
}

/// Samples batches of clusters. An epoch is a random order of all clusters, cut into samples of clusters_per_sample
/// clusters each (the last sample may have fewer), so that every cluster is in exactly one sample of the epoch. With B
/// = samples_per_epoch, the logical sample i is sample i mod B of epoch floor(i / B). Sample i depends on the graph,
/// the clusters, the parameters and i alone. Its vertices are the vertices of its clusters, in the order in which the
/// clusters were drawn. The call returns the samples first_sample to first_sample + num_samples - 1. Synchronous.
/// @throws argument_error  clusters_per_sample below 1, no clusters, clusters of another number of vertices, negative
///                         num_samples or first_sample; memory_error.
[[nodiscard]] subgraphs cluster_sample(graph const& graph, vertex_clusters const& clusters,
                                       cluster_params const& params, std::int64_t num_samples,
                                       cpu_exec const& exec = {}, std::int64_t first_sample = 0);

/// Samples the same batches, bit for bit, on a GPU; the graph, the clusters and the result are in its memory.
/// Synchronises twice: for the number of vertices, and for the number of edges.
/// @throws as above, and argument_error for a graph that is elsewhere; device_error.
[[nodiscard]] subgraphs cluster_sample(graph const& graph, vertex_clusters const& clusters,
                                       cluster_params const& params, std::int64_t num_samples, gpu_exec const& exec,
                                       std::int64_t first_sample = 0);

/// Builds samples from clusters that the caller chooses: sample s is the subgraph of the vertices of the clusters
/// lists[list_offsets[s]] to lists[list_offsets[s + 1] - 1], in that order. Synchronous.
/// @param list_offsets  [num_samples + 1], ascending from 0 to lists.size().
/// @throws argument_error  offsets that don't partition `lists`; a cluster out of range, or twice in a sample (the
///                         message names one of its vertices); clusters of another number of vertices; memory_error.
[[nodiscard]] subgraphs cluster_subgraphs(graph const& graph, vertex_clusters const& clusters,
                                          std::span<vertex_id const> lists, std::span<std::int64_t const> list_offsets,
                                          cpu_exec const& exec = {});

/// Builds the same samples on a GPU; all arrays are in its memory. Synchronises twice. @throws as above; device_error.
[[nodiscard]] subgraphs cluster_subgraphs(graph const& graph, vertex_clusters const& clusters,
                                          std::span<vertex_id const> lists, std::span<std::int64_t const> list_offsets,
                                          gpu_exec const& exec);

}  // namespace tendril
