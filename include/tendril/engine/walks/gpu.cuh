// Dynamic walks on a GPU, for nvcc: the kernels, their launches, and the function that users call. The rules:
// engine/walks/step.hpp and src/core/race.hpp. CPU twin: engine/walks/cpu.hpp.

#pragma once

#include <cstdint>
#include <span>

#include <tendril/engine/walks/launch.hpp>
#include <tendril/engine/walks/reject_kernel.cuh>
#include <tendril/engine/walks/scan_kernel.cuh>
#include <tendril/engine/walks/support.hpp>
#include <tendril/gpu.hpp>

namespace tendril {
namespace engine {

/// Enqueues walks by scans with any sampler; the sampler's constructor takes `arguments`. `desk` is zeroed.
template <template <class, class> class Sampler, class W, class View>
void launch_scan_walk(W const& walk, dynamic_setup<View> const& setup, dynamic_batch const& batch,
                      typename Sampler<W, View>::arguments const& arguments, launch_state* desk,
                      launch_shape const& shape, int walks_a_turn, gpu_exec const& exec)
{
  scan_walk_kernel<W, View, Sampler>
      <<<shape.num_blocks, shape.block_threads, 0, exec.stream>>>(walk, setup, batch, arguments, desk, walks_a_turn);
  check_launch("scan_walk_kernel");
}

/// Enqueues a batch by a sampler without arguments on a grid of its own. Allocates O(1) from the memory of `exec`, in
/// stream order; problems of weights are not reported.
template <template <class, class> class Sampler, class W, class View>
void launch_by(W const& walk, dynamic_setup<View> const& setup, dynamic_batch const& batch,
               dynamic_tuning const& tuning, gpu_exec const& exec)
{
  auto const* const kernel = reinterpret_cast<void const*>(scan_walk_kernel<W, View, Sampler>);
  launch_shape const grid = shape_of(kernel, tuning, -1, exec);
  dynamic_workspace const space = make_workspace(0, exec);
  launch_scan_walk<Sampler>(walk, setup, batch, {}, space.desk(), grid, tuning.walks_a_turn, exec);
}

/// Calls enqueue_kernels for a walk that is compiled with this header.
template <class W>
[[nodiscard]] dynamic_workspace enqueue_dynamic_walk(W const& walk, dynamic_setup<graph_view> const& setup,
                                                     bool rejecting, dynamic_batch const& batch,
                                                     dynamic_tuning const& tuning, gpu_exec const& exec)
{
  auto const kernels = visit_form<walk_forms<W>>(setup.graph, [](auto const& view) {
    using view_type = std::decay_t<decltype(view)>;
    dynamic_kernels out{reinterpret_cast<void const*>(scan_walk_kernel<W, view_type, race_sampler>), nullptr};
    if constexpr (walk_has::bound<W>) { out.reject = reinterpret_cast<void const*>(reject_walk_kernel<W, view_type>); }
    return out;
  });
  return enqueue_kernels(kernels, &walk, setup, rejecting, batch, tuning, exec);
}

/// What run_walk_on_gpu calls for such a walk. Refers to all arguments.
template <class W>
auto launcher_of(W const& walk, dynamic_tuning const& tuning, gpu_exec const& exec)
{
  return [&](dynamic_setup<graph_view> const& setup, bool rejecting, dynamic_batch const& batch) {
    return enqueue_dynamic_walk(walk, setup, rejecting, batch, tuning, exec);
  };
}

}  // namespace engine

/// Runs a dynamic walk from each start on the GPU of `exec`; the bytes equal those of the CPU's overload.
///
/// Walks without bound(state), and walks with the rule scan, use one warp per walker and read every candidate's weight
/// once. Their memory in addition to output and starts is O(resident warps), for any degrees. Walks with bound(state)
/// use one thread per walker and read the largest weight of each vertex, which is computed once per graph.
///
/// @param graph   In the memory of exec.device; in CSR form, or in any form if the walk's functions take `auto const&`.
/// @param walk    All data it points to must be in that memory too. Compile with --fmad=false.
/// @param starts  [n] vertices in that memory, each below num_vertices.
/// @return [n, length + 1] vertices and [n] lengths in the memory of `exec`. The call synchronises once, at its end.
/// @throws argument_error as on the CPU, for the earliest walk with a problem; memory_error; device_error.
template <class W>
[[nodiscard]] walks run_dynamic_walk(graph const& graph, W const& walk, std::span<vertex_id const> starts,
                                     dynamic_walk_params const& params, gpu_exec const& exec,
                                     std::int64_t first_walk = 0, engine::dynamic_tuning const& tuning = {})
{
  require_dynamic_walk<W>();
  engine::expect_form<engine::walk_forms<W>>(graph.view());
  return engine::run_walk_on_gpu(graph, starts, params, walk_has::bound<W>, exec, first_walk,
                                 engine::launcher_of(walk, tuning, exec));
}

/// Makes the same walks without the unused ends of rows. Synchronises twice or more; the result is ordered on
/// exec.stream.
/// @throws argument_error as run_dynamic_walk; for dead_end::repeat, which fills rows.
template <class W>
[[nodiscard]] ragged_walks run_ragged_dynamic_walk(graph const& graph, W const& walk, std::span<vertex_id const> starts,
                                                   dynamic_walk_params const& params, gpu_exec const& exec,
                                                   std::int64_t first_walk = 0,
                                                   engine::dynamic_tuning const& tuning = {})
{
  require_dynamic_walk<W>();
  engine::expect_form<engine::walk_forms<W>>(graph.view());
  return engine::run_ragged_on_gpu(graph, starts, params, walk_has::bound<W>, exec, first_walk,
                                   engine::launcher_of(walk, tuning, exec));
}

}  // namespace tendril
