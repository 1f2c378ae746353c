// Every CUDA call is checked here, and turned into one clear line.

#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include <tendril/error.hpp>

namespace tendril::gpu {

/// Throws device_error "expression: CUDA's message (name)", and clears the error so that the next call starts clean.
[[noreturn]] void throw_cuda_error(cudaError_t status, char const* expression);

/// Throws memory_error: how much was needed, how much is free, what to do.
[[noreturn]] void throw_out_of_memory(std::int64_t needed, int device);

/// Makes `device` current as long as the object lives.
class device_guard {
 public:
  /// @throws device_error saying why the GPU can't be used.
  explicit device_guard(int device);
  ~device_guard();
  device_guard(device_guard const&) = delete;
  device_guard& operator=(device_guard const&) = delete;

 private:
  int previous_ = 0;
};

}  // namespace tendril::gpu

/// Checks a call of the CUDA runtime.
#define TENDRIL_CUDA_TRY(...)                                                                              \
  do {                                                                                                     \
    cudaError_t const tendril_status = (__VA_ARGS__);                                                      \
    if (tendril_status != cudaSuccess) { ::tendril::gpu::throw_cuda_error(tendril_status, #__VA_ARGS__); } \
  } while (false)
