// Applications that come as text on a GPU. CPU twin: src/cpu/applications/custom_application.cpp.

#include <tendril/custom_application.hpp>

#include <algorithm>

#include <tendril/engine/applications/launch.hpp>
#include <tendril/gpu.hpp>

#include "gpu/applications/planned_steps.hpp"
#include "gpu/device/check.hpp"
#include "gpu/device/custom_module.hpp"
#include "jit/custom_application_state.hpp"
#include "samplers/applications/layer_sampling.hpp"  // count_roots

namespace tendril {
namespace gpu {
namespace {

/// Those that run_on_gpu may use, in the order in which src/jit/custom_application.cpp names them.
engine::application_kernels kernels_of(custom_module const& module, engine::application_traits const& traits)
{
  auto const& kernels = module.kernels;
  engine::application_kernels out;
  out.teams = kernels[1];
  out.transits = kernels[5];
  if (traits.ends_steps) { out.ends = kernels[4]; }
  if (!traits.collective) {
    out.lanes = kernels[2];
    out.calls = kernels[3];
    out.few = kernels[6];
    out.block = kernels[7];
    out.grid = kernels[8];
    out.listed = kernels[9];
  }
  return out;
}

/// Has the GPU ask the application. Synchronises.
void ask_on(custom_module const& module, std::int32_t num_steps, engine::custom_about* about,
            engine::step_request* requests, gpu_exec const& exec)
{
  device_guard const device(exec.device);
  buffer<engine::custom_about> about_there(1, memory_of(exec));
  buffer<engine::step_request> requests_there(num_steps, memory_of(exec));
  auto* about_out = about_there.data();
  auto* requests_out = requests_there.data();
  void* arguments[] = {const_cast<std::byte*>(module.bytes.data()), &num_steps, &about_out, &requests_out};
  constexpr unsigned threads = 128;
  auto const blocks = static_cast<unsigned>(std::max(num_steps, 1) + threads - 1) / threads;
  TENDRIL_CUDA_TRY(cudaLaunchKernel(module.kernels[0], dim3(blocks), dim3(threads), arguments, 0, exec.stream));
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(about, about_out, sizeof *about, cudaMemcpyDeviceToHost, exec.stream));
  if (num_steps > 0) {
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(requests, requests_out, static_cast<std::size_t>(num_steps) * sizeof *requests,
                                     cudaMemcpyDeviceToHost, exec.stream));
  }
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
}

/// The job of a call: what the application says of it. Synchronises where it wasn't asked before.
engine::application_job job_of(custom_module const& module, custom_application::state& state, std::int64_t num_root_ids,
                               std::int64_t num_roots, application_params const& params, gpu_exec const& exec)
{
  auto const ask = [&](std::int32_t num_steps, engine::custom_about* about, engine::step_request* requests) {
    ask_on(module, num_steps, about, requests, exec);
  };
  return jit::custom_job(state, exec.device, ask, num_root_ids, num_roots, params);
}

}  // namespace
}  // namespace gpu

void custom_application::compile(gpu_exec const& exec) const
{
  (void)gpu::module_of(*state_, jit::unit_graph::csr, exec);
}

samples custom_application::run(graph const& graph, std::span<vertex_id const> roots, std::int64_t num_roots,
                                application_params const& params, gpu_exec const& exec, std::int64_t first_sample) const
{
  auto const module = gpu::module_of(*state_, jit::graph_of(graph.form()), exec);
  auto const job = gpu::job_of(*module, *state_, static_cast<std::int64_t>(roots.size()), num_roots, params, exec);
  return engine::run_on_gpu(gpu::kernels_of(*module, job.traits), module->bytes.data(), graph, job, roots, params, exec,
                            first_sample, core::domain::application);
}

std::vector<planned_step> custom_application::plan(graph const& graph, std::int64_t num_samples, std::int64_t num_roots,
                                                   application_params const& params, gpu_exec const& exec) const
{
  auto const module = gpu::module_of(*state_, jit::graph_of(graph.form()), exec);
  std::int64_t const num_root_ids = samplers::count_roots(num_samples, num_roots);
  auto const job = gpu::job_of(*module, *state_, num_root_ids, num_roots, params, exec);
  return gpu::planned_on_gpu(job, graph, params, exec);
}

}  // namespace tendril
