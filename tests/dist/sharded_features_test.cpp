// Rows of features that ranks share come out where they are asked for, whoever has them, and what is wrong is named.

#include <tendril/sharded_features.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/failure_of.hpp"
#include "dist/partition_support.hpp"
#include "dist/ranks.hpp"
#include "dist/refusal.hpp"
#include "dist/restless_engine.hpp"
#include "support/karate.hpp"
#include "support/sanitized.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

/// [rows, width] bytes, in which every row differs.
std::vector<std::byte> table_bytes(std::int64_t rows, std::int64_t width)
{
  std::vector<std::byte> out(static_cast<std::size_t>(rows * width));
  for (std::int64_t i = 0; i < rows * width; ++i) {
    out[static_cast<std::size_t>(i)] = static_cast<std::byte>((i / width * 31 + i % width * 7) % 251);
  }
  return out;
}

std::vector<std::int64_t> ids_for(int rank, std::int64_t count, std::int64_t num_rows)
{
  std::vector<std::int64_t> out(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) { out[static_cast<std::size_t>(i)] = (i * 7919 + rank * 13) % num_rows; }
  return out;
}

TEST(ShardedFeatures, RowsOfEverySizeComeFromAnyRank)
{
  std::int64_t const num_rows = 5000;
  for (std::int64_t const width : {0, 1, 3, 8, 100, 512}) {
    auto const bytes = table_bytes(num_rows, width);
    feature_table const whole(bytes, {"uint8", {num_rows, width}});
    for (int const n : is_sanitized ? std::vector{1, 3} : std::vector{1, 2, 3, 4, 7}) {
      std::vector<std::int64_t> const bounds = uneven_bounds(num_rows, n);
      run_ranks(n, [&](transport& ranks) {
        auto const r = static_cast<std::size_t>(ranks.rank());
        sharded_features rows(slice_rows(whole, bounds[r], bounds[r + 1] - bounds[r]), bounds, ranks);
        EXPECT_EQ(rows.num_rows(), num_rows);
        EXPECT_EQ(rows.shape(), (std::vector{num_rows, width}));
        for (std::int64_t const count : std::vector<std::int64_t>{0, 1, 10000 + 100 * ranks.rank()}) {
          auto const ids = ids_for(ranks.rank(), count, num_rows);
          std::vector<std::byte> out(static_cast<std::size_t>(count * width)), expected(out.size());
          rows.gather(ids, out, {.num_threads = 1 + ranks.rank() % 2});
          gather(whole, ids, expected);
          EXPECT_EQ(out, expected) << width << " bytes, " << n << " ranks";
        }
        EXPECT_EQ(rows.report().rows, 10001 + 100 * ranks.rank());
        EXPECT_EQ(rows.report().rows_away == 0, n == 1);
      });
    }
  }
}

TEST(ShardedFeatures, ARankMayHaveNoRows)
{
  auto const bytes = table_bytes(10, 4);
  feature_table const whole(bytes, {"float32", {10, 1}});
  std::vector<std::int64_t> const bounds{0, 10, 10};
  run_ranks(2, [&](transport& ranks) {
    auto const r = static_cast<std::size_t>(ranks.rank());
    sharded_features rows(slice_rows(whole, bounds[r], bounds[r + 1] - bounds[r]), bounds, ranks);
    auto const ids = ids_for(1, 20, 10);
    std::vector<std::byte> out(80), expected(80);
    rows.gather(ids, out);
    gather(whole, ids, expected);
    EXPECT_EQ(out, expected);
  });
}

TEST(ShardedFeatures, APartHasTheRowsOfItsVertices)
{
  if (!has_metis()) { GTEST_SKIP() << "no libmetis"; }
  graph const g = make_karate();
  auto const bytes = table_bytes(34, 8);
  feature_table const whole(bytes, {"float64", {34, 1}});
  for (auto const method : {partition_method::range, partition_method::metis}) {
    for (std::int64_t p = 0; p < 3; ++p) {
      graph_part const part = part_of(g, {.num_parts = 3, .method = method}, p);
      feature_table const rows = rows_of_part(whole, part);
      ASSERT_EQ(rows.num_rows(), part.num_vertices());
      for (std::int64_t i = 0; i < rows.num_rows(); ++i) {
        std::int64_t const v = part.first_vertex() + i;
        std::int64_t const old = part.original_ids.empty() ? v : part.original_ids[v];
        EXPECT_EQ(std::memcmp(rows.data() + i * rows.row_stride(), bytes.data() + old * 8, 8), 0) << v;
      }
    }
  }
}

TEST(ShardedFeatures, KeptRowsAreNotAskedForAgain)
{
  std::int64_t const num_rows = 1000;
  auto const bytes = table_bytes(num_rows, 12);
  feature_table const whole(bytes, {"float32", {num_rows, 3}});
  std::vector<std::int64_t> const bounds{0, 300, 300, 1000};
  run_ranks(3, [&](transport& ranks) {
    auto const r = static_cast<std::size_t>(ranks.rank());
    sharded_features rows(slice_rows(whole, bounds[r], bounds[r + 1] - bounds[r]), bounds, ranks);
    auto const ids = ids_for(ranks.rank(), 4000, num_rows);
    std::vector<std::byte> out(ids.size() * 12), expected(out.size());
    gather(whole, ids, expected);
    // All of the first rank's rows, some of which it has itself, and one of them twice; then others; then none.
    std::vector<std::int64_t> all(300);
    std::iota(all.begin(), all.end(), 0);
    all.push_back(7);
    for (auto const& kept : {all, {999, 0, 500}, {}}) {
      rows.keep(kept, {.num_threads = 1 + ranks.rank() % 2});
      sharded_features_report const before = rows.report();
      rows.gather(ids, out);
      EXPECT_EQ(out, expected);
      std::int64_t away = 0, here = 0;
      for (std::int64_t const id : ids) {
        if (id >= bounds[r] && id < bounds[r + 1]) { continue; }
        ++away;
        here += std::find(kept.begin(), kept.end(), id) != kept.end() ? 1 : 0;
      }
      EXPECT_EQ(rows.report().rows_away - before.rows_away, away);
      EXPECT_EQ(rows.report().rows_kept - before.rows_kept, here);
      EXPECT_EQ(rows.report().rows - before.rows, 4000) << "keep is no gather";
    }
  });
}

/// What each rank gathers by calls of all ranks, unequally many rows each, before and while it keeps some.
std::vector<std::vector<std::byte>> gathered_together(int num_ranks, feature_table const& whole,
                                                      engine_wrapper const& wrap)
{
  std::int64_t const num_rows = whole.num_rows();
  std::vector<std::vector<std::byte>> out(static_cast<std::size_t>(num_ranks));
  std::vector<std::int64_t> const bounds = uneven_bounds(num_rows, num_ranks);
  run_ranks(
      num_ranks,
      [&](transport& ranks) {
        auto const r = static_cast<std::size_t>(ranks.rank());
        sharded_features rows(slice_rows(whole, bounds[r], bounds[r + 1] - bounds[r]), bounds, ranks);
        for (int call = 0; call < 12; ++call) {
          if (call == 6) { rows.keep(ids_for(ranks.rank(), 50, num_rows)); }
          auto const ids = ids_for(call + ranks.rank(), call % 4 * 300 * ranks.rank() + call, num_rows);
          std::vector<std::byte> got(ids.size() * static_cast<std::size_t>(whole.row_bytes())), right(got.size());
          rows.gather(ids, got, {.num_threads = 1});
          gather(whole, ids, right);
          EXPECT_EQ(got, right);
          out[r].insert(out[r].end(), got.begin(), got.end());
        }
      },
      transport::seconds(60), wrap);
  return out;
}

TEST(ShardedFeatures, DelaysAndOrderOfMessagesChangeNothing)
{
  auto const bytes = table_bytes(1000, 12);
  feature_table const whole(bytes, {"float32", {1000, 3}});
  for (int const n : {2, 3, 4}) {
    auto const expected = gathered_together(n, whole, {});
    for (std::uint64_t seed = 0; seed < unless_sanitized(5U, 1U); ++seed) {
      EXPECT_EQ(gathered_together(n, whole, restless(seed)), expected) << n << " ranks, seed " << seed;
    }
  }
}

TEST(ShardedFeatures, HotVerticesAreThoseThatMostEdgesLeadTo)
{
  graph const g = make_star({1, 2, 0, 5});
  std::vector<std::int64_t> edges_to(static_cast<std::size_t>(g.num_vertices()));
  for (std::int64_t e = 0; e < g.num_edges(); ++e) { ++edges_to[g.csr().indices[e]]; }
  for (int const n : {1, 2, 3}) {
    run_ranks(n, [&](transport& ranks) {
      graph_part const part = part_of(g, {.num_parts = n}, ranks.rank());
      auto const hot = hot_vertices(part, g.num_vertices(), ranks);
      std::int64_t const reached = std::ranges::count_if(edges_to, [](std::int64_t to) { return to > 0; });
      ASSERT_EQ(std::ssize(hot), reached);
      for (std::size_t i = 0; i + 1 < hot.size(); ++i) {
        auto const key = [&](std::int64_t v) { return std::pair(-edges_to[static_cast<std::size_t>(v)], v); };
        EXPECT_LT(key(hot[i]), key(hot[i + 1]));
      }
      EXPECT_EQ(
          hot_vertices(part_of(g, {.num_parts = n, .form = graph_form::best}, ranks.rank()), g.num_vertices(), ranks),
          hot);
      auto const few = hot_vertices(part, 2, ranks);
      EXPECT_EQ(few, std::vector(hot.begin(), hot.begin() + 2));
      EXPECT_TRUE(hot_vertices(part, 0, ranks).empty());
    });
  }
  EXPECT_EQ(
      failure_of(2,
                 [&](transport& ranks) { (void)hot_vertices(part_of(g, {.num_parts = 2}, ranks.rank()), -1, ranks); }),
      fmt::format("-1 hot vertices, expected 0 to {}", g.num_vertices()));
}

TEST(ShardedFeatures, AWrongIdEndsTheCallAlone)
{
  auto const bytes = table_bytes(10, 4);
  feature_table const whole(bytes, {"float32", {10, 1}});
  std::vector<std::int64_t> const bounds{0, 4, 10};
  run_ranks(2, [&](transport& ranks) {
    auto const r = static_cast<std::size_t>(ranks.rank());
    sharded_features rows(slice_rows(whole, bounds[r], bounds[r + 1] - bounds[r]), bounds, ranks);
    for (int bad = 0; bad < 2; ++bad) {
      std::vector<std::int64_t> const ids{0, ranks.rank() == bad ? 10 : 3}, right{9, ranks.rank()};
      std::vector<std::byte> out(8), expected(8);
      expect_refusal(ranks, bad, "ids[1] is 10, expected 0 to 9", [&] { rows.gather(ids, out); });
      expect_refusal(ranks, bad, "ids[1] is 10, expected 0 to 9", [&] { rows.keep(ids); });
      rows.gather(right, out);
      gather(whole, right, expected);
      EXPECT_EQ(out, expected);
    }
  });
}

TEST(ShardedFeatures, WhatIsWrongIsNamed)
{
  auto const bytes = table_bytes(10, 4);
  feature_table const whole(bytes, {"float32", {10, 1}});
  std::vector<std::int64_t> const bounds{0, 4, 10};
  auto const of = [&](transport& ranks, feature_table const& table) {
    auto const r = static_cast<std::size_t>(ranks.rank());
    return sharded_features(slice_rows(table, bounds[r], bounds[r + 1] - bounds[r]), bounds, ranks);
  };
  EXPECT_EQ(failure_of(2,
                       [&](transport& ranks) {
                         auto rows = of(ranks, whole);
                         std::vector<std::int64_t> const ids{0, ranks.rank() == 1 ? 10 : 3};
                         std::vector<std::byte> out(8);
                         rows.gather(ids, out);
                       }),
            "ids[1] is 10, expected 0 to 9");
  EXPECT_EQ(failure_of(2,
                       [&](transport& ranks) {
                         of(ranks, whole).keep(std::vector<std::int64_t>{3, -1});
                       }),
            "ids[1] is -1, expected 0 to 9");
  EXPECT_EQ(failure_of(2,
                       [&](transport& ranks) {
                         auto rows = of(ranks, whole);
                         std::vector<std::byte> out(7);
                         rows.gather(std::vector<std::int64_t>{1, 2}, out);
                       }),
            "out: 7 bytes, expected 2 rows of 4");
  EXPECT_EQ(failure_of(2, [&](transport& ranks) { sharded_features(slice_rows(whole, 0, 4), bounds, ranks); }),
            "features: 4 rows, expected one for each of this rank's ids: 6");
  EXPECT_EQ(failure_of(3, [&](transport& ranks) { sharded_features(slice_rows(whole, 0, 4), bounds, ranks); }),
            "bounds: 0 4 10, expected 4 ascending ones, from 0");
  // Rows without bytes, more than slots of GPUs can name: refused before any GPU is asked for.
  std::int64_t const many = std::int64_t{1} << 33U;
  feature_table const wide({}, {"float32", {many, 0}});
  EXPECT_EQ(failure_of(1,
                       [&](transport& ranks) {
                         sharded_features(wide, {0, many}, ranks, gpu_exec(0));
                       }),
            "features: 8589934592 rows, expected less than 2^32 - 1 on GPUs");
  feature_table const other(bytes, {"int32", {10, 1}});
  std::string const type = failure_of(2, [&](transport& ranks) { (void)of(ranks, ranks.rank() == 1 ? other : whole); });
  EXPECT_NE(type.find("rank 1 of 2 has features of type int32, shape 10x1"), std::string::npos) << type;
  EXPECT_EQ(failure_of(1, [&](transport&) { (void)slice_rows(whole, 8, 3); }),
            "rows 8 to 10, expected a range of the table's 10 rows");
  EXPECT_EQ(failure_of(1, [&](transport&) { (void)rows_of_part(whole, part_of(make_karate(), {}, 0)); }),
            "features: 10 rows, expected one a vertex: 34");
}

}  // namespace
}  // namespace tendril::test
