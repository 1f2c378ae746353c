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

/// Slots that are sorted by the ranks that have their vertices: first those of this rank, then those of the others, in order, and
/// last those that this rank has copies of.
struct slot_sort {
  vertex_id const* vertices;  ///< [size], of slot 0, 1, …; no_vertex is nobody's.
  std::int64_t size;          ///< Below 2^31.
  std::int64_t const* count;  ///< [1], in the memory of the GPU: slots from there on are none; or null.
  int rank, num_ranks;
  vertex_id bounds[most_ranks + 1];  ///< Rank r has the vertices [bounds[r], bounds[r + 1]).
  vertex_id const*
      copy_of;        ///< Of each vertex of all ranks the number of its copy here, or no_vertex; null: no copies.
  asked_slot* slots;  ///< [size]
  unsigned* counts;   ///< [most_groups], zeroed before: of slots of each rank, and behind them of copies.
  unsigned* cursors;  ///< [most_groups], zeroed before.

  [[nodiscard]] TENDRIL_HD int num_groups() const { return num_ranks + (copy_of != nullptr ? 1 : 0); }

  /// How many slots there are. Any thread.
  [[nodiscard]] TENDRIL_HD std::int64_t num_slots() const { return count != nullptr && *count < size ? *count : size; }

  /// Where the row of a vertex is.
  struct place {
    int group;  ///< The rank that has it, num_ranks of a copy, -1 of no vertex.
    vertex_id row;
  };
  [[nodiscard]] TENDRIL_HD place place_of(vertex_id v) const
  {
    if (v == no_vertex) { return {-1, v}; }
    if (copy_of != nullptr && copy_of[v] != no_vertex) { return {num_ranks, copy_of[v]}; }
    int owner = 0;
    for (int r = 1; r < num_ranks; ++r) { owner += bounds[r] <= v ? 1 : 0; }
    return {owner, v - bounds[owner]};
  }
};

/// Enqueue both passes. Where among those of a rank a slot lies is chance.
void count_slots(slot_sort const& at, int device, cuda_stream stream);
void sort_slots(slot_sort const& at, int device, cuda_stream stream);

/// Enqueues to[slots[i].slot] = of_slots[i]. Pointers are device memory.
/// @tparam T  std::int64_t or float.
template <class T>
void place_answers(asked_slot const* slots, std::int64_t size, T const* of_slots, T* to, cuda_stream stream);

}  // namespace tendril::gpu
