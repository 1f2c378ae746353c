// All edges between the vertices of mini-batches: what the kernels are given. Each function enqueues one launch. Pointers
// are device memory.

#pragma once

#include "gpu/batches/numbering.hpp"

namespace tendril::gpu {

/// Edges of a row that one warp looks up.
inline constexpr std::int64_t inner_segment = 1024;

/// Where the edges of each vertex begin, counted over all batches.
struct inner_places {
  std::int64_t const* segments =
      nullptr;  ///< [vertices + 1] where each vertex's segments begin; null: each is its segment.
  std::int64_t const* hits = nullptr;  ///< [segments + 1] where each segment's edges begin.

  [[nodiscard]] TENDRIL_HD std::int64_t before(std::int64_t vertex) const
  {
    return hits[segments == nullptr ? vertex : segments[vertex]];
  }
};

/// One edge type. Rows are cut into segments of inner_segment edges, so that no hub keeps a warp busy alone.
struct inner_job {
  std::uint32_t const* first_stamp = nullptr;  ///< Of the call.
  std::uint32_t num_types = 1;                 ///< Of vertices.
  number_table table;
  graph_view graph;
  std::int64_t const* time_of = nullptr;  ///< [num_edges] by position, or null.
  batch_group const* groups = nullptr;
  std::int32_t to = 0;
  vertex_id const* vertices = nullptr;      ///< [most_vertices] Rows of the graph, of all batches,
  std::uint32_t const* group_of = nullptr;  ///< [most_vertices] and whom each is for.
  std::int64_t const* num = nullptr;        ///< [1] How many there are.
  std::int64_t most_vertices = 0;
  std::int64_t* segments = nullptr;  ///< [most_vertices + 1] where each vertex's segments begin.
  std::int64_t num_segments = 0;
  std::int64_t* hits = nullptr;  ///< [num_segments + 1] where each segment's edges begin.

  [[nodiscard]] TENDRIL_HD inner_places places() const { return {segments, hits}; }
};

/// counts [most_vertices] of segments; 0 beyond the list's end.
void count_segments(inner_job const& job, std::int64_t* counts, gpu_exec const& exec);

/// counts [num_segments] of edges.
void count_inner(inner_job const& job, std::int64_t* counts, gpu_exec const& exec);

/// counts [most_vertices] of each vertex's edges.
void count_of_rows(inner_job const& job, std::int64_t* counts, gpu_exec const& exec);

/// totals [num_batches] of edges. @param begin  Of the list: where the vertices of each batch begin.
void sum_inner(inner_places const& places, std::int64_t const* begin, std::int64_t num_batches, std::int64_t* totals,
               gpu_exec const& exec);

/// Writes the indptr of batch b, of n_b + 1 elements, behind those of the batches before it.
/// @param list  Of all batches; most_vertices bounds it.
void write_inner_indptr(inner_places const& places, vertex_list const& list, std::int64_t num_batches,
                        std::int64_t most_vertices, std::int64_t* indptr, gpu_exec const& exec);

/// Writes the edges of all batches one behind the other. @param begin  As of sum_inner.
void write_inner(inner_job const& job, std::int64_t const* begin, std::int64_t num_batches, edge_call const& out,
                 gpu_exec const& exec);

/// Writes edges, and the numbers of the vertices that they lead to, one behind the other.
void write_found(inner_job const& job, edge_id* edges, vertex_id* numbers, gpu_exec const& exec);

/// time_of[position] from an order of time.
void invert_times(graph_view const& graph, std::int64_t const* times, std::uint32_t const* ordinal,
                  std::int64_t* time_of, gpu_exec const& exec);

}  // namespace tendril::gpu
