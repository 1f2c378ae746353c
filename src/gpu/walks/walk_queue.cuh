// How a warp gets its walks.

#pragma once

#include "gpu/device/launch.cuh"
#include "gpu/walks/job.hpp"

namespace tendril::gpu {

/// A warp's view of the pool of walks. The first 32 of a warp follow from its place in the grid, so that a small batch
/// needs no atomic operation; the others come in runs of 32. All members: the whole warp, converged.
class walk_queue {
 public:
  __device__ explicit walk_queue(walk_batch const& batch) : batch_(batch)
  {
    next_ = global_thread() / warp_size * warp_size;
    end_ = min(next_ + warp_size, batch.size);
    reserved_ = grid_stride();
  }

  /// Gives each idle lane (bit set in `idle`) the index of a walk, or -1 when the pool is empty.
  __device__ std::int64_t take(unsigned idle)
  {
    std::int64_t index = -1;
    while (idle != 0) {
      if (next_ >= end_ && !refill()) { break; }
      auto const rank = static_cast<std::int64_t>(__popc(idle & ((1U << lane_id()) - 1U)));
      bool const mine = ((idle >> lane_id()) & 1U) != 0 && next_ + rank < end_;
      if (mine) { index = next_ + rank; }
      next_ = min(end_, next_ + __popc(idle));
      idle &= ~__ballot_sync(full_warp, mine);
    }
    return index;
  }

 private:
  __device__ bool refill()
  {
    if (drained_) { return false; }
    unsigned long long run = 0;
    if (lane_id() == 0) { run = atomicAdd(batch_.next_walk, static_cast<unsigned long long>(warp_size)); }
    next_ = reserved_ + static_cast<std::int64_t>(__shfl_sync(full_warp, run, 0));
    end_ = min(next_ + warp_size, batch_.size);
    drained_ = next_ >= batch_.size;
    return !drained_;
  }

  walk_batch const& batch_;
  std::int64_t next_, end_, reserved_;
  bool drained_ = false;
};

}  // namespace tendril::gpu
