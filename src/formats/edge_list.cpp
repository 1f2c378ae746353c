// SNAP edge lists and their relatives: one edge a line, columns separated by blanks or commas.

#include <algorithm>
#include <cctype>
#include <optional>
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
  if (field.starts_with('\'')) { field.remove_prefix(1); }
  if (field.empty()) { return false; }
  auto const first = static_cast<unsigned char>(field.front());
  return std::isalpha(first) != 0 || first == '_' || first >= 0x80;  // the last: a letter in UTF-8
}

/// A line of names over the columns; only files with commas, semicolons or tabs have one.
bool is_header(std::string_view line, std::vector<std::string_view> const& fields)
{
  return fields.size() >= 2 && line.find_first_of(",;\t") != std::string_view::npos &&
         std::ranges::all_of(fields, names_something);
}

/// The role that a name stands for, in capitals or not.
std::optional<column_role> named_role(std::string_view name)
{
  std::string lower(name);
  for (char& c : lower) { c = static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }
  if (lower == "source" || lower == "target" || lower == "weight" || lower == "label") {
    return parse_column_role(lower);
  }
  return std::nullopt;
}

/// The roles that names stand for, if all are names of roles, each of one column; otherwise none.
roles named_columns(std::vector<std::string_view> const& names)
{
  roles out;
  for (std::string_view const name : names) {
    auto const role = named_role(name);
    if (!role || std::ranges::count(out, *role) > 0) { return {}; }
    out.push_back(*role);
  }
  auto const has = [&](column_role role) { return std::ranges::count(out, role) == 1; };
  return has(column_role::source) && has(column_role::target) ? out : roles{};
}

/// Why the usual order of columns would be wrong under a header of these names, or nothing: a name of ours stands over
/// a column that has another meaning.
std::string header_problem(std::vector<std::string_view> const& names)
{
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto const role = named_role(names[i]);
    if (!role || (i < all_columns.size() && all_columns[i] == *role)) { continue; }
    return fmt::format(
        "column {} is named {}, expected each of source and target once, and at most weight and label "
        "beside them (or name the columns)",
        i + 1, quoted(names[i]));
  }
  return {};
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
  out.columns = named_columns(split_fields(rest.substr(middle.size())));
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
    std::string const plain = without_quotes(text);
    std::size_t const separator = plain.find_first_of(",;");
    syntax.separator = separator == std::string::npos ? char{0} : plain[separator];
    auto const fields = split_fields(plain, syntax.separator);
    if (!headed && is_header(plain, fields)) {
      headed = true;
      if (syntax.columns.empty()) {
        syntax.columns = named_columns(fields);
        std::string const problem = syntax.columns.empty() ? header_problem(fields) : std::string();
        if (!problem.empty()) {
          throw format_error(fmt::format("{}:{}: {}", stream.path(), stream.line_number() + 1, problem));
        }
      }
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
  edge_list edges;
  {
    edge_text text = open_edge_list(path, bytes, options, exec);
    edges = join_blocks(text.parse(exec), exec);
    build = text.build;
  }
  owner.reset();  // the text is not needed while the graph is built
  return build_graph(std::move(edges), build, exec);
}

}  // namespace tendril::formats
