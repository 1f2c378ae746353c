// Walks that come as text, before anything compiles them: what can be seen by reading.

#include <tendril/custom_walk.hpp>

#include <regex>
#include <set>
#include <utility>

#include "plan/custom_walk_state.hpp"
#include "store/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril {
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

std::string only_struct_of(std::string const& source)
{
  std::vector<std::string> const names = structs_of(source);
  TENDRIL_EXPECTS(names.size() == 1,
                  "walk: the source defines {} structs outside of namespaces, expected one, or its name among several",
                  names.size());
  return names.front();
}

std::shared_ptr<custom_walk::state> make_state(std::string source, std::string name, custom_walk_options options)
{
  static std::regex const qualified(R"((::)?[A-Za-z_]\w*(::[A-Za-z_]\w*)*)");
  if (name.empty()) { name = only_struct_of(source); }
  TENDRIL_EXPECTS(std::regex_match(name, qualified), "struct_name: '{}', expected the name of a struct in the source",
                  name);
  auto state = std::make_shared<custom_walk::state>();
  state->source = std::move(source);
  state->struct_name = name.substr(name.starts_with("::") ? 2 : 0);
  state->options = std::move(options);
  return state;
}

}  // namespace

custom_walk::custom_walk(std::string source, std::string struct_name, std::vector<custom_parameter> parameters,
                         custom_walk_options options)
    : state_(make_state(std::move(source), std::move(struct_name), std::move(options)))
{
  static std::regex const identifier(R"([A-Za-z_]\w*)");
  std::set<std::string> seen;
  for (auto const& parameter : parameters) {
    TENDRIL_EXPECTS(std::regex_match(parameter.name, identifier),
                    "parameter '{}': expected the name of a field of struct '{}'", parameter.name, state_->struct_name);
    TENDRIL_EXPECTS(seen.insert(parameter.name).second, "parameter '{}': given twice", parameter.name);
    bool const empty = std::visit(
        [](auto const& value) {
          if constexpr (requires { value.empty(); }) { return value.empty(); }
          return false;
        },
        parameter.value);
    TENDRIL_EXPECTS(!empty, "parameter '{}': no values, expected one at least", parameter.name);
  }
  state_->parameters = std::move(parameters);
}

custom_walk custom_walk::from_bytes(std::string source, std::string struct_name, std::span<std::byte const> fields,
                                    custom_walk_options options)
{
  custom_walk walk(std::move(source), std::move(struct_name), {}, std::move(options));
  walk.state_->has_bytes = true;
  walk.state_->bytes.assign(fields.begin(), fields.end());
  return walk;
}

std::string const& custom_walk::source() const noexcept { return state_->source; }
std::string const& custom_walk::struct_name() const noexcept { return state_->struct_name; }

}  // namespace tendril
