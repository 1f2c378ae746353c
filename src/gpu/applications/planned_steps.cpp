#include "gpu/applications/planned_steps.hpp"

#include <utility>

#include <tendril/engine/applications/plan.hpp>
#include <tendril/layer_sampling.hpp>

#include "samplers/applications/layer_sampling.hpp"

namespace tendril {
namespace gpu {

std::vector<planned_step> planned_on_gpu(engine::application_job const& job, graph const& graph,
                                         application_params const& params, gpu_exec const& exec)
{
  auto steps = samplers::planned_shapes(job);
  auto plans = engine::plan_steps(job, graph, params, exec);
  for (std::size_t t = 0; t < steps.size(); ++t) {
    steps[t].executor = plans[t].executor;
    steps[t].sample_seconds = plans[t].sample_seconds;
    steps[t].transit_seconds = plans[t].transit_seconds;
    steps[t].reason = std::move(plans[t].reason);
  }
  return steps;
}

}  // namespace gpu

std::vector<planned_step> plan_layer_sample(graph const& graph, std::int64_t num_samples, std::int64_t num_roots,
                                            layer_params const& params, gpu_exec const& exec)
{
  auto const job = samplers::layer_sampling_job_of(params);
  return gpu::planned_on_gpu(
      engine::job_of(job.app, samplers::count_roots(num_samples, num_roots), num_roots, job.params), graph, job.params,
      exec);
}

}  // namespace tendril
