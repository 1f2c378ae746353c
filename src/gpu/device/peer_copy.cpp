// Copies from one GPU to another: directly where they reach each other, else through host memory.

#include <tendril/several_gpus.hpp>

#include <cstddef>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <tendril/gpu_array.hpp>

#include "gpu/device/check.hpp"
#include "gpu/device/peer_copy.hpp"

namespace tendril {

bool gpu::reaches_pool(int to, int from)
{
  static std::mutex mutex;
  static auto& known = *new std::map<std::pair<int, int>, bool>;
  std::lock_guard const lock(mutex);
  auto const found = known.find({to, from});
  if (found != known.end()) { return found->second; }
  int can = 0;
  TENDRIL_CUDA_TRY(cudaDeviceCanAccessPeer(&can, to, from));
  if (can != 0) {
    cudaMemPool_t pool{};
    TENDRIL_CUDA_TRY(cudaDeviceGetDefaultMemPool(&pool, from));
    cudaMemAccessDesc access{};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = to;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    TENDRIL_CUDA_TRY(cudaMemPoolSetAccess(pool, &access, 1));
  }
  return known[{to, from}] = can != 0;
}

void copy_between_gpus(void const* from, int from_device, void* to, std::size_t bytes, gpu_exec const& exec)
{
  gpu::device_guard const guard(exec.device);
  if (bytes == 0) { return; }
  if (from_device == exec.device || gpu::reaches_pool(exec.device, from_device)) {
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, exec.stream));
    return;
  }
  std::vector<std::byte> between(bytes);
  copy_to_host(from, between.data(), bytes, gpu_exec(from_device));
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(to, between.data(), bytes, cudaMemcpyHostToDevice, exec.stream));
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
}

}  // namespace tendril
