// What both executors of clusters say about their arguments.

#pragma once

#include <cstdint>
#include <span>

#include <tendril/cluster.hpp>

#include "core/cluster.hpp"

namespace tendril::samplers {

/// @throws argument_error unless the number of clusters fits the graph, which may be empty.
void check_clustering(clustering_params const& params, std::int64_t num_vertices);

/// @throws argument_error for a number of clusters that is no number of ids.
void check_num_clusters(std::int64_t num_clusters);

/// @throws argument_error for the first cluster out of range. Serial.
void check_cluster_of(std::span<vertex_id const> cluster_of, std::int64_t num_clusters);

/// @throws argument_error for clusters that are not the graph's.
void check_clusters(vertex_clusters const& clusters, graph const& graph);

/// Checks the arguments of cluster_sample. @throws argument_error.
[[nodiscard]] core::epoch_cuts check_cluster_sample(vertex_clusters const& clusters, graph const& graph,
                                                    cluster_params const& params, std::int64_t num_samples,
                                                    std::int64_t first_sample);

/// @throws argument_error for the first offset, or else the first cluster, that is wrong. Serial.
void check_cluster_lists(std::span<vertex_id const> lists, std::span<std::int64_t const> list_offsets,
                         std::int64_t num_clusters);

}  // namespace tendril::samplers
