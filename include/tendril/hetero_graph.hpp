#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril {

/// The edges of each vertex from the earliest to the latest, for mini-batches that must not look ahead in time.
struct temporal_order {
  shared_array<std::int64_t> times;  ///< [E] of each edge, ascending within a vertex.
  shared_array<std::uint32_t>
      ordinal;  ///< [E] which of its vertex's edges that is: it lies at first_edge(v) + ordinal[e].

  [[nodiscard]] bool empty() const noexcept { return times.empty(); }
};

/// Edges of equal times keep their order in the graph.
/// @param edge_times  [E] in any unit; in the memory of `exec`, as the graph.
/// @throws argument_error  a length that is not the graph's number of edges; memory_error.
[[nodiscard]] temporal_order order_by_time(graph const& graph, std::span<std::int64_t const> edge_times,
                                           cpu_exec const& exec = {});
[[nodiscard]] temporal_order order_by_time(graph const& graph, std::span<std::int64_t const> edge_times,
                                           gpu_exec const& exec);

/// The same where vertices have times: an edge has that of the neighbour it leads to.
/// @param vertex_times  [num_vertices of the neighbours' type]
[[nodiscard]] temporal_order order_by_vertex_time(graph const& graph, std::span<std::int64_t const> vertex_times,
                                                  cpu_exec const& exec = {});
[[nodiscard]] temporal_order order_by_vertex_time(graph const& graph, std::span<std::int64_t const> vertex_times,
                                                  gpu_exec const& exec);

/// One kind of edges. They are stored with the vertices that a mini-batch expands: for message flow from neighbour to
/// expanded vertex, `from` is the receiver's type and `to` the sender's.
struct edge_type {
  std::int32_t from = 0;  ///< Type of the vertices whose edges these are.
  std::int32_t to = 0;    ///< Type of their neighbours.
  /// Row v holds the edges of vertex v of type `from`; its neighbours are vertices of type `to`. Both count from 0 within
  /// their type; num_vertices() is at least the larger number of the two.
  graph edges;
  temporal_order order = {};  ///< Empty: edges without times, always allowed.
};

/// A graph of several types of vertices and edges, or of one. Copies share the arrays.
class hetero_graph {
 public:
  /// One type of vertices, one of edges.
  explicit hetero_graph(graph edges, temporal_order order = {});

  /// @param num_vertices  Of each vertex type.
  /// @throws argument_error  no vertex type; an edge type between types that are not there; edges in different places
  ///                         (one GPU, or host memory); fewer rows than vertices; times of another length.
  hetero_graph(std::vector<std::int64_t> num_vertices, std::vector<edge_type> edge_types);

  [[nodiscard]] std::vector<std::int64_t> const& num_vertices() const noexcept { return num_vertices_; }
  [[nodiscard]] std::vector<edge_type> const& edge_types() const noexcept { return edge_types_; }
  [[nodiscard]] bool has_times() const noexcept;  ///< Of any edge type.

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
