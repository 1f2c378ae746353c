// Arrays of which some ranges lie in a GPU's memory and the others in host memory, where its kernels read them over the
// bus: managed memory whose pages are told where to stay. Measured on an H200 (PCIe 5): random reads of 4 to 64 bytes of
// such host ranges reach 0.46 G/s in 2 GB and 0.36 G/s in 16 GB, of page-locked memory 0.06 and 0.04; nothing migrates.

#pragma once

#include <cstdint>
#include <functional>

#include <tendril/gpu.hpp>

namespace tendril::gpu {

/// @throws device_error unless kernels and the host's threads can use managed memory of this GPU at the same time.
void expect_managed_memory(int device);

/// Managed memory, without a place until a range is filled. Never destroyed. Freeing waits for the GPU.
[[nodiscard]] memory_resource& managed_memory(int device);

/// Writes bytes [begin, end) of an array to `to`. Called from several threads at once.
using range_writer = std::function<void(std::int64_t begin, std::int64_t end, void* to)>;

/// Fills bytes [begin, end) of an array in managed memory, which stay on the GPU of `exec`. Synchronises.
void fill_on_gpu(void* array, std::int64_t begin, std::int64_t end, range_writer const& write, gpu_exec const& exec);

/// The same; the bytes stay in host memory, where the GPU of `exec` reads them. The threads that write them are the first
/// that touch them.
void fill_on_host(void* array, std::int64_t begin, std::int64_t end, range_writer const& write, gpu_exec const& exec);

/// Gives the memory that pools of a GPU keep back to it, where managed memory can take it, and tells what is free.
[[nodiscard]] std::int64_t free_for_managed(int device);

}  // namespace tendril::gpu
