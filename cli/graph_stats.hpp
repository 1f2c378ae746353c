// What `tendril info` tells about a graph: one pass over the offsets, one over the edges.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril::cli {

struct graph_stats {
  static constexpr std::array<int, 6> percents{5, 25, 50, 75, 95, 99};

  std::int64_t min_degree = 0, max_degree = 0;
  double mean_degree = 0;
  std::array<std::int64_t, percents.size()> degree_percentiles{};
  std::int64_t dead_ends = 0;  ///< Vertices without out-edges.
  std::int64_t isolated = 0;   ///< Vertices without any edge.
  std::int64_t self_loops = 0;
  std::int64_t parallel_edges = 0;  ///< Edges that repeat the target of the edge before them.
  float min_weight = 0, max_weight = 0;
  double sum_weights = 0;
  std::vector<std::int64_t> edges_of_label, vertices_of_type;  ///< Up to the largest label that occurs.
};

/// @param g     A graph whose offsets and targets are in range.
/// @param exec  Progress is reported to it.
[[nodiscard]] graph_stats measure(graph const& g, cpu_exec const& exec);

}  // namespace tendril::cli
