#pragma once

#include <tendril/several_gpus.hpp>

namespace tendril::gpu {

/// Memory of one GPU that others read and write, too. Freeing waits for all of them. Never destroyed.
/// @param devices  The GPUs that reach it, `device` among them. @throws as spread_gpu_memory.
[[nodiscard]] memory_resource& peer_memory(int device, gpu_set const& devices);

}  // namespace tendril::gpu
