// The planner's summary of weights: right, in integers, and the same in any order.

#include "core/weight_summary.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace tendril {
namespace {

core::weight_summary summary_of(std::vector<float> const& weights)
{
  auto const degree = static_cast<std::uint32_t>(weights.size());
  float const largest = core::largest_weight(degree, [&](std::uint32_t i) { return weights[i]; });
  std::uint64_t total = 0;
  if (largest > 0) {
    auto const scale = core::fixed_point::of(largest, degree);
    for (float const w : weights) { total += scale(w); }
  }
  return core::weight_summary::of_row(degree, largest, total);
}

TEST(weight_summary, counts_the_trials_of_rejection)
{
  std::mt19937_64 random(1);
  for (std::size_t const degree : {1UL, 2UL, 10UL, 1000UL, 100'000UL}) {
    for (double const orders : {0.0, 1.0, 6.0}) {
      std::uniform_real_distribution<double> exponent(0, orders);
      std::vector<float> weights(degree);
      double sum = 0;
      double largest = 0;
      for (auto& w : weights) {
        w = static_cast<float>(std::pow(10.0, exponent(random)));
        sum += w;
        largest = std::max<double>(largest, w);
      }
      auto const summary = summary_of(weights);
      double const trials = static_cast<double>(degree) * largest / sum;
      // Rounded to 1/256.
      EXPECT_NEAR(summary.expected_trials(), trials, 0.5 / 256 + 1e-6 * trials) << degree << " " << orders;
      EXPECT_EQ(summary.mean_degree(), static_cast<double>(degree));
    }
  }
}

TEST(weight_summary, weighs_rows_by_their_edges)
{
  core::weight_summary sum = summary_of({1, 1, 1, 1});  // 1 trial
  sum += summary_of({1, 0});                            // 2 trials
  EXPECT_EQ(sum.edges, 6U);
  EXPECT_EQ(sum.trials, 256U * (4 * 1 + 2 * 2));
  EXPECT_EQ(sum.degrees, 4U * 4 + 2 * 2);
  EXPECT_DOUBLE_EQ(sum.expected_trials(), 8.0 / 6);
  EXPECT_DOUBLE_EQ(sum.mean_degree(), 20.0 / 6);
}

TEST(weight_summary, leaves_out_rows_without_a_positive_weight)
{
  core::weight_summary sum = summary_of({0, 0, 0});
  sum += summary_of({});
  EXPECT_EQ(sum.edges, 0U);
  EXPECT_EQ(sum.expected_trials(), 1.0);
  EXPECT_EQ(sum.mean_degree(), 0.0);
  sum += summary_of({3});
  EXPECT_EQ(sum.expected_trials(), 1.0);
}

TEST(weight_summary, cuts_extremes_so_that_sums_fit)
{
  std::vector<float> weights(std::size_t{1} << 20U, 1e-30F);
  weights[77] = 1e30F;
  auto const summary = summary_of(weights);
  EXPECT_EQ(summary.trials, (std::uint64_t{1} << 20U) * 65536 * 256);
  auto const giant = core::weight_summary::of_row(0xffffffffU, 1.0F, std::uint64_t{1} << 30U);
  EXPECT_EQ(giant.degrees, 0xffffffffULL << 24U);
  EXPECT_LE(giant.trials, 0xffffffffULL << 24U);
}

}  // namespace
}  // namespace tendril
