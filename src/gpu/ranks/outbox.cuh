// Records of a block's threads, sorted in shared memory by the ranks that they go to, a tile at a time: so that they leave in runs,
// with one atomic operation a tile and rank. Where among those for a rank a record lies is chance.

#pragma once

#include "gpu/device/launch.cuh"
#include "gpu/ranks/inbox.hpp"

namespace tendril::gpu {

/// A block's threads, each with a record of a tile.
inline constexpr int outbox_threads = 512;

/// Ranks may be any groups of records, up to most_groups. All members: the whole block, converged. `store_once(Record*, Record const&)` writes a record into an inbox.
template <class Record>
class outbox {
 public:
  /// Before the first tile.
  __device__ void clear()
  {
    for (unsigned i = threadIdx.x; i < 2 * most_groups; i += outbox_threads) { counts_[i] = 0; }
  }

  /// Claims a slot for a record to rank `to`, which is -1 where there is none. @param turn  Counts tiles of this block.
  __device__ unsigned claim(int to, int num_ranks, unsigned turn)
  {
    unsigned* const counts = counts_of(turn);
    unsigned slot = 0;
    for (int rank = 0; rank < num_ranks; ++rank) {
      unsigned const mine = __ballot_sync(full_warp, to == rank);
      if (mine == 0) { continue; }
      unsigned first = 0;
      if (lane_id() == 0) { first = atomicAdd(counts + rank, static_cast<unsigned>(__popc(mine))); }
      first = __shfl_sync(full_warp, first, 0);
      if (to == rank) { slot = first + static_cast<unsigned>(__popc(mine & ((1U << lane_id()) - 1U))); }
    }
    return slot;
  }

  // After all have claimed, and synchronised:

  /// Reserves room in the inboxes.
  __device__ void reserve(inbox<Record> const* inboxes, int num_ranks, unsigned turn)
  {
    auto const rank = static_cast<int>(threadIdx.x);
    if (rank >= num_ranks) { return; }
    unsigned const count = counts_of(turn)[rank];
    bases_[rank] = count > 0 ? atomicAdd_system(inboxes[rank].size, count) : 0;
    counts_of(turn + 1)[rank] = 0;
  }

  /// Sorts records by rank.
  __device__ void stage(int to, unsigned slot, Record const& record, unsigned turn)
  {
    if (to < 0) { return; }
    unsigned const* const counts = counts_of(turn);
    for (int rank = 0; rank < to; ++rank) { slot += counts[rank]; }
    records_[slot] = record;
  }

  /// After all have staged, and synchronised.
  __device__ void send(inbox<Record> const* inboxes, int num_ranks, unsigned turn) const
  {
    unsigned const* const counts = counts_of(turn);
    unsigned at = threadIdx.x;
    for (int rank = 0; rank < num_ranks; ++rank) {
      unsigned const count = counts[rank];
      if (at < count) {
        store_once(inboxes[rank].records + bases_[rank] + at, records_[threadIdx.x]);
        return;
      }
      at -= count;
    }
  }

 private:
  [[nodiscard]] __device__ unsigned* counts_of(unsigned turn) { return counts_ + turn % 2 * most_groups; }
  [[nodiscard]] __device__ unsigned const* counts_of(unsigned turn) const { return counts_ + turn % 2 * most_groups; }

  Record records_[outbox_threads];
  unsigned counts_[2 * most_groups];  // of this tile, and of the next one
  unsigned bases_[most_groups];
};

}  // namespace tendril::gpu
