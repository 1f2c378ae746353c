// k of d without replacement, uniform: Floyd's method (Bentley & Floyd, "A sample of brilliance", CACM 1987). Draw j
// is bounded by d - k + j + 1; a value that was picked before is replaced by d - k + j. O(k) whatever d is. A warp can
// resolve all draws at once with the same result, since only equality with earlier draws matters.

#pragma once

#include <cstdint>

#include "core/random.hpp"

namespace tendril::core {

/// The two values that slot j of k can get: `candidate` if no earlier slot has it, else `last`.
struct floyd_slot {
  std::uint32_t candidate, last;

  /// @param bits  64 random bits of the slot.
  /// @param size  How many there are to pick from, more than k.
  [[nodiscard]] static TENDRIL_HD floyd_slot of(std::uint64_t bits, std::uint32_t j, std::uint32_t k,
                                                std::uint32_t size)
  {
    std::uint32_t const last = size - k + j;
    return {bounded(bits, last + 1), last};
  }

  /// The slot's pick, given those before it, [j].
  [[nodiscard]] TENDRIL_HD std::uint32_t after(std::uint32_t const* picks, std::uint32_t j) const
  {
    bool taken = false;
    for (std::uint32_t i = 0; i < j; ++i) { taken |= picks[i] == candidate; }
    return taken ? last : candidate;
  }
};

/// The k picks from `size` > k by a set of the earlier ones: take(slot) returns the slot's candidate if that is not in the
/// set, else its last value, and adds what it returns.
/// @param bits  [k], 64 of each slot.
template <class Take>
TENDRIL_HD void floyd_picks(std::uint32_t k, std::uint32_t size, std::uint64_t const* bits, std::uint32_t* picks,
                            Take take)
{
  for (std::uint32_t j = 0; j < k; ++j) { picks[j] = take(floyd_slot::of(bits[j], j, k, size)); }
}

inline constexpr std::uint32_t no_floyd_link = 0xffffffffU;

/// The slot whose `last` value is slot j's candidate, if it comes before j; else no_floyd_link. The picks before slot j
/// are the candidates before it, and the last values of those slots before it that were taken (a taken candidate was
/// picked before). So slot j is taken if an earlier slot has the same candidate, or if this slot is taken: that asks
/// for no order, and any thread can find out about any slot by itself.
TENDRIL_HD std::uint32_t floyd_link(std::uint32_t candidate, std::uint32_t j, std::uint32_t k, std::uint32_t size)
{
  std::uint32_t const least_last = size - k;
  return candidate >= least_last && candidate - least_last < j ? candidate - least_last : no_floyd_link;
}

}  // namespace tendril::core
