// With metis the graph is renumbered, so that clusters are consecutive, and cut at their bounds.

#include <tendril/partition.hpp>

#include <gtest/gtest.h>

#include <tendril/renumber.hpp>

#include "dist/partition_cut.hpp"
#include "dist/partition_support.hpp"

namespace tendril::test {
namespace {

TEST(partition_metis, cuts_at_the_bounds_of_clusters)
{
  graph const g = make_full_graph();
  dist::cut_graph const cut = dist::cut_by_clusters(g, to_array<vertex_id>({2, 0, 2, 1}).span(), 5, {});
  EXPECT_EQ(cut.info.bounds, (std::vector<std::int64_t>{0, 1, 2, 4, 4, 4}));
  std::vector<vertex_id> const order{1, 3, 0, 2};
  expect_same_arrays(cut.whole, renumber(g, order));
  EXPECT_EQ(to_vector(cut.whole.arrays().original_ids), (std::vector<vertex_id>{20, 4'000'000'000U, 10, 30}));
}

TEST(partition_metis, gives_the_renumbered_graph_back)
{
  if (!has_metis()) { GTEST_SKIP() << "no libmetis.so.5"; }
  graph const g = make_zoo(3);
  for (std::int64_t const n : part_counts) {
    scratch_folder const folder;
    partition_info const info = partition_graph(g, folder / "cut", {n, partition_method::metis});
    graph const whole = read_parts_as_graph(folder / "cut");
    std::vector<vertex_id> const order = to_vector(whole.arrays().original_ids);
    expect_same_arrays(whole, renumber(g, order));
    EXPECT_EQ(info.digest, part_of(whole, {1}, 0).info.digest);
    for (std::int64_t p = 0; p < n; ++p) {
      auto const bound = [&](std::int64_t i) { return order.begin() + info.bounds[static_cast<std::size_t>(i)]; };
      EXPECT_TRUE(std::is_sorted(bound(p), bound(p + 1)));
    }
  }
}

TEST(partition_metis, cuts_fewer_edges_than_ranges)
{
  if (!has_metis()) { GTEST_SKIP() << "no libmetis.so.5"; }
  std::vector<test_edge> edges;  // two rings whose vertices alternate
  for (vertex_id v = 0; v < 100; ++v) { edges.push_back({v, (v + 2) % 100}); }
  graph const g = make_graph(100, edges);
  auto const crossing = [&](partition_method method) {
    auto const info = part_of(g, {2, method}, 0).info;
    return info.crossing_edges[0] + info.crossing_edges[1];
  };
  EXPECT_EQ(crossing(partition_method::range), 4);
  EXPECT_EQ(crossing(partition_method::metis), 0);
}

TEST(partition_metis, cuts_a_graph_without_vertices)
{
  scratch_folder const folder;
  partition_graph(make_graph(0, {}), folder / "cut", {3, partition_method::metis});
  EXPECT_EQ(read_part(folder / "cut", 2).num_vertices(), 0);
}

}  // namespace
}  // namespace tendril::test
