// Tables are made by loops over whole rows. They hold what the rules of src/core say of one weight or one row, bit for bit.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "plan/alias_row.hpp"
#include "plan/fixed_row.hpp"
#include "plan/tables.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

std::vector<std::vector<float>> rows_of_weights()
{
  constexpr float largest = std::numeric_limits<float>::max(), smallest = std::numeric_limits<float>::denorm_min();
  std::vector<std::vector<float>> rows = {{1},
                                          {0.3F},
                                          {smallest},
                                          {largest},
                                          {2, 2, 2, 2},
                                          {0, 5},
                                          {5, 0, 0},
                                          {0, -0.0F, 1, 0},
                                          {smallest, largest},
                                          {smallest, 2 * smallest, 3 * smallest},
                                          {largest, largest, largest, 1},
                                          {3, 1, 2, 2}};
  std::mt19937 random(5);
  for (std::size_t const size : {2U, 3U, 7U, 64U, 1000U, 4099U}) {
    for (double const sigma : {0.0, 0.1, 1.0, 3.0, 25.0}) {
      std::lognormal_distribution<double> draw(0, sigma);
      std::vector<float> row(size);
      for (float& w : row) { w = random() % 8 == 0 ? 0.0F : static_cast<float>(std::min(draw(random), 1e38)); }
      row[size / 2] = 1;
      rows.push_back(row);
    }
  }
  return rows;
}

TEST(FixedRow, EveryExponentHasTheIntegerOfTheRule)
{
  std::int64_t compared = 0;
  for (std::uint32_t const degree : {1U, 2U, 3U, 1000U, 0x7fffffffU}) {
    for (int of_largest = 0; of_largest < 255; of_largest += 6) {
      for (std::uint32_t const of_largest_digits : {1U, 0x400000U, 0x7fffffU}) {
        std::uint32_t const largest = static_cast<std::uint32_t>(of_largest) << 23U | of_largest_digits;
        auto const scale = core::fixed_point::of(std::bit_cast<float>(largest), degree);
        for (std::uint32_t exponent = 0; exponent <= static_cast<std::uint32_t>(of_largest); ++exponent) {
          for (std::uint32_t const digits : {0U, 1U, 0x2aaaaaU, 0x3fffffU, 0x400000U, 0x7fffffU}) {
            std::uint32_t const bits = exponent << 23U | digits;
            if (bits > largest) { continue; }
            auto const weight = std::bit_cast<float>(bits);
            ASSERT_EQ(plan::branch_free_fixed(scale, weight), scale(weight)) << weight << ", scale " << scale.shift;
            ++compared;
          }
        }
      }
    }
  }
  EXPECT_GT(compared, 400'000);
}

/// One row as a graph has it.
struct weight_row {
  std::vector<float> const& values;
  [[nodiscard]] std::uint32_t degree() const { return static_cast<std::uint32_t>(values.size()); }
  [[nodiscard]] float const* weights() const { return values.data(); }
};

TEST(FixedRow, ARowHasTheIntegersOfTheRuleAndTheirSum)
{
  plan::fixed_row made;  // one for all rows: what a longer one left must not show
  for (auto const& weights : rows_of_weights()) {
    made.load(weight_row{weights});
    auto const size = static_cast<std::uint32_t>(weights.size());
    float const largest = core::largest_weight(size, [&](std::uint32_t i) { return weights[i]; });
    ASSERT_EQ(made.largest(), largest);
    ASSERT_TRUE(made.has_weight());
    auto const scale = core::fixed_point::of(largest, size);
    std::uint64_t total = 0;
    for (std::uint32_t i = 0; i < size; ++i) {
      ASSERT_EQ(made.values()[i], scale(weights[i])) << i << " of " << size;
      total += scale(weights[i]);
    }
    ASSERT_EQ(made.total(), total);
  }
  made.load(weight_row{{0, -0.0F, 0}});
  EXPECT_FALSE(made.has_weight());
  EXPECT_EQ(made.total(), 0U);
  made.load(weight_row{{}});
  EXPECT_FALSE(made.has_weight());
}

TEST(AliasRow, ARowHasTheBucketsOfTheSweep)
{
  plan::fixed_row weights;
  plan::alias_row made;
  for (auto const& row : rows_of_weights()) {
    weights.load(weight_row{row});
    auto const size = static_cast<std::uint32_t>(row.size());
    auto const buckets = made.build(weights.values(), weights.total());
    ASSERT_EQ(buckets.size(), row.size());
    std::uint32_t settled = 0;
    core::alias_sweep(
        size, weights.total(), [&](std::uint32_t i) { return weights.values()[i]; },
        [&](std::uint32_t item, core::alias_bucket const& expected) {
          EXPECT_EQ(buckets[item].threshold, expected.threshold) << item << " of " << size;
          EXPECT_EQ(buckets[item].other, expected.other) << item << " of " << size;
          ++settled;
          return !::testing::Test::HasFailure();
        });
    ASSERT_EQ(settled, size);
  }
}

/// Tables are built by ranges of vertices of about equal work; a vertex without edges has an entry, too.
TEST(Tables, EveryVertexHasAnEntryWhateverTheNumberOfThreads)
{
  graph const edgeless = make_graph(300'000, {});
  for (int const threads : {1, 3}) {
    auto const records =
        plan::make_vertex_records(edgeless.view(), std::vector<float>(300'000, 0.5F).data(), {.num_threads = threads});
    ASSERT_EQ(records.size(), 300'000);
    for (auto const& record : records) {
      ASSERT_EQ(record.degree, 0U);
      ASSERT_EQ(record.largest, 0.5F);
    }
  }
}

/// It has no offsets, not even the first.
TEST(Tables, AGraphWithoutVerticesHasEmptyTables)
{
  graph const none;
  EXPECT_EQ(plan::make_weight_statistics(none.view(), {}).largest.size(), 0);
  EXPECT_EQ(plan::make_vertex_records(none.view(), nullptr, {}).size(), 0);
  EXPECT_EQ(plan::make_edge_records(none.view(), {}).size(), 0);
  EXPECT_EQ(plan::make_alias_records(none.view(), {}).size(), 0);
  EXPECT_EQ(plan::make_alias_buckets(none.view(), {}).size(), 0);
  EXPECT_EQ(plan::make_prefix_sums(none.view(), {}).size(), 0);
  EXPECT_EQ(plan::make_weight_sums(none.view(), {}).rows.size(), 0);
}

TEST(Tables, BuildingThemReportsProgressAndCanBeCancelled)
{
  struct cancelled {};
  graph const g = make_zoo(3);
  int reports = 0;
  cpu_exec exec;
  exec.on_progress = [&](progress const& report) {
    EXPECT_STREQ(report.what, "tables");
    EXPECT_LE(report.done, report.total);
    ++reports;
  };
  (void)plan::make_alias_records(g.view(), exec);
  EXPECT_GT(reports, 0);
  exec.on_progress = [](progress const&) { throw cancelled(); };
  EXPECT_THROW((void)plan::make_prefix_sums(g.view(), exec), cancelled);
}

}  // namespace
}  // namespace tendril::test
