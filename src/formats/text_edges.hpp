#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <tendril/edge_list.hpp>
#include <tendril/graph.hpp>
#include <tendril/io.hpp>

#include "formats/text_blocks.hpp"

namespace tendril::formats {

/// What a column of a line means.
enum class column_role { source, target, weight, label, ignored };

/// How lines of one edge each are written.
struct edge_syntax {
  std::vector<column_role> columns;
  char separator = 0;            ///< ',' or ';' between columns; 0: blanks.
  std::uint64_t first_id = 0;    ///< The smallest vertex number in the file, which becomes vertex 0.
  std::uint64_t end_id = 0;      ///< One more than the largest allowed, in the file's numbering.
  bool integer_weights = false;  ///< Weights with a fraction are wrong.
  std::string hint;              ///< What to add to messages about ids, or empty.
  std::string column_hint;       ///< What to add to messages about columns, or empty.
};

/// One edge as parsed, vertices from 0.
struct text_edge {
  vertex_id source, target;
};

/// The edges of a block of text.
struct edge_block : parsed_block {
  buffer<text_edge> edges;       ///< `size` of them are there; the rest is room.
  buffer<float> weights;         ///< As many, if there is a weight column.
  buffer<std::uint16_t> labels;  ///< As many, if there is a label column.
  std::int64_t size = 0;
  std::int64_t rows = 0;  ///< METIS: vertices in this block; sources then count from the block's first.
};

/// Parses a block of edge lines. Blank lines and lines that start with # or % are skipped.
/// @throws line_error
void parse_edge_lines(std::string_view text, edge_syntax const& syntax, cpu_exec const& exec, edge_block& block);

/// The number of a name in "source", "target", "weight", "label", "-". @throws argument_error
[[nodiscard]] column_role parse_column_role(std::string_view name);

/// The fields of a line, without the blanks around them. @param separator  ',' or ';'; 0: blanks.
[[nodiscard]] std::vector<std::string_view> split_fields(std::string_view line, char separator = 0);

/// A line of a csv file as it would be without quotes: the quotes around fields are dropped, and separators and quotes
/// inside of such a field become '_'. Quotes that don't enclose a field stay.
[[nodiscard]] std::string without_quotes(std::string_view line);

/// Puts blocks together to the edges of a file, in its order, in parallel; each block's memory goes back once it is copied.
[[nodiscard]] edge_list join_blocks(std::deque<edge_block> blocks, cpu_exec const& exec);

/// The largest vertex number that a file of `num_bytes` may hold (one more than it, from 0), unless the user set
/// `num_vertices` or `compact`: a few bytes must not make arrays of 2^32 elements.
[[nodiscard]] std::int64_t vertex_limit(std::int64_t num_bytes, bool compressed, build_options const& options);

}  // namespace tendril::formats
