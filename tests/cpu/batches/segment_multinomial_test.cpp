// Picks in proportion to scores: the documented draws, what every result promises, what the picks of a segment depend
// on, and one clear line for bad input. Distributions: segment_multinomial_distribution_test.cpp.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/segment_multinomial.hpp>

#include "core/random.hpp"
#include "support/messages.hpp"
#include "support/sample_bytes.hpp"

namespace tendril::test {
namespace {

__extension__ using uint128 = unsigned __int128;

/// Arguments of a call.
struct segments {
  std::vector<std::int64_t> offsets{0};
  std::vector<float> scores;
  std::vector<vertex_id> vertices;

  void add(vertex_id vertex, std::vector<float> const& of_segment)
  {
    scores.insert(scores.end(), of_segment.begin(), of_segment.end());
    offsets.push_back(static_cast<std::int64_t>(scores.size()));
    vertices.push_back(vertex);
  }

  [[nodiscard]] segment_picks pick(segment_params const& params, int num_threads = 1) const
  {
    return segment_multinomial(offsets, scores, vertices, params, {.num_threads = num_threads});
  }
};

std::vector<std::int64_t> positions_of(segment_picks const& from)
{
  return {from.positions.begin(), from.positions.end()};
}

sample_bytes bytes_of(segment_picks const& from) { return sample_bytes(from.positions, from.probabilities); }

/// Segments of every kind: empty, of one score, of zeros, of mixed scores up to some thousand, of scores 60 orders of
/// magnitude apart.
segments mixed_segments(std::uint64_t seed)
{
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> uniform(0, 1);
  segments out;
  auto const some = [&](std::size_t size) {
    std::vector<float> scores(size);
    for (float& score : scores) { score = random() % 3 == 0 ? 0.0F : uniform(random); }
    return scores;
  };
  for (vertex_id v = 0; v < 300; ++v) {
    switch (random() % 8) {
      case 0: out.add(v, {}); break;
      case 1: out.add(v, {uniform(random)}); break;
      case 2: out.add(v, std::vector<float>(random() % 5, 0.0F)); break;
      case 3: out.add(v, {1e-30F, 1e30F, std::numeric_limits<float>::denorm_min(), 0, 3e29F}); break;
      case 4: out.add(v, some(random() % 4000)); break;
      default: out.add(v, some(random() % 40));
    }
  }
  return out;
}

/// 1. A pick is a position of its segment with a positive score; its probability is that score over the segment's sum.
/// 2. A segment without a positive score has no picks, every other has num_picks.
void verify(segments const& from, segment_params const& params, segment_picks const& out)
{
  auto const num_segments = static_cast<std::int64_t>(from.vertices.size());
  ASSERT_EQ(out.positions.size(), num_segments * params.num_picks);
  ASSERT_EQ(out.probabilities.size(), num_segments * params.num_picks);
  for (std::int64_t i = 0; i < num_segments; ++i) {
    auto const first = from.offsets[static_cast<std::size_t>(i)], last = from.offsets[static_cast<std::size_t>(i) + 1];
    double const sum = std::accumulate(from.scores.begin() + first, from.scores.begin() + last, 0.0);
    for (std::int64_t slot = i * params.num_picks; slot < (i + 1) * params.num_picks; ++slot) {
      if (!(sum > 0)) {
        ASSERT_EQ(out.positions[slot], -1) << "segment " << i;
        ASSERT_EQ(out.probabilities[slot], 0) << "segment " << i;
        continue;
      }
      std::int64_t const at = out.positions[slot];
      ASSERT_TRUE(at >= first && at < last) << at << " of segment " << i;
      double const score = from.scores[static_cast<std::size_t>(at)];
      ASSERT_GT(score, 0) << "position " << at;
      ASSERT_NEAR(out.probabilities[slot], score / sum, 1e-6 * score / sum) << "position " << at;
    }
  }
}

/// Sums of small integers are exact in any arithmetic: pick j is the first score whose inclusive sum s has
/// s * 2^64 > bits * total, where the bits are half j of the vertex' random blocks.
TEST(SegmentMultinomial, PicksAreTheDocumentedDraws)
{
  std::vector<std::vector<float>> const scores = {{1, 2, 3, 0, 4}, {0, 0, 7}, {5}, {1, 1, 1, 1, 1, 1, 1, 1, 1}};
  std::vector<vertex_id> const vertices = {7, 0, no_vertex - 1, 7};
  for (segment_params const& params :
       {segment_params{.num_picks = 9, .seed = 1, .batch = 2, .hop = 1},
        segment_params{.num_picks = 4, .seed = ~0ULL, .batch = 1ULL << 40U, .hop = 65535}}) {
    segments from;
    std::vector<std::int64_t> expected;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      from.add(vertices[i], scores[i]);
      auto const total = static_cast<std::uint64_t>(std::accumulate(scores[i].begin(), scores[i].end(), 0.0));
      for (std::uint32_t j = 0; j < params.num_picks; ++j) {
        auto const block = core::draw_block(core::make_key(params.seed, core::domain::minibatch, params.batch),
                                            vertices[i], static_cast<std::uint32_t>(params.hop), j / 2);
        std::uint64_t const bits = j % 2 == 0 ? block.low() : block.high();
        uint128 sum = 0;
        std::int64_t at = from.offsets[i];
        for (float const score : scores[i]) {
          sum += static_cast<std::uint64_t>(score);
          if (sum << 64U > static_cast<uint128>(bits) * total) { break; }
          ++at;
        }
        expected.push_back(at);
      }
    }
    EXPECT_EQ(positions_of(from.pick(params)), expected);
  }
}

TEST(SegmentMultinomial, KnownAnswers)
{
  segments from;
  from.add(7, {1, 2, 3, 0, 4});
  from.add(3, {0, 0.25F});
  from.add(9, {0, 0});
  from.add(5, {});
  auto const out = from.pick({.num_picks = 6, .seed = 1, .batch = 2, .hop = 1});
  EXPECT_EQ(positions_of(out), (std::vector<std::int64_t>{1,  0,  1,  4,  0,  4,  6,  6,  6,  6,  6,  6,
                                                          -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}));
  std::vector<float> const of_score = {0.1F, 0.2F, 0.3F, 0, 0.4F, 0, 1};
  for (std::int64_t slot = 0; slot < 12; ++slot) {
    EXPECT_FLOAT_EQ(out.probabilities[slot], of_score.at(static_cast<std::size_t>(out.positions[slot]))) << slot;
  }
}

TEST(SegmentMultinomial, PicksKeepEveryPromise)
{
  for (std::int64_t const num_picks : {1, 2, 7, 100}) {
    segments const from = mixed_segments(static_cast<std::uint64_t>(num_picks));
    segment_params const params{.num_picks = num_picks, .seed = 5, .batch = 3, .hop = 2};
    verify(from, params, from.pick(params));
  }
}

// More than 2^22 scores, 7 orders of magnitude apart: their integer sums need more than 32 bits.
TEST(SegmentMultinomial, PicksOfAHubKeepEveryPromise)
{
  std::mt19937_64 random(6);
  std::vector<float> scores((1U << 22U) + 3);
  for (float& score : scores) { score = std::ldexp(1.0F, -static_cast<int>(random() % 24)); }
  segments from;
  from.add(1, {2, 1});
  from.add(0, scores);
  from.add(1, {2, 1});
  segment_params const params{.num_picks = 1000};
  auto const out = from.pick(params);
  verify(from, params, out);
  for (std::int64_t j = 0; j < params.num_picks; ++j) {  // the same vertex and scores, at another place
    ASSERT_EQ(out.positions[j], out.positions[2 * params.num_picks + j] - from.offsets[2]);
  }
}

TEST(SegmentMultinomial, APositiveScoreIsPickedHoweverSmall)
{
  segments from;
  from.add(0, {0, std::numeric_limits<float>::denorm_min(), 0});
  from.add(0, {std::numeric_limits<float>::max()});
  auto const out = from.pick({.num_picks = 2});
  EXPECT_EQ(positions_of(out), (std::vector<std::int64_t>{1, 1, 3, 3}));
  for (float const probability : out.probabilities) { EXPECT_EQ(probability, 1); }
}

TEST(SegmentMultinomial, NumberOfThreadsChangesNothing)
{
  segments const from = mixed_segments(4);
  segment_params const params{.num_picks = 5, .seed = 8};
  auto const one = bytes_of(from.pick(params, 1));
  for (int const num_threads : {2, 3}) { EXPECT_TRUE(one == bytes_of(from.pick(params, num_threads))) << num_threads; }
}

TEST(SegmentMultinomial, ASegmentDependsOnItsScoresAndItsVertexAlone)
{
  segments const all = mixed_segments(9);
  segment_params const params{.num_picks = 5, .seed = 8, .hop = 1};
  auto const whole = all.pick(params);
  for (std::size_t i = 0; i < all.vertices.size(); ++i) {
    segments alone;
    alone.add(all.vertices[i], {all.scores.begin() + all.offsets[i], all.scores.begin() + all.offsets[i + 1]});
    auto const part = alone.pick(params);
    for (std::int64_t j = 0; j < params.num_picks; ++j) {
      std::int64_t const slot = static_cast<std::int64_t>(i) * params.num_picks + j;
      std::int64_t const expected = part.positions[j] < 0 ? -1 : part.positions[j] + all.offsets[i];
      ASSERT_EQ(whole.positions[slot], expected) << "segment " << i;
      ASSERT_EQ(whole.probabilities[slot], part.probabilities[j]) << "segment " << i;
    }
  }
}

TEST(SegmentMultinomial, ScoresCountByTheirRatios)
{
  segments from;
  from.add(4, {1, 2, 3, 0, 4});
  segment_params const params{.num_picks = 200};
  auto const out = bytes_of(from.pick(params));
  for (int const exponent : {-100, -1, 1, 100}) {
    segments scaled;
    std::vector<float> scores = from.scores;
    for (float& score : scores) { score = std::ldexp(score, exponent); }
    scaled.add(4, scores);
    EXPECT_TRUE(out == bytes_of(scaled.pick(params))) << exponent;
  }
}

TEST(SegmentMultinomial, FewerPicksAreTheFirst)
{
  segments from;
  from.add(4, {1, 2, 3, 0, 4});
  auto const many = positions_of(from.pick({.num_picks = 100}));
  for (std::int64_t const k : {1, 2, 33}) {
    auto const few = positions_of(from.pick({.num_picks = k}));
    EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin())) << k;
  }
}

TEST(SegmentMultinomial, SeedBatchHopAndVertexChangeThePicks)
{
  std::vector<float> const scores = {1, 2, 3, 0, 4};
  auto const picks = [&](vertex_id vertex, segment_params params) {
    params.num_picks = 40;
    segments from;
    from.add(vertex, scores);
    return positions_of(from.pick(params));
  };
  auto const base = picks(7, {.seed = 1, .batch = 2, .hop = 3});
  EXPECT_NE(base, picks(8, {.seed = 1, .batch = 2, .hop = 3}));
  EXPECT_NE(base, picks(7, {.seed = 2, .batch = 2, .hop = 3}));
  EXPECT_NE(base, picks(7, {.seed = 1, .batch = 3, .hop = 3}));
  EXPECT_NE(base, picks(7, {.seed = 1, .batch = 2, .hop = 4}));
}

TEST(SegmentMultinomial, NoSegmentsGiveNothing)
{
  auto const out = segments{}.pick({.num_picks = 3});
  EXPECT_EQ(out.positions.size(), 0);
  EXPECT_EQ(out.probabilities.size(), 0);
}

TEST(SegmentMultinomial, ErrorsNameTheArgumentItsValueAndWhatWasExpected)
{
  constexpr float infinity = std::numeric_limits<float>::infinity();
  auto const error = [](std::vector<std::int64_t> const& offsets, std::vector<float> const& scores,
                        std::vector<vertex_id> const& vertices, segment_params const& params = {}) {
    return message_of<argument_error>([&] { (void)segment_multinomial(offsets, scores, vertices, params); });
  };
  EXPECT_EQ(error({0, 2}, {1, 2}, {0}, {.num_picks = 0}), "num_picks: 0, expected 1 to 2^31 - 1");
  EXPECT_EQ(error({0, 2}, {1, 2}, {0}, {.num_picks = 1LL << 31U}), "num_picks: 2147483648, expected 1 to 2^31 - 1");
  EXPECT_EQ(error({0, 2}, {1, 2}, {0}, {.hop = -1}), "hop: -1, expected 0 to 65535");
  EXPECT_EQ(error({0, 2}, {1, 2}, {0}, {.hop = 65536}), "hop: 65536, expected 0 to 65535");
  EXPECT_EQ(error({}, {}, {}), "offsets: empty, expected one element more than there are samples");
  EXPECT_EQ(error({1, 2}, {1, 2}, {0}), "offsets: the first is 1, expected 0");
  EXPECT_EQ(error({0, 1}, {1, 2}, {0}), "offsets: the last is 1, expected the number of scores, 2");
  EXPECT_EQ(error({0, 3, 2}, {1, 2}, {0, 1}), "offsets: 3 after 0 at sample 0, expected ascending numbers up to 2");
  EXPECT_EQ(error({0, 2, 1, 2}, {1, 2}, {0, 1, 2}),
            "offsets: 1 after 2 at sample 1, expected ascending numbers up to 2");
  EXPECT_EQ(error({0, -1, 2}, {1, 2}, {0, 1}), "offsets: -1 after 0 at sample 0, expected ascending numbers up to 2");
  EXPECT_EQ(error({0, 2}, {1, 2}, {}), "vertices: 0, expected one for each of the 1 segments");
  EXPECT_EQ(error({0, 2}, {1, 2}, {0, 1}), "vertices: 2, expected one for each of the 1 segments");
  EXPECT_EQ(error({0, 1, 2}, {1, 2}, {0, no_vertex}), "vertex 1: it is none, expected a number below 4294967295");
  EXPECT_EQ(error({0, 3}, {1, -2, -3}, {0}), "score 1: -2, expected a finite number of 0 or more");
  EXPECT_EQ(error({0, 2}, {1, infinity}, {0}), "score 1: inf, expected a finite number of 0 or more");
  EXPECT_EQ(error({0, 2}, {std::nanf(""), 1}, {0}), "score 0: nan, expected a finite number of 0 or more");
}

}  // namespace
}  // namespace tendril::test
