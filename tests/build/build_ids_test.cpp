// id_map finds the ids in use and ranks them, by each of its three ways: one bitmap, a bitmap moved over the id space
// in windows, and a sort.

#include "build/ids.hpp"

#include <set>

#include "build/build_verifier.hpp"

namespace tendril {
namespace {

void expect_map(std::int64_t num_ids, std::int64_t num_edges, std::int64_t window_bytes, bool drop_loops)
{
  SCOPED_TRACE(testing::Message() << num_ids << " ids, " << num_edges << " edges, window " << window_bytes);
  test::lehmer next(static_cast<std::uint64_t>(num_ids + num_edges));
  test::edge_list edges;
  std::set<vertex_id> expected;
  for (std::int64_t k = 0; k < num_edges; ++k) {
    // Half of the ids crowd at the low end; one in four edges is a loop.
    auto const bound = static_cast<std::uint64_t>(next(2) ? num_ids : std::min<std::int64_t>(num_ids, 100));
    auto const u = static_cast<vertex_id>(next(bound));
    auto const v = next(4) == 0 ? u : static_cast<vertex_id>(next(bound));
    edges.sources.push_back(u);
    edges.targets.push_back(v);
    if (u != v || !drop_loops) { expected.insert({u, v}); }
  }
  build_options options;
  options.drop_self_loops = drop_loops;
  build::coo_edges const pairs{edges.sources, edges.targets};
  auto const map = build::id_map::of(pairs, options, num_ids, window_bytes, {});
  ASSERT_EQ(map.size(), static_cast<std::int64_t>(expected.size()));
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), map.ids().begin()));
  std::int64_t wrong = 0, rank = 0;
  for (auto const id : expected) { wrong += map.rank(id) != rank++; }
  EXPECT_EQ(wrong, 0);
}

TEST(build_ids, ranks_by_one_bitmap)
{
  for (std::int64_t const n : {1, 2, 63, 64, 65, 1000, 100'000}) { expect_map(n, 500, 1 << 20, n % 2 == 0); }
}

TEST(build_ids, ranks_by_windows)
{
  for (std::int64_t const n : {65, 127, 1000, 100'000}) { expect_map(n, 500, 8, n % 2 == 0); }
  expect_map(1'000'003, 50'000, 1000, true);
}

TEST(build_ids, ranks_by_a_sort)
{
  expect_map(4'000'000'000, 500, 8, true);
  expect_map(1'000'003, 200, 8, false);
}

TEST(build_ids, of_loops_that_go)
{
  build::coo_edges const none{};
  EXPECT_EQ(build::id_map::of(none, {}, 0, 8, {}).size(), 0);
  EXPECT_EQ(build::id_map::of(none, {}, 1'000'000, 8, {}).size(), 0);
}

}  // namespace
}  // namespace tendril
