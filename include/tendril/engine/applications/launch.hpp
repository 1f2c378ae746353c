// What the launches of sampling applications have in the library: memory, tables, the choice of an executor, problems.
// Host functions. The kernels are templates over the application (engine/application_*.cuh); they are launched by
// address, so that an application that was compiled at run time goes the same way.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include <tendril/engine/applications/support.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/plan.hpp>

namespace tendril::engine {

/// The kernels of one application: functions, or cudaKernel_t of a library. Each takes the application by value, then
/// application_setup, then what its own comment says.
struct application_kernels {
  void const* lanes = nullptr;     ///< lane_kernel: a thread a sample, all steps. Where steps make one call a sample.
  void const* calls = nullptr;     ///< call_kernel: a thread two calls of one step. Individual applications.
  void const* teams = nullptr;     ///< team_kernel: a block a sample, all steps or one.
  void const* ends = nullptr;      ///< end_step_kernel; null for an application without end_step().
  void const* transits = nullptr;  ///< transit_kernel: which transits a step has.
  void const* few = nullptr;       ///< Transit-parallel: transits with less calls than a warp has lanes,
  void const* block = nullptr;     ///< less than a block has threads,
  void const* grid = nullptr;      ///< and more.
  void const* listed = nullptr;    ///< listed_call_kernel: the calls of some pairs. Graphs that stream.
};

/// One call's memory on the GPU, and all that its launches share.
class application_run {
 public:
  /// Allocates from memory_of(exec) and enqueues copies of the tables, on the stream of `exec`. Refers to its arguments but
  /// the view, of which nothing is read here but the number of vertices.
  /// @throws argument_error for a negative first_sample; memory_error; device_error.
  application_run(graph_view const& graph, application_job const& job, std::span<vertex_id const> roots,
                  application_params const& params, std::int64_t first_sample, core::domain domain,
                  gpu_exec const& exec);

  application_job const& job;
  application_params const& params;
  gpu_exec const& exec;
  application_setup setup;           ///< Pointers are to device memory.
  std::uint64_t* problem = nullptr;  ///< Device memory: the least problem_code so far.
  samples out;

  /// Puts roots and states back to what they were: the job runs once more.
  void rewind();

  /// Waits for everything, and throws what went wrong. @throws argument_error; device_error.
  void finish();

 private:
  std::span<vertex_id const> roots_;
  buffer<unsigned char> tables_;
  buffer<unsigned char> states_;
  buffer<std::uint64_t> problem_;
};

struct team_task;

/// Enqueues team_kernel over the task's steps; its layout, scratch and problem are filled in here. For all samples, or
/// those that `copy` names.
void enqueue_team(application_kernels const& kernels, void const* app, application_run& run, team_task task,
                  combined_copy const& copy = {});

/// Enqueues one step, all samples of it, sample-parallel.
void enqueue_sample_step(application_kernels const& kernels, void const* app, application_run& run, std::int32_t step);

/// The same, transit-parallel: the map from transits to samples by a sort, transits cut into three classes by their
/// number of calls, a kernel a class. A unique step's later rounds are sample-parallel. Doesn't synchronise,
/// but once (per 2^27 pairs) for a collective application: for the sizes of what it copies.
void enqueue_transit_step(application_kernels const& kernels, void const* app, application_run& run, std::int32_t step);

/// A whole call on a GPU. Synchronises once at its end; once more where edges are added; more often for a graph in host
/// memory, which is copied or streamed. @throws as run_application.
[[nodiscard]] samples run_on_gpu(application_kernels const& kernels, void const* app, graph const& graph,
                                 application_job const& job, std::span<vertex_id const> roots,
                                 application_params const& params, gpu_exec const& exec, std::int64_t first_sample,
                                 core::domain domain);

}  // namespace tendril::engine
