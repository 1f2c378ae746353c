// One step of second-order walkers on a part: what it reads and writes. Such a walker may have to know whether the vertex before,
// which may be another rank's, leads to a candidate. It goes there and asks: the rank of the vertex before knows what the answer
// means, so that a candidate that stands needs no way back. A walker whose candidate falls goes back for its next trial. So
// walkers take steps at different times, and carry their step. (KnightKing, SOSP'19, sends questions and answers instead, and
// holds walkers back until all have answers.)

#pragma once

#include <cstdint>

#include <tendril/exec.hpp>  // cuda_stream
#include <tendril/types.hpp>

#include "gpu/ranks/boxes.hpp"
#include "gpu/walks/parts/part_ranks.hpp"

namespace tendril::gpu {

/// A walker on its way to the rank of its vertex.
struct alignas(16) walker_alone {
  std::uint32_t walk;
  std::int32_t step;  ///< Steps taken.
  vertex_id vertex;
  vertex_id previous;  ///< no_vertex after a start or restart.
};

/// A walker within a step: on its way to the rank of the vertex before, to ask for its candidate, or back.
struct alignas(8) asking_walker {
  std::uint32_t walk;
  std::int32_t step;
  vertex_id vertex;
  vertex_id previous;
  vertex_id candidate;  ///< Asked for; on the way back, of a race, the one that the answer was not for.
  std::uint32_t trial;  ///< Trials that are over, and `of_race`.

  static constexpr std::uint32_t of_race = 1U << 31U;  ///< Trials have run out.
};

/// A vertex of a row on its way home.
struct vertex_alone {
  std::uint32_t walk;
  std::int32_t step;
  vertex_id vertex;
};

/// One step of the walkers that are on this rank; or, of a batch that begins, their way to the ranks of their starts.
struct alone_step : part_ranks {
  /// Records for each rank.
  struct tally {
    unsigned walkers[most_ranks];
    unsigned asking[most_ranks];
    unsigned vertices[most_ranks];
  };
  using count = step_count<tally>;
  /// Ranks that a record goes to, or -1: as one kind of walker or the other, and its vertex, home.
  struct ways {
    int walker, asking, vertex;
  };

  walker_alone const* arrived;  ///< [num_arrived]: walkers that stand here.
  std::int64_t num_arrived;
  asking_walker const* asking;  ///< [num_asking]: that ask here, or come back.
  std::int64_t num_asking;
  vertex_alone const* told;  ///< [num_told]: vertices of walks of this rank.
  std::int64_t num_told;
  rank_boxes<walker_alone> walkers;  ///< Those that stay here are the front of the next `arrived`.
  rank_boxes<asking_walker>
      leaving;  ///< Those that ask, or go back. None stays: who knows the vertex before needn't ask.
  rank_boxes<vertex_alone> vertices;  ///< On their way home.
  count* counts;                      ///< Zeroed before. How many records are in the boxes, too.

  // What has become of a walker, as a record:

  [[nodiscard]] static TENDRIL_HD asking_walker ended(std::uint32_t walk)
  {
    return {walk, 0, no_vertex, no_vertex, no_vertex, 0};
  }
  /// It stands on `vertex` after `step` steps.
  [[nodiscard]] static TENDRIL_HD asking_walker moved(std::uint32_t walk, std::int32_t step, vertex_id vertex,
                                                      vertex_id previous)
  {
    return {walk, step, vertex, previous, no_vertex, 0};
  }
  [[nodiscard]] static TENDRIL_HD bool has_ended(asking_walker const& at) { return at.vertex == no_vertex; }
  /// Nobody goes back before a trial is over.
  [[nodiscard]] static TENDRIL_HD bool has_moved(asking_walker const& at)
  {
    return at.vertex != no_vertex && at.candidate == no_vertex && at.trial == 0;
  }

  /// Where a record goes.
  [[nodiscard]] TENDRIL_HD ways ways_of(asking_walker const& at) const
  {
    if (has_ended(at)) { return {-1, -1, -1}; }
    int const owner = owner_of(at.vertex);
    if (!has_moved(at)) { return {-1, owner == rank ? owner_of(at.previous) : owner, -1}; }
    int const to = goes_on(at.step) ? owner : -1;
    if (!keeps_rows()) { return {to, -1, -1}; }
    int const home = home_of(at.walk);
    // Whoever is at home, or comes there, writes its vertex into the row itself.
    return {to, -1, begins || home == rank || home == to ? -1 : home};
  }
};

/// Enqueues the writing of vertices that came to walks of this rank.
void deliver_vertices(alone_step const& at, cuda_stream stream);

}  // namespace tendril::gpu
