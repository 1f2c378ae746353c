// How a warp leaves records in the boxes of ranks: one atomic operation a rank reserves room for all that the warp has for it, so that
// they lie in runs. Where among those for a rank a record lies is chance. No thread waits for another warp.

#pragma once

#include "gpu/device/launch.cuh"
#include "gpu/ranks/boxes.hpp"
#include "gpu/ranks/inbox.hpp"  // most_ranks

namespace tendril::gpu {

static_assert(most_ranks <= warp_size, "a lane reserves room for a rank");

/// Whole warp; each lane has `each` records. `store_once(Record*, Record const&)` writes one.
/// @param to     Ranks that records go to, or -1.
/// @param sizes  [num_ranks]: records in the boxes.
template <int each, class Record>
__device__ __forceinline__ void leave_records(rank_boxes<Record> const& boxes, unsigned* sizes, int num_ranks,
                                              int const (&to)[each], Record const (&records)[each])
{
  unsigned slots[each] = {};
  unsigned count = 0;  // for the rank of this lane's number
  for (int rank = 0; rank < num_ranks; ++rank) {
    unsigned before = 0;
#pragma unroll
    for (int k = 0; k < each; ++k) {
      unsigned const those = __ballot_sync(full_warp, to[k] == rank);
      if (to[k] == rank) { slots[k] = before + static_cast<unsigned>(__popc(those & ((1U << lane_id()) - 1U))); }
      before += static_cast<unsigned>(__popc(those));
    }
    if (lane_id() == rank) { count = before; }
  }
  unsigned const base = count > 0 ? atomicAdd(sizes + lane_id(), count) : 0;
#pragma unroll
  for (int k = 0; k < each; ++k) {
    unsigned const first = __shfl_sync(full_warp, base, to[k] < 0 ? 0 : to[k]);
    if (to[k] >= 0) { store_once(boxes.at(to[k], first + slots[k]), records[k]); }
  }
}

/// The same of one record.
template <class Record>
__device__ __forceinline__ void leave_record(rank_boxes<Record> const& boxes, unsigned* sizes, int num_ranks, int to,
                                             Record const& record)
{
  int const ways[1] = {to};
  Record const records[1] = {record};
  leave_records(boxes, sizes, num_ranks, ways, records);
}

}  // namespace tendril::gpu
