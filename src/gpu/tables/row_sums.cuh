// What tables of weights start from: the largest weight of each row, and the sum of its fixed-point weights.

#pragma once

#include "core/fixed_point.hpp"
#include "gpu/graph/edge_tiles.cuh"

namespace tendril::gpu {

/// The fixed-point weight of edge `e` in row `row`; 0 where the row has no positive weight. Any thread.
__device__ __forceinline__ std::uint64_t fixed_weight(edge_arrays const& graph, float const* largest, edge_id e,
                                                      std::int64_t row)
{
  float const bound = largest[row];
  if (!(bound > 0)) { return 0; }
  return core::fixed_point::of(bound, graph.degree(row))(graph.weight(e));
}

/// [num_vertices]: each row's largest weight, 0 where it has no edge. `tiles` are those of all rows; null without edges.
[[nodiscard]] buffer<float> make_largest_weights(edge_arrays const& graph, edge_tiles const* tiles,
                                                 gpu_exec const& exec);

/// [num_vertices]: each row's sum of fixed-point weights, 0 where none is positive.
[[nodiscard]] buffer<std::uint64_t> make_fixed_totals(edge_arrays const& graph, float const* largest,
                                                      edge_tiles const* tiles, gpu_exec const& exec);

}  // namespace tendril::gpu
