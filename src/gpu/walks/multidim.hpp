// What the kernels of multi-dimensional walks are given. Host and device code.

#pragma once

#include <cstddef>
#include <cstdint>

#include <tendril/exec.hpp>
#include <tendril/graph_view.hpp>

#include "core/philox.hpp"
#include "gpu/tables/tables.hpp"
#include "gpu/walks/job.hpp"  // walk_status

namespace tendril::gpu {

/// All pointers are device memory but `status`, which is pinned host memory.
struct multidim_job {
  graph_view graph;
  row_record const* rows;  ///< [num_vertices], of a graph in CSR form; null: by `graph`.
  vertex_id const* roots;  ///< [num_walks, num_roots]
  std::int64_t num_walks;  ///< Above 0.
  std::uint32_t num_roots;
  std::uint32_t length;
  bool small_sums;  ///< The degrees of any set of roots add up to less than 2^32.
  std::uint64_t first_walk;
  core::key_schedule keys;
  vertex_id* vertices;    ///< [num_walks, num_roots + length]
  std::int32_t* slots;    ///< [num_walks, length]
  std::int32_t* lengths;  ///< [num_walks]
  walk_status* status;    ///< `bad_start`: a position in `roots` that holds no vertex.
};

/// Blocks and threads, and where they keep their sets of roots.
struct multidim_shape {
  unsigned blocks;
  int threads;                 ///< Of a block.
  std::size_t shared_bytes;    ///< Of a block; 0: the sets lie in device memory.
  std::int64_t scratch_bytes;  ///< Of that memory.
};

/// The most device memory that sets of roots take.
inline constexpr std::int64_t most_scratch_bytes = std::int64_t{2} << 30U;

// For each choice of the root, the shape of a job, and what enqueues it with `scratch` (scratch_bytes, aligned to 8).
// They allocate nothing and don't synchronise. @throws device_error.

[[nodiscard]] multidim_shape uniform_shape(multidim_job const& job, int device);
void enqueue_uniform(multidim_job const& job, multidim_shape const& shape, void* scratch, cuda_stream stream);

[[nodiscard]] multidim_shape by_degree_shape(multidim_job const& job, int device);
void enqueue_by_degree(multidim_job const& job, multidim_shape const& shape, void* scratch, cuda_stream stream);

}  // namespace tendril::gpu
