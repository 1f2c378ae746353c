// Bad input to the engine gives one clear line; odd but good input works.

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/minibatch.hpp>
#include <tendril/sample.hpp>
#include <tendril/walk.hpp>

#include "support/messages.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

std::vector<vertex_id> const start = {0};

/// Three vertices, labels 0 and 2, types 0 and 1.
graph full() { return make_graph(3, {{0, 1, 1, 0}, {1, 2, 1, 2}, {2, 0, 1, 0}}, {}, {0, 1, 0}); }
graph plain() { return make_graph(3, {{0, 1}, {1, 2}, {2, 0}}, {.weights = false, .labels = false}); }

std::string walk_error(graph const& g, walk_params const& params, std::vector<vertex_id> const& starts = start)
{
  std::string const message = message_of<argument_error>([&] { (void)random_walk(g, starts, params); });
  if (starts == start) {  // planning refuses what walking refuses
    EXPECT_EQ(message_of<argument_error>([&] { (void)plan_walk(g, params, 1); }), message);
  }
  return message;
}

std::string khop_error(graph const& g, khop_params const& params, std::vector<vertex_id> const& seeds = start)
{
  std::string const message = message_of<argument_error>([&] { (void)khop_sample(g, seeds, params); });
  if (seeds == start) {
    EXPECT_EQ(message_of<argument_error>([&] { (void)plan_khop(g, params, 1); }), message);
  }
  return message;
}

std::string minibatch_error(graph const& g, minibatch_params const& params, std::vector<vertex_id> const& seeds = start)
{
  return message_of<argument_error>([&] { (void)neighbor_sample(g, seeds, params); });
}

TEST(WalkErrors, StartOutOfRange)
{
  EXPECT_EQ(walk_error(full(), {}, {0, 2, 3, 9}), "start 2: vertex 3 is out of range, the graph has 3 vertices");
  EXPECT_EQ(walk_error(full(), {}, {no_vertex}),
            "start 0: vertex 4294967295 is out of range, the graph has 3 vertices");
  EXPECT_EQ(walk_error(graph(), {}, {0, 0}), "start 0: vertex 0 is out of range, the graph has 0 vertices");
}

TEST(WalkErrors, Length)
{
  EXPECT_EQ(walk_error(full(), {.length = 0}), "length: 0, expected 1 to 2147483646 steps");
  EXPECT_EQ(walk_error(full(), {.length = -5}), "length: -5, expected 1 to 2147483646 steps");
  EXPECT_EQ(walk_error(full(), {.length = std::int64_t{1} << 31U}),
            "length: 2147483648, expected 1 to 2147483646 steps");
  EXPECT_EQ(walk_error(full(), {.length = 0x7fffffff}), "length: 2147483647, expected 1 to 2147483646 steps");
  EXPECT_NO_THROW((void)plan_walk(full(), {.length = 0x7ffffffe}, 1));
}

TEST(WalkErrors, ReturnAndInOutParameters)
{
  EXPECT_EQ(walk_error(full(), {.p = 0}), "p: 0, expected a number from 1e-9 to 1e9");
  EXPECT_EQ(walk_error(full(), {.p = -0.5}), "p: -0.5, expected a number from 1e-9 to 1e9");
  EXPECT_EQ(walk_error(full(), {.q = 0}), "q: 0, expected a number from 1e-9 to 1e9");
  EXPECT_EQ(walk_error(full(), {.q = -3}), "q: -3, expected a number from 1e-9 to 1e9");
  double const nan = std::numeric_limits<double>::quiet_NaN();
  double const infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(walk_error(full(), {.p = nan}), "p: nan, expected a number from 1e-9 to 1e9");
  EXPECT_EQ(walk_error(full(), {.q = nan}), "q: nan, expected a number from 1e-9 to 1e9");
  EXPECT_EQ(walk_error(full(), {.q = infinity}), "q: inf, expected a number from 1e-9 to 1e9");
}

TEST(WalkErrors, Probabilities)
{
  EXPECT_EQ(walk_error(full(), {.stop_prob = 1.5}), "stop_prob: 1.5, expected a probability in [0, 1]");
  EXPECT_EQ(walk_error(full(), {.stop_prob = -0.1}), "stop_prob: -0.1, expected a probability in [0, 1]");
  EXPECT_EQ(walk_error(full(), {.stop_prob = std::nan("")}), "stop_prob: nan, expected a probability in [0, 1]");
  EXPECT_EQ(walk_error(full(), {.restart_prob = 2}), "restart_prob: 2, expected a probability in [0, 1]");
}

TEST(WalkErrors, Metapath)
{
  EXPECT_EQ(walk_error(full(), {.metapath = {0, 1}}), "metapath: no edge has label 1 (entry 1)");
  EXPECT_EQ(walk_error(full(), {.metapath = {65535}}), "metapath: no edge has label 65535 (entry 0)");
  EXPECT_EQ(walk_error(full(), {.metapath = {0, 2}, .metapath_of = metapath_kind::vertex_types}),
            "metapath: no vertex has type 2 (entry 1)");
  EXPECT_EQ(walk_error(plain(), {.metapath = {0}}), "metapath: the graph has no edge labels, expected one an edge");
  EXPECT_EQ(walk_error(plain(), {.metapath = {0}, .metapath_of = metapath_kind::vertex_types}),
            "metapath: the graph has no vertex types, expected one a vertex");
  EXPECT_EQ(walk_error(full(), {.p = 2, .metapath = {0}}),
            "metapath: can't be combined with p and q, expected one of the two");
}

TEST(WalkErrors, WeightsThatAreNotThere)
{
  EXPECT_EQ(walk_error(plain(), {.weighted = true}), "weighted: the graph has no weights, expected one an edge");
}

TEST(WalkErrors, RulesThatDontFit)
{
  using enum sampling_rule;
  EXPECT_EQ(walk_error(full(), {.rule = alias}),
            "rule alias: not for unweighted walks, expected auto, uniform or scan");
  EXPECT_EQ(message_of<argument_error>([] { (void)parse_name<sampling_rule>("rule", "alais"); }),
            "rule: 'alais', expected auto, uniform, scan, reject, alias or its");
  for (auto const rule : {automatic, uniform, scan, reject, alias, its}) {
    EXPECT_EQ(parse_name<sampling_rule>("rule", to_string(rule)), rule);
  }
}

TEST(WalkErrors, NegativeLogicalId)
{
  EXPECT_EQ(message_of<argument_error>([] { (void)random_walk(full(), start, {}, {}, -1); }),
            "first_walk: -1, expected 0 or more");
}

TEST(KhopErrors, Fanouts)
{
  EXPECT_EQ(khop_error(full(), {.fanouts = {}}), "fanouts: none given, expected one a hop");
  EXPECT_EQ(khop_error(full(), {.fanouts = {0}}), "fanouts: 0 at hop 1, expected 1 or more, or -1 for all neighbours");
  EXPECT_EQ(khop_error(full(), {.fanouts = {3, -2}}),
            "fanouts: -2 at hop 2, expected 1 or more, or -1 for all neighbours");
  EXPECT_EQ(khop_error(full(), {.fanouts = {65536, 65536}}), "fanouts: more than 2^31 slots a tree at hop 2");
  EXPECT_EQ(khop_error(full(), {.fanouts = {std::numeric_limits<std::int64_t>::max()}}),
            "fanouts: more than 2^31 slots a tree at hop 1");
}

TEST(KhopErrors, SeedsWeightsAndLogicalId)
{
  EXPECT_EQ(khop_error(full(), {}, {2, 3}), "seed 1: vertex 3 is out of range, the graph has 3 vertices");
  EXPECT_EQ(khop_error(plain(), {.weighted = true}), "weighted: the graph has no weights, expected one an edge");
  EXPECT_EQ(message_of<argument_error>([] { (void)khop_sample(full(), start, {}, {}, -1); }),
            "first_root: -1, expected 0 or more");
}

TEST(KhopErrors, MemoryThatNoMachineHas)
{
  std::vector<vertex_id> const seeds(1'000'000, 0);
  std::string const message =
      message_of<memory_error>([&] { (void)khop_sample(full(), seeds, {.fanouts = {std::int64_t{1} << 30U}}); });
  EXPECT_EQ(message.substr(0, message.find(" of memory")),
            "fanouts: 1073741824000000 slots in hops 1 to 1 (seeds in one call: 1000000): 3.8 PiB");
}

TEST(MinibatchErrors, FanoutsSeedsAndWeights)
{
  EXPECT_EQ(minibatch_error(full(), {.num_neighbors = {}}), "num_neighbors: none given, expected one a hop");
  EXPECT_EQ(minibatch_error(full(), {.num_neighbors = {5, -2}}),
            "num_neighbors: -2 at hop 2, expected 0 to 2147483647, or -1 for all neighbours");
  EXPECT_EQ(minibatch_error(full(), {.num_neighbors = {std::int64_t{1} << 31U}}),
            "num_neighbors: 2147483648 at hop 1, expected 0 to 2147483647, or -1 for all neighbours");
  EXPECT_EQ(minibatch_error(full(), {}, {0, 7}), "seed 1: vertex 7 is out of range, the graph has 3 vertices");
  EXPECT_EQ(minibatch_error(plain(), {.weighted = true}), "weighted: the graph has no weights, expected one an edge");
}

TEST(OddGraphs, WithoutVertices)
{
  graph const empty;
  EXPECT_EQ(random_walk(empty, {}, {.weighted = true}).num_walks, 0);
  EXPECT_EQ(random_walk(empty, {}, {.p = 2}).num_walks, 0);
  khop_trees const trees = khop_sample(empty, {}, {.fanouts = {2, -1}, .weighted = true}, {}, 0, true);
  ASSERT_EQ(trees.hops.size(), 2U);
  EXPECT_EQ(trees.hops[0].vertices.size(), 0);
  EXPECT_EQ(trees.hops[1].vertices.size(), 0);
  EXPECT_EQ(trees.hops[1].offsets.size(), 1);
  minibatch const batch = neighbor_sample(empty, {}, {.weighted = true});
  EXPECT_EQ(batch.vertices[0].node.size(), 0);
  EXPECT_EQ(batch.vertices[0].num_sampled, (std::vector<std::int64_t>{0, 0, 0, 0}));
}

TEST(OddGraphs, WithoutEdges)
{
  graph const edgeless = make_graph(4, {}, {.weights = false, .labels = false});
  std::vector<vertex_id> const starts = {3, 0};
  for (walk_params params : {walk_params{}, walk_params{.weighted = true}, walk_params{.p = 2, .q = 0.5},
                             walk_params{.weighted = true, .p = 2}, walk_params{.stop_prob = 0.5}}) {
    params.length = 2;
    walks const out = random_walk(edgeless, starts, params);
    EXPECT_EQ(std::vector(out.vertices.begin(), out.vertices.end()),
              (std::vector<vertex_id>{3, no_vertex, no_vertex, 0, no_vertex, no_vertex}));
    EXPECT_EQ(std::vector(out.lengths.begin(), out.lengths.end()), (std::vector<std::int32_t>{0, 0}));
  }
  for (bool const weighted : {false, true}) {
    for (bool const replace : {false, true}) {
      khop_trees const trees =
          khop_sample(edgeless, starts, {.fanouts = {2, -1}, .replace = replace, .weighted = weighted}, {}, 0, true);
      for (auto const v : trees.hops[0].vertices) { EXPECT_EQ(v, no_vertex); }
      for (auto const e : trees.hops[0].edges) { EXPECT_EQ(e, -1); }
      EXPECT_EQ(trees.hops[1].vertices.size(), 0);
      minibatch const batch =
          neighbor_sample(edgeless, starts, {.num_neighbors = {2, -1}, .replace = replace, .weighted = weighted});
      auto const& node = batch.vertices[0].node;
      EXPECT_EQ(std::vector(node.begin(), node.end()), starts);
      EXPECT_EQ(batch.edges[0].row.size(), 0);
    }
  }
}

TEST(OddGraphs, ARuleForWeightsNeedsNoneWithoutEdges)
{
  graph const edgeless = make_graph(4, {}, {.weights = false, .labels = false});
  using enum sampling_rule;
  for (auto const rule : {automatic, scan, reject, alias, its}) {
    EXPECT_EQ(random_walk(edgeless, start, {.weighted = true, .rule = rule}).lengths[0], 0);
  }
  EXPECT_EQ(khop_sample(edgeless, start, {.fanouts = {1}, .replace = true, .weighted = true, .rule = alias})
                .hops[0]
                .vertices[0],
            no_vertex);
}

}  // namespace
}  // namespace tendril::test
