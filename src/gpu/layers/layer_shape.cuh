// How the kernels of layer-wise sampling are launched: an arena a block, in shared memory where it fits.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "gpu/device/launch.cuh"
#include "gpu/layers/layers.hpp"

namespace tendril::gpu {

inline constexpr int few_layer_threads = 128;  // for layers of at most as many vertices
inline constexpr int most_layer_threads = 256;
inline constexpr std::size_t most_shared_bits = 16U << 10U;   // of a matrix
inline constexpr std::size_t most_shared_arena = 48U << 10U;  // that a matrix may make of an arena
inline constexpr std::int64_t most_arena_scratch = std::int64_t{1} << 30U;

inline int layer_threads(layerwise_job const& job)
{
  return std::max(job.batch_size, job.layer_size) <= few_layer_threads ? few_layer_threads : most_layer_threads;
}

/// The calling block's arena. Any thread.
__device__ inline char* arena_memory(layer_shape const& shape, void* shared, char* scratch)
{
  return shape.in_shared ? static_cast<char*>(shared) : scratch + shape.arena_bytes * blockIdx.x;
}

/// The shape of `kernel` for `tasks` blocks' work. @throws device_error.
template <class Kernel>
layer_shape shape_of(Kernel* kernel, int threads, std::size_t arena_bytes, std::int64_t tasks, int device)
{
  int most_shared = 0;
  int reserved = 0;
  cudaFuncAttributes attributes{};
  TENDRIL_CUDA_TRY(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  TENDRIL_CUDA_TRY(cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, device));
  TENDRIL_CUDA_TRY(cudaFuncGetAttributes(&attributes, kernel));
  layer_shape out;
  out.threads = threads;
  out.arena_bytes = arena_bytes;
  out.in_shared = arena_bytes + attributes.sharedSizeBytes + static_cast<std::size_t>(reserved) <=
                  static_cast<std::size_t>(most_shared);
  std::int64_t most = std::int64_t{1} << 20U;
  if (out.in_shared) {
    TENDRIL_CUDA_TRY(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(arena_bytes)));
  } else {
    most = std::clamp<std::int64_t>(most_arena_scratch / static_cast<std::int64_t>(arena_bytes), 1,
                                    resident_blocks(kernel, threads, 0, device));
  }
  out.blocks = static_cast<unsigned>(std::clamp<std::int64_t>(tasks, 1, most));
  return out;
}

/// Of the kernel that writes edges, in src/gpu/layers/layer_edges.cu.
[[nodiscard]] layer_shape edges_shape(layerwise_job const& job, std::int64_t samples, int device);

}  // namespace tendril::gpu
