// Negative links: the documented draws and distributions, times that are kept, errors.

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/negatives.hpp>

#include "core/random.hpp"
#include "support/messages.hpp"
#include "support/statistics.hpp"
#include "support/to_array.hpp"

namespace tendril::test {
namespace {

std::vector<vertex_id> list_of(buffer<vertex_id> const& from) { return {from.begin(), from.end()}; }

std::vector<std::int64_t> counted(buffer<vertex_id> const& from, std::size_t num_vertices)
{
  std::vector<std::int64_t> counts(num_vertices);
  for (auto const v : from) { ++counts.at(v); }
  return counts;
}

/// Times 0 .. n - 1, each vertex's own number, shuffled by a multiplication.
std::vector<std::int64_t> times_of(std::int64_t n)
{
  std::vector<std::int64_t> out;
  for (std::int64_t v = 0; v < n; ++v) { out.push_back(v * 7 % n); }
  return out;
}

TEST(Negatives, AreTheDocumentedDraws)
{
  constexpr std::uint64_t seed = 5, batch = 1ULL << 40U;
  constexpr std::uint32_t n = 101;
  std::vector<std::int64_t> const times = times_of(n);
  std::vector<std::int64_t> const until = {50, -1, 0, 100, 3};
  rng_key const key = core::make_key(seed, core::domain::negatives, batch);
  for (auto const end : {link_end::source, link_end::target}) {
    std::uint32_t const step = end == link_end::source ? 0 : 1;
    auto const drawn = [&](std::uint64_t i, std::uint32_t attempt) {
      return core::bounded(core::draw_block(key, i, step, attempt).low(), n);
    };
    auto const plain = list_of(negative_sampler(n, end, seed).draw(1000, batch));
    auto const timed = list_of(negative_sampler(n, end, seed, {}, to_array(times)).draw(1000, batch, until));
    for (std::uint64_t i = 0; i < 1000; ++i) {
      ASSERT_EQ(plain[i], drawn(i, 0));
      vertex_id expected = drawn(i, 0);
      for (std::uint32_t attempt = 0; attempt < 6; ++attempt) {  // the first that fits, or else the earliest
        vertex_id const v = drawn(i, attempt);
        if (times[v] <= until[i % 5]) {
          expected = v;
          break;
        }
        if (times[v] < times[expected]) { expected = v; }
      }
      ASSERT_EQ(timed[i], expected) << i;
    }
  }
}

TEST(Negatives, AreUniformOrInProportionToWeights)
{
  constexpr std::int64_t draws = 200'000;
  EXPECT_TRUE(drawn_from(counted(negative_sampler(7, link_end::target, 1).draw(draws, 0), 7),
                         std::vector<double>(7, 1.0), 0.03));
  std::vector<float> const weights = {3, 0, 0.5F, 1, 10};
  std::vector<double> const exact(weights.begin(), weights.end());
  auto const weighted = counted(negative_sampler(5, link_end::source, 1, to_array(weights)).draw(draws, 0), 5);
  EXPECT_TRUE(drawn_from(weighted, exact, 0.03));
  EXPECT_FALSE(drawn_from(weighted, {3.15, 0, 0.5, 1, 10}, 0.03)) << "a planted bias";
}

TEST(Negatives, NotLaterThanTheirLinkInTheSameDistribution)
{
  std::vector<std::int64_t> const times = {0, 1, 2, 3, 4, 5, 6, 7};
  std::vector<std::int64_t> const until = {5};
  negative_sampler const sampler(8, link_end::target, 2, {}, to_array(times));
  auto const counts = counted(sampler.draw(200'000, 0, until), 8);
  // All six tries are too late with probability 4^-6; of those the earlier one, 6, is taken unless all are 7.
  double const late = std::pow(0.25, 6), seven = std::pow(0.125, 6);
  double const fits = (1 - late) / 6;
  EXPECT_TRUE(drawn_from(counts, {fits, fits, fits, fits, fits, fits, late - seven, seven}, 0.03));
  EXPECT_EQ(list_of(sampler.draw(100, 0)), list_of(negative_sampler(8, link_end::target, 2).draw(100, 0)))
      << "links without times are not held back";
}

TEST(Negatives, BelongToTheirNumberEndBatchAndSeed)
{
  negative_sampler const sampler(1000, link_end::source, 3);
  auto const here = list_of(sampler.draw(10'000, 4));
  for (int const threads : {2, 4}) { EXPECT_EQ(list_of(sampler.draw(10'000, 4, {}, {.num_threads = threads})), here); }
  EXPECT_EQ(list_of(sampler.draw(100, 4)), std::vector<vertex_id>(here.begin(), here.begin() + 100));
  EXPECT_NE(list_of(sampler.draw(10'000, 5)), here);
  EXPECT_NE(list_of(negative_sampler(1000, link_end::target, 3).draw(10'000, 4)), here);
  EXPECT_NE(list_of(negative_sampler(1000, link_end::source, 4).draw(10'000, 4)), here);
  EXPECT_EQ(
      list_of(negative_sampler(1000, link_end::source, 3, to_array(std::vector<float>(1000, 2.0F))).draw(10'000, 4)),
      here)
      << "equal weights are none";
  EXPECT_EQ(negative_sampler(0, link_end::source, 3).draw(0, 0).size(), 0);
}

TEST(Negatives, SourcesAndTargetsAreIndependent)
{
  auto const sources = list_of(negative_sampler(4, link_end::source, 9).draw(100'000, 0));
  auto const targets = list_of(negative_sampler(4, link_end::target, 9).draw(100'000, 0));
  std::vector<std::int64_t> pairs(16);
  for (std::size_t i = 0; i < sources.size(); ++i) { ++pairs[4 * sources[i] + targets[i]]; }
  expect_distribution(pairs, std::vector<double>(16, 1.0), 0.05);
}

TEST(Negatives, HowMany)
{
  EXPECT_EQ(num_negatives(10, 1), 10);
  EXPECT_EQ(num_negatives(10, 0.25), 3);
  EXPECT_EQ(num_negatives(3, 2.5), 8);
  EXPECT_EQ(num_negatives(0, 2), 0);
}

TEST(Negatives, Refusals)
{
  auto const refusal = [](auto f) { return message_of<argument_error>([&] { (void)f(); }); };
  auto const with = [](std::vector<float> const& weights) {
    return negative_sampler(3, link_end::source, 0, to_array(weights));
  };
  EXPECT_EQ(refusal([] { return negative_sampler(-1, link_end::source, 0); }),
            "num_vertices: -1, expected 0 to 4294967295");
  EXPECT_EQ(refusal([&] { return with({1, 2}); }), "weights: 2, expected one a vertex: 3");
  EXPECT_EQ(refusal([&] { return with({1, -2, 3}); }), "weight 1: -2, expected a finite number of 0 or more");
  EXPECT_EQ(refusal([&] {
              return with({1, 2, std::numeric_limits<float>::infinity()});
            }),
            "weight 2: inf, expected a finite number of 0 or more");
  EXPECT_EQ(refusal([&] { return with({0, 0, 0}); }), "weights: all are 0, expected one above");
  EXPECT_EQ(
      refusal([] { return negative_sampler(3, link_end::source, 0, {}, to_array(std::vector<std::int64_t>{1})); }),
      "times: 1, expected one a vertex: 3");
  negative_sampler const plain(3, link_end::source, 0);
  std::vector<std::int64_t> const until = {1};
  EXPECT_EQ(refusal([&] { return plain.draw(-1, 0); }), "count: -1, expected 0 or more");
  EXPECT_EQ(refusal([&] { return plain.draw(std::int64_t{1} << 62, 0); }),
            "count: 4611686018427387904, expected at most 576460752303423488");
  EXPECT_EQ(refusal([&] { return plain.draw(2, 0, until); }), "until: 1 times of links, but vertices have none");
  EXPECT_EQ(refusal([] { return negative_sampler(0, link_end::source, 0).draw(2, 0); }),
            "count: 2, but there are no vertices, expected 0");
  EXPECT_EQ(refusal([] { return num_negatives(-1, 1); }), "num_links: -1, expected 0 or more");
  EXPECT_EQ(refusal([] { return num_negatives(1, 0); }), "amount: 0, expected a number above 0");
  EXPECT_EQ(refusal([] { return num_negatives(1, std::nan("")); }), "amount: nan, expected a number above 0");
}

}  // namespace
}  // namespace tendril::test
