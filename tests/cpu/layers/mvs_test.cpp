// Minimal variance sampling: what a batch holds, by a serial verifier; how it is drawn, against brute force; that it
// depends on nothing else; and one clear line for bad input.

#include <cmath>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/mvs.hpp>

#include "support/messages.hpp"
#include "support/small_graphs.hpp"
#include "support/statistics.hpp"

namespace tendril::test {
namespace {

/// 1. Probabilities are importances over their sum; weights follow. 2. Different vertices, if asked for. 3. Neighbours
/// and edges are all those of each slot, in order.
void verify(graph const& graph, std::vector<float> const& importances, mvs_params const& params, mvs_batches const& out)
{
  csr_arrays const g = graph.csr();
  double sum = 0;
  for (std::int64_t v = 0; v < g.num_vertices; ++v) {
    sum += importances.empty() ? 1 : importances[static_cast<std::size_t>(v)];
  }
  std::int64_t k = 0;
  for (std::int64_t i = 0; i < out.num_samples; ++i) {
    std::set<vertex_id> seen;
    for (std::int64_t j = 0; j < params.batch_size; ++j) {
      std::int64_t const slot = i * params.batch_size + j;
      vertex_id const v = out.vertices[slot];
      ASSERT_EQ(out.edge_offsets[slot], k);
      if (v == no_vertex) {
        ASSERT_EQ(out.probabilities[slot], 0);
        ASSERT_EQ(out.weights[slot], 0);
        continue;
      }
      double const p = (importances.empty() ? 1 : importances[v]) / sum;
      ASSERT_GT(p, 0);
      ASSERT_NEAR(out.probabilities[slot], p, 1e-6 * p);
      double const weight = 1 / (static_cast<double>(params.batch_size) * p);
      ASSERT_NEAR(out.weights[slot], weight, 1e-6 * weight);
      bool const is_new = seen.insert(v).second;
      ASSERT_TRUE(is_new || params.replace);
      for (edge_id e = g.first_edge(v); e < g.first_edge(v) + g.degree(v); ++e, ++k) {
        ASSERT_EQ(out.neighbors[k], g.indices[e]);
        if (params.with_edges) { ASSERT_EQ(out.edges[k], e); }
      }
    }
  }
  ASSERT_EQ(out.edge_offsets[out.num_samples * params.batch_size], k);
  ASSERT_EQ(out.neighbors.size(), k);
  ASSERT_EQ(out.edges.size(), params.with_edges ? k : 0);
}

std::vector<float> ascending(std::int64_t n)
{
  std::vector<float> out;
  for (std::int64_t v = 0; v < n; ++v) { out.push_back(static_cast<float>(v % 7) * 0.5F); }
  return out;
}

TEST(Mvs, BatchesKeepEveryPromise)
{
  for (graph const& g : {make_zoo(1), generate_rmat({.scale = 10, .edge_factor = 8}, {.symmetrize = true})}) {
    for (bool const replace : {true, false}) {
      for (std::int64_t const size : {1, 8, 64, 200}) {
        for (auto const& importances : {std::vector<float>{}, ascending(g.num_vertices())}) {
          mvs_params const params{.batch_size = size, .replace = replace, .with_edges = size != 8, .seed = 3};
          verify(g, importances, params, mvs_sample(g, importances, 30, params));
        }
      }
    }
  }
}

TEST(Mvs, NoGraphAndNoImportanceLeaveSlotsEmpty)
{
  graph const g = make_graph(3, {{0, 1}, {1, 2}});
  for (bool const replace : {true, false}) {
    mvs_params const params{.batch_size = 4, .replace = replace};
    for (auto const v : mvs_sample(g, std::vector<float>{0, 0, 0}, 5, params).vertices) { EXPECT_EQ(v, no_vertex); }
    for (auto const v : mvs_sample(graph(), {}, 5, params).vertices) { EXPECT_EQ(v, no_vertex); }
    EXPECT_EQ(mvs_sample(g, {}, 0, params).edge_offsets[0], 0);
  }
  // All that there is, and one slot left.
  auto const out = mvs_sample(g, {}, 1, {.batch_size = 4});
  std::multiset<vertex_id> const all(out.vertices.begin(), out.vertices.end());
  EXPECT_EQ(all, (std::multiset<vertex_id>{0, 1, 2, no_vertex}));
}

TEST(Mvs, DrawsInProportionToImportances)
{
  graph const g = make_graph(6, {{0, 1}});
  std::vector<float> const importances = {1, 4, 0, 2.5F, 0.5F, 2};
  auto const out = mvs_sample(g, importances, 40'000, {.batch_size = 8, .replace = true, .seed = 9});
  std::vector<std::int64_t> counts(6, 0);
  for (auto const v : out.vertices) { ++counts.at(v); }
  std::vector<double> const expected(importances.begin(), importances.end());
  EXPECT_TRUE(drawn_from(counts, expected));
  EXPECT_FALSE(drawn_from(counts, std::vector<double>(6, 1)));
}

TEST(Mvs, WithoutReplacementPairsAreSuccessiveDraws)
{
  graph const g = make_graph(4, {{0, 1}});
  std::vector<float> const importances = {1, 4, 2, 3};
  auto const out = mvs_sample(g, importances, 100'000, {.batch_size = 2});
  std::vector<std::int64_t> counts(16, 0);
  for (std::int64_t i = 0; i < out.num_samples; ++i) {
    auto const [a, b] = std::minmax(out.vertices[2 * i], out.vertices[2 * i + 1]);
    ++counts.at(a * 4 + b);
  }
  std::vector<double> successive(16, 0), independent(16, 0);
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = a + 1; b < 4; ++b) {
      double const p = importances[a] / 10.0, q = importances[b] / 10.0;
      successive[a * 4 + b] = p * q / (1 - p) + q * p / (1 - q);
      independent[a * 4 + b] = p * q;
    }
  }
  EXPECT_TRUE(drawn_from(counts, successive, 0.05));
  EXPECT_FALSE(drawn_from(counts, independent, 0.05));
}

TEST(Mvs, WeightsEstimateSumsOverAllVertices)
{
  graph const g = make_graph(5, {{0, 1}});
  std::vector<float> const importances = {1, 4, 2, 3, 0.5F};
  std::vector<double> const f = {3, -1, 4, 1, -5};  // adds up to 2
  std::int64_t const n = 50'000;
  auto const out = mvs_sample(g, importances, n, {.batch_size = 4, .replace = true});
  double sum = 0, squares = 0, wrong = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    double estimate = 0;
    for (std::int64_t k = 4 * i; k < 4 * i + 4; ++k) {
      estimate += static_cast<double>(out.weights[k]) * f[out.vertices[k]];
      wrong += 5.0 / 4 * f[out.vertices[k]];  // as if all were as likely
    }
    sum += estimate;
    squares += (estimate - 2) * (estimate - 2);
  }
  double const deviation = std::sqrt(squares) / static_cast<double>(n);
  EXPECT_LT(deviation, 0.1);
  EXPECT_LE(std::abs(sum / static_cast<double>(n) - 2), 5 * deviation);
  EXPECT_GT(std::abs(wrong / static_cast<double>(n) - 2), 5 * deviation);
}

TEST(Mvs, DependsOnTheSampleAlone)
{
  graph const g = make_zoo(1);
  auto const importances = ascending(64);
  auto const whole = mvs_sample(g, importances, 100, {.batch_size = 7}, {.num_threads = 1});
  auto const other = mvs_sample(g, importances, 100, {.batch_size = 7}, {.num_threads = 3});
  auto const part = mvs_sample(g, importances, 40, {.batch_size = 7}, {}, 60);
  for (std::int64_t k = 0; k < 700; ++k) {
    ASSERT_EQ(whole.vertices[k], other.vertices[k]);
    if (k >= 420) { ASSERT_EQ(whole.vertices[k], part.vertices[k - 420]); }
  }
}

TEST(Mvs, ErrorsNameTheArgumentItsValueAndWhatWasExpected)
{
  graph const g = make_graph(3, {{0, 1}});
  auto const error = [&](std::vector<float> const& importances, std::int64_t n, mvs_params const& params,
                         std::int64_t first = 0) {
    return message_of<argument_error>([&] { (void)mvs_sample(g, importances, n, params, cpu_exec{}, first); });
  };
  EXPECT_EQ(error({}, 1, {.batch_size = 0}), "batch_size: 0, expected 1 to 16384 vertices");
  EXPECT_EQ(error({}, -1, {}), "num_samples: -1, expected 0 or more");
  EXPECT_EQ(error({}, 1, {}, -2), "first_sample: -2, expected 0 or more");
  EXPECT_EQ(error({1, 2}, 1, {}), "importances: 2 values, expected none or one for each of the graph's 3 vertices");
  EXPECT_EQ(error({1, -2, -3}, 1, {}), "importance 1: -2, expected a finite number of 0 or more");
  EXPECT_EQ(error({1, 2, std::numeric_limits<float>::infinity()}, 1, {}),
            "importance 2: inf, expected a finite number of 0 or more");
  EXPECT_EQ(error({std::numeric_limits<float>::quiet_NaN(), 2, 1}, 1, {}),
            "importance 0: nan, expected a finite number of 0 or more");
}

}  // namespace
}  // namespace tendril::test
