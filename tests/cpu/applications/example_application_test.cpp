// The example of docs/applications.md: its first hop is uniform, a vertex of its second one the quietest of those
// drawn. Exact probabilities by going through every sequence of draws.

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/engine/applications/cpu.hpp>

#include "examples/quiet_hops.hpp"
#include "support/small_graphs.hpp"
#include "support/statistics.hpp"

namespace tendril::test {
namespace {

/// 0 leads to 1 alone, 1 to the vertices 2 to 7, and vertex v of those has degrees[v - 2] edges to vertex 8.
graph fan(std::vector<int> const& degrees)
{
  std::vector<test_edge> edges = {{0, 1}};
  for (std::size_t k = 0; k < degrees.size(); ++k) {
    auto const v = static_cast<vertex_id>(k + 2);
    edges.push_back({1, v});
    for (int i = 0; i < degrees[k]; ++i) { edges.push_back({v, 8}); }
  }
  return make_graph(9, edges, {false, false});
}

/// How often the second hop from vertex 1 takes each of its neighbours, out of all sequences of `tries` draws.
std::vector<double> exact(std::vector<int> const& degrees, int tries)
{
  std::size_t const d = degrees.size();
  std::vector<double> weights(d, 0);
  std::size_t sequences = 1;
  for (int i = 0; i < tries; ++i) { sequences *= d; }
  for (std::size_t s = 0; s < sequences; ++s) {
    std::size_t pick = s % d;
    std::size_t rest = s;
    for (int i = 1; i < tries; ++i) {
      rest /= d;
      if (degrees[rest % d] < degrees[pick]) { pick = rest % d; }
    }
    weights[pick] += 1;
  }
  return weights;
}

TEST(quiet_hops, draws_from_its_distribution)
{
  std::vector<int> const degrees = {5, 1, 3, 3, 0, 9};
  graph const g = fan(degrees);
  for (std::int32_t const tries : {1, 2, 4}) {
    quiet_hops const app{{1, 10}, tries};
    std::vector<vertex_id> const roots(20'000, 0);
    auto const samples = run_application(g, app, roots, 1, {.seed = 3});
    std::vector<std::int64_t> counts(degrees.size(), 0);
    for (vertex_id const v : samples.steps[1].vertices) { ++counts.at(v - 2); }
    EXPECT_TRUE(drawn_from(counts, exact(degrees, tries), 0.03)) << tries << " tries";
    EXPECT_FALSE(drawn_from(counts, exact(degrees, tries + 1), 0.03)) << "a bias goes unnoticed";
  }
}

TEST(quiet_hops, follows_edges)
{
  graph const g = fan({5, 1, 3, 3, 0, 9});
  std::vector<vertex_id> const roots = {0, 1, 6, 8};  // 6 and 8 have no edges
  auto const samples = run_application(g, quiet_hops{{4, 3}, 2}, roots, 1, {});
  for (std::int64_t i = 0; i < 4; ++i) {
    for (std::int64_t k = 0; k < 12; ++k) {
      vertex_id const transit = samples.steps[0].vertices[i * 4 + k / 3];
      vertex_id const v = samples.steps[1].vertices[i * 12 + k];
      bool const ends = transit == no_vertex || g.csr().degree(transit) == 0;
      EXPECT_TRUE(ends ? v == no_vertex : g.csr().has_edge(transit, v));
    }
  }
}

}  // namespace
}  // namespace tendril::test
