#include "gpu/together/lane.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <tendril/gpu.hpp>  // gpu_memory

#include "gpu/together/idle_pool.hpp"

namespace tendril::gpu {
namespace {

constexpr std::int64_t piece_bytes = std::int64_t{2} << 20U;
constexpr std::size_t kept_bytes = std::size_t{16} << 20U;  // of an arena between calls

}  // namespace

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
  device_guard const guard(device);
  while (std::ssize(taken_) < count) {
    auto idle = idle_pool<lane>::instance().take(device);
    taken_.push_back(idle != nullptr ? std::move(idle) : std::make_unique<lane>());
  }
}

lanes::~lanes()
{
  for (auto& each : taken_) {
    each->settle();
    idle_pool<lane>::instance().give_back(device_, std::move(each));
  }
}

void lanes::finish()
{
  device_guard const guard(device_);
  for (auto& each : taken_) { each->finish(); }
}

}  // namespace tendril::gpu
