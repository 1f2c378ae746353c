// Passes of weighted walks by regions (region_pass.cuh): lists pass, weights are read where they lie.

#include "gpu/walks/region_pass.cuh"

namespace tendril::gpu {

void pass_region_by_sums(walk_job const& job, walk_batch const& batch, waiting_walks const& state,
                         region_pass const& pass, walk_shape const& shape)
{
  region_view const view = region_view_of(job, pass);
  if (job.rule == sampling_rule::its) {
    launch_region_pass<direct_steps>(summed_proposer_of<true>(view, vertex_index{}, job), job, batch, state, pass,
                                     shape);
  } else {
    launch_region_pass<direct_steps>(summed_proposer_of<false>(view, vertex_index{}, job), job, batch, state, pass,
                                     shape);
  }
}

void pass_region_by_reject(walk_job const& job, walk_batch const& batch, waiting_walks const& state,
                           region_pass const& pass, walk_shape const& shape)
{
  launch_region_pass<reject_steps>(weighted_proposer_of(region_view_of(job, pass), vertex_index{}, job), job, batch,
                                   state, pass, shape);
}

}  // namespace tendril::gpu
