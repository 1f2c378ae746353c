// The hash table that numbers the vertices of mini-batches: one for all batches of a call, all seeds' trees and all
// vertex types. It is never cleared: a call takes stamps that no call before it had, and what bears an older stamp is as
// good as empty. Host and device code; on the host one thread at a time, for tests.
//
// A slot is 16 bytes, a key and a value:
//   key    stamp << 32 | vertex. The stamp stands for (batch or tree, vertex type).
//   value  stamp << 32 | x, where x is 2^31 - 1 - position while the vertex waits for its number, and 2^31 | number from
//          then on. Values are only ever raised: of the positions that ask for a vertex the least one stays, a number
//          stays whatever is asked for later, and whatever an older stamp has left loses. So nothing has to be set up
//          between a key and its value, and no order of the two matters.
// Within a call a key goes from stale to current once and stays. Hence: a current key that is seen, however late, is
// there; who sees a stale one claims it by compare-and-swap, and on losing sees what won. A search that meets a stale
// slot ends: had its key been put in, it would have taken that slot.

#pragma once

#include <cstdint>

#include <tendril/types.hpp>

#ifdef __CUDACC__
#define TENDRIL_UNROLL _Pragma("unroll")
#else
#define TENDRIL_UNROLL
#endif

namespace tendril::gpu {

/// One slot.
struct alignas(16) numbered_slot {
  unsigned long long key;
  unsigned long long value;
};

/// "No place in the table": of a slot without a pick. Also "no number".
inline constexpr std::uint32_t nowhere = 0xffffffffU;

/// Slots that an insertion looks at before it says that a table is full, where tables may be too small for what comes:
/// half full they are never that long in sequence.
inline constexpr std::uint32_t most_probes = 512;

/// The least part of a table that one batch's keys are spread over: 1 MB, in which many trees differ less than one does.
inline constexpr std::int64_t fewest_part_slots = std::int64_t{1} << 16U;

/// The least number of slots of a table.
inline constexpr std::int64_t fewest_table_slots = 1024;

/// The lower half of a value while its vertex waits; `position` < 2^31.
TENDRIL_HD std::uint32_t waiting_at(std::uint32_t position) { return 0x7fffffffU - position; }
TENDRIL_HD std::uint32_t position_in(std::uint32_t x) { return 0x7fffffffU - x; }
/// The lower half of a value from then on; `number` < 2^31 - 1.
TENDRIL_HD std::uint32_t numbered_as(std::uint32_t number) { return 0x80000000U | number; }
TENDRIL_HD bool is_numbered(std::uint32_t x) { return (x & 0x80000000U) != 0; }
TENDRIL_HD std::uint32_t number_in(std::uint32_t x) { return x & 0x7fffffffU; }

TENDRIL_HD unsigned long long stamped(std::uint32_t stamp, std::uint32_t low)
{
  return static_cast<unsigned long long>(stamp) << 32U | low;
}
TENDRIL_HD std::uint32_t stamp_of(unsigned long long word) { return static_cast<std::uint32_t>(word >> 32U); }
TENDRIL_HD std::uint32_t low_half(unsigned long long word) { return static_cast<std::uint32_t>(word); }

/// The stamp of a group's vertices of a type. Any thread.
TENDRIL_HD std::uint32_t stamp_of_group(std::uint32_t first_stamp, std::uint32_t num_types, std::int32_t type,
                                        std::uint32_t group)
{
  return first_stamp + group * num_types + static_cast<std::uint32_t>(type);
}

/// A key on its way into a table.
struct insertion {
  unsigned long long key = 0;
  std::uint32_t position = 0;  ///< Below 2^31.
  /// Its place, below 2^31; numbered_as() its number, if a launch before has given it one; nowhere: not wanted, or no room.
  std::uint32_t at = nowhere;
  bool wanted = false;
};

/// How many stamps a table is for, of how many batches, in the order of the batches.
struct table_cut {
  std::int64_t num_stamps = 0;
  std::int64_t num_batches = 1;
};

/// The table. Trivially copyable, owns nothing.
struct number_table {
  numbered_slot* slots = nullptr;      ///< [mask + 1], all bytes 0 before the first call.
  std::uint32_t mask = 0;              ///< A power of two less 1; below 2^31.
  unsigned long long* full = nullptr;  ///< Becomes 1 where a key found no room; null: there is always room.
  std::uint32_t part = 0xffffffffU;    ///< Slots that the keys of one stamp are spread over, less 1.
  unsigned long long step = 0;         ///< From the part of one stamp to that of the next, in slots times 2^16.

  /// Many batches: gives each a part of the table, so that launches, which go through batches in sequence, work on few parts
  /// at a time, which stay in the second-level cache. Parts overlap with their neighbours, and searches run on into the next
  /// one: a batch that is larger than others makes its surroundings fuller.
  void cut(table_cut const& by)
  {
    if (by.num_batches < 2) { return; }
    std::int64_t const num_slots = std::int64_t{mask} + 1;
    std::int64_t size = fewest_part_slots;
    while (size < 2 * num_slots / by.num_batches) { size *= 2; }
    if (size >= num_slots) { return; }
    part = static_cast<std::uint32_t>(size - 1);
    step = static_cast<unsigned long long>((num_slots << 16U) / by.num_stamps);
  }

  /// Where the search for a key begins. Two rounds of multiplication: neighbours' ids and stamps are both in sequence.
  [[nodiscard]] TENDRIL_HD std::uint32_t first_place(unsigned long long key) const
  {
    unsigned long long x = key * 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 32U)) * 0xD6E8FEB86659FD93ULL;
    auto const begin = static_cast<std::uint32_t>(stamp_of(key) * step >> 16U);
    return (begin + (static_cast<std::uint32_t>(x >> 32U) & part)) & mask;
  }

  /// Puts keys in, unless they are there, each for the pick at its position, and says where they are, or their numbers.
  /// Keys of stamps below `first_stamp` are stale. Of several keys all loads are under way together, then all claims. Any
  /// thread.
  template <int Size>
  TENDRIL_HD void insert(insertion (&items)[Size], std::uint32_t first_stamp) const
  {
    numbered_slot held[Size] = {};
    unsigned open = 0;
    TENDRIL_UNROLL
    for (int i = 0; i < Size; ++i) {
      insertion& item = items[i];
      if (!item.wanted) { continue; }
      item.at = first_place(item.key);
      held[i] = read(item.at);
      open |= 1U << static_cast<unsigned>(i);
    }
    for (std::uint32_t probes = 0; open != 0; ++probes) {
      bool const gives_up = full != nullptr && probes >= most_probes;
      if (gives_up) { *full = 1; }
      unsigned long long winner[Size];
      TENDRIL_UNROLL
      for (int i = 0; i < Size; ++i) {
        bool const is_stale = stamp_of(held[i].key) < first_stamp;
        bool const claims = (open >> static_cast<unsigned>(i) & 1U) != 0 && is_stale && !gives_up;
        winner[i] = claims ? claim(items[i].at, held[i].key, items[i].key) : held[i].key;
        // Won: then the place has this key. Else what won stays, if it is another.
        if (claims && winner[i] == held[i].key) { winner[i] = items[i].key; }
      }
      TENDRIL_UNROLL
      for (int i = 0; i < Size; ++i) {
        insertion& item = items[i];
        unsigned const bit = 1U << static_cast<unsigned>(i);
        if ((open & bit) == 0) { continue; }
        if (winner[i] == item.key) {
          // The half that was read may be older than its key: then it is below, and raising decides. One of the key's own
          // stamp is the key's own.
          unsigned long long const wanted = stamped(stamp_of(item.key), waiting_at(item.position));
          if (held[i].value < wanted) {
            raise(item.at, wanted);
          } else if (is_numbered(low_half(held[i].value))) {
            item.at = low_half(held[i].value);
          }
          open &= ~bit;
        } else if (gives_up) {
          item.at = nowhere;
          open &= ~bit;
        } else {
          item.at = (item.at + 1) & mask;
          held[i] = read(item.at);
        }
      }
    }
  }

  /// One key. @return  insertion::at.
  [[nodiscard]] TENDRIL_HD std::uint32_t insert(unsigned long long key, std::uint32_t first_stamp,
                                                std::uint32_t position) const
  {
    insertion items[1] = {{key, position, nowhere, true}};
    insert(items, first_stamp);
    return items[0].at;
  }

  /// Puts a key in, unless it is there; says whether it did, and where. Any thread; there is room.
  [[nodiscard]] TENDRIL_HD bool put(unsigned long long key, std::uint32_t first_stamp, std::uint32_t& at) const
  {
    for (at = first_place(key);; at = (at + 1) & mask) {
      unsigned long long const held = read(at).key;
      if (held == key) { return false; }
      if (stamp_of(held) >= first_stamp) { continue; }
      unsigned long long const winner = claim(at, held, key);
      if (winner == held) { return true; }
      if (winner == key) { return false; }
    }
  }

  /// The number of a key's vertex, or nowhere. All have their numbers. Any thread.
  [[nodiscard]] TENDRIL_HD std::uint32_t find(unsigned long long key, std::uint32_t first_stamp) const
  {
    for (std::uint32_t at = first_place(key);; at = (at + 1) & mask) {
      numbered_slot const held = read(at);
      if (held.key == key) { return number_in(low_half(held.value)); }
      if (stamp_of(held.key) < first_stamp) { return nowhere; }
    }
  }

  /// Both halves, past the first-level cache, which knows nothing of other multiprocessors. Each half is whole; together
  /// they may be of different times.
  [[nodiscard]] TENDRIL_HD numbered_slot read(std::uint32_t at) const
  {
#ifdef __CUDA_ARCH__
    ulonglong2 const both = __ldcg(reinterpret_cast<ulonglong2 const*>(slots + at));
    return {both.x, both.y};
#else
    return slots[at];
#endif
  }

  /// Gives a vertex its number: only the caller does so, and no thread reads it in this launch.
  TENDRIL_HD void set_value(std::uint32_t at, unsigned long long value) const
  {
    *const_cast<unsigned long long volatile*>(&slots[at].value) = value;
  }

  /// Puts a key with its value into a table that doesn't have it. Any thread.
  TENDRIL_HD void copy_in(numbered_slot const& from) const
  {
    for (std::uint32_t at = first_place(from.key);; at = (at + 1) & mask) {
      if (claim(at, 0, from.key) != 0) { continue; }
      slots[at].value = from.value;
      return;
    }
  }

 private:
  TENDRIL_HD unsigned long long claim(std::uint32_t at, unsigned long long expected, unsigned long long key) const
  {
#ifdef __CUDA_ARCH__
    return atomicCAS(&slots[at].key, expected, key);
#else
    unsigned long long const before = slots[at].key;
    if (before == expected) { slots[at].key = key; }
    return before;
#endif
  }

  TENDRIL_HD void raise(std::uint32_t at, unsigned long long value) const
  {
#ifdef __CUDA_ARCH__
    atomicMax(&slots[at].value, value);
#else
    slots[at].value = slots[at].value < value ? value : slots[at].value;
#endif
  }
};

}  // namespace tendril::gpu

#undef TENDRIL_UNROLL
