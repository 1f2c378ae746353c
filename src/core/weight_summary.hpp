// What the planner knows of all weights, in integers: sums over the rows in any order, by any number of threads of a CPU
// or a GPU, are the same, and so is the rule that the planner chooses by them.

#pragma once

#include <cstdint>

#include "core/fixed_point.hpp"

namespace tendril::core {

/// Sums over the rows that have a positive weight. With E edges none exceeds 2^24 E.
struct weight_summary {
  std::uint64_t trials = 0;   ///< Of degree * trials, in units of 1/256.
  std::uint64_t degrees = 0;  ///< Of degree * min(degree, 2^24).
  std::uint64_t edges = 0;    ///< Of degree.

  /// One row. Rejection against its largest weight takes degree * largest / sum trials a step, which enter up to 2^16
  /// and rounded to 1/256.
  /// @param largest  The row's largest weight.
  /// @param total    Sum of its fixed-point weights, as fixed_point::of(largest, degree) makes them.
  [[nodiscard]] static TENDRIL_HD weight_summary of_row(std::uint32_t degree, float largest, std::uint64_t total)
  {
    if (!(largest > 0)) { return {}; }
    std::uint64_t const most = fixed_point::of(largest, degree)(largest) * degree;  // below 2^62
    double const trials = static_cast<double>(most) / static_cast<double>(total);
    double const counted = trials < 65536.0 ? trials : 65536.0;
    std::uint64_t const quantised = (static_cast<std::uint64_t>(counted * 512.0) + 1) / 2;  // to the nearest
    std::uint64_t const d = degree;
    return {d * quantised, d * (d < (1U << 24U) ? d : 1U << 24U), d};
  }

  TENDRIL_HD weight_summary& operator+=(weight_summary const& other)
  {
    trials += other.trials;
    degrees += other.degrees;
    edges += other.edges;
    return *this;
  }

  /// Mean number of trials over the rows that random edges lead from; 1 where there is none.
  [[nodiscard]] double expected_trials() const
  {
    return edges == 0 ? 1.0 : static_cast<double>(trials) / (256.0 * static_cast<double>(edges));
  }

  /// Mean degree of the same rows; 0 where there is none.
  [[nodiscard]] double mean_degree() const
  {
    return edges == 0 ? 0.0 : static_cast<double>(degrees) / static_cast<double>(edges);
  }
};

}  // namespace tendril::core
