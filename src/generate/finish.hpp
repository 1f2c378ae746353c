// What the generators share: checks of size, and the way from drawn edges to a decorated graph.

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <tendril/generate.hpp>

namespace tendril::generate {

inline constexpr std::int64_t vertices_a_range = std::int64_t{1} << 12U;  ///< That a thread takes at once.
inline constexpr std::int64_t edges_a_range = std::int64_t{1} << 16U;

/// Edges as they were drawn.
struct drawn_edges {
  buffer<vertex_id> sources;
  buffer<vertex_id> targets;
};

/// Room for `num_edges` edges that will become a graph of `num_vertices`.
/// @throws memory_error if building that graph takes more memory than this process can have.
drawn_edges make_room(char const* generator, std::int64_t num_vertices, std::int64_t num_edges,
                      build_options const& build, edge_attributes const& extra, cpu_exec const& exec);

/// @throws memory_error if this process cannot have `bytes`.
void expect_memory(char const* generator, double bytes);

/// Builds the graph and decorates it.
graph finish(drawn_edges edges, std::int64_t num_vertices, build_options build, edge_attributes const& extra,
             std::uint64_t seed, std::map<std::string, std::string> metadata, cpu_exec const& exec);

/// Adds weights, labels and vertex types, by the rules of src/core/edge_attributes.hpp.
graph decorate(graph_arrays arrays, edge_attributes const& extra, std::uint64_t seed, cpu_exec const& exec);

}  // namespace tendril::generate
