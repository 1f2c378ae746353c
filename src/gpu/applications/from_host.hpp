// Where the graph of a sampling application goes that lies in host memory: to the GPU as a whole; through it, sub-graph by
// sub-graph; or there in part. Never changes a sample.

#pragma once

#include <cstdint>
#include <optional>

#include <tendril/engine/applications/launch.hpp>

#include "gpu/graph/stream_layout.hpp"

namespace tendril::gpu {

struct host_graph_plan {
  std::int64_t budget = 0;              ///< Bytes that the graph may take on the GPU.
  bool fits = false;                    ///< It is copied whole.
  std::optional<stream_layout> layout;  ///< If it streams. If it neither fits nor streams, it is placed.
};

/// A graph that doesn't fit streams if the job allows it: every edge that it reads is then copied once a step, at the rate
/// of the bus. Else it is placed.
/// @param more_bytes  That the call will still allocate for its result. @throws device_error.
[[nodiscard]] host_graph_plan plan_host_graph(graph const& graph, engine::application_job const& job,
                                              application_params const& params, std::int64_t more_bytes,
                                              gpu_exec const& exec);

/// Bytes of the result of a job, and of the samples' states.
[[nodiscard]] std::int64_t result_bytes(engine::application_job const& job);

/// The graph on the GPU for one call, whole or in part. Synchronises. @throws memory_error; device_error.
[[nodiscard]] graph bring_for_call(graph const& graph, engine::application_job const& job, host_graph_plan const& plan,
                                   gpu_exec const& exec);

}  // namespace tendril::gpu
