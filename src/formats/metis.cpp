// METIS graph files (the manual of METIS 5.1, section 4.5): a header "vertices edges [format [constraints]]", then a line
// a vertex with its neighbours, counted from 1. Every edge is there in both directions; the header counts it once.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <tendril/error.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "formats/readers.hpp"
#include "formats/text_edges.hpp"
#include "formats/text_numbers.hpp"
#include "formats/text_writer.hpp"

namespace tendril::formats {
namespace {

struct metis_header {
  std::uint64_t num_vertices = 0;
  std::uint64_t num_edges = 0;
  bool edge_weights = false;
  std::uint64_t skipped = 0;  // numbers before the neighbours of a line: the vertex's size and weights
};

metis_header parse_header(text_stream& stream)
{
  auto line = stream.peek_line();
  while (line && line->starts_with('%')) {
    stream.consume_line();
    line = stream.peek_line();
  }
  auto const fail = [&](std::string const& what, std::string_view expected) {
    return format_error(fmt::format("{}:{}: {}, expected {}", stream.path(), stream.line_number() + 1, what, expected));
  };
  std::string_view const text = line.value_or("");
  auto const fields = split_fields(text);
  constexpr std::string_view shape = "a header: vertices edges [format [constraints]]";
  if (fields.size() < 2 || fields.size() > 4) { throw fail(quoted(text), shape); }
  std::uint64_t numbers[4] = {0, 0, 0, 0};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    char const* const end = fields[i].data() + fields[i].size();
    auto const [after, problem] = std::from_chars(fields[i].data(), end, numbers[i]);
    if (problem != std::errc{} || after != end) { throw fail(quoted(text), shape); }
  }
  if (numbers[0] > static_cast<std::uint64_t>(max_num_vertices)) {
    throw fail(fmt::format("{} vertices", numbers[0]), fmt::format("at most {}", max_num_vertices));
  }
  std::string_view const format = fields.size() > 2 ? fields[2] : "0";
  if (format.size() > 3 || format.find_first_not_of("01") != std::string_view::npos) {
    throw fail(fmt::format("format {}", quoted(format)), "up to three digits, each 0 or 1");
  }
  bool const vertex_sizes = numbers[2] / 100 % 10 == 1;
  bool const vertex_weights = numbers[2] / 10 % 10 == 1;
  std::uint64_t const constraints = fields.size() > 3 ? numbers[3] : 1;
  if (constraints > 1024 || (fields.size() > 3 && vertex_weights && constraints == 0)) {
    throw fail(fmt::format("{} weights a vertex", constraints), "1 to 1024");
  }
  stream.consume_line();
  return {numbers[0], numbers[1], numbers[2] % 10 == 1, (vertex_sizes ? 1U : 0U) + (vertex_weights ? constraints : 0U)};
}

struct metis_block : edge_block {
  std::int64_t last_row = 0;  // of the block, from 1: the last line that is not blank, and where it stands
  std::int64_t last_line = 0;
};

class row_parser {
 public:
  row_parser(std::string_view text, metis_header const& header, cpu_exec const& exec, metis_block& block)
      : header_(header), block_(block), at_(text.data()), end_(at_ + text.size())
  {
    auto const room = static_cast<std::int64_t>(text.size() / 2 + 1);  // a number takes two characters
    block.edges = buffer<text_edge>(room, *exec.memory);
    if (header.edge_weights) { block.weights = buffer<float>(room / 2 + 1, *exec.memory); }
  }

  void run()
  {
    for (; at_ < end_; ++block_.lines) {
      if (*at_ == '%') {
        while (at_ < end_ && *at_++ != '\n') {}
        continue;
      }
      row();
      ++block_.rows;
    }
  }

 private:
  void row()
  {
    for (std::uint64_t i = 0; i < header_.skipped; ++i) {
      if (!more()) {
        if (i == 0) { return; }  // blank: beyond the last vertex, or a vertex that left out even its weights
        fail("", fmt::format("{} numbers before the neighbours", header_.skipped));
      }
      char const* const begin = at_;
      parse_digits(at_, end_);
      if (at_ == begin || !field_ends()) { fail("vertex weight ", "an integer of at least 0", begin); }
    }
    while (more()) { neighbor(); }
  }

  void neighbor()
  {
    char const* begin = at_;
    std::uint64_t const id = parse_digits(at_, end_);
    if (at_ == begin || !field_ends() || id - 1 >= header_.num_vertices) {
      fail("neighbour ", fmt::format("an integer in [1, {}]", header_.num_vertices), begin);
    }
    if (header_.edge_weights) {
      if (!more()) { fail("", "a weight after each neighbour"); }
      begin = at_;
      if (!parse_weight(at_, end_, block_.weights[block_.size]) || !field_ends()) {
        fail("edge weight ", "a finite number of at least 0", begin);
      }
    }
    block_.edges[block_.size++] = {static_cast<vertex_id>(block_.rows), static_cast<vertex_id>(id - 1)};
  }

  /// Whether the line goes on after blanks; if not, moves to the next.
  bool more()
  {
    while (at_ < end_ && is_blank(*at_)) { ++at_; }
    if (at_ < end_ && *at_ == '\r' && (at_ + 1 == end_ || at_[1] == '\n')) { ++at_; }
    if (at_ == end_) { return false; }
    if (*at_ == '\n') {
      ++at_;
      return false;
    }
    block_.last_row = block_.rows + 1;
    block_.last_line = block_.lines + 1;
    return true;
  }

  [[nodiscard]] bool field_ends() const { return at_ == end_ || is_blank(*at_) || *at_ == '\n' || *at_ == '\r'; }

  [[noreturn]] void fail(std::string_view what, std::string_view expected, char const* field = nullptr) const
  {
    std::string found = "the line ends";
    if (field != nullptr) {
      std::string_view const rest(field, static_cast<std::size_t>(end_ - field));
      found = std::string(what) + quoted(rest.substr(0, rest.find_first_of(" \t\r\n")));
    }
    throw line_error{block_.lines + 1, fmt::format("{}, expected {}", found, expected)};
  }

  metis_header const& header_;
  metis_block& block_;
  char const* at_;
  char const* end_;
};

/// Compares what was found with what the header says.
void check_counts(std::deque<metis_block> const& blocks, metis_header const& header, text_stream const& stream,
                  std::int64_t first_line)
{
  auto const vertices = static_cast<std::int64_t>(header.num_vertices);
  std::int64_t rows = 0;
  std::int64_t line = first_line;
  std::uint64_t arcs = 0;
  std::uint64_t loops = 0;
  for (metis_block const& block : blocks) {
    if (block.last_row > 0 && rows + block.last_row > vertices) {
      throw format_error(fmt::format("{}:{}: the line of vertex {}, expected {}, as the header says", stream.path(),
                                     line + block.last_line, rows + block.last_row, vertices));
    }
    for (std::int64_t i = 0; i < block.size; ++i) {
      loops += block.edges[i].target == block.edges[i].source + rows ? 1 : 0;
    }
    arcs += static_cast<std::uint64_t>(block.size);
    rows += block.rows;
    line += block.lines;
  }
  // The line of a last vertex without neighbours may lack its line feed, and then it is not there.
  if (rows < vertices - 1) {
    throw format_error(
        fmt::format("{}: {} vertex lines, expected {}, as the header says", stream.path(), rows, vertices));
  }
  // Writers disagree on whether a self loop is one edge or half of one.
  if (header.num_edges > arcs || (2 * header.num_edges != arcs && 2 * header.num_edges != arcs + loops)) {
    throw format_error(fmt::format("{}: {} neighbours in all, expected twice the {} edges of the header", stream.path(),
                                   arcs, header.num_edges));
  }
}

}  // namespace

graph read_metis(std::string const& path, std::span<std::byte const> bytes, std::shared_ptr<void const> owner,
                 read_options const& options, cpu_exec const& exec)
{
  build_options build = options.build;
  edge_list edges;
  {
    text_stream stream(path, bytes, exec);
    metis_header const header = parse_header(stream);
    auto const vertices = static_cast<std::int64_t>(header.num_vertices);
    TENDRIL_EXPECTS(build.num_vertices < 0 || build.num_vertices >= vertices,
                    "{}: num_vertices is {}, expected at least the {} vertices of the file", path, build.num_vertices,
                    vertices);
    std::int64_t const first_line = stream.line_number();
    auto parsed = parse_blocks<metis_block>(
        stream, exec, [&](std::string_view text, metis_block& block) { row_parser(text, header, exec, block).run(); });
    check_counts(parsed, header, stream, first_line);
    std::deque<edge_block> blocks;
    for (metis_block& block : parsed) { blocks.push_back(std::move(block)); }
    edges = join_blocks(std::move(blocks), exec);
    if (build.num_vertices < 0 && !build.compact) { build.num_vertices = vertices; }
  }
  owner.reset();             // the text is not needed while the graph is built
  build.symmetrize = false;  // it is symmetric as it is
  graph const built = build_graph(std::move(edges), build, exec);
  graph_arrays arrays = built.arrays();
  arrays.symmetric = true;
  graph result(std::move(arrays));
  try {
    result.validate(exec);
  } catch (format_error const& problem) {
    throw format_error(
        fmt::format("{}: not symmetric, expected each edge in the lines of both ends: {}", path, problem.what()));
  }
  return result;
}

void write_metis(graph const& input, std::string const& path, cpu_exec const& exec)
{
  TENDRIL_EXPECTS(input.arrays().symmetric,
                  "{}: the graph is directed, expected a symmetric one for METIS (symmetrize it)", path);
  TENDRIL_EXPECTS(!input.has_edge_labels(), "{}: the graph has edge labels, which a METIS file cannot hold", path);
  TENDRIL_EXPECTS(!input.has_node_types(), "{}: the graph has node types, which a METIS file cannot hold", path);
  csr_arrays const g = input.csr();
  for (edge_id e = 0; g.weights != nullptr && e < g.num_edges; ++e) {
    TENDRIL_EXPECTS(g.weights[e] >= 1 && g.weights[e] == std::floor(g.weights[e]),
                    "{}: edge {} has weight {}, expected an integer of at least 1, as METIS files hold", path, e,
                    g.weights[e]);
  }
  std::int64_t loops = 0;
  for (std::int64_t v = 0; v < g.num_vertices; ++v) {
    auto const neighbors = std::span(g.indices + g.indptr[v], g.indices + g.indptr[v + 1]);
    loops += std::ranges::count(neighbors, static_cast<vertex_id>(v));
  }
  text_writer out(path);
  out.text(fmt::format("{} {}{}\n", g.num_vertices, (g.num_edges + loops) / 2, g.weights != nullptr ? " 001" : ""));
  for (std::int64_t v = 0; v < g.num_vertices; ++v) {
    report_writing(exec, v, g.num_vertices);
    for (edge_id e = g.indptr[v]; e < g.indptr[v + 1]; ++e) {
      if (e > g.indptr[v]) { out.letter(' '); }
      out.number(g.indices[e] + std::int64_t{1});
      if (g.weights != nullptr) {
        out.letter(' ');
        out.number(static_cast<std::int64_t>(g.weights[e]));
      }
    }
    out.letter('\n');
  }
  out.commit();
}

}  // namespace tendril::formats
