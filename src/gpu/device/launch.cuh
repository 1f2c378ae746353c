// What every launch needs: the logical index of a thread, and how many blocks to start.

#pragma once

#include <algorithm>
#include <cstdint>

#include <cuda_runtime.h>

#include "gpu/device/check.hpp"

namespace tendril::gpu {

inline constexpr int warp_size = 32;
inline constexpr unsigned full_warp = 0xffffffffU;

/// Index of the calling thread in the grid. Any thread.
__device__ __forceinline__ std::int64_t global_thread()
{
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// Number of threads in the grid. Any thread.
__device__ __forceinline__ std::int64_t grid_stride() { return static_cast<std::int64_t>(gridDim.x) * blockDim.x; }

/// The calling thread's place in its warp. Any thread of a block whose x-size is a multiple of 32.
__device__ __forceinline__ int lane_id() { return static_cast<int>(threadIdx.x) % warp_size; }

/// Blocks that cover `size` threads, at least 1 and at most `most`: a grid-stride loop does the rest.
inline unsigned grid_blocks(std::int64_t size, int block_threads, std::int64_t most = 1 << 20)
{
  return static_cast<unsigned>(std::clamp<std::int64_t>((size + block_threads - 1) / block_threads, 1, most));
}

/// Blocks of `kernel` that the device holds at once.
template <class Kernel>
std::int64_t resident_blocks(Kernel kernel, int block_threads, std::size_t shared_bytes, int device)
{
  int a_processor = 0;
  int processors = 0;
  TENDRIL_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&a_processor, kernel, block_threads, shared_bytes));
  TENDRIL_CUDA_TRY(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  return std::int64_t{std::max(a_processor, 1)} * processors;
}

}  // namespace tendril::gpu
