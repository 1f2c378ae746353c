// Walks are drawn from the distributions that they document: short ones against brute force, long ones against the
// stationary distribution, at degrees from 1 to 2^22.

#include <cmath>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include <tendril/walk.hpp>

#include "cpu/walks/exact_walks.hpp"
#include "support/hub.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

using enum sampling_rule;

constexpr std::int64_t many_walks = 80'000;

void expect_exact(graph const& g, walk_params const& params, vertex_id start, double effect = 0.05)
{
  EXPECT_TRUE(fits(count_walks(g, params, start, many_walks), exact_walks(g, params).from(start), effect))
      << "rule " << to_string(params.rule) << (params.weighted ? ", weighted" : "");
}

/// Eight vertices, directed: triangles, edges without a way back, parallel edges, a self loop, a dead end (7), weights
/// of 0 and from 0.5 to 4.
graph make_walk_web()
{
  return make_graph(
      8, {{0, 1, 1, 0}, {0, 2, 2, 1}, {0, 3, 0.5, 0}, {0, 3, 1, 1}, {1, 0, 1, 0},   {1, 2, 3, 1}, {1, 4, 1, 0},
          {1, 5, 0, 1}, {2, 0, 4, 0}, {2, 1, 1, 1},   {2, 3, 2, 0}, {2, 5, 1, 1},   {3, 3, 1, 0}, {3, 0, 2, 1},
          {3, 6, 1, 0}, {4, 1, 2, 1}, {4, 7, 1, 0},   {5, 2, 1, 0}, {5, 6, 0.5, 1}, {6, 0, 1, 0}, {6, 5, 1, 1}},
      {}, {0, 1, 0, 1, 0, 1, 0, 1});
}

/// Weights of `degree` edges: some 0, the others across three orders of magnitude.
std::vector<float> varied_weights(std::size_t degree)
{
  std::mt19937_64 random(degree);
  std::vector<float> weights(degree);
  for (auto& w : weights) {
    w = random() % 7 == 0 ? 0.0F : static_cast<float>(std::pow(10.0, static_cast<double>(random() % 300) / 100));
  }
  weights[0] = 2;
  return weights;
}

class StepByDegree : public ::testing::TestWithParam<std::size_t> {};

TEST_P(StepByDegree, UniformAndWeightedByEveryRule)
{
  graph const g = make_star(varied_weights(GetParam()));
  std::int64_t const n = GetParam() > 100 ? 400'000 : many_walks;
  double const effect = GetParam() > 100 ? 0.05 : 0.04;
  for (auto params : {walk_params{.rule = uniform}, walk_params{.rule = scan},
                      walk_params{.weighted = true, .rule = scan}, walk_params{.weighted = true, .rule = reject},
                      walk_params{.weighted = true, .rule = alias}, walk_params{.weighted = true, .rule = its}}) {
    params.length = 1;
    params.seed = 1;
    bool const costly = params.rule == scan && GetParam() > 100;  // a scan reads all: fewer walks
    EXPECT_TRUE(
        fits(count_walks(g, params, 0, costly ? 40'000 : n), exact_walks(g, params).from(0), costly ? 0.2 : effect))
        << "rule " << to_string(params.rule) << (params.weighted ? ", weighted" : "");
  }
}

INSTANTIATE_TEST_SUITE_P(Degrees, StepByDegree, ::testing::Values(1, 2, 3, 10, 1000));

TEST(WalkDistribution, WeightsAcrossTwelveOrders)
{
  // Most edges weigh a trillionth of the heaviest two. Rejection takes 420 trials on average and may make 1,024: one
  // step in eleven is left to the race.
  std::vector<float> weights(1000, 1e-6F);
  weights[17] = 1e6F;
  weights[500] = 1e6F;
  for (std::size_t i = 0; i < weights.size(); i += 50) { weights[i] = i == 500 ? 1e6F : 2e4F; }
  graph const g = make_star(weights);
  for (auto const rule : {scan, reject, alias, its}) {
    walk_params const params{.length = 1, .weighted = true, .rule = rule};
    EXPECT_TRUE(fits(count_walks(g, params, 0, 20'000), exact_walks(g, params).from(0), 0.1)) << to_string(rule);
  }
}

TEST(WalkDistribution, UniformAndWeightedWalks)
{
  graph const g = make_walk_web();
  for (vertex_id start = 0; start < 8; ++start) {
    expect_exact(g, {.length = 2}, start);
    for (auto const rule : {scan, reject, alias, its}) {
      expect_exact(g, {.length = 2, .weighted = true, .rule = rule}, start);
    }
  }
}

struct bias {
  double p, q;
};

class Node2vec : public ::testing::TestWithParam<bias> {};

TEST_P(Node2vec, TwoStepsAndThree)
{
  graph const g = make_walk_web();
  struct origin {
    vertex_id start;
    std::int64_t length;
  };
  for (auto const [start, length] : {origin{0, 3}, origin{3, 3}, origin{1, 2}, origin{5, 2}}) {
    SCOPED_TRACE(start);
    walk_params params{.length = length, .p = GetParam().p, .q = GetParam().q, .second_order = true};
    for (auto const rule : {automatic, reject, scan}) {
      params.rule = rule;
      expect_exact(g, params, start, 0.08);
    }
    params.weighted = true;
    for (auto const rule : {automatic, reject, scan, alias}) {
      params.rule = rule;
      expect_exact(g, params, start, 0.08);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Biases, Node2vec,
                         ::testing::Values(bias{1, 1}, bias{0.25, 4}, bias{4, 0.25}, bias{0.5, 0.5}, bias{2, 3},
                                           bias{1000, 0.001}));

TEST(WalkDistribution, Node2vecWithoutItsBiasWouldBeNoticed)
{
  graph const g = make_walk_web();
  walk_params const biased{.length = 2, .p = 1.2, .q = 1};
  walk_params const plain{.length = 2, .second_order = true};
  EXPECT_FALSE(fits(count_walks(g, plain, 0, many_walks), exact_walks(g, biased).from(0)));
}

TEST(WalkDistribution, MetapathsOfEdgeLabels)
{
  graph const g = make_walk_web();
  for (vertex_id const start : {0U, 1U, 3U, 7U}) {
    walk_params params{.length = 3, .metapath = {0, 1}};
    for (auto const rule : {uniform, scan}) {
      params.rule = rule;
      expect_exact(g, params, start);
    }
    params.weighted = true;
    for (auto const rule : {automatic, scan, reject, alias, its}) {
      params.rule = rule;
      expect_exact(g, params, start);
    }
  }
}

TEST(WalkDistribution, MetapathsOfVertexTypes)
{
  graph const g = make_walk_web();
  for (vertex_id const start : {0U, 2U, 1U}) {  // 1 has the wrong type: its walks end at once
    walk_params params{.length = 3, .metapath = {0, 0, 1}, .metapath_of = metapath_kind::vertex_types};
    for (auto const rule : {uniform, scan}) {
      params.rule = rule;
      expect_exact(g, params, start);
    }
    params.weighted = true;
    for (auto const rule : {automatic, scan, reject, alias, its}) {
      params.rule = rule;
      expect_exact(g, params, start);
    }
  }
}

TEST(WalkDistribution, StopsAndRestarts)
{
  graph const g = make_walk_web();
  expect_exact(g, {.length = 2, .stop_prob = 0.3}, 1);
  expect_exact(g, {.length = 3, .restart_prob = 0.4}, 2, 0.08);
  expect_exact(g, {.length = 2, .weighted = true, .stop_prob = 0.2, .restart_prob = 0.25}, 1);
  expect_exact(g, {.length = 3, .stop_prob = 0.1, .restart_prob = 0.3, .p = 0.5, .q = 3}, 0, 0.1);
  // A restart forgets the vertex before: seen at the fourth step, when that was not the start.
  expect_exact(g, {.length = 4, .restart_prob = 0.3, .p = 0.25, .q = 8}, 0, 0.15);
  expect_exact(g, {.length = 2, .stop_prob = 0.2, .metapath = {1, 0}}, 5);
}

TEST(WalkDistribution, LengthsOfPersonalisedPageRankAreGeometric)
{
  graph const ring = make_graph(3, {{0, 1}, {1, 2}, {2, 0}});
  constexpr std::int64_t length = 30;
  for (double const stop : {0.01, 0.15, 0.5}) {
    std::vector<vertex_id> const starts(many_walks, 0);
    walks const out = random_walk(ring, starts, {.length = length, .stop_prob = stop});
    std::vector<std::int64_t> counts(length + 1);
    for (auto const steps : out.lengths) { ++counts[static_cast<std::size_t>(steps)]; }
    std::vector<double> exact(length + 1);
    for (std::int64_t t = 0; t < length; ++t) {
      exact[static_cast<std::size_t>(t)] = std::pow(1 - stop, static_cast<double>(t)) * stop;
    }
    exact[length] = std::pow(1 - stop, static_cast<double>(length));
    expect_distribution(counts, exact, 0.05);
  }
}

TEST(WalkDistribution, LongWalksVisitInProportionToDegree)
{
  // Undirected, connected, with triangles: after 60 steps the start is forgotten.
  std::mt19937_64 random(3);
  std::vector<test_edge> edges;
  auto const join = [&](vertex_id u, vertex_id v) {
    edges.push_back({u, v});
    edges.push_back({v, u});
  };
  for (vertex_id v = 1; v < 40; ++v) {
    join(v, 0);
    join(v, static_cast<vertex_id>(1 + random() % 39));
    if (v % 3 == 0) { join(v, static_cast<vertex_id>(1 + random() % 5)); }
  }
  graph const g = make_graph(40, edges);
  std::vector<double> degrees;
  for (vertex_id v = 0; v < 40; ++v) { degrees.push_back(g.csr().degree(v)); }
  std::vector<vertex_id> const starts(many_walks, 7);
  walks const out = random_walk(g, starts, {.length = 60});
  std::vector<std::int64_t> counts(40);
  for (std::int64_t i = 0; i < out.num_walks; ++i) { ++counts[out.vertices[i * 61 + 60]]; }
  expect_distribution(counts, degrees, 0.05);
}

class WalkHub : public hub_test {
 protected:
  static std::vector<std::uint32_t> step(walk_params params, std::int64_t num_walks)
  {
    params.length = 1;
    std::vector<vertex_id> const starts(static_cast<std::size_t>(num_walks), 0);
    walker const walk(*hub, params, std::int64_t{1} << 40U);
    walks const out = walk.run(starts, 0);
    std::vector<std::uint32_t> edges;
    for (std::int64_t i = 0; i < num_walks; ++i) { edges.push_back(out.vertices[2 * i + 1] - 1); }
    return edges;
  }
};

TEST_F(WalkHub, Uniform) { expect_drawn(step({}, 300'000), false, 0.03); }
TEST_F(WalkHub, ByRejection) { expect_drawn(step({.weighted = true, .rule = reject}, 200'000), true, 0.04); }
TEST_F(WalkHub, ByAliasTable) { expect_drawn(step({.weighted = true, .rule = alias}, 200'000), true, 0.04); }
TEST_F(WalkHub, ByPrefixSums) { expect_drawn(step({.weighted = true, .rule = its}, 200'000), true, 0.04); }

// One scan of the hub takes millions of exponentials, too many for a sample. Its winners are compared with exact
// arithmetic instead (walk_equivalence_test), and one race with thousands of winners is a sample too (khop_test).

TEST_F(WalkHub, DrawsOfSixteenBitsWouldBeNoticed)
{
  std::vector<std::int64_t> in_range(parts);
  for (auto const i : step({}, 100'000)) { ++in_range[(i & 0xffffU) / (degree / parts)]; }
  EXPECT_FALSE(drawn_from(in_range, std::vector<double>(parts, 1.0), 0.06));
}

}  // namespace
}  // namespace tendril::test
