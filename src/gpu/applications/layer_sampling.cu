// Layer sampling on a GPU, by the kernels of sampling applications. CPU twin: src/cpu/applications/layer_sampling.cpp.

#include <tendril/layer_sampling.hpp>

#include <tendril/engine/applications/gpu.cuh>

#include "samplers/applications/layer_sampling.hpp"

namespace tendril {

samples layer_sample(graph const& graph, std::span<vertex_id const> roots, std::int64_t num_roots,
                     layer_params const& params, gpu_exec const& exec, std::int64_t first_sample)
{
  auto const job = samplers::layer_sampling_job_of(params);
  return run_application(graph, job.app, roots, num_roots, job.params, exec, first_sample);
}

}  // namespace tendril
