// How one walker goes from step to step, for the executors that move one walker at a time.

#pragma once

#include "cpu/walks/scalar_step.hpp"

namespace tendril::cpu {

/// Why a walker stands still.
enum class standstill {
  finished,     ///< It took all its steps, or was told to stop.
  at_dead_end,  ///< It can't go on.
  away,         ///< It came to a vertex that `stays` refuses.
};

/// Moves a walker from where it stands, and fills its row up to where it stands then.
/// @param row    Of the walk: row[0] is its start, row[at.step] where it stands.
/// @param stays  Of a vertex: whether its edges may be read now.
template <class View, class Stays>
standstill advance(walk_job const& job, scalar_stepper<View>& next_of, walker_position& at, vertex_id* row, Stays stays)
{
  while (at.step < job.length()) {
    if (!stays(at.vertex)) { return standstill::away; }
    if (job.may_end()) {
      auto const turn = job.ends.turn(at.walk, at.step);
      if (turn == core::walk_turn::stop) { break; }
      if (turn == core::walk_turn::restart) {
        at.vertex = row[0];
        at.previous = no_vertex;
        row[++at.step] = at.vertex;
        continue;
      }
    }
    vertex_id const next = next_of(at);
    if (next == no_vertex) { return standstill::at_dead_end; }
    at.previous = at.vertex;
    at.vertex = next;
    row[++at.step] = next;
  }
  return standstill::finished;
}

}  // namespace tendril::cpu
