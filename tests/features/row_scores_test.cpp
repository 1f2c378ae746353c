// Scores that a graph alone gives: how often each vertex is a neighbour, PageRank, and the best of them.

#include <tendril/feature_cache.hpp>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/generate.hpp>

#include "support/list_graph.hpp"
#include "support/messages.hpp"

namespace tendril::test {
namespace {

graph made_graph(int scale)
{
  rmat_params params;
  params.scale = scale;
  params.edge_factor = 8;
  return generate_rmat(params, {});
}

/// PageRank by the definition, in doubles.
std::vector<double> plain_pageranks(graph const& g, int iterations)
{
  auto const view = g.view();
  auto const size = static_cast<std::size_t>(g.num_vertices());
  std::vector<double> ranks(size, 1.0 / static_cast<double>(size));
  for (int i = 0; i < iterations; ++i) {
    std::vector<double> next(size, 0.15 / static_cast<double>(size));
    for (std::int64_t v = 0; v < g.num_vertices(); ++v) {
      for (std::uint32_t e = 0; e < view.degree(v); ++e) {
        next[view.neighbor(v, e)] += 0.85 * ranks[static_cast<std::size_t>(v)] / view.degree(v);
      }
    }
    ranks = std::move(next);
  }
  return ranks;
}

TEST(RowScores, NeighborsAreCounted)
{
  hetero_graph const graph(from_lists({{1, 2}, {1}, {}, {1}, {}}));
  EXPECT_EQ(neighbor_counts(graph), (std::vector<std::vector<double>>{{0, 3, 1, 0, 0}}));
}

TEST(RowScores, NeighborsOfAllEdgeTypesAreCountedInTheirType)
{
  graph const a = from_lists({{2}, {2}, {}}), b = from_lists({{1}, {}, {0}});
  hetero_graph const graph({2, 3}, {{0, 1, a}, {1, 0, b}, {1, 1, b}});
  EXPECT_EQ(neighbor_counts(graph), (std::vector<std::vector<double>>{{1, 1}, {1, 1, 2}}));
}

TEST(RowScores, PageRankIsTheDefinitions)
{
  graph const made = made_graph(9);
  auto const expected = plain_pageranks(made, 20);
  auto const found = pageranks(hetero_graph(made), 20).front();
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t v = 0; v < found.size(); ++v) { EXPECT_NEAR(found[v], expected[v], 1e-9) << v; }
}

TEST(RowScores, PageRankDoesNotDependOnThreads)
{
  hetero_graph const graph(made_graph(12));
  EXPECT_EQ(pageranks(graph, 5, cpu_exec{1}), pageranks(graph, 5, cpu_exec{4}));
}

TEST(RowScores, TheBestRowsAreThoseOfTheGreatestScores)
{
  std::vector<double> const scores{0, 2, 7, 2, -1, 7};
  EXPECT_EQ(best_rows(scores, 6), (std::vector<vertex_id>{2, 5, 1, 3, 0, 4}));
  EXPECT_EQ(best_rows(scores, 3), (std::vector<vertex_id>{2, 5, 1}));
  EXPECT_TRUE(best_rows(scores, 0).empty());
  EXPECT_EQ(message_of<argument_error>([&] { (void)best_rows(scores, 7); }), "the best 7 of 6 rows, expected 0 to 6");
  std::vector<double> const wrong{0, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(message_of<argument_error>([&] { (void)best_rows(wrong, 1); }), "scores[1] is NaN, expected a number");
}

}  // namespace
}  // namespace tendril::test
