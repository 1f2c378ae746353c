// Tables of layer-wise sampling. The GPU builds the same ones, element for element (src/gpu/layers/layer_tables.hpp).

#pragma once

#include <cstdint>

#include <tendril/graph.hpp>
#include <tendril/layers.hpp>

#include "plan/tables.hpp"

namespace tendril::samplers {

/// Draws one of all vertices in proportion to a weight each.
struct vertex_table {
  buffer<plan::alias_record> records;  ///< [V] an alias table over the fixed-point weights; no_vertex where all are 0.
  buffer<float> probabilities;         ///< [V] fixed-point weight over their sum; 0 where all are 0.
};

/// Draws an edge of a vertex in proportion to its squared entry.
struct square_table {
  buffer<std::uint64_t> prefix_sums;  ///< [E] as its_pick reads them.
  buffer<float> row_norms;            ///< [V] core::row_norm
  float largest_norm = 0;
};

/// [V]: core::column_norm of every vertex.
[[nodiscard]] buffer<float> make_column_norms(graph_view const& graph, propagation matrix, cpu_exec const& exec);

/// @param weights  [V], finite and >= 0.
[[nodiscard]] vertex_table make_vertex_table(std::int64_t num_vertices, float const* weights, cpu_exec const& exec);

/// Of a matrix other than `row`.
[[nodiscard]] square_table make_square_table(graph_view const& graph, propagation matrix, cpu_exec const& exec);

}  // namespace tendril::samplers
