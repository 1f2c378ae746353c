// GraphSAINT's samplers draw vertices, edges and walks with the probabilities of the paper, worked out by brute force, and
// a biased sampler would be noticed. Samples are induced subgraphs of distinct vertices; coefficients are what they count.

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/saint.hpp>

#include "cpu/subgraphs/subgraph_verifier.hpp"
#include "support/messages.hpp"
#include "support/small_graphs.hpp"
#include "support/statistics.hpp"

namespace tendril::test {
namespace {

using enum saint_sampler;

using vertex_set = std::set<vertex_id>;
using set_probabilities = std::map<vertex_set, double>;

constexpr std::int64_t many = 80'000;

/// A symmetric graph of 7 vertices, the last one isolated: degrees 4, 2, 3, 2, 3, 2, 0, self loops at 4 and 5.
graph make_saint_web()
{
  std::vector<test_edge> edges = {{4, 4}, {5, 5}};
  std::vector<std::pair<vertex_id, vertex_id>> const pairs = {{0, 1}, {0, 2}, {0, 3}, {0, 5}, {1, 2}, {2, 4}, {3, 4}};
  for (auto const& [u, v] : pairs) {
    edges.push_back({u, v});
    edges.push_back({v, u});
  }
  return make_graph(7, edges);
}

vertex_set nodes_of(subgraphs const& samples, std::int64_t s)
{
  return {samples.nodes.data() + samples.node_offsets[s], samples.nodes.data() + samples.node_offsets[s + 1]};
}

/// Whether samples of one draw are sets of vertices with the probabilities given.
testing::AssertionResult draws_fit(graph const& g, saint_params params, set_probabilities const& expected)
{
  params.budget = 1;
  subgraphs const out = saint_sample(g, params, many);
  std::map<vertex_set, std::int64_t> counted;
  for (std::int64_t s = 0; s < many; ++s) { ++counted[nodes_of(out, s)]; }
  std::vector<std::int64_t> counts;
  std::vector<double> weights;
  for (auto const& [set, probability] : expected) {
    counts.push_back(counted[set]);
    weights.push_back(probability);
    counted.erase(set);
  }
  for (auto const& [set, count] : counted) {
    if (count > 0) { return testing::AssertionFailure() << "a set that is not expected came " << count << " times"; }
  }
  return drawn_from(counts, weights, 0.06);
}

/// From the definition: the sum over v of Q[v, u]^2.
set_probabilities node_probabilities(graph const& g, propagation matrix)
{
  csr_arrays const view = g.csr();
  set_probabilities out;
  for (vertex_id v = 0; v < view.num_vertices; ++v) {
    for (std::uint32_t i = 0; i < view.degree(v); ++i) {
      vertex_id const u = view.neighbor(v, i);
      double const product = static_cast<double>(view.degree(v)) * view.degree(u);
      double const entry = matrix == propagation::row         ? 1.0 / view.degree(v)
                           : matrix == propagation::symmetric ? (product > 0 ? 1.0 / std::sqrt(product) : 0.0)
                                                              : view.weight(v, i);
      out[{u}] += entry * entry;
    }
  }
  return out;
}

set_probabilities edge_probabilities(graph const& g)
{
  csr_arrays const view = g.csr();
  set_probabilities out;
  for (vertex_id u = 0; u < view.num_vertices; ++u) {
    for (std::uint32_t i = 0; i < view.degree(u); ++i) {
      vertex_id const v = view.neighbor(u, i);
      if (v > u) { out[{u, v}] += 1.0 / view.degree(u) + 1.0 / view.degree(v); }
      if (v == u) { out[{u}] += 1.0 / view.degree(u); }
    }
  }
  return out;
}

void follow(csr_arrays const& g, vertex_id v, std::int64_t steps, double probability, vertex_set set,
            set_probabilities& out)
{
  set.insert(v);
  if (steps == 0 || g.degree(v) == 0) {
    out[set] += probability;
    return;
  }
  for (std::uint32_t i = 0; i < g.degree(v); ++i) {
    follow(g, g.neighbor(v, i), steps - 1, probability / g.degree(v), set, out);
  }
}

/// @param by_degree  The planted bias: roots in proportion to degrees.
set_probabilities walk_probabilities(graph const& g, std::int64_t length, bool by_degree = false)
{
  set_probabilities out;
  for (vertex_id v = 0; v < g.num_vertices(); ++v) {
    double const root = by_degree ? g.csr().degree(v) : 1.0;
    if (root > 0) { follow(g.csr(), v, length, root, {}, out); }
  }
  return out;
}

set_probabilities made_uniform(set_probabilities probabilities)
{
  for (auto& [set, probability] : probabilities) { probability = probability > 0 ? 1 : 0; }
  return probabilities;
}

TEST(Saint, NodesByTheSquaredNormsOfColumns)
{
  for (graph const& g : {make_saint_web(), make_graph(5, {{0, 1}, {0, 2}, {0, 3}, {1, 3}, {2, 3}, {4, 4}, {4, 0}})}) {
    for (auto const matrix : {propagation::row, propagation::symmetric}) {
      auto const right = node_probabilities(g, matrix);
      EXPECT_TRUE(draws_fit(g, {.sampler = node, .matrix = matrix}, right));
      EXPECT_FALSE(draws_fit(g, {.sampler = node, .matrix = matrix}, made_uniform(right)));
    }
  }
}

TEST(Saint, NodesByWeights)
{
  graph const g = make_graph(4, {{0, 1, 1.0F}, {0, 2, 2.0F}, {1, 2, 0.5F}, {3, 1, 3.0F}, {2, 0, 0.0F}});
  auto right = node_probabilities(g, propagation::weights);
  right.erase(vertex_set{0});  // reached by an edge of weight 0 alone
  EXPECT_TRUE(draws_fit(g, {.sampler = node, .matrix = propagation::weights}, right));
  graph const nothing = make_graph(2, {{0, 1, 0.0F}});
  EXPECT_EQ(saint_sample(nothing, {.sampler = node, .matrix = propagation::weights}, 3).nodes.size(), 0);
}

TEST(Saint, EdgesByTheDegreesOfTheirEnds)
{
  graph const g = make_saint_web();
  auto const right = edge_probabilities(g);
  EXPECT_TRUE(draws_fit(g, {.sampler = edge}, right));
  EXPECT_FALSE(draws_fit(g, {.sampler = edge}, made_uniform(right)));
}

TEST(Saint, WalksFromUniformRoots)
{
  graph const directed = make_graph(5, {{0, 1}, {0, 2}, {0, 3}, {1, 3}, {2, 3}, {4, 0}});
  for (graph const& g : {make_saint_web(), directed}) {
    for (std::int64_t const length : {0, 1, 2, 3}) {
      EXPECT_TRUE(draws_fit(g, {.sampler = walk, .length = length}, walk_probabilities(g, length))) << length;
    }
  }
  EXPECT_FALSE(
      draws_fit(make_saint_web(), {.sampler = walk, .length = 2}, walk_probabilities(make_saint_web(), 2, true)));
}

TEST(Saint, DrawsOfASampleAreIndependent)
{
  // With two draws of one of two equal vertices, a sample has one vertex half of the time.
  graph const g = make_graph(2, {{0, 1}, {1, 0}});
  subgraphs const out = saint_sample(g, {.sampler = node, .budget = 2}, many);
  std::vector<std::int64_t> sizes(2);
  for (std::int64_t s = 0; s < many; ++s) { ++sizes[nodes_of(out, s).size() - 1]; }
  EXPECT_TRUE(drawn_from(sizes, {1, 1}, 0.04));
  EXPECT_FALSE(drawn_from(sizes, {1, 2}, 0.04));
}

TEST(Saint, SamplesAreInducedSubgraphsOfAscendingVertices)
{
  for (graph const& g :
       {make_zoo(1), generate_rmat({.scale = 11, .edge_factor = 8, .seed = 3}, {.symmetrize = true}, {})}) {
    for (auto const sampler : {node, edge, walk}) {
      saint_params const params{.sampler = sampler, .budget = 60, .length = 3, .seed = 4};
      subgraphs const out = saint_sample(g, params, 40, {}, 0xfffffff0LL);
      verify_subgraphs(g, out);
      for (std::int64_t s = 0; s < 40; ++s) {
        auto const* const begin = out.nodes.data() + out.node_offsets[s];
        auto const* const end = out.nodes.data() + out.node_offsets[s + 1];
        EXPECT_TRUE(std::is_sorted(begin, end));
        EXPECT_LE(end - begin, sampler == node ? 60 : sampler == edge ? 120 : 240);
        EXPECT_GE(end - begin, 1);
      }
    }
  }
}

TEST(Saint, ThreadsAndBatchesDontChangeIt)
{
  graph const g = make_zoo(2);
  for (auto const sampler : {node, edge, walk}) {
    saint_params const params{.sampler = sampler, .budget = 20, .seed = 5};
    subgraphs const whole = saint_sample(g, params, 30, cpu_exec{.num_threads = 1}, 7);
    EXPECT_TRUE(same_subgraphs(whole, saint_sample(g, params, 30, cpu_exec{.num_threads = 4}, 7)));
    for (std::int64_t s = 0; s < 30; ++s) {
      EXPECT_EQ(nodes_of(saint_sample(g, params, 1, {}, 7 + s), 0), nodes_of(whole, s));
    }
    for (std::int64_t const step : {2, 7}) {
      std::int64_t const count = (30 + step - 2) / step;  // those of the second of so many processes
      subgraphs const part = saint_sample(g, params, count, {}, 8, step);
      for (std::int64_t s = 0; s < count; ++s) { EXPECT_EQ(nodes_of(part, s), nodes_of(whole, 1 + s * step)); }
    }
  }
}

TEST(Saint, CoefficientsAreWhatSamplesCount)
{
  graph const g = make_zoo(3);
  for (auto const sampler : {node, edge, walk}) {
    saint_params const params{.sampler = sampler, .budget = 10, .seed = 6};
    saint_coefficients const out = saint_normalization(g, params, 300, {}, 11);
    subgraphs const samples = saint_sample(g, params, 300, {}, 11);
    std::vector<std::int32_t> nodes(64), edges(static_cast<std::size_t>(g.num_edges()));
    for (auto const v : samples.nodes) { ++nodes[v]; }
    for (auto const e : samples.edges) { ++edges[static_cast<std::size_t>(e)]; }
    EXPECT_TRUE(std::equal(nodes.begin(), nodes.end(), out.node_counts.begin(), out.node_counts.end()));
    EXPECT_TRUE(std::equal(edges.begin(), edges.end(), out.edge_counts.begin(), out.edge_counts.end()));
    for (vertex_id v = 0; v < 64; ++v) {
      EXPECT_EQ(out.loss[v], static_cast<float>(nodes[v]) / 300.0F);
      for (edge_id e = g.csr().first_edge(v); e < g.csr().first_edge(v) + g.csr().degree(v); ++e) {
        auto const both = static_cast<float>(edges[static_cast<std::size_t>(e)]);
        EXPECT_EQ(out.aggregator[e], nodes[v] == 0 ? 0.0F : both / static_cast<float>(nodes[v]));
      }
    }
  }
}

TEST(Saint, CoefficientsApproachTheProbabilitiesOfBeingSampled)
{
  // Draws are independent, so vertex v is in a sample of n with probability 1 - (1 - p_v)^n.
  graph const g = make_saint_web();
  constexpr std::int64_t samples = 20'000;
  constexpr int budget = 3;
  saint_coefficients const out = saint_normalization(g, {.sampler = node, .budget = budget, .seed = 8}, samples);
  auto const probabilities = node_probabilities(g, propagation::row);
  double sum = 0;
  for (auto const& [set, probability] : probabilities) { sum += probability; }
  for (auto const& [set, probability] : probabilities) {
    double const missed = 1 - probability / sum;
    double const sampled = 1 - missed * missed * missed;
    double const sigma = std::sqrt(sampled * (1 - sampled) / static_cast<double>(samples));
    EXPECT_NEAR(out.loss[*set.begin()], sampled, 5 * sigma);
    EXPECT_GT(std::abs(out.loss[*set.begin()] - budget * probability / sum), 5 * sigma);  // without what draws share
  }
}

TEST(Saint, WhereNothingCanBeDrawn)
{
  for (auto const sampler : {node, edge, walk}) {
    saint_params const params{.sampler = sampler, .budget = 3};
    EXPECT_EQ(saint_sample(graph(), params, 4).nodes.size(), 0);
    EXPECT_EQ(saint_sample(make_saint_web(), params, 0).num_samples, 0);
    subgraphs const edgeless = saint_sample(make_graph(3, {}), params, 50);
    EXPECT_EQ(edgeless.num_samples, 50);
    EXPECT_EQ(edgeless.nodes.empty(), sampler != walk);
    EXPECT_EQ(edgeless.edges.size(), 0);
    EXPECT_EQ(saint_normalization(graph(), params, 2).loss.size(), 0);
  }
}

TEST(Saint, NamesWhatIsWrong)
{
  graph const g = make_graph(3, {{0, 1}}, {.weights = false});
  auto const error = [&](saint_params const& params, std::int64_t num = 1, std::int64_t first = 0) {
    return message_of<argument_error>([&] { (void)saint_sample(g, params, num, {}, first); });
  };
  EXPECT_EQ(error({.budget = 0}), "budget: 0, expected 1 to 2147483647");
  EXPECT_EQ(error({.length = -1}), "length: -1, expected 0 to 1000 steps");
  EXPECT_EQ(error({.length = 1001}), "length: 1001, expected 0 to 1000 steps");
  EXPECT_EQ(error({.sampler = edge, .budget = 0x7fffffff}),
            "budget: 2147483647 draws 4294967294 vertices, expected at most 2147483647");
  EXPECT_EQ(error({.sampler = node, .matrix = propagation::weights}),
            "matrix: the graph has no weights, expected one an edge");
  EXPECT_EQ(error({}, -1), "num_samples: -1, expected 0 to 4294967295");
  EXPECT_EQ(message_of<argument_error>([&] { (void)saint_sample(g, {}, 4, {}, 0, 0); }),
            "sample_step: 0, expected 1 to 2^62 / num_samples");
  EXPECT_EQ(message_of<argument_error>([&] { (void)saint_sample(g, {}, 4, {}, 0, (std::int64_t{1} << 60) + 1); }),
            "sample_step: 1152921504606846977, expected 1 to 2^62 / num_samples");
  EXPECT_EQ(error({}, 1, -1), "first_sample: -1, expected 0 to 2^62");
  EXPECT_EQ(message_of<argument_error>([&] { (void)saint_normalization(g, {}, 0); }),
            "num_samples: 0, expected 1 to 2147483647");
}

}  // namespace
}  // namespace tendril::test
