// Lists in host memory are cut into regions where cuts are, every byte has one region, and the one that most walks wait for
// passes next, as long as it is worth it.

#include "place/regions.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace tendril::place {
namespace {

std::vector<std::uint64_t> cuts_every(std::uint64_t first, std::uint64_t end, std::uint64_t bytes)
{
  std::vector<std::uint64_t> cuts;
  for (std::uint64_t at = first; at < end; at += bytes) { cuts.push_back(at); }
  cuts.push_back(end);
  return cuts;
}

region_index index_of(regions const& cut) { return {cut.begins.data(), cut.begins.front(), cut.shift}; }

/// What must hold whatever was asked for.
void expect_regions(regions const& cut, std::vector<std::uint64_t> const& cuts)
{
  ASSERT_GT(cut.size(), 0);
  ASSERT_LE(cut.size(), most_regions);
  EXPECT_EQ(cut.begins.front(), cuts.front());
  EXPECT_EQ(cut.begins.back(), cuts.back());
  for (std::uint64_t const begin : cut.begins) { EXPECT_TRUE(std::binary_search(cuts.begin(), cuts.end(), begin)); }
  EXPECT_TRUE(std::is_sorted(cut.begins.begin(), cut.begins.end()));
  region_index const index = index_of(cut);
  std::uint64_t const step = std::max<std::uint64_t>(1, (cuts.back() - cuts.front()) / 5000);
  for (std::uint64_t byte = cuts.front(); byte < cuts.back(); byte += step) {
    auto const r = static_cast<std::size_t>(index(byte));
    ASSERT_LE(cut.begins[r], byte);
    ASSERT_GT(cut.begins[r + 1], byte);
  }
}

TEST(Regions, AreNoneWithoutListsInHostMemory)
{
  EXPECT_EQ(cut_regions({}, 0).size(), 0);
  EXPECT_EQ(cut_regions(std::array<std::uint64_t, 1>{4096}, 0).size(), 0);
  EXPECT_EQ(region_choice{}.least_walks({}), std::numeric_limits<std::int64_t>::max());
}

TEST(Regions, AreOfTheSizeAskedFor)
{
  auto const cuts = cuts_every(1000, 1000 + (1U << 20U), 1U << 16U);
  regions const cut = cut_regions(cuts, 1 << 18);
  expect_regions(cut, cuts);
  EXPECT_EQ(cut.size(), 4);
  for (std::int64_t r = 0; r < cut.size(); ++r) { EXPECT_EQ(cut.bytes(r), 1 << 18); }
  EXPECT_EQ(cut.largest_bytes(), 1 << 18);
}

TEST(Regions, AreAnEighthOfAll)
{
  auto const cuts = cuts_every(1U << 30U, (1U << 30U) + 800'000'000U, 65'600);
  regions const cut = cut_regions(cuts, 0);
  expect_regions(cut, cuts);
  EXPECT_EQ(cut.size(), 12);  // of 2^26 bytes
  EXPECT_LE(cut.largest_bytes(), (1 << 26) + 65'600);
}

TEST(Regions, AreNoMoreThanAByteCanName)
{
  auto const cuts = cuts_every(64, 64 + 1'000'000, 100);
  expect_regions(cut_regions(cuts, 128), cuts);
  expect_regions(cut_regions(cuts, 1), cuts);
}

TEST(Regions, HoldAListThatIsLargerThanARegion)
{
  std::vector<std::uint64_t> const cuts{16, 100, 5000, 5100, 9000};
  regions const cut = cut_regions(cuts, 256);
  expect_regions(cut, cuts);
  EXPECT_EQ(cut.largest_bytes(), 4984);
  EXPECT_EQ(index_of(cut)(4999), index_of(cut)(100));
}

TEST(Regions, AreOneWhereOneIsEnough)
{
  std::vector<std::uint64_t> const cuts{0, 1};
  expect_regions(cut_regions(cuts, 0), cuts);
  EXPECT_EQ(cut_regions(cuts, 0).size(), 1);
}

TEST(RegionChoice, TakesTheOneThatMostWalksWaitFor)
{
  auto const cuts = cuts_every(0, 4000, 1000);
  regions const cut = cut_regions(cuts, 1000);  // of 512 bytes at least: {0, 1000, 2000, ...}
  region_choice const choice{.bytes_a_walk = 10};
  std::vector<std::uint64_t> waiting(static_cast<std::size_t>(cut.size()), 0);
  EXPECT_EQ(choice.next(cut, waiting, -1), std::nullopt);
  auto const of = [&](std::uint64_t byte) { return static_cast<std::int64_t>(index_of(cut)(byte)); };
  waiting[static_cast<std::size_t>(of(1500))] = 300;
  waiting[static_cast<std::size_t>(of(3500))] = 200;
  EXPECT_EQ(choice.next(cut, waiting, -1), of(1500));
  EXPECT_EQ(choice.next(cut, waiting, of(1500)), of(3500));
}

TEST(RegionChoice, LeavesOutWhatIsNotWorthIt)
{
  auto const cuts = cuts_every(0, 4096, 1024);
  regions const cut = cut_regions(cuts, 1024);
  ASSERT_EQ(cut.size(), 4);
  region_choice const choice{.bytes_a_walk = 100};
  EXPECT_EQ(choice.next(cut, std::array<std::uint64_t, 4>{10, 0, 0, 0}, -1), std::nullopt);
  EXPECT_EQ(choice.next(cut, std::array<std::uint64_t, 4>{5, 5, 5, 5}, -1), std::nullopt);
  EXPECT_EQ(choice.next(cut, std::array<std::uint64_t, 4>{6, 5, 5, 5}, -1), 0);  // twice the average is worth it
  EXPECT_EQ(choice.next(cut, std::array<std::uint64_t, 4>{10, 0, 11, 0}, -1), 2);
  EXPECT_EQ(choice.least_walks(cut), 21);
  region_choice const any{.bytes_a_walk = std::numeric_limits<double>::infinity()};
  EXPECT_EQ(any.next(cut, std::array<std::uint64_t, 4>{1, 0, 0, 0}, -1), 0);
  EXPECT_EQ(any.least_walks(cut), 0);
}

}  // namespace
}  // namespace tendril::place
