// Induced subgraphs for samplers that have made their sets of vertices.

#pragma once

#include <cstdint>

#include <tendril/subgraph.hpp>

namespace tendril::cpu {

/// The subgraphs that `nodes`, cut by `node_offsets`, induce; both move into the result. Cuts and ids are right.
/// @throws argument_error where a vertex occurs twice in a sample; memory_error.
[[nodiscard]] subgraphs induce(graph const& graph, buffer<vertex_id> nodes, buffer<std::int64_t> node_offsets,
                               cpu_exec const& exec);

}  // namespace tendril::cpu
