#pragma once

#include <cstdint>
#include <functional>

#include <tendril/buffer.hpp>  // memory_resource, host_memory

struct CUstream_st;  // what CUDA's cudaStream_t points to

namespace tendril {

/// A CUDA stream: the same type as cudaStream_t, without CUDA's headers.
using cuda_stream = CUstream_st*;

/// How far a long call has come.
struct progress {
  char const* what;    ///< The stage, for a person: "reading", "building", "walking".
  std::int64_t done;   ///< Units done, in [0, total].
  std::int64_t total;  ///< Units in all; 0 where that is not known.
};

/// Runs work on this machine's cores. Passing it as a call's last argument selects the CPU executor.
struct cpu_exec {
  int num_threads = 0;                       ///< Threads to use; 0 means every core the process may use.
  memory_resource* memory = &host_memory();  ///< Where results and tables are allocated.

  /// Called now and then from the calling thread, never concurrently. What it throws ends the call and comes
  /// out of it, with nothing left behind: the way to cancel.
  std::function<void(progress const&)> on_progress = {};
};

/// Runs work on a GPU, in the order of one stream. Passing it as a call's last argument selects the GPU executor;
/// spans and results of such a call lie in that GPU's memory.
struct gpu_exec {
  /// There is no default: `{}` as an argument means a cpu_exec.
  explicit gpu_exec(int the_device, cuda_stream the_stream = nullptr, memory_resource* the_memory = nullptr)
      : device(the_device), stream(the_stream), memory(the_memory)
  {
  }

  int device;               ///< Ordinal of the GPU, as CUDA counts them.
  cuda_stream stream;       ///< Work is enqueued here; null is CUDA's default stream.
  memory_resource* memory;  ///< Where results and tables are allocated; null: gpu_memory(device, stream).
};

}  // namespace tendril
