// Picks from sums of every 64th edge are the picks of the scans, for rows of all sizes and shapes of weights.

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "core/weight_sums.hpp"

namespace tendril {
namespace {

/// A row with sums of its own.
class row_of_weights {
 public:
  struct weight_at {
    float const* weights;
    float operator()(std::uint32_t i) const { return weights[i]; }
  };

  explicit row_of_weights(std::vector<float> weights) : weights_(std::move(weights))
  {
    auto const size = static_cast<std::uint32_t>(weights_.size());
    row_ = {0, core::largest_weight(size, weight_of()), size};
    if (!(row_.largest > 0)) { return; }
    auto const scale = core::fixed_point::of(row_.largest, size);
    for (float const w : weights_) { row_.total += scale(w); }
    sums_.resize(1);
    auto const row = summed();
    for (std::uint32_t c = 0; std::size_t{c + 1} * core::summed_edges < weights_.size(); ++c) {
      core::weight_sum next = sums_.back();
      next += row.sum_of(c);
      sums_.push_back(next);
    }
  }

  [[nodiscard]] weight_at weight_of() const { return {weights_.data()}; }
  [[nodiscard]] core::summed_row<weight_at> summed() const { return {row_, sums_.data(), weight_of()}; }

  void expect_same_picks(std::uint64_t item, std::uint64_t choice) const
  {
    std::uint32_t const size = row_.degree;
    if (!(row_.largest > 0)) { return; }
    ASSERT_EQ(core::summed_alias_pick(summed(), item, choice), core::alias_scan(size, weight_of(), item, choice))
        << size << " weights, item " << core::bounded(item, size);
    ASSERT_EQ(core::summed_its_pick(summed(), item), core::its_scan(size, weight_of(), item)) << size << " weights";
  }

  /// Of every number of edges, the whole row among them. What lies behind the row's sums belongs to another row.
  void expect_sums_before()
  {
    sums_.push_back({~0ULL, ~0ULL, ~0U});
    auto const row = summed();
    core::weight_sum sum{};
    for (std::uint32_t n = 0; n <= row.size(); ++n) {
      core::weight_sum const found = row.before(n);
      ASSERT_EQ(found.all, sum.all) << n << " of " << row.size();
      ASSERT_EQ(found.light, sum.light) << n << " of " << row.size();
      ASSERT_EQ(found.lights, sum.lights) << n << " of " << row.size();
      if (n == row.size()) { break; }
      bool const light = row.is_light(row.weight(n));
      sum += {row.weight(n), light ? row.weight(n) : 0, light ? 1U : 0U};
    }
    sums_.pop_back();
  }

 private:
  std::vector<float> weights_;
  core::row_weight row_{};
  std::vector<core::weight_sum> sums_;
};

TEST(WeightSums, PicksAreThoseOfTheScans)
{
  std::mt19937_64 random(5);
  for (std::size_t const size : {1UL, 2UL, 3UL, 63UL, 64UL, 65UL, 127UL, 128UL, 129UL, 1000UL}) {
    for (double const orders : {0.0, 1.0, 12.0, 40.0}) {
      std::uniform_real_distribution<double> exponent(-orders, 0);
      for (double const zeros : {0.0, 0.5, 0.99}) {
        std::vector<float> weights(size);
        for (auto& w : weights) {
          bool const none = std::uniform_real_distribution<double>(0, 1)(random) < zeros;
          w = none ? 0.0F : static_cast<float>(std::pow(10.0, exponent(random)));
        }
        row_of_weights const row(weights);
        for (int i = 0; i < 400 && !::testing::Test::HasFatalFailure(); ++i) {
          row.expect_same_picks(random(), random());
        }
      }
    }
  }
}

// Few different weights: what heavy edges give and light ones lack often meets exactly.
TEST(WeightSums, AreThoseBeforeAnyEdgeAndOfTheWholeRow)
{
  std::mt19937_64 random(6);
  for (std::size_t const size : {1UL, 2UL, 63UL, 64UL, 65UL, 128UL, 129UL, 1536UL}) {
    std::vector<float> weights(size);
    for (float& weight : weights) { weight = static_cast<float>(random() % 1000 + 1); }
    row_of_weights(weights).expect_sums_before();
  }
}

TEST(WeightSums, PicksAreThoseOfTheScansWhereSumsMeet)
{
  std::mt19937_64 random(6);
  for (int repeat = 0; repeat < 3000 && !HasFatalFailure(); ++repeat) {
    std::vector<float> weights(1 + random() % 200);
    std::uint64_t const kinds = 1 + random() % 4;
    for (auto& w : weights) { w = static_cast<float>(random() % (kinds + 1)); }
    weights[random() % weights.size()] = static_cast<float>(kinds);
    row_of_weights const row(weights);
    for (int i = 0; i < 20; ++i) {
      // Choices at both ends reach buckets that hardly ever give their other item.
      std::uint64_t const choice = i % 3 == 0 ? ~std::uint64_t{0} : i % 3 == 1 ? 0 : random();
      row.expect_same_picks(random(), choice);
    }
  }
}

TEST(WeightSums, ALongRowOfOneHeavyEdge)
{
  std::mt19937_64 random(7);
  for (std::size_t const heavy : {std::size_t{0}, std::size_t{40'000}, std::size_t{99'999}}) {
    std::vector<float> weights(100'000, 1.0F);
    weights[heavy] = 1e6F;
    row_of_weights const row(weights);
    for (int i = 0; i < 50; ++i) { row.expect_same_picks(random(), random()); }
  }
}

}  // namespace
}  // namespace tendril
