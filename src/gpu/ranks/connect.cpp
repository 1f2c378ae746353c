// Which way records of GPUs travel, and who shares a connection.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <cuda_runtime_api.h>

#include "gpu/device/check.hpp"
#include "gpu/ranks/messages.hpp"
#include "gpu/ranks/nccl.hpp"

namespace tendril::gpu {
namespace {

/// A new connection. A call of all ranks.
std::shared_ptr<gpu_messages> connect(transport& ranks, int device)
{
  // Equal versions talk to each other; two ranks on one GPU don't.
  nccl_library const* const nccl = nccl_library::get();
  cudaDeviceProp properties{};
  TENDRIL_CUDA_TRY(cudaGetDeviceProperties(&properties, device));
  std::string mine(reinterpret_cast<char const*>(&properties.uuid), sizeof properties.uuid);
  mine += std::to_string(nccl == nullptr ? 0 : nccl->version);
  auto const all = ranks.all_gather("GPUs of ranks", mine);
  bool usable = nccl != nullptr && ranks.size() > 1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    usable = usable && all[i].substr(sizeof properties.uuid) == all[0].substr(sizeof properties.uuid);
    for (std::size_t j = 0; j < i; ++j) { usable = usable && all[i] != all[j]; }
  }
  return usable ? messages_by_nccl(*nccl, ranks, device) : messages_by_host(ranks, device);
}

/// The connections of this process that somebody uses. Each has a number, the same on all of its ranks.
class known_connections {
 public:
  struct entry {
    std::int64_t number = 0;
    std::weak_ptr<gpu_messages> messages;
  };

  static known_connections& of_process()
  {
    static auto& all = *new known_connections;
    return all;
  }

  [[nodiscard]] entry find(transport const& ranks, int device)
  {
    std::lock_guard const lock(mutex_);
    auto const found = entries_.find({&ranks, device});
    return found == entries_.end() ? entry{} : found->second;
  }

  void put(transport const& ranks, int device, entry made)
  {
    std::lock_guard const lock(mutex_);
    std::erase_if(entries_, [](auto const& one) { return one.second.messages.expired(); });
    entries_[{&ranks, device}] = std::move(made);
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<transport const*, int>, entry> entries_;
};

}  // namespace

std::shared_ptr<gpu_messages> connect_gpus(transport& ranks, int device)
{
  known_connections& known = known_connections::of_process();
  known_connections::entry const there = known.find(ranks, device);
  auto held = there.messages.lock();
  std::int64_t const number = held && !held->is_aborted() ? there.number : 0;
  std::int64_t const least = ranks.all_reduce("connections of GPUs", number, reduction::min);
  std::int64_t const most = ranks.all_reduce("connections of GPUs", number, reduction::max);
  if (least == most && most > 0) { return held; }
  auto made = connect(ranks, device);
  known.put(ranks, device, {most + 1, made});
  return made;
}

}  // namespace tendril::gpu
