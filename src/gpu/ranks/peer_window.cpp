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
constexpr std::size_t slots = window_slots;

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

class own_window {
 public:
  int device;
  std::byte* memory = nullptr;
  std::vector<cudaEvent_t> full;   ///< [ranks][slots]: what this rank has sent there.
  std::vector<cudaEvent_t> empty;  ///< [ranks][slots]: what it has taken that came from there.

  explicit own_window(int of) : device(of) {}
  ~own_window()
  {
    int current = 0;
    (void)cudaGetDevice(&current);
    (void)cudaSetDevice(device);
    for (auto const* events : {&full, &empty}) {
      for (cudaEvent_t const event : *events) { (void)cudaEventDestroy(event); }
    }
    (void)cudaFree(memory);
    (void)cudaSetDevice(current);
  }
  own_window(own_window const&) = delete;
  own_window& operator=(own_window const&) = delete;

  /// @return whether the GPU has given everything.
  bool fill(std::size_t num_ranks, std::int64_t bytes, bool for_processes)
  {
    unsigned const flags = cudaEventDisableTiming | (for_processes ? cudaEventInterprocess : 0U);
    for (auto* events : {&full, &empty}) {
      for (std::size_t i = 0; i < num_ranks * slots; ++i) {
        cudaEvent_t event{};
        if (!is_done(cudaEventCreateWithFlags(&event, flags))) { return false; }
        events->push_back(event);
      }
    }
    return is_done(cudaMalloc(reinterpret_cast<void**>(&memory), static_cast<std::size_t>(bytes)));
  }
};

namespace {

/// How another process opens a window, or another thread of this process finds it.
struct window_terms {
  int is_there;
  int device;                                ///< In the process that has it.
  std::shared_ptr<own_window> const* owner;  ///< For threads.
  cudaIpcMemHandle_t memory;                 ///< This and the events are for other processes.
  cudaIpcEventHandle_t full[slots], empty[slots];
};

/// A window of another process.
class opened_window {
 public:
  std::byte* memory = nullptr;
  std::vector<cudaEvent_t> full, empty;  ///< [slots], of what goes to this rank, and comes from it.

  opened_window() = default;
  ~opened_window()
  {
    for (auto const* events : {&full, &empty}) {
      for (cudaEvent_t const event : *events) { (void)cudaEventDestroy(event); }
    }
    if (memory != nullptr) { (void)cudaIpcCloseMemHandle(memory); }
  }
  opened_window(opened_window const&) = delete;
  opened_window& operator=(opened_window const&) = delete;

  bool open(window_terms const& from)
  {
    for (std::size_t i = 0; i < slots; ++i) {
      for (auto [handle, events] : {std::pair{&from.full[i], &full}, std::pair{&from.empty[i], &empty}}) {
        cudaEvent_t event{};
        if (!is_done(cudaIpcOpenEventHandle(&event, *handle))) { return false; }
        events->push_back(event);
      }
    }
    void* opened = nullptr;
    if (!is_done(cudaIpcOpenMemHandle(&opened, from.memory, cudaIpcMemLazyEnablePeerAccess))) { return false; }
    memory = static_cast<std::byte*>(opened);
    return true;
  }
};

/// What `own` tells the rank `to`.
window_terms terms_for(std::shared_ptr<own_window> const& own, std::size_t to, bool for_process)
{
  window_terms out{};
  out.device = own->device;
  out.owner = &own;
  bool done = true;
  if (for_process) {
    done = is_done(cudaIpcGetMemHandle(&out.memory, own->memory));
    for (std::size_t i = 0; i < slots && done; ++i) {
      done = is_done(cudaIpcGetEventHandle(&out.full[i], own->full[to * slots + i])) &&
             is_done(cudaIpcGetEventHandle(&out.empty[i], own->empty[to * slots + i]));
    }
  }
  out.is_there = done ? 1 : 0;
  return out;
}

std::vector<cudaEvent_t> events_of(std::vector<cudaEvent_t> const& all, int rank)
{
  auto const first = all.begin() + static_cast<std::ptrdiff_t>(slots) * rank;
  return {first, first + static_cast<std::ptrdiff_t>(slots)};
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
  auto const me = ranks.rank();
  auto const num_ranks = static_cast<std::size_t>(ranks.size());
  auto const process = all[static_cast<std::size_t>(me)].process;
  auto const agree = [&](bool done) { return ranks.all_reduce("windows", done ? 1 : 0, reduction::min) != 0; };
  bool const several = std::any_of(all.begin(), all.end(), [&](rank_gpu const& r) { return r.process != process; });

  std::int64_t const others = std::max(ranks.size() - 1, 1);
  std::int64_t const slot_bytes = std::min(most_slot_bytes, most_window_bytes / (others * window_slots));
  std::unique_ptr<peer_windows> out(new peer_windows(slot_bytes));
  out->own_ = std::make_shared<own_window>(device);
  bool done = out->own_->fill(num_ranks, slot_bytes * window_slots * others, several);
  for (rank_gpu const& other : all) {
    done = done && (&other == &all[static_cast<std::size_t>(me)] || reaches(device, other.gpu));
  }
  std::size_t const bytes = num_ranks * num_ranks * sizeof(slot_counts);
  if (me == 0) { out->counts_ = shared_pages::make(bytes); }
  std::string const name = ranks.broadcast("name of shared pages", out->counts_.name());
  if (me != 0 && !name.empty()) { out->counts_ = shared_pages::open(name, bytes); }
  done = done && !out->counts_.empty();

  std::vector<message> messages;
  for (std::size_t r = 0; r < num_ranks; ++r) {
    window_terms terms{};
    if (done) { terms = terms_for(out->own_, r, all[r].process != process); }
    messages.push_back(ranks.pool().take(sizeof terms));
    messages.back().append(&terms, sizeof terms);
  }
  auto const told = ranks.all_to_all("windows", messages);
  auto* const counts = static_cast<slot_counts*>(out->counts_.data());
  for (int r = 0; r < ranks.size(); ++r) {
    auto const at = static_cast<std::size_t>(r);
    out->links_.push_back(nullptr);
    window_terms theirs{};
    std::memcpy(&theirs, told[at].data(), sizeof theirs);
    done = done && theirs.is_there != 0;
    if (r == me || !done) { continue; }
    auto& link = *(out->links_.back() = std::make_unique<peer_link>());
    std::byte* window = nullptr;
    if (all[at].process == process) {
      std::shared_ptr<own_window> const& owner = *theirs.owner;
      done = let_in(theirs.device);
      window = owner->memory;
      link.in_full = events_of(owner->full, me);
      link.out_empty = events_of(owner->empty, me);
      out->theirs_.push_back(owner);
    } else {
      auto const opened = std::make_shared<opened_window>();
      done = opened->open(theirs);
      window = opened->memory;
      link.in_full = opened->full;
      link.out_empty = opened->empty;
      out->theirs_.push_back(opened);
    }
    link.out_full = events_of(out->own_->full, r);
    link.in_empty = events_of(out->own_->empty, r);
    link.there = window + region_of(me, r) * window_slots * slot_bytes;
    link.here = out->own_->memory + region_of(r, me) * window_slots * slot_bytes;
    link.out = counts + static_cast<std::size_t>(me) * num_ranks + at;
    link.in = counts + at * num_ranks + static_cast<std::size_t>(me);
  }
  done = agree(done);  // all have opened what they need, or know that somebody has not
  out->counts_.forget_name();
  return done ? std::move(out) : nullptr;
}

peer_windows::~peer_windows()
{
  for (auto const& link : links_) {
    if (link == nullptr) { continue; }
    link->out_stream.settle();
    link->in_stream.settle();
  }
}

}  // namespace tendril::gpu
