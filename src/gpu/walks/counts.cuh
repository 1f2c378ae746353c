// Counters of vertices, as kernels add to them: bytes, four in a word. A byte that runs over carries into the next one, and whoever
// adds to it sees that in what the word was before, and puts it right in the counts of 8 bytes. So the sum of both is
// right at any time that nobody is adding.

#pragma once

#include <cstdint>

#include <tendril/types.hpp>

#include "gpu/walks/counts.hpp"

namespace tendril::gpu {

inline constexpr unsigned byte_full = 0xffU;

__device__ __forceinline__ unsigned byte_of(std::uint32_t word, vertex_id place)
{
  return (word >> (8 * (place % 4))) & byte_full;
}

/// One more at `place`. The second-level cache should keep it. @return the word before, which may have to carry.
__device__ __forceinline__ std::uint32_t count_one(byte_counters const& to, vertex_id place)
{
  std::uint64_t keep = 0;
  std::uint32_t before = 0;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(keep));
  asm volatile("atom.global.add.L2::cache_hint.u32 %0, [%1], %2, %3;"
               : "=r"(before)
               : "l"(to.words + place / 4), "r"(1U << (8 * (place % 4))), "l"(keep)
               : "memory");
  return before;
}

/// Puts right what a byte that ran over has carried. Rare, and so kept out of the kernels' registers.
__device__ __noinline__ inline void carry_over(byte_counters const& to, vertex_id place, std::uint32_t before)
{
  auto const add = [&](vertex_id at, std::int64_t more) {
    atomicAdd(reinterpret_cast<unsigned long long*>(to.counts) + at, static_cast<unsigned long long>(more));
  };
  add(place, 256);
  for (vertex_id next = place + 1; next % 4 != 0; ++next) {
    bool const runs_over = byte_of(before, next) == byte_full;
    add(next, runs_over ? std::int64_t{255} : std::int64_t{-1});
    if (!runs_over) { return; }
  }
}

/// Puts right what adding at `place` has carried.
__device__ __forceinline__ void carry(byte_counters const& to, vertex_id place, std::uint32_t before)
{
  if (byte_of(before, place) == byte_full) { carry_over(to, place, before); }
}

/// A walk has ended at a vertex.
__device__ __forceinline__ void count_end(vertex_counters const& to, vertex_id v)
{
  if (to.ends.words != nullptr) { carry(to.ends, v - to.first, count_one(to.ends, v - to.first)); }
}

/// A walk has come to a vertex.
__device__ __forceinline__ void count_visit(vertex_counters const& to, vertex_id v)
{
  if (to.visits.words != nullptr) { carry(to.visits, v - to.first, count_one(to.visits, v - to.first)); }
}

}  // namespace tendril::gpu
