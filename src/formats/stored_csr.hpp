#pragma once

#include <string>

#include <tendril/graph.hpp>

namespace tendril::formats {

/// Makes a graph of arrays that another program stored: lengths that don't fit are a format_error, and neighbours that
/// don't ascend are sorted, which is done in a copy.
/// @param path  For messages.
/// @throws format_error "path: what, expected what"; memory_error.
[[nodiscard]] graph from_stored_csr(std::string const& path, graph_arrays arrays, cpu_exec const& exec);

}  // namespace tendril::formats
