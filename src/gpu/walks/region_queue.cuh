// How a warp gets the walks that wait for a region.

#pragma once

#include <cstdint>

#include "gpu/device/launch.cuh"
#include "gpu/walks/region_launch.hpp"

namespace tendril::gpu {

/// A warp's view of the waits of a batch, of which it takes runs of 512: the first by its place in the grid, the others
/// from a counter. It lists a run's walks in shared memory, and hands them out. All members: the whole warp, converged.
class region_queue {
 public:
  /// @param found  [waits_a_run] of the warp, in shared memory.
  __device__ region_queue(waiting_walks const& state, std::int64_t size, std::uint8_t wanted, std::uint16_t* found)
      : state_(state),
        size_(size),
        wanted_(wanted * 0x01010101U),
        found_(found),
        next_run_(global_thread() / warp_size * waits_a_run)
  {
  }

  /// Gives each idle lane (bit set in `idle`) a walk's index in the batch; -1 when none is left.
  __device__ std::int64_t take(unsigned idle)
  {
    std::int64_t index = -1;
    while (idle != 0) {
      if (used_ >= count_ && !refill()) { break; }
      int const place = used_ + __popc(idle & ((1U << lane_id()) - 1U));
      bool const mine = ((idle >> lane_id()) & 1U) != 0 && place < count_;
      if (mine) { index = begin_ + found_[place]; }
      used_ = min(count_, used_ + __popc(idle));
      idle &= ~__ballot_sync(full_warp, mine);
    }
    return index;
  }

 private:
  static constexpr int waits_a_lane = static_cast<int>(waits_a_run) / warp_size;
  static_assert(waits_a_lane == sizeof(uint4));

  /// Lists the walks of the next run that has any.
  __device__ bool refill()
  {
    while (next_run_ < size_) {
      begin_ = next_run_;
      // No other warp reads this run in this pass: what lanes write for walks that they took from it is not missed.
      uint4 const waits = *reinterpret_cast<uint4 const*>(state_.waits + begin_ + lane_id() * waits_a_lane);
      unsigned long long taken = 0;
      if (lane_id() == 0) { taken = atomicAdd(state_.next, static_cast<unsigned long long>(waits_a_run)); }
      next_run_ = grid_stride() / warp_size * waits_a_run + static_cast<std::int64_t>(__shfl_sync(full_warp, taken, 0));
      unsigned wanted = bits_of(waits.x) | bits_of(waits.y) << 4U | bits_of(waits.z) << 8U | bits_of(waits.w) << 12U;
      int before = __popc(wanted);
      for (int step = 1; step < warp_size; step *= 2) {
        int const other = __shfl_up_sync(full_warp, before, step);
        before += lane_id() >= step ? other : 0;
      }
      count_ = __shfl_sync(full_warp, before, warp_size - 1);
      used_ = 0;
      if (count_ == 0) { continue; }
      before -= __popc(wanted);
      __syncwarp();  // the list before was read
      for (; wanted != 0; wanted &= wanted - 1) {
        found_[before++] = static_cast<std::uint16_t>(lane_id() * waits_a_lane + __ffs(static_cast<int>(wanted)) - 1);
      }
      __syncwarp();
      return true;
    }
    return false;
  }

  /// A bit for each byte of four that is wanted.
  [[nodiscard]] __device__ unsigned bits_of(std::uint32_t waits) const
  {
    constexpr std::uint32_t one_each = 0x01010101U;
    static_assert(region_wait::anything == region_wait::nothing);
    std::uint32_t const same = __vcmpeq4(waits, wanted_);
    std::uint32_t const bytes = (wanted_ == 0 ? ~same : same) & one_each;
    return bytes * 0x01020408U >> 24U & 15U;  // byte i to bit i
  }

  waiting_walks const& state_;
  std::int64_t size_;
  std::uint32_t wanted_;  // in each byte
  std::uint16_t* found_;  // [waits_a_run]: places in the run
  std::int64_t next_run_, begin_ = 0;
  int used_ = 0, count_ = 0;
};

}  // namespace tendril::gpu
