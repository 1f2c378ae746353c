// What a walk on a graph in parts may know of the graph besides the edges of its own vertex: what every rank has. A struct that asks
// for more doesn't compile for parts. Includes little, so that a program compiled at run time can include it too.

#pragma once

#include <cstdint>

#include <tendril/compressed_view.hpp>
#include <tendril/csr_view.hpp>

namespace tendril {

/// @tparam View  Of the parts' rows.
template <class View>
struct basic_transit_view {
  using row_type = typename View::part_row_type;
  /// Edges that led to a vertex are another rank's: the mark of one tells nothing.
  struct edge_mark {};

  std::int64_t num_vertices = 0;  ///< Of the whole graph.
  label_view node_types;          ///< [num_vertices] or empty.

  [[nodiscard]] static TENDRIL_HD edge_mark no_edge() { return {}; }
};

using transit_view = basic_transit_view<csr_view>;

}  // namespace tendril
