#pragma once

#include <cstdint>
#include <string>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>

namespace tendril {

/// Reads one number per vertex, for example the importances of mvs_sample: a one-dimensional .npy of numbers, or text
/// with one number per line (.txt or any other name; blank lines and lines that begin with # are skipped).
/// @return [num_vertices]
/// @throws io_error; format_error "file:line: what, expected what" for a value that is not a finite number >= 0, and
///         for a file with a number of values other than num_vertices.
[[nodiscard]] buffer<float> read_vertex_values(std::string const& path, std::int64_t num_vertices,
                                               cpu_exec const& exec = {});

}  // namespace tendril
