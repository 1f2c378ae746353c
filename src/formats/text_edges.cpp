#include "formats/text_edges.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // parallel_ranges
#include "formats/edge_text.hpp"
#include "formats/text_numbers.hpp"

namespace tendril::formats {
namespace {

constexpr std::array<std::string_view, 5> role_names = {"source", "target", "weight", "label", "-"};
constexpr std::uint64_t max_label = 0xffff;

std::string_view name_of(column_role role) { return role_names[static_cast<std::size_t>(role)]; }

std::string_view trim(std::string_view text)
{
  while (!text.empty() && (is_blank(text.back()) || text.back() == '\r')) { text.remove_suffix(1); }
  while (!text.empty() && is_blank(text.front())) { text.remove_prefix(1); }
  return text;
}

std::string id_problem(std::string_view field, column_role role, edge_syntax const& syntax)
{
  char const* at = field.data();
  char const* const end = at + field.size();
  std::uint64_t const id = parse_digits(at, end);
  if (at == end && !field.empty() && id >= syntax.first_id && id < syntax.end_id) { return {}; }
  return fmt::format("{} {}, expected an integer in [{}, {}]{}", name_of(role), quoted(field), syntax.first_id,
                     static_cast<std::int64_t>(syntax.end_id) - 1, syntax.hint);
}

std::string weight_problem(std::string_view field, edge_syntax const& syntax)
{
  char const* at = field.data();
  char const* const end = at + field.size();
  float weight = 0;
  bool const fits = parse_weight(at, end, weight) && at == end && !field.empty();
  if (fits && !(syntax.integer_weights && weight != std::floor(weight))) { return {}; }
  return fmt::format("weight {}, expected {} of at least 0{}", quoted(field),
                     syntax.integer_weights ? "an integer" : "a finite number", syntax.column_hint);
}

std::string label_problem(std::string_view field, edge_syntax const& syntax)
{
  char const* at = field.data();
  char const* const end = at + field.size();
  std::uint64_t const label = parse_digits(at, end);
  if (at == end && !field.empty() && label <= max_label) { return {}; }
  return fmt::format("label {}, expected an integer in [0, {}]{}", quoted(field), max_label, syntax.column_hint);
}

std::string_view separator_name(char separator)
{
  if (separator == 0) { return "blanks"; }
  return separator == ',' ? "commas" : "semicolons";
}

/// Why `line` is not an edge: goes over it again, slowly.
std::string diagnose(std::string_view line, edge_syntax const& syntax)
{
  std::string const plain = syntax.separator == 0 ? std::string(line) : without_quotes(line);
  auto const fields = split_fields(plain, syntax.separator);
  for (std::size_t i = 0; i < std::min(fields.size(), syntax.columns.size()); ++i) {
    std::string problem;
    switch (syntax.columns[i]) {
      case column_role::source:
      case column_role::target: problem = id_problem(fields[i], syntax.columns[i], syntax); break;
      case column_role::weight: problem = weight_problem(fields[i], syntax); break;
      case column_role::label: problem = label_problem(fields[i], syntax); break;
      case column_role::ignored: break;
    }
    if (!problem.empty()) { return problem; }
  }
  if (fields.size() == syntax.columns.size() && line.find('"') != std::string_view::npos) {
    return fmt::format("{}, expected a quote at the end of a field that begins with one", quoted(trim(line)));
  }
  std::string expected;
  for (column_role const role : syntax.columns) { expected += fmt::format(" {}", name_of(role)); }
  return fmt::format("{} column{} in {}, expected {} separated by {}:{}", fields.size(), fields.size() == 1 ? "" : "s",
                     quoted(trim(line)), syntax.columns.size(), separator_name(syntax.separator), expected);
}

void skip_blanks(char const*& at, char const* end)
{
  while (at < end && is_blank(*at)) { ++at; }
}

/// Moves past what separates two columns; false if it is not there.
bool next_column(char const*& at, char const* end, char separator)
{
  char const* const before = at;
  skip_blanks(at, end);
  if (separator == 0) { return at > before; }
  if (at == end || *at != separator) { return false; }
  ++at;
  skip_blanks(at, end);
  return true;
}

/// Moves past blanks and the end of the line; false if something else is there.
bool finish_line(char const*& at, char const* end)
{
  skip_blanks(at, end);
  if (at < end && *at == '\r') { ++at; }
  if (at == end) { return true; }
  return *at++ == '\n';
}

char const* line_end(char const* at, char const* end)
{
  void const* const feed = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
  return feed == nullptr ? end : static_cast<char const*>(feed);
}

/// The rule for one block. `Pairs`: source and target and nothing else, by far the most common file.
template <bool Pairs>
struct block_parser {
  edge_syntax const& syntax;
  edge_block& block;
  text_edge edge{};
  float weight = 0;
  std::uint16_t label = 0;

  bool id(char const*& at, char const* end, vertex_id& out) const
  {
    char const* const begin = at;
    std::uint64_t const number = parse_digits(at, end);
    if (at == begin || number - syntax.first_id >= syntax.end_id - syntax.first_id) { return false; }
    out = static_cast<vertex_id>(number - syntax.first_id);
    return true;
  }

  bool column(column_role role, char const*& at, char const* end)
  {
    char const* const begin = at;
    switch (role) {
      case column_role::source: return id(at, end, edge.source);
      case column_role::target: return id(at, end, edge.target);
      case column_role::weight:
        return parse_weight(at, end, weight) && !(syntax.integer_weights && weight != std::floor(weight));
      case column_role::label: {
        std::uint64_t const number = parse_digits(at, end);
        label = static_cast<std::uint16_t>(number);
        return at > begin && number <= max_label;
      }
      case column_role::ignored:
        if (syntax.separator != 0 && at < end && *at == '"') { return false; }  // may hold separators: quoted_line
        while (at < end && *at != '\n' && *at != '\r' &&
               (syntax.separator == 0 ? !is_blank(*at) : *at != syntax.separator)) {
          ++at;
        }
        return at > begin || syntax.separator != 0;
    }
    return false;
  }

  bool columns(char const*& at, char const* end)
  {
    if constexpr (Pairs) {
      return id(at, end, edge.source) && next_column(at, end, syntax.separator) && id(at, end, edge.target);
    } else {
      for (std::size_t i = 0; i < syntax.columns.size(); ++i) {
        if (i > 0 && !next_column(at, end, syntax.separator)) { return false; }
        if (!column(syntax.columns[i], at, end)) { return false; }
      }
      return true;
    }
  }

  /// The same for a line with quotes, slowly, and past its end.
  bool quoted_line(char const*& at, char const* line, char const* end)
  {
    std::string_view const text(line, static_cast<std::size_t>(line_end(line, end) - line));
    if (syntax.separator == 0 || text.find('"') == std::string_view::npos) { return false; }
    std::string const plain = without_quotes(text);
    char const* from = plain.data();
    char const* const to = from + plain.size();
    skip_blanks(from, to);
    if (!columns(from, to) || !finish_line(from, to)) { return false; }
    at = text.data() + text.size();
    at += at < end ? 1 : 0;
    return true;
  }

  void run(std::string_view text)
  {
    char const* at = text.data();
    char const* const end = at + text.size();
    text_edge* const edges = block.edges.data();
    float* const weights = block.weights.data();
    std::uint16_t* const labels = block.labels.data();
    std::int64_t size = 0;
    std::int64_t lines = 0;
    while (at < end) {
      ++lines;
      char const* const line = at;
      skip_blanks(at, end);
      if (at < end && (*at == '#' || *at == '%')) {
        at = line_end(at, end);
        at += at < end ? 1 : 0;
        continue;
      }
      if (at == end || *at == '\n' || *at == '\r') {
        if (finish_line(at, end)) { continue; }
      } else if ((columns(at, end) && finish_line(at, end)) || quoted_line(at, line, end)) {
        edges[size] = edge;
        if constexpr (!Pairs) {
          if (weights != nullptr) { weights[size] = weight; }
          if (labels != nullptr) { labels[size] = label; }
        }
        ++size;
        continue;
      }
      throw line_error{lines, diagnose({line, static_cast<std::size_t>(line_end(line, end) - line)}, syntax)};
    }
    block.size = size;
    block.lines = lines;
  }
};

}  // namespace

std::string text_quoter::operator()(std::string_view text) const
{
  constexpr std::size_t longest = 40;
  std::string out = "'";
  for (char const c : text.substr(0, longest)) {
    if (c >= ' ' && c <= '~') {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return out + (text.size() > longest ? "...'" : "'");
}

void parse_edge_lines(std::string_view text, edge_syntax const& syntax, cpu_exec const& exec, edge_block& block)
{
  auto const has = [&](column_role role) { return std::ranges::count(syntax.columns, role) > 0; };
  // An edge takes a line at least, and the last one may have no end.
  auto const room = static_cast<std::int64_t>(std::ranges::count(text, '\n') + 1);
  block.edges = buffer<text_edge>(room, *exec.memory);
  if (has(column_role::weight)) { block.weights = buffer<float>(room, *exec.memory); }
  if (has(column_role::label)) { block.labels = buffer<std::uint16_t>(room, *exec.memory); }
  bool const pairs = syntax.columns == std::vector{column_role::source, column_role::target};
  if (pairs) {
    block_parser<true>{syntax, block}.run(text);
  } else {
    block_parser<false>{syntax, block}.run(text);
  }
}

column_role parse_column_role(std::string_view name)
{
  auto const* const found = std::ranges::find(role_names, name);
  TENDRIL_EXPECTS(found != role_names.end(), "columns: '{}', expected source, target, weight, label or - (ignore)",
                  name);
  return static_cast<column_role>(found - role_names.begin());
}

std::vector<std::string_view> split_fields(std::string_view line, char separator)
{
  std::vector<std::string_view> fields;
  line = trim(line);
  while (!line.empty()) {
    std::size_t const end = separator != 0 ? line.find(separator) : line.find_first_of(" \t");
    fields.push_back(trim(line.substr(0, end)));
    if (end == std::string_view::npos) { return fields; }
    line.remove_prefix(end + 1);
    if (separator == 0) { line = trim(line); }
  }
  if (!fields.empty()) { fields.emplace_back(); }  // a separator ended the line: an empty field follows it
  return fields;
}

std::string without_quotes(std::string_view line)
{
  auto const is_separator = [](char c) { return c == ',' || c == ';'; };
  std::string out;
  bool field_begins = true;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!field_begins || line[i] != '"') {
      out += line[i];
      field_begins = is_separator(line[i]) || (field_begins && is_blank(line[i]));
      continue;
    }
    std::size_t end = line.find('"', i + 1);
    while (end < line.size() - 1 && line[end + 1] == '"') { end = line.find('"', end + 2); }  // "" stands for a quote
    if (end == std::string_view::npos) { return std::string(line); }
    for (char const c : line.substr(i + 1, end - i - 1)) { out += c == '"' || is_separator(c) ? '_' : c; }
    i = end;
    field_begins = false;
  }
  return out;
}

edge_list join_blocks(std::deque<edge_block> blocks, cpu_exec const& exec)
{
  struct position {
    std::int64_t edge = 0, row = 0;
  };
  std::vector<position> starts;
  position total;
  bool weighted = false;
  bool labelled = false;
  std::uint16_t largest_label = 0;
  for (edge_block const& block : blocks) {
    starts.push_back(total);
    total.edge += block.size;
    total.row += block.rows;
    weighted |= !block.weights.empty();
    labelled |= !block.labels.empty();
    for (std::int64_t i = 0; labelled && i < block.size; ++i) {
      largest_label = std::max(largest_label, block.labels[i]);
    }
  }
  bool const wide = largest_label > 0xff;
  auto& memory = *exec.memory;
  edge_list out;
  out.sources = buffer<vertex_id>(total.edge, memory);
  out.targets = buffer<vertex_id>(total.edge, memory);
  if (weighted) { out.weights = buffer<float>(total.edge, memory); }
  if (labelled && wide) { out.wide_labels = buffer<std::uint16_t>(total.edge, memory); }
  if (labelled && !wide) { out.narrow_labels = buffer<std::uint8_t>(total.edge, memory); }

  base::parallel_ranges(exec, static_cast<std::int64_t>(blocks.size()), 1, [&](std::int64_t b, std::int64_t) {
    edge_block& block = blocks[static_cast<std::size_t>(b)];
    auto const [edge, row] = starts[static_cast<std::size_t>(b)];
    for (std::int64_t i = 0; i < block.size; ++i) {
      out.sources[edge + i] = static_cast<vertex_id>(block.edges[i].source + row);
      out.targets[edge + i] = block.edges[i].target;
    }
    if (weighted) { std::copy_n(block.weights.data(), block.size, out.weights.data() + edge); }
    if (labelled) {
      for (std::int64_t i = 0; i < block.size; ++i) {
        if (wide) {
          out.wide_labels[edge + i] = block.labels[i];
        } else {
          out.narrow_labels[edge + i] = static_cast<std::uint8_t>(block.labels[i]);
        }
      }
    }
    block = {};
  });
  return out;
}

std::deque<edge_block> edge_text::parse(cpu_exec const& exec, std::size_t most_blocks)
{
  return parse_blocks<edge_block>(
      stream, exec, [&](std::string_view text, edge_block& block) { parse_edge_lines(text, syntax, exec, block); },
      most_blocks);
}

void edge_text::expect_entries(std::int64_t found) const
{
  if (num_entries >= 0 && found != num_entries) {
    throw format_error(fmt::format("{}: {} {}, expected {}, as the header says", stream.path(), found,
                                   found == 1 ? "entry" : "entries", num_entries));
  }
}

std::int64_t vertex_limit(std::int64_t num_bytes, bool compressed, build_options const& options)
{
  constexpr std::int64_t always = std::int64_t{1} << 24U;
  if (options.num_vertices >= 0) { return std::min(options.num_vertices, max_num_vertices); }
  if (options.compact) { return max_num_vertices; }
  std::int64_t const vertices_per_byte = compressed ? 64 : 16;
  return std::clamp(num_bytes * vertices_per_byte, always, max_num_vertices);
}

}  // namespace tendril::formats
