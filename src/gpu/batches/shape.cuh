// Which batch and which group a slot of a mini-batch hop belongs to, shared by the kernels that put picks into the table
// and those that number them.

#pragma once

#include <atomic>

#include "gpu/batches/numbering.hpp"
#include "gpu/device/launch.cuh"
#include "gpu/graph/edge_tiles.cuh"  // row_of

namespace tendril::gpu {

/// The kernels exist for seeds and for picks, for one batch and for many, for fan-outs and for all neighbours.
template <bool Seeds, bool Single, bool All>
struct batch_shape {
  number_job const& job;
  std::int64_t num_expanded;
  core::fast_divisor by_batch;
  std::uint32_t first_seed;

  /// Any thread.
  explicit __device__ batch_shape(number_job const& of) : job(of)
  {
    vertex_call const& to = job.view.vertices[job.to];
    num_expanded = Seeds ? to.num_seeds : *job.from.num;
    by_batch = job.view.call->by_batch;
    first_seed = static_cast<std::uint32_t>(to.first_seed);
  }

  [[nodiscard]] __device__ std::int64_t num_slots() const
  {
    if constexpr (All) { return job.offsets[num_expanded]; }
    return Seeds ? num_expanded : num_expanded * job.fanout;
  }

  /// The vertex that slot `slot` was picked for, counted over the list; a seed's place among those of its type.
  [[nodiscard]] __device__ std::uint32_t expanded_of(std::uint32_t slot) const
  {
    if constexpr (Seeds) { return slot; }
    if constexpr (All) { return static_cast<std::uint32_t>(row_of(job.offsets, 0, num_expanded - 1, slot)); }
    return job.by_fanout.quotient(slot);
  }

  [[nodiscard]] __device__ std::uint32_t group_of(std::uint32_t expanded) const
  {
    if constexpr (!Seeds) { return job.from.group_of[expanded]; }
    if (job.view.disjoint) { return first_seed + expanded; }
    return Single ? 0 : by_batch.quotient(expanded);
  }

  [[nodiscard]] __device__ std::uint32_t batch_of(std::uint32_t group) const
  {
    if constexpr (Single) { return 0; }
    return job.view.disjoint ? by_batch.quotient(group) : group;
  }

  /// The first slot of a batch, or of what follows the last one. Of many batches.
  [[nodiscard]] __device__ std::int64_t first_slot(std::uint32_t batch) const
  {
    if constexpr (Seeds) { return min(static_cast<std::int64_t>(batch) * by_batch.divisor(), num_expanded); }
    if constexpr (All) { return job.offsets[job.from.begin[batch]]; }
    return job.from.begin[batch] * job.fanout;
  }
};

/// Blocks for `size` threads of Kernel, as many as the device holds at once at most; it is asked once. A launch's host
/// part counts where a batch takes tens of microseconds.
template <auto Kernel>
unsigned filling_blocks(std::int64_t size, int block_threads, int device)
{
  static std::atomic<std::int64_t> known[64];
  auto const index = static_cast<std::size_t>(device) % 64;
  std::int64_t most = known[index].load(std::memory_order_relaxed);
  if (most == 0 || device >= 64) {
    most = resident_blocks(Kernel, block_threads, 0, device);
    known[index].store(most, std::memory_order_relaxed);
  }
  return grid_blocks(size, block_threads, most);
}

}  // namespace tendril::gpu
