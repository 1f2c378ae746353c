// One step of walkers on a part that all keep step: what it reads and writes.

#pragma once

#include <cstdint>

#include <tendril/exec.hpp>  // cuda_stream
#include <tendril/types.hpp>

#include "gpu/walks/moving/superstep.hpp"  // moved_vertex
#include "gpu/walks/parts/part_ranks.hpp"

namespace tendril::gpu {

/// One step of the walkers that stand on this rank; or, of a batch that begins, their way to the ranks of their starts.
struct part_step : part_ranks {
  /// Records for each rank.
  struct tally {
    unsigned walkers[most_ranks];
    unsigned vertices[most_ranks];
  };
  using count = step_count<tally>;
  /// Ranks that a record goes to, or -1.
  struct ways {
    int walker;  ///< The walker, to the rank that has its vertex.
    int vertex;  ///< Its vertex, to the home.
  };

  std::int32_t step;            ///< Steps taken by the walkers.
  moved_vertex const* arrived;  ///< [num_arrived]: walkers that stand here.
  std::int64_t num_arrived;
  moved_vertex const* told;  ///< [num_told]: vertices of walks of this rank after `step` steps.
  std::int64_t num_told;
  moved_vertex*
      stepped;    ///< [num_arrived], or [size of the batch]: where walkers went; no_vertex where a walk has ended.
  count* counts;  ///< Zeroed before.

  // What the sorting writes:
  tally* cursors;          ///< Zeroed before.
  moved_vertex* staying;   ///< Walkers that stay here: the front of the next `arrived`.
  moved_vertex* walkers;   ///< Those that leave, by rank.
  moved_vertex* vertices;  ///< Vertices that leave, by rank.

  /// Where a record of `stepped` goes.
  [[nodiscard]] TENDRIL_HD ways ways_of(moved_vertex const& at) const
  {
    if (at.vertex == no_vertex) { return {-1, -1}; }
    bool const goes_on = begins || step + 1 < length;
    int const to = goes_on ? owner_of(at.vertex) : -1;
    int const home = home_of(at.walk);
    // Whoever is at home, or comes there, writes its vertex into the row itself.
    return {to, begins || home == rank || home == to ? -1 : home};
  }
};

/// Enqueues the sorting of what a step has made.
/// @param size  Of `stepped`.
void sort_by_rank(part_step const& at, std::int64_t size, int device, cuda_stream stream);

}  // namespace tendril::gpu
