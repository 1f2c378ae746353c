// What k-hop trees and LABOR say about the fan-outs of their hops.

#pragma once

#include <cstdint>
#include <span>

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril::samplers {

/// Checks that there is a hop, and that each takes 1 neighbour or more, or all. @throws argument_error.
inline void check_fanouts(std::span<std::int64_t const> fanouts)
{
  TENDRIL_EXPECTS(!fanouts.empty(), "fanouts: none given, expected one a hop");
  for (std::size_t h = 0; h < fanouts.size(); ++h) {
    TENDRIL_EXPECTS(fanouts[h] == -1 || fanouts[h] >= 1,
                    "fanouts: {} at hop {}, expected 1 or more, or -1 for all neighbours", fanouts[h], h + 1);
  }
}

}  // namespace tendril::samplers
