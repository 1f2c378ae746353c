// What dynamic walks on the GPU have in the library. The kernels: include/tendril/engine.

#include <algorithm>

#include <tendril/checked.hpp>
#include <tendril/engine/walks/launch.hpp>
#include <tendril/engine/walks/support.hpp>
#include <tendril/gpu.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "gpu/device/check.hpp"
#include "gpu/tables/derived_table.hpp"
#include "gpu/tables/tables.hpp"
#include "gpu/walks/ragged.hpp"
#include "graph/places.hpp"
#include "samplers/walks/walk_checks.hpp"

namespace tendril::engine {
namespace {

std::int64_t resident_blocks(void const* kernel, int block_threads, gpu_exec const& exec)
{
  int a_processor = 0;
  int processors = 0;
  TENDRIL_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&a_processor, kernel, block_threads, 0));
  TENDRIL_CUDA_TRY(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, exec.device));
  return std::int64_t{std::max(a_processor, 1)} * processors;
}

/// Launches one of `kernels`, which take the walk, a setup, `size` walkers as `batch` has them, and the workspace.
/// @param name  Of the kernel, for errors.
dynamic_workspace launch(dynamic_kernels const& kernels, bool rejecting, char const* name, void const* walk,
                         void const* setup, void const* batch, std::int64_t size, dynamic_tuning const& tuning,
                         gpu_exec const& exec)
{
  gpu::device_guard const guard(exec.device);
  void const* const kernel = rejecting ? kernels.reject : kernels.scan;
  launch_shape const shape = shape_of(kernel, tuning, rejecting ? size : -1, exec);
  dynamic_workspace space = make_workspace(rejecting ? 0 : shape.num_warps(), exec);
  work_sharing board = space.board(tuning);
  launch_state* desk = space.desk();
  int walks_a_turn = tuning.walks_a_turn;
  // The runtime copies what the arguments point to; it has no const for them.
  auto const pointer = [](void const* argument) { return const_cast<void*>(argument); };
  void* rejection[] = {pointer(walk), pointer(setup), pointer(batch), &desk};
  void* scan[] = {pointer(walk), pointer(setup), pointer(batch), &board, &desk, &walks_a_turn};
  if (cudaLaunchKernel(kernel, dim3(shape.num_blocks), dim3(shape.block_threads), rejecting ? rejection : scan, 0,
                       exec.stream) != cudaSuccess) {
    check_launch(name);
  }
  return space;
}

}  // namespace

launch_shape shape_of(void const* kernel, dynamic_tuning const& tuning, std::int64_t most_threads, gpu_exec const& exec)
{
  gpu::device_guard const guard(exec.device);
  TENDRIL_EXPECTS(tuning.block_threads >= 32 && tuning.block_threads <= 256 && tuning.block_threads % 32 == 0,
                  "block_threads: {}, expected a multiple of 32, at most 256", tuning.block_threads);
  TENDRIL_EXPECTS(tuning.num_blocks >= 0 && tuning.walks_a_turn >= 1,
                  "num_blocks, walks_a_turn: {}, {}, expected 0 "
                  "and 1 at least",
                  tuning.num_blocks, tuning.walks_a_turn);
  TENDRIL_EXPECTS(tuning.share_chunk >= 128 && tuning.share_chunk % 128 == 0 && tuning.share_from >= 1,
                  "share_chunk: {}, expected a multiple of 128", tuning.share_chunk);
  std::int64_t blocks = tuning.num_blocks > 0 ? tuning.num_blocks : resident_blocks(kernel, tuning.block_threads, exec);
  if (most_threads >= 0) {
    blocks =
        std::min(blocks, std::max<std::int64_t>(1, (most_threads + tuning.block_threads - 1) / tuning.block_threads));
  }
  return {static_cast<unsigned>(blocks), static_cast<unsigned>(tuning.block_threads)};
}

void check_launch(char const* kernel)
{
  cudaError_t const status = cudaGetLastError();
  if (status != cudaSuccess) { gpu::throw_cuda_error(status, kernel); }
}

void check_gpu_call(graph const& graph, std::int64_t first_walk, gpu_exec const& exec)
{
  validation::expect_on_gpu(graph, exec);
  TENDRIL_EXPECTS(first_walk >= 0, "first_walk: {}, expected 0 or more", first_walk);
}

std::shared_ptr<buffer<float> const> largest_weights(graph const& graph, gpu_exec const& exec)
{
  if (!graph.has_weights()) { return nullptr; }
  auto const statistics = gpu::known_statistics(graph, exec);
  return {statistics, &statistics->largest};
}

dynamic_workspace make_workspace(std::uint32_t num_warps, gpu_exec const& exec)
{
  constexpr std::size_t line = 128;
  auto const lines = [](std::size_t bytes) { return (bytes + line - 1) / line * line; };
  std::size_t const desk = lines(sizeof(launch_state));
  std::size_t const open = lines((num_warps + std::size_t{31}) / 32 * sizeof(unsigned));
  std::int64_t const scans = checked_product("scans of warps", num_warps, shared_scan_bytes);
  std::int64_t const all = checked_sum("workspace of walks", line, desk, open, scans);
  dynamic_workspace space(exec);
  space.num_warps_ = num_warps;
  space.memory_ = buffer<std::byte>(all, memory_of(exec));
  auto const begin = reinterpret_cast<std::uintptr_t>(space.memory_.data());
  std::byte* const aligned = space.memory_.data() + ((line - begin % line) % line);
  space.desk_ = reinterpret_cast<launch_state*>(aligned);
  space.open_ = reinterpret_cast<unsigned*>(aligned + desk);
  space.scans_ = aligned + desk + open;
  gpu::device_guard const guard(exec.device);
  TENDRIL_CUDA_TRY(cudaMemsetAsync(aligned, 0, desk + open, exec.stream));
  return space;
}

dynamic_workspace enqueue_kernels(dynamic_kernels const& kernels, void const* walk,
                                  dynamic_setup<graph_view> const& setup, bool rejecting, dynamic_batch const& batch,
                                  dynamic_tuning const& tuning, gpu_exec const& exec)
{
  return setup.graph.visit([&](auto const& view) {
    auto const own = setup_with(setup, view);
    return launch(kernels, rejecting, rejecting ? "reject_walk_kernel" : "scan_walk_kernel", walk, &own, &batch,
                  batch.size, tuning, exec);
  });
}

dynamic_workspace enqueue_steps(dynamic_kernels const& kernels, void const* walk, void const* setup, bool rejecting,
                                part_batch const& batch, dynamic_tuning const& tuning, gpu_exec const& exec)
{
  return launch(kernels, rejecting, rejecting ? "reject_steps_kernel" : "scan_steps_kernel", walk, setup, &batch,
                batch.size, tuning, exec);
}

void run_walk_into(
    graph const& graph, std::span<vertex_id const> starts, dynamic_walk_params const& params, bool has_bound,
    gpu_exec const& exec, std::int64_t first_walk, walk_output const& rows,
    std::function<dynamic_workspace(dynamic_setup<graph_view> const&, bool, dynamic_batch const&)> const& enqueue)
{
  bool const rejecting = rejects(params, has_bound);
  dynamic_setup<graph_view> setup = make_setup(graph.view(), params);
  check_gpu_call(graph, first_walk, exec);
  if (starts.empty()) { return; }
  std::shared_ptr<buffer<float> const> largest;
  if (has_bound) { largest = largest_weights(graph, exec); }
  if (largest) { setup.largest = largest->data(); }
  dynamic_workspace const space =
      enqueue(setup, rejecting,
              {starts.data(), static_cast<std::int64_t>(starts.size()), static_cast<std::uint64_t>(first_walk),
               rows.vertices, params.length + 1, 1, rows.lengths});
  space.rethrow(setup.graph.num_vertices);
}

walks run_walk_on_gpu(
    graph const& graph, std::span<vertex_id const> starts, dynamic_walk_params const& params, bool has_bound,
    gpu_exec const& exec, std::int64_t first_walk,
    std::function<dynamic_workspace(dynamic_setup<graph_view> const&, bool, dynamic_batch const&)> const& enqueue)
{
  (void)make_setup(graph.view(), params);  // a length that is none must not become a size
  auto const n = static_cast<std::int64_t>(starts.size());
  walks out{buffer<vertex_id>(checked_product("walks", n, params.length + 1), memory_of(exec)),
            buffer<std::int32_t>(n, memory_of(exec)), n, params.length};
  run_walk_into(graph, starts, params, has_bound, exec, first_walk, {out.vertices.data(), out.lengths.data()}, enqueue);
  return out;
}

ragged_walks run_ragged_on_gpu(
    graph const& graph, std::span<vertex_id const> starts, dynamic_walk_params const& params, bool has_bound,
    gpu_exec const& exec, std::int64_t first_walk,
    std::function<dynamic_workspace(dynamic_setup<graph_view> const&, bool, dynamic_batch const&)> const& enqueue)
{
  run_walk_into(graph, {}, params, has_bound, exec, first_walk, {}, enqueue);  // checks parameters before slices
  samplers::check_ragged(params.dead_ends);
  auto const make = [&](samplers::walk_slice const& slice, gpu::staged_walks const& out, gpu::workspace const&) {
    dynamic_walk_params part = params;
    part.length = slice.length;
    auto const from = starts.subspan(static_cast<std::size_t>(slice.first), static_cast<std::size_t>(slice.size));
    run_walk_into(graph, from, part, has_bound, exec, first_walk + slice.first, {out.vertices, out.lengths}, enqueue);
  };
  return gpu::make_ragged({{static_cast<std::int64_t>(starts.size()), params.length, params.stop_prob},
                           starts,
                           graph.num_vertices(),
                           false},
                          make, exec);
}

void dynamic_workspace::rethrow(std::int64_t num_vertices) const
{
  gpu::device_guard const guard(exec_.device);
  dynamic_report report{};
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(&report, &desk_->report, sizeof report, cudaMemcpyDeviceToHost, exec_.stream));
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec_.stream));
  if (report.what != dynamic_problem::none) { throw_problem(report, num_vertices); }
}

}  // namespace tendril::engine
