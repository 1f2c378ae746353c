// Applications that come as text on the CPU. What is in their library:
// include/tendril/engine/applications/custom_application_cpu.hpp. GPU twin: src/gpu/applications/custom_application.cpp.

#include <tendril/custom_application.hpp>

#include <tendril/engine/applications/cpu.hpp>
#include <tendril/engine/applications/custom_application_cpu.hpp>
#include <tendril/error.hpp>

#include "jit/custom_application_state.hpp"
#include "jit/custom_module.hpp"
#include "samplers/applications/layer_sampling.hpp"  // planned_on_cpu

namespace tendril {
namespace cpu {
namespace {

/// Puts what a library recorded of a run of samples into recorded_edges [num_steps], which `self` points to.
void take_edges(void* self, std::int32_t step, vertex_id const* sources, vertex_id const* targets,
                std::int64_t const* counts, std::int64_t num_samples)
{
  engine::recorded_edges& edges = static_cast<engine::recorded_edges*>(self)[step];
  edges.counts.insert(edges.counts.end(), counts, counts + num_samples);
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < num_samples; ++i) { total += counts[i]; }
  edges.sources.insert(edges.sources.end(), sources, sources + total);
  edges.targets.insert(edges.targets.end(), targets, targets + total);
}

/// Grows samples by the code of a module for graphs of this form, which must outlive what is returned.
engine::grow_run grower(jit::custom_module const& module)
{
  return [&](engine::application_setup<graph_view> const& setup, std::int64_t begin, std::int64_t end,
             engine::recorded_edges* edges) {
    engine::recorded_edge_sink const sink{edges, take_edges};
    std::uint64_t problem = engine::problem_code::none;
    auto* const grow = module.function<engine::custom_grow_function>(1);
    setup.graph.visit([&](auto const& view) {
      auto const own = engine::setup_with(setup, view);
      if (grow(module.bytes.data(), &own, begin, end, edges == nullptr ? nullptr : &sink, &problem) != 0) {
        throw memory_error("application: not enough memory to grow samples");
      }
    });
    return problem;
  };
}

/// The job of a call: what the application says of it.
engine::application_job job_of(jit::custom_module const& module, custom_application::state& state,
                               std::int64_t num_root_ids, std::int64_t num_roots, application_params const& params)
{
  auto const ask = [&](std::int32_t num_steps, engine::custom_about* about, engine::step_request* requests) {
    module.function<engine::custom_about_function>(0)(module.bytes.data(), num_steps, about, requests);
  };
  return jit::custom_job(state, jit::custom_code::host_place, ask, num_root_ids, num_roots, params);
}

}  // namespace
}  // namespace cpu

void custom_application::compile(cpu_exec const&) const { (void)jit::module_of(*state_, jit::unit_graph::csr); }

samples custom_application::run(graph const& graph, std::span<vertex_id const> roots, std::int64_t num_roots,
                                application_params const& params, cpu_exec const& exec, std::int64_t first_sample) const
{
  auto const module = jit::module_of(*state_, jit::graph_of(graph.form()));
  auto const job = cpu::job_of(*module, *state_, static_cast<std::int64_t>(roots.size()), num_roots, params);
  return engine::run_on_cpu(graph, job, roots, params, exec, first_sample, core::domain::application,
                            cpu::grower(*module));
}

std::vector<planned_step> custom_application::plan(graph const& graph, std::int64_t num_samples, std::int64_t num_roots,
                                                   application_params const& params, cpu_exec const&) const
{
  auto const module = jit::module_of(*state_, jit::graph_of(graph.form()));
  std::int64_t const num_root_ids = samplers::count_roots(num_samples, num_roots);
  return samplers::planned_on_cpu(cpu::job_of(*module, *state_, num_root_ids, num_roots, params));
}

}  // namespace tendril
