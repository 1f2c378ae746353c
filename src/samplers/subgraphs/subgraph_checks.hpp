// What both executors of induced subgraphs say about their input.

#pragma once

#include <cstdint>
#include <span>

#include <tendril/subgraph.hpp>

namespace tendril::samplers {

/// Checks which samples a call is to return. @throws argument_error.
void check_sample_numbers(std::int64_t num_samples, std::int64_t first_sample);

/// Checks that `offsets` cut `size` elements: from 0, ascending, to `size`. `name` is what the offsets are called, `what`
/// the elements. Serial. @throws argument_error for the first offset that is wrong.
void check_cuts(char const* name, char const* what, std::span<std::int64_t const> offsets, std::int64_t size);

/// Checks the cuts of `nodes`, and that each vertex is one of the graph's. Serial.
/// @throws argument_error for the first offset, or else the first vertex, that is wrong.
void check_sample_cuts(std::span<vertex_id const> nodes, std::span<std::int64_t const> node_offsets,
                       std::int64_t num_vertices);

/// @throws argument_error naming the least vertex that occurs twice among `nodes`, the vertices of sample `sample`, if
///         there is one.
void check_distinct(std::span<vertex_id const> nodes, std::int64_t sample);

}  // namespace tendril::samplers
