// The serial verifier of layer-wise samples. It knows the definition alone: entries of Q edge by edge, sums over all
// vertices in double.
//
// What it checks of every sample and layer:
//  1. A slot holds a vertex of positive probability or no_vertex; with different vertices asked for, they are.
//  2. Its probability is the squared norm of its column - over all rows, or over those of the layer before - by the sum
//     of all these.
//  3. The edges are all entries between the layer before and the layer, in the order row, column, place in the graph.
//  4. A coefficient is the entry over (layer_size * probability), over the sum of its row if rows are normalised.

#pragma once

#include <cmath>
#include <set>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/layers.hpp>

namespace tendril::test {

inline double entry_of(csr_arrays const& g, propagation matrix, vertex_id v, edge_id e)
{
  double const dv = g.degree(v);
  double const du = g.degree(g.indices[e]);
  if (matrix == propagation::row) { return 1 / dv; }
  if (matrix == propagation::symmetric) { return du == 0 ? 0 : 1 / std::sqrt(dv * du); }
  return g.weights[e];
}

/// Calls f(row vertex, edge) for every edge of the graph.
template <class F>
void for_each_entry(csr_arrays const& g, F f)
{
  for (std::int64_t v = 0; v < g.num_vertices; ++v) {
    for (edge_id e = g.indptr[v]; e < g.indptr[v + 1]; ++e) { f(static_cast<vertex_id>(v), e); }
  }
}

/// The distribution of a draw: over all rows, or over `rows`, each as often as it is there.
inline std::vector<double> exact_columns(csr_arrays const& g, propagation matrix,
                                         std::vector<vertex_id> const* rows = nullptr)
{
  std::vector<double> times(static_cast<std::size_t>(g.num_vertices), rows == nullptr ? 1 : 0);
  if (rows != nullptr) {
    for (auto const v : *rows) {
      if (v != no_vertex) { times[v] += 1; }
    }
  }
  std::vector<double> out(times.size(), 0);
  double sum = 0;
  for_each_entry(g, [&](vertex_id v, edge_id e) {
    double const square = times[v] * std::pow(entry_of(g, matrix, v, e), 2);
    out[g.indices[e]] += square;
    sum += square;
  });
  for (auto& p : out) { p = sum > 0 ? p / sum : 0; }
  return out;
}

/// How far what is returned may be from what is exact: floats.
inline bool near(double got, double expected) { return std::abs(got - expected) <= 1e-6 * std::abs(expected) + 1e-18; }

template <class Params>
void verify_layers(graph const& graph, std::span<vertex_id const> roots, Params const& params, bool from_previous,
                   layer_samples const& out)
{
  csr_arrays const g = graph.csr();
  ASSERT_EQ(out.num_layers, params.num_layers);
  ASSERT_EQ(out.layer_size, params.layer_size);
  ASSERT_EQ(out.num_samples * out.batch_size, static_cast<std::int64_t>(roots.size()));
  std::int64_t const s = out.layer_size;
  ASSERT_EQ(out.vertices.size(), out.num_samples * out.num_layers * s);
  ASSERT_EQ(out.probabilities.size(), out.vertices.size());
  ASSERT_EQ(out.edge_offsets.size(), out.num_samples * out.num_layers + 1);
  ASSERT_EQ(out.edge_offsets[0], 0);
  std::int64_t const num_edges = out.edge_offsets[out.edge_offsets.size() - 1];
  ASSERT_EQ(out.row.size(), num_edges);
  ASSERT_EQ(out.col.size(), num_edges);
  ASSERT_EQ(out.coefficients.size(), num_edges);
  ASSERT_EQ(out.edges.size(), params.with_edges ? num_edges : 0);
  auto const all = exact_columns(g, params.matrix);
  std::int64_t k = 0;
  for (std::int64_t i = 0; i < out.num_samples; ++i) {
    std::vector<vertex_id> rows(roots.begin() + i * out.batch_size, roots.begin() + (i + 1) * out.batch_size);
    for (std::int64_t l = 0; l < out.num_layers; ++l) {
      SCOPED_TRACE(testing::Message() << "sample " << i << ", layer " << l);
      std::int64_t const at = (i * out.num_layers + l) * s;
      std::vector<vertex_id> const columns(out.vertices.begin() + at, out.vertices.begin() + at + s);
      auto const exact = from_previous ? exact_columns(g, params.matrix, &rows) : all;
      std::set<vertex_id> seen;
      for (std::int64_t j = 0; j < s; ++j) {
        vertex_id const u = columns[static_cast<std::size_t>(j)];
        if (u == no_vertex) {
          ASSERT_EQ(out.probabilities[at + j], 0);
          continue;
        }
        ASSERT_LT(u, g.num_vertices);
        ASSERT_TRUE(near(out.probabilities[at + j], exact[u]))
            << "vertex " << u << ": " << out.probabilities[at + j] << " for " << exact[u];
        ASSERT_GT(out.probabilities[at + j], 0);
        bool const is_new = seen.insert(u).second;
        ASSERT_TRUE(is_new || params.replace) << "vertex " << u << " twice";
      }
      ASSERT_EQ(out.edge_offsets[i * out.num_layers + l], k);
      for (std::size_t r = 0; r < rows.size(); ++r) {
        if (rows[r] == no_vertex) { continue; }
        std::vector<double> scaled;
        double sum = 0;
        std::int64_t const first = k;
        for (std::size_t j = 0; j < columns.size(); ++j) {
          for (edge_id e = g.first_edge(rows[r]); e < g.first_edge(rows[r]) + g.degree(rows[r]); ++e) {
            if (g.indices[e] != columns[j]) { continue; }
            ASSERT_LT(k, num_edges);
            ASSERT_EQ(out.row[k], static_cast<std::int32_t>(r));
            ASSERT_EQ(out.col[k], static_cast<std::int32_t>(j));
            if (params.with_edges) { ASSERT_EQ(out.edges[k], e); }
            double const p = out.probabilities[at + static_cast<std::int64_t>(j)];
            scaled.push_back(entry_of(g, params.matrix, rows[r], e) / (static_cast<double>(s) * p));
            sum += scaled.back();
            ++k;
          }
        }
        for (std::size_t n = 0; n < scaled.size(); ++n) {
          double const expected = !params.normalize_rows ? scaled[n] : sum > 0 ? scaled[n] / sum : 0;
          ASSERT_TRUE(near(out.coefficients[first + static_cast<std::int64_t>(n)], expected))
              << out.coefficients[first + static_cast<std::int64_t>(n)] << " for " << expected;
        }
      }
      ASSERT_EQ(out.edge_offsets[i * out.num_layers + l + 1], k);
      rows = columns;
    }
  }
}

/// FastGCN's or LADIES' samples by one name.
inline layer_samples sample_layers(graph const& g, std::span<vertex_id const> roots, std::int64_t batch,
                                   fastgcn_params const& params, cpu_exec const& exec = {}, std::int64_t first = 0)
{
  return fastgcn_sample(g, roots, batch, params, exec, first);
}
inline layer_samples sample_layers(graph const& g, std::span<vertex_id const> roots, std::int64_t batch,
                                   ladies_params const& params, cpu_exec const& exec = {}, std::int64_t first = 0)
{
  return ladies_sample(g, roots, batch, params, exec, first);
}

inline constexpr propagation all_matrices[] = {propagation::row, propagation::symmetric, propagation::weights};

}  // namespace tendril::test
