// A graph, and where it is cut: what files and parts in memory are made from.

#pragma once

#include <span>

#include <tendril/partition.hpp>

namespace tendril::dist {

struct cut_graph {
  graph whole;  ///< That was cut: the input, or the renumbered one.
  partition_info info;
};

/// @throws as partition_graph.
[[nodiscard]] cut_graph cut(graph const& input, partition_params const& params, cpu_exec const& exec);

/// Renumbers the graph by clusters, and within a cluster by id, and cuts it at their bounds; nothing else of `info` is there.
/// @param cluster_of  [num_vertices], each below num_parts.
[[nodiscard]] cut_graph cut_by_clusters(graph const& input, std::span<vertex_id const> cluster_of,
                                        std::int64_t num_parts, cpu_exec const& exec);

/// The rows of one part, in the form of `from.info`. In CSR form, of a graph in CSR form, they refer to its arrays.
/// @throws argument_error for more edges than a compressed part may have; memory_error.
[[nodiscard]] graph_arrays rows_of(cut_graph const& from, std::int64_t index, cpu_exec const& exec);

/// @throws argument_error
void expect_part(partition_info const& info, std::int64_t index);

}  // namespace tendril::dist
