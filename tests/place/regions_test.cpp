// Lists in host memory are cut into regions where cuts are, every byte has one region, and the one that most walks wait for,
// for its bytes, passes next, as long as it is worth it. Memory that regions pass through holds the latest ones.

#include "place/regions.hpp"
#include "place/region_ring.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
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
  EXPECT_EQ(cut_regions({}, 1).size(), 0);
  EXPECT_EQ(cut_regions(std::array<std::uint64_t, 1>{4096}, 1).size(), 0);
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

TEST(Regions, AreLargerForMoreWalks)
{
  for (std::uint64_t const end : {20'000'000U, 830'000'000U, 4'000'000'000U}) {
    auto const cuts = cuts_every(1U << 30U, (1ULL << 30U) + end, 65'600);
    std::int64_t last = 130;
    for (std::int64_t const walks : {0L, 1'000'000L, 10'000'000L, 100'000'000L, 1L << 40U}) {
      regions const cut = cut_regions(cuts, region_bytes(static_cast<std::int64_t>(end), walks));
      expect_regions(cut, cuts);
      EXPECT_LE(cut.largest_bytes(), region_bytes(static_cast<std::int64_t>(end), walks) + 65'600);
      EXPECT_GE(cut.size(), 8) << end << ", " << walks;
      EXPECT_LE(cut.size(), last) << end << ", " << walks;
      last = cut.size();
    }
    EXPECT_LE(last, 16);
  }
  std::int64_t const half_of_rmat24 = 830'000'000;
  EXPECT_NEAR(static_cast<double>(region_bytes(half_of_rmat24, 10'000'000)), 26e6, 1e6);
  EXPECT_GT(region_bytes(1, 1), 0);
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
  expect_regions(cut_regions(cuts, region_bytes(1, 5)), cuts);
  EXPECT_EQ(cut_regions(cuts, region_bytes(1, 5)).size(), 1);
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
  region_choice const any{.bytes_a_walk = std::numeric_limits<double>::infinity()};
  EXPECT_EQ(any.next(cut, std::array<std::uint64_t, 4>{1, 0, 0, 0}, -1), 0);
}

TEST(RegionChoice, TakesALargeRegionForMoreWalks)
{
  std::vector<std::uint64_t> const cuts{0, 1U << 20U, 101U << 20U, 102U << 20U};
  regions const cut = cut_regions(cuts, 1 << 20);
  ASSERT_EQ(cut.size(), 102);  // most of them empty
  region_index const index = index_of(cut);
  std::uint32_t const large = index(2U << 20U);
  ASSERT_EQ(cut.bytes(large), 100 << 20);
  std::vector<std::uint64_t> waiting(102, 0);
  waiting[0] = 10'000;
  waiting[large] = 400'000;
  EXPECT_EQ(region_choice{}.next(cut, waiting, -1), 0);  // 10,000 walks for 2 MB, 400,000 for 106 MB
  waiting[large] = 800'000;
  EXPECT_EQ(region_choice{}.next(cut, waiting, -1), large);
}

/// A step that waits for its region waits half of a pass, or less where buffers hold a part of all.
TEST(Regions, PassInTimeThatDoesNotDependOnTheWalks)
{
  std::int64_t const all = 1 << 30;
  double const pass = static_cast<double>(1U << 30U) / bulk_bytes;
  EXPECT_DOUBLE_EQ(passing_seconds(all, 40, 0) - passing_seconds(all, 20, 0), 10 * pass);
  EXPECT_DOUBLE_EQ(passing_seconds(all, 40, 0.5) - passing_seconds(all, 20, 0.5), 2.5 * pass);
  EXPECT_LT(least_walks(passing_seconds(all, 40, 0.3), 40), least_walks(passing_seconds(all, 40, 0), 40));
  EXPECT_LT(least_walks(passing_seconds(all, 40, 0), 40),
            least_walks(passing_seconds(all, 4, 0), 4));  // short walks wait for the last passes as long as others
  EXPECT_EQ(least_walks(passing_seconds(all, 0, 0), 0), std::numeric_limits<std::int64_t>::max());
  EXPECT_GT(least_walks(passing_seconds(all, 1e-300, 0), 1e-300), std::int64_t{1} << 58U);
}

TEST(Regions, HaveBuffersForThreeOrForAll)
{
  regions const cut = cut_regions(cuts_every(0, 1'000'000, 1000), 16'384);
  std::int64_t const all = cut.all_bytes() + 100 * cut.size();
  EXPECT_EQ(buffer_bytes(cut, 0, 100), 3 * (cut.largest_bytes() + 100));
  EXPECT_EQ(buffer_bytes(cut, 0.5, 100), all / 2);
  EXPECT_EQ(buffer_bytes(cut, 2, 100), all);
  regions const two = cut_regions(std::array<std::uint64_t, 3>{0, 1000, 1100}, 512);
  EXPECT_EQ(buffer_bytes(two, 0.1, 8), two.all_bytes() + 8 * two.size());
}

/// What is held lies apart, and what was taken last but one stays.
TEST(RegionRing, KeepsTheLatestRegions)
{
  std::mt19937_64 random(3);
  constexpr std::int64_t num_regions = 40;
  std::vector<std::int64_t> sizes(num_regions);
  for (auto& s : sizes) { s = static_cast<std::int64_t>(random() % 1000) + 1; }
  std::int64_t const largest = *std::max_element(sizes.begin(), sizes.end());
  for (std::int64_t const bytes : {3 * largest, 3 * largest + 77, 10 * largest}) {
    region_ring ring(bytes, num_regions);
    std::int64_t last = -1;
    for (int i = 0; i < 2000; ++i) {
      auto const region = static_cast<std::int64_t>(random() % num_regions);
      if (ring.holds(region)) { continue; }
      std::int64_t const at = ring.take(region, sizes[static_cast<std::size_t>(region)]);
      EXPECT_EQ(at, ring.begin(region));
      if (last >= 0) { ASSERT_TRUE(ring.holds(last)) << i; }
      last = region;
      std::vector<char> used(static_cast<std::size_t>(bytes), 0);
      std::int64_t held = 0;
      for (std::int64_t r = 0; r < num_regions; ++r) {
        if (!ring.holds(r)) { continue; }
        held += sizes[static_cast<std::size_t>(r)];
        for (std::int64_t k = 0; k < sizes[static_cast<std::size_t>(r)]; ++k) {
          ASSERT_EQ(used.at(static_cast<std::size_t>(ring.begin(r) + k))++, 0);
        }
      }
      if (i > 500) { EXPECT_GT(held, bytes - 3 * largest); }
    }
  }
}

TEST(RegionRing, KeepsAllThatFit)
{
  region_ring ring(600, 6);
  for (std::int64_t r = 0; r < 6; ++r) { EXPECT_EQ(ring.take(5 - r, 100), 100 * r); }
  for (std::int64_t r = 0; r < 6; ++r) { EXPECT_TRUE(ring.holds(r)); }
  EXPECT_THROW((void)ring.take(0, 601), std::logic_error);
}

}  // namespace
}  // namespace tendril::place
