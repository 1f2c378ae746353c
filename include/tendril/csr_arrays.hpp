// The arrays of a graph in CSR form, for the code that builds graphs, reads and writes files, and makes tables with one
// entry an edge. Samplers read a graph through its view (<tendril/graph_view.hpp>), whatever its form.

#pragma once

#include <cstdint>

#include <tendril/labels.hpp>
#include <tendril/types.hpp>

namespace tendril {

/// The arrays of a graph in CSR form: the out-edges of v are the positions [indptr[v], indptr[v + 1]); their targets
/// ascend. Trivially copyable; owns nothing.
struct csr_arrays {
  std::int64_t num_vertices = 0;
  edge_id num_edges = 0;
  edge_id const* indptr = nullptr;     ///< [num_vertices + 1]
  vertex_id const* indices = nullptr;  ///< [num_edges]
  float const* weights = nullptr;      ///< [num_edges], finite and >= 0; null without weights.
  label_view edge_labels;              ///< [num_edges] or empty.
  label_view node_types;               ///< [num_vertices] or empty.

  [[nodiscard]] TENDRIL_HD edge_id first_edge(vertex_id v) const { return indptr[v]; }
  [[nodiscard]] TENDRIL_HD std::uint32_t degree(vertex_id v) const
  {
    return static_cast<std::uint32_t>(indptr[v + std::int64_t{1}] - indptr[v]);
  }
  [[nodiscard]] TENDRIL_HD vertex_id neighbor(vertex_id v, std::uint32_t i) const { return indices[indptr[v] + i]; }
  [[nodiscard]] TENDRIL_HD float weight(vertex_id v, std::uint32_t i) const { return weights[indptr[v] + i]; }
  [[nodiscard]] TENDRIL_HD label_id label(vertex_id v, std::uint32_t i) const { return edge_labels[indptr[v] + i]; }

  /// Whether u -> x is an edge; u must be a vertex. O(log degree(u)).
  [[nodiscard]] TENDRIL_HD bool has_edge(vertex_id u, vertex_id x) const
  {
    vertex_id const* first = indices + indptr[u];
    std::uint32_t size = degree(u);
    if (size == 0) { return false; }
    while (size > 1) {  // the last neighbour not above x stays in range
      std::uint32_t const half = size / 2;
      first += first[half] <= x ? half : 0;
      size -= half;
    }
    return *first == x;
  }
};

}  // namespace tendril
