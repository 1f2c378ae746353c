// A compressed graph's way to a GPU and back; a copy of arrays that nobody has checked is refused exactly if the CPU refuses
// the arrays, with its words.

#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>
#include <tendril/generate.hpp>
#include <tendril/sample.hpp>

#include "support/damaged_graphs.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_test.hpp"

namespace tendril {
namespace {

using test::complaint_of;
using test::copy_of;
using test::damage_directory;
using test::damage_words;

using compressed_on_gpu = test::gpu_test;

graph_arrays compressed_rmat(int scale, std::uint64_t seed)
{
  edge_attributes extra;
  extra.has_weights = true;
  extra.num_labels = 3;
  return compress(generate_rmat({.scale = scale, .edge_factor = 4, .seed = seed}, {}, extra), graph_form::best)
      .arrays();
}

TEST_F(compressed_on_gpu, comes_back_as_it_went)
{
  graph const g(compressed_rmat(12, 1), graph_content::valid);
  graph const there = to_gpu(g, exec);
  EXPECT_EQ(there.form(), graph_form::best);
  EXPECT_EQ(there.num_edges(), g.num_edges());
  EXPECT_EQ(there.num_bytes(), g.num_bytes());
  EXPECT_EQ(there.bits_per_edge(), g.bits_per_edge());
  graph const back = to_host(there, exec);
  EXPECT_EQ(back.device(), -1);
  EXPECT_EQ(back.form(), graph_form::best);
  graph const left = to_csr(g), right = to_csr(back);
  ASSERT_EQ(left.num_edges(), right.num_edges());
  for (edge_id e = 0; e < left.num_edges(); ++e) {
    ASSERT_EQ(left.csr().indices[e], right.csr().indices[e]);
    ASSERT_EQ(left.csr().weights[e], right.csr().weights[e]);
    ASSERT_EQ(left.csr().edge_labels[e], right.csr().edge_labels[e]);
  }
  EXPECT_THROW((void)to_csr(there), argument_error);
}

TEST_F(compressed_on_gpu, may_be_empty)
{
  for (graph const& g : {graph(), generate_regular(regular_graph::ring, 1)}) {
    graph const unchecked(compress(g, graph_form::best).arrays());
    graph const back = to_host(to_gpu(unchecked, exec), exec);
    EXPECT_EQ(back.num_vertices(), g.num_vertices());
    EXPECT_EQ(back.form(), graph_form::best);
  }
}

TEST_F(compressed_on_gpu, good_arrays_are_sound_there)
{
  for (int const scale : {1, 8, 17}) {
    graph const there = to_gpu(graph(compressed_rmat(scale, 2)), exec);
    EXPECT_EQ(there.content(), graph_content::sound) << scale;
  }
  graph const star = compress(generate_regular(regular_graph::star, 300'001), graph_form::best);
  EXPECT_EQ(to_gpu(graph(star.arrays()), exec).content(), graph_content::sound);
}

TEST_F(compressed_on_gpu, damage_is_refused_as_on_the_cpu)
{
  std::mt19937_64 random(13);
  auto const below = [&](auto n) { return random() % static_cast<std::uint64_t>(n); };
  int refused = 0;
  constexpr int rounds = 400;
  for (int i = 0; i < rounds; ++i) {
    graph_arrays arrays = compressed_rmat(6, random());
    switch (below(4)) {
      case 0: break;
      case 1: damage_words(arrays, random); break;
      case 2: damage_directory(arrays, random); break;
      default: {
        buffer<float> weights = copy_of(arrays.weights);
        weights[static_cast<std::int64_t>(below(weights.size()))] *= below(2) == 0 ? 1.0F : -1.0F;
        arrays.weights = std::move(weights);
      }
    }
    std::string const expected = complaint_of([&] { (void)graph(arrays).view(); });
    EXPECT_EQ(complaint_of([&] { (void)to_gpu(graph(arrays), exec); }), expected);
    refused += expected.empty() ? 0 : 1;
  }
  EXPECT_GT(refused, rounds / 10);
  EXPECT_LT(refused, rounds * 9 / 10);
}

/// Every neighbour of every list, in each code, as kernels read it.
TEST_F(compressed_on_gpu, neighbors_are_those_of_csr)
{
  graph const g = generate_rmat({.scale = 12, .edge_factor = 40}, {});
  std::vector<vertex_id> seeds(static_cast<std::size_t>(g.num_vertices()));
  std::iota(seeds.begin(), seeds.end(), 0U);
  auto const starts = test::on_gpu(seeds, exec);
  khop_params params;
  params.fanouts = {-1};
  auto const vertices_of = [](khop_trees const& trees) {
    auto const vertices = test::on_host(trees.hops.at(0).vertices);
    return std::vector<vertex_id>(vertices.begin(), vertices.end());
  };
  auto const expected = vertices_of(khop_sample(g, seeds, params));
  for (auto const& [form, name] : enum_names<graph_form>) {
    graph const there = to_gpu(graph(compress(g, form).arrays()), exec);
    EXPECT_EQ(vertices_of(khop_sample(there, starts.span(), params, exec)), expected) << name;
  }
}

}  // namespace
}  // namespace tendril
