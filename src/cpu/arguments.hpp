// Checks that every sampling call makes of its arguments.

#pragma once

#include <span>

#include <tendril/graph.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "graph/places.hpp"

namespace tendril::cpu {

/// `what` is "seed" or "start". @throws argument_error naming the first vertex that the graph doesn't have.
inline void check_vertices(char const* what, std::span<vertex_id const> vertices, graph_view const& graph)
{
  validation::expect_vertices(what, vertices, graph.num_vertices);
}

/// A graph without edges has nothing to weigh. @throws argument_error where weights are asked for and missing.
inline void check_weighted(bool weighted, graph const& graph)
{
  TENDRIL_EXPECTS(!weighted || graph.has_weights() || graph.num_edges() == 0,
                  "weighted: the graph has no weights, expected one an edge");
}

/// @throws argument_error for a graph whose arrays lie on a GPU.
inline void check_in_host_memory(graph const& graph) { validation::expect_in_host_memory(graph, ", or a gpu_exec"); }

}  // namespace tendril::cpu
