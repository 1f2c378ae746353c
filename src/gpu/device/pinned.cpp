// Page-locked host memory: what copies to and from a GPU need to run at the rate of the bus, beside kernels.

#include "gpu/device/pinned.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <mutex>

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

/// Blocks of powers of two bytes, a few of each size of which wait for their next use.
class kept_pages final : public memory_resource {
 public:
  void* allocate(std::size_t bytes) override
  {
    std::size_t const index = index_of(bytes);
    if (index >= sizes_.size()) { return pinned_memory().allocate(bytes); }
    {
      std::lock_guard const lock(mutex_);
      auto& kept = sizes_[index];
      if (kept.count > 0) { return kept.blocks[--kept.count]; }
    }
    return pinned_memory().allocate(least_bytes << index);
  }

  void deallocate(void* pointer, std::size_t bytes) noexcept override
  {
    std::size_t const index = index_of(bytes);
    if (index < sizes_.size()) {
      std::lock_guard const lock(mutex_);
      auto& kept = sizes_[index];
      if (kept.count < kept.blocks.size()) {
        kept.blocks[kept.count++] = pointer;
        return;
      }
    }
    pinned_memory().deallocate(pointer, bytes);
  }

 private:
  static constexpr std::size_t least_bytes = 4096;

  struct blocks_of_a_size {
    std::array<void*, 8> blocks;
    std::size_t count = 0;
  };

  static std::size_t index_of(std::size_t bytes)
  {
    return static_cast<std::size_t>(std::bit_width((bytes == 0 ? 0 : bytes - 1) / least_bytes));
  }

  std::mutex mutex_;
  std::array<blocks_of_a_size, 9> sizes_{};  // up to 1 MB
};

}  // namespace

memory_resource& gpu::kept_pinned_memory()
{
  static auto& resource = *new kept_pages;
  return resource;
}

memory_resource& pinned_memory()
{
  static auto& resource = *new pinned_pages;
  return resource;
}

}  // namespace tendril
