// Where a graph must lie, and which vertices it has: the lines that say otherwise, for every call that samples.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril::validation {

/// Of a graph, or a graph of several types. @throws argument_error unless it is in host memory.
/// @param or_else  What the call could take besides, as ", or a gpu_exec".
template <class Graph>
void expect_in_host_memory(Graph const& graph, char const* or_else = "")
{
  TENDRIL_EXPECTS(graph.device() < 0, "graph: it is {}, expected one in host memory (to_host){}",
                  to_string(graph.device() < 0 ? gpu_set() : gpu_set(graph.device())), or_else);
}

/// The same. @throws argument_error unless it is on the GPU of `exec`.
template <class Graph>
void expect_on_gpu(Graph const& graph, gpu_exec const& exec)
{
  TENDRIL_EXPECTS(graph.device() == exec.device, "graph: it is {}, expected one on GPU {} (to_gpu)",
                  to_string(graph.device() < 0 ? gpu_set() : gpu_set(graph.device())), exec.device);
}

/// @param what   What the vertex is given as: "seed", "start", "root".
/// @param place  Its place in the call's list.
/// @throws argument_error "seed 3: vertex 9 is out of range, the graph has 5 vertices".
template <class Vertex>  // a number, or the text of one that no vertex_id holds
[[noreturn]] void refuse_vertex(std::string_view what, std::int64_t place, Vertex const& vertex,
                                std::int64_t num_vertices)
{
  throw argument_error(
      fmt::format("{} {}: vertex {} is out of range, the graph has {} vertices", what, place, vertex, num_vertices));
}

/// @param first  Number of the first vertex in the caller's list.
/// @throws argument_error naming the first vertex that the graph doesn't have.
inline void expect_vertices(std::string_view what, std::span<vertex_id const> vertices, std::int64_t num_vertices,
                            std::int64_t first = 0)
{
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (vertices[i] >= num_vertices) {
      refuse_vertex(what, first + static_cast<std::int64_t>(i), vertices[i], num_vertices);
    }
  }
}

}  // namespace tendril::validation
