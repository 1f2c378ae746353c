// What both executors of ShaDow say about their arguments.

#pragma once

#include <tendril/shadow.hpp>

#include "samplers/subgraphs/subgraph_checks.hpp"  // check_sample_numbers

namespace tendril::samplers {

/// @throws argument_error.
inline void check_shadow(shadow_params const& params, std::int64_t num_samples, std::int64_t first_sample)
{
  validate(params);
  check_sample_numbers(num_samples, first_sample);
}

}  // namespace tendril::samplers
