// The few bytes that a call of a planned walk needs beside its output: a counter on the device, a status that both
// sides see. Kept from call to call, so that steady work allocates nothing.

#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <cuda_runtime_api.h>

#include "gpu/device/check.hpp"
#include "gpu/walks/job.hpp"

namespace tendril::gpu {

class workspace {
 public:
  /// Memory on the current device. @throws device_error.
  workspace()
  {
    TENDRIL_CUDA_TRY(cudaMalloc(reinterpret_cast<void**>(&next_walk_), sizeof *next_walk_));
    cudaError_t const pinned =
        cudaHostAlloc(reinterpret_cast<void**>(&status_), sizeof *status_, cudaHostAllocMapped | cudaHostAllocPortable);
    if (pinned != cudaSuccess) { (void)cudaFree(next_walk_); }
    TENDRIL_CUDA_TRY(pinned);
  }
  ~workspace()
  {
    (void)cudaFree(next_walk_);
    (void)cudaFreeHost(status_);
  }
  workspace(workspace const&) = delete;
  workspace& operator=(workspace const&) = delete;

  /// Makes it ready for a launch on `stream`.
  void reset(cuda_stream stream)
  {
    status_->bad_start = -1;
    TENDRIL_CUDA_TRY(cudaMemsetAsync(next_walk_, 0, sizeof *next_walk_, stream));
  }

  [[nodiscard]] unsigned long long* next_walk() const { return next_walk_; }
  [[nodiscard]] walk_status* status() const { return status_; }

 private:
  unsigned long long* next_walk_ = nullptr;
  walk_status* status_ = nullptr;
};

/// Lends workspaces of one GPU to calls that may run at the same time. Never destroyed: at exit the driver may be gone.
class workspace_pool {
 public:
  [[nodiscard]] std::unique_ptr<workspace> take()
  {
    {
      std::lock_guard const lock(mutex_);
      if (!free_.empty()) {
        auto taken = std::move(free_.back());
        free_.pop_back();
        return taken;
      }
    }
    return std::make_unique<workspace>();
  }

  /// The pool of a GPU.
  [[nodiscard]] static workspace_pool& of(int device)
  {
    static std::mutex mutex;
    static auto& pools = *new std::map<int, workspace_pool>;
    std::lock_guard const lock(mutex);
    return pools[device];
  }

  /// Only after the stream that used it was synchronised.
  void give_back(std::unique_ptr<workspace> used)
  {
    std::lock_guard const lock(mutex_);
    free_.push_back(std::move(used));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<workspace>> free_;
};

}  // namespace tendril::gpu
