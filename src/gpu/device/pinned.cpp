// Page-locked host memory: what copies to and from a GPU need to run at the rate of the bus, beside kernels.

#include <cstddef>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <tendril/gpu.hpp>

#include "gpu/device/check.hpp"

namespace tendril {
namespace {

class pinned_pages final : public memory_resource {
 public:
  void* allocate(std::size_t bytes) override
  {
    void* pointer = nullptr;
    cudaError_t const status = cudaHostAlloc(&pointer, bytes, cudaHostAllocPortable);
    if (status == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError();
      throw memory_error(fmt::format("out of memory: {:.1f} MB of page-locked host memory could not be had",
                                     static_cast<double>(bytes) / 1e6));
    }
    TENDRIL_CUDA_TRY(status);
    return pointer;
  }

  void deallocate(void* pointer, std::size_t) noexcept override
  {
    (void)cudaFreeHost(pointer);  // at exit the driver may be gone already
  }
};

}  // namespace

memory_resource& pinned_memory()
{
  static auto& resource = *new pinned_pages;
  return resource;
}

}  // namespace tendril
