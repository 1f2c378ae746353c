// What a walk on a graph in parts may know of the graph besides the edges of its own vertex: what every rank has. A struct that asks
// for more doesn't compile for parts. Includes little, so that a program compiled at run time can include it too.

#pragma once

#include <cstdint>

#include <tendril/csr_view.hpp>

namespace tendril {

struct transit_view {
  using row_type = csr_row;
  /// Edges that led to a vertex are another rank's: the mark of one tells nothing.
  struct edge_mark {};

  std::int64_t num_vertices = 0;  ///< Of the whole graph.
  label_view node_types;          ///< [num_vertices] or empty.

  [[nodiscard]] static TENDRIL_HD edge_mark no_edge() { return {}; }
};

}  // namespace tendril
