// Graphs that benchmarks name by a specification.

#pragma once

#include <cstdio>
#include <string>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>

namespace tendril::bench {

inline bool is_rmat_spec(std::string const& name) { return name.rfind("rmat:", 0) == 0; }

/// The graph rmat:SCALE[:EDGE_FACTOR], made where `exec` runs: symmetrised, without duplicates, weights uniform in [1, 5),
/// edge labels 0 to 4. @throws argument_error for another specification; what generate_rmat throws.
template <class Exec>
graph make_rmat(std::string const& spec, Exec const& exec)
{
  int scale = 0;
  double factor = 16;
  int const fields = std::sscanf(spec.c_str(), "rmat:%d:%lf", &scale, &factor);
  if (fields < 1) {
    throw argument_error(fmt::format("graph '{}': expected rmat:SCALE[:EDGE_FACTOR] or a file", spec));
  }
  build_options build;
  build.symmetrize = true;
  build.drop_duplicates = true;
  edge_attributes extra;
  extra.has_weights = true;
  extra.weight_min = 1;
  extra.weight_max = 5;
  extra.num_labels = 5;
  rmat_params params;
  params.scale = scale;
  params.edge_factor = factor;
  return generate_rmat(params, build, extra, exec);
}

}  // namespace tendril::bench
