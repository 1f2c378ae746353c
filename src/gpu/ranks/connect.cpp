// Which way records of GPUs travel, and who shares a connection.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "gpu/device/check.hpp"
#include "gpu/ranks/messages.hpp"
#include "gpu/ranks/nccl.hpp"
#include "gpu/ranks/peer_window.hpp"  // rank_gpu

namespace tendril::gpu {
namespace {

constexpr int by_peers = 1, by_nccl = 2;  // of rank_gpu::ways

/// The ways that the user allows.
int allowed_ways()
{
  char const* const asked = std::getenv("TENDRIL_GPU_MESSAGES");
  std::string_view const way = asked == nullptr ? "" : asked;
  if (way.empty()) { return by_peers | by_nccl; }
  if (way == "peers") { return by_peers; }
  if (way == "nccl") { return by_nccl; }
  TENDRIL_EXPECTS(way == "host", "TENDRIL_GPU_MESSAGES: '{}', expected peers, nccl or host", way);
  return 0;
}

rank_gpu describe(nccl_library const* nccl, int device)
{
  cudaDeviceProp properties{};
  TENDRIL_CUDA_TRY(cudaGetDeviceProperties(&properties, device));
  rank_gpu out{};
  out.gpu = properties.uuid;
  std::ifstream("/proc/sys/kernel/random/boot_id").read(out.boot, sizeof out.boot - 1);
  out.process = number_of_process();
  out.nccl_version = nccl == nullptr ? 0 : nccl->version;
  out.ways = allowed_ways();
  return out;
}

/// A new connection. A call of all ranks.
std::shared_ptr<gpu_messages> connect(transport& ranks, int device)
{
  nccl_library const* const nccl = nccl_library::get();
  rank_gpu const mine = describe(nccl, device);
  std::vector<rank_gpu> all;
  for (std::string const& told :
       ranks.all_gather("GPUs of ranks", {reinterpret_cast<char const*>(&mine), sizeof mine})) {
    std::memcpy(&all.emplace_back(), told.data(), sizeof mine);
  }
  bool one_machine = mine.boot[0] != 0, own_gpus = ranks.size() > 1, equal_nccl = nccl != nullptr;
  int ways = by_peers | by_nccl;
  for (std::size_t i = 0; i < all.size(); ++i) {
    ways &= all[i].ways;
    one_machine = one_machine && std::memcmp(all[i].boot, all[0].boot, sizeof mine.boot) == 0;
    equal_nccl = equal_nccl && all[i].nccl_version == all[0].nccl_version;  // equal versions talk to each other
    for (std::size_t j = 0; j < i; ++j) {
      own_gpus = own_gpus && std::memcmp(&all[i].gpu, &all[j].gpu, sizeof mine.gpu) != 0;
    }
  }
  if (own_gpus && one_machine && (ways & by_peers) != 0) {
    if (auto made = messages_by_peers(ranks, all, device)) { return made; }
  }
  return own_gpus && equal_nccl && (ways & by_nccl) != 0 ? messages_by_nccl(*nccl, ranks, device)
                                                         : messages_by_host(ranks, device);
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

std::int64_t number_of_process()
{
  static std::int64_t const number = static_cast<std::int64_t>(
      static_cast<std::uint64_t>(std::random_device()()) << 32U | static_cast<std::uint64_t>(std::random_device()()));
  return number;
}

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
