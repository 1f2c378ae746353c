// Host side of the launches of dynamic walks, in the library: shapes, scratch memory, error reports. Host functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include <tendril/buffer.hpp>
#include <tendril/dynamic_walk.hpp>
#include <tendril/engine/walks/launch_state.hpp>
#include <tendril/engine/walks/part_walker.hpp>
#include <tendril/engine/walks/support.hpp>  // walk_output
#include <tendril/engine/walks/tuning.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril::engine {

struct launch_shape {
  unsigned num_blocks;
  unsigned block_threads;

  [[nodiscard]] std::uint32_t num_warps() const { return num_blocks * (block_threads / 32); }
};

/// The grid of a kernel with resident blocks: as many blocks as the device holds at once, or as `tuning` sets; at most
/// `most_threads` threads, unless that is negative. @throws argument_error for a tuning that no launch can have.
[[nodiscard]] launch_shape shape_of(void const* kernel, dynamic_tuning const& tuning, std::int64_t most_threads,
                                    gpu_exec const& exec);

/// @throws device_error naming the kernel if its launch failed.
void check_launch(char const* kernel);

/// @throws argument_error for a graph that is not on the GPU of `exec`, or a negative first_walk; device_error.
void check_gpu_call(graph const& graph, std::int64_t first_walk, gpu_exec const& exec);

/// Each vertex's largest weight, kept with the graph in its GPU's memory; null for a graph without weights.
[[nodiscard]] std::shared_ptr<buffer<float> const> largest_weights(graph const& graph, gpu_exec const& exec);

/// The memory of one launch: its launch state, and work-sharing data for the maximum number of warps.
class dynamic_workspace {
 public:
  [[nodiscard]] launch_state* desk() const { return desk_; }
  [[nodiscard]] work_sharing board(dynamic_tuning const& tuning) const
  {
    return {desk_, open_, scans_, num_warps_, tuning.share_from, tuning.share_chunk};
  }

  /// Waits for the launch. @throws argument_error naming the problem of the earliest walk with a problem; device_error.
  void rethrow(std::int64_t num_vertices) const;

 private:
  friend dynamic_workspace make_workspace(std::uint32_t num_warps, gpu_exec const& exec);
  explicit dynamic_workspace(gpu_exec const& exec) : exec_(exec) {}

  buffer<std::byte> memory_;  // freed in stream order, so it may be destroyed while the launch runs
  gpu_exec exec_{-1};         // make_workspace sets the device
  std::uint32_t num_warps_ = 0;
  launch_state* desk_ = nullptr;
  unsigned* open_ = nullptr;
  void* scans_ = nullptr;
};

/// Allocates and clears a workspace on the stream of `exec`; 128 bytes per warp.
[[nodiscard]] dynamic_workspace make_workspace(std::uint32_t num_warps, gpu_exec const& exec);

/// The kernels of one walk for graphs of one form, as the CUDA runtime launches them: functions, or cudaKernel_t of a library.
struct dynamic_kernels {
  void const* scan;    ///< scan_walk_kernel<W, View, …>
  void const* reject;  ///< reject_walk_kernel<W, View>; used only if the walk has a bound(state).
};

/// Enqueues one batch with valid parameters; the kernels check the starts. Allocates O(warps) from the memory of
/// `exec`, in stream order, and doesn't synchronise: problems are recorded in the launch state of the result.
/// @param walk   The struct that the kernels were compiled for; copied before this function returns.
/// @param setup  Its graph has the form that the kernels were compiled for.
[[nodiscard]] dynamic_workspace enqueue_kernels(dynamic_kernels const& kernels, void const* walk,
                                                dynamic_setup<graph_view> const& setup, bool rejecting,
                                                dynamic_batch const& batch, dynamic_tuning const& tuning,
                                                gpu_exec const& exec);

/// Enqueues the steps of walkers on a part of a graph, as enqueue_kernels does walks.
/// @param kernels  scan_steps_kernel<W, Transit, …> and reject_steps_kernel<W, Transit>.
/// @param setup    A dynamic_setup<Transit>; copied before this function returns.
[[nodiscard]] dynamic_workspace enqueue_steps(dynamic_kernels const& kernels, void const* walk, void const* setup,
                                              bool rejecting, part_batch const& batch, dynamic_tuning const& tuning,
                                              gpu_exec const& exec);

/// Runs a whole call on a GPU except the kernels: checks the arguments, computes the largest weights if the walk has a
/// bound(state), and synchronises once. `enqueue(setup, rejecting, batch)` does the rest. @throws as run_dynamic_walk.
void run_walk_into(
    graph const& graph, std::span<vertex_id const> starts, dynamic_walk_params const& params, bool has_bound,
    gpu_exec const& exec, std::int64_t first_walk, walk_output const& rows,
    std::function<dynamic_workspace(dynamic_setup<graph_view> const&, bool, dynamic_batch const&)> const& enqueue);

/// Does the same, and allocates the result in the memory of `exec`.
[[nodiscard]] walks run_walk_on_gpu(
    graph const& graph, std::span<vertex_id const> starts, dynamic_walk_params const& params, bool has_bound,
    gpu_exec const& exec, std::int64_t first_walk,
    std::function<dynamic_workspace(dynamic_setup<graph_view> const&, bool, dynamic_batch const&)> const& enqueue);

/// Does the same, slice by slice, without the unused ends of rows. @throws argument_error also for dead_end::repeat.
[[nodiscard]] ragged_walks run_ragged_on_gpu(
    graph const& graph, std::span<vertex_id const> starts, dynamic_walk_params const& params, bool has_bound,
    gpu_exec const& exec, std::int64_t first_walk,
    std::function<dynamic_workspace(dynamic_setup<graph_view> const&, bool, dynamic_batch const&)> const& enqueue);

}  // namespace tendril::engine
