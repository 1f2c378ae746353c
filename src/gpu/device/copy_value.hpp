// One number from the device to the host.

#pragma once

#include <cuda_runtime_api.h>

#include <tendril/exec.hpp>

#include "gpu/device/check.hpp"

namespace tendril::gpu {

/// *from, which lies in device memory. Waits for the stream.
template <class T>
T value_at(T const* from, gpu_exec const& exec)
{
  T value{};
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(&value, from, sizeof value, cudaMemcpyDefault, exec.stream));
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  return value;
}

}  // namespace tendril::gpu
