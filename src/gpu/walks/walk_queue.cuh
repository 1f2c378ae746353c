// How a warp gets its walks.

#pragma once

#include "gpu/device/launch.cuh"
#include "gpu/walks/job.hpp"

namespace tendril::gpu {

/// A walk that a lane is to make.
struct queued_walk {
  std::int64_t index;  ///< In the batch; -1: none.
  vertex_id start;
};

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

  /// Gives each idle lane (bit set in `idle`) a walk; index -1 when the pool is empty.
  __device__ queued_walk take(unsigned idle)
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
    return {index, index >= 0 ? batch_.starts[index] : no_vertex};
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

/// The same for walks that may be short, for which waiting for the pool and for starts would be a good part of the time:
/// the next run is reserved, and its starts are read, while the current one is handed out, a stage a call. A warp has up
/// to 32 more walks left when the pool is empty, so walks that all are long do without.
class walk_queue_ahead {
 public:
  __device__ explicit walk_queue_ahead(walk_batch const& batch)
      : batch_(batch), run_(static_cast<std::uint32_t>(global_thread() / warp_size)), starts_(start_in(run_))
  {
  }

  /// Gives each idle lane (bit set in `idle`) a walk; index -1 when the pool is empty.
  __device__ queued_walk take(unsigned idle)
  {
    queued_walk walk{-1, no_vertex};
    while (idle != 0) {
      if (used_ >= size_of(run_) && !refill()) { break; }
      int const count = size_of(run_);
      int const place = used_ + __popc(idle & ((1U << lane_id()) - 1U));
      vertex_id const start = __shfl_sync(full_warp, starts_, place % warp_size);
      bool const mine = ((idle >> lane_id()) & 1U) != 0 && place < count;
      if (mine) { walk = {begin_of(run_) + place, start}; }
      used_ = min(count, used_ + __popc(idle));
      idle &= ~__ballot_sync(full_warp, mine);
    }
    advance();
    return walk;
  }

 private:
  enum class stage : std::uint8_t { none, reserved, ready, drained };

  /// Brings the next run one stage further.
  __device__ void advance()
  {
    if (stage_ == stage::none) {
      if (lane_id() == 0) {
        auto const taken = atomicAdd(batch_.next_walk, static_cast<unsigned long long>(warp_size));
        next_run_ = static_cast<std::uint32_t>((grid_stride() + static_cast<std::int64_t>(taken)) / warp_size);
      }
      stage_ = stage::reserved;
    } else if (stage_ == stage::reserved) {
      next_run_ = __shfl_sync(full_warp, next_run_, 0);
      next_starts_ = start_in(next_run_);
      stage_ = stage::ready;
    }
  }

  __device__ bool refill()
  {
    if (stage_ == stage::drained) { return false; }
    while (stage_ != stage::ready) { advance(); }
    run_ = next_run_;
    starts_ = next_starts_;
    used_ = 0;
    stage_ = size_of(run_) > 0 ? stage::none : stage::drained;
    return stage_ == stage::none;
  }

  /// This lane's start in a run.
  [[nodiscard]] __device__ vertex_id start_in(std::uint32_t run) const
  {
    std::int64_t const index = begin_of(run) + lane_id();
    return index < batch_.size ? batch_.starts[index] : no_vertex;
  }

  [[nodiscard]] __device__ int size_of(std::uint32_t run) const
  {
    return static_cast<int>(max(std::int64_t{0}, min(std::int64_t{warp_size}, batch_.size - begin_of(run))));
  }

  [[nodiscard]] __device__ static std::int64_t begin_of(std::uint32_t run) { return std::int64_t{run} * warp_size; }

  walk_batch const& batch_;
  std::uint32_t run_, next_run_ = 0;  // that is handed out, and the next: 2^32 runs are more walks than a GPU holds
  int used_ = 0;                      // walks of the run that are handed out
  vertex_id starts_, next_starts_ = no_vertex;
  stage stage_ = stage::none;
};

}  // namespace tendril::gpu
