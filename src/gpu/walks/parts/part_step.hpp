// Walks of ranks that each have a part of a graph on a GPU: what one step of the walkers of one rank reads and writes. Ranks may
// be other processes, so a step writes its own memory alone; what goes to other ranks is sorted by them, and sent
// (gpu/ranks/messages.hpp). All walkers of a batch keep step. (KnightKing, SOSP'19, walks so on CPUs.)
//
// Every rank is the home of its own walks: walk `home * walks_each + i` is the i-th walk of that rank's batch. A walker that steps
// on another rank, and doesn't go home, tells its home the new vertex.

#pragma once

#include <cstdint>

#include <tendril/exec.hpp>  // cuda_stream
#include <tendril/types.hpp>

#include "gpu/walks/moving/superstep.hpp"  // moved_vertex

namespace tendril::gpu {

/// Blocks of these kernels are so short that messages of the other batch, which need room on the GPU, needn't wait for long:
/// a grid has this many times as many as run at once.
inline constexpr std::int64_t part_waves = 4;

/// One step of the walkers that stand on this rank; or, of a batch that begins, their way to the ranks of their starts.
struct part_step {
  /// Records for each rank.
  struct tally {
    unsigned walkers[most_ranks];
    unsigned vertices[most_ranks];
  };
  /// What the host is told of a step.
  struct count {
    tally sent;
    unsigned taken;  ///< Steps.
  };
  /// Ranks that a record goes to, or -1.
  struct ways {
    int walker;  ///< The walker, to the rank that has its vertex.
    int vertex;  ///< Its vertex, to the home.
  };

  int rank, num_ranks;
  bool begins;
  bool may_end;                           ///< Whether core::walk_ends can end or restart a walk.
  std::int32_t step, length;              ///< Steps taken by the walkers; of a whole walk.
  std::uint32_t walks_each;               ///< Walks of a home, at most.
  vertex_id bounds[most_ranks + 1];       ///< Rank r has the vertices [bounds[r], bounds[r + 1]).
  std::uint64_t first_walks[most_ranks];  ///< Logical id of each home's first walk.
  vertex_id const* starts;                ///< [num_ranks * walks_each]; null if no walk restarts.
  moved_vertex const* arrived;            ///< [num_arrived]: walkers that stand here.
  std::int64_t num_arrived;
  moved_vertex const* told;  ///< [num_told]: vertices of walks of this rank after `step` steps.
  std::int64_t num_told;
  vertex_id* columns;  ///< [length + 1, walks_each]: rows of this rank's walks, by steps.
  moved_vertex*
      stepped;    ///< [num_arrived], or [size of the batch]: where walkers went; no_vertex where a walk has ended.
  count* counts;  ///< Zeroed before.

  // What the sorting writes:
  tally* cursors;          ///< Zeroed before.
  moved_vertex* staying;   ///< Walkers that stay here: the front of the next `arrived`.
  moved_vertex* walkers;   ///< Those that leave, by rank.
  moved_vertex* vertices;  ///< Vertices that leave, by rank.

  /// The rank that has a vertex.
  [[nodiscard]] TENDRIL_HD int owner_of(vertex_id v) const
  {
    int out = 0;
    for (int r = 1; r < num_ranks; ++r) { out += bounds[r] <= v ? 1 : 0; }
    return out;
  }
  [[nodiscard]] TENDRIL_HD int home_of(std::uint32_t walk) const { return static_cast<int>(walk / walks_each); }
  /// The first of this rank's walks.
  [[nodiscard]] TENDRIL_HD std::uint32_t first_here() const { return static_cast<std::uint32_t>(rank) * walks_each; }

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
