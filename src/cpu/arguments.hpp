// Checks that every sampling call makes of its arguments.

#pragma once

#include <span>

#include <tendril/graph.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril::cpu {

/// `what` is "seed" or "start". @throws argument_error naming the first vertex that the graph doesn't have.
inline void check_vertices(char const* what, std::span<vertex_id const> vertices, graph_view const& graph)
{
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    TENDRIL_EXPECTS(vertices[i] < graph.num_vertices, "{} {}: vertex {} is out of range, the graph has {} vertices",
                    what, i, vertices[i], graph.num_vertices);
  }
}

/// A graph without edges has nothing to weigh. @throws argument_error where weights are asked for and missing.
inline void check_weighted(bool weighted, graph const& graph)
{
  TENDRIL_EXPECTS(!weighted || graph.has_weights() || graph.num_edges() == 0,
                  "weighted: the graph has no weights, expected one an edge");
}

/// @throws argument_error for a graph whose arrays lie on a GPU.
inline void check_in_host_memory(graph const& graph)
{
  TENDRIL_EXPECTS(graph.device() < 0, "graph: it is on GPU {}, expected one in host memory (to_host), or a gpu_exec",
                  graph.device());
}

}  // namespace tendril::cpu
