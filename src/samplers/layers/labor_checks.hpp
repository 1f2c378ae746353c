// What both executors of LABOR-0 check of their arguments.

#pragma once

#include <tendril/labor.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril::samplers {

inline void check_labor(labor_params const& params)
{
  TENDRIL_EXPECTS(!params.fanouts.empty(), "fanouts: none given, expected one a hop");
  for (std::size_t h = 0; h < params.fanouts.size(); ++h) {
    TENDRIL_EXPECTS(params.fanouts[h] >= 1 || params.fanouts[h] == -1,
                    "fanouts: {} at hop {}, expected 1 or more, or -1 for all neighbours", params.fanouts[h], h + 1);
  }
}

}  // namespace tendril::samplers
