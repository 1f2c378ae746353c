// The node2vec bias: deciding early gives the verdict of deciding late, and steps have the published distribution.

#include "core/node2vec.hpp"

#include <array>
#include <cmath>
#include <random>
#include <utility>

#include "support/sanitized.hpp"
#include "support/statistics.hpp"

namespace tendril {
namespace {

using core::verdict;

bool decide(core::node2vec_bias const& bias, std::uint64_t bits, double weight, double bound, bool back, bool near)
{
  verdict const v = core::node2vec_judge(bias, bits, weight, bound, back);
  return v == verdict::needs_adjacency ? core::node2vec_settle(bias, near) : v == verdict::accepted;
}

TEST(node2vec, factors_are_the_published_ones)
{
  auto const bias = core::node2vec_bias::of(2, 0.5);
  EXPECT_EQ(core::node2vec_factor(bias, true, false), 0.5F);
  EXPECT_EQ(core::node2vec_factor(bias, true, true), 0.5F);
  EXPECT_EQ(core::node2vec_factor(bias, false, true), 1.0F);
  EXPECT_EQ(core::node2vec_factor(bias, false, false), 2.0F);
  EXPECT_EQ(bias.largest, 2.0F);
  EXPECT_EQ(core::node2vec_bias::of(4, 4).largest, 1.0F);
  EXPECT_EQ(core::node2vec_bias::of(0.25, 4).largest, 4.0F);
}

TEST(node2vec, an_early_verdict_is_the_late_one)
{
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-3, 3);
  std::uniform_real_distribution<double> share(0, 1);
  std::array<int, 3> seen{};
  for (int i = 0; i < 400'000; ++i) {
    double const p = i % 7 == 0 ? 1 : std::pow(10.0, exponent(random));
    double const q = i % 5 == 0 ? 1 : std::pow(10.0, exponent(random));
    auto const bias = core::node2vec_bias::of(p, q);
    float const bound = static_cast<float>(std::pow(10.0, exponent(random)));
    float const weight = i % 3 == 0 ? bound : bound * static_cast<float>(share(random));
    std::uint64_t bits = random() >> (i % 2 == 0 ? 0 : random() % 20);
    bool const back = random() % 3 == 0;
    bool const near = random() % 2 == 0;
    double const target = static_cast<double>(weight) * core::node2vec_factor(bias, back, near);
    if (i % 4 == 0) {  // right at the edge of acceptance
      double const edge = target / (static_cast<double>(bound) * bias.largest);
      if (edge < 1) { bits = (static_cast<std::uint64_t>(edge * 0x1p53) + random() % 3 - 1) << 11U; }
    }
    bool const expected = core::accept(bits, target, static_cast<double>(bound) * bias.largest);
    ASSERT_EQ(decide(bias, bits, weight, bound, back, near), expected)
        << "p " << p << " q " << q << " weight " << weight << " bound " << bound << " back " << back << " near "
        << near;
    ++seen[static_cast<std::size_t>(core::node2vec_judge(bias, bits, weight, bound, back))];
  }
  for (int const count : seen) { EXPECT_GT(count, 20'000); }
}

/// Adjacency is asked for only where it matters: never at q = 1.
TEST(node2vec, without_a_choice_no_adjacency_is_asked_for)
{
  std::mt19937_64 random(2);
  auto const bias = core::node2vec_bias::of(3, 1);
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_NE(core::node2vec_judge(bias, random(), 0.7, 1.0, false), verdict::needs_adjacency);
    EXPECT_NE(core::node2vec_judge(core::node2vec_bias::of(2, 0.5), random(), 0.7, 1.0, true),
              verdict::needs_adjacency);
  }
}

/// From t to v with neighbours {t, two of t's, two others} and weights: rejection gives weight times factor.
TEST(node2vec, steps_follow_weight_times_factor)
{
  if (test::is_sanitized) { GTEST_SKIP() << test::statistics_only; }
  std::array<float, 5> const weights{3, 1, 2, 1, 4};
  std::array<bool, 5> const near{false, true, true, false, false};
  rng_key const key = core::make_key(1, core::domain::second_order_walk);
  for (auto const& [p, q] : {std::pair{2.0, 0.5}, {0.25, 4.0}, {1.0, 1.0}, {4.0, 2.0}, {0.5, 0.1}}) {
    auto const bias = core::node2vec_bias::of(p, q);
    std::vector<double> shares;
    for (std::size_t i = 0; i < 5; ++i) { shares.push_back(weights[i] * (i == 0 ? 1 / p : near[i] ? 1.0 : 1 / q)); }
    std::vector<std::int64_t> counts(5, 0);
    for (std::uint64_t item = 0; item < 300'000; ++item) {
      for (std::uint32_t trial = 0;; ++trial) {
        core::random_block const block = core::draw_block(key, item, 1, trial);
        std::uint32_t const i = core::bounded(block.low(), 5);
        if (decide(bias, block.high(), weights[i], 4, i == 0, near[i])) {
          ++counts[i];
          break;
        }
      }
    }
    SCOPED_TRACE(testing::Message() << "p " << p << " q " << q);
    test::expect_distribution(counts, shares);
  }
}

}  // namespace
}  // namespace tendril
