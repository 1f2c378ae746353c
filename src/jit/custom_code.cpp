// Structs that come as text, before anything compiles them: what can be seen by reading.

#include "jit/custom_code.hpp"

#include <regex>
#include <set>
#include <utility>

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril::jit {
namespace {

/// The names of the structs that a source defines outside of braces. Comments and literals are passed over.
std::vector<std::string> structs_of(std::string const& source)
{
  static std::regex const token(
      R"rx(//[^\n]*|/\*[^]*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[{}]|\b(?:struct|class)\s+(?:alignas\s*\([^)]*\)\s*)?([A-Za-z_]\w*)(?:\s+final)?\s*(?=[:{]))rx");
  std::vector<std::string> names;
  int depth = 0;
  for (std::sregex_iterator i(source.begin(), source.end(), token), end; i != end; ++i) {
    std::smatch const& match = *i;
    if (match.str() == "{") { ++depth; }
    if (match.str() == "}") { --depth; }
    if (match[1].matched && depth == 0) { names.push_back(match[1].str()); }
  }
  return names;
}

std::string only_struct_of(std::string_view noun, std::string const& source)
{
  std::vector<std::string> const names = structs_of(source);
  TENDRIL_EXPECTS(names.size() == 1,
                  "{}: the source defines {} structs outside of namespaces, expected one, or its name among several",
                  noun, names.size());
  return names.front();
}

}  // namespace

void set_source(custom_code& code, std::string source, std::string name, custom_options options)
{
  static std::regex const qualified(R"((::)?[A-Za-z_]\w*(::[A-Za-z_]\w*)*)");
  if (name.empty()) { name = only_struct_of(code.kind->noun, source); }
  TENDRIL_EXPECTS(std::regex_match(name, qualified), "struct_name: '{}', expected the name of a struct in the source",
                  name);
  code.source = std::move(source);
  code.struct_name = name.substr(name.starts_with("::") ? 2 : 0);
  code.options = std::move(options);
}

void set_parameters(custom_code& code, std::vector<custom_parameter> parameters)
{
  static std::regex const identifier(R"([A-Za-z_]\w*)");
  std::set<std::string> seen;
  for (auto const& parameter : parameters) {
    TENDRIL_EXPECTS(std::regex_match(parameter.name, identifier),
                    "parameter '{}': expected the name of a field of struct '{}'", parameter.name, code.struct_name);
    TENDRIL_EXPECTS(seen.insert(parameter.name).second, "parameter '{}': given twice", parameter.name);
    bool const empty = std::visit(
        [](auto const& value) {
          if constexpr (requires { value.empty(); }) { return value.empty(); }
          return false;
        },
        parameter.value);
    TENDRIL_EXPECTS(!empty, "parameter '{}': no values, expected one at least", parameter.name);
  }
  code.parameters = std::move(parameters);
}

void set_bytes(custom_code& code, std::span<std::byte const> bytes)
{
  code.has_bytes = true;
  code.bytes.assign(bytes.begin(), bytes.end());
}

}  // namespace tendril::jit
