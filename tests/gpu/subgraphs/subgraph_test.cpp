// Induced subgraphs of the GPU are the CPU's, to the byte, for samples of every size, lists of every length, and vertices
// in any order. Bad input gives the CPU's lines, and the GPU can be used afterwards.

#include <numeric>

#include <gtest/gtest.h>

#include <tendril/generate.hpp>

#include "gpu/subgraphs/subgraph_support.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_forms.hpp"
#include "support/messages.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

class SubgraphOnGpu : public gpu_test {
 protected:
  [[nodiscard]] subgraphs sampled(graph const& there, vertex_sets const& sets) const
  {
    auto const nodes = on_gpu(sets.nodes, exec);
    auto const offsets = on_gpu(sets.offsets, exec);
    return induced_subgraphs(there, nodes.span(), offsets.span(), exec);
  }

  void compare(graph const& g, vertex_sets const& sets) const
  {
    subgraphs const expected = induced_subgraphs(g, sets.nodes, sets.offsets);
    for (auto const& there : all_forms_on_gpu(g, exec)) { expect_same_subgraphs(sampled(there, sets), expected); }
  }

  [[nodiscard]] std::string error(std::vector<vertex_id> const& nodes, std::vector<std::int64_t> const& offsets) const
  {
    graph const g = make_graph(4, {{0, 1}, {1, 2}, {2, 0}});
    graph const there = to_gpu(g, exec);
    std::string const message = message_of<argument_error>([&] { (void)sampled(there, {nodes, offsets}); });
    compare(g, {{0, 2, 1}, {0, 2, 3}});
    return message;
  }
};

TEST_F(SubgraphOnGpu, SmallSamplesOnTheZoo)
{
  for (std::uint64_t const seed : {1U, 2U}) {
    graph const g = make_zoo(seed);
    for (std::int64_t const size : {1, 2, 3, 8, 16, 31, 32, 33, 48, 63, 64}) {
      SCOPED_TRACE(::testing::Message() << "samples of " << size);
      compare(g, random_sets(g, 300, size, seed + static_cast<std::uint64_t>(size)));
    }
  }
}

TEST_F(SubgraphOnGpu, SmallSamplesOnASkewedGraph)
{
  graph const g = generate_rmat({.scale = 14, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, {});
  for (std::int64_t const size : {2, 7, 30, 64}) { compare(g, random_sets(g, 500, size, 3)); }
  // The hubs, close together: nearly every list is long, and most hold every vertex.
  vertex_sets hubs;
  for (vertex_id first = 0; first < 512; first += 16) {
    std::vector<vertex_id> set(64);
    std::iota(set.rbegin(), set.rend(), first);
    hubs.add(set);
  }
  compare(g, hubs);
}

TEST_F(SubgraphOnGpu, SamplesOfMixedSizes)
{
  graph const g = generate_rmat({.scale = 12, .edge_factor = 16, .seed = 5}, {.symmetrize = true}, {});
  vertex_sets small;
  vertex_sets mixed;
  std::mt19937_64 random(1);
  for (int s = 0; s < 400; ++s) {
    auto const of = [&](std::uint64_t most) {
      return random_sets(g, 1, static_cast<std::int64_t>(random() % most), random()).nodes;
    };
    small.add(of(65));
    mixed.add(of(s % 20 == 7 ? 3000 : 130));
  }
  compare(g, small);
  compare(g, mixed);
}

TEST_F(SubgraphOnGpu, LargeSamples)
{
  graph const g = generate_rmat({.scale = 17, .edge_factor = 12, .seed = 6}, {.symmetrize = true}, {});
  compare(g, random_sets(g, 1, 100'000, 1));
  compare(g, random_sets(g, 3, 20'000, 2));
  compare(g, random_sets(g, 100, 65, 3));
  compare(g, random_sets(g, 2000, 111, 4));
  std::vector<vertex_id> all(static_cast<std::size_t>(g.num_vertices()));
  std::iota(all.begin(), all.end(), 0U);
  vertex_sets whole;
  whole.add(all);
  compare(g, whole);
}

TEST_F(SubgraphOnGpu, AHubOfAMillionNeighbours)
{
  graph const g = make_star(std::vector<float>(1'000'003, 1));
  vertex_sets sets;
  for (vertex_id k = 0; k < 40; ++k) { sets.add({k, 1000 * (k + 1), 999'999, k == 0 ? 500'000U : 0U}); }
  compare(g, sets);
  std::vector<vertex_id> large;
  for (vertex_id v = 0; v < 900'000; v += 3) { large.push_back(v); }
  sets.add(large);
  sets.add({0, 5});
  compare(g, sets);
}

TEST_F(SubgraphOnGpu, ParallelEdgesAndSelfLoops)
{
  std::vector<test_edge> edges;
  for (vertex_id v = 0; v < 900; ++v) {
    for (vertex_id k = 0; k < (v == 5 ? 700U : v % 9); ++k) {
      edges.push_back({v, v});
      edges.push_back({v, (v * 7) % 900});
    }
    for (vertex_id to = 0; v % 100 == 0 && to < 900; ++to) { edges.push_back({v, to}); }  // lists that are searched
    for (int k = 0; v % 100 == 0 && k < 5000; ++k) { edges.push_back({v, 450}); }
  }
  graph const g = make_graph(900, edges);
  for (std::int64_t const size : {2, 20, 60, 64, 200, 850}) { compare(g, random_sets(g, 60, size, 11)); }
  vertex_sets sets;
  sets.add({0, 450, 5});
  sets.add({450, 300});
  compare(g, sets);
}

TEST_F(SubgraphOnGpu, ManyEmptySamplesAndIsolatedVertices)
{
  graph const g = make_graph(100'000, {{7, 99'999}, {99'999, 7}, {50'000, 50'000}});
  vertex_sets sets;
  for (int s = 0; s < 5000; ++s) {
    if (s % 3 == 0) { sets.add({}); }
    sets.add({static_cast<vertex_id>(s + 100), 7, 99'999});
  }
  compare(g, sets);
  std::vector<vertex_id> all(100'000);
  std::iota(all.rbegin(), all.rend(), 0U);
  sets.add(all);
  sets.add({});
  compare(g, sets);
}

TEST_F(SubgraphOnGpu, NothingGivesNothing)
{
  for (graph const& g : {graph(), make_graph(5, {})}) {
    compare(g, {{}, {0}});
    compare(g, {{}, {0, 0, 0}});
  }
  compare(make_graph(200, {}), random_sets(make_graph(200, {}), 3, 100, 1));
}

TEST_F(SubgraphOnGpu, RefusesWhatTheCpuRefuses)
{
  EXPECT_EQ(error({0}, {}), "node_offsets: empty, expected one element more than there are samples");
  EXPECT_EQ(error({0}, {1}), "node_offsets: the first is 1, expected 0");
  EXPECT_EQ(error({0}, {0}), "node_offsets: the last is 0, expected the number of nodes, 1");
  EXPECT_EQ(error({0, 1}, {0, 2, 1, 2}), "node_offsets: 1 after 2 at sample 1, expected ascending numbers up to 2");
  EXPECT_EQ(error({0, 1}, {0, 3}), "node_offsets: 3 after 0 at sample 0, expected ascending numbers up to 2");
  EXPECT_EQ(error({0, 4}, {0, 2}), "node 1: vertex 4 is out of range, the graph has 4 vertices");
  EXPECT_EQ(error({0, 1, 3, 2, 3, 2}, {0, 2, 6}),
            "sample 1: vertex 2 occurs more than once, expected distinct vertices");
}

TEST_F(SubgraphOnGpu, NamesEqualVerticesOfALargeSample)
{
  graph const g = make_zoo(1);
  vertex_sets sets = random_sets(g, 3, 64, 1);
  std::vector<vertex_id> twice(sets.nodes.begin(), sets.nodes.begin() + 64);
  twice.push_back(41);
  sets.add(twice);
  EXPECT_EQ(message_of<argument_error>([&] { (void)sampled(to_gpu(g, exec), sets); }),
            "sample 3: vertex 41 occurs more than once, expected distinct vertices");
}

TEST_F(SubgraphOnGpu, NamesAGraphThatIsElsewhere)
{
  EXPECT_EQ(message_of<argument_error>([&] { (void)induced_subgraphs(graph(), {}, {}, exec); }),
            "graph: it is in host memory, expected one on GPU 0 (to_gpu)");
}

}  // namespace
}  // namespace tendril::test
