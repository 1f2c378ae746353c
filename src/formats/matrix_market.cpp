// Matrix Market files: https://math.nist.gov/MatrixMarket/formats.html. Entry (i, j) is the edge i -> j.

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include <tendril/error.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "formats/edge_text.hpp"
#include "formats/readers.hpp"
#include "formats/text_edges.hpp"
#include "formats/text_numbers.hpp"  // quoted
#include "formats/text_writer.hpp"

namespace tendril::formats {
namespace {

std::string lower_case(std::string_view text)
{
  std::string out(text);
  for (char& c : out) { c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
  return out;
}

struct matrix_header {
  bool pattern = false;
  bool integer = false;
  bool symmetric = false;
  std::int64_t num_vertices = 0;
  std::int64_t num_entries = 0;
};

class header_parser {
 public:
  explicit header_parser(text_stream& stream) : stream_(stream) {}

  matrix_header parse()
  {
    parse_banner();
    while (auto const line = stream_.peek_line()) {
      auto const fields = split_fields(*line);
      if (!fields.empty() && !fields[0].starts_with('%')) {
        parse_sizes(*line, fields);
        stream_.consume_line();
        return header_;
      }
      stream_.consume_line();
    }
    fail("the file ends", "a line of three counts: rows columns entries");
  }

 private:
  [[noreturn]] void fail(std::string const& what, std::string_view expected) const
  {
    throw format_error(
        fmt::format("{}:{}: {}, expected {}", stream_.path(), stream_.line_number() + 1, what, expected));
  }

  void parse_banner()
  {
    auto const line = stream_.peek_line();
    auto const fields = split_fields(line.value_or(""));
    if (fields.size() != 5 || lower_case(fields[0]) != "%%matrixmarket") {
      fail(quoted(line.value_or("")), "'%%MatrixMarket matrix coordinate FIELD SYMMETRY'");
    }
    auto const expect = [&](std::size_t i, auto const& allowed, std::string_view expected) {
      std::string word = lower_case(fields[i]);
      if (std::ranges::find(allowed, word) == allowed.end()) { fail(quoted(fields[i]), expected); }
      return word;
    };
    using words = std::vector<std::string_view>;
    expect(1, words{"matrix"}, "matrix");
    expect(2, words{"coordinate"}, "coordinate (a sparse matrix)");
    auto const field = expect(3, words{"pattern", "real", "double", "integer"}, "pattern, real or integer");
    auto const symmetry = expect(4, words{"general", "symmetric"}, "general or symmetric");
    header_.pattern = field == "pattern";
    header_.integer = field == "integer";
    header_.symmetric = symmetry == "symmetric";
    stream_.consume_line();
  }

  void parse_sizes(std::string_view line, std::vector<std::string_view> const& fields)
  {
    std::array<std::int64_t, 3> counts{};
    bool good = fields.size() == counts.size();
    for (std::size_t i = 0; good && i < counts.size(); ++i) {
      char const* const end = fields[i].data() + fields[i].size();
      auto const [after, problem] = std::from_chars(fields[i].data(), end, counts[i]);
      good = problem == std::errc{} && after == end && counts[i] >= 0;
    }
    if (!good) { fail(quoted(line), "three counts: rows columns entries"); }
    if (counts[0] != counts[1]) {
      fail(fmt::format("{} rows and {} columns", counts[0], counts[1]), "a square matrix");
    }
    if (counts[0] > max_num_vertices) {
      fail(fmt::format("{} rows", counts[0]), fmt::format("at most {}", max_num_vertices));
    }
    header_.num_vertices = counts[0];
    header_.num_entries = counts[2];
  }

  text_stream& stream_;
  matrix_header header_;
};

/// The columns of an entry. The user's, of which only the third is a choice, can leave the values out.
std::vector<column_role> entry_columns(matrix_header const& header, read_options const& options)
{
  std::vector columns = {column_role::source, column_role::target};
  if (!header.pattern) { columns.push_back(column_role::weight); }
  if (options.columns.empty()) { return columns; }
  std::vector<column_role> given;
  for (std::string const& name : options.columns) { given.push_back(parse_column_role(name)); }
  if (given.size() == 3 && given[2] == column_role::ignored && !header.pattern) { columns[2] = column_role::ignored; }
  TENDRIL_EXPECTS(given == columns, "columns: a Matrix Market file has source target{}",
                  header.pattern ? "" : " weight, where - in place of weight ignores the values");
  return columns;
}

}  // namespace

edge_text open_matrix_market(std::string const& path, std::span<std::byte const> bytes, read_options const& options,
                             cpu_exec const& exec, std::int64_t most_bytes)
{
  edge_text text{text_stream(path, bytes, exec, most_bytes), {}, options.build};
  build_options& build = text.build;
  matrix_header const header = header_parser(text.stream).parse();
  TENDRIL_EXPECTS(build.num_vertices < 0 || build.num_vertices >= header.num_vertices,
                  "{}: num_vertices is {}, expected at least the {} rows of the file", path, build.num_vertices,
                  header.num_vertices);
  std::int64_t const limit = vertex_limit(text.stream.num_bytes(), text.stream.compressed(), build);
  if (header.num_vertices > limit) {
    throw format_error(
        fmt::format("{}:{}: {} rows, expected at most {} in a file this small (compact or num_vertices "
                    "lift that)",
                    path, text.stream.line_number(), header.num_vertices, limit));
  }
  edge_syntax& syntax = text.syntax;
  syntax.columns = entry_columns(header, options);
  syntax.first_id = 1;
  syntax.end_id = static_cast<std::uint64_t>(header.num_vertices) + 1;
  syntax.integer_weights = header.integer;
  syntax.hint = " (the header says how many rows there are)";
  syntax.column_hint = " (the columns source target - ignore the values)";
  text.num_entries = header.num_entries;
  if (build.num_vertices < 0 && !build.compact) { build.num_vertices = header.num_vertices; }
  build.symmetrize |= header.symmetric;  // an entry stands for both directions, on the diagonal for one
  return text;
}

graph read_matrix_market(std::string const& path, std::span<std::byte const> bytes, std::shared_ptr<void const> owner,
                         read_options const& options, cpu_exec const& exec)
{
  build_options build;
  edge_list edges;
  {
    edge_text text = open_matrix_market(path, bytes, options, exec);
    auto blocks = text.parse(exec);
    std::int64_t found = 0;
    for (edge_block const& block : blocks) { found += block.size; }
    text.expect_entries(found);
    edges = join_blocks(std::move(blocks), exec);
    build = text.build;
  }
  owner.reset();  // the text is not needed while the graph is built
  return build_graph(std::move(edges), build, exec);
}

void write_matrix_market(graph const& input, std::string const& path, cpu_exec const& exec)
{
  TENDRIL_EXPECTS(!input.has_edge_labels(), "{}: the graph has edge labels, which a Matrix Market file cannot hold",
                  path);
  TENDRIL_EXPECTS(!input.has_node_types(), "{}: the graph has node types, which a Matrix Market file cannot hold",
                  path);
  csr_arrays const g = input.csr();
  bool const symmetric = input.arrays().symmetric;
  auto const stands = [&](std::int64_t row, vertex_id column) { return !symmetric || column <= row; };
  std::int64_t entries = 0;
  for (std::int64_t v = 0; v < g.num_vertices; ++v) {
    for (edge_id e = g.indptr[v]; e < g.indptr[v + 1]; ++e) { entries += stands(v, g.indices[e]) ? 1 : 0; }
  }
  text_writer out(path);
  out.text(fmt::format("%%MatrixMarket matrix coordinate {} {}\n{} {} {}\n", g.weights != nullptr ? "real" : "pattern",
                       symmetric ? "symmetric" : "general", g.num_vertices, g.num_vertices, entries));
  for (std::int64_t v = 0; v < g.num_vertices; ++v) {
    report_writing(exec, v, g.num_vertices);
    for (edge_id e = g.indptr[v]; e < g.indptr[v + 1]; ++e) {
      if (!stands(v, g.indices[e])) { continue; }
      out.number(v + 1);
      out.letter(' ');
      out.number(g.indices[e] + std::int64_t{1});
      if (g.weights != nullptr) {
        out.letter(' ');
        out.number(g.weights[e]);
      }
      out.letter('\n');
    }
  }
  out.commit();
}

}  // namespace tendril::formats
