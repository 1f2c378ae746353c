// Alias tables: exact in integers for every shape of weights, and the same bucket from a table and from a scan.

#include "core/alias.hpp"

#include <cmath>
#include <random>

#include "support/sanitized.hpp"
#include "support/statistics.hpp"

namespace tendril {
namespace {

__extension__ using uint128 = unsigned __int128;

struct table {
  std::vector<std::uint64_t> weights;  // fixed point
  std::uint64_t total = 0;
  std::vector<core::alias_bucket> buckets;
};

/// Builds the table; every item must be settled exactly once.
table build(std::vector<float> const& weights)
{
  auto const size = static_cast<std::uint32_t>(weights.size());
  auto const scale =
      core::fixed_point::of(core::largest_weight(size, [&](std::uint32_t i) { return weights[i]; }), size);
  table t;
  for (float const w : weights) {
    t.weights.push_back(scale(w));
    t.total += t.weights.back();
  }
  t.buckets.resize(size);
  std::vector<int> settled(size, 0);
  core::alias_sweep(
      size, t.total, [&](std::uint32_t i) { return t.weights[i]; },
      [&](std::uint32_t item, core::alias_bucket const& bucket) {
        t.buckets[item] = bucket;
        ++settled[item];
        return true;
      });
  for (std::uint32_t i = 0; i < size; ++i) { EXPECT_EQ(settled[i], 1) << i << " of " << size; }
  return t;
}

/// Of size * 2^64 pairs (bucket, bits), item i owns weight_i * size * 2^64 / total, rounded: each bucket that names it
/// loses or gains less than one. So its probability is within 2^-64 of right.
void expect_exact(std::vector<float> const& weights)
{
  table const t = build(weights);
  auto const size = static_cast<std::uint32_t>(weights.size());
  std::vector<uint128> owned(size, 0);
  std::vector<std::uint32_t> named(size, 1);
  for (std::uint32_t i = 0; i < size; ++i) {
    core::alias_bucket const& bucket = t.buckets[i];
    ASSERT_LT(bucket.other, size);
    owned[i] += bucket.threshold;
    owned[bucket.other] += (static_cast<uint128>(1) << 64U) - bucket.threshold;
    ++named[bucket.other];
  }
  for (std::uint32_t i = 0; i < size; ++i) {
    uint128 const right = (static_cast<uint128>(t.weights[i] * size) << 64U) / t.total;
    uint128 const off = owned[i] > right ? owned[i] - right : right - owned[i];
    ASSERT_LE(off, named[i]) << i << " of " << size << ", weight " << weights[i];
    if (t.weights[i] == 0) { ASSERT_EQ(owned[i], 0U) << i << " of " << size; }
  }
}

std::vector<float> spread(std::size_t size, double orders, std::uint64_t seed)
{
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(-orders, 0);
  std::vector<float> weights(size);
  for (auto& w : weights) { w = static_cast<float>(std::pow(10.0, exponent(random))); }
  return weights;
}

TEST(alias, probabilities_are_exact)
{
  for (std::size_t const size :
       {1UL, 2UL, 3UL, 4UL, 7UL, 10UL, 31UL, 1000UL, 1UL << test::unless_sanitized(20U, 16U)}) {
    SCOPED_TRACE(size);
    expect_exact(std::vector<float>(size, 1.0F));
    expect_exact(spread(size, 1, size));
    expect_exact(spread(size, 12, size + 1));
    for (std::size_t const heavy : {std::size_t{0}, size / 2, size - 1}) {
      std::vector<float> one_heavy(size, 1.0F);
      one_heavy[heavy] = 1e12F;
      expect_exact(one_heavy);
      std::vector<float> alone(size, 0.0F);
      alone[heavy] = 1e-40F;
      expect_exact(alone);
    }
    std::vector<float> half = spread(size, 3, size + 2);
    for (std::size_t i = 1; i < size; i += 2) { half[i] = 0; }
    expect_exact(half);
  }
}

TEST(alias, small_tables_of_all_shapes_are_exact)
{
  std::mt19937_64 random(1);
  for (int repeat = 0; repeat < 20'000; ++repeat) {
    std::vector<float> weights(1 + random() % 12);
    std::uint64_t const kinds = 1 + random() % 5;
    for (auto& w : weights) { w = static_cast<float>(random() % kinds) * (random() % 2 == 0 ? 1.0F : 0.25F); }
    weights[random() % weights.size()] = 1.0F;
    expect_exact(weights);
    if (HasFatalFailure()) { return; }
  }
}

TEST(alias, as_many_inputs_as_the_threshold_says_choose_the_item)
{
  EXPECT_EQ(core::alias_choose({100, 7}, 3, 99), 3U);
  EXPECT_EQ(core::alias_choose({100, 7}, 3, 100), 7U);
  EXPECT_EQ(core::alias_choose({0, 7}, 3, 0), 7U);
  EXPECT_EQ(core::alias_choose({~0ULL, 3}, 3, ~0ULL), 3U);  // a full bucket
}

TEST(alias, a_table_says_what_a_scan_says)
{
  std::mt19937_64 random(2);
  for (std::size_t const size : {1UL, 2UL, 3UL, 10UL, 257UL}) {
    for (double const orders : {0.0, 2.0, 12.0, 30.0}) {
      std::vector<float> weights = spread(size, orders, size);
      for (std::size_t i = 2; i < size; i += 5) { weights[i] = 0; }
      table const t = build(weights);
      auto const n = static_cast<std::uint32_t>(size);
      for (int draw = 0; draw < 500; ++draw) {
        std::uint64_t const bits_item = random();
        std::uint32_t const item = core::bounded(bits_item, n);
        // Also right at the threshold, and next to it.
        std::uint64_t const at = t.buckets[item].threshold;
        for (std::uint64_t const bits : {random(), at, at - 1, at + 1, std::uint64_t{0}, ~std::uint64_t{0}}) {
          ASSERT_EQ(core::alias_choose(t.buckets[item], item, bits),
                    core::alias_scan(
                        n, [&](std::uint32_t i) { return weights[i]; }, bits_item, bits));
        }
      }
    }
  }
}

TEST(alias, without_a_positive_weight_there_is_no_pick)
{
  EXPECT_EQ(core::alias_scan(
                3, [](std::uint32_t) { return 0.0F; }, 5, 6),
            core::no_pick);
  EXPECT_EQ(core::alias_scan(
                0, [](std::uint32_t) { return 1.0F; }, 5, 6),
            core::no_pick);
}

TEST(alias, drawn_items_follow_their_weights)
{
  if (test::is_sanitized) { GTEST_SKIP() << test::statistics_only; }
  rng_key const key = core::make_key(1, core::domain::first_order_walk);
  for (std::size_t const size : {1UL, 2UL, 3UL, 10UL, 1000UL}) {
    std::vector<float> const weights = spread(size, size <= 10 ? 2 : 1, 5 + size);
    table const t = build(weights);
    std::vector<std::int64_t> counts(size, 0);
    for (std::uint64_t i = 0; i < 1'100'000; ++i) {
      core::random_block const block = core::draw_block(key, i, 0, 0);
      std::uint32_t const item = core::bounded(block.low(), static_cast<std::uint32_t>(size));
      ++counts[core::alias_choose(t.buckets[item], item, block.high())];
    }
    SCOPED_TRACE(size);
    test::expect_distribution(counts, {weights.begin(), weights.end()});
  }
}

}  // namespace
}  // namespace tendril
