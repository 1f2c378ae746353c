// What walks on a GPU refuse of graphs that are not in CSR form.

#pragma once

#include <cstdint>

#include <tendril/graph.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril::gpu {

/// Walks on packed graphs equal the CPU's in every test, on graphs of up to about two million edges. Walks on one of 128
/// million ended in an illegal memory access, whose cause is not known: until it is, larger graphs are refused.
inline constexpr edge_id most_packed_edges = edge_id{1} << 21U;

/// @throws argument_error for a packed graph of more edges than that.
inline void expect_walkable_form(graph const& graph)
{
  TENDRIL_EXPECTS(graph.form() == graph_form::csr || graph.num_edges() <= most_packed_edges,
                  "graph: {} packed edges, expected at most {} for walks on a GPU, or a graph in CSR form (to_csr)",
                  graph.num_edges(), most_packed_edges);
}

}  // namespace tendril::gpu
