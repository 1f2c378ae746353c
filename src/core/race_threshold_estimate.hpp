// How far the k best of a race will reach, guessed before it is run. With weights of sum W about m = reach * W candidates
// have E / w below `reach` (the variates are exponential, so the number is near Poisson's); a filter that lets pass only
// those, for an m somewhat above k, spares nearly all exact keys. The k-th key tells afterwards whether the guess held: if
// not, the race is run again without one. So the result never depends on the guess.

#pragma once

#include <cmath>
#include <cstdint>

#include "core/race.hpp"

namespace tendril::core {

/// How many candidates a guess lets pass: k and three deviations. Host.
inline float race_threshold_sample(std::uint32_t k)
{
  return static_cast<float>(k) + 3.0F * std::sqrt(static_cast<float>(k)) + 3.0F;
}

struct race_threshold_estimate {
  race_filter filter;

  /// @param wanted  race_threshold_sample(k)
  /// @param size    Candidates.
  /// @param sample_weight, sample_size  Sum of the weights of some of them, and how many these are. Its rounding, and so
  ///                                    the order in which it was added up, is of no consequence.
  [[nodiscard]] static TENDRIL_HD race_threshold_estimate of(float wanted, std::uint32_t size, float sample_weight,
                                                             std::uint32_t sample_size)
  {
    auto const n = static_cast<float>(size);
    // The filter compares uniform variates, which the exponential ones exceed: by half their square, to first order.
    float const spread = wanted * (1.0F + 0.5F * wanted / n);
    return {{spread * static_cast<float>(sample_size) / (sample_weight * n)}};  // infinite without weight: all pass
  }

  /// Whether a guess spares work: else too many pass.
  [[nodiscard]] static TENDRIL_HD bool pays(float wanted, std::uint32_t size)
  {
    return wanted > 0 && static_cast<float>(size) >= 3.0F * wanted;
  }

  /// Whether the k best of those that passed are the k best of all, given the k-th (race_none: fewer passed). What the
  /// guess held back, the filter against that entry holds back, too: it reaches no further.
  [[nodiscard]] TENDRIL_HD bool holds(std::uint64_t kth) const
  {
    return race_filter::against(kth).reach <= filter.reach;
  }
};

}  // namespace tendril::core
