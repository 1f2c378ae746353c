#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tendril/graph.hpp>

#include "formats/webgraph_lists.hpp"

namespace tendril::formats {

/// The contents of a BV graph's files. `path` is that of the .graph file, the others are named after it.
struct webgraph_files {
  std::string path;
  std::span<std::byte const> graph;
  std::string_view properties;
  std::optional<std::span<std::byte const>> offsets;
};

/// Checks that the counts of a BV graph are plausible for the size of its .graph file. @throws format_error
void expect_plausible_counts(webgraph_files const& files, std::string const& properties_path,
                             webgraph_properties const& properties);

/// Reads the lists of a BV graph one after the other, in memory that does not depend on the size of the graph: what a list
/// may refer to, and the list itself.
class webgraph_scanner {
 public:
  /// @param files  Must outlive the scanner; offsets are not needed.
  /// @throws format_error
  explicit webgraph_scanner(webgraph_files const& files);

  [[nodiscard]] webgraph_properties const& properties() const { return properties_; }

  /// The vertex whose list comes next; the number of vertices at the end.
  [[nodiscard]] std::int64_t vertex() const { return vertex_; }

  /// Edges of all lists so far.
  [[nodiscard]] std::int64_t num_edges() const { return num_edges_; }

  /// The next list, valid until the next call. @throws format_error "path: node 17: what"
  [[nodiscard]] std::span<vertex_id const> next();

 private:
  void forget_old_lists();

  webgraph_files const& files_;
  std::string properties_path_;
  webgraph_properties properties_;
  webgraph_lists lists_;
  std::vector<edge_id> begins_;  // where the last lists begin in neighbors_, and where the last one ends
  std::vector<vertex_id> neighbors_;
  std::int64_t vertex_ = 0, num_edges_ = 0;
};

/// The name of a file that lies beside `path`: with another extension.
[[nodiscard]] std::string webgraph_sibling(std::string const& path, char const* extension);

/// Decodes a BV graph in parallel. Without offsets one thread first runs over the bits to find where each list is.
/// Peak memory: the result and 16 bytes a vertex.
/// @throws format_error "path: node 17: what"; memory_error.
[[nodiscard]] graph decode_webgraph(webgraph_files const& files, cpu_exec const& exec);

}  // namespace tendril::formats
