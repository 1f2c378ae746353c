// Memory that several GPUs reach, at addresses that follow each other: each GPU reads all of it with the kernels that it has,
// what lies on others over NVLink. Built on CUDA's virtual memory management, whose functions the driver has.

#include "gpu/device/spread_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <tendril/error.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "gpu/device/check.hpp"
#include "gpu/device/driver.hpp"

namespace tendril {
namespace {

constexpr std::size_t most_stripes = 4096;  // of an array, about: each costs a call of the driver

struct driver {
  decltype(&cuMemAddressReserve) reserve = nullptr;
  decltype(&cuMemAddressFree) free = nullptr;
  decltype(&cuMemCreate) create = nullptr;
  decltype(&cuMemRelease) release = nullptr;
  decltype(&cuMemMap) map = nullptr;
  decltype(&cuMemUnmap) unmap = nullptr;
  decltype(&cuMemSetAccess) set_access = nullptr;
  decltype(&cuMemGetAllocationGranularity) granularity = nullptr;

  driver()
  {
    gpu::load_driver_function("cuMemAddressReserve", reserve);
    gpu::load_driver_function("cuMemAddressFree", free);
    gpu::load_driver_function("cuMemCreate", create);
    gpu::load_driver_function("cuMemRelease", release);
    gpu::load_driver_function("cuMemMap", map);
    gpu::load_driver_function("cuMemUnmap", unmap);
    gpu::load_driver_function("cuMemSetAccess", set_access);
    gpu::load_driver_function("cuMemGetAllocationGranularity", granularity);
  }
};

std::size_t rounded_up(std::size_t bytes, std::size_t unit) { return bytes + (unit - bytes % unit) % unit; }

CUmemAllocationProp properties_on(int device)
{
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  return properties;
}

class spread_memory final : public memory_resource {
 public:
  /// @param homes  Where it lies. @param devices  Which GPUs reach it, these among them.
  spread_memory(gpu_set const& homes, gpu_set const& devices, spread_layout layout)
      : homes_(homes), devices_(devices), layout_(layout)
  {
    TENDRIL_EXPECTS(!devices.empty(), "memory of several GPUs: no GPU, expected one or more");
    for (int const device : devices) {
      gpu::device_guard const guard(device);  // makes its context, too
      for (int const other : devices) {
        int can = 1;
        if (other != device) { TENDRIL_CUDA_TRY(cudaDeviceCanAccessPeer(&can, device, other)); }
        if (can == 0) {
          throw device_error(
              fmt::format("GPU {} can't read the memory of GPU {}, expected GPUs that are linked", device, other));
        }
      }
      CUmemAllocationProp const properties = properties_on(device);
      std::size_t least = 0;
      gpu::check_driver(driver_.granularity(&least, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
                        "cuMemGetAllocationGranularity");
      page_ = std::max(page_, least);
    }
  }

  void* allocate(std::size_t bytes) override
  {
    auto const num_homes = static_cast<std::size_t>(homes_.size());
    std::size_t const parts = layout_ == spread_layout::ranges ? num_homes : most_stripes;
    std::size_t const stripe = rounded_up(std::max<std::size_t>((bytes + parts - 1) / parts, 1), page_);
    std::size_t const size = rounded_up(std::max<std::size_t>(bytes, 1), page_);
    CUdeviceptr address = 0;
    gpu::check_driver(driver_.reserve(&address, size, 0, 0, 0), "cuMemAddressReserve");
    std::size_t mapped = 0;
    try {
      for (int next = 0; mapped < size; next = (next + 1) % homes_.size()) {
        std::size_t const part = std::min(stripe, size - mapped);
        map_part(address + mapped, part, homes_[next], bytes);
        mapped += part;
      }
      let_all_in(address, size);
    } catch (...) {
      release(address, mapped, size);
      throw;
    }
    std::lock_guard const lock(mutex_);
    sizes_[address] = size;
    return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr): so the driver tells it
  }

  void deallocate(void* pointer, std::size_t) noexcept override
  {
    auto const address = reinterpret_cast<CUdeviceptr>(pointer);
    std::size_t size = 0;
    {
      std::lock_guard const lock(mutex_);
      size = sizes_.extract(address).mapped();
    }
    // What was enqueued may still read it. At exit the driver may be gone already.
    int current = 0;
    if (cudaGetDevice(&current) != cudaSuccess) { return; }
    for (int const device : devices_) {
      if (cudaSetDevice(device) == cudaSuccess) { (void)cudaDeviceSynchronize(); }
    }
    (void)cudaSetDevice(current);
    release(address, size, size);
  }

 private:
  void map_part(CUdeviceptr at, std::size_t size, int device, std::size_t needed)
  {
    CUmemAllocationProp const properties = properties_on(device);
    CUmemGenericAllocationHandle memory = 0;
    CUresult const made = driver_.create(&memory, size, &properties, 0);
    if (made == CUDA_ERROR_OUT_OF_MEMORY) {
      throw memory_error(fmt::format("{}: out of memory: {:.1f} MB needed{}", to_string(homes_),
                                     static_cast<double>(needed) / 1e6,
                                     homes_.size() > 1 ? ", in equal parts on each" : ""));
    }
    gpu::check_driver(made, "cuMemCreate");
    CUresult const mapped = driver_.map(at, size, 0, memory, 0);
    (void)driver_.release(memory);  // the mapping keeps it
    gpu::check_driver(mapped, "cuMemMap");
  }

  void let_all_in(CUdeviceptr address, std::size_t size) const
  {
    std::vector<CUmemAccessDesc> access;
    for (int const device : devices_) {
      access.push_back({{CU_MEM_LOCATION_TYPE_DEVICE, device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
    }
    gpu::check_driver(driver_.set_access(address, size, access.data(), access.size()), "cuMemSetAccess");
  }

  void release(CUdeviceptr address, std::size_t mapped, std::size_t size) const noexcept
  {
    if (mapped > 0) { (void)driver_.unmap(address, mapped); }
    (void)driver_.free(address, size);
  }

  gpu_set homes_, devices_;
  spread_layout layout_;
  driver driver_;
  std::size_t page_ = 0;
  std::mutex mutex_;
  std::map<CUdeviceptr, std::size_t> sizes_;
};

/// The one memory of this kind.
memory_resource& known_memory(gpu_set const& homes, gpu_set const& devices, spread_layout layout)
{
  using key = std::tuple<std::vector<int>, std::vector<int>, spread_layout>;
  static std::mutex mutex;
  static auto& known = *new std::map<key, std::unique_ptr<spread_memory>>;  // never destroyed
  std::lock_guard const lock(mutex);
  auto& one = known[{{homes.begin(), homes.end()}, {devices.begin(), devices.end()}, layout}];
  if (!one) { one = std::make_unique<spread_memory>(homes, devices, layout); }
  return *one;
}

}  // namespace

memory_resource& spread_gpu_memory(gpu_set const& devices, spread_layout layout)
{
  return known_memory(devices, devices, layout);
}

memory_resource& gpu::peer_memory(int device, gpu_set const& devices)
{
  return known_memory(gpu_set(device), devices, spread_layout::ranges);
}

}  // namespace tendril
