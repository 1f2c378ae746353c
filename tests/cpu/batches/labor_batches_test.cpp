// Mini-batches by LABOR: how often an edge is taken, that neighbours are shared, that estimates are unbiased, and what
// dependent layers and batches share. What each batch holds: minibatch_replay_test.cpp.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>

#include "support/messages.hpp"
#include "support/sanitized.hpp"
#include "support/small_hetero.hpp"

namespace tendril::test {
namespace {

constexpr std::int64_t degree = 40;
constexpr std::int64_t fanout = 10;
constexpr double share = static_cast<double>(fanout) / degree;

/// Which edges of the hub of a star each of `count` batches takes, from batch 0 on.
std::vector<std::vector<bool>> taken_by_batches(minibatch_params params, std::uint64_t count)
{
  params.num_neighbors = {fanout};
  params.choice = neighbor_choice::labor;
  minibatch_sampler sampler(hetero_graph(make_star(std::vector<float>(degree, 1))), params);
  std::vector<vertex_id> const seeds(count, 0);
  std::vector<std::vector<bool>> out;
  for (minibatch const& batch : sampler.sample_batches(0, seeds, 1)) {
    out.emplace_back(degree);
    for (edge_id const e : batch.edges[0].edge) { out.back()[static_cast<std::size_t>(e)] = true; }
  }
  return out;
}

/// The share of pairs (batch, edge) whose edge is taken by that batch and the one `lag` later.
double taken_twice(std::vector<std::vector<bool>> const& batches, std::size_t lag)
{
  double both = 0;
  for (std::size_t b = 0; b + lag < batches.size(); ++b) {
    for (std::size_t e = 0; e < batches[b].size(); ++e) { both += batches[b][e] && batches[b + lag][e] ? 1 : 0; }
  }
  return both / (static_cast<double>(batches.size() - lag) * degree);
}

TEST(LaborBatches, AnEdgeIsTakenWithItsProbability)
{
  if (is_sanitized) { GTEST_SKIP() << statistics_only; }
  constexpr double n = 20'000;
  for (std::int64_t const dependency : {1, 16}) {
    auto const batches = taken_by_batches({.batch_dependency = dependency, .seed = 4}, static_cast<std::uint64_t>(n));
    // Batches of one period say the same, so that there are that many fewer.
    double const deviation = std::sqrt(share * (1 - share) * static_cast<double>(dependency) / n);
    for (std::size_t e = 0; e < degree; ++e) {
      double const often = std::accumulate(batches.begin(), batches.end(), 0.0,
                                           [&](double sum, auto const& batch) { return sum + (batch[e] ? 1 : 0); });
      EXPECT_NEAR(often / n, share, 5 * deviation) << "edge " << e << ", dependency " << dependency;
    }
    EXPECT_LT(5 * deviation, share / 3) << "a bias of a third would go unnoticed";
  }
}

TEST(LaborBatches, DependentBatchesKeepTheirNumbers)
{
  if (is_sanitized) { GTEST_SKIP() << statistics_only; }
  constexpr double n = 20'000;
  for (std::int64_t const dependency : {1, 4, 50}) {
    auto const batches = taken_by_batches({.batch_dependency = dependency, .seed = 5}, static_cast<std::uint64_t>(n));
    for (std::size_t const lag : {1U, 2U, 49U, 50U, 60U}) {
      double const kept = std::max(0.0, 1 - static_cast<double>(lag) / static_cast<double>(dependency));
      double const expected = kept * share + (1 - kept) * share * share;
      double const deviation = std::sqrt(share * (1 - share) * static_cast<double>(dependency) / (n * degree));
      EXPECT_NEAR(taken_twice(batches, lag), expected, 5 * deviation) << "dependency " << dependency << ", lag " << lag;
    }
  }
}

/// Vertices change at different batches: no batch begins anew.
TEST(LaborBatches, DependentBatchesChangeLittleByLittle)
{
  constexpr std::int64_t dependency = 8;
  auto const batches = taken_by_batches({.batch_dependency = dependency, .seed = 6}, 4000);
  for (std::size_t first = 0; first < dependency; ++first) {
    double both = 0, pairs = 0;
    for (std::size_t b = first; b + 1 < batches.size(); b += dependency, ++pairs) {
      for (std::size_t e = 0; e < degree; ++e) { both += batches[b][e] && batches[b + 1][e] ? 1 : 0; }
    }
    // Each of the 40 neighbours renews after one of eight batches, always the same one.
    double const most = share * degree * pairs;
    EXPECT_GT(both, 0.5 * most) << first;
    EXPECT_LT(both, 1.1 * most) << first;
  }
}

TEST(LaborBatches, LayerDependentHopsTakeTheSameEdges)
{
  hetero_graph const graph(make_zoo(3));
  std::vector<vertex_id> const seeds = {5, 0, 61, 2, 1, 33};
  for (bool const dependent : {false, true}) {
    minibatch_sampler sampler(graph, {.num_neighbors = {3, 3},
                                      .frontier = batch_frontier::all,
                                      .choice = neighbor_choice::labor,
                                      .layer_dependency = dependent});
    auto const batch = sampler.sample({{seeds}});
    auto const& edges = batch.edges[0];
    std::int64_t const first = edges.num_sampled[0];
    std::int64_t const expanded = edges.num_expanded[0];
    std::int64_t const again = edges.indptr[2 * expanded] - edges.indptr[expanded];
    bool const same =
        again == first && std::equal(edges.edge.begin(), edges.edge.begin() + first, edges.edge.begin() + first);
    EXPECT_EQ(same, dependent);
  }
}

/// The vertices of different types that bear the same number have numbers of their own; edge types that lead to one type
/// share them.
TEST(LaborBatches, NumbersBelongToVertices)
{
  std::vector<test_edge> edges;
  for (vertex_id u = 0; u < 200; ++u) { edges.push_back({0, u}); }
  graph const g = make_graph(200, edges);
  hetero_graph const graph({200, 200}, {{0, 0, g, {}}, {0, 0, g, {}}, {0, 1, g, {}}});
  minibatch_sampler sampler(graph, {.num_neighbors = {50}, .choice = neighbor_choice::labor});
  std::vector<vertex_id> const seeds = {0};
  auto const batch = sampler.sample({{seeds, {}}});
  auto const taken = [&](std::size_t t) {
    return std::vector<edge_id>(batch.edges[t].edge.begin(), batch.edges[t].edge.end());
  };
  EXPECT_EQ(taken(0), taken(1));
  EXPECT_NE(taken(0), taken(2));
}

TEST(LaborBatches, ReachFewerVerticesThanIndependentChoices)
{
  hetero_graph const graph(generate_rmat({.scale = 14, .edge_factor = 32, .seed = 2}, {.symmetrize = true}));
  std::vector<vertex_id> seeds(1000);
  for (std::size_t i = 0; i < seeds.size(); ++i) { seeds[i] = static_cast<vertex_id>(16 * i + 3); }
  std::vector<std::int64_t> vertices;
  std::vector<std::int64_t> edges;
  for (auto const choice : {neighbor_choice::independent, neighbor_choice::labor}) {
    minibatch_sampler sampler(graph, {.num_neighbors = {10}, .choice = choice});
    auto const batch = sampler.sample({{seeds}});
    vertices.push_back(batch.vertices[0].node.size());
    edges.push_back(batch.edges[0].edge.size());
  }
  EXPECT_NEAR(static_cast<double>(edges[1]), static_cast<double>(edges[0]), 0.1 * static_cast<double>(edges[0]));
  EXPECT_LT(static_cast<double>(vertices[1]), 0.9 * static_cast<double>(vertices[0]));
}

TEST(LaborBatches, PlainWeightsAreUnbiased)
{
  // The sum of the neighbours' numbers, by edges not later than 5 of a timed graph.
  std::vector<test_edge> edges;
  std::vector<std::int64_t> times;
  for (vertex_id u = 0; u < 60; ++u) {
    edges.push_back({0, u});
    times.push_back(u % 10);
  }
  graph const g = make_graph(60, edges);
  minibatch_sampler sampler(
      hetero_graph(g, order_by_time(g, times)),
      {.num_neighbors = {7}, .disjoint = true, .choice = neighbor_choice::labor, .normalize = false, .seed = 1});
  constexpr std::size_t n = 20'000;
  std::vector<vertex_id> const seeds(n, 0);
  std::vector<std::int64_t> const until(n, 5);
  double expected = 0;
  for (vertex_id u = 0; u < 60; ++u) { expected += u % 10 <= 5 ? u : 0; }
  double sum = 0, squares = 0, unweighted = 0;
  for (minibatch const& batch : sampler.sample_batches(0, seeds, 1, {}, until)) {
    double estimate = 0;
    for (std::int64_t k = 0; k < batch.edges[0].col.size(); ++k) {
      double const x = batch.vertices[0].node[batch.edges[0].col[k]];
      ASSERT_LE(static_cast<std::int64_t>(x) % 10, 5);
      estimate += static_cast<double>(batch.edges[0].weights[k]) * x;
      unweighted += 36.0 / 8 * x;
    }
    sum += estimate;
    squares += (estimate - expected) * (estimate - expected);
  }
  double const deviation = std::sqrt(squares) / n;
  EXPECT_LT(deviation, expected / 100);
  EXPECT_LE(std::abs(sum / n - expected), 5 * deviation);
  EXPECT_GT(std::abs(unweighted / n - expected), 5 * deviation);
}

TEST(LaborBatches, OnlySampledEdgesHaveWeights)
{
  hetero_graph const graph(make_zoo(1));
  std::vector<vertex_id> const seeds = {0, 5};
  auto const weights = [&](minibatch_params params) {
    params.num_neighbors = {3, 2};
    auto const batch = minibatch_sampler(graph, params).sample({{seeds}});
    return batch.edges[0].weights.size() == batch.edges[0].edge.size();
  };
  EXPECT_TRUE(weights({.choice = neighbor_choice::labor}));
  EXPECT_FALSE(weights({}));
  EXPECT_FALSE(weights({.subgraph = subgraph_type::induced, .choice = neighbor_choice::labor}));
  EXPECT_FALSE(weights({.subgraph = subgraph_type::bidirectional, .choice = neighbor_choice::labor}));
}

TEST(LaborBatches, ErrorsNameTheArgumentItsValueAndWhatWasExpected)
{
  hetero_graph const graph(make_zoo(1));
  auto const refusal = [&](minibatch_params const& params) {
    return message_of<argument_error>([&] { minibatch_sampler(graph, params); });
  };
  constexpr auto labor = neighbor_choice::labor;
  EXPECT_EQ(refusal({.replace = true, .choice = labor}),
            "replace: true, but choice labor takes each edge at most once, expected false");
  EXPECT_EQ(refusal({.weighted = true, .choice = labor}),
            "weighted: true, but choice labor takes a vertex's edges with one probability, expected false");
  EXPECT_EQ(refusal({.temporal = temporal_strategy::last, .choice = labor}),
            "temporal: last, but choice labor takes random edges, expected uniform");
  EXPECT_EQ(refusal({.layer_dependency = true}), "layer_dependency: true, expected false, or choice labor");
  EXPECT_EQ(refusal({.batch_dependency = 2}), "batch_dependency: 2, expected 1, or choice labor");
  for (std::int64_t const dependency : {std::int64_t{0}, std::int64_t{-3}, std::int64_t{1} << 32U}) {
    EXPECT_EQ(refusal({.choice = labor, .batch_dependency = dependency}),
              "batch_dependency: " + std::to_string(dependency) + ", expected 1 to 4294967295 batches");
  }
}

}  // namespace
}  // namespace tendril::test
