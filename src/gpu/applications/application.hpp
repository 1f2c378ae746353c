// Kernels of sampling applications that don't depend on the application, and where a thread or a block does a sample.

#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include <tendril/engine/applications/launch.hpp>

namespace tendril::gpu {

/// Launches a kernel of the application with its setup. `arguments` point to those that follow the setup.
/// @throws device_error.
void launch_kernel(void const* kernel, unsigned blocks, unsigned threads, std::size_t shared_bytes, void const* app,
                   engine::application_run const& run, std::initializer_list<void const*> arguments);

/// Blocks of a kernel that the device holds at once. @throws device_error.
[[nodiscard]] std::int64_t most_blocks(void const* kernel, int threads, std::size_t shared_bytes, gpu_exec const& exec);

/// Marks a root that is no vertex in *problem, if there is one. [num_samples * num_roots] roots.
void enqueue_root_check(std::span<vertex_id const> roots, std::int64_t num_roots, std::int64_t num_vertices,
                        std::uint64_t* problem, gpu_exec const& exec);

/// offsets[k] = the sum of counts[0 .. k), k up to `size`; the edges before slot k.
/// @param counts  [size], device memory, as offsets [size + 1].
void enqueue_edge_offsets(std::uint32_t const* counts, std::int64_t size, std::int64_t* offsets, gpu_exec const& exec);

/// out[s] = offsets[s * stride], s up to and with num_samples.
void enqueue_pick_offsets(std::int64_t const* offsets, std::int64_t stride, std::int64_t num_samples, std::int64_t* out,
                          gpu_exec const& exec);

}  // namespace tendril::gpu
