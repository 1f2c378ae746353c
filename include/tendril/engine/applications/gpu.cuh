// Sampling applications on a GPU, for nvcc: the functions that users call. Kernels: engine/applications/calls.cuh,
// engine/applications/team.cuh, engine/applications/transit.cuh. Launches: engine/applications/launch.hpp. CPU twin:
// engine/applications/cpu.hpp.

#pragma once

#include <cstdint>
#include <span>

#include <tendril/engine/applications/launch.hpp>
#include <tendril/engine/applications/listed.cuh>
#include <tendril/engine/applications/plan.hpp>
#include <tendril/engine/applications/team.cuh>
#include <tendril/engine/applications/transit.cuh>
#include <tendril/gpu.hpp>

namespace tendril {
namespace engine {

/// The kernels of an application compiled with this header, for graphs of one form.
template <class A, class View>
[[nodiscard]] application_kernels kernels_of()
{
  application_kernels kernels;
  kernels.teams = reinterpret_cast<void const*>(team_kernel<A, View>);
  kernels.transits = reinterpret_cast<void const*>(transit_kernel<A, View>);
  if constexpr (!is_collective<A>) {
    kernels.lanes = reinterpret_cast<void const*>(lane_kernel<A, View>);
    kernels.calls = reinterpret_cast<void const*>(call_kernel<A, View>);
    kernels.few = reinterpret_cast<void const*>(few_calls_kernel<A, View>);
    kernels.block = reinterpret_cast<void const*>(block_calls_kernel<A, View>);
    kernels.grid = reinterpret_cast<void const*>(grid_calls_kernel<A, View>);
    if constexpr (application_has::reads_transit_only<A> && std::is_same_v<View, csr_view>) {
      kernels.listed = reinterpret_cast<void const*>(listed_call_kernel<A, View>);
    }
  }
  if constexpr (application_has::end_step<A>) {
    kernels.ends = reinterpret_cast<void const*>(end_step_kernel<A, View>);
  }
  return kernels;
}

/// Runs run_application with the random numbers of `domain`.
template <class A>
[[nodiscard]] samples run_in_domain(graph const& graph, A const& app, std::span<vertex_id const> roots,
                                    std::int64_t num_roots, application_params const& params, gpu_exec const& exec,
                                    std::int64_t first_sample, core::domain domain)
{
  require_application<A>();
  auto const kernels = visit_form<application_forms<A>>(
      graph.view(), [](auto const& view) { return kernels_of<A, std::decay_t<decltype(view)>>(); });
  auto const job = job_of(app, static_cast<std::int64_t>(roots.size()), num_roots, params);
  return run_on_gpu(kernels, &app, graph, job, roots, params, exec, first_sample, domain);
}

}  // namespace engine

/// Grows samples by an application on the GPU of `exec`. The bytes equal those of the CPU's overload with either
/// executor. Compile with --fmad=false.
///
/// @param graph  In the memory of exec.device, or of the host; in CSR form, or in any form if the application's
///               functions take `auto&`. A graph in host memory is copied to the GPU for the call if it takes at most
///               params.gpu_memory bytes. A larger graph, in CSR form, streams if the application allows it
///               (reads_transit_only, no recorded edges, no unique steps unless it is collective): its edges pass through
///               the GPU, step by step. Any other is placed for the call: it lies on the GPU in part, and kernels read
///               the rest over the bus. All data that `app` points to is in the memory of exec.device.
/// @param roots  [n, num_roots] vertices in that memory, row-major.
/// @return       In the memory of `exec`. Synchronises once, at the end; twice if edges are added; at least once per
///               step if the graph streams.
/// @throws argument_error as on the CPU; memory_error if not even the offsets of the graph fit; device_error.
template <class A>
[[nodiscard]] samples run_application(graph const& graph, A const& app, std::span<vertex_id const> roots,
                                      std::int64_t num_roots, application_params const& params, gpu_exec const& exec,
                                      std::int64_t first_sample = 0)
{
  return engine::run_in_domain(graph, app, roots, num_roots, params, exec, first_sample, core::domain::application);
}

/// Reports which executor run_application would use for each step of this many samples, and why. @throws as
/// run_application.
template <class A>
[[nodiscard]] std::vector<engine::step_plan> plan_application(graph const& graph, A const& app,
                                                              std::int64_t num_samples, std::int64_t num_roots,
                                                              application_params const& params, gpu_exec const& exec)
{
  require_application<A>();
  engine::expect_form<engine::application_forms<A>>(graph.view());
  return engine::plan_steps(engine::job_of(app, num_samples * num_roots, num_roots, params), graph, params, exec);
}

}  // namespace tendril
