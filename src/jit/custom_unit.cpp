#include "jit/custom_unit.hpp"

#include <algorithm>
#include <cstring>
#include <regex>

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril::jit {
namespace {

// Lines of the unit that can be wrong only by what the caller said bear a file's name that tells which.
constexpr std::string_view struct_marker = "name-of-the-struct";
constexpr std::string_view parameter_marker = "parameter-";

/// What checks of engine/custom_struct.hpp begin with.
constexpr std::string_view struct_head = "custom struct: ";

/// Decides what the short names of the arguments stand for: named_view.hpp.
std::string_view definition_of(unit_graph graph)
{
  switch (graph) {
    case unit_graph::compressed: return "#define TENDRIL_COMPRESSED_UNIT 1\n";
    case unit_graph::part: return "#define TENDRIL_TRANSIT_UNIT 1\n";
    case unit_graph::compressed_part: return "#define TENDRIL_TRANSIT_UNIT 1\n#define TENDRIL_COMPRESSED_UNIT 1\n";
    case unit_graph::csr: break;
  }
  return "";
}

std::string start_of_unit(custom_code const& code)
{
  return fmt::format(R"({0}#include "{1}"
#line 1 "{2}"
using tendril_type = ::{3};
#line 1 "unit"
constexpr bool tendril_is_right = ({4}<tendril_type>(), true);
static_assert(tendril_is_right);
{5})",
                     code.kind->names, code.kind->file, struct_marker, code.struct_name, code.kind->require,
                     code.kind->types);
}

/// How many words a parameter takes, 0 for one that is not a list; and their type.
struct parameter_shape {
  std::size_t count;
  char const* type;
};

parameter_shape shape_of(custom_parameter const& parameter)
{
  struct visitor {
    parameter_shape operator()(double) const { return {0, "double"}; }
    parameter_shape operator()(std::int64_t) const { return {0, "std::int64_t"}; }
    parameter_shape operator()(std::vector<double> const& v) const { return {v.size(), "double"}; }
    parameter_shape operator()(std::vector<std::int64_t> const& v) const { return {v.size(), "std::int64_t"}; }
  };
  return std::visit(visitor{}, parameter.value);
}

/// The body of tendril_make.
std::string make_body(custom_code const& code)
{
  std::string text = fmt::format("  tendril::engine::describe<tendril_type>(*made, {});\n", code.kind->flags);
  if (code.has_bytes) { return text; }
  text += fmt::format(
      "  static_assert(__is_constructible(tendril_type), \"{}must be default-constructible to take parameters by "
      "name\");\n"
      "  tendril_type value{{}};\n",
      struct_head);
  std::size_t at = 0;
  for (std::size_t i = 0; i < code.parameters.size(); ++i) {
    auto const& name = code.parameters[i].name;
    parameter_shape const shape = shape_of(code.parameters[i]);
    text += fmt::format(
        "#line 1 \"{}{}\"\n"
        "  if (!tendril::engine::set_field<{}, {}>(value.{}, words + {})) {{ made->misfit = {}; }}\n",
        parameter_marker, name, shape.type, shape.count, name, at, i);
    at += std::max<std::size_t>(shape.count, 1);
  }
  return text + "#line 1 \"unit\"\n  tendril::engine::store(value, *made);\n";
}

/// Drops lines that tell how the compiler came to a file; the caller has no use for them.
std::string without_trail(std::string const& output)
{
  std::string kept;
  for (std::size_t at = 0; at < output.size();) {
    std::size_t const end = std::min(output.find('\n', at), output.size());
    std::string_view const line(output.data() + at, end - at);
    bool const trail = line.find("In file included from") != std::string_view::npos ||
                       line.find("compilation terminated") != std::string_view::npos;
    if (!trail && !line.empty()) { (kept += line) += '\n'; }
    at = end + 1;
  }
  while (!kept.empty() && kept.back() == '\n') { kept.pop_back(); }
  return kept;
}

/// What a failed check says, without its head; empty if there is none.
std::string failed_check(std::string const& output, std::string_view head)
{
  std::size_t const of_kind = output.find(head);
  std::size_t const of_struct = output.find(struct_head);
  if (std::min(of_kind, of_struct) == std::string::npos) { return ""; }
  std::size_t const begin = of_kind < of_struct ? of_kind + head.size() : of_struct + struct_head.size();
  std::string text = output.substr(begin, std::min(output.find('\n', begin), output.size()) - begin);
  while (!text.empty() && (text.back() == '"' || text.back() == ' ' || text.back() == '\r')) { text.pop_back(); }
  return text;
}

/// Whether the compiler found an error in the caller's lines: "walk.cpp:3:1: error" or "walk.cpp(3): error".
bool blames_source(custom_code const& code, std::string const& output)
{
  return std::regex_search(output, std::regex(fmt::format(R"({}[:(][^\n]*error)", code.kind->file)));
}

}  // namespace

std::vector<embedded_text> unit_files(custom_code const& code)
{
  auto const headers = engine_headers();
  std::vector<embedded_text> files(headers.begin(), headers.end());
  files.insert(files.end(), code.kind->headers.begin(), code.kind->headers.end());
  files.push_back({code.kind->file, code.source});
  return files;
}

std::string cpu_unit(custom_code const& code, unit_graph graph)
{
  return fmt::format(R"(#define TENDRIL_CUSTOM_UNIT 1
{}{}{}#define TENDRIL_EXPORT extern "C" __attribute__((visibility("default")))
{}TENDRIL_EXPORT void tendril_make([[maybe_unused]] tendril::engine::custom_word const* words,
                                 tendril::engine::custom_made* made)
{{
{}}}
)",
                     definition_of(graph), code.kind->cpu_head, start_of_unit(code),
                     is_part(graph) ? code.kind->part_functions : code.kind->cpu_functions, make_body(code));
}

std::string gpu_unit(custom_code const& code, unit_graph graph)
{
  return fmt::format(
      R"({}{}{}{}__global__ void tendril_make(tendril::engine::custom_word const* words,
                             tendril::engine::custom_made* made)
{{
{}}}
)",
      definition_of(graph), is_part(graph) ? code.kind->part_gpu_head : code.kind->gpu_head, start_of_unit(code),
      code.kind->gpu_functions, make_body(code));
}

std::vector<engine::custom_word> parameter_words(custom_code const& code)
{
  std::vector<engine::custom_word> words;
  auto const add_real = [&](double value) { words.push_back({.real = value}); };
  auto const add_integer = [&](std::int64_t value) { words.push_back({.integer = value}); };
  for (auto const& parameter : code.parameters) {
    if (auto const* real = std::get_if<double>(&parameter.value)) {
      add_real(*real);
    } else if (auto const* integer = std::get_if<std::int64_t>(&parameter.value)) {
      add_integer(*integer);
    } else if (auto const* reals = std::get_if<std::vector<double>>(&parameter.value)) {
      std::for_each(reals->begin(), reals->end(), add_real);
    } else {
      auto const& integers = std::get<std::vector<std::int64_t>>(parameter.value);
      std::for_each(integers.begin(), integers.end(), add_integer);
    }
  }
  return words;
}

std::vector<std::byte> struct_bytes(custom_code const& code, engine::custom_made const& made)
{
  if (code.has_bytes) {
    TENDRIL_EXPECTS(code.bytes.size() == made.size, "fields: {} bytes, expected {}, the size of struct '{}'",
                    code.bytes.size(), made.size, code.struct_name);
    return code.bytes;
  }
  if (made.misfit >= 0) {
    throw argument_error(
        fmt::format("parameter '{}': out of range, expected a value that its field in struct '{}' can hold",
                    code.parameters[static_cast<std::size_t>(made.misfit)].name, code.struct_name));
  }
  std::vector<std::byte> bytes(made.size);
  std::memcpy(bytes.data(), made.bytes, made.size);
  return bytes;
}

void throw_compile_error(custom_code const& code, std::string_view compiler, std::string output)
{
  output = without_trail(output);
  bool const in_source = blames_source(code, output);
  bool const named = std::regex_search(code.source, std::regex("\\b" + code.struct_name + "\\b"));
  if (!in_source && !named && output.find(struct_marker) != std::string::npos) {
    throw argument_error(fmt::format("{0}: the source defines no struct '{1}', expected 'struct {1} {{ … }}'",
                                     code.kind->noun, code.struct_name));
  }
  std::string const check = failed_check(output, code.kind->head);
  std::size_t const at = output.find(parameter_marker);
  if (!in_source && at != std::string::npos) {
    std::size_t const begin = at + parameter_marker.size();
    std::string const name = output.substr(begin, output.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
                                                                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789",
                                                                           begin) -
                                                      begin);
    throw argument_error(check.empty() ? fmt::format("parameter '{}': struct '{}' has no public field of that name",
                                                     name, code.struct_name)
                                       : fmt::format("parameter '{}': {}", name, check));
  }
  if (!in_source && !check.empty()) {
    throw argument_error(fmt::format("{}: struct '{}' {}", code.kind->noun, code.struct_name, check));
  }
  throw argument_error(
      fmt::format("{}: struct '{}' doesn't compile ({}):\n{}", code.kind->noun, code.struct_name, compiler, output));
}

}  // namespace tendril::jit
