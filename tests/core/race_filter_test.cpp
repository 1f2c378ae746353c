// The filter of the race: it never leaves out a winner, it leaves out almost everyone else, and races that use it give
// what the definition gives, to the bit.

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "core/race_reference.hpp"
#include "support/sanitized.hpp"

namespace tendril {
namespace {

/// The quotient E / w that a key stands for.
double quotient_of(std::uint32_t key)
{
  return std::ldexp(1 + (key & 0x7fffffU) * 0x1p-23, static_cast<int>(key >> 23U) - 127 - 66);
}

/// What is known of a candidate's variate: it is not below.
double least_variate(std::uint32_t high) { return (high >> 9U) * 0x1p-23; }

/// A candidate against an entry of its own key, the least that it can be beaten by: it must pass. A filter with too
/// little slack doesn't survive this.
TEST(race_filter, no_candidate_that_can_win_is_rejected)
{
  std::mt19937_64 random(1);
  std::int64_t too_tight = 0;
  for (int i = 0; i < 3'000'000; ++i) {
    std::uint64_t const bits = random() >> (i % 3 == 0 ? random() % 64 : random() % 4);
    auto const raw = static_cast<std::uint32_t>(random());
    float const w = core::bits_to_float(i % 8 == 0 ? (raw & 0x7fffffU) | 1U : raw % 0x7f7fffffU + 1);
    std::uint32_t const key = core::race_key(core::exponential(bits), w);
    auto const high = static_cast<std::uint32_t>(bits >> 32U);
    ASSERT_TRUE(core::race_filter::against(core::race_entry(key, 0)).may_win(high, w))
        << std::hexfloat << bits << " of weight " << w;
    too_tight += least_variate(high) > quotient_of(key) * (1 - 0x1p-12) * w ? 1 : 0;
  }
  EXPECT_GT(too_tight, 300);
}

/// The filter is as sharp as 23 bits and its slack of 2^-16 let it be.
TEST(race_filter, whoever_is_behind_is_rejected)
{
  std::mt19937_64 random(2);
  std::int64_t behind = 0;
  std::int64_t ahead = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    float const w = 0.5F + static_cast<float>(random() % 1000);
    std::uint32_t const key = core::race_key(core::exponential(random() >> (random() % 20)), 1.0F);
    auto const high = static_cast<std::uint32_t>(random() >> (32U + random() % 12));
    core::race_filter const filter = core::race_filter::against(core::race_entry(key, 0));
    double const reach = quotient_of(key) * w;
    if (least_variate(high) > reach * (1 + 0x1p-15) + 0x1p-23) {
      ++behind;
      ASSERT_FALSE(filter.may_win(high, w)) << std::hexfloat << least_variate(high) << " against " << reach;
    } else if (least_variate(high) <= reach) {
      ++ahead;
      ASSERT_TRUE(filter.may_win(high, w)) << std::hexfloat << least_variate(high) << " against " << reach;
    }
  }
  EXPECT_GT(behind, 10'000);
  EXPECT_GT(ahead, 10'000);
}

TEST(race_filter, the_ends_of_the_range_stay_safe)
{
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(core::race_filter::against(core::race_none).reach, infinity);
  EXPECT_EQ(core::race_filter::against(core::race_entry(321U << 23U, 0)).reach, infinity);
  EXPECT_EQ(core::race_filter::against(core::race_entry((321U << 23U) - 1, 0)).reach, infinity);  // by the slack
  EXPECT_LT(core::race_filter::against(core::race_entry(320U << 23U, 0)).reach, infinity);
  EXPECT_GE(core::race_filter::against(0).reach, std::numeric_limits<float>::min());
  for (std::uint64_t const entry : {std::uint64_t{0}, core::race_entry(190U << 23U, 7), core::race_none}) {
    core::race_filter const filter = core::race_filter::against(entry);
    EXPECT_TRUE(filter.may_win(0, 0x1p-149F));
    EXPECT_TRUE(filter.may_win(0, 3e38F));
    EXPECT_FALSE(filter.may_win(1U << 9U, 0.0F));
    EXPECT_FALSE(filter.may_win(0, std::numeric_limits<float>::quiet_NaN()));
  }
  EXPECT_FALSE(core::race_filter::against(core::race_none).may_win(0, 0.0F));
  EXPECT_TRUE(core::race_filter::against(core::race_none).may_win(~0U, 0x1p-149F));
  EXPECT_EQ(core::race_entry_of(3, 0, 0, 0.0F), core::race_none);
}

TEST(race_filter, races_are_the_unfiltered_ones)
{
  rng_key const key{3, 4};
  for (std::uint32_t const size : {0U, 1U, 2U, 5U, 31U, 32U, 33U, 64U, 127U, 128U, 129U, 255U, 257U, 1000U, 5000U}) {
    for (auto const& [name, weight_of] : test::weight_profiles(size)) {
      for (std::uint64_t item = 0; item < 4; ++item) {
        std::uint32_t const first_draw = item % 2 == 0 ? 0 : core::race_draws;
        auto const expected = test::unfiltered_race(size, weight_of, 40, key, item << 31U, 2, first_draw);
        ASSERT_EQ(core::race_one(size, weight_of, key, item << 31U, 2, first_draw), expected[0]) << size << ' ' << name;
        for (std::uint32_t const k : {1U, 3U, 40U}) {
          std::vector<std::uint64_t> winners(k);
          core::race_k(size, weight_of, k, winners.data(), key, item << 31U, 2, first_draw);
          ASSERT_TRUE(std::equal(winners.begin(), winners.end(), expected.begin()))
              << k << " of " << size << ' ' << name;
        }
      }
    }
  }
}

TEST(race_filter, races_of_millions_are_the_unfiltered_ones)
{
  constexpr std::uint32_t size = (1U << test::unless_sanitized(22U, 16U)) + 77;
  rng_key const key{5, 6};
  for (auto const& [name, weight_of] : test::weight_profiles(size)) {
    auto const expected = test::unfiltered_race(size, weight_of, 25, key, 1, 0, 0);
    EXPECT_EQ(core::race_one(size, weight_of, key, 1, 0, 0), expected[0]) << name;
    std::vector<std::uint64_t> winners(25);
    core::race_k(size, weight_of, 25, winners.data(), key, 1, 0, 0);
    EXPECT_EQ(winners, expected) << name;
  }
}

/// Bounds save weights, and change nothing, however loose they are.
TEST(race_filter, bounds_leave_the_winner_alone)
{
  rng_key const key{7, 8};
  for (std::uint32_t const size : {1U, 33U, 200U, 3000U}) {
    for (auto const& [name, weight_of] : test::weight_profiles(size)) {
      auto const expected = test::unfiltered_race(size, weight_of, 1, key, 9, 1, core::race_draws)[0];
      for (float const looseness : {1.0F, 1.7F, 1e6F, 1e38F}) {
        auto const bound_of = [&, &w = weight_of](std::uint32_t i) { return w(i) * looseness; };
        ASSERT_EQ(core::race_one(size, bound_of, weight_of, key, 9, 1, core::race_draws), expected)
            << size << ' ' << name << ' ' << looseness;
      }
      // A bound may be positive, and infinite, where the weight is 0.
      for (float const bound : {3.4e38F, std::numeric_limits<float>::infinity()}) {
        auto const bound_of = [=](std::uint32_t) { return bound; };
        ASSERT_EQ(core::race_one(size, bound_of, weight_of, key, 9, 1, core::race_draws), expected) << name;
      }
    }
  }
}

/// The i-th candidate of equal weight leads with probability 1/i: of d, ln d + 0.58 are looked at closely.
TEST(race_filter, few_candidates_pass)
{
  if (test::is_sanitized) { GTEST_SKIP() << test::statistics_only; }
  constexpr std::uint32_t size = 1U << 20U;
  constexpr int num_races = 20;
  std::int64_t asked = 0;
  for (std::uint64_t item = 0; item < num_races; ++item) {
    auto const weight_of = [&](std::uint32_t) {
      ++asked;
      return 1.0F;
    };
    auto const bound_of = [](std::uint32_t) { return 1.0F; };
    ASSERT_TRUE(core::race_has_winner(core::race_one(size, bound_of, weight_of, {1, 2}, item, 0, core::race_draws)));
  }
  // 14.4 a race, with a variance of 12.8; 23 bits let less than one more pass. Five deviations of the sum.
  double const five = 5 * std::sqrt(num_races * 12.8);
  EXPECT_GT(static_cast<double>(asked), num_races * 14.4 - five);
  EXPECT_LT(static_cast<double>(asked), num_races * 15.4 + five);
}

/// Each candidate has its own two words.
TEST(race_filter, candidates_draw_where_the_contract_says)
{
  rng_key const key{9, 10};
  for (std::uint32_t const i : {0U, 1U, 31U, 32U, 95U, 127U, 128U, 1000U, 0x7fffffffU, 0xfffffffeU}) {
    std::uint64_t const bits = test::race_bits(key, 1, 2, core::race_draws, i);
    std::uint32_t const offset = core::race_block_offset(i);
    EXPECT_LT(offset, 1U << 30U);
    auto const high = core::race_high_block(key, 1, 2, core::race_draws, offset).word[core::race_word(i)];
    EXPECT_EQ(high, bits >> 32U) << i;
    std::uint64_t const entry = core::race_entry(core::race_key(core::exponential(bits), 2.5F), i);
    EXPECT_EQ(core::race_entry_of(key, 1, 2, core::race_draws, i, high, 2.5F), entry) << i;
    EXPECT_EQ(core::race_entry_of(i, high, static_cast<std::uint32_t>(bits), 2.5F), entry) << i;
  }
}

}  // namespace
}  // namespace tendril
