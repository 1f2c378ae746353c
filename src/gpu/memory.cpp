// Stream-ordered device memory. One resource a device and stream; blocks come from CUDA's pool of the device, which is
// told to keep what is freed: an allocation in steady state costs no call into the system.

#include <tendril/gpu.hpp>

#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "gpu/check.hpp"

namespace tendril {
namespace {

cudaMemPool_t pool_of(int device)
{
  cudaMemPool_t pool{};
  TENDRIL_CUDA_TRY(cudaDeviceGetDefaultMemPool(&pool, device));
  return pool;
}

class stream_memory final : public memory_resource {
 public:
  stream_memory(int device, cuda_stream stream) : device_(device), stream_(stream) {}

  void* allocate(std::size_t bytes) override
  {
    gpu::device_guard const guard(device_);
    void* pointer = nullptr;
    cudaError_t status = cudaMallocAsync(&pointer, bytes, stream_);
    if (status == cudaErrorMemoryAllocation) {
      // What the pool keeps may be in pieces: give it back and try once more.
      (void)cudaGetLastError();
      TENDRIL_CUDA_TRY(cudaStreamSynchronize(stream_));
      TENDRIL_CUDA_TRY(cudaMemPoolTrimTo(pool_of(device_), 0));
      status = cudaMallocAsync(&pointer, bytes, stream_);
    }
    if (status == cudaErrorMemoryAllocation) { gpu::throw_out_of_memory(static_cast<std::int64_t>(bytes), device_); }
    TENDRIL_CUDA_TRY(status);
    return pointer;
  }

  void deallocate(void* pointer, std::size_t) noexcept override
  {
    // A destructor can't do anything about a failure: at exit, for one, the driver may be gone already.
    (void)cudaFreeAsync(pointer, stream_);
  }

 private:
  int device_;
  cuda_stream stream_;
};

void keep_freed_memory(int device)
{
  std::uint64_t threshold = std::numeric_limits<std::uint64_t>::max();
  TENDRIL_CUDA_TRY(cudaMemPoolSetAttribute(pool_of(device), cudaMemPoolAttrReleaseThreshold, &threshold));
}

}  // namespace

memory_resource& gpu_memory(int device, cuda_stream stream)
{
  static std::mutex mutex;
  static auto& resources = *new std::map<std::pair<int, cuda_stream>, std::unique_ptr<stream_memory>>;
  std::lock_guard const lock(mutex);
  auto& resource = resources[{device, stream}];
  if (!resource) {
    gpu::device_guard const guard(device);
    keep_freed_memory(device);
    resource = std::make_unique<stream_memory>(device, stream);
  }
  return *resource;
}

memory_resource& memory_of(gpu_exec const& exec)
{
  return exec.memory != nullptr ? *exec.memory : gpu_memory(exec.device, exec.stream);
}

std::int64_t free_gpu_bytes(int device)
{
  gpu::device_guard const guard(device);
  std::size_t free = 0;
  std::size_t total = 0;
  TENDRIL_CUDA_TRY(cudaMemGetInfo(&free, &total));
  std::uint64_t reserved = 0;
  std::uint64_t used = 0;
  TENDRIL_CUDA_TRY(cudaMemPoolGetAttribute(pool_of(device), cudaMemPoolAttrReservedMemCurrent, &reserved));
  TENDRIL_CUDA_TRY(cudaMemPoolGetAttribute(pool_of(device), cudaMemPoolAttrUsedMemCurrent, &used));
  return static_cast<std::int64_t>(free + (reserved - used));
}

}  // namespace tendril
