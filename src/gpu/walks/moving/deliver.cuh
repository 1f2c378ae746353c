// Vertices of moving walks go into their columns, and records into inboxes: by stores that say what the second-level cache should
// keep. On two H200s these made steps on a graph beyond the cache 1.23 times as fast.

#pragma once

#include <cstdint>

#include <tendril/types.hpp>

#include "gpu/device/launch.cuh"
#include "gpu/walks/moving/superstep.hpp"

namespace tendril::gpu {

/// Into a column, which is written all over, 4 bytes here and there: its sectors should stay until they are whole.
__device__ __forceinline__ void store_kept(vertex_id* to, vertex_id v)
{
  std::uint64_t keep = 0;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(keep));
  asm volatile("st.global.L2::cache_hint.u32 [%0], %1, %2;" ::"l"(to), "r"(v), "l"(keep) : "memory");
}

// Into an inbox, which is written and read once, in order.

__device__ __forceinline__ void store_once(moved_walker* to, moved_walker const& w)
{
  auto const low = static_cast<std::uint32_t>(w.carried);
  auto const high = static_cast<std::uint32_t>(w.carried >> 32U);
  __stcs(reinterpret_cast<uint4*>(to), make_uint4(w.walk, w.vertex, low, high));
}

__device__ __forceinline__ void store_once(moved_vertex* to, moved_vertex const& v)
{
  __stcs(reinterpret_cast<uint2*>(to), make_uint2(v.walk, v.vertex));
}

/// Writes vertices that came to their home. The whole grid.
/// @param first_walk  Of the home.
__device__ __forceinline__ void deliver(inbox<moved_vertex const> const& told, vertex_id* column,
                                        std::uint32_t first_walk)
{
  std::int64_t const size = *told.size;
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) {
    uint2 const record = __ldcs(reinterpret_cast<uint2 const*>(told.records + i));
    store_kept(column + (record.x - first_walk), record.y);
  }
}

}  // namespace tendril::gpu
