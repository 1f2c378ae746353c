// The source of the walks of a dynamic-walk launch, and the record of their problems.

#pragma once

#include <cstdint>

#include <tendril/engine/walks/launch_state.hpp>
#include <tendril/engine/walks/warp_race.cuh>

namespace tendril::engine {

/// Stores a problem unless a problem of an earlier walk is already stored. One thread.
__device__ inline void keep_report(launch_state& desk, dynamic_report const& report)
{
  while (atomicCAS(&desk.lock, 0U, 1U) != 0) {}
  __threadfence();
  auto* const kept = &desk.report;
  auto const volatile* const seen = kept;
  if (seen->what == dynamic_problem::none || report.walk < seen->walk) { *kept = report; }
  __threadfence();
  atomicExch(&desk.lock, 0U);
}

/// Stores the problem of a walk with an invalid start. One thread.
template <class View>
__device__ void keep_bad_start(launch_state& desk, dynamic_batch const& batch, std::int64_t index,
                               basic_walk_state<View> const& s)
{
  if (batch.bad_start != nullptr) { *batch.bad_start = index; }
  keep_report(desk, {s.walk, -1, dynamic_problem::start, 0, s.start, 0.0F});
}

/// The walks of one warp, as indices into the batch. The first walk follows from the warp's position in the grid, so
/// small batches need no atomics; the other walks come from the pool. All members: the whole warp, converged.
class walk_pool {
 public:
  __device__ walk_pool(launch_state& desk, std::int64_t size, int walks_a_turn)
      : desk_(desk), size_(size), turn_(walks_a_turn)
  {
    std::int64_t const warps_a_block = blockDim.x / 32;
    next_ = blockIdx.x * warps_a_block + threadIdx.x / 32;
    end_ = next_ + 1;
    given_ = gridDim.x * warps_a_block;
  }

  /// The next walk, or -1 when there is none.
  [[nodiscard]] __device__ std::int64_t take()
  {
    if (next_ == end_) {
      unsigned long long begin = 0;
      if (lane() == 0) { begin = atomicAdd(&desk_.next_walk, static_cast<unsigned long long>(turn_)); }
      next_ = given_ + static_cast<std::int64_t>(__shfl_sync(full_warp, begin, 0));
      end_ = next_ + turn_;
    }
    return next_ < size_ ? next_++ : -1;
  }

 private:
  launch_state& desk_;
  std::int64_t size_, next_, end_, given_;
  int turn_;
};

/// Fills positions [from, length] of a row. Whole warp.
__device__ inline void fill_row(dynamic_batch const& batch, std::int64_t index, std::int32_t from, std::int32_t length,
                                vertex_id value)
{
  vertex_id* const row = batch.vertices + index * batch.walk_stride;
  for (std::int64_t t = from + static_cast<std::int64_t>(lane()); t <= length; t += 32) {
    row[t * batch.step_stride] = value;
  }
}

}  // namespace tendril::engine
