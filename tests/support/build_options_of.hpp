#pragma once

// Every combination of the options of a build.

#include <tendril/graph.hpp>

namespace tendril::test {

/// Combinations are numbers below it, a bit for each option.
inline constexpr unsigned num_build_options = 64;

inline build_options options_of(unsigned bits)
{
  build_options options;
  options.reverse = (bits & 1U) != 0;
  options.symmetrize = (bits & 2U) != 0;
  options.drop_self_loops = (bits & 4U) != 0;
  options.drop_duplicates = (bits & 8U) != 0;
  options.compact = (bits & 16U) != 0;
  options.keep_edge_ids = (bits & 32U) != 0;
  return options;
}

}  // namespace tendril::test
