// k of d without replacement, uniform: Floyd's method (Bentley & Floyd, "A sample of brilliance", CACM 1987). Draw j
// is bounded by d - k + j + 1; a value that was picked before is replaced by d - k + j. O(k) whatever d is. A warp can
// resolve all draws at once with the same result, since only equality with earlier draws matters.

#pragma once

#include <cstdint>

#include "core/random.hpp"

namespace tendril::core {

/// Pick j of k from `size` > k, given the picks before it.
/// @param bits   64 random bits of slot j.
/// @param picks  [j] the earlier picks.
TENDRIL_HD std::uint32_t floyd_pick(std::uint64_t bits, std::uint32_t j, std::uint32_t k, std::uint32_t size,
                                    std::uint32_t const* picks)
{
  std::uint32_t const last = size - k + j;
  std::uint32_t const candidate = bounded(bits, last + 1);
  bool taken = false;
  for (std::uint32_t i = 0; i < j; ++i) { taken |= picks[i] == candidate; }
  return taken ? last : candidate;
}

}  // namespace tendril::core
