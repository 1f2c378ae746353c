// Counters of vertices, as kernels add to them.

#pragma once

#include <cstdint>

#include <tendril/types.hpp>

#include "gpu/walks/counts.hpp"

namespace tendril::gpu {

/// One more of a vertex, which nobody waits for.
__device__ __forceinline__ void count_one(std::int64_t* counts, vertex_id v)
{
  atomicAdd(reinterpret_cast<unsigned long long*>(counts) + v, 1ULL);
}

/// A walk has come to a vertex.
__device__ __forceinline__ void count_visit(vertex_counters const& to, vertex_id v)
{
  if (to.visits != nullptr) { count_one(to.visits, v - to.first); }
}

/// A walk has ended at a vertex.
__device__ __forceinline__ void count_end(vertex_counters const& to, vertex_id v)
{
  if (to.ends != nullptr) { count_one(to.ends, v - to.first); }
}

}  // namespace tendril::gpu
