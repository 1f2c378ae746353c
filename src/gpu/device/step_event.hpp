// An event between streams that is recorded again and again.

#pragma once

#include <cuda_runtime_api.h>

#include "gpu/device/check.hpp"

namespace tendril::gpu {

/// An event of the current device.
class step_event {
 public:
  step_event() { TENDRIL_CUDA_TRY(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
  ~step_event() { (void)cudaEventDestroy(event_); }
  step_event(step_event const&) = delete;
  step_event& operator=(step_event const&) = delete;

  [[nodiscard]] cudaEvent_t get() const { return event_; }

  /// Whether what was recorded is done. @throws device_error if any of it failed.
  [[nodiscard]] bool is_done() const
  {
    cudaError_t const status = cudaEventQuery(event_);
    if (status == cudaErrorNotReady) { return false; }
    TENDRIL_CUDA_TRY(status);
    return true;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace tendril::gpu
