// One step of walkers on a part that all keep step: what it reads and writes.

#pragma once

#include <cstdint>

#include <tendril/engine/walks/part_walker.hpp>
#include <tendril/exec.hpp>  // cuda_stream
#include <tendril/types.hpp>

#include "gpu/ranks/boxes.hpp"
#include "gpu/walks/moving/superstep.hpp"  // moved_vertex
#include "gpu/walks/parts/part_ranks.hpp"

namespace tendril::gpu {

/// A walker whose rule asks for the vertex before. Of others a moved_vertex says enough.
struct trailing_walker {
  std::uint32_t walk;
  vertex_id vertex;
  vertex_id previous;  ///< no_vertex after a start or restart.
};

/// A record of a walker.
template <class Walker>
[[nodiscard]] TENDRIL_HD Walker walker_at(std::uint32_t walk, vertex_id vertex, vertex_id previous)
{
  if constexpr (requires(Walker const& w) { w.previous; }) {
    return {walk, vertex, previous};
  } else {
    return {walk, vertex};
  }
}

/// One step of the walkers that stand on this rank; or, of a batch that begins, their way to the ranks of their starts.
/// @tparam Walker  moved_vertex or trailing_walker.
template <class Walker>
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

  std::int32_t step;      ///< Steps taken by the walkers.
  Walker const* arrived;  ///< [num_arrived]: walkers that stand here.
  std::int64_t num_arrived;
  moved_vertex const* told;  ///< [num_told]: of walks of this rank, vertices after `step` steps, and ends.
  std::int64_t num_told;
  rank_boxes<Walker> walkers;           ///< That go on; those that stay here are the front of the next `arrived`.
  rank_boxes<moved_vertex> vertices;    ///< Vertices and ends on their way home.
  count* counts;                        ///< Zeroed before. How many records are in the boxes, too.
  engine::decided_step const* decided;  ///< [num_arrived] What others have decided; or null: the rule's kernel does.
  std::uint8_t* dead;  ///< [walks_each] 1: this rank's walk has ended where no edge led on; or null: nobody asks.

  /// No walk.
  static constexpr std::uint32_t nobody = 0xffffffffU;

  /// Of a walk that has ended. @param is_dead  Its home is told, if it asks.
  [[nodiscard]] static TENDRIL_HD Walker ended(std::uint32_t walk, bool is_dead)
  {
    return walker_at<Walker>(is_dead ? walk : nobody, no_vertex, no_vertex);
  }

  /// Where a walker goes after its step.
  [[nodiscard]] TENDRIL_HD ways ways_of(Walker const& at) const
  {
    if (at.vertex == no_vertex) {
      if (dead == nullptr || at.walk == nobody) { return {-1, -1}; }
      int const home = home_of(at.walk);
      return {-1, home == rank ? -1 : home};
    }
    int const to = begins || goes_on(step + 1) ? owner_of(at.vertex) : -1;
    if (!keeps_rows()) { return {to, -1}; }
    int const home = home_of(at.walk);
    // Whoever is at home, or comes there, writes its vertex into the row itself.
    return {to, begins || home == rank || home == to ? -1 : home};
  }
};

/// Enqueues the writing of vertices and ends that came to walks of this rank.
template <class Walker>
void deliver_vertices(part_step<Walker> const& at, cuda_stream stream);

/// Enqueues the description of the walkers that stand here to whoever decides their steps. A walk's start is known where `starts`
/// are, and before its first step.
/// @param out  [num_arrived]
template <class Walker>
void describe_walkers(part_step<Walker> const& at, engine::part_walker* out, cuda_stream stream);

/// Enqueues the steps that are decided; or, of a batch that begins, the way to the starts.
template <class Walker>
void take_decided_steps(part_step<Walker> const& at, vertex_id const* starts, std::int64_t num_starts, int device,
                        cuda_stream stream);

}  // namespace tendril::gpu
