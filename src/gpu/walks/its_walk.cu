// Weighted walks by search in prefix sums. CPU twin: src/cpu/walks/scalar_step.hpp.

#include "gpu/walks/launch.cuh"

namespace tendril::gpu {

void its_walk(walk_job const& job, walk_batch const& batch, walk_shape const& shape)
{
  if (job.tables->sums) {
    launch_summed<true>(job, batch, shape);
    return;
  }
  with_places(job, [&]<class Finder, class Targets>(Finder const& finder, Targets const& targets) {
    launch_direct(its_proposer<Finder, Targets>{finder, job.tables->prefix_sums->data(), targets}, job, batch, shape);
  });
}

}  // namespace tendril::gpu
