// What the kernels of ShaDow are given. Host and device code.

#pragma once

#include <cstddef>
#include <cstdint>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/shadow.hpp>

#include "gpu/subgraphs/subgraph.hpp"  // sample_status

namespace tendril::gpu {

/// All pointers are device memory.
struct shadow_job {
  graph_view graph;
  vertex_id const* seeds;  ///< [num_samples]
  std::int64_t num_samples;
  std::uint64_t first_sample;
  std::uint64_t seed;
  std::uint32_t depth;
  std::uint32_t num_neighbors;
  bool replace;
  std::uint32_t most_vertices;  ///< Of a sample.
};

/// Blocks, and where each keeps the set of its sample's vertices.
struct shadow_shape {
  unsigned blocks;
  std::uint32_t num_slots;   ///< Of a set: a power of two, at least twice most_vertices.
  std::size_t shared_bytes;  ///< Of a block; 0: the sets lie in device memory, scratch_bytes in all.
  std::int64_t scratch_bytes;
};

/// @throws device_error.
[[nodiscard]] shadow_shape shape_of(shadow_job const& job, int device);

/// sizes[i] = the number of vertices of sample i, 0 where its seed is out of range; tells the status of bad seeds and of
/// the largest sample. Enqueues.
void count_shadow(shadow_job const& job, shadow_shape const& shape, std::uint32_t* scratch, std::uint32_t* sizes,
                  sample_status* status, cuda_stream stream);

/// Writes the vertices of all samples, which begin at `offsets`. Enqueues.
void write_shadow(shadow_job const& job, shadow_shape const& shape, std::uint32_t* scratch, std::int64_t const* offsets,
                  vertex_id* nodes, cuda_stream stream);

}  // namespace tendril::gpu
