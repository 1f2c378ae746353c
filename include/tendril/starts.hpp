#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/types.hpp>

namespace tendril {

/// Reads start vertices, one per element or line: a one-dimensional .npy of integers, or text with one id per line
/// (.txt or any other name; blank lines and lines that begin with # are skipped).
/// @throws io_error; format_error "file:line: what, expected what", also for an id that is not below num_vertices.
[[nodiscard]] buffer<vertex_id> read_vertices(std::string const& path, std::int64_t num_vertices,
                                              cpu_exec const& exec = {});

/// Draws `count` vertices uniformly at random, independently of each other. Vertex i is a function of only
/// num_vertices, seed and i.
/// @throws argument_error if count < 0, or if there is no vertex to draw.
[[nodiscard]] buffer<vertex_id> random_vertices(std::int64_t num_vertices, std::int64_t count, std::uint64_t seed,
                                                cpu_exec const& exec = {});

/// Draws the first `count` distinct vertices of the sequence of `random_vertices`: a uniformly random subset in random
/// order.
/// @throws argument_error if count is negative or above num_vertices.
[[nodiscard]] buffer<vertex_id> random_distinct_vertices(std::int64_t num_vertices, std::int64_t count,
                                                         std::uint64_t seed, cpu_exec const& exec = {});

/// The source of the starts of a long job: fills in the starts of walks first, first + 1, … of the job.
using start_source = std::function<void(std::int64_t first, std::span<vertex_id> starts)>;

/// Walk i starts from start i / walks_each of a list. If a walk has a set of starts, the list holds the sets one after
/// another, `set_size` vertices each. Keeps a reference to `starts`.
/// @throws argument_error  walks_each or set_size below 1; the returned source throws it for walks beyond the end of
///                         the list.
[[nodiscard]] start_source starts_from(std::span<vertex_id const> starts, std::int64_t walks_each = 1,
                                       std::int64_t set_size = 1);

/// Walk i starts from vertex i / walks_each. @throws argument_error for walks_each below 1.
[[nodiscard]] start_source every_vertex(std::int64_t walks_each = 1);

}  // namespace tendril
