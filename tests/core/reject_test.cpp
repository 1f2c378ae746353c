// Rejection: acceptance probabilities counted over the inputs, the distribution of a whole step, the limit of trials.

#include "core/reject.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "core/race.hpp"
#include "support/sanitized.hpp"
#include "support/statistics.hpp"

namespace tendril {
namespace {

/// How many of the 2^53 values of the unit interval are accepted: the first that is not, by bisection.
std::uint64_t num_accepted(double weight, double bound)
{
  std::uint64_t low = 0;
  std::uint64_t high = 1ULL << 53U;
  while (low < high) {
    std::uint64_t const middle = low + (high - low) / 2;
    if (core::accept(middle << 11U, weight, bound)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

TEST(reject, the_accepted_share_is_weight_over_bound)
{
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-12, 0);
  for (int i = 0; i < 20'000; ++i) {
    float const bound =
        std::ldexp(1.0F + static_cast<float>(core::unit_interval(random())), static_cast<int>(random() % 200) - 100);
    float const weight = bound * static_cast<float>(std::pow(10.0, exponent(random)));
    long double const right = static_cast<long double>(weight) / bound;
    ASSERT_LE(std::abs(static_cast<long double>(num_accepted(weight, bound)) * 0x1p-53L - right), 0x1p-52L)
        << weight << " of " << bound;
  }
}

TEST(reject, the_bound_itself_is_always_accepted_and_zero_never)
{
  for (double const bound : {1e-45, 1.0, 3.0, 1e38, 3.4e38 * 1e6}) {
    EXPECT_TRUE(core::accept(~0ULL, bound, bound));
    EXPECT_FALSE(core::accept(0, 0.0, bound));
    EXPECT_TRUE(core::accept(0, bound * 1e-30, bound));
  }
}

TEST(reject, the_trial_limits_never_change)
{
  EXPECT_EQ(core::trial_limit(1), 33U);
  EXPECT_EQ(core::trial_limit(991), 1023U);
  EXPECT_EQ(core::trial_limit(992), 1024U);
  EXPECT_EQ(core::trial_limit(993), 1024U);
  EXPECT_EQ(core::trial_limit(0xffffffffU), 1024U);
  EXPECT_EQ(core::weighted_trial_limit(1), 33U);
  EXPECT_EQ(core::weighted_trial_limit(95), 127U);
  EXPECT_EQ(core::weighted_trial_limit(96), 128U);
  EXPECT_EQ(core::weighted_trial_limit(97), 128U);
  EXPECT_EQ(core::weighted_trial_limit(0xffffffffU), 128U);
}

/// A step as executors take it: trials up to the limit, then a race.
std::uint32_t step(std::vector<float> const& weights, float bound, rng_key key, std::uint64_t item, bool& raced)
{
  auto const degree = static_cast<std::uint32_t>(weights.size());
  for (std::uint32_t trial = 0; trial < core::trial_limit(degree); ++trial) {
    core::random_block const block = core::draw_block(key, item, 0, trial);
    std::uint32_t const i = core::bounded(block.low(), degree);
    if (core::accept(block.high(), weights[i], bound)) { return i; }
  }
  raced = true;
  return core::race_index(core::race_one(
      degree, [&](std::uint32_t i) { return weights[i]; }, key, item, 0, core::race_draws));
}

TEST(reject, steps_follow_the_weights_with_or_without_the_race)
{
  if (test::is_sanitized) { GTEST_SKIP() << test::statistics_only; }
  rng_key const key = core::make_key(1, core::domain::first_order_walk);
  std::vector<float> one_heavy(40, 0.01F);
  one_heavy[17] = 10;
  std::vector<float> many(1000);
  for (std::size_t i = 0; i < many.size(); ++i) { many[i] = 1.0F + static_cast<float>(i % 40) / 10; }
  std::vector<std::vector<float>> const cases{{2}, {1, 5}, {1, 2, 3}, {0, 1, 0, 2}, one_heavy, many};
  for (std::size_t c = 0; c < cases.size(); ++c) {
    auto const& weights = cases[c];
    float const bound = *std::max_element(weights.begin(), weights.end()) * 1.5F;
    std::vector<std::int64_t> counts(weights.size(), 0);
    std::int64_t num_races = 0;
    for (std::uint64_t item = 0; item < 300'000; ++item) {
      bool raced = false;
      ++counts[step(weights, bound, key, item, raced)];
      num_races += raced ? 1 : 0;
    }
    SCOPED_TRACE(c);
    test::expect_distribution(counts, {weights.begin(), weights.end()}, 0.05);
    if (c == 4) { EXPECT_GT(num_races, 30'000); }  // 1.6 % a trial, 72 trials: the race decides 30 % of the steps
  }
}

}  // namespace
}  // namespace tendril
