// Negative links: the documented draws and distributions, times that are kept, errors.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/negatives.hpp>

#include "core/random.hpp"
#include "support/binary_files.hpp"  // message_of
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

/// Times in no order, each of two vertices or three.
std::vector<std::int64_t> times_of(std::int64_t n)
{
  std::vector<std::int64_t> out;
  for (std::int64_t v = 0; v < n; ++v) { out.push_back(v * 7 % n / 2); }
  return out;
}

/// What the documentation says may be drawn, found the slow way: the vertices of positive weight that are not later, in
/// ascending order of (time, vertex).
std::vector<vertex_id> eligible_of(std::vector<std::int64_t> const& times, std::vector<float> const& weights,
                                   std::int64_t until)
{
  std::vector<vertex_id> out;
  for (vertex_id v = 0; v < times.size(); ++v) {
    if (times[v] <= until && weights[v] > 0) { out.push_back(v); }
  }
  std::stable_sort(out.begin(), out.end(), [&](vertex_id a, vertex_id b) { return times[a] < times[b]; });
  return out;
}

vertex_id earliest_of(std::vector<std::int64_t> const& times)
{
  return static_cast<vertex_id>(std::min_element(times.begin(), times.end()) - times.begin());
}

TEST(Negatives, AreTheDocumentedDraws)
{
  constexpr std::uint64_t seed = 5, batch = 1ULL << 40U;
  constexpr std::uint32_t n = 101;
  std::vector<std::int64_t> const times = times_of(n);
  std::vector<std::int64_t> const until = {25, -1, 0, 100, 3};
  rng_key const key = core::make_key(seed, core::domain::negatives, batch);
  for (auto const end : {link_end::source, link_end::target}) {
    std::uint32_t const step = end == link_end::source ? 0 : 1;
    auto const plain = list_of(negative_sampler(n, end, seed).draw(1000, batch));
    auto const timed = list_of(negative_sampler(n, end, seed, {}, to_array(times)).draw(1000, batch, until));
    for (std::uint64_t i = 0; i < 1000; ++i) {
      std::uint64_t const bits = core::draw_block(key, i, step, 0).low();
      ASSERT_EQ(plain[i], core::bounded(bits, n));
      auto const eligible = eligible_of(times, std::vector<float>(n, 1.0F), until[i % 5]);
      auto const size = static_cast<std::uint32_t>(eligible.size());
      ASSERT_EQ(timed[i], size == 0 ? earliest_of(times) : eligible[core::bounded(bits, size)]) << i;
    }
  }
}

TEST(Negatives, WithTimesAndWeightsAreTheDocumentedDraws)
{
  constexpr std::uint64_t seed = 8;
  constexpr std::uint32_t n = 101;
  std::vector<std::int64_t> const times = times_of(n);
  std::vector<float> weights;
  for (std::uint32_t v = 0; v < n; ++v) { weights.push_back(static_cast<float>(v % 9)); }  // the earliest weighs 0
  std::vector<std::int64_t> const until = {25, -1, 0, 100, 3, 1};
  auto const drawn =
      list_of(negative_sampler(n, link_end::target, seed, to_array(weights), to_array(times)).draw(1000, 2, until));
  rng_key const key = core::make_key(seed, core::domain::negatives, 2);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    auto const eligible = eligible_of(times, weights, until[i % 6]);
    if (eligible.empty()) {
      ASSERT_EQ(drawn[i], earliest_of(times)) << i;
      continue;
    }
    // The unit gives the first weight 47 bits.
    auto const unit = std::uint64_t{1} << (47U - std::bit_width(static_cast<std::uint32_t>(weights[eligible[0]])));
    std::uint64_t total = 0;
    for (vertex_id const v : eligible) { total += static_cast<std::uint64_t>(weights[v]) * unit; }
    std::uint64_t const x = core::bounded64(core::draw_block(key, i, 1, 0).low(), total);
    std::size_t pick = 0;
    for (std::uint64_t sum = 0; (sum += static_cast<std::uint64_t>(weights[eligible[pick]]) * unit) <= x;) { ++pick; }
    ASSERT_EQ(drawn[i], eligible[pick]) << i;
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

/// 200,000 negatives of links at one time, counted a vertex.
std::vector<std::int64_t> counted_until(std::vector<std::int64_t> const& times, std::vector<float> const& weights,
                                        std::int64_t until)
{
  auto const size = static_cast<std::int64_t>(times.size());
  negative_sampler const sampler(size, link_end::target, 2, to_array(weights), to_array(times));
  return counted(sampler.draw(200'000, 0, std::vector<std::int64_t>{until}), times.size());
}

TEST(Negatives, NotLaterThanTheirLinkInTheSameProportions)
{
  std::vector<std::int64_t> const times = {5, 0, 7, 3, 3, 9, 0, 3};
  std::vector<float> const unequal = {3, 1, 2, 0, 4, 10, 0.5F, 1};
  std::vector<std::int64_t> const limits = {0, 2, 3, 8, 9, std::numeric_limits<std::int64_t>::max()};
  for (std::int64_t const until : limits) {
    for (bool const weighted : {false, true}) {
      auto const counts = counted_until(times, weighted ? unequal : std::vector<float>{}, until);
      std::vector<double> exact(times.size()), biased;
      for (std::size_t v = 0; v < times.size(); ++v) {
        if (times[v] <= until) { exact[v] = weighted ? unequal[v] : 1; }
      }
      EXPECT_TRUE(drawn_from(counts, exact, 0.03)) << until << weighted;  // which lets no later one pass
      biased = exact;
      biased[1] *= 1.15;
      EXPECT_FALSE(drawn_from(counts, biased, 0.03)) << "a planted bias: " << until << weighted;
    }
  }
}

TEST(Negatives, WithoutTimesOfLinksAreNotHeldBack)
{
  std::vector<std::int64_t> const times = {5, 0, 7, 3, 3, 9, 0, 3};
  std::vector<float> const weights = {3, 1, 2, 0, 4, 10, 0.5F, 1};
  for (auto const& given : {std::vector<float>{}, weights}) {
    EXPECT_EQ(list_of(negative_sampler(8, link_end::target, 2, to_array(given), to_array(times)).draw(1000, 0)),
              list_of(negative_sampler(8, link_end::target, 2, to_array(given)).draw(1000, 0)));
  }
}

TEST(Negatives, TheEarliestOfAllWhereNoVertexIsEligible)
{
  std::vector<std::int64_t> const times = {5, 4, 3, 9, 3};
  auto const only = [&](std::vector<float> const& weights, std::int64_t until) {
    auto const drawn = list_of(negative_sampler(5, link_end::target, 2, to_array(weights), to_array(times))
                                   .draw(100, 0, std::vector<std::int64_t>{until}));
    return drawn == std::vector<vertex_id>(100, 2);
  };
  EXPECT_TRUE(only({}, 2));
  EXPECT_TRUE(only({}, std::numeric_limits<std::int64_t>::min()));
  EXPECT_TRUE(only({1, 1, 1, 1, 1}, 2));
  EXPECT_TRUE(only({1, 1, 0, 1, 0}, 2)) << "whatever it weighs";
  EXPECT_TRUE(only({1, 1, 0, 1, 0}, 3)) << "all that are early enough weigh 0";
  EXPECT_FALSE(only({1, 1, 0, 1, 1}, 3));
}

/// The eligible weights can be far below the largest of all, and below one another: units change on the way.
TEST(Negatives, WeightsOfAnyMagnitudeKeepTheirProportions)
{
  std::vector<std::int64_t> const times = {0, 1, 2, 3, 4, 5};
  std::vector<float> const weights = {0x1p-149F, 0x3p-149F, 0x1p-60F, 0x3p-60F, 0x1p100F, 0x3p100F};
  EXPECT_TRUE(drawn_from(counted_until(times, weights, 1), {1, 3, 0, 0, 0, 0}, 0.03));
  EXPECT_TRUE(drawn_from(counted_until(times, weights, 3), {0, 0, 1, 3, 0, 0}, 0.03)) << "2^-89: never seen";
  EXPECT_TRUE(drawn_from(counted_until(times, weights, 5), {0, 0, 0, 0, 1, 3}, 0.03));
}

/// 2^17 small weights and one that is as large as all of them: their sum begins a new group of weights, so a draw of the
/// small ones takes two random numbers.
TEST(Negatives, ALargeWeightAfterManySmallOnesTakesItsShare)
{
  constexpr std::int64_t many = std::int64_t{1} << 17U;
  std::vector<std::int64_t> times;
  std::vector<float> weights;
  for (std::int64_t v = 0; v <= many; ++v) {
    times.push_back(v);
    weights.push_back(v < many ? 3 : 3 * many);
  }
  auto const counts = counted_until(times, weights, many);
  std::vector<std::int64_t> shares(5);  // quarters of the small ones, and the large one
  for (std::int64_t v = 0; v <= many; ++v) {
    shares[static_cast<std::size_t>(v * 4 / many)] += counts[static_cast<std::size_t>(v)];
  }
  EXPECT_TRUE(drawn_from(shares, {1, 1, 1, 1, 4}, 0.03));
  EXPECT_FALSE(drawn_from(shares, {1, 1, 1, 1.06, 4}, 0.03)) << "a planted bias";
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
  auto const times = to_array(times_of(1000));
  std::vector<std::int64_t> const until = {400, 2, 90};
  negative_sampler const in_time(1000, link_end::source, 3, {}, times);
  auto const early = list_of(in_time.draw(10'000, 4, until));
  for (int const threads : {2, 4}) {
    EXPECT_EQ(list_of(in_time.draw(10'000, 4, until, {.num_threads = threads})), early);
  }
  EXPECT_EQ(list_of(in_time.draw(100, 4, until)), std::vector<vertex_id>(early.begin(), early.begin() + 100));
  EXPECT_EQ(list_of(negative_sampler(1000, link_end::source, 3, to_array(std::vector<float>(1000, 2.0F)), times)
                        .draw(10'000, 4, until)),
            early)
      << "equal weights are none";
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
