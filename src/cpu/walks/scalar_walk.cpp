#include "cpu/walks/scalar_walk.hpp"

#include "cpu/walks/row.hpp"
#include "cpu/walks/scalar_step.hpp"

namespace tendril::cpu {
namespace {

/// Steps taken by the walk that starts at row[0]; fills the row up to there and says whether it met a dead end.
std::int32_t walk_one(walk_job const& job, scalar_stepper& next_of, std::uint64_t walk, vertex_id* row, bool& dead)
{
  walker_position at{walk, 0, row[0], no_vertex};
  dead = !job.may_start_at(at.vertex);
  while (!dead && at.step < job.length()) {
    if (job.may_end()) {
      auto const ends = core::draw_block(job.end_key, walk, static_cast<std::uint32_t>(at.step), 0);
      if (job.stop.hit(ends.low())) { break; }
      if (job.restart.hit(ends.high())) {
        at.vertex = row[0];
        at.previous = no_vertex;
        row[++at.step] = at.vertex;
        continue;
      }
    }
    vertex_id const next = next_of(at);
    if (next == no_vertex) {
      dead = true;
      break;
    }
    at.previous = at.vertex;
    at.vertex = next;
    row[++at.step] = next;
  }
  return at.step;
}

}  // namespace

void scalar_walk(walk_job const& job, walk_batch const& batch, walk_source& source)
{
  scalar_stepper next_of(job);
  std::int64_t const stride = job.length() + std::int64_t{1};
  for (std::int64_t i = source.next(); i >= 0; i = source.next()) {
    vertex_id* const row = batch.vertices + i * stride;
    row[0] = batch.starts[static_cast<std::size_t>(i)];
    bool dead = false;
    std::int32_t const steps = walk_one(job, next_of, static_cast<std::uint64_t>(batch.first_walk + i), row, dead);
    close_row(job, row, steps, dead);
    if (batch.lengths != nullptr) { batch.lengths[i] = steps; }
  }
}

}  // namespace tendril::cpu
