#pragma once

#include <cstdint>
#include <string>

#include <tendril/exec.hpp>   // gpu_exec
#include <tendril/graph.hpp>  // graph

namespace tendril {

/// Properties of a GPU.
struct gpu_info {
  std::string name;          ///< "NVIDIA H200"
  int device = 0;            ///< Ordinal, as CUDA counts them.
  int major = 0, minor = 0;  ///< Compute capability.
  int num_multiprocessors = 0;
  std::int64_t l2_bytes = 0;     ///< Size of the second-level cache.
  std::int64_t total_bytes = 0;  ///< Size of the GPU's memory.
};

/// The number of usable GPUs: 0 without a driver, and in a build without CUDA. Doesn't throw.
[[nodiscard]] int num_gpus() noexcept;

/// @throws device_error naming the reason the GPU can't be used: built without CUDA, no driver, a driver too old, no
///         such GPU.
[[nodiscard]] gpu_info describe_gpu(int device = 0);

/// Memory of one GPU, allocated and freed in the order of `stream` from a pool. The pool keeps freed memory, so
/// steady-state work requests nothing from the system. Never destroyed. A buffer in this memory must not outlive its
/// stream.
/// @throws device_error as describe_gpu; its allocate() throws memory_error that states the bytes needed and free.
[[nodiscard]] memory_resource& gpu_memory(int device = 0, cuda_stream stream = nullptr);

/// The memory resource of `exec`: its own, or gpu_memory.
[[nodiscard]] memory_resource& memory_of(gpu_exec const& exec);

/// Page-locked host memory. GPUs copy to and from it at the rate of the bus, concurrently with other work. Allocation
/// is slow (about 3 GB/s): allocate once and keep it. Never destroyed.
/// @throws its allocate(): memory_error; device_error.
[[nodiscard]] memory_resource& pinned_memory();

/// The number of bytes that can still be allocated on a GPU: free bytes, and unused bytes that pools keep.
/// @throws device_error.
[[nodiscard]] std::int64_t free_gpu_bytes(int device = 0);

/// Waits for all work enqueued on the stream of `exec`. @throws device_error if any of that work failed.
void synchronize(gpu_exec const& exec);

/// Copies a graph to the memory of a GPU: every array, synchronously. A graph already on that GPU is returned as it is.
/// @throws device_error; memory_error; argument_error for a graph on another GPU.
[[nodiscard]] graph to_gpu(graph const& input, gpu_exec const& exec = gpu_exec(0));

/// Copies a graph to host memory; a graph already there is returned as it is. Synchronises.
/// @throws device_error; memory_error.
[[nodiscard]] graph to_host(graph const& input, gpu_exec const& exec = gpu_exec(0));

}  // namespace tendril
