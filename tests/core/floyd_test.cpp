// Floyd's method: every k-subset of d is as likely as any other, by counting inputs and by sampling, up to hubs.

#include "core/floyd.hpp"

#include <algorithm>
#include <map>
#include <random>

#include "support/sanitized.hpp"
#include "support/statistics.hpp"

namespace tendril {
namespace {

std::vector<std::uint32_t> sample(std::uint32_t size, std::uint32_t k, auto bits_of_slot)
{
  std::vector<std::uint32_t> picks(k);
  for (std::uint32_t j = 0; j < k; ++j) {
    picks[j] = core::floyd_slot::of(bits_of_slot(j), j, k, size).after(picks.data(), j);
  }
  return picks;
}

std::uint64_t mask_of(std::vector<std::uint32_t> const& picks)
{
  std::uint64_t mask = 0;
  for (std::uint32_t const pick : picks) { mask |= 1ULL << pick; }
  return mask;
}

/// Runs through all outcomes of the bounded draws, each equally likely: every subset comes up equally often.
TEST(floyd, all_subsets_have_equally_many_inputs)
{
  for (std::uint32_t size = 2; size <= 8; ++size) {
    for (std::uint32_t k = 1; k < size && k <= 5; ++k) {
      std::map<std::uint64_t, int> counts;
      std::vector<std::uint32_t> outcome(k, 0);  // slot j draws outcome[j] of [0, size - k + j]
      bool more = true;
      while (more) {
        auto const picks = sample(size, k, [&](std::uint32_t j) {
          std::uint64_t const bound = size - k + j + 1;
          return (2 * outcome[j] + 1) * (~0ULL / (2 * bound));  // the middle of the outcome's inputs
        });
        std::uint64_t const mask = mask_of(picks);
        ASSERT_EQ(__builtin_popcountll(mask), static_cast<int>(k));
        ++counts[mask];
        more = false;
        for (std::uint32_t j = 0; j < k && !more; ++j) {
          more = ++outcome[j] <= size - k + j;
          if (!more) { outcome[j] = 0; }
        }
      }
      std::size_t subsets = 1;
      int orders = 1;
      for (std::uint32_t j = 1; j <= k; ++j) {
        subsets = subsets * (size - j + 1) / j;
        orders *= static_cast<int>(j);
      }
      EXPECT_EQ(counts.size(), subsets) << k << " of " << size;
      for (auto const& [mask, count] : counts) { ASSERT_EQ(count, orders) << k << " of " << size << ", set " << mask; }
    }
  }
}

TEST(floyd, drawn_subsets_are_uniform)
{
  if (test::is_sanitized) { GTEST_SKIP() << test::statistics_only; }
  rng_key const key = core::make_key(1, core::domain::khop);
  for (auto const& [size, k] : {std::pair{3U, 2U}, {6U, 3U}, {10U, 4U}}) {
    std::vector<std::int64_t> counts(std::size_t{1} << size, 0);
    std::vector<double> subsets(counts.size(), 0);
    for (std::size_t mask = 0; mask < subsets.size(); ++mask) {
      subsets[mask] = __builtin_popcountll(mask) == static_cast<int>(k) ? 1 : 0;
    }
    for (std::uint64_t item = 0; item < 600'000; ++item) {
      ++counts[mask_of(
          sample(size, k, [&, s = size](std::uint32_t j) { return core::draw_bits(key, item, s, 0, j); }))];
    }
    SCOPED_TRACE(size);
    test::expect_distribution(counts, subsets);
  }
}

TEST(floyd, every_edge_is_as_likely_at_degree_1000)
{
  if (test::is_sanitized) { GTEST_SKIP() << test::statistics_only; }
  constexpr std::uint32_t size = 1000;
  constexpr std::uint32_t k = 25;
  rng_key const key = core::make_key(2, core::domain::khop);
  std::vector<std::int64_t> counts(size, 0);
  for (std::uint64_t item = 0; item < 44'000; ++item) {
    for (std::uint32_t const pick :
         sample(size, k, [&](std::uint32_t j) { return core::draw_bits(key, item, 0, 0, j); })) {
      ++counts[pick];
    }
  }
  test::expect_distribution(counts, std::vector<double>(size, 1.0));
}

TEST(floyd, hubs_are_sampled_evenly_and_without_repeats)
{
  if (test::is_sanitized) { GTEST_SKIP() << test::statistics_only; }
  rng_key const key = core::make_key(3, core::domain::khop);
  for (std::uint32_t const size : {1U << 22U, (1U << 23U) + 1, 0xffffffffU}) {
    std::vector<std::int64_t> counts(256, 0);
    for (std::uint64_t item = 0; item < 3000; ++item) {
      auto picks = sample(size, 128, [&](std::uint32_t j) { return core::draw_bits(key, item, size, 0, j); });
      for (std::uint32_t const pick : picks) {
        ASSERT_LT(pick, size);
        ++counts[static_cast<std::uint64_t>(pick) * 256 / size];
      }
      std::sort(picks.begin(), picks.end());
      ASSERT_EQ(std::adjacent_find(picks.begin(), picks.end()), picks.end());
    }
    SCOPED_TRACE(size);
    test::expect_distribution(counts, std::vector<double>(256, 1.0), 0.05);
  }
}

/// Each slot by itself, from nothing but the candidates: what a GPU does. Nearly all of these subsets have repeats, and
/// many have candidates that are the last value of an earlier slot.
TEST(floyd, slots_resolved_apart_are_those_resolved_in_order)
{
  rng_key const key = core::make_key(5, core::domain::khop);
  std::int64_t links_taken = 0;
  for (std::uint64_t item = 0; item < test::unless_sanitized(20'000U, 4'000U); ++item) {
    auto const k = static_cast<std::uint32_t>(1 + item % 40);
    auto const size = static_cast<std::uint32_t>(k + 1 + item % 7);
    auto const bits_of = [&](std::uint32_t j) { return core::draw_bits(key, item, 0, 0, j); };
    auto const candidate = [&](std::uint32_t j) { return core::floyd_slot::of(bits_of(j), j, k, size).candidate; };
    auto const is_taken = [&](std::uint32_t slot) {
      for (std::uint32_t j = slot;;) {
        for (std::uint32_t i = 0; i < j; ++i) {
          if (candidate(i) == candidate(j)) { return true; }
        }
        j = core::floyd_link(candidate(j), j, k, size);
        if (j == core::no_floyd_link) { return false; }
        ++links_taken;
      }
    };
    auto const picks = sample(size, k, bits_of);
    for (std::uint32_t j = 0; j < k; ++j) {
      ASSERT_EQ(picks[j], is_taken(j) ? size - k + j : candidate(j)) << "slot " << j << ", " << k << " of " << size;
    }
  }
  EXPECT_GT(links_taken, test::unless_sanitized(10'000, 2'000));
}

/// All but one: nearly every draw collides.
TEST(floyd, all_but_one_edge_leaves_each_out_equally_often)
{
  if (test::is_sanitized) { GTEST_SKIP() << test::statistics_only; }
  constexpr std::uint32_t size = 12;
  rng_key const key = core::make_key(4, core::domain::khop);
  std::vector<std::int64_t> left_out(size, 0);
  for (std::uint64_t item = 0; item < 400'000; ++item) {
    auto const mask =
        mask_of(sample(size, size - 1, [&](std::uint32_t j) { return core::draw_bits(key, item, 0, 0, j); }));
    ASSERT_EQ(__builtin_popcountll(mask), static_cast<int>(size) - 1);
    ++left_out[static_cast<std::size_t>(__builtin_ctzll(~mask))];
  }
  test::expect_distribution(left_out, std::vector<double>(size, 1.0));
}

}  // namespace
}  // namespace tendril
