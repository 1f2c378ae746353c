// Host side of the launches of sampling applications, in the library: memory, tables, the choice of an executor, error
// reports. Host functions. The kernels are templates over the application (engine/application_*.cuh). They are launched
// by address, so that an application compiled at run time uses the same functions.

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

/// The kernels of one application for graphs of one form: functions, or cudaKernel_t of a library. Each kernel takes the application by value,
/// then application_setup, then the arguments that its own comment lists.
struct application_kernels {
  void const* lanes = nullptr;     ///< lane_kernel: a thread per sample, all steps. If steps make one call per sample.
  void const* calls = nullptr;     ///< call_kernel: one thread per two calls of one step. Individual applications.
  void const* teams = nullptr;     ///< team_kernel: one block per sample, all steps or one.
  void const* ends = nullptr;      ///< end_step_kernel; null for an application without end_step().
  void const* transits = nullptr;  ///< transit_kernel: finds the transits of a step.
  void const* few = nullptr;       ///< Transit-parallel: transits with fewer calls than a warp has lanes,
  void const* block = nullptr;     ///< fewer than a block has threads,
  void const* grid = nullptr;      ///< and more.
  void const* listed = nullptr;    ///< listed_call_kernel: the calls of a list of pairs. For graphs that stream.
};

/// The memory of one call on the GPU, and the data that all its launches share.
class application_run {
 public:
  /// Allocates from memory_of(exec) and enqueues copies of the tables on the stream of `exec`. Keeps references to all
  /// its arguments except the graph; of the graph it reads only the number of vertices here.
  /// @throws argument_error for a negative first_sample; memory_error; device_error.
  application_run(graph_view const& graph, application_job const& job, std::span<vertex_id const> roots,
                  application_params const& params, std::int64_t first_sample, core::domain domain,
                  gpu_exec const& exec);

  application_job const& job;
  application_params const& params;
  gpu_exec const& exec;
  application_setup<graph_view> setup;  ///< Its pointers are to device memory.
  std::uint64_t* problem = nullptr;     ///< Device memory: the least problem_code so far.
  samples out;

  /// Restores the initial roots and states, so that the job can run once more.
  void rewind();

  /// Waits for all work, and throws if a problem was reported. @throws argument_error; device_error.
  void finish();

 private:
  std::span<vertex_id const> roots_;
  buffer<unsigned char> tables_;
  buffer<unsigned char> states_;
  buffer<std::uint64_t> problem_;
};

struct team_task;

/// Enqueues team_kernel over the task's steps; this function fills in the task's layout, scratch and problem. The
/// launch covers all samples, or the samples that `copy` names.
void enqueue_team(application_kernels const& kernels, void const* app, application_run& run, team_task task,
                  combined_copy const& copy = {});

/// Enqueues one step of all samples, sample-parallel.
void enqueue_sample_step(application_kernels const& kernels, void const* app, application_run& run, std::int32_t step);

/// Enqueues one step of all samples, transit-parallel: a sort builds the map from transits to samples; transits are
/// divided into three classes by their number of calls; each class has one kernel. Later rounds of a unique step are
/// sample-parallel. Doesn't synchronise, with one exception: a collective application synchronises once (per 2^27
/// pairs), for the sizes of the copies.
void enqueue_transit_step(application_kernels const& kernels, void const* app, application_run& run, std::int32_t step);

/// Runs a whole call on a GPU. Synchronises once at the end; once more if edges are added; more often for a graph in
/// host memory, which is copied, streamed or placed. @throws as run_application.
[[nodiscard]] samples run_on_gpu(application_kernels const& kernels, void const* app, graph const& graph,
                                 application_job const& job, std::span<vertex_id const> roots,
                                 application_params const& params, gpu_exec const& exec, std::int64_t first_sample,
                                 core::domain domain);

}  // namespace tendril::engine
