// Every promise of include/tendril/layers.hpp about a sample, by the serial verifier; and that a sample depends on nothing
// else: not on threads, nor on how samples are split into calls.

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include <tendril/generate.hpp>
#include <tendril/layers.hpp>

#include "cpu/layers/layer_verifier.hpp"
#include "support/sanitized.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

template <class T>
std::vector<T> to_vector(buffer<T> const& from, std::int64_t begin, std::int64_t end)
{
  return {from.begin() + begin, from.begin() + end};
}
template <class T>
std::vector<T> to_vector(buffer<T> const& from)
{
  return to_vector(from, 0, from.size());
}

/// make_zoo, with the entries of Q as weights of few magnitudes: floats hold the squares of no more.
graph make_tame_zoo(std::uint64_t seed)
{
  graph const zoo = make_zoo(seed);
  std::vector<test_edge> edges;
  for_each_entry(zoo.csr(), [&](vertex_id v, edge_id e) {
    float const w = zoo.csr().weights[e];
    edges.push_back({v, zoo.csr().indices[e], w == 0 ? 0.0F : 0.01F + std::min(w, 3.0F)});
  });
  return make_graph(64, edges);
}

template <class Params>
class Layers : public testing::Test {
 protected:
  static constexpr bool from_previous = std::is_same_v<Params, ladies_params>;

  void verify(graph const& g, std::int64_t samples, std::int64_t batch, Params params)
  {
    for (auto const matrix : all_matrices) {
      params.matrix = matrix;
      for (bool const replace : {true, false}) {
        for (bool const normalize : {true, false}) {
          params.replace = replace;
          params.normalize_rows = normalize;
          params.with_edges = normalize;
          SCOPED_TRACE(testing::Message() << "matrix " << static_cast<int>(matrix) << ", replace " << replace
                                          << ", normalize " << normalize << ", layers of " << params.layer_size);
          auto const roots = random_roots(g, samples * batch);
          verify_layers(g, roots, params, from_previous, sample_layers(g, roots, batch, params));
        }
      }
    }
  }
};

using layer_methods = testing::Types<fastgcn_params, ladies_params>;
TYPED_TEST_SUITE(Layers, layer_methods);

TYPED_TEST(Layers, KeepEveryPromiseOnTheZoo)
{
  for (std::uint64_t seed = 1; seed <= unless_sanitized(3U, 1U); ++seed) {
    for (std::int64_t const size : {1, 2, 7, 33, 80}) {
      TypeParam params;
      params.num_layers = 3;
      params.layer_size = size;
      params.seed = seed;
      this->verify(make_tame_zoo(seed), 12, size == 7 ? 1 : 9, params);
    }
  }
}

TYPED_TEST(Layers, KeepEveryPromiseOnASkewedGraph)
{
  graph const g = generate_rmat({.scale = 9, .edge_factor = 8, .seed = 2}, {.symmetrize = true},
                                {.has_weights = true, .weight_min = 0.5, .weight_max = 2});
  TypeParam params;
  params.num_layers = 4;
  params.layer_size = 64;
  this->verify(g, 5, 40, params);
}

TYPED_TEST(Layers, DependOnTheSampleAlone)
{
  graph const g = generate_rmat({.scale = 10, .edge_factor = 8, .seed = 3}, {.symmetrize = true},
                                {.has_weights = true, .weight_min = 0.5, .weight_max = 2});
  std::int64_t const batch = 10;
  auto const roots = random_roots(g, 300 * batch);
  for (auto const matrix : all_matrices) {
    TypeParam params;
    params.matrix = matrix;
    params.num_layers = 3;
    params.layer_size = 32;
    params.replace = matrix != propagation::symmetric;
    params.with_edges = true;
    auto const whole = sample_layers(g, roots, batch, params, {.num_threads = 1}, 7);
    for (int const threads : {2, 5}) {
      auto const other = sample_layers(g, roots, batch, params, {.num_threads = threads}, 7);
      EXPECT_EQ(to_vector(whole.vertices), to_vector(other.vertices));
      EXPECT_EQ(to_vector(whole.probabilities), to_vector(other.probabilities));
      EXPECT_EQ(to_vector(whole.edge_offsets), to_vector(other.edge_offsets));
      EXPECT_EQ(to_vector(whole.edges), to_vector(other.edges));
      EXPECT_EQ(to_vector(whole.coefficients), to_vector(other.coefficients));
    }
    std::int64_t const slots = params.num_layers * params.layer_size;
    for (std::int64_t const first : {0, 1, 123}) {
      auto const part = sample_layers(g, std::span(roots).subspan(static_cast<std::size_t>(first * batch), 100 * batch),
                                      batch, params, {}, 7 + first);
      EXPECT_EQ(to_vector(whole.vertices, first * slots, (first + 100) * slots), to_vector(part.vertices));
      EXPECT_EQ(to_vector(whole.coefficients, whole.edge_offsets[first * params.num_layers],
                          whole.edge_offsets[(first + 100) * params.num_layers]),
                to_vector(part.coefficients));
    }
  }
}

TYPED_TEST(Layers, SeedsSamplesAndLayersDiffer)
{
  graph const g = generate_rmat({.scale = 10, .edge_factor = 8, .seed = 3}, {.symmetrize = true}, {});
  std::vector<vertex_id> const roots(40, 5);
  TypeParam params;
  params.num_layers = 2;
  params.layer_size = 20;
  auto const a = sample_layers(g, roots, 20, params);
  params.seed = 1;
  auto const b = sample_layers(g, roots, 20, params);
  EXPECT_NE(to_vector(a.vertices), to_vector(b.vertices));
  EXPECT_NE(to_vector(a.vertices, 0, 20), to_vector(a.vertices, 20, 40));
  EXPECT_NE(to_vector(a.vertices, 0, 20), to_vector(a.vertices, 40, 60));
}

TYPED_TEST(Layers, StayEmptyWhereNothingCanBeDrawn)
{
  graph const no_edges = make_graph(5, {});
  graph const no_weight = make_graph(5, {{0, 1, 0}, {1, 2, 0}, {1, 1, 0}});
  for (bool const replace : {true, false}) {
    TypeParam params;
    params.num_layers = 3;
    params.layer_size = 4;
    params.replace = replace;
    std::vector<vertex_id> const roots = {0, 1, 1, 4};
    for (auto const matrix : all_matrices) {
      params.matrix = matrix;
      auto const out = sample_layers(no_edges, roots, 2, params);
      EXPECT_TRUE(std::all_of(out.vertices.begin(), out.vertices.end(), [](auto v) { return v == no_vertex; }));
      verify_layers(no_edges, roots, params, this->from_previous, out);
    }
    auto const out = sample_layers(no_weight, roots, 2, params);  // matrix weights
    EXPECT_TRUE(std::all_of(out.vertices.begin(), out.vertices.end(), [](auto v) { return v == no_vertex; }));
    verify_layers(no_weight, roots, params, this->from_previous, out);
  }
}

TYPED_TEST(Layers, HoldEveryVertexThereIsWithoutReplacement)
{
  // A cycle of 6: every vertex is as likely; 256 rounds don't miss one of 6 but for one time in 10^20.
  graph const ring = make_graph(6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}});
  TypeParam params;
  params.num_layers = 2;
  params.layer_size = 9;
  params.replace = false;
  std::vector<vertex_id> const roots = {0, 1, 2, 3, 4, 5};
  auto const out = sample_layers(ring, roots, 6, params);
  verify_layers(ring, roots, params, this->from_previous, out);
  for (std::int64_t l = 0; l < 2; ++l) {
    auto layer = to_vector(out.vertices, 9 * l, 9 * (l + 1));
    std::sort(layer.begin(), layer.end());
    EXPECT_EQ(layer, (std::vector<vertex_id>{0, 1, 2, 3, 4, 5, no_vertex, no_vertex, no_vertex}));
  }
}

TYPED_TEST(Layers, NoSamplesAreNoError)
{
  graph const ring = make_graph(3, {{0, 1}, {1, 2}, {2, 0}});
  auto const out = sample_layers(ring, {}, 4, TypeParam{});
  EXPECT_EQ(out.num_samples, 0);
  EXPECT_EQ(to_vector(out.edge_offsets), std::vector<std::int64_t>{0});
  EXPECT_EQ(out.row.size(), 0);
}

}  // namespace
}  // namespace tendril::test
