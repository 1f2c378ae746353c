// A stream for copies beside kernels.

#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "gpu/device/check.hpp"

namespace tendril::gpu {

/// A stream of the current device that waits for no other, the default stream included.
class side_stream {
 public:
  side_stream() { TENDRIL_CUDA_TRY(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  /// One whose kernels begin before those of other streams that wait.
  static side_stream urgent() { return side_stream(most_urgent()); }
  ~side_stream() { (void)cudaStreamDestroy(stream_); }
  side_stream(side_stream const&) = delete;
  side_stream& operator=(side_stream const&) = delete;

  /// Enqueues a copy.
  template <class T>
  void copy(T* to, T const* from, std::int64_t count, cudaMemcpyKind kind) const
  {
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(T), kind, stream_));
  }

  [[nodiscard]] cudaStream_t get() const { return stream_; }

  void wait() const { TENDRIL_CUDA_TRY(cudaStreamSynchronize(stream_)); }

  /// For destructors: waits whatever became of the copies.
  void settle() const noexcept { (void)cudaStreamSynchronize(stream_); }

 private:
  explicit side_stream(int priority)
  {
    TENDRIL_CUDA_TRY(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, priority));
  }
  static int most_urgent()
  {
    int least = 0, most = 0;
    TENDRIL_CUDA_TRY(cudaDeviceGetStreamPriorityRange(&least, &most));
    return most;
  }

  cudaStream_t stream_ = nullptr;
};

}  // namespace tendril::gpu
