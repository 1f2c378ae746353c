#pragma once

#include <tendril/graph.hpp>

namespace tendril::validation {

/// Whether samplers may run on these arrays, in host memory (graph_content::sound): offsets ascend from 0 to the number
/// of edges, with at most 2^32 - 1 edges a vertex; each vertex's neighbours ascend and are below `num_targets`, and
/// compressed lists lie where the directory says; weights are finite and >= 0; edge ids are >= 0. Reads each array once,
/// in parallel.
/// @param num_targets  The number of vertices, which in a part of a graph is not that of its rows.
[[nodiscard]] bool is_sound(graph_arrays const& arrays, std::int64_t num_targets, cpu_exec const& exec);

/// Of all arrays of a graph.
[[nodiscard]] bool is_sound(graph_arrays const& arrays, cpu_exec const& exec);

}  // namespace tendril::validation
