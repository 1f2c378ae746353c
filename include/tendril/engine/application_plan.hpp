// Which executor of a GPU runs a step of a sampling application, and why. Host functions.

#pragma once

#include <string>
#include <vector>

#include <tendril/engine/application_support.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril::engine {

/// What is planned for one step.
struct step_plan {
  sampling_executor executor = sampling_executor::sample_parallel;
  double sample_seconds = 0;   ///< What the step is estimated to take, sample-parallel,
  double transit_seconds = 0;  ///< and transit-parallel.
  std::string reason;          ///< One sentence.
};

/// Plans every step of a job; params.executor, if it is not automatic, is obeyed. Reads the graph's degrees once a graph,
/// and only for an application that scans_neighbors: synchronises then. @throws device_error; memory_error.
[[nodiscard]] std::vector<step_plan> plan_steps(application_job const& job, graph const& graph,
                                                application_params const& params, gpu_exec const& exec);

}  // namespace tendril::engine
