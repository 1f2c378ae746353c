// SNAP edge lists and their relatives: one edge a line, columns separated by blanks or commas.

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include <tendril/error.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "formats/edge_list.hpp"
#include "formats/edge_text.hpp"
#include "formats/readers.hpp"
#include "formats/text_edges.hpp"
#include "formats/text_numbers.hpp"  // quoted

namespace tendril::formats {
namespace {

using roles = std::vector<column_role>;

roles const all_columns = {column_role::source, column_role::target, column_role::weight, column_role::label};

/// The roles that the user gave, checked.
roles given_columns(std::vector<std::string> const& names)
{
  roles out;
  for (std::string const& name : names) { out.push_back(parse_column_role(name)); }
  auto const count = [&](column_role role) { return std::ranges::count(out, role); };
  TENDRIL_EXPECTS(count(column_role::source) == 1 && count(column_role::target) == 1,
                  "columns: {} source and {} target, expected one of each", count(column_role::source),
                  count(column_role::target));
  TENDRIL_EXPECTS(count(column_role::weight) <= 1 && count(column_role::label) <= 1,
                  "columns: {} weight and {} label, expected at most one of each", count(column_role::weight),
                  count(column_role::label));
  return out;
}

bool names_something(std::string_view field)
{
  return !field.empty() && (std::isalpha(static_cast<unsigned char>(field.front())) != 0 || field.front() == '_' ||
                            field.front() == '"' || field.front() == '\'');
}

/// A line of names over the columns; only files with commas or tabs have one.
bool is_header(std::string_view line, std::vector<std::string_view> const& fields)
{
  return fields.size() >= 2 && line.find_first_of(",\t") != std::string_view::npos &&
         std::ranges::all_of(fields, names_something);
}

/// The roles that names stand for, if all are names of roles; otherwise none.
roles named_columns(std::vector<std::string_view> const& names)
{
  roles out;
  for (std::string_view const name : names) {
    if (name != "source" && name != "target" && name != "weight" && name != "label") { return {}; }
    out.push_back(parse_column_role(name));
  }
  bool const usable =
      std::ranges::count(out, column_role::source) == 1 && std::ranges::count(out, column_role::target) == 1 &&
      std::ranges::count(out, column_role::weight) <= 1 && std::ranges::count(out, column_role::label) <= 1;
  return usable ? out : roles{};
}

/// What a comment of our own writer says: "# tendril edge list, vertices: 34, columns: source target weight".
struct own_comment {
  std::int64_t num_vertices = -1;
  roles columns;
};

own_comment parse_own_comment(std::string_view line)
{
  own_comment out;
  if (!line.starts_with(edge_list_comment)) { return out; }
  line.remove_prefix(edge_list_comment.size());
  constexpr std::string_view middle = ", columns: ";
  char const* at = line.data();
  char const* const end = at + line.size();
  std::uint64_t const vertices = parse_digits(at, end);
  std::string_view const rest(at, static_cast<std::size_t>(end - at));
  if (at == line.data() || vertices > static_cast<std::uint64_t>(max_num_vertices) || !rest.starts_with(middle)) {
    return out;  // a comment of somebody else's
  }
  out.columns = named_columns(split_fields(rest.substr(middle.size()), false));
  if (!out.columns.empty()) { out.num_vertices = static_cast<std::int64_t>(vertices); }
  return out;
}

/// Reads ahead to the first edge, for the columns and what separates them.
edge_syntax read_prologue(text_stream& stream, read_options const& options, own_comment& own)
{
  edge_syntax syntax;
  if (!options.columns.empty()) { syntax.columns = given_columns(options.columns); }
  bool headed = false;
  while (auto const line = stream.peek_line()) {
    auto const text = line->substr(std::min(line->find_first_not_of(" \t\r"), line->size()));
    bool const comment = text.starts_with('#') || text.starts_with('%');
    if (comment && own.num_vertices < 0) { own = parse_own_comment(text); }
    if (comment || text.empty()) {
      stream.consume_line();
      continue;
    }
    syntax.commas = text.find(',') != std::string_view::npos;
    auto const fields = split_fields(text, syntax.commas);
    if (!headed && is_header(text, fields)) {
      headed = true;
      if (syntax.columns.empty()) { syntax.columns = named_columns(fields); }
      stream.consume_line();
      continue;
    }
    if (syntax.columns.empty()) { syntax.columns = own.columns; }
    if (syntax.columns.empty()) {
      if (fields.size() < 2 || fields.size() > all_columns.size()) {
        throw format_error(fmt::format(
            "{}:{}: {} column{} in {}, expected 2 to 4: source target weight label (or name "
            "the columns)",
            stream.path(), stream.line_number() + 1, fields.size(), fields.size() == 1 ? "" : "s", quoted(text)));
      }
      syntax.columns.assign(all_columns.begin(), all_columns.begin() + static_cast<std::ptrdiff_t>(fields.size()));
      syntax.column_hint = " (name the columns to use others, '-' ignores one)";
    }
    break;
  }
  if (syntax.columns.empty()) { syntax.columns = {column_role::source, column_role::target}; }
  return syntax;
}

}  // namespace

edge_text open_edge_list(std::string const& path, std::span<std::byte const> bytes, read_options const& options,
                         cpu_exec const& exec, std::int64_t most_bytes)
{
  edge_text text{text_stream(path, bytes, exec, most_bytes), {}, options.build};
  build_options& build = text.build;
  own_comment own;
  text.syntax = read_prologue(text.stream, options, own);
  edge_syntax& syntax = text.syntax;
  std::int64_t const limit = vertex_limit(text.stream.num_bytes(), text.stream.compressed(), build);
  syntax.end_id = static_cast<std::uint64_t>(limit);
  if (build.num_vertices >= 0) {
    syntax.hint = " (num_vertices is set)";
  } else if (limit < max_num_vertices) {
    syntax.hint = " (a file this small has larger ids only with compact or num_vertices set)";
  }
  if (build.num_vertices < 0 && !build.compact && own.num_vertices >= 0) {
    if (own.num_vertices > limit) {
      throw format_error(fmt::format("{}: a comment says {} vertices, expected at most {} in a file this small", path,
                                     own.num_vertices, limit));
    }
    build.num_vertices = own.num_vertices;
    syntax.end_id = static_cast<std::uint64_t>(own.num_vertices);
    syntax.hint = " (the first comment says how many vertices there are)";
  }
  return text;
}

graph read_edge_list(std::string const& path, std::span<std::byte const> bytes, std::shared_ptr<void const> owner,
                     read_options const& options, cpu_exec const& exec)
{
  build_options build;
  text_edges edges;
  {
    edge_text text = open_edge_list(path, bytes, options, exec);
    edges = join_blocks(text.parse(exec), exec);
    build = text.build;
  }
  owner.reset();  // the text is not needed while the graph is built
  return build_graph(edges.view(), build, exec);
}

}  // namespace tendril::formats
