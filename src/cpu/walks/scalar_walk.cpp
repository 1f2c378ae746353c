#include "cpu/walks/scalar_walk.hpp"

#include "cpu/walks/row.hpp"
#include "cpu/walks/scalar_advance.hpp"

namespace tendril::cpu {
namespace {

template <class View>
void walk(walk_job const& job, View const& graph, walk_batch const& batch, walk_source& source)
{
  scalar_stepper next_of(job, graph);
  std::int64_t const stride = job.length() + std::int64_t{1};
  for (std::int64_t i = source.next(); i >= 0; i = source.next()) {
    vertex_id* const row = batch.vertices + i * stride;
    row[0] = batch.starts[static_cast<std::size_t>(i)];
    walker_position at{static_cast<std::uint64_t>(batch.first_walk + i), 0, row[0], no_vertex};
    bool const dead = !job.may_start_at(at.vertex) ||
                      advance(job, next_of, at, row, [](vertex_id) { return true; }) == standstill::at_dead_end;
    close_row(job, batch, row, at.step, dead);
    if (batch.lengths != nullptr) { batch.lengths[i] = at.step; }
  }
}

}  // namespace

void scalar_walk(walk_job const& job, walk_batch const& batch, walk_source& source)
{
  job.graph.visit([&](auto const& graph) { walk(job, graph, batch, source); });
}

vertex_id step_after_trials(walk_job const& job, walker_position const& at)
{
  return job.graph.visit([&](auto const& graph) { return scalar_stepper(job, graph).after_trials(at); });
}

}  // namespace tendril::cpu
