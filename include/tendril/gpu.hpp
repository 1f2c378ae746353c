#pragma once

#include <cstdint>
#include <string>

#include <tendril/exec.hpp>   // gpu_exec
#include <tendril/graph.hpp>  // graph

namespace tendril {

/// What is known of a GPU.
struct gpu_info {
  std::string name;          ///< "NVIDIA H200"
  int device = 0;            ///< Ordinal, as CUDA counts them.
  int major = 0, minor = 0;  ///< Compute capability.
  int num_multiprocessors = 0;
  std::int64_t l2_bytes = 0;     ///< Size of the second-level cache.
  std::int64_t total_bytes = 0;  ///< Memory.
};

/// How many GPUs can be used: 0 without a driver, and in a build without CUDA. Doesn't throw.
[[nodiscard]] int num_gpus() noexcept;

/// @throws device_error saying why the GPU can't be used: built without CUDA, no driver, a driver too old, no such GPU.
[[nodiscard]] gpu_info describe_gpu(int device = 0);

/// Memory of one GPU, allocated and freed in the order of `stream` from a pool that keeps what was freed, so that
/// steady work asks the system for nothing. Never destroyed. A buffer of it must not outlive its stream.
/// @throws device_error as describe_gpu; its allocate() throws memory_error that says what was needed and free.
[[nodiscard]] memory_resource& gpu_memory(int device = 0, cuda_stream stream = nullptr);

/// The memory that `exec` allocates from.
[[nodiscard]] memory_resource& memory_of(gpu_exec const& exec);

/// Page-locked memory of the host, which GPUs copy to and from at the rate of the bus, while they work on other things.
/// Slow to get (about 3 GB/s): made to be kept. Never destroyed.
/// @throws its allocate(): memory_error; device_error.
[[nodiscard]] memory_resource& pinned_memory();

/// Bytes that could still be allocated on a GPU: free ones, and those that pools keep but nobody uses.
/// @throws device_error.
[[nodiscard]] std::int64_t free_gpu_bytes(int device = 0);

/// Waits for everything enqueued on the stream of `exec`. @throws device_error if any of it failed.
void synchronize(gpu_exec const& exec);

/// The same graph in the memory of a GPU. Copies every array, and synchronises. A graph that is there comes back as it
/// is; one on another GPU is refused.
/// @throws device_error; memory_error; argument_error for a graph on another GPU.
[[nodiscard]] graph to_gpu(graph const& input, gpu_exec const& exec = gpu_exec(0));

/// The same graph in host memory; a graph that is there comes back as it is. Synchronises.
/// @throws device_error; memory_error.
[[nodiscard]] graph to_host(graph const& input, gpu_exec const& exec = gpu_exec(0));

}  // namespace tendril
