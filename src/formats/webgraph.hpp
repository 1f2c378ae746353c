#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <tendril/graph.hpp>

namespace tendril::formats {

/// The contents of a BV graph's files. `path` is that of the .graph file, the others are named after it.
struct webgraph_files {
  std::string path;
  std::span<std::byte const> graph;
  std::string_view properties;
  std::optional<std::span<std::byte const>> offsets;
};

/// Decodes a BV graph in parallel. Without offsets one thread first runs over the bits to find where each list is.
/// Peak memory: the result and 16 bytes a vertex.
/// @throws format_error "path: node 17: what"; memory_error.
[[nodiscard]] graph decode_webgraph(webgraph_files const& files, cpu_exec const& exec);

}  // namespace tendril::formats
