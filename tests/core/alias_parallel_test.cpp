// Buckets worked out one by one over prefix sums: those of the sweep, for every shape of weights.

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "core/alias.hpp"

namespace tendril {
namespace {

__extension__ using uint128 = unsigned __int128;

/// Compares all buckets of both builds for positive integer weights with scale^-1 = 1.
void expect_same_buckets(std::vector<std::uint64_t> const& weights)
{
  auto const size = static_cast<std::uint32_t>(weights.size());
  std::uint64_t total = 0;
  for (auto const w : weights) { total += w; }
  std::vector<core::alias_bucket> swept(size);
  core::alias_sweep(
      size, total, [&](std::uint32_t i) { return weights[i]; },
      [&](std::uint32_t item, core::alias_bucket const& bucket) {
        swept[item] = bucket;
        return true;
      });

  std::vector<std::uint32_t> order;
  for (bool const light : {true, false}) {
    for (std::uint32_t i = 0; i < size; ++i) {
      if ((weights[i] * size <= total) == light) { order.push_back(i); }
    }
  }
  std::vector<std::uint64_t> sums(size + std::size_t{1}, 0);
  for (std::uint32_t p = 0; p < size; ++p) { sums[p + std::size_t{1}] = sums[p] + weights[order[p]]; }
  auto const lights = static_cast<std::uint32_t>(
      std::count_if(weights.begin(), weights.end(), [&](std::uint64_t w) { return w * size <= total; }));
  auto const prefix_of = [&](std::uint32_t n) { return sums[n]; };
  core::alias_partition<decltype(prefix_of)> const partition{size, lights, total, prefix_of};
  for (std::uint32_t p = 0; p < size; ++p) {
    core::alias_bucket const bucket = core::alias_bucket_of(partition, p);
    ASSERT_LT(bucket.other, size);
    ASSERT_EQ(bucket.threshold, swept[order[p]].threshold) << "item " << order[p] << " of " << size;
    ASSERT_EQ(order[bucket.other], swept[order[p]].other) << "item " << order[p] << " of " << size;
  }
}

void expect_same_buckets(std::vector<float> const& weights)
{
  auto const size = static_cast<std::uint32_t>(weights.size());
  auto const scale =
      core::fixed_point::of(core::largest_weight(size, [&](std::uint32_t i) { return weights[i]; }), size);
  std::vector<std::uint64_t> fixed(size);
  std::transform(weights.begin(), weights.end(), fixed.begin(), scale);
  expect_same_buckets(fixed);
}

TEST(alias_parallel, small_tables_of_all_shapes)
{
  std::mt19937_64 random(1);
  for (int repeat = 0; repeat < 30'000; ++repeat) {
    std::vector<std::uint64_t> weights(1 + random() % 12);
    std::uint64_t const kinds = 1 + random() % 6;
    // Few different weights, so that sums of lacks and gifts often meet exactly; at all scales.
    unsigned const shift = static_cast<unsigned>(random() % 55);
    for (auto& w : weights) { w = (random() % kinds) << shift; }
    weights[random() % weights.size()] = std::uint64_t{1} << shift;
    expect_same_buckets(weights);
    if (HasFatalFailure()) { return; }
  }
}

TEST(alias_parallel, weights_of_many_magnitudes)
{
  std::mt19937_64 random(2);
  for (std::size_t const size : {1UL, 2UL, 3UL, 7UL, 31UL, 1000UL, 4097UL, 1UL << 18U}) {
    SCOPED_TRACE(size);
    for (double const orders : {0.0, 1.0, 12.0, 40.0}) {
      std::uniform_real_distribution<double> exponent(-orders, 0);
      std::vector<float> weights(size);
      for (auto& w : weights) { w = static_cast<float>(std::pow(10.0, exponent(random))); }
      expect_same_buckets(weights);
      for (std::size_t i = 1; i < size; i += 2) { weights[i] = 0; }
      expect_same_buckets(weights);
    }
    for (std::size_t const heavy : {std::size_t{0}, size / 2, size - 1}) {
      std::vector<float> one_heavy(size, 1.0F);
      one_heavy[heavy] = 1e12F;
      expect_same_buckets(one_heavy);
      std::vector<float> alone(size, 0.0F);
      alone[heavy] = 1e-40F;
      expect_same_buckets(alone);
    }
  }
}

TEST(alias_parallel, gifts_that_exceed_64_bits)
{
  // Half of the items hold everything: what the heavy ones give adds up to size / 4 * 2^62.
  std::vector<float> weights(1U << 16U, 0.0F);
  for (std::size_t i = 0; i < weights.size(); i += 2) { weights[i] = 1.0F; }
  expect_same_buckets(weights);
  std::sort(weights.begin(), weights.end());
  expect_same_buckets(weights);
  std::reverse(weights.begin(), weights.end());
  expect_same_buckets(weights);
}

TEST(alias_parallel, fractions_are_those_of_a_long_division)
{
  std::mt19937_64 random(3);
  auto const expect_right = [](std::uint64_t part, std::uint64_t whole) {
    ASSERT_EQ(core::fraction_of(part, whole), static_cast<std::uint64_t>((static_cast<uint128>(part) << 64U) / whole))
        << part << " of " << whole;
  };
  for (int repeat = 0; repeat < 300'000; ++repeat) {
    std::uint64_t const whole = 1 + (random() >> (2 + random() % 62));
    expect_right(random() % whole, whole);
    expect_right(whole - 1, whole);
    expect_right(0, whole);
    expect_right(whole / 2, whole);
    // Next to multiples of 2^-32 and 2^-64 of the whole, where an estimate is most easily off by one.
    auto const near = static_cast<std::uint64_t>((static_cast<uint128>(random() >> 32U) * whole) >> 32U);
    for (std::uint64_t const part : {near, near + 1, near - 1}) {
      if (part < whole) { expect_right(part, whole); }
    }
    if (HasFatalFailure()) { return; }
  }
  expect_right((std::uint64_t{1} << 62U) - 2, (std::uint64_t{1} << 62U) - 1);
}

}  // namespace
}  // namespace tendril
