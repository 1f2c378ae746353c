#include "gpu/placed/managed.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <tendril/gpu_array.hpp>  // gpu_event

#include "base/parallel.hpp"  // parallel_ranges
#include "gpu/device/check.hpp"
#include "gpu/device/pinned.hpp"

namespace tendril::gpu {
namespace {

constexpr std::int64_t page = 4096;  // a range begins and ends with one
constexpr std::int64_t large_page = std::int64_t{1} << 21U;
constexpr std::int64_t bytes_a_range = std::int64_t{1} << 20U;  // of a thread
constexpr std::int64_t staging_bytes = std::int64_t{1} << 24U;  // of each of two buffers

class managed_pages final : public memory_resource {
 public:
  explicit managed_pages(int device) : device_(device) {}

  void* allocate(std::size_t bytes) override
  {
    device_guard const guard(device_);
    // Whole large pages: no page is part of two arrays.
    auto const unit = static_cast<std::size_t>(large_page);
    void* pointer = nullptr;
    cudaError_t const status = cudaMallocManaged(&pointer, (bytes + unit - 1) / unit * unit, cudaMemAttachGlobal);
    if (status == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError();
      throw memory_error(
          fmt::format("out of memory: {:.1f} MB of managed memory could not be had", static_cast<double>(bytes) / 1e6));
    }
    TENDRIL_CUDA_TRY(status);
    return pointer;
  }

  void deallocate(void* pointer, std::size_t) noexcept override
  {
    (void)cudaFree(pointer);  // at exit the driver may be gone already
  }

 private:
  int device_;
};

#if CUDART_VERSION >= 13000
using location = cudaMemLocation;

location gpu_location(int device)
{
  location out{};
  out.type = cudaMemLocationTypeDevice;
  out.id = device;
  return out;
}

location host_location()
{
  location out{};
  out.type = cudaMemLocationTypeHost;
  return out;
}

cudaError_t prefetch(void const* at, std::size_t bytes, location where, cudaStream_t stream)
{
  return cudaMemPrefetchAsync(at, bytes, where, 0, stream);
}
#else
using location = int;

location gpu_location(int device) { return device; }
location host_location() { return cudaCpuDeviceId; }

cudaError_t prefetch(void const* at, std::size_t bytes, location where, cudaStream_t stream)
{
  return cudaMemPrefetchAsync(at, bytes, where, stream);
}
#endif

/// Pages of an array: those in which [begin, end) begins, to the one before that in which the next range begins.
struct pages {
  char* first;
  std::size_t bytes;

  static pages of(void* array, std::int64_t begin, std::int64_t end)
  {
    std::int64_t const from = begin / page * page;
    std::int64_t const to = (end + page - 1) / page * page;
    return {static_cast<char*>(array) + from, static_cast<std::size_t>(to - from)};
  }
};

}  // namespace

void expect_managed_memory(int device)
{
  device_guard const guard(device);
  int concurrent = 0;
  TENDRIL_CUDA_TRY(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, device));
  if (concurrent == 0) {
    throw device_error(
        fmt::format("GPU {}: it and its driver have no concurrent access to managed memory, expected it for a placed "
                    "graph",
                    device));
  }
}

memory_resource& managed_memory(int device)
{
  static std::mutex mutex;
  static auto& resources = *new std::map<int, std::unique_ptr<managed_pages>>;
  std::lock_guard const lock(mutex);
  auto& resource = resources[device];
  if (!resource) { resource = std::make_unique<managed_pages>(device); }
  return *resource;
}

void fill_on_gpu(void* array, std::int64_t begin, std::int64_t end, range_writer const& write, gpu_exec const& exec)
{
  if (begin >= end) { return; }
  device_guard const guard(exec.device);
  auto const [first, bytes] = pages::of(array, begin, end);
  TENDRIL_CUDA_TRY(cudaMemAdvise(first, bytes, cudaMemAdviseSetPreferredLocation, gpu_location(exec.device)));
  cudaError_t const moved = prefetch(first, bytes, gpu_location(exec.device), exec.stream);
  if (moved == cudaErrorMemoryAllocation) { throw_out_of_memory(static_cast<std::int64_t>(bytes), exec.device); }
  TENDRIL_CUDA_TRY(moved);
  std::int64_t const size = std::min(staging_bytes, end - begin);
  std::array<buffer<char>, 2> const staging{buffer<char>(size, kept_pinned_memory()),
                                            buffer<char>(size, kept_pinned_memory())};
  std::array<std::optional<gpu_event>, 2> copied;
  try {
    for (std::int64_t at = begin, turn = 0; at < end; at += size, turn ^= 1) {
      auto const slot = static_cast<std::size_t>(turn);
      std::int64_t const count = std::min(size, end - at);
      auto* const to = const_cast<char*>(staging[slot].data());
      if (copied[slot]) { copied[slot]->synchronize(); }
      base::parallel_ranges(cpu_exec{}, count, bytes_a_range,
                            [&](std::int64_t from, std::int64_t until) { write(at + from, at + until, to + from); });
      TENDRIL_CUDA_TRY(cudaMemcpyAsync(static_cast<char*>(array) + at, to, static_cast<std::size_t>(count),
                                       cudaMemcpyHostToDevice, exec.stream));
      copied[slot].emplace(exec);
    }
  } catch (...) {
    (void)cudaStreamSynchronize(exec.stream);  // copies may still read what is freed now
    throw;
  }
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
}

void fill_on_host(void* array, std::int64_t begin, std::int64_t end, range_writer const& write, gpu_exec const& exec)
{
  if (begin >= end) { return; }
  device_guard const guard(exec.device);
  // The page in which the range begins may belong to the range before, which lies on the GPU: what is written there is
  // copied.
  std::int64_t const whole = std::min((begin + page - 1) / page * page, end);
  if (begin % page != 0) { fill_on_gpu(array, begin, whole, write, exec); }
  if (whole == end) { return; }
  auto const [first, bytes] = pages::of(array, whole, end);
  TENDRIL_CUDA_TRY(cudaMemAdvise(first, bytes, cudaMemAdviseSetPreferredLocation, host_location()));
  TENDRIL_CUDA_TRY(cudaMemAdvise(first, bytes, cudaMemAdviseSetAccessedBy, gpu_location(exec.device)));
  auto* const to = static_cast<char*>(array) + whole;
  base::parallel_ranges(cpu_exec{}, end - whole, bytes_a_range,
                        [&](std::int64_t from, std::int64_t until) { write(whole + from, whole + until, to + from); });
}

std::int64_t free_for_managed(int device)
{
  device_guard const guard(device);
  TENDRIL_CUDA_TRY(cudaDeviceSynchronize());  // what was freed in the order of streams is free then
  cudaMemPool_t pool{};
  TENDRIL_CUDA_TRY(cudaDeviceGetDefaultMemPool(&pool, device));
  TENDRIL_CUDA_TRY(cudaMemPoolTrimTo(pool, 0));
  std::size_t free = 0, total = 0;
  TENDRIL_CUDA_TRY(cudaMemGetInfo(&free, &total));
  return static_cast<std::int64_t>(free);
}

}  // namespace tendril::gpu
