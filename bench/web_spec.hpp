// Web-like graphs that benchmarks name by a specification.

#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include <tendril/compress.hpp>
#include <tendril/error.hpp>
#include <tendril/generate.hpp>

namespace tendril::bench {

inline bool is_web_spec(std::string const& name) { return name.rfind("web:", 0) == 0; }

/// The graph web:VERTICES[xEDGE_FACTOR][:FORM], made where `exec` runs, in its form: csr where there is none.
/// @throws argument_error for another specification; what generate_web throws.
template <class Exec>
graph make_web(std::string const& spec, Exec const& exec)
{
  web_params params;
  int end = 0;
  bool const has_factor =
      std::sscanf(spec.c_str(), "web:%ldx%lf%n", &params.num_vertices, &params.edge_factor, &end) == 2;
  if (!has_factor && std::sscanf(spec.c_str(), "web:%ld%n", &params.num_vertices, &end) != 1) {
    throw argument_error(fmt::format("graph '{}': expected web:VERTICES[xEDGE_FACTOR][:FORM]", spec));
  }
  std::string const rest = spec.substr(static_cast<std::size_t>(end));
  if (!rest.empty()) { params.form = parse_name<graph_form>("graph '" + spec + "'", rest.substr(1)); }
  return generate_web(params, {}, {}, exec);
}

}  // namespace tendril::bench
