// What follows a walk's end, written before the walks.

#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

#include "gpu/device/check.hpp"
#include "gpu/walks/job.hpp"

namespace tendril::gpu {

/// Enqueues no_vertex for every vertex of a batch.
inline void prefill(walk_batch const& batch, walk_shape const& shape)
{
  std::size_t const row = static_cast<std::size_t>(batch.length) + 1;
  auto const size = static_cast<std::size_t>(batch.size);
  constexpr std::size_t one = sizeof(vertex_id);
  if (shape.step_major) {
    auto const stride = static_cast<std::size_t>(batch.stride);
    TENDRIL_CUDA_TRY(cudaMemset2DAsync(batch.vertices, stride * one, 0xff, size * one, row, shape.stream));
  } else {
    TENDRIL_CUDA_TRY(cudaMemsetAsync(batch.vertices, 0xff, size * row * one, shape.stream));
  }
}

}  // namespace tendril::gpu
