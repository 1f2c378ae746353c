// Uniform picks of k-hop trees. The kernels: src/gpu/picks/pick_kernels.cuh. CPU twin: src/cpu/picks/neighbor_picks.hpp.

#include "gpu/trees/part.cuh"

namespace tendril::gpu {

void uniform_hop(khop_job const& job, gpu_exec const& exec)
{
  with_view(job, [&](auto const& work) { enqueue_uniform(work, job.replace, job.most_picks >= job.fanout, exec); });
}

}  // namespace tendril::gpu
