// Slots of this rank's trees on their way to the ranks that have their vertices, and children on their way back.

#pragma once

#include <cstdint>

#include <tendril/types.hpp>

#include "gpu/ranks/inbox.hpp"  // most_ranks
#include "gpu/trees/khop.hpp"   // asked_slot

namespace tendril::gpu {

/// Slots that are sorted by the ranks that have their vertices: first those of this rank, then those of the others, in order.
struct slot_sort {
  vertex_id const* vertices;  ///< [size]; what is no vertex is nobody's.
  std::int64_t size;          ///< Below 2^31.
  int rank, num_ranks;
  vertex_id bounds[most_ranks + 1];  ///< Rank r has the vertices [bounds[r], bounds[r + 1]).
  asked_slot* slots;                 ///< [size]
  unsigned* counts;                  ///< [most_ranks], zeroed before: of slots of each rank.
  unsigned* cursors;                 ///< [most_ranks], zeroed before.

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

/// Enqueues the way of children into the rows of their slots: child j of slot i goes to place `slots[i].slot * fanout + j`.
/// @param edges  With its destination; or both null.
void place_children(asked_slot const* slots, std::int64_t size, std::uint32_t fanout, vertex_id const* vertices,
                    edge_id const* edges, vertex_id* to_vertices, edge_id* to_edges, cuda_stream stream);

}  // namespace tendril::gpu
