// Weighted walks by alias tables. CPU twin: src/cpu/walks/first_order.cpp.

#include "gpu/walks/launch.cuh"

namespace tendril::gpu {

void alias_walk(walk_job const& job, walk_batch const& batch, walk_shape const& shape)
{
  if (job.tables->sums) {
    launch_summed<false>(job, batch, shape);
    return;
  }
  if (job.tables->alias_hops) {
    launch_direct(alias_hop_proposer{wide_rows_of(job.graph), job.tables->alias_hops->data()}, job, batch, shape);
    return;
  }
  with_rows(job, [&]<class Finder>(Finder const& finder) {
    launch_direct(alias_proposer<Finder>{finder, job.tables->alias->data()}, job, batch, shape);
  });
}

}  // namespace tendril::gpu
