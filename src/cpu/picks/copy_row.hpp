// All edges of a row, for samplers that take them in order.

#pragma once

#include <cstdint>

#include <tendril/row.hpp>

namespace tendril::cpu {

/// Writes the row's targets to `targets` and the numbers of its edges to `edges`, unless that is null.
template <graph_row Row>
void copy_row(Row const& row, vertex_id* targets, edge_id* edges)
{
  row.copy_to(targets);
  if (edges == nullptr) { return; }
  edge_id const first = row.first_edge();
  for (std::uint32_t i = 0; i < row.degree(); ++i) { edges[i] = first + i; }
}

}  // namespace tendril::cpu
