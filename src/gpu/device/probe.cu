// An empty kernel, compiled for the same GPUs as all others. It has no CPU twin.

#include "gpu/device/probe.hpp"

namespace tendril::gpu {
namespace {

__global__ void probe_kernel() {}

}  // namespace

cudaError_t load_probe()
{
  cudaFuncAttributes attributes{};
  cudaError_t const status = cudaFuncGetAttributes(&attributes, probe_kernel);
  if (status != cudaSuccess) { (void)cudaGetLastError(); }
  return status;
}

}  // namespace tendril::gpu
