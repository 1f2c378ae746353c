// Weighted walks by rejection against each vertex's largest weight. CPU twin: src/cpu/walks/first_order.cpp.

#include "gpu/walks/launch.cuh"

namespace tendril::gpu {
namespace {

template <class Index>
void launch_reject(Index index, walk_job const& job, walk_batch const& batch, walk_shape const& shape)
{
  auto const& edges = job.tables->edges;
  csr_arrays const& view = candidates_of(job);
  weighted_proposer<Index> const proposer{
      {{job.tables->weighted_rows->data()}, index}, edges ? edges->data() : nullptr, view.indices, view.weights};
  launch_walk(reject_steps<Index>{proposer, start_rule_of(job), job.step_key}, batch, job.ends, shape);
}

}  // namespace

void reject_walk(walk_job const& job, walk_batch const& batch, walk_shape const& shape)
{
  if (job.tables->groups) {
    launch_reject(label_index_of(job), job, batch, shape);
  } else {
    launch_reject(vertex_index{}, job, batch, shape);
  }
}

}  // namespace tendril::gpu
