// Whether this build has code for a GPU.

#pragma once

#include <string>

#include <cuda_runtime.h>

#include <tendril/gpu.hpp>

namespace tendril::gpu {

/// The oldest GPUs that Tendril supports: warp-wide reductions of integers came with them.
inline constexpr int least_major = 8;

/// Loads an empty kernel on the current device: fails if this build has no code that the GPU, with its driver, can run.
[[nodiscard]] cudaError_t load_probe();

/// Why a GPU cannot run this build's kernels, as one line; empty if it can. `loaded` is load_probe()'s result.
[[nodiscard]] std::string missing_code(gpu_info const& info, cudaError_t loaded);

}  // namespace tendril::gpu
