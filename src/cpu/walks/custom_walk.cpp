// Walks that come as text on the CPU. What is in their library: include/tendril/engine/walks/custom_walk_cpu.hpp. GPU twin:
// src/gpu/walks/custom_walk.cpp.

#include <tendril/custom_walk.hpp>

#include <tendril/engine/walks/custom_walk_cpu.hpp>
#include <tendril/engine/walks/support.hpp>

#include "jit/custom_module.hpp"
#include "jit/custom_walk_state.hpp"

namespace tendril {
namespace cpu {
namespace {

bool has_bound(jit::custom_module const& module) { return module.flags != 0; }

/// Walks a batch by the code of a module for graphs of this form; it must outlive what is returned, as `exec` must.
auto runner(jit::custom_module const& module, cpu_exec const& exec)
{
  return [&](engine::dynamic_setup<graph_view> const& setup, bool rejecting, engine::dynamic_batch const& batch) {
    setup.graph.visit([&](auto const& view) {
      auto* const walk = module.function<engine::custom_walk_function>(0);
      auto const own = engine::setup_with(setup, view);
      engine::for_each_run(batch.size, exec, [&](std::int64_t begin, std::int64_t end) {
        engine::dynamic_report report{};
        if (walk(module.bytes.data(), &own, rejecting ? 1 : 0, &batch, begin, end, &report) != 0) {
          engine::throw_problem(report, view.num_vertices);
        }
      });
    });
  };
}

}  // namespace
}  // namespace cpu

void custom_walk::compile(cpu_exec const&) const { (void)jit::module_of(*state_, jit::unit_graph::csr); }

void custom_walk::run_into(graph const& graph, std::span<vertex_id const> starts, dynamic_walk_params const& params,
                           std::int64_t first_walk, vertex_id* vertices, std::int32_t* lengths,
                           cpu_exec const& exec) const
{
  auto const module = jit::module_of(*state_, jit::graph_of(graph.form()));
  engine::run_walk_into(graph, starts, params, cpu::has_bound(*module), exec, first_walk, {vertices, lengths},
                        cpu::runner(*module, exec));
}

walks custom_walk::run(graph const& graph, std::span<vertex_id const> starts, dynamic_walk_params const& params,
                       cpu_exec const& exec, std::int64_t first_walk) const
{
  auto const module = jit::module_of(*state_, jit::graph_of(graph.form()));
  return engine::run_walk_on_cpu(graph, starts, params, cpu::has_bound(*module), exec, first_walk,
                                 cpu::runner(*module, exec));
}

ragged_walks custom_walk::run_ragged(graph const& graph, std::span<vertex_id const> starts,
                                     dynamic_walk_params const& params, cpu_exec const& exec,
                                     std::int64_t first_walk) const
{
  auto const module = jit::module_of(*state_, jit::graph_of(graph.form()));
  return engine::run_ragged_on_cpu(graph, starts, params, cpu::has_bound(*module), exec, first_walk,
                                   cpu::runner(*module, exec));
}

}  // namespace tendril
