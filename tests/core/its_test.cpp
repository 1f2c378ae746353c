// Inverse transform: each index owns its share of the 2^64 inputs, and a scan picks what stored sums pick.

#include "core/its.hpp"

#include <cmath>
#include <random>

#include "support/sanitized.hpp"
#include "support/statistics.hpp"

namespace tendril {
namespace {

__extension__ using uint128 = unsigned __int128;

std::vector<float> some_weights(std::size_t size, double orders, std::uint64_t seed)
{
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(-orders, 0);
  std::vector<float> weights(size);
  for (auto& w : weights) { w = random() % 4 == 0 ? 0.0F : static_cast<float>(std::pow(10.0, exponent(random))); }
  weights[random() % size] = 1;
  return weights;
}

std::vector<std::uint64_t> prefix_sums_of(std::vector<float> const& weights)
{
  auto const size = static_cast<std::uint32_t>(weights.size());
  auto const scale =
      core::fixed_point::of(core::largest_weight(size, [&](std::uint32_t i) { return weights[i]; }), size);
  std::vector<std::uint64_t> sums;
  std::uint64_t sum = 0;
  for (float const w : weights) { sums.push_back(sum += scale(w)); }
  return sums;
}

std::uint32_t pick(std::vector<std::uint64_t> const& sums, std::uint64_t bits)
{
  return core::its_pick(sums.data(), static_cast<std::uint32_t>(sums.size()), bits);
}

std::uint32_t scan(std::vector<float> const& weights, std::uint64_t bits)
{
  return core::its_scan(
      static_cast<std::uint32_t>(weights.size()), [&](std::uint32_t i) { return weights[i]; }, bits);
}

/// The inputs of index i are those from ceil(sum before * 2^64 / total) on: tried on both sides of each boundary.
TEST(its, every_index_owns_its_share_of_the_inputs)
{
  for (std::size_t const size : {1UL, 2UL, 3UL, 10UL, 1000UL}) {
    for (double const orders : {0.5, 3.0, 12.0}) {
      auto const weights = some_weights(size, orders, size);
      auto const sums = prefix_sums_of(weights);
      std::uint64_t const total = sums.back();
      std::uint32_t before = core::no_pick;
      std::uint64_t start = 0;
      for (std::uint32_t i = 0; i < size; ++i) {
        if (!(weights[i] > 0)) {
          ASSERT_EQ(sums[i], start);
          continue;
        }
        auto const first = static_cast<std::uint64_t>(((static_cast<uint128>(start) << 64U) + total - 1) / total);
        ASSERT_EQ(pick(sums, first), i) << size;
        ASSERT_EQ(scan(weights, first), i) << size;
        if (before != core::no_pick) {
          ASSERT_EQ(pick(sums, first - 1), before) << size;
          ASSERT_EQ(scan(weights, first - 1), before) << size;
        }
        before = i;
        start = sums[i];
      }
      ASSERT_EQ(pick(sums, ~0ULL), before);
      ASSERT_EQ(scan(weights, ~0ULL), before);
    }
  }
}

TEST(its, a_search_finds_the_first_sum_above)
{
  std::vector<std::uint64_t> const sums{0, 3, 3, 3, 7, 8, 8};
  std::vector<std::uint32_t> const expected{1, 1, 1, 4, 4, 4, 4, 5};
  for (std::uint64_t x = 0; x < expected.size(); ++x) {
    EXPECT_EQ(core::its_search(sums.data(), static_cast<std::uint32_t>(sums.size()), x), expected[x]) << x;
  }
}

TEST(its, a_scan_picks_what_sums_pick)
{
  std::mt19937_64 random(1);
  for (std::size_t size = 1; size < 150; ++size) {
    auto const weights = some_weights(size, 6, size);
    auto const sums = prefix_sums_of(weights);
    for (int draw = 0; draw < 200; ++draw) {
      std::uint64_t const bits = random();
      ASSERT_EQ(pick(sums, bits), scan(weights, bits));
    }
  }
}

TEST(its, without_a_positive_weight_there_is_no_pick)
{
  EXPECT_EQ(scan({0, 0, 0}, 77), core::no_pick);
  EXPECT_EQ(scan({}, 77), core::no_pick);
  EXPECT_EQ(pick({0, 0, 0}, 77), core::no_pick);
}

TEST(its, drawn_indices_follow_their_weights)
{
  if (test::is_sanitized) { GTEST_SKIP() << test::statistics_only; }
  rng_key const key = core::make_key(1, core::domain::khop);
  for (std::size_t const size : {1UL, 2UL, 3UL, 10UL, 1000UL}) {
    auto const weights = some_weights(size, 1, size);
    auto const sums = prefix_sums_of(weights);
    std::vector<std::int64_t> counts(size, 0);
    for (std::uint64_t item = 0; item < 1'100'000; ++item) {
      ++counts[pick(sums, core::draw_bits(key, item, 0, 0, 0))];
    }
    SCOPED_TRACE(size);
    test::expect_distribution(counts, {weights.begin(), weights.end()});
  }
}

}  // namespace
}  // namespace tendril
