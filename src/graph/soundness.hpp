#pragma once

#include <tendril/graph.hpp>

namespace tendril::validation {

/// Whether samplers may run on these arrays, in host memory (graph_content::sound): offsets ascend from 0 to the number
/// of edges, with at most 2^32 - 1 edges a vertex; each vertex's neighbours ascend and are vertices, and compressed
/// lists lie where the directory says; weights are finite and >= 0; edge ids are >= 0. Reads each array once, in parallel.
[[nodiscard]] bool is_sound(graph_arrays const& arrays, cpu_exec const& exec);

}  // namespace tendril::validation
