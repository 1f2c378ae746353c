#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril {

/// The edges of each vertex in ascending order of time, for mini-batches that must not look ahead in time.
struct temporal_order {
  shared_array<std::int64_t> times;  ///< [E] time of each edge, ascending within a vertex.
  shared_array<std::uint32_t>
      ordinal;  ///< [E] the edge's ordinal within its vertex: entry e is edge first_edge(v) + ordinal[e].

  [[nodiscard]] bool empty() const noexcept { return times.empty(); }
};

/// Orders the edges of each vertex by time. Edges of equal times keep their order in the graph.
/// @param edge_times  [E] in any unit; in the memory of `exec`, like the graph.
/// @throws argument_error  a length other than the graph's number of edges; memory_error.
[[nodiscard]] temporal_order order_by_time(graph const& graph, std::span<std::int64_t const> edge_times,
                                           cpu_exec const& exec = {});
[[nodiscard]] temporal_order order_by_time(graph const& graph, std::span<std::int64_t const> edge_times,
                                           gpu_exec const& exec);

/// Orders edges by the times of vertices: an edge has the time of the neighbour it leads to.
/// @param vertex_times  [num_vertices of the neighbours' type]
[[nodiscard]] temporal_order order_by_vertex_time(graph const& graph, std::span<std::int64_t const> vertex_times,
                                                  cpu_exec const& exec = {});
[[nodiscard]] temporal_order order_by_vertex_time(graph const& graph, std::span<std::int64_t const> vertex_times,
                                                  gpu_exec const& exec);

/// One type of edges, stored with the vertices that a mini-batch expands. For message flow from neighbour to expanded
/// vertex, `from` is the receiver's type and `to` the sender's.
struct edge_type {
  std::int32_t from = 0;  ///< Type of the vertices that own these edges.
  std::int32_t to = 0;    ///< Type of their neighbours.
  /// Row v holds the edges of vertex v of type `from`; its neighbours are vertices of type `to`. Both types number
  /// their vertices from 0; num_vertices() is at least the larger of the two numbers of vertices.
  graph edges;
  temporal_order order = {};  ///< Empty: the edges have no times and are always allowed.
};

/// A graph of several types of vertices and edges, or of one. Copies share the arrays.
class hetero_graph {
 public:
  /// Creates a graph of one vertex type and one edge type.
  explicit hetero_graph(graph edges, temporal_order order = {});

  /// @param num_vertices  Per vertex type.
  /// @throws argument_error  no vertex type; an edge type between types that don't exist; edges in different places
  ///                         (one GPU, or host memory); fewer rows than vertices; times of another length.
  hetero_graph(std::vector<std::int64_t> num_vertices, std::vector<edge_type> edge_types);

  [[nodiscard]] std::vector<std::int64_t> const& num_vertices() const noexcept { return num_vertices_; }
  [[nodiscard]] std::vector<edge_type> const& edge_types() const noexcept { return edge_types_; }
  [[nodiscard]] bool has_times() const noexcept;  ///< Whether any edge type has times.

  /// The GPU whose memory holds the edges, or -1 for host memory.
  [[nodiscard]] int device() const noexcept { return device_; }

  /// Checks that neighbours are vertices of their type, which the constructor doesn't: reads everything once. Samplers on
  /// the CPU check it at their first use.
  /// @throws format_error with the first violation.
  void validate(cpu_exec const& exec = {}) const;

 private:
  std::vector<std::int64_t> num_vertices_;
  std::vector<edge_type> edge_types_;
  int device_ = -1;
};

/// A copy in the memory of the GPU of `exec`. Synchronises. @throws device_error; memory_error.
[[nodiscard]] hetero_graph to_gpu(hetero_graph const& graph, gpu_exec const& exec);

}  // namespace tendril
