#include "gpu/together/pinned_arena.hpp"

#include <algorithm>
#include <cstdint>

#include <tendril/gpu.hpp>  // pinned_memory

namespace tendril::gpu {
namespace {

constexpr std::size_t least_block = std::size_t{1} << 20U;

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

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
  if (!fits(bytes)) { blocks_.clear(); }
}

bool pinned_arena::fits(std::size_t bytes) const noexcept
{
  return blocks_.empty() || (blocks_.size() == 1 && static_cast<std::size_t>(blocks_.back().size()) <= bytes);
}

}  // namespace tendril::gpu
