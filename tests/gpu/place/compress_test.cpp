// Compressing, and the way back, in a GPU's memory: the bytes that the CPU makes.

#include <tendril/compress.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/generate.hpp>

#include "core/web_shape.hpp"
#include "gpu/graph/web_source.hpp"
#include "gpu/place/decode.hpp"
#include "support/any_lists.hpp"
#include "support/binary_files.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_test.hpp"
#include "support/messages.hpp"
#include "support/same_lists.hpp"

namespace tendril {
namespace {

using compress_on_gpu = test::gpu_test;

void expect_same_csr(graph const& a, graph const& b)
{
  ASSERT_EQ(a.form(), graph_form::csr);
  ASSERT_EQ(test::copied(a.arrays().indptr), test::copied(b.arrays().indptr));
  ASSERT_EQ(test::copied(a.arrays().indices), test::copied(b.arrays().indices));
}

void expect_same_narrow(narrow_edges const& a, narrow_edges const& b)
{
  EXPECT_EQ(test::to_vector(a.weight_codes.words), test::to_vector(b.weight_codes.words));
  EXPECT_EQ(test::to_vector(a.weight_values), test::to_vector(b.weight_values));
  EXPECT_EQ(test::to_vector(a.labels.words), test::to_vector(b.labels.words));
  EXPECT_EQ(test::to_vector(a.ids.words), test::to_vector(b.ids.words));
  EXPECT_EQ(std::tuple(a.weight_codes.width, a.labels.width, a.ids.width, a.bytes_per_label, a.least_id, a.ids_ascend),
            std::tuple(b.weight_codes.width, b.labels.width, b.ids.width, b.bytes_per_label, b.least_id, b.ids_ascend));
}

/// From CSR and from another compressed form to each form, and back.
void expect_every_form(graph const& g, gpu_exec const& exec)
{
  graph const there = to_gpu(g, exec);
  for (graph_form const form : test::compressed_forms) {
    SCOPED_TRACE(testing::Message() << to_string(form) << ", " << g.num_vertices() << " vertices");
    graph const expected = compress(g, form);
    graph const made = compress(there, form, exec);
    EXPECT_EQ(made.form(), form);
    EXPECT_EQ(made.device(), exec.device);
    EXPECT_EQ(made.num_edges(), g.num_edges());
    graph const made_here = to_host(made, exec);
    test::expect_same_lists(made_here.arrays().compressed, expected.arrays().compressed);
    expect_same_narrow(made_here.arrays().narrow, expected.arrays().narrow);
    graph const again = compress(compress(made, graph_form::vbyte, exec), form, exec);
    test::expect_same_lists(to_host(again, exec).arrays().compressed, expected.arrays().compressed);
    graph const back = to_host(to_csr(made, exec), exec);
    if (g.num_vertices() > 0) {
      expect_same_csr(back, g);
      test::expect_same_arrays(back, g);
    }
  }
}

TEST_F(compress_on_gpu, makes_the_bytes_of_the_cpu)
{
  for (graph const& g : test::corner_graphs()) { expect_every_form(g, exec); }
}

TEST_F(compress_on_gpu, makes_the_bytes_of_the_cpu_of_hubs)
{
  build_options build;
  build.symmetrize = build.drop_duplicates = true;
  expect_every_form(generate_rmat({.scale = 15, .edge_factor = 24}, build), exec);
  expect_every_form(generate_regular(regular_graph::star, 400'000), exec);
  expect_every_form(generate_web({60'000, 40.0, 3}, {}), exec);
}

/// The rows of a graph in CSR form in batches.
class batched_rows final : public gpu::row_source {
 public:
  batched_rows(csr_arrays const& arrays, std::int64_t step) : arrays_(arrays), step_(step) {}

  [[nodiscard]] std::vector<std::int64_t> batch_ends() const override
  {
    std::vector<std::int64_t> ends;
    for (std::int64_t end = step_; end < arrays_.num_vertices; end += step_) { ends.push_back(end); }
    ends.push_back(arrays_.num_vertices);
    return ends;
  }
  place::listed_rows load(std::int64_t begin, std::int64_t end, edge_id first_edge) override
  {
    edge_id here[2];
    EXPECT_EQ(cudaMemcpy(here, arrays_.indptr + begin, sizeof(edge_id), cudaMemcpyDefault), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(here + 1, arrays_.indptr + end, sizeof(edge_id), cudaMemcpyDefault), cudaSuccess);
    EXPECT_EQ(first_edge, here[0]);
    loaded_ = here[1] - here[0];
    return {arrays_.indices, arrays_.indptr + begin, begin, 0};
  }
  [[nodiscard]] edge_id num_loaded() const override { return loaded_; }

 private:
  csr_arrays arrays_;
  std::int64_t step_;
  edge_id loaded_ = 0;
};

void expect_same(compressed_lists lists, graph const& expected, gpu_exec const& exec)
{
  graph_arrays arrays;
  arrays.compressed = std::move(lists);
  arrays.device = exec.device;
  graph const made = to_host(graph(std::move(arrays), graph_content::valid), exec);
  EXPECT_EQ(made.num_edges(), expected.num_edges());
  test::expect_same_lists(made.arrays().compressed, expected.arrays().compressed);
}

TEST_F(compress_on_gpu, edge_arrays_take_the_bits_of_the_cpu)
{
  edge_attributes const extra{.has_weights = true, .num_labels = 3};
  graph_arrays arrays = generate_rmat({.scale = 14}, {.keep_edge_ids = true}, extra).arrays();
  std::vector<float> const weights(arrays.weights.begin(), arrays.weights.end());
  for (float const steps : {1.0F, 8.0F, 1000.0F, 1e9F}) {  // the last keeps all that differ
    std::vector<float> rounded(weights.size());
    std::transform(weights.begin(), weights.end(), rounded.begin(),
                   [&](float w) { return steps < 1e9F ? std::floor(w * steps) / steps : w; });
    arrays.weights = test::to_array(rounded);
    graph const g(arrays);
    EXPECT_EQ(compress(g, graph_form::packed).arrays().weights.empty(), steps < 1e9F) << steps;
    expect_every_form(g, exec);
  }
  std::vector<edge_id> ids(static_cast<std::size_t>(arrays.indices.size()));
  std::iota(ids.begin(), ids.end(), 7);
  arrays.edge_ids = test::to_array(ids);
  EXPECT_TRUE(compress(graph(arrays), graph_form::packed).arrays().narrow.ids_ascend);
  expect_every_form(graph(arrays), exec);
}

TEST_F(compress_on_gpu, batches_do_not_change_a_bit)
{
  graph const g = generate_web({120'000, 9.0, 4}, {});
  graph const there = to_gpu(g, exec);
  auto const rule = core::web_graph_of(4, 120'000, 9.0);
  for (graph_form const form : test::compressed_forms) {
    graph const expected = compress(g, form);
    for (std::int64_t const step : {66, 1'210, 119'988}) {  // whole blocks of the directory
      if (step == 66 && form != graph_form::best) { continue; }
      SCOPED_TRACE(testing::Message() << to_string(form) << ", batches of " << step);
      batched_rows from_csr(there.csr(), step);
      expect_same(gpu::encode_lists(from_csr, g.num_vertices(), form, exec), expected, exec);
      gpu::web_source from_rule(rule, step, exec);
      expect_same(gpu::encode_lists(from_rule, g.num_vertices(), form, exec), expected, exec);
    }
    graph const small = compress(there, graph_form::runs, exec);
    small.view().visit([&](auto const& view) {
      if constexpr (std::is_same_v<std::decay_t<decltype(view)>, compressed_view>) {
        gpu::decoded_source decoded(view, 1, exec);
        constexpr std::int64_t batch = std::int64_t{list_block::vertices} << 12U;
        EXPECT_EQ(decoded.batch_ends(), (std::vector<std::int64_t>{batch, 2 * batch, 120'000}));
        expect_same(gpu::encode_lists(decoded, g.num_vertices(), form, exec), expected, exec);
      }
    });
  }
}

TEST_F(compress_on_gpu, keeps_everything_else)
{
  edge_attributes extra;
  extra.has_weights = true;
  extra.num_labels = 3;
  graph const g = to_gpu(generate_rmat({.scale = 8}, {}, extra), exec);
  graph const small = compress(g, graph_form::best, exec);
  EXPECT_EQ(small.arrays().weights.data(), g.arrays().weights.data());
  EXPECT_TRUE(small.arrays().indptr.empty());
  EXPECT_EQ(small.arrays().metadata, g.arrays().metadata);
  EXPECT_EQ(compress(small, graph_form::best, exec).arrays().compressed.words.data(),
            small.arrays().compressed.words.data());
  EXPECT_EQ(to_csr(g, exec).arrays().indices.data(), g.arrays().indices.data());
}

TEST_F(compress_on_gpu, a_graph_elsewhere_is_refused)
{
  graph const here = generate_rmat({.scale = 4}, {});
  EXPECT_EQ(test::message_of<argument_error>([&] { (void)compress(here, graph_form::best, exec); }),
            "graph: it is in host memory, expected one on GPU 0 (to_gpu)");
}

TEST_F(compress_on_gpu, unsound_arrays_are_refused)
{
  graph_arrays arrays;
  arrays.indptr = test::on_gpu(std::vector<edge_id>{0, 2}, exec);
  arrays.indices = test::on_gpu(std::vector<vertex_id>{0, 5}, exec);
  arrays.device = exec.device;
  EXPECT_EQ(test::message_of<format_error>([&] { (void)compress(graph(arrays), graph_form::best, exec); }),
            "graph: its arrays on GPU 0 are not sound, expected what graph::validate accepts");
}

TEST_F(compress_on_gpu, web_graphs_are_made_in_every_form)
{
  for (std::int64_t const n : {1, 12, 25, 5'000, 70'001}) {
    for (double const edge_factor : {0.0, 3.0, 10.0, 108.0}) {
      SCOPED_TRACE(testing::Message() << n << " vertices, " << edge_factor);
      web_params p{n, edge_factor, 11};
      graph const expected = generate_web(p, {});
      expect_same_csr(to_host(generate_web(p, {}, {}, exec), exec), expected);
      for (graph_form const form : test::compressed_forms) {
        p.form = form;
        graph const made = to_host(generate_web(p, {}, {}, exec), exec);
        EXPECT_EQ(made.arrays().metadata, expected.arrays().metadata);
        test::expect_same_lists(made.arrays().compressed, compress(expected, form).arrays().compressed);
      }
    }
  }
}

TEST_F(compress_on_gpu, web_graphs_have_rows_alone)
{
  build_options build;
  build.symmetrize = true;
  EXPECT_EQ(
      test::message_of<argument_error>([&] { (void)generate_web({}, build, {}, exec); }),
      "generate_web: building steps, weights, labels or vertex types on a GPU, expected none: a cpu_exec makes them");
}

}  // namespace
}  // namespace tendril
