#pragma once

#include <cstdint>
#include <functional>
#include <span>
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

/// Where the walks of a long job start: fills in the starts of walks first, first + 1, … of the job, one after the other.
using start_source = std::function<void(std::int64_t first, std::span<vertex_id> starts)>;

/// Walk i starts from start i / walks_each of a list; where a walk has a set of starts, the sets follow each other in the
/// list, `set_size` vertices each. Refers to `starts`.
/// @throws argument_error  for walks_each or set_size below 1; the source itself, for walks beyond the end of the list.
[[nodiscard]] start_source starts_from(std::span<vertex_id const> starts, std::int64_t walks_each = 1,
                                       std::int64_t set_size = 1);

/// Walk i starts from vertex i / walks_each. @throws argument_error for walks_each below 1.
[[nodiscard]] start_source every_vertex(std::int64_t walks_each = 1);

}  // namespace tendril
