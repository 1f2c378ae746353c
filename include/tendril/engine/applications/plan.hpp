// Which executor of a GPU runs a step of a sampling application, and why. Host functions.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tendril/engine/applications/support.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril::engine {

/// What is planned for one step.
struct step_plan {
  sampling_executor executor = sampling_executor::sample_parallel;
  double sample_seconds = 0;   ///< What the step is estimated to take, sample-parallel,
  double transit_seconds = 0;  ///< and transit-parallel, which is how steps of a graph that streams are run.
  /// Above 0: the graph is in host memory and streams, in so many sub-graphs,
  std::int64_t num_subgraphs = 0;
  std::int64_t copied_bytes = 0;  ///< of which at most so many bytes are copied to the GPU in this step.
  std::string reason;             ///< One sentence.
};

/// Plans every step of a job; params.executor, if it is not automatic, is obeyed by those of a graph that doesn't stream.
/// Reads the degrees of a graph on the GPU once a graph, and only for an application that scans_neighbors: synchronises
/// then. @throws argument_error for a graph that must stream and a job that can't; device_error; memory_error.
[[nodiscard]] std::vector<step_plan> plan_steps(application_job const& job, graph const& graph,
                                                application_params const& params, gpu_exec const& exec);

}  // namespace tendril::engine
