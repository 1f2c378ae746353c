// Induced subgraphs hold every edge between their vertices and nothing else, in the order of a CSR, whatever the shape of
// the graph, the order of the vertices and the number of threads. Bad input gives one clear line.

#include <numeric>

#include <gtest/gtest.h>

#include <tendril/generate.hpp>
#include <tendril/subgraph.hpp>

#include "cpu/subgraphs/subgraph_verifier.hpp"
#include "support/messages.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

subgraphs induced(graph const& g, vertex_sets const& sets, int threads = 0)
{
  return induced_subgraphs(g, sets.nodes, sets.offsets, cpu_exec{.num_threads = threads});
}

void check(graph const& g, vertex_sets const& sets)
{
  subgraphs const out = induced(g, sets);
  ASSERT_TRUE(std::equal(out.nodes.begin(), out.nodes.end(), sets.nodes.begin(), sets.nodes.end()));
  ASSERT_TRUE(std::equal(out.node_offsets.begin(), out.node_offsets.end(), sets.offsets.begin(), sets.offsets.end()));
  verify_subgraphs(g, out);
}

TEST(Subgraph, EverySizeOnTheZoo)
{
  for (std::uint64_t const seed : {1U, 2U}) {
    graph const g = make_zoo(seed);
    for (std::int64_t const size : {0, 1, 2, 3, 10, 31, 32, 33, 63, 64}) {
      check(g, random_sets(g, 20, size, seed + static_cast<std::uint64_t>(size)));
    }
  }
}

TEST(Subgraph, ListsThatAreReadAndListsThatAreSearched)
{
  // Degrees from 1 to thousands: small sets search the long lists, large ones read them.
  graph const g = generate_rmat({.scale = 12, .edge_factor = 16, .seed = 3}, {.symmetrize = true}, {});
  for (std::int64_t const size : {2, 5, 40, 300, 2000}) { check(g, random_sets(g, 8, size, 7)); }
}

TEST(Subgraph, TheWholeGraphIsItself)
{
  graph const g = generate_rmat({.scale = 10, .edge_factor = 8, .seed = 4}, {}, {});
  std::vector<vertex_id> all(static_cast<std::size_t>(g.num_vertices()));
  std::iota(all.begin(), all.end(), 0U);
  vertex_sets sets;
  sets.add(all);
  subgraphs const out = induced(g, sets);
  ASSERT_EQ(out.edges.size(), g.num_edges());
  for (edge_id e = 0; e < g.num_edges(); ++e) {
    ASSERT_EQ(out.edges[e], e);
    ASSERT_EQ(out.col[e], g.csr().indices[e]);
  }
}

TEST(Subgraph, ParallelEdgesAndSelfLoopsAreKept)
{
  std::vector<test_edge> edges = {{0, 0}, {0, 0}, {0, 2}, {1, 2}, {2, 0}, {2, 0}, {2, 0}, {2, 1}};
  // A list so long that it is searched, with a run of parallel edges in its middle.
  for (vertex_id v = 4; v < 500; ++v) {
    for (int k = 0; k < (v == 250 ? 77 : 1); ++k) { edges.push_back({3, v}); }
  }
  graph const g = make_graph(500, edges);
  vertex_sets sets;
  sets.add({2, 0});
  sets.add({3, 250, 4});
  sets.add({499, 3});
  check(g, sets);
  subgraphs const out = induced(g, sets);
  EXPECT_EQ(out.edge_offsets[1], 6);   // three of 2 -> 0, two loops and 0 -> 2
  EXPECT_EQ(out.edge_offsets[2], 84);  // 77 + 1
  EXPECT_EQ(out.edge_offsets[3], 85);
}

TEST(Subgraph, AHubOfManyNeighbours)
{
  graph const g = make_star(std::vector<float>(200'000, 1));
  vertex_sets sets;
  sets.add({0, 1, 100'000, 200'000});
  std::vector<vertex_id> large(50'000);
  for (std::size_t i = 0; i < large.size(); ++i) { large[i] = static_cast<vertex_id>(3 * i); }
  sets.add(large);
  sets.add({77});
  check(g, sets);
}

TEST(Subgraph, ThreadsDontChangeIt)
{
  graph const g = generate_rmat({.scale = 11, .edge_factor = 8, .seed = 5}, {.symmetrize = true}, {});
  vertex_sets const sets = random_sets(g, 100, 50, 9);
  EXPECT_TRUE(same_subgraphs(induced(g, sets, 1), induced(g, sets, 2)));
  EXPECT_TRUE(same_subgraphs(induced(g, sets, 1), induced(g, sets, 7)));
}

TEST(Subgraph, AVerifierThatSleepsWouldBeNoticed)
{
  graph const g = make_zoo(3);
  subgraphs out = induced(g, random_sets(g, 1, 30, 1));
  ASSERT_GT(out.edges.size(), 2);
  subgraphs const expected = induced(g, random_sets(g, 1, 30, 1));
  std::swap(out.edges[0], out.edges[1]);
  EXPECT_FALSE(same_subgraphs(out, expected));
}

TEST(Subgraph, NothingGivesNothing)
{
  for (graph const& g : {graph(), make_graph(5, {})}) {
    subgraphs const none = induced_subgraphs(g, {}, std::vector<std::int64_t>{0});
    EXPECT_EQ(none.num_samples, 0);
    EXPECT_EQ(none.edge_offsets.size(), 1);
    subgraphs const empty = induced_subgraphs(g, {}, std::vector<std::int64_t>{0, 0, 0});
    EXPECT_EQ(empty.num_samples, 2);
    verify_subgraphs(g, empty);
  }
}

std::string error(std::vector<vertex_id> const& nodes, std::vector<std::int64_t> const& offsets)
{
  graph const g = make_graph(4, {{0, 1}, {1, 2}, {2, 0}});
  return message_of<argument_error>([&] { (void)induced_subgraphs(g, nodes, offsets); });
}

TEST(Subgraph, NamesWhatIsWrong)
{
  EXPECT_EQ(error({0}, {}), "node_offsets: empty, expected one element more than there are samples");
  EXPECT_EQ(error({0}, {1}), "node_offsets: the first is 1, expected 0");
  EXPECT_EQ(error({0}, {0}), "node_offsets: the last is 0, expected the number of nodes, 1");
  EXPECT_EQ(error({0, 1}, {0, 2, 1, 2}), "node_offsets: 1 after 2 at sample 1, expected ascending numbers up to 2");
  EXPECT_EQ(error({0, 1}, {0, 3}), "node_offsets: 3 after 0 at sample 0, expected ascending numbers up to 2");
  EXPECT_EQ(error({0, 4}, {0, 2}), "node 1: vertex 4 is out of range, the graph has 4 vertices");
  EXPECT_EQ(error({0, no_vertex}, {0, 2}), "node 1: vertex 4294967295 is out of range, the graph has 4 vertices");
  EXPECT_EQ(error({0, 1, 3, 2, 3, 2}, {0, 2, 6}),
            "sample 1: vertex 2 occurs more than once, expected distinct vertices");
  EXPECT_EQ(error({1, 1, 2, 2}, {0, 2, 4}), "sample 0: vertex 1 occurs more than once, expected distinct vertices");
}

}  // namespace
}  // namespace tendril::test
