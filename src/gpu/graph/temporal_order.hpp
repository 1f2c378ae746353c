// The edges of each vertex in order of time: what the kernels are given. Pointers are device memory.

#pragma once

#include <cstdint>

#include <tendril/exec.hpp>
#include <tendril/graph_view.hpp>

namespace tendril::gpu {

struct found_edge {
  edge_id edge = -1;  ///< -1: none.
  vertex_id target = no_vertex;
};

/// The first edge that leads to vertex `num_vertices` or beyond. Synchronises.
[[nodiscard]] found_edge first_edge_beyond(graph_view const& graph, std::int64_t num_vertices, gpu_exec const& exec);

/// As temporal_order holds them. Enqueues.
/// @param times        Of each edge, or, if `of_vertices`, of the vertex that it leads to.
/// @param sorted,ordinal  [num_edges] results.
void sort_by_time(graph_view const& graph, std::int64_t const* times, bool of_vertices, std::int64_t* sorted,
                  std::uint32_t* ordinal, gpu_exec const& exec);

}  // namespace tendril::gpu
