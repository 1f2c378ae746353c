// Where a graph is cut: even sizes by range, the smallest largest part by degree.

#include <tendril/partition.hpp>

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "dist/partition_bounds.hpp"
#include "dist/partition_support.hpp"

namespace tendril::test {
namespace {

/// The least work of the largest part over all bounds, by dynamic programming.
std::int64_t least_largest_part(std::vector<std::int64_t> const& work, std::int64_t num_parts)
{
  std::size_t const n = work.size();
  std::vector<std::int64_t> best(n + 1, std::numeric_limits<std::int64_t>::max());
  best[0] = 0;
  for (std::int64_t p = 0; p < num_parts; ++p) {
    std::vector<std::int64_t> next = best;
    for (std::size_t end = 1; end <= n; ++end) {
      std::int64_t last = 0;
      for (std::size_t begin = end; begin-- > 0;) {
        last += work[begin];
        if (best[begin] == std::numeric_limits<std::int64_t>::max()) { continue; }
        next[end] = std::min(next[end], std::max(best[begin], last));
      }
    }
    best = next;
  }
  return best[n];
}

std::int64_t largest_part(std::vector<std::int64_t> const& work, std::vector<std::int64_t> const& bounds)
{
  std::int64_t most = 0;
  for (std::size_t p = 0; p + 1 < bounds.size(); ++p) {
    std::int64_t sum = 0;
    for (std::int64_t v = bounds[p]; v < bounds[p + 1]; ++v) { sum += work[static_cast<std::size_t>(v)]; }
    most = std::max(most, sum);
  }
  return most;
}

TEST(bounds, by_range_differ_by_at_most_one)
{
  for (std::int64_t const vertices : {0, 1, 5, 64, 1000}) {
    for (std::int64_t const n : part_counts) {
      auto const bounds = part_of(make_graph(vertices, {}), {n, partition_method::range}, 0).info.bounds;
      ASSERT_EQ(std::ssize(bounds), n + 1);
      EXPECT_EQ(bounds.front(), 0);
      EXPECT_EQ(bounds.back(), vertices);
      std::vector<std::int64_t> sizes;
      for (std::size_t p = 0; p + 1 < bounds.size(); ++p) { sizes.push_back(bounds[p + 1] - bounds[p]); }
      auto const [least, most] = std::ranges::minmax(sizes);
      EXPECT_GE(least, 0);
      EXPECT_LE(most - least, 1) << vertices << " in " << n;
    }
  }
}

TEST(bounds, of_huge_numbers_do_not_overflow)
{
  constexpr std::int64_t most = std::int64_t{1} << 62U;
  EXPECT_EQ(dist::even_bound(most, max_num_parts, max_num_parts), most);
  EXPECT_EQ(dist::even_bound(most - 1, max_num_parts, max_num_parts - 1), most - most / max_num_parts - 1);
  auto const bounds = dist::even_work_bounds(4, 2, [](std::int64_t v) { return v * (most / 4); });
  EXPECT_EQ(bounds, (std::vector<std::int64_t>{0, 2, 4}));
}

TEST(bounds, by_degree_have_the_smallest_largest_part)
{
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    graph const g = random_graph(seed);
    std::vector<std::int64_t> work;
    for (std::int64_t v = 0; v < g.num_vertices(); ++v) { work.push_back(1 + g.view().degree(v)); }
    for (std::int64_t const n : {1, 2, 3, 7, 16}) {
      auto const bounds = part_of(g, {n, partition_method::degree}, 0).info.bounds;
      ASSERT_EQ(std::ssize(bounds), n + 1);
      EXPECT_EQ(bounds.front(), 0);
      EXPECT_EQ(bounds.back(), g.num_vertices());
      EXPECT_TRUE(std::ranges::is_sorted(bounds));
      EXPECT_EQ(largest_part(work, bounds), least_largest_part(work, n)) << "seed " << seed << ", " << n << " parts";
    }
  }
}

TEST(bounds, by_degree_are_even_where_vertices_are)
{
  graph const g = make_graph(1000, {});
  EXPECT_EQ(part_of(g, {4}, 0).info.bounds, (std::vector<std::int64_t>{0, 250, 500, 750, 1000}));
  // The hub is as large as ten others, and the parts beside it share what is left.
  EXPECT_EQ(part_of(make_star(std::vector<float>(9, 1.0F)), {2}, 0).info.bounds, (std::vector<std::int64_t>{0, 1, 10}));
}

TEST(bounds, tell_the_part_of_each_vertex)
{
  for (graph const& g : graphs_to_cut()) {
    for (std::int64_t const n : part_counts) {
      partition_info const info = part_of(g, {n}, 0).info;
      for (std::int64_t p = 0; p < n; ++p) {
        for (std::int64_t v = info.bounds[static_cast<std::size_t>(p)];
             v < info.bounds[static_cast<std::size_t>(p) + 1]; ++v) {
          EXPECT_EQ(info.part_of(v), p) << v << " in " << n;
        }
      }
    }
  }
}

TEST(bounds, of_too_many_or_no_parts_are_refused)
{
  for (std::int64_t const n : {std::int64_t{0}, std::int64_t{-1}, max_num_parts + 1}) {
    scratch_folder const folder;
    EXPECT_EQ(message_of<argument_error>([&] { partition_graph(make_karate(), folder / "cut", {n}); }),
              fmt::format("num_parts: {}, expected a number from 1 to 1024", n));
    EXPECT_FALSE(std::filesystem::exists(folder / "cut"));
  }
  EXPECT_EQ(part_of(make_karate(), {max_num_parts}, max_num_parts - 1).num_vertices(), 0);
  EXPECT_EQ(message_of<argument_error>([] { (void)part_of(make_karate(), {3}, 3); }),
            "part 3: expected one from 0 to 2");
  EXPECT_EQ(message_of<argument_error>([] { (void)part_of(make_karate(), {3}, -1); }),
            "part -1: expected one from 0 to 2");
}

}  // namespace
}  // namespace tendril::test
