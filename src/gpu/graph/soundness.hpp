#pragma once

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril::gpu {

/// Whether samplers may run on these arrays (graph_content::sound), which lie in the memory of the GPU of `exec`.
/// Synchronises. CPU twin: src/graph/soundness.cpp.
[[nodiscard]] bool is_sound(graph_arrays const& arrays, gpu_exec const& exec);

}  // namespace tendril::gpu
