// Stream-ordered device memory. One resource a device and stream; blocks come from CUDA's pool of the device, which is
// told to keep what is freed: an allocation in steady state costs no call into the system.
//
// Blocks that others may still read (lasting_gpu_memory) are freed in two steps, since no caller says on which streams they
// were read and those streams may be gone: they are retired first, and go back to the pool after the device was idle.

#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/gpu_features.hpp>  // lendable_gpu_memory

#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "gpu/device/check.hpp"

namespace tendril {
namespace {

cudaMemPool_t pool_of(int device)
{
  cudaMemPool_t pool{};
  TENDRIL_CUDA_TRY(cudaDeviceGetDefaultMemPool(&pool, device));
  return pool;
}

/// What was given back on one device while some stream may still read it.
class retired_blocks {
 public:
  void add(void* pointer, std::size_t bytes) noexcept
  {
    std::lock_guard const lock(mutex_);
    try {
      blocks_.push_back(pointer);
      bytes_ += bytes;
    } catch (std::bad_alloc const&) {
      // No room for one more pointer: this block stays allocated, which is better than freed too early.
    }
  }

  [[nodiscard]] std::int64_t bytes() const noexcept
  {
    std::lock_guard const lock(mutex_);
    return static_cast<std::int64_t>(bytes_);
  }

  [[nodiscard]] bool are_many(std::size_t device_bytes) const noexcept
  {
    std::lock_guard const lock(mutex_);
    return bytes_ > device_bytes / 16 || blocks_.size() > 4096;
  }

  /// Waits for the device, which is current, and frees them. Not under the lock: who adds doesn't wait for a GPU.
  void free_all()
  {
    std::vector<void*> blocks;
    {
      std::lock_guard const lock(mutex_);
      blocks.swap(blocks_);
      bytes_ = 0;
    }
    cudaError_t const idle = cudaDeviceSynchronize();
    for (void* const block : blocks) { (void)cudaFreeAsync(block, nullptr); }
    TENDRIL_CUDA_TRY(idle);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<void*> blocks_;
  std::size_t bytes_ = 0;
};

retired_blocks& retired_on(int device)
{
  static std::mutex mutex;
  static auto& all = *new std::map<int, retired_blocks>;
  std::lock_guard const lock(mutex);
  return all[device];
}

/// What `allocate` finds. Where the memory is full, what the pool keeps may be in pieces: it is given back for a second try.
template <class Allocate>
void* allocated_on(int device, std::size_t bytes, Allocate allocate)
{
  gpu::device_guard const guard(device);
  void* pointer = nullptr;
  cudaError_t status = allocate(&pointer);
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    retired_on(device).free_all();
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(nullptr));  // where they were freed
    TENDRIL_CUDA_TRY(cudaMemPoolTrimTo(pool_of(device), 0));
    status = allocate(&pointer);
  }
  if (status == cudaErrorMemoryAllocation) { gpu::throw_out_of_memory(static_cast<std::int64_t>(bytes), device); }
  TENDRIL_CUDA_TRY(status);
  return pointer;
}

class stream_memory final : public memory_resource {
 public:
  stream_memory(int device, cuda_stream stream) : device_(device), stream_(stream) {}

  void* allocate(std::size_t bytes) override
  {
    return allocated_on(device_, bytes, [&](void** pointer) { return cudaMallocAsync(pointer, bytes, stream_); });
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

class lent_memory final : public memory_resource {
 public:
  explicit lent_memory(int device) : device_(device) {}

  void* allocate(std::size_t bytes) override
  {
    return allocated_on(device_, bytes, [&](void** pointer) { return cudaMalloc(pointer, bytes); });
  }

  void deallocate(void* pointer, std::size_t) noexcept override { (void)cudaFree(pointer); }

 private:
  int device_;
};

class lasting_memory final : public memory_resource {
 public:
  lasting_memory(int device, memory_resource& from) : from_(from), retired_(retired_on(device)), device_(device)
  {
    std::size_t free = 0;
    TENDRIL_CUDA_TRY(cudaMemGetInfo(&free, &device_bytes_));
  }

  void* allocate(std::size_t bytes) override
  {
    if (retired_.are_many(device_bytes_)) {
      gpu::device_guard const guard(device_);
      retired_.free_all();
    }
    return from_.allocate(bytes);
  }

  void deallocate(void* pointer, std::size_t bytes) noexcept override { retired_.add(pointer, bytes); }

 private:
  memory_resource& from_;
  retired_blocks& retired_;
  int device_;
  std::size_t device_bytes_ = 0;
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

memory_resource& lendable_gpu_memory(int device)
{
  static std::mutex mutex;
  static auto& resources = *new std::map<int, std::unique_ptr<lent_memory>>;
  std::lock_guard const lock(mutex);
  auto& resource = resources[device];
  if (!resource) { resource = std::make_unique<lent_memory>(device); }
  return *resource;
}

memory_resource& lasting_gpu_memory(int device, cuda_stream stream)
{
  static std::mutex mutex;
  static auto& resources = *new std::map<std::pair<int, cuda_stream>, std::unique_ptr<lasting_memory>>;
  std::lock_guard const lock(mutex);
  auto& resource = resources[{device, stream}];
  if (!resource) {
    gpu::device_guard const guard(device);
    resource = std::make_unique<lasting_memory>(device, gpu_memory(device, stream));
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
  return static_cast<std::int64_t>(free + (reserved - used)) + retired_on(device).bytes();
}

}  // namespace tendril
