// What both executors of ShaDow say about their arguments.

#pragma once

#include <tendril/shadow.hpp>

#include "base/expects.hpp"                        // TENDRIL_EXPECTS
#include "samplers/subgraphs/subgraph_checks.hpp"  // check_sample_numbers

namespace tendril::samplers {

/// @throws argument_error.
inline void check_shadow(shadow_params const& params, std::int64_t num_samples, std::int64_t first_sample)
{
  TENDRIL_EXPECTS(params.depth >= 1 && params.depth <= 64, "depth: {}, expected 1 to 64 hops", params.depth);
  TENDRIL_EXPECTS(params.num_neighbors >= 1 && params.num_neighbors <= max_shadow_neighbors,
                  "num_neighbors: {}, expected 1 to {}", params.num_neighbors, max_shadow_neighbors);
  check_sample_numbers(num_samples, first_sample);
}

}  // namespace tendril::samplers
