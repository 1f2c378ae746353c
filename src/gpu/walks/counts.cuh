// Counters of vertices, as kernels add to them.

#pragma once

#include <cstdint>

#include <tendril/types.hpp>

#include "gpu/walks/counts.hpp"

namespace tendril::gpu {

/// One more of a vertex, which nobody waits for. The second-level cache should keep it.
__device__ __forceinline__ void count_one(std::uint32_t* counter)
{
  std::uint64_t keep = 0;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(keep));
  asm volatile("red.global.add.L2::cache_hint.u32 [%0], %1, %2;" ::"l"(counter), "r"(1U), "l"(keep) : "memory");
}

/// A walk has come to a vertex.
__device__ __forceinline__ void count_visit(vertex_counters const& to, vertex_id v)
{
  if (to.visits != nullptr) { count_one(to.visits + (v - to.first)); }
}

/// A walk has ended at a vertex.
__device__ __forceinline__ void count_end(vertex_counters const& to, vertex_id v)
{
  if (to.ends != nullptr) { count_one(to.ends + (v - to.first)); }
}

}  // namespace tendril::gpu
