// Slots of a rank (places in its trees, or in its rows of features) on their way to the ranks that have what they ask for.

#pragma once

#include <cstdint>

#include <tendril/exec.hpp>  // cuda_stream
#include <tendril/types.hpp>

#include "gpu/ranks/inbox.hpp"  // most_ranks

namespace tendril::gpu {

/// A slot, and what it asks for.
struct alignas(8) asked_slot {
  std::uint32_t slot;  ///< Counted by the rank that asks.
  vertex_id row;       ///< Of the part of the rank that is asked.
};

/// Slots that are sorted by the ranks that have their vertices: first those of this rank, then those of the others, in order.
struct slot_sort {
  vertex_id const* vertices;  ///< [size], of slot 0, 1, …; no_vertex is nobody's.
  std::int64_t size;          ///< Below 2^31.
  std::int64_t const* count;  ///< [1], in the memory of the GPU: slots from there on are none; or null.
  int rank, num_ranks;
  vertex_id bounds[most_ranks + 1];  ///< Rank r has the vertices [bounds[r], bounds[r + 1]).
  asked_slot* slots;                 ///< [size]
  unsigned* counts;                  ///< [most_ranks], zeroed before: of slots of each rank.
  unsigned* cursors;                 ///< [most_ranks], zeroed before.

  /// How many slots there are. Any thread.
  [[nodiscard]] TENDRIL_HD std::int64_t num_slots() const { return count != nullptr && *count < size ? *count : size; }

  /// The rank that has a vertex; -1 of no vertex.
  [[nodiscard]] TENDRIL_HD int owner_of(vertex_id v) const
  {
    if (v == no_vertex) { return -1; }
    int out = 0;
    for (int r = 1; r < num_ranks; ++r) { out += bounds[r] <= v ? 1 : 0; }
    return out;
  }
};

/// Enqueue both passes. Where among those of a rank a slot lies is chance.
void count_slots(slot_sort const& at, int device, cuda_stream stream);
void sort_slots(slot_sort const& at, int device, cuda_stream stream);

}  // namespace tendril::gpu
