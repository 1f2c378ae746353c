// Weights as integers: none is lost, no sum overflows, and shares stay what they were.

#include "core/fixed_point.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace tendril {
namespace {

constexpr std::uint64_t limit = 1ULL << 62U;

TEST(fixed_point, logarithms_are_rounded_up)
{
  EXPECT_EQ(core::ceil_log2(1), 0);
  EXPECT_EQ(core::ceil_log2(2), 1);
  EXPECT_EQ(core::ceil_log2(3), 2);
  EXPECT_EQ(core::ceil_log2(1U << 31U), 31);
  EXPECT_EQ(core::ceil_log2((1U << 31U) + 1), 32);
  EXPECT_EQ(core::ceil_log2(0xffffffffU), 32);
}

TEST(fixed_point, floats_decompose_exactly)
{
  std::mt19937_64 random(1);
  for (int i = 0; i < 300'000; ++i) {
    float const x =
        core::bits_to_float(1U + static_cast<std::uint32_t>(random()) % (i % 3 == 0 ? 0x7fffffU : 0x7f7fffffU));
    auto const parts = core::decompose(x);
    ASSERT_GE(parts.mantissa, 1U << 23U);
    ASSERT_LT(parts.mantissa, 1U << 24U);
    ASSERT_EQ(std::ldexp(static_cast<double>(parts.mantissa), parts.exponent), static_cast<double>(x));
  }
}

TEST(fixed_point, a_positive_weight_never_becomes_zero)
{
  float const least = std::numeric_limits<float>::denorm_min();
  for (float const largest : {least, 1e-38F, 1e-12F, 1.0F, 1e12F, std::numeric_limits<float>::max()}) {
    for (std::uint32_t const degree : {1U, 2U, 1000U, 1U << 23U, 0xffffffffU}) {
      auto const scale = core::fixed_point::of(largest, degree);
      EXPECT_EQ(scale(0), 0U);
      EXPECT_EQ(scale(-1.0F), 0U);
      EXPECT_EQ(scale(std::numeric_limits<float>::quiet_NaN()), 0U);
      for (float w = largest; w > 0; w /= 2) { ASSERT_GT(scale(w), 0U) << w << " of " << largest << ", " << degree; }
      ASSERT_GT(scale(least), 0U);
    }
  }
}

/// degree times the largest integer, which bounds every sum, stays below 2^62; and at least 2^60 of it is used.
TEST(fixed_point, sums_stay_below_2_to_the_62)
{
  std::mt19937_64 random(2);
  for (int i = 0; i < 200'000; ++i) {
    float const largest = core::bits_to_float(1U + static_cast<std::uint32_t>(random()) % 0x7f7fffffU);
    auto const degree = static_cast<std::uint32_t>(1 + (random() >> (32 + random() % 32)) % 0xffffffffU);
    std::uint64_t const most = core::fixed_point::of(largest, degree)(largest);
    ASSERT_LT(static_cast<long double>(most) * degree, static_cast<long double>(limit));
    ASSERT_GE(static_cast<long double>(most) * degree, static_cast<long double>(limit / 4));
  }
}

TEST(fixed_point, order_is_kept)
{
  std::mt19937_64 random(3);
  auto const scale = core::fixed_point::of(1.0F, 1000);
  for (int i = 0; i < 200'000; ++i) {
    float const a = std::ldexp(1.0F - 0.5F * core::unit_interval(random()), -static_cast<int>(random() % 80));
    float const b = random() % 2 == 0 ? std::nextafter(a, 0.0F) : a / 2;
    ASSERT_GE(scale(a), scale(b)) << a << ' ' << b;
  }
}

/// Shares of the fixed-point sum against shares in long double.
void expect_shares(std::vector<float> const& weights, double tolerance)
{
  auto const size = static_cast<std::uint32_t>(weights.size());
  auto const scale =
      core::fixed_point::of(core::largest_weight(size, [&](std::uint32_t i) { return weights[i]; }), size);
  std::uint64_t total = 0;
  long double sum = 0;
  for (float const w : weights) {
    total += scale(w);
    sum += w;
  }
  ASSERT_LT(total, limit);
  double worst = 0;
  for (float const w : weights) {
    long double const share = static_cast<long double>(scale(w)) / total;
    worst = std::max(worst, static_cast<double>(std::abs(share / (w / sum) - 1)));
  }
  EXPECT_LE(worst, tolerance) << size << " weights";
}

/// 1,000 weights leave 52 bits for the largest; 12 orders of magnitude are 40 of them, 12 stay for the smallest.
TEST(fixed_point, twelve_orders_of_magnitude_keep_their_shares)
{
  for (std::size_t const size : {2UL, 10UL, 1000UL}) {
    std::vector<float> weights(size);
    for (std::size_t i = 0; i < size; ++i) {
      weights[i] = static_cast<float>(std::pow(10.0, -12.0 * static_cast<double>(i) / static_cast<double>(size - 1)));
    }
    expect_shares(weights, 0x1p-12);
    for (auto& w : weights) { w *= 1e-30F; }  // subnormal at the lower end, where floats themselves are coarse
    expect_shares(weights, 0x1p-12);
    std::vector<float> one_heavy(size, 1.0F);
    one_heavy[size / 2] = 1e12F;
    expect_shares(one_heavy, 0x1p-12);
  }
}

/// A hub of 2^23 keeps 39 bits below its largest weight: four orders of magnitude at full float precision, and even a
/// weight 2^-30 of the largest to 2^-9.
TEST(fixed_point, hubs_keep_their_shares)
{
  constexpr std::uint32_t size = 1U << 23U;
  auto const scale = core::fixed_point::of(1.0F, size);
  for (int e = 0; e <= 30; ++e) {
    float const w = std::ldexp(1.0F / 3, -e);
    double const exact = std::ldexp(static_cast<double>(w), 38);
    EXPECT_EQ(scale(1.0F), 1ULL << 38U);
    EXPECT_NEAR(static_cast<double>(scale(w)), exact, 0.5) << e;
    if (e <= 12) { EXPECT_EQ(static_cast<double>(scale(w)), exact) << e; }
  }
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < size; ++i) { total += scale(1.0F + static_cast<float>(i % 8) / 8); }
  EXPECT_LT(core::fixed_point::of(1.875F, size)(1.875F) * size, limit);
  EXPECT_EQ(total, (std::uint64_t{size} / 8) * (8 * 8 + 28) * (1ULL << 35U));
}

}  // namespace
}  // namespace tendril
