#include "plan/custom_unit.hpp"

#include <algorithm>
#include <cstring>
#include <regex>

#include "store/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril::plan {
namespace {

// Lines of the unit that can be wrong only by what the caller said bear a file's name that tells which.
constexpr std::string_view source_name = "walk.cpp";
constexpr std::string_view struct_marker = "name-of-the-struct";
constexpr std::string_view parameter_marker = "parameter-";

std::string start_of_unit(custom_walk::state const& walk)
{
  return fmt::format(R"(using tendril::edge_id;
using tendril::graph_view;
using tendril::label_id;
using tendril::no_vertex;
using tendril::vertex_id;
using tendril::walk_edge;
using tendril::walk_state;
#include "{}"
#line 1 "{}"
using tendril_walk_type = ::{};
#line 1 "unit"
constexpr bool tendril_is_walk = (tendril::require_dynamic_walk<tendril_walk_type>(), true);
static_assert(tendril_is_walk);
using tendril_scanning = tendril::engine::scanning_walk<tendril_walk_type>;
using tendril_rejecting = tendril::engine::rejecting_walk<tendril_walk_type>;
)",
                     source_name, struct_marker, walk.struct_name);
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
std::string make_body(custom_walk::state const& walk)
{
  std::string text = "  tendril::engine::describe<tendril_walk_type>(*made);\n";
  if (walk.has_bytes) { return text; }
  text +=
      "  static_assert(__is_constructible(tendril_walk_type), \"dynamic walk: must be default-constructible to take "
      "parameters by name\");\n"
      "  tendril_walk_type walk{};\n";
  std::size_t at = 0;
  for (std::size_t i = 0; i < walk.parameters.size(); ++i) {
    auto const& name = walk.parameters[i].name;
    parameter_shape const shape = shape_of(walk.parameters[i]);
    text += fmt::format(
        "#line 1 \"{}{}\"\n"
        "  if (!tendril::engine::set_field<{}, {}>(walk.{}, words + {})) {{ made->misfit = {}; }}\n",
        parameter_marker, name, shape.type, shape.count, name, at, i);
    at += std::max<std::size_t>(shape.count, 1);
  }
  return text + "#line 1 \"unit\"\n  tendril::engine::store(walk, *made);\n";
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

/// What a failed check of the engine says, in the words of tendril/walk_concept.hpp; empty if there is none.
std::string failed_check(std::string const& output)
{
  constexpr std::string_view head = "dynamic walk: ";
  std::size_t const at = output.find(head);
  if (at == std::string::npos) { return ""; }
  std::size_t const begin = at + head.size();
  std::string text = output.substr(begin, std::min(output.find('\n', begin), output.size()) - begin);
  while (!text.empty() && (text.back() == '"' || text.back() == ' ' || text.back() == '\r')) { text.pop_back(); }
  return text;
}

/// Whether the compiler found an error in the caller's lines: "walk.cpp:3:1: error" or "walk.cpp(3): error".
bool blames_source(std::string const& output)
{
  static std::regex const pattern(R"(walk\.cpp[:(][^\n]*error)");
  return std::regex_search(output, pattern);
}

}  // namespace

std::vector<embedded_text> unit_files(custom_walk::state const& walk)
{
  auto const headers = engine_headers();
  std::vector<embedded_text> files(headers.begin(), headers.end());
  files.push_back({"tendril/dynamic_walk.hpp", "#pragma once\n#include <tendril/walk_concept.hpp>\n"});
  files.push_back({source_name, walk.source});
  return files;
}

std::string cpu_unit(custom_walk::state const& walk)
{
  return fmt::format(R"(#define TENDRIL_CUSTOM_UNIT 1
#include <tendril/engine/custom_cpu.hpp>
{}#define TENDRIL_EXPORT extern "C" __attribute__((visibility("default")))
TENDRIL_EXPORT int tendril_walk(void const* walk, tendril::engine::dynamic_setup const* setup, int rejecting,
                                tendril::engine::dynamic_batch const* batch, std::int64_t begin, std::int64_t end,
                                tendril::engine::dynamic_report* report)
{{
  return tendril::engine::walk_custom<tendril_scanning>(walk, setup, rejecting, batch, begin, end, report);
}}
TENDRIL_EXPORT void tendril_make([[maybe_unused]] tendril::engine::custom_word const* words,
                                 tendril::engine::custom_made* made)
{{
{}}}
)",
                     start_of_unit(walk), make_body(walk));
}

std::string gpu_unit(custom_walk::state const& walk)
{
  return fmt::format(R"(#include <tendril/engine/custom_unit.hpp>
#include <tendril/engine/reject_kernel.cuh>
#include <tendril/engine/scan_kernel.cuh>
{}extern "C" __global__ void tendril_make(tendril::engine::custom_word const* words, tendril::engine::custom_made* made)
{{
{}}}
)",
                     start_of_unit(walk), make_body(walk));
}

std::vector<engine::custom_word> parameter_words(custom_walk::state const& walk)
{
  std::vector<engine::custom_word> words;
  auto const add_real = [&](double value) { words.push_back({.real = value}); };
  auto const add_integer = [&](std::int64_t value) { words.push_back({.integer = value}); };
  for (auto const& parameter : walk.parameters) {
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

std::vector<std::byte> struct_bytes(custom_walk::state const& walk, engine::custom_made const& made)
{
  if (walk.has_bytes) {
    TENDRIL_EXPECTS(walk.bytes.size() == made.size, "fields: {} bytes, expected {}, the size of struct '{}'",
                    walk.bytes.size(), made.size, walk.struct_name);
    return walk.bytes;
  }
  if (made.misfit >= 0) {
    throw argument_error(
        fmt::format("parameter '{}': out of range, expected a value that its field in struct '{}' can hold",
                    walk.parameters[static_cast<std::size_t>(made.misfit)].name, walk.struct_name));
  }
  std::vector<std::byte> bytes(made.size);
  std::memcpy(bytes.data(), made.walk, made.size);
  return bytes;
}

void throw_compile_error(custom_walk::state const& walk, std::string_view compiler, std::string output)
{
  output = without_trail(output);
  bool const in_source = blames_source(output);
  bool const named = std::regex_search(walk.source, std::regex("\\b" + walk.struct_name + "\\b"));
  if (!in_source && !named && output.find(struct_marker) != std::string::npos) {
    throw argument_error(
        fmt::format("walk: the source defines no struct '{0}', expected 'struct {0} {{ … }}'", walk.struct_name));
  }
  std::string const check = failed_check(output);
  std::size_t const at = output.find(parameter_marker);
  if (!in_source && at != std::string::npos) {
    std::size_t const begin = at + parameter_marker.size();
    std::string const name = output.substr(begin, output.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
                                                                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789",
                                                                           begin) -
                                                      begin);
    throw argument_error(check.empty() ? fmt::format("parameter '{}': struct '{}' has no public field of that name",
                                                     name, walk.struct_name)
                                       : fmt::format("parameter '{}': {}", name, check));
  }
  if (!in_source && !check.empty()) {
    throw argument_error(fmt::format("walk: struct '{}' {}", walk.struct_name, check));
  }
  throw argument_error(fmt::format("walk: struct '{}' doesn't compile ({}):\n{}", walk.struct_name, compiler, output));
}

}  // namespace tendril::plan
