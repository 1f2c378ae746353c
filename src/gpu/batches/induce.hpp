// All edges between the vertices of mini-batches: what the kernels are given. Each function enqueues one launch. Pointers
// are device memory.

#pragma once

#include "gpu/batches/numbering.hpp"

namespace tendril::gpu {

/// Edges of a row that one warp looks up.
inline constexpr std::int64_t inner_segment = 1024;

/// One edge type. Rows are cut into segments of inner_segment edges, so that no hub keeps a warp busy alone.
struct inner_job {
  call_view view;
  number_table table;
  graph_view graph;
  std::int64_t const* time_of = nullptr;  ///< [num_edges] by position, or null.
  batch_group const* groups = nullptr;
  std::int32_t to = 0;
  vertex_list list;  ///< All vertices of the rows' type; `begin` is never null.
  std::int64_t num_batches = 1;
  std::int64_t most_vertices = 0;
  std::int64_t* segments = nullptr;  ///< [most_vertices + 1] where each vertex's segments begin.
  std::int64_t num_segments = 0;
  std::int64_t* hits = nullptr;  ///< [num_segments + 1] where each segment's edges begin.
};

/// counts [most_vertices] of segments; 0 beyond the list's end.
void count_segments(inner_job const& job, std::int64_t* counts, gpu_exec const& exec);

/// counts [num_segments] of edges.
void count_inner(inner_job const& job, std::int64_t* counts, gpu_exec const& exec);

/// totals [num_batches] of edges.
void sum_inner(inner_job const& job, std::int64_t* totals, gpu_exec const& exec);

/// Writes the edges of all batches one behind the other, and the indptr of batch b, of n_b + 1 elements, behind
/// those of the batches before it.
void write_inner(inner_job const& job, edge_call const& out, gpu_exec const& exec);

/// time_of[position] from an order of time.
void invert_times(graph_view const& graph, std::int64_t const* times, std::uint32_t const* ordinal,
                  std::int64_t* time_of, gpu_exec const& exec);

}  // namespace tendril::gpu
