// LABOR-0: what a batch holds, by a serial verifier that draws each vertex's number itself; how many neighbours a vertex
// gets; that vertices share theirs; that estimates are unbiased; and one clear line for bad input.

#include <cmath>
#include <map>
#include <numeric>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/labor.hpp>

#include "core/random.hpp"
#include "support/messages.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

/// 1. Seeds come first, each once; then vertices by first appearance. 2. A hop asks for all vertices so far, in order, and
/// holds the edges with r_u < fanout / degree, r_u / 2^64 being the block (u, hop, 0) of the batch's key. 3. Weights.
void verify(graph const& graph, std::vector<vertex_id> const& seeds, labor_params const& params, labor_batch const& out)
{
  csr_arrays const g = graph.csr();
  rng_key const key = core::make_key(params.seed, core::domain::labor, params.batch);
  std::vector<vertex_id> node;
  std::map<vertex_id, std::int64_t> numbers;
  auto const number = [&](vertex_id v) {
    auto const [at, is_new] = numbers.try_emplace(v, static_cast<std::int64_t>(node.size()));
    if (is_new) { node.push_back(v); }
    return at->second;
  };
  for (auto const v : seeds) { (void)number(v); }
  ASSERT_EQ(out.hops.size(), params.fanouts.size());
  ASSERT_EQ(out.num_sampled_nodes.size(), params.fanouts.size() + 1);
  ASSERT_EQ(out.num_sampled_nodes[0], static_cast<std::int64_t>(node.size()));
  for (std::size_t h = 0; h < out.hops.size(); ++h) {
    auto const& hop = out.hops[h];
    std::size_t const asking = node.size();
    std::int64_t k = 0;
    for (std::size_t i = 0; i < asking; ++i) {
      double const degree = g.degree(node[i]);
      double const share = params.fanouts[h] < 0 ? 1 : std::min(1.0, static_cast<double>(params.fanouts[h]) / degree);
      std::int64_t const first = k;
      vertex_id const v = node[i];
      for (edge_id e = g.first_edge(v); e < g.first_edge(v) + g.degree(v); ++e) {
        vertex_id const u = g.indices[e];
        auto const bits = core::draw_block(key, u, static_cast<std::uint32_t>(h), 0).low();
        if (std::ldexp(static_cast<double>(bits), -64) >= share && share < 1) { continue; }
        ASSERT_LT(k, hop.row.size());
        ASSERT_EQ(hop.row[k], static_cast<std::int64_t>(i));
        ASSERT_EQ(hop.edge[k], e);
        ASSERT_EQ(hop.col[k], number(u));
        ++k;
      }
      for (std::int64_t j = first; j < k; ++j) {
        double const weight = params.normalize ? 1.0 / static_cast<double>(k - first) : 1 / share;
        ASSERT_NEAR(hop.weights[j], weight, 1e-6 * weight);
      }
    }
    ASSERT_EQ(hop.row.size(), k);
    ASSERT_EQ(hop.col.size(), k);
    ASSERT_EQ(hop.edge.size(), k);
    ASSERT_EQ(hop.weights.size(), k);
    ASSERT_EQ(out.num_sampled_nodes[h + 1], static_cast<std::int64_t>(node.size() - asking));
  }
  ASSERT_EQ(std::vector<vertex_id>(out.node.begin(), out.node.end()), node);
}

TEST(Labor, BatchesKeepEveryPromise)
{
  for (graph const& g : {make_zoo(1), generate_rmat({.scale = 11, .edge_factor = 16}, {.symmetrize = true})}) {
    for (auto const& fanouts : std::vector<std::vector<std::int64_t>>{{1}, {3, 2}, {10, 10, 10}, {-1}, {2, -1, 5}}) {
      for (bool const normalize : {true, false}) {
        labor_params const params{.fanouts = fanouts, .normalize = normalize, .seed = 2, .batch = 1ULL << 33};
        std::vector<vertex_id> const seeds = {5, 63, 5, 0, 2, 55, 7};
        verify(g, seeds, params, labor_sample(g, seeds, params));
        verify(g, {}, params, labor_sample(g, {}, params));
      }
    }
  }
}

TEST(Labor, AnyNumberOfThreadsGivesTheSame)
{
  graph const g = generate_rmat({.scale = 12, .edge_factor = 16}, {.symmetrize = true});
  std::vector<vertex_id> seeds(300);
  std::iota(seeds.begin(), seeds.end(), 0U);
  auto const one = labor_sample(g, seeds, {}, {.num_threads = 1});
  auto const many = labor_sample(g, seeds, {}, {.num_threads = 4});
  ASSERT_EQ(one.num_sampled_nodes, many.num_sampled_nodes);
  EXPECT_TRUE(std::equal(one.node.begin(), one.node.end(), many.node.begin()));
  for (std::size_t h = 0; h < 3; ++h) {
    ASSERT_EQ(one.hops[h].edge.size(), many.hops[h].edge.size());
    EXPECT_TRUE(std::equal(one.hops[h].edge.begin(), one.hops[h].edge.end(), many.hops[h].edge.begin()));
  }
}

TEST(Labor, AVertexGetsItsFanoutInExpectation)
{
  graph const g = make_star(std::vector<float>(1000, 1));
  double const n = 4000;
  for (std::int64_t const fanout : {1, 10, 300}) {
    double sum = 0;
    for (std::uint64_t batch = 0; batch < 4000; ++batch) {
      sum += static_cast<double>(
          labor_sample(g, std::vector<vertex_id>{0}, {.fanouts = {fanout}, .batch = batch}).hops[0].edge.size());
    }
    auto const k = static_cast<double>(fanout);
    double const deviation = std::sqrt(k * (1 - k / 1000) / n);  // a binomial count's, of the mean
    EXPECT_NEAR(sum / n, k, 5 * deviation);
    EXPECT_GT(std::abs(sum / n - 1.2 * k), 5 * deviation);  // a bias of 20 % would be noticed
  }
  EXPECT_EQ(labor_sample(g, std::vector<vertex_id>{0}, {.fanouts = {1000}}).hops[0].edge.size(), 1000);
}

TEST(Labor, VerticesWithTheSameNeighboursTakeTheSame)
{
  // 100 vertices that all lead to the same 1,000.
  std::vector<test_edge> edges;
  for (vertex_id v = 0; v < 100; ++v) {
    for (vertex_id u = 100; u < 1100; ++u) { edges.push_back({v, u}); }
  }
  graph const g = make_graph(1100, edges);
  std::vector<vertex_id> seeds(100);
  std::iota(seeds.begin(), seeds.end(), 0U);
  auto const out = labor_sample(g, seeds, {.fanouts = {10}});
  // One set of about 10; choices of their own would reach 1000 (1 - (1 - 1/100)^100) = 634.
  EXPECT_EQ(out.hops[0].edge.size(), 100 * out.num_sampled_nodes[1]);
  EXPECT_NEAR(static_cast<double>(out.num_sampled_nodes[1]), 10, 5 * std::sqrt(1000 * .01 * .99));
  EXPECT_GT(out.num_sampled_nodes[1], 0);
}

TEST(Labor, EstimatesAreUnbiased)
{
  graph const g = make_star(std::vector<float>(50, 1));
  double sum = 0, squares = 0, wrong = 0;
  constexpr int n = 20'000;
  constexpr double expected = 50 * 51 / 2;
  for (std::uint64_t batch = 0; batch < n; ++batch) {
    auto const out =
        labor_sample(g, std::vector<vertex_id>{0}, {.fanouts = {7}, .normalize = false, .seed = 1, .batch = batch});
    double estimate = 0;
    for (std::int64_t k = 0; k < out.hops[0].col.size(); ++k) {
      double const x = out.node[out.hops[0].col[k]];
      estimate += static_cast<double>(out.hops[0].weights[k]) * x;
      wrong += 50.0 / 8 * x;
    }
    sum += estimate;
    squares += (estimate - expected) * (estimate - expected);
  }
  double const deviation = std::sqrt(squares) / n;
  EXPECT_LT(deviation, expected / 100);
  EXPECT_LE(std::abs(sum / n - expected), 5 * deviation);
  EXPECT_GT(std::abs(wrong / n - expected), 5 * deviation);
}

TEST(Labor, BatchesSeedsAndHopsDiffer)
{
  graph const g = make_star(std::vector<float>(1000, 1));
  auto const edges = [&](labor_params const& params) {
    auto const out = labor_sample(g, std::vector<vertex_id>{0}, params);
    return std::vector<edge_id>(out.hops.back().edge.begin(), out.hops.back().edge.end());
  };
  auto const base = edges({.fanouts = {100}});
  EXPECT_NE(base, edges({.fanouts = {100}, .seed = 1}));
  EXPECT_NE(base, edges({.fanouts = {100}, .batch = 1}));
  EXPECT_NE(base, edges({.fanouts = {100, 100}}));
}

TEST(Labor, ErrorsNameTheArgumentItsValueAndWhatWasExpected)
{
  graph const g = make_graph(3, {{0, 1}});
  auto const error = [&](std::vector<vertex_id> const& seeds, labor_params const& params) {
    return message_of<argument_error>([&] { (void)labor_sample(g, seeds, params); });
  };
  EXPECT_EQ(error({0}, {.fanouts = {}}), "fanouts: none given, expected one a hop");
  EXPECT_EQ(error({0}, {.fanouts = {3, 0}}), "fanouts: 0 at hop 2, expected 1 or more, or -1 for all neighbours");
  EXPECT_EQ(error({0}, {.fanouts = {-2}}), "fanouts: -2 at hop 1, expected 1 or more, or -1 for all neighbours");
  EXPECT_EQ(error({0, 3}, {}), "seed 1: vertex 3 is out of range, the graph has 3 vertices");
}

}  // namespace
}  // namespace tendril::test
