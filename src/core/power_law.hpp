// Degrees exactly from the discrete power law, by rejection from the continuous one (Devroye, Non-Uniform Random
// Variate Generation, X.6): no table, whatever the largest degree.

#pragma once

#include <cmath>
#include <cstdint>

#include "core/portable_math.hpp"
#include "core/random.hpp"

namespace tendril::core {

/// P(d) in proportion to d^-exponent over min <= d <= max.
class power_law {
 public:
  TENDRIL_HD power_law(double exponent, std::int64_t min, std::int64_t max)
      : exponent_(exponent),
        min_(min),
        max_(max),
        low_(integral_to(static_cast<double>(min))),
        high_(integral_to(static_cast<double>(max) + 1)),
        largest_ratio_(ratio(min))
  {
  }

  /// The degree of vertex `item`. Any thread.
  [[nodiscard]] TENDRIL_HD std::int64_t draw(rng_key key, std::uint64_t item) const
  {
    for (std::uint32_t trial = 0;; ++trial) {
      random_block const block = draw_block(key, item, 0, trial);
      double const x = inverse(low_ + (high_ - low_) * unit_interval(block.low()));
      auto d = static_cast<std::int64_t>(x);
      d = d < min_ ? min_ : max_ < d ? max_ : d;
      if (unit_interval(block.high()) * largest_ratio_ < ratio(d)) { return d; }
    }
  }

 private:
  /// The integral of t^-exponent from 1 to x.
  [[nodiscard]] TENDRIL_HD double integral_to(double x) const
  {
    if (is_log()) { return portable_log(x); }
    return (portable_pow(x, 1 - exponent_) - 1) / (1 - exponent_);
  }
  [[nodiscard]] TENDRIL_HD double inverse(double integral) const
  {
    if (is_log()) { return portable_exp(integral); }
    return portable_pow(1 + integral * (1 - exponent_), 1 / (1 - exponent_));
  }
  [[nodiscard]] TENDRIL_HD bool is_log() const { return std::fabs(1 - exponent_) < 1e-6; }

  /// d^-exponent over the integral of t^-exponent from d to d + 1; falls to 1 as d grows.
  [[nodiscard]] TENDRIL_HD double ratio(std::int64_t degree) const
  {
    auto const d = static_cast<double>(degree);
    if (degree >= (std::int64_t{1} << 22U)) { return 1 + exponent_ / (2 * d); }  // the difference would cancel
    return portable_pow(d, -exponent_) / (integral_to(d + 1) - integral_to(d));
  }

  double exponent_;
  std::int64_t min_, max_;
  double low_, high_, largest_ratio_;
};

}  // namespace tendril::core
