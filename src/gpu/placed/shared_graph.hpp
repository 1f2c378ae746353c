// Jobs on placed graphs, whose samples the GPU makes, or the CPU, or both at once.

#pragma once

#include <tendril/graph.hpp>
#include <tendril/place.hpp>

#include "gpu/together/together.hpp"

namespace tendril::gpu {

/// Whether the CPU may make samples of this graph.
[[nodiscard]] bool is_shared(graph const& graph);

/// Makes all items, as graph.placed()->share says; the graph keeps the rates.
/// @param graph  A graph for which is_shared() holds.
/// @throws what either side throws, after both have ended.
void work_together(graph const& graph, shared_job const& job, gpu_exec const& exec);

}  // namespace tendril::gpu
