#pragma once

#include <cstdint>
#include <string>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>

namespace tendril {

/// Reads a number for each vertex, such as the importances of mvs_sample: a one-dimensional .npy of numbers, or text with
/// one number a line (blank lines and lines that begin with # are skipped; .txt or any other name).
/// @return [num_vertices]
/// @throws io_error; format_error "file:line: what, expected what" for what is not a finite number of at least 0, and for a
///         file that doesn't have num_vertices of them.
[[nodiscard]] buffer<float> read_vertex_values(std::string const& path, std::int64_t num_vertices,
                                               cpu_exec const& exec = {});

}  // namespace tendril
