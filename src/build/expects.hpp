// What building a graph from pairs checks, on either side.

#pragma once

#include <cstdint>

#include <tendril/graph.hpp>

namespace tendril::build {

/// @throws argument_error for a number of vertices out of range.
void expect_num_vertices(build_options const& options);

/// @throws argument_error if the spans' lengths differ.
void expect_lengths(coo_view const& edges);

/// Ids of edges must be below it.
std::int64_t id_limit(build_options const& options);

/// Checks edge k. `weight` is null where there are none.
/// @throws argument_error, format_error.
void expect_edge(std::int64_t k, vertex_id u, vertex_id v, float const* weight, build_options const& options);

/// @throws argument_error: vertex v has more edges than a degree can say.
[[noreturn]] void throw_too_many_edges(std::int64_t v, std::int64_t degree);

}  // namespace tendril::build
