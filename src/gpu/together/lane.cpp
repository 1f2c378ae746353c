#include "gpu/together/lane.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include <tendril/gpu.hpp>  // pinned_memory

namespace tendril::gpu {
namespace {

constexpr std::size_t least_block = std::size_t{1} << 20U;
constexpr std::int64_t piece_bytes = std::int64_t{2} << 20U;
constexpr std::size_t kept_bytes = std::size_t{16} << 20U;  // of an arena between calls

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

/// Lanes that no call uses. Never destroyed: at exit the driver may be gone.
struct idle_lanes {
  std::mutex mutex;
  std::map<int, std::vector<std::unique_ptr<lane>>> of_device;
};

idle_lanes& idle()
{
  static auto& lanes = *new idle_lanes;
  return lanes;
}

}  // namespace

void* pinned_arena::allocate(std::size_t bytes)
{
  bytes = round_up(bytes, 64);
  if (blocks_.empty() || used_ + bytes > static_cast<std::size_t>(blocks_.back().size())) {
    std::size_t const size = round_up(std::max({bytes, most_taken_, least_block}), least_block);
    blocks_.emplace_back(static_cast<std::int64_t>(size), pinned_memory());
    used_ = 0;
  }
  void* const out = blocks_.back().data() + used_;
  used_ += bytes;
  taken_ += bytes;
  return out;
}

void pinned_arena::reset() noexcept
{
  most_taken_ = std::max(most_taken_, taken_);
  if (blocks_.size() > 1) { blocks_.clear(); }
  used_ = 0;
  taken_ = 0;
}

void pinned_arena::shrink(std::size_t bytes) noexcept
{
  reset();
  most_taken_ = std::min(most_taken_, bytes);
  if (!blocks_.empty() && static_cast<std::size_t>(blocks_.back().size()) > bytes) { blocks_.clear(); }
}

lane::lane()
{
  for (auto& s : slots_) { TENDRIL_CUDA_TRY(cudaEventCreateWithFlags(&s.copied, cudaEventDisableTiming)); }
}

lane::~lane()
{
  for (auto& s : slots_) {
    if (s.copied != nullptr) { (void)cudaEventDestroy(s.copied); }
  }
}

void lane::begin_part()
{
  which_ = 1 - which_;
  slot& now = slots_[which_];
  TENDRIL_CUDA_TRY(cudaEventSynchronize(now.copied));
  now.arena.reset();
}

void lane::finish()
{
  stream_.wait();
  for (auto& s : slots_) { s.arena.shrink(kept_bytes); }
}

void lane::settle() noexcept
{
  stream_.settle();
  fetches_.settle();
}

void lane::upload_bytes(void* to, void const* from, std::int64_t bytes)
{
  auto* const target = static_cast<std::byte*>(to);
  auto const* const source = static_cast<std::byte const*>(from);
  for (std::int64_t done = 0; done < bytes; done += piece_bytes) {
    std::int64_t const size = std::min(piece_bytes, bytes - done);
    end_part();
    begin_part();
    auto const piece = take<std::byte>(size);
    std::copy_n(source + done, size, piece.data());
    copy(target + done, piece.data(), size);
  }
}

memory_resource& lane::gpu_memory_of(int device) const { return gpu_memory(device, stream_.get()); }

lanes::lanes(int device, int count) : device_(device)
{
  taken_.reserve(static_cast<std::size_t>(count));
  {
    std::lock_guard const lock(idle().mutex);
    auto& there = idle().of_device[device];
    while (std::ssize(taken_) < count && !there.empty()) {
      taken_.push_back(std::move(there.back()));
      there.pop_back();
    }
  }
  device_guard const guard(device);
  while (std::ssize(taken_) < count) { taken_.push_back(std::make_unique<lane>()); }
}

lanes::~lanes()
{
  for (auto& each : taken_) { each->settle(); }
  try {
    std::lock_guard const lock(idle().mutex);
    auto& there = idle().of_device[device_];
    for (auto& each : taken_) { there.push_back(std::move(each)); }
  } catch (...) {  // no memory for the list: the lanes go
  }
}

void lanes::finish()
{
  device_guard const guard(device_);
  for (auto& each : taken_) { each->finish(); }
}

}  // namespace tendril::gpu
