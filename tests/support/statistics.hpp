// Goodness of fit for tests: Pearson's chi-square with a tolerance that follows from the sample size, and a refusal to
// judge a sample too small to notice the bias that the test claims to exclude.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace tendril::test {

/// P(X > statistic) for X chi-square distributed with `dof` degrees of freedom: the regularised upper incomplete gamma
/// function Q(dof / 2, statistic / 2), by its power series or by its continued fraction (modified Lentz), whichever
/// converges (Abramowitz & Stegun 6.5.29 and 6.5.31). Absolute error below 1e-10.
inline double chi_square_tail(double statistic, double dof)
{
  double const a = dof / 2;
  double const x = statistic / 2;
  if (x <= 0) { return 1; }
  double const front = std::exp(a * std::log(x) - x - std::lgamma(a));
  constexpr int most_terms = 100'000;
  if (x < a + 1) {
    double term = 1 / a;
    double sum = term;
    for (int n = 1; n < most_terms && term > sum * 1e-16; ++n) { sum += term *= x / (a + n); }
    return std::max(0.0, 1 - front * sum);
  }
  constexpr double tiny = 1e-300;
  double b = x + 1 - a;
  double c = 1 / tiny;
  double d = 1 / b;
  double fraction = d;
  for (int n = 1; n < most_terms; ++n) {
    double const step = -n * (n - a);
    b += 2;
    d = step * d + b;
    d = 1 / (std::abs(d) < tiny ? tiny : d);
    c = b + step / c;
    c = std::abs(c) < tiny ? tiny : c;
    fraction *= d * c;
    if (std::abs(d * c - 1) < 1e-15) { break; }
  }
  return front * fraction;
}

/// A test fails below this p-value. Seeds are fixed, so a right sampler fails once in a million tests that are
/// written, not once in a million runs.
inline constexpr double least_p_value = 1e-6;

/// The statistic whose tail is least_p_value.
inline double critical_chi_square(double dof)
{
  double low = dof;
  double high = dof + 50 + 20 * std::sqrt(dof);
  for (int i = 0; i < 60; ++i) {
    double const middle = (low + high) / 2;
    (chi_square_tail(middle, dof) > least_p_value ? low : high) = middle;
  }
  return high;
}

/// The smallest sample that notices, at least 998 times in 1,000, probabilities that are all off by the share
/// `effect` (some up, some down): the noncentral chi-square statistic, of mean dof + n effect^2 and variance
/// 2 (dof + 2 n effect^2), has to lie three deviations above the critical value.
inline double least_sample(double dof, double effect)
{
  double const critical = critical_chi_square(dof);
  double shift = 1;
  while (dof + shift - 3 * std::sqrt(2 * (dof + 2 * shift)) < critical) { shift *= 1.01; }
  return shift / (effect * effect);
}

/// Whether `counts` [cells] look drawn with probabilities proportional to `weights` [cells]. A cell of weight 0 must be
/// empty; cells that expect fewer than five draws are pooled.
/// @param effect  The relative bias that must be noticed; a sample too small for it is a failure.
inline testing::AssertionResult drawn_from(std::vector<std::int64_t> const& counts, std::vector<double> const& weights,
                                           double effect = 0.02)
{
  if (counts.size() != weights.size()) {
    return testing::AssertionFailure() << counts.size() << " counts for " << weights.size() << " weights";
  }
  double const drawn = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  double const sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  struct cell {
    double expected, observed;
  };
  std::vector<cell> cells;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (weights[i] > 0) {
      cells.push_back({drawn * (weights[i] / sum), static_cast<double>(counts[i])});
    } else if (counts[i] != 0) {
      return testing::AssertionFailure() << "cell " << i << " of probability 0 was drawn " << counts[i] << " times";
    }
  }
  // One pool of all rare cells; while it is still rare itself, the next rarest joins it.
  std::sort(cells.begin(), cells.end(), [](cell const& a, cell const& b) { return a.expected > b.expected; });
  cell pool{0, 0};
  while (!cells.empty() && (cells.back().expected < 5 || (pool.expected > 0 && pool.expected < 5))) {
    pool.expected += cells.back().expected;
    pool.observed += cells.back().observed;
    cells.pop_back();
  }
  if (pool.expected > 0) { cells.push_back(pool); }
  if (cells.empty()) { return testing::AssertionFailure() << "no cell has a positive weight"; }
  if (cells.size() == 1) {
    if (drawn > 0) { return testing::AssertionSuccess(); }
    return testing::AssertionFailure() << "nothing was drawn";
  }
  double const dof = static_cast<double>(cells.size() - 1);
  if (double const needed = least_sample(dof, effect); drawn < needed) {
    return testing::AssertionFailure() << drawn << " draws over " << cells.size() << " cells can't exclude a bias of "
                                       << effect << ": that takes " << needed;
  }
  double statistic = 0;
  for (cell const& c : cells) { statistic += (c.observed - c.expected) * (c.observed - c.expected) / c.expected; }
  double const p = chi_square_tail(statistic, dof);
  if (p > least_p_value) { return testing::AssertionSuccess() << "p = " << p; }
  return testing::AssertionFailure() << "chi-square " << statistic << " at " << dof << " degrees of freedom: p = " << p;
}

inline void expect_distribution(std::vector<std::int64_t> const& counts, std::vector<double> const& weights,
                                double effect = 0.02)
{
  EXPECT_TRUE(drawn_from(counts, weights, effect));
}

}  // namespace tendril::test
