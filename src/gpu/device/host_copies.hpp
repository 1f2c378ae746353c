// Arrays between GPU and host, for what is not on the way of steady work: error messages, METIS.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <cuda_runtime_api.h>

#include <tendril/gpu.hpp>  // memory_of

#include "gpu/device/check.hpp"

namespace tendril::gpu {

/// `size` elements from the device. Waits for them.
template <class T>
std::vector<T> host_copy(T const* from, std::int64_t size)
{
  std::vector<T> out(static_cast<std::size_t>(size));
  TENDRIL_CUDA_TRY(cudaMemcpy(out.data(), from, out.size() * sizeof(T), cudaMemcpyDeviceToHost));
  return out;
}

/// A copy on the device of elements that are there already. Enqueues.
template <class T>
buffer<T> device_copy(std::span<T const> from, gpu_exec const& exec)
{
  buffer<T> out(static_cast<std::int64_t>(from.size()), memory_of(exec));
  TENDRIL_CUDA_TRY(
      cudaMemcpyAsync(out.data(), from.data(), from.size() * sizeof(T), cudaMemcpyDeviceToDevice, exec.stream));
  return out;
}

}  // namespace tendril::gpu
