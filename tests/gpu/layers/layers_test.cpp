// Layers that the GPU samples are the CPU's, to the byte: vertices, probabilities, edges, coefficients, for both
// applications, every matrix, with and without replacement, wherever arenas and bits lie. Bad input gives the CPU's lines,
// and the GPU can be used afterwards.

#include <random>

#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/layers.hpp>

#include "cpu/layers/layer_verifier.hpp"
#include "gpu/layers/layer_tables.hpp"
#include "gpu/tables/derived_table.hpp"
#include "samplers/layers/layer_tables.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_forms.hpp"
#include "support/gpu_test.hpp"
#include "support/messages.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

std::vector<std::uint32_t> bits_of(buffer<float> const& from)
{
  std::vector<std::uint32_t> out;
  for (float const x : copied(from)) { out.push_back(core::float_to_bits(x)); }
  return out;
}

/// "" or how many elements differ, and the first of them.
template <class T>
std::string difference(std::vector<T> const& got, std::vector<T> const& expected)
{
  if (got.size() != expected.size()) {
    return std::to_string(got.size()) + " elements, not " + std::to_string(expected.size());
  }
  std::size_t count = 0, first = 0;
  for (std::size_t i = got.size(); i-- > 0;) {
    if (got[i] != expected[i]) {
      ++count;
      first = i;
    }
  }
  if (count == 0) { return {}; }
  return std::to_string(count) + " of " + std::to_string(got.size()) + " differ, the first at " +
         std::to_string(first) + ": " + std::to_string(got[first]) + ", not " + std::to_string(expected[first]);
}

class LayersOnGpu : public gpu_test {
 protected:
  static void expect_same(layer_samples const& got, layer_samples const& expected)
  {
    EXPECT_EQ(got.num_samples, expected.num_samples);
    EXPECT_EQ(got.num_layers, expected.num_layers);
    EXPECT_EQ(got.layer_size, expected.layer_size);
    EXPECT_EQ(got.batch_size, expected.batch_size);
    EXPECT_EQ(difference(copied(got.vertices), copied(expected.vertices)), "") << "vertices";
    EXPECT_EQ(difference(bits_of(got.probabilities), bits_of(expected.probabilities)), "") << "probabilities";
    EXPECT_EQ(difference(copied(got.edge_offsets), copied(expected.edge_offsets)), "") << "edge_offsets";
    EXPECT_EQ(difference(copied(got.row), copied(expected.row)), "") << "row";
    EXPECT_EQ(difference(copied(got.col), copied(expected.col)), "") << "col";
    EXPECT_EQ(difference(bits_of(got.coefficients), bits_of(expected.coefficients)), "") << "coefficients";
    EXPECT_EQ(difference(copied(got.edges), copied(expected.edges)), "") << "edges";
  }

  [[nodiscard]] layer_samples sampled(graph const& g, std::vector<vertex_id> const& roots, std::int64_t batch,
                                      fastgcn_params const& params, std::int64_t first) const
  {
    return fastgcn_sample(g, on_gpu(roots, exec).span(), batch, params, exec, first);
  }
  [[nodiscard]] layer_samples sampled(graph const& g, std::vector<vertex_id> const& roots, std::int64_t batch,
                                      ladies_params const& params, std::int64_t first) const
  {
    return ladies_sample(g, on_gpu(roots, exec).span(), batch, params, exec, first);
  }

  struct shape {
    std::int64_t samples, batch, layers, size;
  };

  template <class Params>
  void compare_one(graph const& g, graph const& there, shape const& s, std::string const& what)
  {
    auto const roots = random_roots(g, s.samples * s.batch);
    std::int64_t const first = 0xfffffffcLL;  // logical ids cross 2^32
    for (auto const matrix : all_matrices) {
      if (matrix == propagation::weights && !g.has_weights()) { continue; }
      for (bool const replace : {true, false}) {
        for (bool const normalize : {true, false}) {
          Params params;
          params.num_layers = s.layers;
          params.layer_size = s.size;
          params.matrix = matrix;
          params.replace = replace;
          params.normalize_rows = normalize;
          params.with_edges = normalize != replace;
          params.seed = 77;
          SCOPED_TRACE(testing::Message()
                       << what << ": " << s.samples << " samples, batch " << s.batch << ", " << s.layers
                       << " layers of " << s.size << ", matrix " << static_cast<int>(matrix) << ", replace " << replace
                       << ", normalize " << normalize);
          expect_same(sampled(there, roots, s.batch, params, first),
                      sample_layers(g, roots, s.batch, params, {}, first));
          if (HasFailure()) { return; }  // one such report says enough
        }
      }
    }
  }

  void compare(graph const& g, shape const& s)
  {
    for (auto const& there : all_forms_on_gpu(g, exec)) {
      compare_one<fastgcn_params>(g, there, s, "FastGCN");
      compare_one<ladies_params>(g, there, s, "LADIES");
    }
  }

  static graph skewed(int scale, double edge_factor, bool parallel)
  {
    return generate_rmat({.scale = scale, .edge_factor = edge_factor, .seed = 2},
                         {.symmetrize = true, .drop_duplicates = !parallel},
                         {.has_weights = true, .weight_min = 0.5, .weight_max = 2});
  }

  static graph ring() { return make_graph(3, {{0, 1}, {1, 2}, {2, 0}}); }
};

TEST_F(LayersOnGpu, TablesAreTheCpus)
{
  for (graph const& g : {make_zoo(1), skewed(12, 8, true), make_graph(5, {}), make_graph(3, {{0, 1, 0}, {1, 2, 0}})}) {
    for (auto const& there : all_forms_on_gpu(g, exec)) {
      for (auto const matrix : all_matrices) {
        if (matrix == propagation::weights && !g.has_weights()) { continue; }
        SCOPED_TRACE(testing::Message() << g.num_vertices() << " vertices, matrix " << static_cast<int>(matrix));
        auto const norms = gpu::make_column_norms(there.view(), matrix, exec);
        auto const expected_norms = samplers::make_column_norms(g.csr(), matrix, cpu_exec{});
        EXPECT_EQ(difference(bits_of(norms), bits_of(expected_norms)), "");
        auto const columns = gpu::make_vertex_table(g.num_vertices(), norms.data(), exec);
        auto const expected_columns = samplers::make_vertex_table(g.num_vertices(), expected_norms.data(), cpu_exec{});
        EXPECT_EQ(difference(bits_of(columns.probabilities), bits_of(expected_columns.probabilities)), "");
        auto const records = copied(columns.records);
        auto const expected_records = copied(expected_columns.records);
        ASSERT_EQ(records.size(), expected_records.size());
        for (std::size_t v = 0; v < records.size(); ++v) {
          ASSERT_EQ(records[v].threshold, expected_records[v].threshold) << v;
          ASSERT_EQ(records[v].here, expected_records[v].here) << v;
          ASSERT_EQ(records[v].there, expected_records[v].there) << v;
        }
        if (matrix == propagation::row) { continue; }
        auto const squares = gpu::make_square_table(there.view(), matrix, exec);
        auto const expected_squares = samplers::make_square_table(g.csr(), matrix, cpu_exec{});
        EXPECT_EQ(difference(copied(squares.prefix_sums), copied(expected_squares.prefix_sums)), "");
        EXPECT_EQ(difference(bits_of(squares.row_norms), bits_of(expected_squares.row_norms)), "");
        EXPECT_EQ(squares.largest_norm, expected_squares.largest_norm);
      }
    }
  }
  auto const has_parallel_edges = [&](graph const& g) {
    std::vector<bool> out;
    for (auto const& there : all_forms_on_gpu(g, exec)) { out.push_back(gpu::has_parallel_edges(there.view(), exec)); }
    return out;
  };
  EXPECT_EQ(has_parallel_edges(make_zoo(1)), std::vector<bool>(4, true));
  EXPECT_EQ(has_parallel_edges(skewed(8, 4, false)), std::vector<bool>(4, false));
  EXPECT_EQ(has_parallel_edges(make_graph(2, {})), std::vector<bool>(4, false));
}

TEST_F(LayersOnGpu, AreTheCpusOnTheZoo)
{
  for (std::uint64_t const seed : {1U, 2U}) {
    graph const g = make_zoo(seed);
    for (std::int64_t const size : {1, 2, 31, 32, 33, 64, 100}) { compare(g, {40, size == 2 ? 1 : 9, 3, size}); }
  }
}

TEST_F(LayersOnGpu, AreTheCpusOnASkewedGraph)
{
  for (bool const parallel : {false, true}) {
    graph const g = skewed(13, 16, parallel);
    compare(g, {300, 64, 5, 64});
    compare(g, {50, 10, 3, 128});
    compare(g, {20, 300, 2, 129});
    compare(g, {1, 1, 1, 1});
  }
}

TEST_F(LayersOnGpu, AreTheCpusWithoutHashSets)
{
  // A large graph, a small job: lists are searched.
  graph const g = skewed(15, 16, false);
  compare(g, {2, 16, 2, 32});
}

TEST_F(LayersOnGpu, AreTheCpusWithHashSetsThatAreThere)
{
  graph const g = skewed(12, 16, false);
  graph const there = to_gpu(g, exec);
  (void)there.derived().get(gpu::adjacency_sets_table(), [&] { return gpu::make_adjacency_sets(there.csr(), exec); });
  compare_one<fastgcn_params>(g, there, {30, 64, 3, 16}, "FastGCN");
  compare_one<ladies_params>(g, there, {30, 64, 3, 16}, "LADIES");
}

TEST_F(LayersOnGpu, AreTheCpusWhereLayersDontFitSharedMemory)
{
  graph const g = skewed(14, 4, false);
  compare(g, {3, 700, 2, 1000});
  compare(g, {1, 5000, 2, 4096});
  compare(g, {2, 64, 1, max_layer_size});
  compare(g, {1, max_layer_size, 1, 10});
}

TEST_F(LayersOnGpu, AreTheCpusWhereBitsAreMadeTwice)
{
  // The bits of a sample are 2 x 16,384^2, so that 40 samples take 2.7 GB: more than are made at a time. Degrees are low,
  // so that edges are few.
  graph const g =
      generate_er({.num_vertices = 200'000, .num_edges = 800'000, .seed = 3}, {.drop_duplicates = true}, {});
  fastgcn_params params{.num_layers = 3, .layer_size = max_layer_size, .replace = true};
  auto const roots = random_roots(g, 40);
  expect_same(sampled(to_gpu(g, exec), roots, 1, params, 5), fastgcn_sample(g, roots, 1, params, cpu_exec{}, 5));
}

TEST_F(LayersOnGpu, StayEmptyWhereNothingCanBeDrawn)
{
  compare(make_graph(5, {}), {4, 2, 3, 4});
  compare(make_graph(5, {{0, 1, 0}, {1, 2, 0}, {1, 1, 0}}), {4, 2, 3, 4});
  compare(ring(), {4, 2, 3, 9});
}

TEST_F(LayersOnGpu, DependOnTheSampleAlone)
{
  graph const g = skewed(11, 8, false);
  graph const there = to_gpu(g, exec);
  auto const roots = random_roots(g, 100 * 8);
  ladies_params const params{.num_layers = 3, .layer_size = 20};
  auto const whole = copied(sampled(there, roots, 8, params, 0).vertices);
  std::vector<vertex_id> const tail(roots.begin() + 60 * 8, roots.end());
  EXPECT_EQ(copied(sampled(there, tail, 8, params, 60).vertices),
            std::vector<vertex_id>(whole.begin() + 60 * 60, whole.end()));
}

TEST_F(LayersOnGpu, BadInputGivesTheCpusLines)
{
  graph const there = to_gpu(ring(), exec);
  auto const error = [&](std::vector<vertex_id> const& roots, std::int64_t batch, auto const& params) {
    std::string const message = message_of<argument_error>([&] { (void)sampled(there, roots, batch, params, 0); });
    std::vector<vertex_id> const good = {0, 1, 2};
    expect_same(sampled(there, good, 3, ladies_params{}, 0), ladies_sample(ring(), good, 3, {}));
    return message;
  };
  for (auto const& bad : {std::vector<vertex_id>{0, 9, 7, 3}, {0, 9, no_vertex, 2}}) {
    EXPECT_EQ(error(bad, 2, fastgcn_params{}), "root 1: vertex 9 is out of range, the graph has 3 vertices");
    EXPECT_EQ(error(bad, 2, ladies_params{}), "root 1: vertex 9 is out of range, the graph has 3 vertices");
  }
  EXPECT_EQ(error({0}, 2, ladies_params{}), "roots: 1 vertices, expected a multiple of batch_size, 2");
  EXPECT_EQ(message_of<argument_error>([&] { (void)sampled(to_gpu(graph(), exec), {0}, 1, fastgcn_params{}, 0); }),
            "root 0: vertex 0 is out of range, the graph has 0 vertices");
  EXPECT_EQ(message_of<argument_error>([&] { (void)ladies_sample(ring(), {}, 1, {}, exec); }),
            "graph: it is in host memory, expected one on GPU 0 (to_gpu)");
}

TEST_F(LayersOnGpu, NoSamplesAreNoError)
{
  auto const out = sampled(to_gpu(ring(), exec), {}, 4, ladies_params{}, 0);
  EXPECT_EQ(copied(out.edge_offsets), std::vector<std::int64_t>{0});
}

}  // namespace
}  // namespace tendril::test
