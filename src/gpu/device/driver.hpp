// Functions of the GPU's driver, which this library is not linked with.

#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <tendril/error.hpp>

#include "gpu/device/check.hpp"

namespace tendril::gpu {

/// Finds a function by its name, as CUDA 12 declares it. @throws device_error if the driver has none.
template <class F>
void load_driver_function(char const* name, F& function)
{
  constexpr unsigned version = 12000;
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  TENDRIL_CUDA_TRY(cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result));
  if (found == nullptr) { throw device_error(fmt::format("the GPU's driver has no {}, expected a newer one", name)); }
  function = reinterpret_cast<F>(found);
}

/// @throws device_error
inline void check_driver(CUresult status, char const* what)
{
  if (status != CUDA_SUCCESS) {
    throw device_error(fmt::format("CUDA: error {} from {}", static_cast<int>(status), what));
  }
}

}  // namespace tendril::gpu
