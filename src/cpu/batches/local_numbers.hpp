// Numbers for the vertices of a batch, in order of first appearance.

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include <tendril/buffer.hpp>

namespace tendril::cpu {

/// A hash table that is never cleared: a slot holds its key's number plus a base, and the base of the next batch is
/// beyond all numbers of this one, so that older slots count as empty. Open addressing; nothing is ever erased.
/// @tparam Key  uint32: a vertex; uint64: a tree (upper half) and a vertex.
template <class Key>
class local_numbers {
 public:
  /// @param first_base  Where bases begin; for tests of what happens when they are used up.
  explicit local_numbers(std::uint32_t first_base = 1) : next_base_(first_base) {}

  /// Forgets all keys.
  void clear()
  {
    base_ += size_;
    size_ = 0;
  }

  /// Room for `most` keys in all, those numbered so far, `keys` [size()], among them. At most 2^32 - 2.
  void reserve(Key const* keys, std::uint64_t most)
  {
    std::uint64_t const slots = std::bit_ceil(std::max<std::uint64_t>(most + most / 2, least_slots));
    if (slots <= static_cast<std::uint64_t>(slots_.size()) && std::uint64_t{base_} + most <= 0xffffffffU) { return; }
    rebuild(keys, std::max(slots, static_cast<std::uint64_t>(slots_.size())));
    if (std::uint64_t{base_} + most > 0xffffffffU) { rebuild(keys, static_cast<std::uint64_t>(slots_.size())); }
  }

  /// Numbers `wanted` [count] in their order, appending new ones to `keys`, which has room for one element more than there
  /// can be keys.
  void number(Key const* wanted, std::int64_t count, std::int64_t* numbers, Key* keys)
  {
    slot* const slots = slots_.data();
    std::uint32_t const base = base_;
    std::uint32_t size = size_;
    for (std::int64_t i = 0; i < count; ++i) {
      __builtin_prefetch(slots + place(wanted[std::min(i + ahead, count - 1)]), 1);
      Key const key = wanted[i];
      std::size_t at = place(key);
      slot found = slots[at];
      while (found.value >= base && found.key != key) {
        at = (at + 1) & mask_;
        found = slots[at];
      }
      // Whether a key is new is anybody's guess, so there is no branch: what is there is written again.
      bool const is_new = found.value < base;
      std::uint32_t const value = is_new ? base + size : found.value;
      slots[at] = {key, value};
      keys[size] = key;
      size += is_new ? 1 : 0;
      numbers[i] = value - base;
    }
    size_ = size;
  }

  /// The number of a key, or -1.
  [[nodiscard]] std::int64_t find(Key key) const
  {
    for (std::size_t at = place(key);; at = (at + 1) & mask_) {
      slot const& found = slots_[static_cast<std::int64_t>(at)];
      if (found.value < base_) { return -1; }
      if (found.key == key) { return found.value - base_; }
    }
  }
  void prefetch(Key key) const { __builtin_prefetch(slots_.data() + place(key)); }

  [[nodiscard]] std::uint32_t size() const { return size_; }

 private:
  struct slot {
    Key key;
    std::uint32_t value;  // number + base; below the base: empty
  };
  static constexpr std::uint64_t least_slots = 1024;
  static constexpr std::int64_t ahead = 16;  // bench/minibatch, axis ahead

  [[nodiscard]] std::size_t place(Key key) const { return (key * 0x9E3779B97F4A7C15ULL) >> shift_; }

  void rebuild(Key const* keys, std::uint64_t slots)
  {
    if (slots > static_cast<std::uint64_t>(slots_.size())) { slots_ = buffer<slot>(static_cast<std::int64_t>(slots)); }
    std::memset(static_cast<void*>(slots_.data()), 0, static_cast<std::size_t>(slots_.size()) * sizeof(slot));
    mask_ = slots - 1;
    shift_ = 64 - std::bit_width(mask_);
    base_ = std::exchange(next_base_, 1);
    for (std::uint32_t i = 0; i < size_; ++i) {
      std::size_t at = place(keys[i]);
      while (slots_[static_cast<std::int64_t>(at)].value != 0) { at = (at + 1) & mask_; }
      slots_[static_cast<std::int64_t>(at)] = {keys[i], base_ + i};
    }
  }

  buffer<slot> slots_;  // a power of two of them
  std::size_t mask_ = 0;
  int shift_ = 63;
  std::uint32_t base_ = 1;
  std::uint32_t next_base_;
  std::uint32_t size_ = 0;
};

}  // namespace tendril::cpu
