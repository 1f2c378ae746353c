// How a graph that is larger than what it may take on a GPU is cut, so that its edges stream through two buffers there.
// NextDoor (Jangda, Polisetty, Guha, Serafini, EuroSys'21, section 8.4) calls the parts sub-graphs. Host functions, which
// need no GPU.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tendril/graph.hpp>

namespace tendril::gpu {

/// What a graph takes that is as sampling wants it: offsets, neighbours, weights, labels, types of vertices.
struct graph_bytes {
  std::int64_t resident = 0;  ///< Offsets and types, which a GPU always holds.
  std::int64_t an_edge = 0;
  std::int64_t all = 0;

  [[nodiscard]] static graph_bytes of(csr_arrays const& graph);
};

/// Consecutive vertices make a sub-graph. Offsets of all vertices stay on the GPU, and what is left of the memory is two
/// buffers for edges: halves of it, or, if some vertex has more edges than that, one that its list fits into and one of
/// what is left then, unless that is less than a third, when there is one only.
struct stream_layout {
  graph_bytes bytes;
  std::int64_t capacities[2] = {0, 0};     ///< Edges that each buffer holds; the second may be 0.
  std::vector<std::int64_t> first_vertex;  ///< [sub-graphs + 1] ascending, from 0 to the number of vertices.

  [[nodiscard]] std::int64_t num_subgraphs() const { return static_cast<std::int64_t>(first_vertex.size()) - 1; }
};

/// A sub-graph has as many vertices as fit into the smaller buffer, or one. O(sub-graphs * log vertices).
/// @param graph   In host memory, with at least one vertex.
/// @param budget  Bytes.
/// @return nothing if not even the offsets and the longest list fit.
[[nodiscard]] std::optional<stream_layout> find_stream_layout(csr_arrays const& graph, std::int64_t budget);
/// @throws argument_error if the graph is not in CSR form.
[[nodiscard]] inline std::optional<stream_layout> find_stream_layout(graph const& graph, std::int64_t budget)
{
  return find_stream_layout(graph.csr(), budget);
}

}  // namespace tendril::gpu
