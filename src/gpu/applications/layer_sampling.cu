// Layer sampling on a GPU, by the kernels of sampling applications. CPU twin: src/cpu/applications/layer_sampling.cpp.

#include <tendril/layer_sampling.hpp>

#include <tendril/engine/applications/gpu.cuh>
#include <tendril/place.hpp>

#include "gpu/applications/shared_samples.hpp"
#include "gpu/device/check.hpp"
#include "samplers/applications/layer_sampling.hpp"

namespace tendril {

samples layer_sample(graph const& graph, std::span<vertex_id const> roots, std::int64_t num_roots,
                     layer_params const& params, gpu_exec const& exec, std::int64_t first_sample)
{
  auto const job = samplers::layer_sampling_job_of(params);
  gpu::sample_makers const make{[&](std::span<vertex_id const> part, std::int64_t first) {
                                  return run_application(graph, job.app, part, num_roots, job.params, exec, first);
                                },
                                [&](std::span<vertex_id const> part, std::int64_t first, cpu_exec const& threads) {
                                  return layer_sample(graph.placed()->host, part, num_roots, params, threads, first);
                                }};
  auto const whole = engine::job_of(job.app, static_cast<std::int64_t>(roots.size()), num_roots, job.params);
  if (!gpu::can_share_samples(graph, whole)) { return make.on_gpu(roots, first_sample); }
  gpu::device_guard const guard(exec.device);
  return gpu::share_samples(graph, whole, job.params, roots, first_sample, make, exec);
}

}  // namespace tendril
