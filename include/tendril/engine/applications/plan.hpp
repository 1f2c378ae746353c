// Selects the GPU executor of each step of a sampling application, and gives the reason. Host functions.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tendril/engine/applications/support.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril::engine {

/// The plan of one step.
struct step_plan {
  sampling_executor executor = sampling_executor::sample_parallel;
  double sample_seconds = 0;   ///< Estimated time of the step, sample-parallel,
  double transit_seconds = 0;  ///< and transit-parallel; steps of a graph that streams run transit-parallel.
  /// Above 0: the graph is in host memory and streams, divided into this many sub-graphs,
  std::int64_t num_subgraphs = 0;
  std::int64_t copied_bytes = 0;  ///< and at most this many of their bytes are copied to the GPU in this step.
  std::string reason;             ///< One sentence.
};

/// Plans every step of a job. Steps of a graph that doesn't stream obey params.executor unless it is automatic. For an
/// application that scans_neighbors, reads the degrees of a graph on the GPU, once per graph, and synchronises then.
/// @throws argument_error for a graph that must stream and a job that can't; device_error; memory_error.
[[nodiscard]] std::vector<step_plan> plan_steps(application_job const& job, graph const& graph,
                                                application_params const& params, gpu_exec const& exec);

}  // namespace tendril::engine
