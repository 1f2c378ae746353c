// Weighted walks by rejection against each vertex's largest weight. CPU twin: src/cpu/walks/first_order.cpp.

#include "gpu/walks/launch.cuh"

namespace tendril::gpu {
namespace {

template <class View, class Index>
void launch_reject(View const& view, Index index, walk_job const& job, walk_batch const& batch, walk_shape const& shape)
{
  auto proposer = weighted_proposer_of(view, index, job);
  launch_walk(reject_steps<decltype(proposer)>{proposer, start_rule_of(job), job.step_key}, batch, job.ends, shape);
}

}  // namespace

void reject_walk(walk_job const& job, walk_batch const& batch, walk_shape const& shape)
{
  if (job.tables->groups) {
    launch_reject(csr_view(job.tables->groups->rows), label_index_of(job), job, batch, shape);
  } else {
    job.graph.visit([&](auto const& view) { launch_reject(view, vertex_index{}, job, batch, shape); });
  }
}

}  // namespace tendril::gpu
