// What graphs of every form have one entry an edge of, and where the edges of a vertex are among them: for code that
// makes and reads tables with one entry an edge, and needs no neighbours. Includes little, so that a program compiled at
// run time can include it too.

#pragma once

#include <cstdint>

#include <tendril/csr_arrays.hpp>
#include <tendril/labels.hpp>
#include <tendril/list_directory.hpp>  // edge_offsets
#include <tendril/types.hpp>
#include <tendril/weights.hpp>

namespace tendril {

/// The edges of a graph by number: those of v are [first_edge(v), first_edge(v + 1)). Trivially copyable; owns nothing.
struct edge_arrays {
  std::int64_t num_vertices = 0;
  edge_id num_edges = 0;
  edge_offsets first_edges;  ///< [num_vertices + 1]
  weight_view weights;       ///< [num_edges] or null.
  label_view labels;         ///< [num_edges] or empty.

  edge_arrays() = default;
  TENDRIL_HD edge_arrays(std::int64_t vertices, edge_id edges, edge_offsets const& firsts,
                         weight_view const& weights_of, label_view labels_of)
      : num_vertices(vertices), num_edges(edges), first_edges(firsts), weights(weights_of), labels(labels_of)
  {
  }
  TENDRIL_HD edge_arrays(csr_arrays const& g)  // NOLINT(google-explicit-constructor)
      : edge_arrays(g.num_vertices, g.num_edges, g.indptr, g.weights, g.edge_labels)
  {
  }

  [[nodiscard]] TENDRIL_HD bool has_weights() const { return weights != nullptr; }
  /// v may be num_vertices.
  [[nodiscard]] TENDRIL_HD edge_id first_edge(std::int64_t v) const { return first_edges[v]; }
  [[nodiscard]] TENDRIL_HD std::uint32_t degree(std::int64_t v) const { return first_edges.degree(v); }
  [[nodiscard]] TENDRIL_HD float weight(edge_id e) const { return weights[e]; }
  [[nodiscard]] TENDRIL_HD label_id label(edge_id e) const { return labels[e]; }
};

}  // namespace tendril
