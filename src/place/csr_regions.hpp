// Which parts of the arrays of a graph in CSR form lie on a GPU. Lists stay where they are, so that an edge keeps its place
// in each array; the arrays are cut into regions of 2 MiB.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tendril/graph.hpp>

#include "place/placement.hpp"

namespace tendril::place {

struct region_plan {
  std::vector<std::vector<char>> on_gpu;  ///< [arrays][regions]
  std::int64_t gpu_bytes = 0;             ///< Of all arrays.
};

/// Keeps the regions with the most reads per byte, as far as they fit into `budget`. A list's reads spread over its edges
/// evenly.
/// @param input   In CSR form, in host memory.
/// @param reads   [V] expected reads of each list.
/// @param arrays  Each with an element an edge.
[[nodiscard]] region_plan plan_regions(graph const& input, std::span<float const> reads,
                                       std::span<edge_array const> arrays, std::int64_t budget);

}  // namespace tendril::place
