#include "gpu/device/persisting_cache.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>

#include <cuda_runtime_api.h>

#include "gpu/device/check.hpp"

namespace tendril::gpu {
namespace {

struct setting {
  int users = 0;
  std::size_t before = 0;  ///< What was set aside when the first one came.
};

std::mutex& settings_mutex()
{
  static std::mutex out;
  return out;
}

std::map<int, setting>& settings()
{
  static std::map<int, setting> out;
  return out;
}

/// Whether a call has succeeded. Its error is not kept.
bool is_done(cudaError_t status)
{
  if (status != cudaSuccess) { (void)cudaGetLastError(); }
  return status == cudaSuccess;
}

}  // namespace

persisting_cache::persisting_cache(int device, std::int64_t bytes)
{
  if (bytes <= 0) { return; }
  device_guard const guard(device);
  std::lock_guard const lock(settings_mutex());
  int most = 0;
  std::size_t now = 0;
  if (!is_done(cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, device)) || most <= 0) { return; }
  if (!is_done(cudaDeviceGetLimit(&now, cudaLimitPersistingL2CacheSize))) { return; }
  auto const wanted = std::min(static_cast<std::size_t>(bytes), static_cast<std::size_t>(most));
  if (wanted > now && !is_done(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, wanted))) { return; }
  setting& of = settings()[device];
  if (of.users++ == 0) { of.before = now; }
  device_ = device;
}

void persisting_cache::end() noexcept
{
  if (device_ < 0) { return; }
  std::lock_guard const lock(settings_mutex());
  setting& of = settings()[device_];
  if (--of.users > 0) { return; }
  int current = 0;
  (void)cudaGetDevice(&current);
  (void)cudaSetDevice(device_);
  (void)is_done(cudaCtxResetPersistingL2Cache());
  (void)is_done(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, of.before));
  (void)cudaSetDevice(current);
}

}  // namespace tendril::gpu
