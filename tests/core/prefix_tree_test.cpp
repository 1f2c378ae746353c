// Prefix sums that change: against sums taken anew.

#include <algorithm>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "core/prefix_tree.hpp"

namespace tendril::test {
namespace {

/// The first index whose inclusive prefix sum exceeds x.
std::uint32_t scan(std::vector<std::uint64_t> const& counts, std::uint64_t x)
{
  std::uint64_t sum = 0;
  std::uint32_t i = 0;
  while ((sum += counts[i]) <= x) { ++i; }
  return i;
}

class PrefixTree : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  /// Looks for both ends of every count's range.
  void expect_right() const
  {
    core::prefix_tree<std::uint64_t*> const tree{const_cast<std::uint64_t*>(sums.data()), GetParam()};
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < GetParam(); ++i) {
      if (counts[i] > 0) {
        EXPECT_EQ(tree.find(sum), i);
        EXPECT_EQ(tree.find(sum + counts[i] - 1), i);
      }
      sum += counts[i];
    }
    EXPECT_EQ(tree.total(), sum);
  }

  std::vector<std::uint64_t> counts, sums;
};

TEST_P(PrefixTree, FindsEveryCountBeforeAndAfterChanges)
{
  std::mt19937_64 random(GetParam());
  counts.resize(GetParam());
  for (auto& c : counts) { c = random() % 3 == 0 ? 0 : random() >> (random() % 40 + 20); }  // up to 2^44
  sums = counts;
  core::prefix_tree<std::uint64_t*> const tree{sums.data(), GetParam()};
  tree.build();
  expect_right();
  for (int k = 0; k < 200; ++k) {
    auto const i = static_cast<std::uint32_t>(random() % GetParam());
    std::uint64_t const next = random() % 2 == 0 ? 0 : random() >> 24U;
    tree.change(i, counts[i], next);
    counts[i] = next;
    if (std::uint64_t const total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); total > 0) {
      std::uint64_t const x = random() % total;
      ASSERT_EQ(tree.find(x), scan(counts, x));
    }
  }
  expect_right();
}

INSTANTIATE_TEST_SUITE_P(Sizes, PrefixTree, ::testing::Values(1, 2, 3, 4, 5, 7, 8, 9, 100, 127, 128, 129, 1000, 65535));

}  // namespace
}  // namespace tendril::test
