// Which regions of the arrays of a CSR lie on a GPU: the parts of an array that its lists' reads make worth their bytes.

#include "place/csr_regions.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include <tendril/generate.hpp>

#include "support/list_graph.hpp"

namespace tendril {
namespace {

using place::edge_array;
using place::plan_regions;

constexpr std::int64_t region = edge_array::region_bytes;

/// 2,000 lists of 1,000 neighbours: 4 regions of neighbours, the last of 1.7 MB.
graph two_million()
{
  std::vector<vertex_id> list(1000);
  std::iota(list.begin(), list.end(), vertex_id{0});
  return test::from_lists(std::vector(2000, list));
}

TEST(CsrRegions, TheMostReadsPerByteComeFirst)
{
  graph const g = two_million();
  std::vector<edge_array> const arrays{{4 * g.num_edges(), 32, 1}, {g.num_edges(), 8, 0.1}};
  ASSERT_EQ(arrays[0].num_regions(), 4);
  ASSERT_EQ(arrays[1].num_regions(), 1);
  std::vector<float> reads(2000);
  for (std::size_t v = 600; v < 700; ++v) { reads[v] = 1; }  // edges 600,000 to 700,000: of region 1
  auto const one = plan_regions(g, reads, arrays, region);
  EXPECT_EQ(one.on_gpu, (std::vector<std::vector<char>>{{0, 1, 0, 0}, {0}}));
  EXPECT_EQ(one.gpu_bytes, region);
  for (std::size_t v = 1900; v < 2000; ++v) { reads[v] = 2; }  // of region 3, which is smaller
  auto const last = plan_regions(g, reads, arrays, region);
  EXPECT_EQ(last.on_gpu[0], (std::vector<char>{0, 0, 0, 1}));
  auto const all = plan_regions(g, reads, arrays, 5 * g.num_edges());
  EXPECT_EQ(all.on_gpu, (std::vector<std::vector<char>>{{1, 1, 1, 1}, {1}}));
  EXPECT_EQ(all.gpu_bytes, 5 * g.num_edges());
  EXPECT_EQ(plan_regions(g, reads, arrays, 1000).gpu_bytes, 0);
}

/// A list that lies in several regions is read in each of them.
TEST(CsrRegions, AHubsReadsSpreadOverItsRegions)
{
  graph const g = generate_regular(regular_graph::star, 2'000'000);
  std::vector<float> reads(static_cast<std::size_t>(g.num_vertices()));
  reads[0] = 1;
  std::vector<edge_array> const arrays{{4 * g.num_edges(), 32, 1}};
  auto const plan = plan_regions(g, reads, arrays, 3 * region);
  std::vector<char> expected(static_cast<std::size_t>(arrays[0].num_regions()));
  // The hub's 1,999,999 edges fill regions 0 to 2, and most of region 3.
  std::fill_n(expected.begin(), 3, char{1});
  EXPECT_EQ(plan.on_gpu[0], expected);
}

TEST(CsrRegions, EmptyGraphsHaveNone)
{
  std::vector<edge_array> const arrays{{0, 32, 1}};
  auto const plan = plan_regions(generate_regular(regular_graph::star, 1), std::vector<float>(1), arrays, region);
  EXPECT_EQ(plan.on_gpu, (std::vector<std::vector<char>>{{}}));
  EXPECT_EQ(plan.gpu_bytes, 0);
}

}  // namespace
}  // namespace tendril
