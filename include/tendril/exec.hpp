#pragma once

#include <cstdint>
#include <functional>

#include <tendril/buffer.hpp>  // memory_resource, host_memory
#include <tendril/gpu_set.hpp>

struct CUstream_st;  // what CUDA's cudaStream_t points to

namespace tendril {

/// A CUDA stream: the same type as cudaStream_t, without CUDA's headers.
using cuda_stream = CUstream_st*;

/// The progress of a long call.
struct progress {
  char const* what;    ///< The stage, for a human reader: "reading", "building", "walking".
  std::int64_t done;   ///< Units done, in [0, total].
  std::int64_t total;  ///< Total units; 0 if unknown.
};

/// Runs work on this machine's cores. A cpu_exec as the last argument of a call selects the CPU executor.
struct cpu_exec {
  int num_threads = 0;                       ///< Number of threads; 0: every core the process may use.
  memory_resource* memory = &host_memory();  ///< Results and tables are allocated here.

  /// Called occasionally from the calling thread, never concurrently. An exception from this function cancels the call
  /// and propagates to the caller; the call leaves nothing behind.
  std::function<void(progress const&)> on_progress = {};

  /// Called often, by every thread that works for the call, several at a time: at least between any two pieces of a
  /// parallel loop. An exception from this function cancels the call like one from on_progress.
  std::function<void()> check_cancel = {};
};

/// Whether this process was made by fork, without exec since. Calls in such a process use one thread, whatever cpu_exec asks
/// for: forked workers are mostly as many as there are cores. Results never depend on that.
[[nodiscard]] bool forked() noexcept;

/// Runs work on a GPU, in the order of one stream. A gpu_exec as the last argument of a call selects the GPU executor;
/// the spans and results of such a call are in that GPU's memory.
struct gpu_exec {
  /// There is no default constructor: `{}` as an argument means a cpu_exec.
  explicit gpu_exec(int the_device, cuda_stream the_stream = nullptr, memory_resource* the_memory = nullptr)
      : device(the_device), stream(the_stream), memory(the_memory)
  {
  }

  /// The same by a set of GPUs, which must be one GPU: no call uses several.
  /// @throws argument_error for another number of GPUs.
  explicit gpu_exec(gpu_set const& devices, cuda_stream the_stream = nullptr, memory_resource* the_memory = nullptr);

  int device;               ///< Ordinal of the GPU, as CUDA counts them.
  cuda_stream stream;       ///< Work is enqueued here; null is CUDA's default stream.
  memory_resource* memory;  ///< Results and tables are allocated here; null: gpu_memory(device, stream).
};

}  // namespace tendril
