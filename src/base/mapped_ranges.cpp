#include "base/mapped_ranges.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

#include <tendril/file.hpp>

#include "base/free_pages.hpp"  // give_back_pages

namespace tendril {
namespace base {
namespace {

// The mappings that a signal handler can look up: fixed slots, published by an atomic flag.
constexpr int num_slots = 64;
struct mapping_slot {
  std::atomic<int> state{0};  // 0 free, 1 being filled, 2 holds a mapping
  mapped_range range;
  std::array<char, 4096> name{};
};
std::array<mapping_slot, num_slots> mappings;

mapping_slot const* slot_at(void const* address) noexcept
{
  auto const at = reinterpret_cast<std::uintptr_t>(address);
  for (auto const& slot : mappings) {
    if (slot.state.load() != 2) { continue; }
    auto const begin = reinterpret_cast<std::uintptr_t>(slot.range.begin);
    if (at >= begin && at - begin < slot.range.size) { return &slot; }
  }
  return nullptr;
}

}  // namespace

int remember_mapping(mapped_range const& range, std::string const& name) noexcept
{
  if (name.size() >= mappings[0].name.size()) { return -1; }
  for (int i = 0; i < num_slots; ++i) {
    auto& slot = mappings[static_cast<std::size_t>(i)];
    int expected = 0;
    if (slot.state.compare_exchange_strong(expected, 1)) {
      slot.range = range;
      std::memcpy(slot.name.data(), name.c_str(), name.size() + 1);
      slot.state.store(2);
      return i;
    }
  }
  return -1;
}

void forget_mapping(int number) noexcept
{
  if (number >= 0) { mappings[static_cast<std::size_t>(number)].state.store(0); }
}

std::optional<mapped_range> mapping_at(void const* address) noexcept
{
  auto const* const slot = slot_at(address);
  return slot == nullptr || slot->range.file < 0 ? std::nullopt : std::optional(slot->range);
}

void give_back_file_pages(void const* begin, void const* end) noexcept
{
  if (slot_at(begin) != nullptr) { give_back_pages(begin, end); }
}

}  // namespace base

char const* mapped_file_at(void const* address) noexcept
{
  auto const* const slot = base::slot_at(address);
  return slot == nullptr ? nullptr : slot->name.data();
}

foreign_mapping::foreign_mapping(std::span<std::byte const> memory, std::string const& file) noexcept
    : slot_(base::remember_mapping({memory.data(), memory.size()}, file))
{
}

foreign_mapping::~foreign_mapping() { base::forget_mapping(slot_); }

}  // namespace tendril
