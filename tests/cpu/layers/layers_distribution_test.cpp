// Layers are drawn as documented: single draws and pairs without replacement against brute force, and the estimate of
// Q X against the product itself. Each fit is shown to notice a wrong rule.

#include <cmath>

#include <gtest/gtest.h>

#include <tendril/layers.hpp>

#include "cpu/layers/layer_verifier.hpp"
#include "support/small_graphs.hpp"
#include "support/statistics.hpp"

namespace tendril::test {
namespace {

/// Degrees 4, 2, 3, 1, 2, 0, 3: parallel edges from 2, a self loop at 4, weights that matter.
graph make_web()
{
  return make_graph(7, {{0, 1, 1},
                        {0, 2, 0.5F},
                        {0, 3, 2},
                        {0, 6, 1},
                        {1, 0, 3},
                        {1, 2, 1},
                        {2, 0, 1},
                        {2, 3, 0.25F},
                        {2, 3, 1.5F},
                        {3, 4, 1},
                        {4, 4, 2},
                        {4, 1, 1},
                        {6, 5, 0.75F},
                        {6, 0, 0.5F},
                        {6, 2, 1}});
}

std::vector<vertex_id> repeated(std::vector<vertex_id> const& batch, std::int64_t times)
{
  std::vector<vertex_id> out;
  for (std::int64_t i = 0; i < times; ++i) { out.insert(out.end(), batch.begin(), batch.end()); }
  return out;
}

template <class Params>
std::vector<std::int64_t> count_vertices(graph const& g, std::vector<vertex_id> const& batch, Params const& params,
                                         std::int64_t samples)
{
  auto const out = sample_layers(g, repeated(batch, samples), static_cast<std::int64_t>(batch.size()), params);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(g.num_vertices()), 0);
  for (auto const v : out.vertices) { ++counts.at(v); }
  return counts;
}

TEST(LayersDistribution, FastgcnDrawsInProportionToColumns)
{
  graph const g = make_web();
  for (auto const matrix : all_matrices) {
    fastgcn_params const params{.num_layers = 2, .layer_size = 10, .matrix = matrix, .seed = 4};
    auto const counts = count_vertices(g, {0}, params, 40'000);
    expect_distribution(counts, exact_columns(g.csr(), matrix));
    for (auto const other : all_matrices) {
      EXPECT_EQ(static_cast<bool>(drawn_from(counts, exact_columns(g.csr(), other))), other == matrix);
    }
  }
}

TEST(LayersDistribution, LadiesDrawsInProportionToColumnsOfTheBatch)
{
  graph const g = make_web();
  for (auto const matrix : all_matrices) {
    for (std::vector<vertex_id> const& batch :
         {std::vector<vertex_id>{0}, {0, 2}, {0, 1, 2, 4, 6}, {2, 2, 0}, {5, 0, 3}}) {
      ladies_params const params{.num_layers = 1, .layer_size = 10, .matrix = matrix, .seed = 5};
      auto const counts = count_vertices(g, batch, params, 40'000);
      expect_distribution(counts, exact_columns(g.csr(), matrix, &batch));
      // As if a neighbour were drawn of any vertex of the batch, or as FastGCN does.
      auto const all = exact_columns(g.csr(), matrix);
      EXPECT_FALSE(drawn_from(counts, all));
    }
  }
}

TEST(LayersDistribution, ARootThatIsThereTwiceCountsTwice)
{
  graph const g = make_web();
  ladies_params const params{.num_layers = 1, .layer_size = 10};
  std::vector<vertex_id> const twice = {2, 2, 0};
  std::vector<vertex_id> const once = {2, 0};
  auto const counts = count_vertices(g, twice, params, 40'000);
  EXPECT_TRUE(drawn_from(counts, exact_columns(g.csr(), propagation::row, &twice)));
  EXPECT_FALSE(drawn_from(counts, exact_columns(g.csr(), propagation::row, &once)));
}

TEST(LayersDistribution, AHubOfManyEdgesIsDrawnEvenlyOrByWeight)
{
  std::vector<float> weights(1 << 16);
  for (std::size_t i = 0; i < weights.size(); ++i) { weights[i] = i % 4 == 0 ? 2.0F : 1.0F; }
  graph const g = make_star(weights);
  for (auto const matrix : {propagation::row, propagation::weights}) {
    ladies_params const params{.num_layers = 1, .layer_size = 1000, .matrix = matrix};
    auto const out = ladies_sample(g, std::vector<vertex_id>(200, 0), 1, params);
    std::vector<std::int64_t> counts(64, 0);  // 16 ranges of edges, by their place modulo 4
    for (auto const v : out.vertices) { ++counts[(v - 1) / 4096 * 4 + (v - 1) % 4]; }
    std::vector<double> expected(64, 1);
    for (std::size_t i = 0; i < 64; i += 4) { expected[i] = matrix == propagation::weights ? 4 : 1; }
    expect_distribution(counts, expected, 0.05);
  }
}

/// How often each unordered pair makes a layer of two.
template <class Params>
std::vector<std::int64_t> count_pairs(graph const& g, std::vector<vertex_id> const& batch, Params const& params)
{
  auto const out = sample_layers(g, repeated(batch, 100'000), static_cast<std::int64_t>(batch.size()), params);
  auto const n = static_cast<std::size_t>(g.num_vertices());
  std::vector<std::int64_t> counts(n * n, 0);
  for (std::int64_t i = 0; i < out.num_samples; ++i) {
    auto const [a, b] = std::minmax(out.vertices[2 * i], out.vertices[2 * i + 1]);
    ++counts.at(a * n + b);
  }
  return counts;
}

std::vector<double> exact_pairs(std::vector<double> const& p, bool successive)
{
  std::size_t const n = p.size();
  std::vector<double> out(n * n, 0);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = a + 1; b < n; ++b) {
      out[a * n + b] = successive ? p[a] * p[b] / (1 - p[a]) + p[b] * p[a] / (1 - p[b]) : p[a] * p[b];
    }
  }
  return out;
}

TEST(LayersDistribution, WithoutReplacementPairsAreSuccessiveDraws)
{
  graph const g = make_web();
  std::vector<vertex_id> const batch = {0, 2, 6};
  ladies_params const ladies{.num_layers = 1, .layer_size = 2, .replace = false};
  auto const p = exact_columns(g.csr(), propagation::row, &batch);
  EXPECT_TRUE(drawn_from(count_pairs(g, batch, ladies), exact_pairs(p, true), 0.05));
  EXPECT_FALSE(drawn_from(count_pairs(g, batch, ladies), exact_pairs(p, false), 0.05));
  fastgcn_params const fastgcn{.num_layers = 1, .layer_size = 2, .replace = false};
  auto const q = exact_columns(g.csr(), propagation::row);
  EXPECT_TRUE(drawn_from(count_pairs(g, batch, fastgcn), exact_pairs(q, true), 0.05));
  EXPECT_FALSE(drawn_from(count_pairs(g, batch, fastgcn), exact_pairs(q, false), 0.05));
}

/// The estimates of rows of Q x, their mean over samples, against the product. `bias` scales every coefficient.
template <class Params>
bool estimates_the_product(graph const& g, std::vector<vertex_id> const& batch, Params params, double bias)
{
  std::int64_t const samples = 40'000;
  auto const b = static_cast<std::int64_t>(batch.size());
  csr_arrays const view = g.csr();
  std::vector<double> const x = {1, -2, 3, 0.5, -1, 4, 2};
  auto const out = sample_layers(g, repeated(batch, samples), b, params);
  bool good = true;
  for (std::int64_t l = 0; l < params.num_layers; ++l) {
    // Of the deeper layer the rows differ from sample to sample: errors are judged, not estimates.
    std::vector<double> sum(batch.size(), 0), squares(batch.size(), 0);
    for (std::int64_t i = 0; i < samples; ++i) {
      std::vector<double> error(batch.size(), 0);
      for (std::size_t r = 0; r < batch.size(); ++r) {
        vertex_id const v =
            l == 0 ? batch[r]
                   : out.vertices[(i * params.num_layers + l - 1) * params.layer_size + static_cast<std::int64_t>(r)];
        for (edge_id e = view.indptr[v]; e < view.indptr[v + 1]; ++e) {
          error[r] -= entry_of(view, params.matrix, v, e) * x[view.indices[e]];
        }
      }
      for (std::int64_t k = out.edge_offsets[i * params.num_layers + l];
           k < out.edge_offsets[i * params.num_layers + l + 1]; ++k) {
        if (out.row[k] >= b) { continue; }
        vertex_id const u = out.vertices[(i * params.num_layers + l) * params.layer_size + out.col[k]];
        error[static_cast<std::size_t>(out.row[k])] += bias * static_cast<double>(out.coefficients[k]) * x[u];
      }
      for (std::size_t r = 0; r < batch.size(); ++r) {
        sum[r] += error[r];
        squares[r] += error[r] * error[r];
      }
    }
    for (std::size_t r = 0; r < batch.size(); ++r) {
      auto const n = static_cast<double>(samples);
      double const deviation = std::sqrt(squares[r] / n / n);
      // Five deviations of the mean: one in a million tests fails by chance. A row without edges has none.
      good = good && std::abs(sum[r] / n) <= 5 * deviation + 1e-9;
    }
  }
  return good;
}

TEST(LayersDistribution, EstimatesAreUnbiased)
{
  graph const g = make_web();
  std::vector<vertex_id> const batch = {0, 1, 2, 4, 6};
  for (auto const matrix : all_matrices) {
    fastgcn_params const fastgcn{.num_layers = 2, .layer_size = 8, .matrix = matrix};
    EXPECT_TRUE(estimates_the_product(g, batch, fastgcn, 1.0));
    EXPECT_FALSE(estimates_the_product(g, batch, fastgcn, 1.05));
    ladies_params const ladies{.num_layers = 2, .layer_size = 8, .matrix = matrix, .normalize_rows = false};
    EXPECT_TRUE(estimates_the_product(g, batch, ladies, 1.0));
    EXPECT_FALSE(estimates_the_product(g, batch, ladies, 1.05));
    ladies_params normalized = ladies;
    normalized.normalize_rows = true;
    EXPECT_FALSE(estimates_the_product(g, batch, normalized, 1.0));
  }
}

}  // namespace
}  // namespace tendril::test
