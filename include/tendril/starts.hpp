#pragma once

#include <cstdint>
#include <string>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/types.hpp>

namespace tendril {

/// Reads vertices to start from, one an element or a line: a one-dimensional .npy of integers, or text with one id a
/// line (blank lines and lines that begin with # are skipped; .txt or any other name).
/// @throws io_error; format_error "file:line: what, expected what", also for an id that is not below num_vertices.
[[nodiscard]] buffer<vertex_id> read_vertices(std::string const& path, std::int64_t num_vertices,
                                              cpu_exec const& exec = {});

/// Draws `count` vertices uniformly at random, independently of each other. Vertex i is a function of num_vertices,
/// seed and i alone.
/// @throws argument_error if count < 0, or if there is no vertex to draw.
[[nodiscard]] buffer<vertex_id> random_vertices(std::int64_t num_vertices, std::int64_t count, std::uint64_t seed,
                                                cpu_exec const& exec = {});

/// The first `count` different vertices of the sequence that `random_vertices` draws: a uniformly random subset in
/// random order.
/// @throws argument_error if count is negative or above num_vertices.
[[nodiscard]] buffer<vertex_id> random_distinct_vertices(std::int64_t num_vertices, std::int64_t count,
                                                         std::uint64_t seed, cpu_exec const& exec = {});

}  // namespace tendril
