// Which GPUs there are, and why one cannot be used.

#include <tendril/gpu.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "gpu/device/check.hpp"
#include "gpu/device/probe.hpp"

namespace tendril {
namespace gpu {
namespace {

/// Throws with the reason that no GPU, or not this one, can be used.
void expect_device(int device)
{
  int count = 0;
  cudaError_t const status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) { (void)cudaGetLastError(); }
  if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) {
    throw device_error("no GPU: CUDA sees none on this machine (is CUDA_VISIBLE_DEVICES set?)");
  }
  if (status == cudaErrorInsufficientDriver) {
    int driver = 0;
    (void)cudaDriverGetVersion(&driver);
    if (driver == 0) { throw device_error("no GPU: the NVIDIA driver is not installed, or not running"); }
    throw device_error(
        fmt::format("GPU driver too old: it offers CUDA {}.{}, this build of Tendril needs {}.{} or newer",
                    driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10));
  }
  if (status != cudaSuccess) {
    throw device_error(fmt::format("no usable GPU: {} ({})", cudaGetErrorString(status), cudaGetErrorName(status)));
  }
  if (device < 0 || device >= count) {
    throw device_error(fmt::format("GPU {}: there {} {} on this machine, expected 0{}", device,
                                   count == 1 ? "is" : "are", count,
                                   count == 1 ? "" : fmt::format(" to {}", count - 1)));
  }
}

/// Throws, and makes `previous` current, unless this build has code for `device`, which must be current. Looks once per
/// GPU.
void expect_code_for(int device, int previous)
{
  constexpr int remembered = 64;  // a machine with more GPUs pays for the look again
  static std::atomic<std::uint64_t> known{0};
  std::uint64_t const bit = device < remembered ? std::uint64_t{1} << static_cast<unsigned>(device) : 0;
  if ((known.load(std::memory_order_relaxed) & bit) != 0) { return; }
  gpu_info const info = describe_gpu(device);
  std::string const problem = missing_code(info, load_probe());
  if (!problem.empty()) {
    (void)cudaSetDevice(previous);
    throw device_error(problem);
  }
  known.fetch_or(bit, std::memory_order_relaxed);
}

}  // namespace

std::string missing_code(gpu_info const& info, cudaError_t loaded)
{
  if (info.major >= least_major && loaded == cudaSuccess) { return ""; }
  std::string const gpu =
      fmt::format("GPU {} ({}) has compute capability {}.{}", info.device, info.name, info.major, info.minor);
  if (info.major < least_major) { return fmt::format("{}, expected {}.0 or newer", gpu, least_major); }
  switch (loaded) {
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorInvalidPtx:
    case cudaErrorJitCompilerNotFound:
    case cudaErrorJitCompilationDisabled:
      return fmt::format(
          "{}, expected {}, which this build of Tendril has code for (configure with -DCMAKE_CUDA_ARCHITECTURES={}{}): "
          "{}",
          gpu, TENDRIL_CUDA_CAPABILITIES, info.major, info.minor, cudaGetErrorName(loaded));
    default:
      return fmt::format("{}: {} ({}) from loading a kernel", gpu, cudaGetErrorString(loaded),
                         cudaGetErrorName(loaded));
  }
}

void throw_cuda_error(cudaError_t status, char const* expression)
{
  (void)cudaGetLastError();
  throw device_error(
      fmt::format("CUDA: {} ({}) from {}", cudaGetErrorString(status), cudaGetErrorName(status), expression));
}

void throw_out_of_memory(std::int64_t needed, int device)
{
  (void)cudaGetLastError();
  std::int64_t const free = free_gpu_bytes(device);
  throw memory_error(fmt::format(
      "GPU {}: out of memory: {:.1f} MB needed, {:.1f} MB free of {:.1f} MB; use smaller batches, drop the graph's "
      "tables, or use the CPU",
      device, static_cast<double>(needed) / 1e6, static_cast<double>(free) / 1e6,
      static_cast<double>(describe_gpu(device).total_bytes) / 1e6));
}

device_guard::device_guard(int device)
{
  int current = 0;
  if (cudaGetDevice(&current) != cudaSuccess || current != device) { expect_device(device); }
  previous_ = current;
  // Also where it is current already: the first call creates the context, and that can fail.
  TENDRIL_CUDA_TRY(cudaSetDevice(device));
  expect_code_for(device, previous_);
}

device_guard::~device_guard() { (void)cudaSetDevice(previous_); }

}  // namespace gpu

int num_gpus() noexcept
{
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  return count;
}

gpu_info describe_gpu(int device)
{
  gpu::expect_device(device);
  // Asking takes milliseconds, and the answer never changes.
  static std::mutex mutex;
  static auto& known = *new std::map<int, gpu_info>;
  std::lock_guard const lock(mutex);
  if (auto const it = known.find(device); it != known.end()) { return it->second; }
  cudaDeviceProp properties{};
  TENDRIL_CUDA_TRY(cudaGetDeviceProperties(&properties, device));
  return known[device] = {properties.name,
                          device,
                          properties.major,
                          properties.minor,
                          properties.multiProcessorCount,
                          properties.l2CacheSize,
                          static_cast<std::int64_t>(properties.totalGlobalMem)};
}

void synchronize(gpu_exec const& exec)
{
  gpu::device_guard const guard(exec.device);
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
}

}  // namespace tendril
