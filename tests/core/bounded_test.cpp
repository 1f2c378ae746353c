// Bounded integers, unit intervals and probabilities: how many of the 2^64 inputs lead to each output.

#include <cmath>
#include <random>

#include "core/random.hpp"
#include "support/sanitized.hpp"
#include "support/statistics.hpp"

namespace tendril {
namespace {

__extension__ using uint128 = unsigned __int128;

/// The first 64 bits that a map by the high half of a product sends to `value` or beyond.
std::uint64_t first_bits_of(std::uint64_t value, std::uint64_t size)
{
  return static_cast<std::uint64_t>(((static_cast<uint128>(value) << 64U) + size - 1) / size);
}

/// Outputs ascend with the input, so their shares are known from where each one starts: they differ by one input.
TEST(bounded, every_value_has_its_share_of_the_inputs)
{
  std::mt19937_64 random(1);
  for (std::uint32_t const size : {1U, 2U, 3U, 10U, 1000U, 65'535U, 65'536U, 1U << 22U, (1U << 23U) + 1, 0xffffffffU}) {
    EXPECT_EQ(core::bounded(0, size), 0U);
    EXPECT_EQ(core::bounded(~0ULL, size), size - 1);
    for (int repeat = 0; repeat < 1000 && size > 1; ++repeat) {
      std::uint32_t const value = 1 + static_cast<std::uint32_t>(random() % (size - 1));
      std::uint64_t const first = first_bits_of(value, size);
      ASSERT_EQ(core::bounded(first, size), value) << size;
      ASSERT_EQ(core::bounded(first - 1, size), value - 1) << size;
    }
  }
}

TEST(bounded, sizes_beyond_32_bits_work_alike)
{
  std::mt19937_64 random(2);
  for (std::uint64_t const size : {1ULL, 3ULL, 1ULL << 32U, (1ULL << 40U) + 7, (1ULL << 62U) - 1, ~0ULL}) {
    EXPECT_EQ(core::bounded64(0, size), 0U);
    EXPECT_EQ(core::bounded64(~0ULL, size), size - 1);
    for (int repeat = 0; repeat < 1000 && size > 1; ++repeat) {
      std::uint64_t const value = 1 + random() % (size - 1);
      std::uint64_t const first = first_bits_of(value, size);
      ASSERT_EQ(core::bounded64(first, size), value) << size;
      ASSERT_EQ(core::bounded64(first - 1, size), value - 1) << size;
    }
  }
}

TEST(bounded, draws_are_uniform)
{
  if (test::is_sanitized) { GTEST_SKIP() << test::statistics_only; }
  rng_key const key = core::make_key(1, core::domain::first_order_walk);
  for (std::uint32_t const size : {1U, 2U, 3U, 10U, 1000U}) {
    std::vector<std::int64_t> counts(size, 0);
    for (std::uint64_t item = 0; item < 1'100'000; ++item) {
      ++counts[core::bounded(core::draw_block(key, item, size, 0).low(), size)];
    }
    SCOPED_TRACE(size);
    test::expect_distribution(counts, std::vector<double>(size, 1.0));
  }
}

/// On a hub of 2^22, high parts and low parts of the pick are both uniform.
TEST(bounded, draws_from_a_hub_are_uniform)
{
  if (test::is_sanitized) { GTEST_SKIP() << test::statistics_only; }
  constexpr std::uint32_t size = 1U << 22U;
  rng_key const key = core::make_key(2, core::domain::first_order_walk);
  std::vector<std::int64_t> high(512, 0);
  std::vector<std::int64_t> low(512, 0);
  for (std::uint64_t item = 0; item < 1'100'000; ++item) {
    std::uint32_t const pick = core::bounded(core::draw_block(key, item, 0, 0).high(), size);
    ++high[pick >> 13U];
    ++low[pick & 511U];
  }
  test::expect_distribution(high, std::vector<double>(512, 1.0));
  test::expect_distribution(low, std::vector<double>(512, 1.0));
}

TEST(bounded, the_unit_interval_stays_below_one)
{
  EXPECT_EQ(core::unit_interval(0), 0);
  EXPECT_EQ(core::unit_interval(2047), 0);
  EXPECT_EQ(core::unit_interval(2048), 0x1p-53);
  EXPECT_EQ(core::unit_interval(~0ULL), 1 - 0x1p-53);
  EXPECT_EQ(core::unit_interval(1ULL << 63U), 0.5);
}

TEST(bounded, probabilities_hit_their_share_of_the_inputs)
{
  auto const never = core::probability::of(0);
  EXPECT_FALSE(never.hit(0));
  auto const always = core::probability::of(1);
  EXPECT_TRUE(always.hit(~0ULL));
  for (double const p : {0.5, 0.2, 0.85, 0x1p-64, 1 - 0x1p-53, 1e-18}) {
    auto const chance = core::probability::of(p);
    auto const hits = static_cast<std::uint64_t>(std::ldexp(static_cast<long double>(p), 64));  // rounded down
    ASSERT_GT(hits, 0U);
    EXPECT_TRUE(chance.hit(hits - 1)) << p;
    EXPECT_FALSE(chance.hit(hits)) << p;
  }
}

}  // namespace
}  // namespace tendril
