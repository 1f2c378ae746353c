// Picks are in proportion to scores: by Pearson's chi-square with a tolerance from the sample size, beside planted biases
// that it must notice.

#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/segment_multinomial.hpp>

#include "support/statistics.hpp"

namespace tendril::test {
namespace {

std::vector<float> const scores = {1, 2, 3, 0, 4};
constexpr std::int64_t num_segments = 250'000;

/// Positions within the segment, of `scores` for every vertex below num_segments: [num_segments, num_picks].
std::vector<std::size_t> picks_of_many(segment_params const& params)
{
  auto const size = static_cast<std::int64_t>(scores.size());
  std::vector<std::int64_t> offsets{0};
  std::vector<float> all;
  std::vector<vertex_id> vertices(num_segments);
  std::iota(vertices.begin(), vertices.end(), vertex_id{0});
  for (std::int64_t i = 0; i < num_segments; ++i) {
    all.insert(all.end(), scores.begin(), scores.end());
    offsets.push_back(offsets.back() + size);
  }
  auto const made = segment_multinomial(offsets, all, vertices, params);
  std::vector<std::size_t> out;
  for (auto const position : made.positions) { out.push_back(static_cast<std::size_t>(position % size)); }
  return out;
}

constexpr std::int64_t num_picks_of_one = 1'000'000;

/// Positions that are picked from one segment.
buffer<std::int64_t> picks_of_one(std::vector<float> const& of_segment)
{
  std::vector<std::int64_t> const offsets = {0, std::ssize(of_segment)};
  std::vector<vertex_id> const vertices = {0};
  return segment_multinomial(offsets, of_segment, vertices, {.num_picks = num_picks_of_one, .seed = 7}).positions;
}

/// Counts of pairs (a, b) of positions.
std::vector<std::int64_t> pairs_of(std::vector<std::size_t> const& picks, std::size_t step, std::size_t apart)
{
  std::vector<std::int64_t> counts(scores.size() * scores.size(), 0);
  for (std::size_t i = 0; i + apart < picks.size(); i += step) {
    ++counts.at(picks[i] * scores.size() + picks[i + apart]);
  }
  return counts;
}

/// What independent picks would give.
std::vector<double> independent_pairs()
{
  std::vector<double> out;
  for (double const a : scores) {
    for (double const b : scores) { out.push_back(a * b); }
  }
  return out;
}

TEST(SegmentMultinomialDistribution, EveryPickIsInProportionToScores)
{
  constexpr std::int64_t k = 5;
  auto const picks = picks_of_many({.num_picks = k, .seed = 3});
  for (std::size_t j = 0; j < k; ++j) {
    std::vector<std::int64_t> counts(scores.size(), 0);
    for (std::size_t i = j; i < picks.size(); i += k) { ++counts.at(picks[i]); }
    EXPECT_TRUE(drawn_from(counts, {1, 2, 3, 0, 4})) << "pick " << j;
    EXPECT_FALSE(drawn_from(counts, {1, 2, 3, 0, 4.2})) << "pick " << j;
    EXPECT_FALSE(drawn_from(counts, {1, 1, 1, 1, 1})) << "pick " << j;
  }
}

// The two halves of one random block, and halves of two blocks; one vertex and the next; one hop, batch, seed and the
// next.
TEST(SegmentMultinomialDistribution, PicksAreIndependent)
{
  constexpr std::int64_t k = 3;
  auto const picks = picks_of_many({.num_picks = k, .seed = 3});
  EXPECT_TRUE(drawn_from(pairs_of(picks, k, 1), independent_pairs(), 0.05));
  EXPECT_TRUE(drawn_from(pairs_of(picks, k, 2), independent_pairs(), 0.05));
  EXPECT_TRUE(drawn_from(pairs_of(picks, k, k), independent_pairs(), 0.05));
  EXPECT_FALSE(drawn_from(pairs_of(picks, k, 0), independent_pairs(), 0.05));  // a pick and itself
  for (segment_params const& other :
       {segment_params{.num_picks = k, .seed = 4}, segment_params{.num_picks = k, .seed = 3, .batch = 1},
        segment_params{.num_picks = k, .seed = 3, .hop = 1}}) {
    auto both = picks_of_many(other);
    std::size_t const apart = both.size();
    both.insert(both.end(), picks.begin(), picks.end());
    std::vector<std::int64_t> counts(scores.size() * scores.size(), 0);
    for (std::size_t i = 0; i < apart; i += k) { ++counts.at(both[i] * scores.size() + both[i + apart]); }
    EXPECT_TRUE(drawn_from(counts, independent_pairs(), 0.05));
  }
}

TEST(SegmentMultinomialDistribution, AHubIsDrawnFromExactly)
{
  constexpr std::size_t size = 1U << 22U, bucket = 1U << 16U;
  std::mt19937_64 random(2);
  std::uniform_real_distribution<float> uniform(0, 1);
  std::vector<float> hub(size);
  std::vector<double> expected(size / bucket, 0);
  for (std::size_t i = 0; i < size; ++i) {
    hub[i] = random() % 2 == 0 ? 0.0F : uniform(random) * static_cast<float>(1 + i / bucket);
    expected[i / bucket] += hub[i];
  }
  std::vector<std::int64_t> counts(expected.size(), 0);
  for (auto const position : picks_of_one(hub)) { ++counts.at(static_cast<std::size_t>(position) / bucket); }
  EXPECT_TRUE(drawn_from(counts, expected));
  EXPECT_FALSE(drawn_from(counts, std::vector<double>(expected.size(), 1)));
}

// Random numbers of 24 bits take 16 values for every three of these positions: six, five and five.
TEST(SegmentMultinomialDistribution, MillionsOfPositionsAreEquallyLikely)
{
  constexpr std::int64_t size = 3 << 20;
  std::vector<std::int64_t> counts(3, 0), coarse(3, 0);
  for (auto const position : picks_of_one(std::vector<float>(size, 0.3F))) {
    ++counts.at(static_cast<std::size_t>(position) % 3);
  }
  EXPECT_TRUE(drawn_from(counts, {1, 1, 1}));
  std::mt19937_64 random(3);
  for (std::int64_t i = 0; i < num_picks_of_one; ++i) {
    ++coarse.at(static_cast<std::size_t>(static_cast<std::int64_t>(random() >> 40U) * size >> 24U) % 3);
  }
  EXPECT_FALSE(drawn_from(coarse, {1, 1, 1}));
}

}  // namespace
}  // namespace tendril::test
