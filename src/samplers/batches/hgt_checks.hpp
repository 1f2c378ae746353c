// What calls of HGSampling say about their arguments.

#pragma once

#include <tendril/hgt.hpp>

namespace tendril::samplers {

/// Checks the parameters against the graph. @throws argument_error.
void check_hgt(hetero_graph const& graph, hgt_params const& params);

/// The number of hops.
[[nodiscard]] inline std::int64_t hops_of(hgt_params const& params)
{
  return static_cast<std::int64_t>(params.num_samples[0].size());
}

}  // namespace tendril::samplers
