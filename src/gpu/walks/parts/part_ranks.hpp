// Walks of ranks that each have a part of a graph on a GPU: what a step of the walkers of one rank knows of all ranks. Ranks may be
// other processes, so a step writes its own memory alone; what goes to other ranks is left in boxes of theirs (gpu/ranks/boxes.hpp), and sent
// (gpu/ranks/messages.hpp). (KnightKing, SOSP'19, walks so on CPUs.)
//
// Every rank is the home of its own walks: walk `home * walks_each + i` is the i-th walk of that rank's batch. A walker that steps
// on another rank, and doesn't go home, tells its home the new vertex. Walks that are counted have no rows, and tell their home nothing: a
// walker that comes to a vertex counts there, so it goes there after its last step, too.

#pragma once

#include <cstdint>

#include <tendril/types.hpp>

#include "gpu/ranks/inbox.hpp"  // most_ranks
#include "gpu/walks/counts.hpp"

namespace tendril::gpu {

/// Blocks of these kernels are so short that messages of the other batch, which need room on the GPU, needn't wait for long:
/// a grid has this many times as many as run at once.
inline constexpr std::int64_t part_waves = 4;

struct part_ranks {
  int rank, num_ranks;
  bool begins;                            ///< Walks of a batch begin: walkers go to the ranks of their starts.
  bool may_end;                           ///< Whether core::walk_ends can end or restart a walk.
  std::int32_t length;                    ///< Steps of a whole walk.
  std::uint32_t walks_each;               ///< Walks of a home, at most.
  vertex_id bounds[most_ranks + 1];       ///< Rank r has the vertices [bounds[r], bounds[r + 1]).
  std::uint64_t first_walks[most_ranks];  ///< Logical id of each home's first walk.
  vertex_id const* starts;                ///< [num_ranks * walks_each]; null if no walk restarts.
  vertex_id* columns;                     ///< [length + 1, walks_each]: rows of this rank's walks, by steps; or null:
  vertex_counters counters;               ///< walks are counted, at this rank's vertices.

  /// The rank that has a vertex.
  [[nodiscard]] TENDRIL_HD int owner_of(vertex_id v) const
  {
    int out = 0;
    for (int r = 1; r < num_ranks; ++r) { out += bounds[r] <= v ? 1 : 0; }
    return out;
  }
  [[nodiscard]] TENDRIL_HD bool is_here(vertex_id v) const { return v >= bounds[rank] && v < bounds[rank + 1]; }
  [[nodiscard]] TENDRIL_HD int home_of(std::uint32_t walk) const { return static_cast<int>(walk / walks_each); }
  /// The first of this rank's walks.
  [[nodiscard]] TENDRIL_HD std::uint32_t first_here() const { return static_cast<std::uint32_t>(rank) * walks_each; }
  /// The logical id of a walk of `home`.
  [[nodiscard]] TENDRIL_HD std::uint64_t id_of(std::uint32_t walk, int home) const
  {
    return first_walks[home] + (walk - static_cast<std::uint32_t>(home) * walks_each);
  }
  [[nodiscard]] TENDRIL_HD bool keeps_rows() const { return columns != nullptr; }
  /// Whether a walker goes to the rank of its vertex after so many steps.
  [[nodiscard]] TENDRIL_HD bool goes_on(std::int32_t steps) const { return steps < length || !keeps_rows(); }
  /// Where a vertex of one of this rank's walks goes, after so many steps.
  [[nodiscard]] TENDRIL_HD vertex_id* place_in_row(std::uint32_t walk, std::int32_t step) const
  {
    return columns + static_cast<std::int64_t>(step) * walks_each + (walk - first_here());
  }
};

/// What the host is told of a step.
/// @tparam Tally  Records of each kind for each rank: arrays of unsigned[most_ranks].
template <class Tally>
struct step_count {
  Tally sent;
  unsigned taken;  ///< Steps.
  unsigned asked;  ///< Questions to other ranks.
};

}  // namespace tendril::gpu
