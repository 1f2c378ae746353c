#include "gpu/ranks/peer_window.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <tendril/exec.hpp>

#include "gpu/device/check.hpp"

namespace tendril::gpu {
namespace {

constexpr std::int64_t most_slot_bytes = std::int64_t{8} << 20U, most_window_bytes = std::int64_t{128} << 20U;

/// Whether a call has succeeded. Its error is not kept.
bool is_done(cudaError_t status)
{
  if (status != cudaSuccess) { (void)cudaGetLastError(); }
  return status == cudaSuccess;
}

/// The region of a sender among those of a window.
std::int64_t region_of(int sender, int receiver) { return sender < receiver ? sender : sender - 1; }

/// Whether this GPU reaches the memory of another one, which this process sees.
bool reaches(int device, cudaUUID_t const& other)
{
  int count = 0;
  if (!is_done(cudaGetDeviceCount(&count))) { return false; }
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    if (!is_done(cudaGetDeviceProperties(&properties, i))) { continue; }
    if (std::memcmp(&properties.uuid, &other, sizeof other) != 0) { continue; }
    int can = 0;
    return is_done(cudaDeviceCanAccessPeer(&can, device, i)) && can != 0;
  }
  return false;
}

}  // namespace

class window_memory {
 public:
  int device;
  std::byte* data = nullptr;

  explicit window_memory(int of) : device(of) {}
  ~window_memory()
  {
    int current = 0;
    (void)cudaGetDevice(&current);
    (void)cudaSetDevice(device);
    (void)cudaFree(data);
    (void)cudaSetDevice(current);
  }
  window_memory(window_memory const&) = delete;
  window_memory& operator=(window_memory const&) = delete;

  /// @return whether the GPU, which is current, has so much.
  bool take(std::int64_t bytes)
  {
    return is_done(cudaMalloc(reinterpret_cast<void**>(&data), static_cast<std::size_t>(bytes)));
  }
};

namespace {

/// How another process opens a window, or another thread of this process finds it.
struct window_terms {
  int is_there;
  int device;                                   ///< In the process that has it.
  std::shared_ptr<window_memory> const* owner;  ///< For threads.
  cudaIpcMemHandle_t memory;                    ///< For other processes.
};

/// What is told to a rank of this process, or of another one.
window_terms terms_for(std::shared_ptr<window_memory> const& own, bool in_process)
{
  window_terms out{};
  out.device = own->device;
  out.owner = &own;
  out.is_there = in_process || is_done(cudaIpcGetMemHandle(&out.memory, own->data)) ? 1 : 0;
  return out;
}

/// The memory of another process's window; null where it can't be had.
std::shared_ptr<std::byte> opened(cudaIpcMemHandle_t const& memory)
{
  void* data = nullptr;
  if (!is_done(cudaIpcOpenMemHandle(&data, memory, cudaIpcMemLazyEnablePeerAccess))) { return nullptr; }
  return {static_cast<std::byte*>(data), [](std::byte* p) { (void)cudaIpcCloseMemHandle(p); }};
}

/// Lets this GPU write into the memory of another one of this process.
bool let_in(int device)
{
  cudaError_t const status = cudaDeviceEnablePeerAccess(device, 0);
  (void)cudaGetLastError();
  return status == cudaSuccess || status == cudaErrorPeerAccessAlreadyEnabled;
}

}  // namespace

std::unique_ptr<peer_windows> peer_windows::open(transport& ranks, std::vector<rank_gpu> const& all, int device)
{
  auto const num_ranks = static_cast<std::size_t>(ranks.size()), me = static_cast<std::size_t>(ranks.rank());
  auto const in_process = [&](std::size_t r) { return all[r].process == all[me].process; };
  std::int64_t const others = std::max(ranks.size() - 1, 1);
  std::int64_t const slot_bytes = std::min(most_slot_bytes, most_window_bytes / (others * window_slots));
  std::unique_ptr<peer_windows> out(new peer_windows(slot_bytes));
  out->own_ = std::make_shared<window_memory>(device);
  bool done = out->own_->take(slot_bytes * window_slots * others);
  for (std::size_t r = 0; r < num_ranks; ++r) { done = done && (r == me || reaches(device, all[r].gpu)); }
  std::size_t const bytes = num_ranks * num_ranks * sizeof(slot_counts);
  if (me == 0) { out->counts_ = shared_pages::make(bytes); }
  std::string const name = ranks.broadcast("name of shared pages", out->counts_.name());
  if (me != 0 && !name.empty()) { out->counts_ = shared_pages::open(name, bytes); }
  done = done && !out->counts_.empty();

  std::vector<message> messages;
  for (std::size_t r = 0; r < num_ranks; ++r) {
    window_terms const terms = done ? terms_for(out->own_, in_process(r)) : window_terms{};
    messages.push_back(ranks.pool().take(sizeof terms));
    messages.back().append(&terms, sizeof terms);
  }
  auto* const counts = static_cast<slot_counts*>(out->counts_.data());  // [from][to]
  auto const told = ranks.all_to_all("windows", messages);
  for (std::size_t r = 0; r < num_ranks; ++r) {
    out->links_.push_back(nullptr);
    window_terms theirs{};
    std::memcpy(&theirs, told[r].data(), sizeof theirs);
    done = done && theirs.is_there != 0;
    if (r == me || !done) { continue; }
    std::byte* window = nullptr;
    if (in_process(r)) {
      std::shared_ptr<window_memory> const owner = *theirs.owner;
      done = let_in(theirs.device);
      window = owner->data;
      out->theirs_.push_back(owner);
    } else {
      auto const memory = opened(theirs.memory);
      done = memory != nullptr;
      window = memory.get();
      out->theirs_.push_back(memory);
    }
    if (!done) { continue; }
    auto& link = *(out->links_.back() = std::make_unique<peer_link>());
    slot_counts &going = counts[me * num_ranks + r], &coming = counts[r * num_ranks + me];
    auto const region = [&](std::size_t sender, std::size_t receiver) {
      return region_of(static_cast<int>(sender), static_cast<int>(receiver)) * window_slots * slot_bytes;
    };
    link.out.slots = window + region(me, r);
    link.out.told = &going.filled;
    link.out.heard = &going.emptied;
    link.in.slots = out->own_->data + region(r, me);
    link.in.told = &coming.emptied;
    link.in.heard = &coming.filled;
  }
  // All have opened what they need, or know that somebody has not.
  done = ranks.all_reduce("windows", done ? 1 : 0, reduction::min) != 0;
  out->counts_.forget_name();
  return done ? std::move(out) : nullptr;
}

peer_windows::~peer_windows() { settle(); }

void peer_windows::settle() const noexcept
{
  for (auto const& link : links_) {
    if (link == nullptr) { continue; }
    link->out.stream.settle();
    link->in.stream.settle();
  }
}

}  // namespace tendril::gpu
