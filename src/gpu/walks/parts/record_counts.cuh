// What the threads of a block count of a step: records for each rank, steps and questions.

#pragma once

#include "gpu/device/launch.cuh"
#include "gpu/walks/parts/part_ranks.hpp"

namespace tendril::gpu {

/// In shared memory. All members: the whole block, converged, unless they say otherwise.
template <class Tally>
struct record_counts {
  step_count<Tally> here;

  __device__ void clear()
  {
    for (unsigned i = threadIdx.x; i < num_words; i += blockDim.x) { words()[i] = 0; }
    __syncthreads();
  }

  /// Adds what was counted to what other blocks have.
  __device__ void add_to(step_count<Tally>* all)
  {
    __syncthreads();
    for (unsigned i = threadIdx.x; i < num_words; i += blockDim.x) {
      if (words()[i] != 0) { atomicAdd(reinterpret_cast<unsigned*>(all) + i, words()[i]); }
    }
  }

 private:
  static constexpr unsigned num_words = sizeof(step_count<Tally>) / sizeof(unsigned);
  [[nodiscard]] __device__ unsigned* words() { return reinterpret_cast<unsigned*>(&here); }
};

/// Counts the lanes where `is` is true. Whole warp.
__device__ __forceinline__ void count_where(unsigned& count, bool is)
{
  unsigned const those = __ballot_sync(full_warp, is);
  if (lane_id() == 0 && those != 0) { atomicAdd(&count, static_cast<unsigned>(__popc(those))); }
}

/// Counts, for each rank, the lanes whose record goes `to` it. Whole warp.
__device__ __forceinline__ void count_for_ranks(unsigned* counts, int to, int num_ranks)
{
  for (int rank = 0; rank < num_ranks; ++rank) { count_where(counts[rank], to == rank); }
}

}  // namespace tendril::gpu
