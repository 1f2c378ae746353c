// Tables of layer-wise sampling on a GPU: those of samplers/layers/layer_tables.hpp, element for element. As the builders of
// gpu/tables/tables.hpp they take views of the memory of exec.device, allocate from memory_of(exec) and enqueue on exec.stream.
// Results of sums in the CSR's order of columns are integers, so that atomic additions in any order give the same.

#pragma once

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

#include "samplers/layers/layer_tables.hpp"

namespace tendril::gpu {

/// Doesn't wait.
[[nodiscard]] buffer<float> make_column_norms(graph_view const& graph, propagation matrix, gpu_exec const& exec);

/// @param weights  [V], device memory, finite and >= 0. Waits at most once (make_alias_records).
[[nodiscard]] samplers::vertex_table make_vertex_table(std::int64_t num_vertices, float const* weights,
                                                       gpu_exec const& exec);

/// Synchronises once.
[[nodiscard]] samplers::square_table make_square_table(graph_view const& graph, propagation matrix,
                                                       gpu_exec const& exec);

/// Whether some vertex has two edges to the same one. Synchronises once.
[[nodiscard]] bool has_parallel_edges(graph_view const& graph, gpu_exec const& exec);

}  // namespace tendril::gpu
