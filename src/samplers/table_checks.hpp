// The limit of the tables that a plan may take.

#pragma once

#include <tendril/plan.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril::samplers {

/// @throws argument_error for less than nothing.
inline void check_table_bytes(table_limit limit)
{
  TENDRIL_EXPECTS(!limit || *limit >= 0, "table_bytes: {}, expected 0 or more", limit.value_or(0));
}

}  // namespace tendril::samplers
