// Layer sampling on the CPU, by the engine of sampling applications. GPU twin: src/gpu/applications/layer_sampling.cu.

#include <tendril/layer_sampling.hpp>

#include <tendril/engine/applications/cpu.hpp>

#include "samplers/applications/layer_sampling.hpp"

namespace tendril {

samples layer_sample(graph const& graph, std::span<vertex_id const> roots, std::int64_t num_roots,
                     layer_params const& params, cpu_exec const& exec, std::int64_t first_sample)
{
  auto const job = samplers::layer_sampling_job_of(params);
  return run_application(graph, job.app, roots, num_roots, job.params, exec, first_sample);
}

std::vector<planned_step> plan_layer_sample(graph const&, std::int64_t num_samples, std::int64_t num_roots,
                                            layer_params const& params, cpu_exec const&)
{
  auto const job = samplers::layer_sampling_job_of(params);
  return samplers::planned_on_cpu(
      engine::job_of(job.app, samplers::count_roots(num_samples, num_roots), num_roots, job.params));
}

}  // namespace tendril
