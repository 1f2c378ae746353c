// The kernels of walks by regions (region_pass.cuh), as the host enqueues them.

#pragma once

#include <cstdint>

#include "gpu/walks/job.hpp"
#include "place/regions.hpp"

namespace tendril::gpu {

/// What each walk waits for, a byte: nothing, as it has ended; region r - 1; or it can go on at once.
namespace region_wait {
inline constexpr std::uint8_t nothing = 0;
inline constexpr std::uint8_t at_once = 255;
inline constexpr std::uint32_t for_region(std::uint32_t region) { return region + 1; }
static_assert(for_region(place::most_regions - 1) < at_once);
/// Walks that a pass takes: those that wait for anything.
inline constexpr std::uint8_t anything = 0;
}  // namespace region_wait

/// A walk that waits.
struct alignas(8) waiting_walk {
  vertex_id vertex;
  std::int32_t step;
};

/// The waits are read so many at a time: arrays of them are padded to multiples of it.
inline constexpr std::int64_t waits_a_run = 512;
inline constexpr std::size_t num_waits = 256;

/// The walks of a batch between passes, in GPU memory.
struct waiting_walks {
  waiting_walk* walks;          ///< [size]
  std::uint8_t* waits;          ///< [size, padded]; padding waits for nothing.
  unsigned long long* waiting;  ///< [num_waits] walks that wait for each region
  unsigned long long* next;     ///< The pool of a pass: waits handed out beyond the first ones; starts at 0.
};

/// What a pass needs beside the batch. Pointers are device memory.
struct region_pass {
  place::region_index regions;
  std::uint32_t const* const* windows;  ///< [regions] as region_targets::windows
  std::uint8_t wanted;                  ///< Takes the walks that wait for this.
  int load_blocks;                      ///< Of the load that runs at the same time, for which room is left.
};

/// Puts every walk on its start. Enqueues.
void begin_region_walks(walk_batch const& batch, waiting_walks const& state, walk_shape const& shape);

/// Walks on until lists are met that lie in host memory, in regions that are not on the GPU. Enqueues.
void pass_region(walk_job const& job, walk_batch const& batch, waiting_walks const& state, region_pass const& pass,
                 walk_shape const& shape);

/// The same by sums of weights, or by rejection against the largest weight (region_weighted_walk.cu).
void pass_region_by_sums(walk_job const& job, walk_batch const& batch, waiting_walks const& state,
                         region_pass const& pass, walk_shape const& shape);
void pass_region_by_reject(walk_job const& job, walk_batch const& batch, waiting_walks const& state,
                           region_pass const& pass, walk_shape const& shape);

/// Copies bytes of the graph's lists, from host memory, by so many thread blocks. `from`, `to` and `bytes` are multiples of
/// 16. Enqueues. (cudaMemcpy from managed memory is slower.)
void load_region(void const* from, void* to, std::int64_t bytes, int blocks, cuda_stream stream);

}  // namespace tendril::gpu
