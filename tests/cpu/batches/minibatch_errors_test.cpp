// Bad input to samplers of mini-batches gives one clear line.

#include <gtest/gtest.h>

#include <tendril/error.hpp>

#include "support/messages.hpp"
#include "support/small_hetero.hpp"

namespace tendril::test {
namespace {

std::string refusal(hetero_graph const& graph, minibatch_params const& params)
{
  return message_of<argument_error>([&] { minibatch_sampler(graph, params); });
}

TEST(MinibatchErrors, ParametersThatDontFitTheGraph)
{
  hetero_graph const hetero = make_hetero_zoo(1, false);
  hetero_graph const timed = make_timed_zoo(1);
  EXPECT_EQ(refusal(hetero, {.num_neighbors_of_type = {{1}, {1}}}),
            "num_neighbors_of_type: 2 lists, expected one an edge type: 5");
  EXPECT_EQ(refusal(hetero, {.num_neighbors_of_type = {{1, 2}, {1, 2}, {1}, {1, 2}, {1, 2}}}),
            "num_neighbors_of_type: 1 hops of edge type 2, but 2 of edge type 0, expected as many");
  EXPECT_EQ(refusal(hetero, {.num_neighbors_of_type = {{1}, {1}, {-2}, {1}, {1}}}),
            "num_neighbors_of_type: -2 at hop 1 of edge type 2, expected 0 to 2147483647, or -1 for all neighbours");
  EXPECT_EQ(refusal(hetero, {.num_neighbors_of_type = {{}, {}, {}, {}, {}}}),
            "num_neighbors_of_type: none given of edge type 0, expected one a hop");
  EXPECT_EQ(refusal(hetero, {.num_neighbors = std::vector<std::int64_t>(65536, 0)}),
            "num_neighbors: 65536 hops, expected at most 65535");
  EXPECT_EQ(refusal(hetero, {.subgraph = subgraph_type::bidirectional}),
            "subgraph: bidirectional, but there are 5 edge types, expected one");
  EXPECT_EQ(refusal({{3, 5}, {{0, 1, make_graph(5, {}), {}}}}, {.subgraph = subgraph_type::bidirectional}),
            "subgraph: bidirectional, but edges lead from vertex type 0 to 1, expected one vertex type");
  EXPECT_EQ(refusal(timed, {.weighted = true, .disjoint = true}),
            "weighted: the graph has times, expected a uniform choice or edges without times");
  EXPECT_EQ(refusal(timed, {}),
            "disjoint: false, but the graph has times, which are compared with those of one seed; expected true");
  graph const plain = make_graph(3, {{0, 1}}, {.weights = false});
  EXPECT_EQ(refusal({{3}, {{0, 0, make_graph(3, {{0, 1}}), {}}, {0, 0, plain, {}}}}, {.weighted = true}),
            "weighted: edge type 1 has no weights, expected one an edge");
  minibatch_sampler const fits(hetero, {.weighted = true});  // its edge type without weights has no edges
  EXPECT_TRUE(fits.params().weighted);
}

TEST(MinibatchErrors, NeighboursThatAreNoVerticesOfTheirType)
{
  hetero_graph const bad({5, 2}, {{0, 1, make_graph(5, {{0, 1}, {3, 4}}), {}}});
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(message_of<format_error>([&] { minibatch_sampler(bad, {}); }),
              "edge type 0: vertex 3: neighbour 4 at edge 1, expected an id below 2");
  }
  hetero_graph const good({5, 2}, {{0, 1, make_graph(5, {{0, 1}, {3, 0}}), {}}});
  EXPECT_NO_THROW(minibatch_sampler(good, {}));
}

TEST(MinibatchErrors, SeedsThatDontFitTheGraph)
{
  minibatch_sampler sampler(make_hetero_zoo(1, true), {.num_neighbors = {2}, .disjoint = true});
  auto const refusal_of = [&](seed_lists const& seeds, bool timed) {
    return message_of<argument_error>([&] { (void)sampler.sample(seeds.spans(timed)); });
  };
  EXPECT_EQ(refusal_of({{{1}, {2}}, {}}, false), "seeds: 2 lists, expected one a vertex type: 3");
  EXPECT_EQ(refusal_of({{{1}, {2}, {0, 8}}, {}}, false),
            "seed 1 of type 2: vertex 8 is out of range, the graph has 8 vertices of that type");
  EXPECT_EQ(refusal_of({{{1}, {2}, {}}, {{1}, {2}}}, true), "times: 2 lists, expected one a vertex type: 3");
  EXPECT_EQ(refusal_of({{{1}, {2}, {}}, {{1}, {2, 3}, {}}}, true), "times: 2 of type 1, expected one a seed: 1");
  std::vector<vertex_id> const seeds = {1, 2, 64};
  std::vector<std::int64_t> const times = {1, 2};
  auto const bulk_refusal = [&](std::int32_t type, std::int64_t size, std::span<std::int64_t const> of_seeds) {
    return message_of<argument_error>([&] { (void)sampler.sample_batches(type, seeds, size, {}, of_seeds); });
  };
  EXPECT_EQ(bulk_refusal(3, 1, {}), "vertex_type: 3, expected one below 3");
  EXPECT_EQ(bulk_refusal(-1, 1, {}), "vertex_type: -1, expected one below 3");
  EXPECT_EQ(bulk_refusal(0, 0, {}), "batch_size: 0, expected 1 to 4294967294");
  EXPECT_EQ(bulk_refusal(0, 1, times), "times: 2 of type 0, expected one a seed: 3");
  EXPECT_EQ(bulk_refusal(0, 1, {}),
            "seed 2 of type 0: vertex 64 is out of range, the graph has 64 vertices of that type");
}

TEST(MinibatchErrors, TimesWhereNoEdgeHasOne)
{
  minibatch_sampler sampler(hetero_graph(make_zoo(1)), {.num_neighbors = {2}, .disjoint = true});
  seed_lists const seeds = {{{1}}, {{3}}};
  EXPECT_EQ(message_of<argument_error>([&] { (void)sampler.sample(seeds.spans(true)); }),
            "times: given for seeds, but no edge of the graph has a time");
  EXPECT_EQ(
      message_of<argument_error>([&] { (void)sampler.sample_batches(0, seeds.vertices[0], 1, {}, seeds.times[0]); }),
      "times: given for seeds, but no edge of the graph has a time");
  minibatch_sampler edgeless(hetero_graph(make_graph(3, {})), {.num_neighbors = {2}, .disjoint = true});
  EXPECT_EQ(edgeless.sample(seeds.spans(true)).vertices[0].node.size(), 1);
}

}  // namespace
}  // namespace tendril::test
