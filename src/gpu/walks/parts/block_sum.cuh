// What the threads of a block count together.

#pragma once

#include "gpu/device/launch.cuh"

namespace tendril::gpu {

/// Adds what each thread has counted. The whole block, converged; once in a kernel for each counter.
__device__ __forceinline__ void add_in_block(unsigned* to, unsigned mine)
{
  __shared__ unsigned sum;
  __syncthreads();
  if (threadIdx.x == 0) { sum = 0; }
  __syncthreads();
  unsigned const of_warp = __reduce_add_sync(full_warp, mine);
  if (lane_id() == 0 && of_warp != 0) { atomicAdd(&sum, of_warp); }
  __syncthreads();
  if (threadIdx.x == 0 && sum != 0) { atomicAdd(to, sum); }
}

}  // namespace tendril::gpu
