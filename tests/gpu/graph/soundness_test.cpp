// A graph that was only mapped is checked on its way to the GPU, by a kernel; what is wrong is said in the host's words.

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>
#include <tendril/generate.hpp>

#include "gpu/graph/soundness.hpp"
#include "graph/soundness.hpp"
#include "support/damaged_graphs.hpp"
#include "support/gpu_test.hpp"

namespace tendril {
namespace {

using test::changed;
using test::ring_with_ids;

using soundness_on_gpu = test::gpu_test;

constexpr std::int64_t size = 300'000;

void expect_refused(graph_arrays const& arrays, gpu_exec const& exec)
{
  std::string expected = "the host finds nothing";
  try {
    graph(arrays).validate();
  } catch (format_error const& e) {
    expected = e.what();
  }
  try {
    (void)to_gpu(graph(arrays), exec);
    ADD_FAILURE() << "taken: " << expected;
  } catch (format_error const& e) {
    EXPECT_EQ(e.what(), expected);
  }
  // The caller's word is taken: the kernel alone, on what a copy without a check made.
  graph const copy = to_gpu(graph(arrays, graph_content::sound), exec);
  EXPECT_FALSE(gpu::is_sound(copy.arrays(), exec)) << expected;
}

TEST_F(soundness_on_gpu, good_graphs_pass)
{
  graph_arrays lonely;  // vertices without edges
  buffer<edge_id> indptr(size + 1);
  std::fill(indptr.begin(), indptr.end(), 0);
  lonely.indptr = std::move(indptr);
  for (graph_arrays const& arrays :
       {ring_with_ids(size), ring_with_ids(1), ring_with_ids(2), generate_rmat({.scale = 12}, {}).arrays(), lonely}) {
    graph const there = to_gpu(graph(arrays), exec);
    EXPECT_EQ(there.content(), graph_content::sound);
    EXPECT_TRUE(gpu::is_sound(there.arrays(), exec));
    EXPECT_EQ(to_host(there, exec).content(), graph_content::sound);
  }
  EXPECT_EQ(to_gpu(graph(), exec).content(), graph_content::valid);
}

TEST_F(soundness_on_gpu, one_bad_element_anywhere_is_found)
{
  graph_arrays const good = ring_with_ids(size);
  for (std::int64_t const e : {std::int64_t{0}, std::int64_t{65'536}, 2 * size - 1}) {
    expect_refused(changed<vertex_id>(good, &graph_arrays::indices, e, size), exec);
    expect_refused(changed<vertex_id>(good, &graph_arrays::indices, e, no_vertex), exec);
    expect_refused(changed<edge_id>(good, &graph_arrays::edge_ids, e, -1), exec);
    for (float const bad : {-1.0F, std::numeric_limits<float>::infinity(), std::nanf("")}) {
      expect_refused(changed<float>(good, &graph_arrays::weights, e, bad), exec);
    }
  }
  for (std::int64_t const v : {std::int64_t{1}, std::int64_t{65'536}, size - 1}) {
    for (edge_id const bad : {edge_id{-5}, edge_id{2 * size + 1}, std::numeric_limits<edge_id>::max(),
                              std::numeric_limits<edge_id>::min()}) {
      expect_refused(changed<edge_id>(good, &graph_arrays::indptr, v, bad), exec);
    }
  }
}

TEST_F(soundness_on_gpu, neighbours_descend_only_where_a_list_begins)
{
  constexpr std::int64_t degree = 100'000;
  graph_arrays hub;
  buffer<edge_id> indptr(degree + 1);
  std::fill(indptr.begin(), indptr.end(), degree);
  indptr[0] = 0;
  buffer<vertex_id> indices(degree);
  for (std::int64_t e = 0; e < degree; ++e) { indices[e] = static_cast<vertex_id>(e); }
  hub.indptr = std::move(indptr);
  hub.indices = std::move(indices);
  EXPECT_EQ(to_gpu(graph(hub), exec).content(), graph_content::sound);
  for (std::int64_t const e : {std::int64_t{2}, std::int64_t{256}, std::int64_t{65'536}, degree - 1}) {
    expect_refused(changed<vertex_id>(hub, &graph_arrays::indices, e, 0), exec);
  }
}

/// A copy of a compressed graph's arrays whose content nothing has checked.
graph_arrays unchecked_copy(graph_arrays const& arrays, gpu_exec const& exec)
{
  return to_gpu(graph(arrays, graph_content::sound), exec).arrays();
}

constexpr std::array compressed_forms{graph_form::packed, graph_form::runs, graph_form::ef, graph_form::vbyte,
                                      graph_form::best};

TEST_F(soundness_on_gpu, good_compressed_graphs_pass)
{
  edge_attributes extra;
  extra.has_weights = true;
  for (graph const& g : {generate_regular(regular_graph::ring, size), generate_regular(regular_graph::ring, 1),
                         generate_regular(regular_graph::star, 30'000), generate_rmat({.scale = 12}, {}, extra),
                         generate_er({.num_vertices = 1000, .num_edges = 0}, {})}) {
    for (graph_form const form : compressed_forms) {
      graph_arrays const arrays = compress(g, form).arrays();
      EXPECT_EQ(to_gpu(graph(arrays), exec).content(), graph_content::sound);
      EXPECT_TRUE(gpu::is_sound(unchecked_copy(arrays, exec), exec));
      EXPECT_FALSE(gpu::find_bad_list(unchecked_copy(arrays, exec).compressed, exec));
    }
  }
}

TEST_F(soundness_on_gpu, bad_weights_of_dictionaries_are_found)
{
  graph_arrays ring = ring_with_ids(size);
  buffer<float> weights(ring.weights.size());
  for (std::int64_t e = 0; e < weights.size(); ++e) { weights[e] = static_cast<float>(e % 3); }
  ring.weights = std::move(weights);
  graph_arrays const good = compress(graph(ring), graph_form::packed).arrays();
  ASSERT_EQ(good.narrow.weight_codes.width, 2);
  EXPECT_EQ(to_gpu(graph(good), exec).content(), graph_content::sound);
  for (std::int64_t const e : {std::int64_t{0}, std::int64_t{65'536}, 2 * size - 1}) {
    buffer<std::uint32_t> words = test::copy_of(good.narrow.weight_codes.words);
    words[e / 16] |= 3U << (2 * (e % 16));  // of values 0 to 2
    graph_arrays bad = good;
    bad.narrow.weight_codes.words = std::move(words);
    expect_refused(bad, exec);
  }
  for (float const value : {-1.0F, std::numeric_limits<float>::infinity(), std::nanf("")}) {
    buffer<float> values = test::copy_of(good.narrow.weight_values);
    values[1] = value;
    graph_arrays bad = good;
    bad.narrow.weight_values = std::move(values);
    expect_refused(bad, exec);
  }
}

TEST_F(soundness_on_gpu, damaged_lists_are_found_and_the_first_one_is_named)
{
  std::mt19937_64 random(11);
  int bad = 0;
  constexpr int rounds = 1000;
  for (int i = 0; i < rounds; ++i) {
    build_options build;
    build.num_vertices = 32;
    bool const long_lists = i % 4 == 0;  // with sectors, blocks and groups, and wide blocks now and then
    graph_arrays arrays =
        compress(generate_rmat({.scale = 5, .edge_factor = long_lists ? 60.0 : 2.0, .seed = random()}, build),
                 compressed_forms[random() % compressed_forms.size()])
            .arrays();
    switch (random() % 3) {
      case 0: break;
      case 1: test::damage_words(arrays, random); break;
      default: test::damage_directory(arrays, random); break;
    }
    std::string const said = test::complaint_of([&] { graph(arrays).validate(); });
    EXPECT_EQ(test::complaint_of([&] { (void)to_gpu(graph(arrays), exec); }), said) << i;
    graph_arrays const there = unchecked_copy(arrays, exec);
    EXPECT_EQ(gpu::is_sound(there, exec), said.empty()) << i << ' ' << said;
    auto const vertex = gpu::find_bad_list(there.compressed, exec);
    EXPECT_EQ(vertex.has_value(), !said.empty()) << i;
    if (!vertex) { continue; }
    ++bad;
    std::string const name = "vertex " + std::to_string(*vertex) + ":";
    EXPECT_EQ(said.substr(0, name.size()), name) << i;
    EXPECT_EQ(test::complaint_of([&] { (void)to_csr(graph(there), exec); }),
              "graph: " + name + " its list on GPU 0 is not sound, expected what graph::validate accepts");
  }
  EXPECT_GT(bad, rounds / 10);
  EXPECT_LT(bad, rounds * 9 / 10);
}

}  // namespace
}  // namespace tendril
