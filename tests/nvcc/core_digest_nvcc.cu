// The digests of core_digest_gpp.cpp under nvcc: by its host pass, and by a kernel, one thread a rule.

#include <stdexcept>

#include "nvcc/core_digests.hpp"

namespace tendril::test {
namespace {

__global__ void digest_kernel(std::uint64_t* out)
{
  int const i = static_cast<int>(blockIdx.x);
  out[i] = core_digest(static_cast<rule>(i));
}

void check(cudaError_t status, char const* what)
{
  if (status != cudaSuccess) { throw std::runtime_error(std::string{what} + ": " + cudaGetErrorString(status)); }
}

}  // namespace

digests digests_by_nvcc_on_host()
{
  digests all{};
  for (int i = 0; i < num_rules; ++i) { all[static_cast<std::size_t>(i)] = core_digest(static_cast<rule>(i)); }
  return all;
}

digests digests_by_nvcc_on_device()
{
  digests all{};
  std::uint64_t* out = nullptr;
  check(cudaMalloc(&out, sizeof all), "cudaMalloc");
  digest_kernel<<<num_rules, 1>>>(out);
  cudaError_t const launched = cudaGetLastError();
  cudaError_t const copied = cudaMemcpy(all.data(), out, sizeof all, cudaMemcpyDeviceToHost);
  check(cudaFree(out), "cudaFree");
  check(launched, "digest_kernel");
  check(copied, "cudaMemcpy");
  return all;
}

std::string why_no_device()
{
  int count = 0;
  cudaError_t const status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) { return cudaGetErrorString(status); }
  return count == 0 ? "no device" : "";
}

}  // namespace tendril::test
