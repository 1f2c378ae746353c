// What the kernels of multi-dimensional walks are given. Host and device code.

#pragma once

#include <cstddef>
#include <cstdint>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/rng.hpp>

namespace tendril::gpu {

/// All pointers are device memory.
struct multidim_job {
  graph_view graph;
  vertex_id const* roots;  ///< [num_walks, num_roots]
  std::int64_t num_walks;  ///< Above 0.
  std::uint32_t num_roots;
  std::int32_t length;
  bool by_degree;
  std::uint64_t first_walk;
  rng_key key;
  vertex_id* vertices;    ///< [num_walks, num_roots + length]
  std::int32_t* slots;    ///< [num_walks, length]
  std::int32_t* lengths;  ///< [num_walks]
  unsigned long long*
      bad_root;  ///< The least position in `roots` that holds no vertex; the caller sets it to 2^64 - 1.
};

/// Blocks and threads, and where they keep their sets of roots.
struct multidim_shape {
  unsigned blocks;
  int threads;               ///< Of a block.
  std::size_t shared_bytes;  ///< Of a block; 0: the sets lie in `scratch_samples` sets of device memory.
  std::int64_t scratch_samples;
};

/// Sets of roots in device memory; null where they lie in shared memory.
struct multidim_scratch {
  vertex_id* roots;     ///< [num_roots, scratch_samples]
  std::uint64_t* sums;  ///< The same, if by degree.
};

/// @throws device_error.
[[nodiscard]] multidim_shape shape_of(multidim_job const& job, int device);

/// Enqueues the whole job. @throws device_error.
void enqueue(multidim_job const& job, multidim_shape const& shape, multidim_scratch const& scratch, cuda_stream stream);

}  // namespace tendril::gpu
