// Launches of small mini-batches, captured once and repeated: 0.6 us a launch instead of 3.

#pragma once

#include <map>
#include <vector>

#include <cuda_runtime_api.h>

#include "gpu/batches/run.hpp"

namespace tendril::gpu {

/// CUDA graphs of one sampler, one for each power of two that numbers of seeds round up to, and size of the table.
class captured_batches {
 public:
  captured_batches() = default;
  ~captured_batches();
  captured_batches(captured_batches const&) = delete;
  captured_batches& operator=(captured_batches const&) = delete;

  /// Enqueues what run.enqueue() does on the stream of `exec`. The run was prepared with rounded numbers.
  /// @param generation  Of the memory that launches name: another one makes what was captured useless.
  void launch(batch_run& run, batch_input const& input, std::uint64_t generation, gpu_exec const& exec);

 private:
  [[nodiscard]] cudaGraphExec_t capture(batch_run& run, gpu_exec const& exec);
  void drop() noexcept;

  std::map<std::vector<std::int64_t>, cudaGraphExec_t>
      graphs_;  // by numbers of seeds, rounded up, and the table's mask
  std::uint64_t generation_ = 0;
  cudaStream_t stream_ = nullptr;  // capturing needs one that is not the default stream
};

}  // namespace tendril::gpu
