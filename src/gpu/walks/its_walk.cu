// Weighted walks by search in prefix sums. CPU twin: src/cpu/walks/scalar_step.hpp.

#include "gpu/walks/launch.cuh"

namespace tendril::gpu {

void its_walk(walk_job const& job, walk_batch const& batch, walk_shape const& shape)
{
  with_finder(job, [&]<class Finder>(Finder const& finder) {
    launch_direct(its_proposer<Finder>{finder, job.tables->prefix_sums->data(), candidates_of(job).indices}, job, batch,
                  shape);
  });
}

}  // namespace tendril::gpu
