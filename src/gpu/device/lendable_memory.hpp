#pragma once

#include <tendril/buffer.hpp>

namespace tendril::gpu {

/// Memory that other processes of the machine can read: of cudaMalloc, not of CUDA's pool. Freeing waits for the GPU. Never
/// destroyed.
[[nodiscard]] memory_resource& lendable_memory(int device);

}  // namespace tendril::gpu
