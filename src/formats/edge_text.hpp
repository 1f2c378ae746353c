#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <string>

#include <tendril/io.hpp>

#include "formats/text_edges.hpp"
#include "formats/text_stream.hpp"

namespace tendril::formats {

/// A text file of one edge a line, whose lines before the first edge were read.
struct edge_text {
  text_stream stream;
  edge_syntax syntax;
  build_options build;            ///< The caller's, and what the file says besides.
  std::int64_t num_entries = -1;  ///< How many edges its header promises; -1: nothing is promised.

  /// The edges of the next blocks, in the order of the file; none at its end. @throws format_error
  [[nodiscard]] std::deque<edge_block> parse(cpu_exec const& exec,
                                             std::size_t most_blocks = std::numeric_limits<std::size_t>::max());

  /// Checks the number of edges in the whole file. @throws format_error
  void expect_entries(std::int64_t found) const;
};

/// @param most_bytes  Of a block of text.
/// @throws format_error, argument_error for options that don't suit the file.
[[nodiscard]] edge_text open_edge_list(std::string const& path, std::span<std::byte const> bytes,
                                       read_options const& options, cpu_exec const& exec,
                                       std::int64_t most_bytes = text_stream::max_block_bytes);
[[nodiscard]] edge_text open_matrix_market(std::string const& path, std::span<std::byte const> bytes,
                                           read_options const& options, cpu_exec const& exec,
                                           std::int64_t most_bytes = text_stream::max_block_bytes);

}  // namespace tendril::formats
