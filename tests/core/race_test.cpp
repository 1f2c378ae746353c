// The exponential race: the variate against long double, keys against real quotients, distributions against successive
// sampling, and what millions of candidates demand of the random numbers.

#include "core/race.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "core/race_reference.hpp"
#include "support/sanitized.hpp"
#include "support/statistics.hpp"

namespace tendril {
namespace {

/// -ln(1 - (bits + 1/2) / 2^64), from whichever side of 1/2 is exact in long double's 64 bits.
long double exact_exponential(std::uint64_t bits)
{
  if (bits < 1ULL << 62U) { return -std::log1p(-(static_cast<long double>(bits) + 0.5L) * 0x1p-64L); }
  std::uint64_t const rest = ~bits;
  return -std::log((static_cast<long double>(rest) + (rest < 1ULL << 62U ? 0.5L : 0.0L)) * 0x1p-64L);
}

/// The distance of x from `exact` in units of the last place of a float of that size.
double error_in_ulps(float x, long double exact)
{
  int const exponent = std::ilogb(exact);
  return static_cast<double>(std::abs(static_cast<long double>(x) - exact) / std::ldexp(1.0L, exponent - 23));
}

TEST(race, the_exponential_is_right_to_three_units_over_all_inputs)
{
  std::mt19937_64 random(1);
  double worst = 0;
  std::uint64_t worst_bits = 0;
  auto const check = [&](std::uint64_t bits) {
    float const x = core::exponential(bits);
    double const error = x > 0 ? error_in_ulps(x, exact_exponential(bits)) : 1e9;
    if (error > worst) {
      worst = error;
      worst_bits = bits;
    }
  };
  for (unsigned shift = 0; shift < 64; ++shift) {
    for (std::uint64_t const near : {(1ULL << shift) - 1, 1ULL << shift, (1ULL << shift) + 1}) {
      check(near);
      check(~near);
    }
  }
  std::uint64_t const split = 0x4AFB0CCC06219B7CULL;  // where the two ways of computing it meet
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    check(i);
    check(~i);
    check(split - 50'000 + i);
  }
  for (int i = 0; i < 300'000; ++i) {
    check(random());
    check(random() >> (random() % 64));
    check(~(random() >> (random() % 64)));
  }
  EXPECT_LE(worst, 3.0) << worst_bits;
}

TEST(race, the_extreme_variates_are_positive_finite_and_ordered)
{
  EXPECT_EQ(core::exponential(0), 0x1p-65F);
  EXPECT_NEAR(core::exponential(~0ULL), 65 * std::log(2.0), 1e-5);
  for (std::uint64_t bits = 1; bits < 100'000; ++bits) {
    ASSERT_LT(core::exponential(bits - 1), core::exponential(bits)) << bits;
    ASSERT_GE(core::exponential(~(bits - 1)), core::exponential(~bits)) << bits;
  }
}

TEST(race, exponentials_are_exponential)
{
  if (test::is_sanitized) { GTEST_SKIP() << test::statistics_only; }
  constexpr int cells = 100;
  rng_key const key = core::make_key(1, core::domain::khop);
  std::vector<std::int64_t> counts(cells, 0);
  for (std::uint64_t item = 0; item < 1'000'000; ++item) {
    double const x = core::exponential(core::draw_block(key, item, 0, 0).low());
    ++counts[std::min<std::size_t>(cells - 1, static_cast<std::size_t>((1 - std::exp(-x)) * cells))];
  }
  test::expect_distribution(counts, std::vector<double>(cells, 1.0));
}

/// Keys of pairs compare as the quotients do, for all weights a float can hold, unless they are equal to rounding.
TEST(race, keys_order_as_quotients_do)
{
  std::mt19937_64 random(2);
  auto const any_weight = [&] {
    for (;;) {
      float const w = core::bits_to_float(static_cast<std::uint32_t>(random()) & 0x7fffffffU);
      if (w > 0 && std::isfinite(w)) { return w; }
    }
  };
  int decided = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    float const e1 = core::exponential(random() >> (random() % 64));
    float const e2 = core::exponential(random() >> (random() % 64));
    float const w1 =
        i % 4 == 0 ? core::bits_to_float(1U + static_cast<std::uint32_t>(random() % 0xffffffU)) : any_weight();
    float w2 = any_weight();
    if (i % 2 == 0) {  // quotients close to each other
      long double const close =
          w1 * static_cast<long double>(e2) / e1 * (1 + std::ldexp(1.0L, -1 - static_cast<int>(random() % 24)));
      w2 = static_cast<float>(close);
      if (!(w2 > 0) || !std::isfinite(w2)) { continue; }
    }
    long double const q1 = static_cast<long double>(e1) / w1;
    long double const q2 = static_cast<long double>(e2) / w2;
    if (std::abs(q1 - q2) <= 0x1p-22L * q1) { continue; }  // three roundings of half a unit on both sides
    ++decided;
    ASSERT_EQ(core::race_key(e1, w1) < core::race_key(e2, w2), q1 < q2)
        << std::hexfloat << e1 << " / " << w1 << " and " << e2 << " / " << w2;
  }
  EXPECT_GT(decided, 700'000);
}

/// The mantissa of a key is that of the quotient, so scaling all weights by a power of two shifts all keys alike.
TEST(race, keys_span_all_weights_without_overflow)
{
  float const least = std::numeric_limits<float>::denorm_min();
  float const most = std::numeric_limits<float>::max();
  std::uint32_t const smallest = core::race_key(core::exponential(0), most);
  std::uint32_t const largest = core::race_key(core::exponential(~0ULL), least);
  EXPECT_LT(smallest, 1U << 23U);
  EXPECT_LT(largest, core::race_never);
  EXPECT_GT(largest, 300U << 23U);
  for (int e = -149; e < 127; ++e) {
    for (std::uint64_t const bits : {0ULL, 12345ULL, 1ULL << 40U, 1ULL << 62U, 3ULL << 62U, ~0ULL}) {
      float const x = core::exponential(bits);
      ASSERT_EQ(core::race_key(x, std::ldexp(1.0F, e)), core::race_key(x, std::ldexp(1.0F, e + 1)) + (1U << 23U)) << e;
    }
  }
  for (float const none : {0.0F, -0.0F, -1.0F, std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_EQ(core::race_key(1.0F, none), core::race_never);
  }
}

TEST(race, ties_go_to_the_lower_index)
{
  EXPECT_LT(core::race_entry(5, 3), core::race_entry(5, 4));
  EXPECT_LT(core::race_entry(5, 0xffffffffU), core::race_entry(6, 0));
  EXPECT_LT(core::race_entry(6, 0), core::race_none);
  EXPECT_EQ(core::race_index(core::race_entry(6, 77)), 77U);
  EXPECT_TRUE(core::race_has_winner(core::race_entry(6, 77)));
  EXPECT_FALSE(core::race_has_winner(core::race_none));
}

void expect_race_follows(std::vector<float> const& weights, std::uint64_t num_races, double effect, std::uint64_t seed)
{
  rng_key const key = core::make_key(seed, core::domain::first_order_walk);
  std::vector<std::int64_t> counts(weights.size(), 0);
  auto const size = static_cast<std::uint32_t>(weights.size());
  for (std::uint64_t item = 0; item < num_races; ++item) {
    auto const winner = core::race_one(
        size, [&](std::uint32_t i) { return weights[i]; }, key, item, 1, core::race_draws);
    ASSERT_TRUE(core::race_has_winner(winner));
    ++counts[core::race_index(winner)];
  }
  SCOPED_TRACE(size);
  test::expect_distribution(counts, {weights.begin(), weights.end()}, effect);
}

TEST(race, one_of_d_is_drawn_by_weight)
{
  if (test::is_sanitized) { GTEST_SKIP() << test::statistics_only; }
  expect_race_follows({3}, 1000, 0.02, 1);
  expect_race_follows({1, 1}, 300'000, 0.02, 2);
  expect_race_follows({1, 5}, 300'000, 0.02, 3);
  expect_race_follows({1, 2, 3}, 300'000, 0.02, 4);
  expect_race_follows({0, 2, 0, 3, 0}, 300'000, 0.02, 5);
  expect_race_follows({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 300'000, 0.02, 6);
  expect_race_follows({1e-38F, 3e-38F, 1e-39F, 2e-39F}, 300'000, 0.02, 7);
  expect_race_follows({3e38F, 1e38F, 2e38F}, 300'000, 0.02, 8);
  std::vector<float> many(1000);
  for (std::size_t i = 0; i < many.size(); ++i) { many[i] = 1.0F + static_cast<float>(i % 40) / 10; }
  expect_race_follows(many, 12'000, 0.2, 9);
}

/// Weights over 12 orders of magnitude: each share that a sample of a million can see is right, as is what is left
/// when the heavier ones are taken away.
TEST(race, twelve_orders_of_magnitude_keep_their_probabilities)
{
  if (test::is_sanitized) { GTEST_SKIP() << test::statistics_only; }
  std::vector<float> weights;
  for (int i = 0; i <= 24; ++i) { weights.push_back(std::pow(10.0F, static_cast<float>(i) / 2 - 6)); }
  for (std::ptrdiff_t const left : {25, 17, 9, 2}) {
    expect_race_follows({weights.begin(), weights.begin() + left}, 200'000, 0.05, static_cast<std::uint64_t>(left));
  }
}

/// Ordered picks of k of d: as likely as drawing by weight, taking away, drawing again.
TEST(race, k_of_d_is_successive_sampling)
{
  if (test::is_sanitized) { GTEST_SKIP() << test::statistics_only; }
  std::vector<float> const weights{1, 2, 0, 4, 8, 0.5F};
  constexpr std::uint32_t k = 3;
  auto const size = static_cast<std::uint32_t>(weights.size());
  double const sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> sequences(size * size * size, 0);
  for (std::uint32_t a = 0; a < size; ++a) {
    for (std::uint32_t b = 0; b < size; ++b) {
      for (std::uint32_t c = 0; c < size; ++c) {
        if (a == b || b == c || a == c) { continue; }
        sequences[(a * size + b) * size + c] =
            weights[a] / sum * weights[b] / (sum - weights[a]) * weights[c] / (sum - weights[a] - weights[b]);
      }
    }
  }
  rng_key const key = core::make_key(3, core::domain::khop);
  std::vector<std::int64_t> counts(sequences.size(), 0);
  for (std::uint64_t item = 0; item < 500'000; ++item) {
    std::uint64_t w[k];
    core::race_k(
        size, [&](std::uint32_t i) { return weights[i]; }, k, w, key, item, 0, 0);
    ++counts[(core::race_index(w[0]) * size + core::race_index(w[1])) * size + core::race_index(w[2])];
  }
  test::expect_distribution(counts, sequences);
}

TEST(race, too_few_candidates_leave_slots_empty)
{
  std::vector<float> const weights{0, 2, 0, 3, 0};
  std::uint64_t winners[4];
  core::race_k(
      5, [&](std::uint32_t i) { return weights[i]; }, 4, winners, {1, 2}, 3, 4, 5);
  EXPECT_EQ(core::race_index(winners[0]) + core::race_index(winners[1]), 4U);
  EXPECT_LT(winners[0], winners[1]);
  EXPECT_EQ(winners[2], core::race_none);
  EXPECT_EQ(winners[3], core::race_none);
  auto const weightless = [](std::uint32_t) { return 0.0F; };
  EXPECT_FALSE(core::race_has_winner(core::race_one(7, weightless, {1, 2}, 3, 4, 5)));
  EXPECT_FALSE(core::race_has_winner(core::race_one(0, weightless, {1, 2}, 3, 4, 5)));
}

std::uint64_t num_ties(std::vector<std::uint32_t> keys)
{
  std::sort(keys.begin(), keys.end());
  std::uint64_t ties = 0;
  for (std::size_t i = 1; i < keys.size(); ++i) { ties += keys[i] == keys[i - 1] ? 1 : 0; }
  return ties;
}

/// Among 2^23 equal candidates the leaders lie 2^-23 apart: uniform numbers of 24 or 32 bits would tie there, and ties
/// go to the lower index. These don't; the planted 24-bit numbers show that the test would see it.
TEST(race, the_leaders_of_millions_do_not_tie)
{
  constexpr std::uint32_t size = 1U << 23U;
  constexpr std::uint32_t k = 1000;
  rng_key const key = core::make_key(4, core::domain::khop);
  std::vector<std::uint64_t> winners(k);
  core::race_k(
      size, [](std::uint32_t) { return 1.0F; }, k, winners.data(), key, 0, 0, 0);
  EXPECT_EQ(winners[0], core::race_one(
                            size, [](std::uint32_t) { return 1.0F; }, key, 0, 0, 0));
  std::vector<std::uint32_t> keys(k);
  std::vector<std::uint32_t> coarse(k);  // -ln u, u = (24 bits + 1) / 2^24: the usual float in (0, 1]
  for (std::uint32_t j = 0; j < k; ++j) {
    keys[j] = static_cast<std::uint32_t>(winners[j] >> 32U);
    std::uint64_t const bits = test::race_bits(key, 0, 0, 0, core::race_index(winners[j]));
    float const u = 1.0F - static_cast<float>(bits >> 40U) * 0x1p-24F;
    coarse[j] = core::float_to_bits(-std::log(u));
  }
  EXPECT_EQ(num_ties(keys), 0U);      // 0.03 expected
  EXPECT_GT(num_ties(coarse), 100U);  // 213 expected: 1,000 leaders over 2,000 values
}

/// The leaders among 2^22 and 2^23 equal candidates: their places are uniform, and the gaps between their keys are
/// those of a Poisson process, as independent exponentials have it.
TEST(race, hubs_are_drawn_from_evenly)
{
  if (test::is_sanitized) { GTEST_SKIP() << test::statistics_only; }
  for (std::uint32_t const size : {1U << 22U, 1U << 23U}) {
    constexpr std::uint32_t k = 2000;
    std::vector<std::int64_t> places(16, 0);
    std::vector<std::int64_t> gaps(16, 0);
    rng_key const key = core::make_key(5, core::domain::first_order_walk);
    for (std::uint64_t item = 0; item < 2; ++item) {
      std::vector<std::uint64_t> winners(k);
      core::race_k(
          size, [](std::uint32_t) { return 1.0F; }, k, winners.data(), key, item, size, core::race_draws);
      double before = 0;
      for (std::uint32_t j = 0; j < k; ++j) {
        std::uint32_t const place = core::race_index(winners[j]);
        ++places[static_cast<std::uint64_t>(place) * 16 / size];
        double const variate = core::exponential(test::race_bits(key, item, size, core::race_draws, place));
        ++gaps[static_cast<std::size_t>(std::exp(-(variate - before) * (size - j)) * 16 * (1 - 1e-12))];
        before = variate;
      }
    }
    SCOPED_TRACE(size);
    test::expect_distribution(places, std::vector<double>(16, 1.0), 0.2);
    test::expect_distribution(gaps, std::vector<double>(16, 1.0), 0.2);
  }
}

/// Half of a hub weighs three times the other half, mixed over the list: the leaders show it.
TEST(race, weights_of_a_hub_are_kept)
{
  constexpr std::uint32_t size = 1U << 22U;
  constexpr std::uint32_t k = 4000;
  rng_key const key = core::make_key(6, core::domain::khop);
  std::vector<std::uint64_t> winners(k);
  auto const weight_of = [](std::uint32_t i) { return i / 2 % 2 == 0 ? 3.0F : 1.0F; };
  std::vector<std::int64_t> counts(2, 0);
  for (std::uint64_t item = 0; item < 3; ++item) {
    core::race_k(size, weight_of, k, winners.data(), key, item, 0, 0);
    for (std::uint64_t const winner : winners) { ++counts[core::race_index(winner) / 2 % 2]; }
  }
  test::expect_distribution(counts, {3, 1}, 0.1);
}

}  // namespace
}  // namespace tendril
