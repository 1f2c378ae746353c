// What the kernels of ClusterGCN offer to src/gpu/subgraphs/cluster.cpp. All arrays lie in device memory; nothing synchronises unless
// it says so.

#pragma once

#include <cstdint>

#include <tendril/cluster.hpp>
#include <tendril/exec.hpp>

#include "core/cluster.hpp"
#include "gpu/subgraphs/subgraph.hpp"

namespace tendril::gpu {

/// Clusters of consecutive ids, or of the order that `seed` gives. `out` is [num_vertices], not empty.
void assign_contiguous(std::int64_t num_clusters, buffer<vertex_id>& out, gpu_exec const& exec);
void assign_random(std::uint64_t seed, std::int64_t num_clusters, buffer<vertex_id>& out, gpu_exec const& exec);

/// *first_bad = the least vertex whose cluster is out of range; left as it is where there is none.
void find_bad_cluster(std::span<vertex_id const> cluster_of, std::int64_t num_clusters, unsigned long long* first_bad,
                      cuda_stream stream);

/// Groups vertices whose clusters are in range.
[[nodiscard]] vertex_clusters group(std::span<vertex_id const> cluster_of, std::int64_t num_clusters,
                                    gpu_exec const& exec);

/// Lists of clusters, cut like samples.
struct cluster_lists {
  buffer<vertex_id> clusters;
  buffer<std::int64_t> offsets;  ///< [num_samples + 1]
};

/// The lists of num_samples > 0 logical samples.
[[nodiscard]] cluster_lists epoch_lists(core::epoch_cuts const& cuts, std::uint64_t seed, std::int64_t first_sample,
                                        std::int64_t num_samples, gpu_exec const& exec);

/// The vertices of lists, and where they begin; what a sample has at most.
struct expanded_lists {
  buffer<vertex_id> nodes;
  buffer<std::int64_t> offsets;  ///< [num_samples + 1]
  std::int64_t max_size = 0;
  bool lists_are_bad = false;  ///< Then there is nothing else.
};

/// Synchronises once. @param lists  The elements of `nodes` are clusters. They, and the offsets, are checked here.
[[nodiscard]] expanded_lists expand_lists(vertex_clusters const& clusters, sample_sets const& lists,
                                          gpu_exec const& exec);

}  // namespace tendril::gpu
