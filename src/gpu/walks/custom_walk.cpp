// Walks that come as text on a GPU. CPU twin: src/cpu/walks/custom_walk.cpp.

#include <tendril/custom_walk.hpp>

#include <tendril/engine/walks/launch.hpp>

#include "gpu/device/custom_module.hpp"
#include "jit/custom_walk_state.hpp"

namespace tendril {
namespace gpu {
namespace {

bool has_bound(custom_module const& module) { return module.flags != 0; }

/// Enqueues a batch with the kernels of a module for graphs of this form, which must outlive what is returned, as `exec` must.
auto launcher(custom_module const& module, gpu_exec const& exec)
{
  return [&](engine::dynamic_setup<graph_view> const& setup, bool rejecting, engine::dynamic_batch const& batch) {
    engine::dynamic_kernels const kernels{module.kernels[0], module.kernels[1]};
    return engine::enqueue_kernels(kernels, module.bytes.data(), setup, rejecting, batch, {}, exec);
  };
}

}  // namespace
}  // namespace gpu

void custom_walk::compile(gpu_exec const& exec) const { (void)gpu::module_of(*state_, jit::unit_graph::csr, exec); }

void custom_walk::run_into(graph const& graph, std::span<vertex_id const> starts, dynamic_walk_params const& params,
                           std::int64_t first_walk, vertex_id* vertices, std::int32_t* lengths,
                           gpu_exec const& exec) const
{
  auto const module = gpu::module_of(*state_, jit::graph_of(graph.form()), exec);
  engine::run_walk_into(graph, starts, params, gpu::has_bound(*module), exec, first_walk, {vertices, lengths},
                        gpu::launcher(*module, exec));
}

walks custom_walk::run(graph const& graph, std::span<vertex_id const> starts, dynamic_walk_params const& params,
                       gpu_exec const& exec, std::int64_t first_walk) const
{
  auto const module = gpu::module_of(*state_, jit::graph_of(graph.form()), exec);
  return engine::run_walk_on_gpu(graph, starts, params, gpu::has_bound(*module), exec, first_walk,
                                 gpu::launcher(*module, exec));
}

ragged_walks custom_walk::run_ragged(graph const& graph, std::span<vertex_id const> starts,
                                     dynamic_walk_params const& params, gpu_exec const& exec,
                                     std::int64_t first_walk) const
{
  auto const module = gpu::module_of(*state_, jit::graph_of(graph.form()), exec);
  return engine::run_ragged_on_gpu(graph, starts, params, gpu::has_bound(*module), exec, first_walk,
                                   gpu::launcher(*module, exec));
}

}  // namespace tendril
